//! Rows of different lengths: comprehensions of arrays, and other arrays of arrays that are results. All elements are one array, and
//! another one has where each row begins, with the end of the last one behind it.

use super::super::layout::columns;
use super::super::scalars::whole;
use super::super::value::{Array, Host, Local, Made, Value};
use super::super::{Evaluator, Mode, Names, Outcome};
use super::rows::{Part, Rows, Stretch};
use crate::ast::{Drawn, Expr, ExprKind, Name, Operator, Pattern, PatternKind, Qualifier};
use crate::source::Span;
use crate::types::Type;
use pumice_array::operations::{Gives, Permute, Scan};
use pumice_array::{Described, untyped};
use pumice_scalar::{Constant, Op, Place, ScalarType, Term, function};
use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

/// Name under which arrays are made that are stored as elements and offsets.
pub(in super::super) const RAGGED: &str = "ragged";

/// Names that no program can contain.
pub(super) const ROW: &str = "the row's number";
const ELEMENT: &str = "the row's element";

/// Returns the name of an inner comprehension with this element, once it is computed for all rows at once.
pub(super) fn name_of(element: &Expr) -> Name {
    format!("inner comprehension {}", element.id.0).into()
}

/// Whether an inner array is computed for all rows at once: a comprehension whose elements would not be numbered.
pub(super) fn is_made_at_once(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Comprehension(_, qualifiers) => !matches!(qualifiers[..], [Qualifier::Draw(_)]),
        _ => false,
    }
}

/// The comprehensions in an expression that need all of their elements, and the elements of each. Those that are computed only sometimes, or
/// that depend on more than the variables outside, are left out.
pub(super) fn of_the_whole(expr: &Expr) -> Vec<(&Expr, &Expr)> {
    let (mut open, mut found) = (vec![expr], Vec::new());
    while let Some(expr) = open.pop() {
        match &expr.kind {
            ExprKind::Comprehension(element, qualifiers)
                if qualifiers.iter().any(super::draw::is_of_the_whole) =>
            {
                found.push((expr, &**element));
            }
            ExprKind::Tuple(parts) | ExprKind::List(parts) => open.extend(parts),
            ExprKind::Record(fields) => open.extend(fields.iter().map(|(_, field)| field)),
            ExprKind::Update(record, fields) => {
                open.push(record);
                open.extend(fields.iter().map(|(_, field)| field));
            }
            ExprKind::Field(of, _) | ExprKind::Negate(of) | ExprKind::Typed(of, _) => open.push(of),
            ExprKind::Binary(Operator::And | Operator::Or, _, first, _)
            | ExprKind::If(first, _, _)
            | ExprKind::Case(first, _) => open.push(first),
            ExprKind::Apply(f, x) | ExprKind::Binary(_, _, f, x) => open.extend([&**f, &**x]),
            _ => {}
        }
    }
    found
}

impl Evaluator {
    /// Evaluates a comprehension whose elements are arrays of this type.
    pub(super) fn ragged(
        self: &Rc<Self>,
        rows: &mut Rows,
        element: &Expr,
        inner: &Type,
        span: Span,
    ) -> Outcome<Value> {
        let place = self.place("comprehension", span);
        self.start(rows, whole(1), span);
        let Some(array) = &rows.array else { return Err(self.wrong(span, "a comprehension of nothing")) };
        let count = untyped::length(array);
        let types = [&[ScalarType::I64], array.types()].concat();
        rows.array = Some(self.alive(untyped::with_index(array, <[Term]>::to_vec, types, place)));
        rows.parts.insert(0, Part::Column(ROW.into(), Type::Scalar(ScalarType::I64)));
        rows.outer = Some(count);
        let behind: Names = [Name::from(ROW)].into();
        rows.scopes.push((rows.parts.len(), behind));
        let types = columns(inner, self.sums()).ok_or_else(|| self.not_stored(inner, span))?;
        let drawn;
        let value = match &element.kind {
            ExprKind::Comprehension(value, qualifiers) => {
                self.qualify_all(rows, qualifiers, &self.live_names(qualifiers, value), element.span)?;
                Some(&**value)
            }
            _ => {
                drawn = [Name::from(ELEMENT)].into();
                let pattern = Pattern { span: element.span, kind: PatternKind::Name(ELEMENT.into()) };
                self.draw(rows, &[(pattern, Drawn::Array(element.clone()))], &drawn, element.span)?;
                None
            }
        };
        let with_row = [&[ScalarType::I64], &types[..]].concat();
        let numbered = match value {
            // The drawn elements are behind the number.
            None => rows.array.clone().ok_or_else(|| self.wrong(span, "a comprehension of nothing"))?,
            Some(value) => {
                let staged = self.staged(rows, span, vec![value])?;
                let function = |terms: &[Term]| {
                    let row = terms.iter().take(1).copied();
                    row.chain(staged.values(terms)).collect()
                };
                let inputs: Vec<&Arc<Described>> = staged.arrays.iter().collect();
                self.alive(self.kept(untyped::zipped(&inputs, function, with_row, place))?)
            }
        };
        let numbered = match &element.kind {
            ExprKind::Comprehension(_, qualifiers) => match qualifiers.last() {
                Some(Qualifier::Distinct(span)) => self.alive(self.distinct(&numbered, rows.outer, *span)),
                _ => numbered,
            },
            _ => numbered,
        };
        let lengths = self.counted(&numbered, count, place);
        let values = self.alive(untyped::columns(&numbered, 1..types.len() + 1, place));
        Ok(self.of_offsets(values, self.offsets(lengths, place), inner, span))
    }

    /// Materialises an inner array of every row at once, under a name.
    pub(super) fn materialise(self: &Rc<Self>, rows: &mut Rows, value: &Expr, name: Name) -> Outcome<()> {
        let span = value.span;
        let Type::Array { element, .. } = rows.environment.resolve(&self.checked.type_of(value.id)) else {
            return Err(self.wrong(span, "an array is wanted here"));
        };
        let Some(array) = rows.array.clone() else { return Err(self.wrong(span, "an array of no row")) };
        // The rows as they are now; the number of an outer row is hidden under another name.
        let mut own = Rows { scopes: Vec::new(), ..rows.clone() };
        own.parts.iter_mut().for_each(|part| match part {
            Part::Column(name, _) if name.as_ref() == ROW => *name = "an outer row's number".into(),
            _ => {}
        });
        let made = self.ragged(&mut own, value, &element, span)?;
        let Value::Array(Array::Host(host)) = &made else { return Err(self.wrong(span, "rows of nothing")) };
        let [values, offsets] = self.flattened_rows(host, &element, span)?;
        rows.array = Some(self.with_stretches(&array, &offsets, self.place("comprehension", span)));
        let count = columns(&element, self.sums()).map_or(0, |types| types.len());
        let stretch = Stretch { of: values, names: vec![(name, *element, 0..count)] };
        rows.parts.push(Part::Stretch(Rc::new(stretch)));
        Ok(())
    }

    /// Returns rows with the first number and the length of the stretch that each has, by offsets.
    fn with_stretches(
        &self,
        rows: &Arc<Described>,
        offsets: &Arc<Described>,
        place: Place,
    ) -> Arc<Described> {
        let with_stretch = |terms: &[Term]| {
            let Some((number, row)) = terms.split_first() else { return Vec::new() };
            let offset = |number: Term| offsets.element(&[number], None).first().copied().unwrap_or(whole(0));
            let (first, end) = (offset(*number), offset(number.binary(Op::Add, whole(1))));
            [row, &[first, end.binary(Op::Sub, first)]].concat()
        };
        let types = [rows.types(), &[ScalarType::I64; 2]].concat();
        self.alive(untyped::with_index(rows, with_stretch, types, place))
    }

    /// Returns rows with the first number and the length of the stretch that each has, by functions for their lengths.
    pub(super) fn rows_of_lengths(
        &self,
        rows: &Arc<Described>,
        length: impl FnOnce(&[Term]) -> Term,
        place: Place,
    ) -> Arc<Described> {
        let length = |row: &[Term]| vec![length(row)];
        let lengths = untyped::zipped(&[rows], length, vec![ScalarType::I64], place);
        self.with_stretches(rows, &self.offsets(self.alive(lengths), place), place)
    }

    /// Materialises inner comprehensions of an expression that need all of their elements, for every row at once.
    pub(super) fn materialise_inner(self: &Rc<Self>, rows: &mut Rows, expr: &Expr) -> Outcome<()> {
        for (expr, element) in of_the_whole(expr) {
            if self.names_in(expr).iter().any(|name| rows.binds(name)) {
                self.materialise(rows, expr, name_of(element))?;
            }
        }
        Ok(())
    }

    /// Takes the first rows of each number, or all if there are fewer; the count may differ from number to number.
    pub(super) fn take_of_each(self: &Rc<Self>, rows: &mut Rows, count: &Expr) -> Outcome<()> {
        let place = self.place("take", count.span);
        let Some(array) = rows.array.clone() else { return Ok(()) };
        // The elements of a number stand together: the first one is where it differs from the one before.
        let numbers = untyped::columns(&array, 0..1, place);
        let starts = untyped::starts(&numbers, place);
        let latest = Scan {
            operator: function(&[ScalarType::I64; 2], |terms| vec![terms[0].binary(Op::Max, terms[1])]),
            initial: None,
            gives: Gives::Inclusive,
            from_right: false,
        };
        let begins = |terms: &[Term]| match *terms {
            [begins, index, ..] => vec![Term::apply(Op::Select, ScalarType::I64, &[begins, index, whole(0)])],
            _ => Vec::new(),
        };
        let begins = untyped::zipped(&[&starts], begins, vec![ScalarType::I64], place);
        let latest = self.alive(Described::new(latest, vec![begins], 1, vec![ScalarType::I64], place));
        let types = [array.types(), &[ScalarType::I64]].concat();
        let rank = |terms: &[Term]| match terms {
            [index, row @ .., first] => [row, &[index.binary(Op::Sub, *first)]].concat(),
            _ => Vec::new(),
        };
        let indices = untyped::with_index(
            &array,
            <[Term]>::to_vec,
            [&[ScalarType::I64], array.types()].concat(),
            place,
        );
        let ranked = self.alive(untyped::zipped(&[&indices, &latest], rank, types, place));
        let own = array.types().len();
        let before = rows.clone();
        let keep = |terms: &[Term]| {
            let kept = self.within(Mode::Element, || {
                let row = self.row(&before, terms.get(..own).unwrap_or(&[]), count.span)?;
                let most = self.scalar(&self.evaluate(count, &row)?, count.span)?.term;
                let rank = terms.get(own).copied().unwrap_or(whole(0));
                Ok(vec![rank.compare(Op::Lt, most)])
            });
            self.keep(kept, Vec::new)
        };
        let kept = self.kept(untyped::kept(&ranked, keep, place))?;
        rows.array = Some(self.alive(untyped::columns(&kept, 0..own, place)));
        Ok(())
    }

    /// Counts the elements with each number from 0 to below `count`; the number is an element's first scalar.
    fn counted(&self, numbered: &Arc<Described>, count: Term, place: Place) -> Arc<Described> {
        let int = ScalarType::I64;
        let zeros = untyped::generated(count, |_| vec![whole(0)], vec![int], place);
        let parameters = [&[int], numbered.types()].concat();
        let one = |terms: &[Term]| vec![Constant::from(true).into(), terms[1], whole(1)];
        let permute = Permute {
            rank: 1,
            combine: function(&[int; 2], |terms| vec![terms[0].binary(Op::Add, terms[1])]),
            target: function(&parameters, one),
            distinct: false,
        };
        self.alive(Described::new(permute, vec![zeros, numbered.clone()], 1, vec![int], place))
    }

    /// Computes the offsets of rows of these lengths, with the end of the last row.
    fn offsets(&self, lengths: Arc<Described>, place: Place) -> Arc<Described> {
        let int = ScalarType::I64;
        let scan = Scan {
            operator: function(&[int; 2], |terms| vec![terms[0].binary(Op::Add, terms[1])]),
            initial: Some(self.constant_function(vec![whole(0)])),
            gives: Gives::Extended,
            from_right: false,
        };
        self.alive(Described::new(scan, vec![lengths], 1, vec![int], place))
    }

    /// Creates the array of the rows of these elements.
    pub(super) fn of_offsets(
        &self,
        values: Arc<Described>,
        offsets: Arc<Described>,
        inner: &Type,
        span: Span,
    ) -> Value {
        let array = |element: &Type, described| {
            Value::Array(Array::Host(Rc::new(Host::given(element.clone(), described))))
        };
        let arguments = vec![array(inner, values), array(&Type::Scalar(ScalarType::I64), offsets)];
        let made = Made { name: RAGGED, span, instance: Rc::default(), arguments };
        let sizes = vec![crate::types::Size::Any];
        let element = Type::Array { element: Box::new(inner.clone()), sizes, level: None };
        let host = Host { element, rank: 1, made: Some(made), described: OnceCell::new() };
        Value::Array(Array::Host(Rc::new(host)))
    }

    /// Returns a row of such an array.
    pub(in super::super) fn ragged_row(self: &Rc<Self>, made: &Made, number: Term) -> Outcome<Value> {
        let span = made.span;
        let (Some(Value::Array(values)), Some(Value::Array(offsets))) =
            (made.arguments.first(), made.arguments.get(1))
        else {
            return Err(self.wrong(span, "rows of nothing"));
        };
        let offset = |number: Term| -> Outcome<Term> {
            let found = self.get(offsets, &[number], None, span)?;
            let found = self.scalar(&found, span)?.term;
            // Outside it is a length of an array, which the host must know: a value by itself.
            Ok(match self.mode.get() {
                Mode::Host => self.alive(self.unit(&[found], span)).element(&[], None).first().copied(),
                _ => Some(found),
            }
            .unwrap_or(whole(0)))
        };
        let (first, end) = (offset(number)?, offset(number.binary(Op::Add, whole(1)))?);
        let most = self.extents(values, span)?.first().map(|extent| extent.term);
        let (this, array) = (self.clone(), values.clone());
        let get = Rc::new(move |index: &[Term]| {
            let number = index.first().copied().unwrap_or(whole(0));
            this.get(&array, &[first.binary(Op::Add, number)], None, span)
        });
        let extents = vec![end.binary(Op::Sub, first)];
        self.pull(Local { element: values.element().clone(), extents, get, most }, span)
    }

    /// Returns the elements and the offsets of an array of arrays outside, for a result.
    pub(in super::super) fn flattened_rows(
        self: &Rc<Self>,
        host: &Rc<Host>,
        inner: &Type,
        span: Span,
    ) -> Outcome<[Arc<Described>; 2]> {
        if let Some(Made { name: RAGGED, arguments, .. }) = &host.made
            && let [Value::Array(values), Value::Array(offsets)] = &arguments[..]
        {
            return Ok([self.described(values, span)?, self.described(offsets, span)?]);
        }
        let place = self.place("result", span);
        let types = columns(inner, self.sums()).ok_or_else(|| self.not_stored(inner, span))?;
        let count = self.host_extents(host, span)?.first().map_or(whole(0), |extent| extent.term);
        let numbers = untyped::generated(count, |number| vec![number], vec![ScalarType::I64], place);
        let array = Array::Host(host.clone());
        let row = |number: Term| -> Outcome<Array> {
            match self.get(&array, &[number], None, span)? {
                Value::Array(row) => Ok(row),
                _ => Err(self.wrong(span, "an array is wanted here")),
            }
        };
        let size = |terms: &[Term]| {
            let size = self.within(Mode::Element, || self.part_count(&row(terms[0])?, span));
            self.keep(size, || whole(0))
        };
        let get = |terms: &[Term], number: Term| {
            let element = self.within(Mode::Element, || {
                self.stored_value(&self.get(&row(terms[0])?, &[number], None, span)?, span)
            });
            self.keep(element, Vec::new)
        };
        let values = self.kept(untyped::expanded(&numbers, size, get, types, place))?;
        let lengths = untyped::zipped(&[&numbers], |terms| vec![size(terms)], vec![ScalarType::I64], place);
        let lengths = self.kept(lengths)?;
        Ok([self.alive(values), self.offsets(lengths, place)])
    }
}
