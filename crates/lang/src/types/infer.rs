//! Types of expressions: rules 17 to 30 of FCL, for more expressions. An expected type is passed down into an expression where
//! that helps (`check`); otherwise types are synthesised bottom-up (`infer`) and compared.

use super::arena::{Arena, LevelId, Node, SizeRef, SumKind, Ty};
use super::checked::{FunctionId, Use};
use super::elaborate::TypeScope;
use super::fields::PendingField;
use super::hash::NumberMap;
use super::levels::{Call, LevelCall, LevelParameter, LevelUse, Region, SettledCall};
use super::messages::Why;
use super::names::Names;
use super::resolve::Meanings;
use super::scheme::InferredScheme;
use super::ty::Kind;
use crate::ast::{Expr, ExprId, ExprKind, Ident, Name, Pattern};
use crate::diagnostic::Diagnostic;
use crate::program::Program;
use crate::source::Span;
use pumice_scalar::ScalarType;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The state of inference.
pub struct Checker<'p> {
    pub program: &'p Program,
    pub names: Names,
    pub meanings: Meanings,
    pub arena: Arena,
    pub errors: Vec<Diagnostic>,
    /// The type of each expression.
    pub types: Vec<Ty>,
    pub uses: NumberMap<ExprId, Use>,
    /// The schemes of functions: from their signatures, or inferred.
    pub schemes: Vec<Option<InferredScheme>>,
    /// The types of functions whose group is being inferred.
    pub group: NumberMap<FunctionId, Ty>,
    pub builtins: Vec<InferredScheme>,
    pub constructors: Vec<Vec<InferredScheme>>,
    /// The fields of each sum's constructors, its parameters and their kinds.
    pub fields: Vec<Vec<Vec<Ty>>>,
    pub parameters: Vec<Vec<Ty>>,
    pub parameter_kinds: Vec<Vec<Kind>>,
    /// Declared types that contain themselves; the error has been reported.
    pub broken_types: HashSet<u32>,
    /// Other names of records, with the names of their fields.
    pub record_aliases: HashMap<u32, Arc<[Name]>>,
    /// Local names, by the span of the name where it is bound.
    pub locals: NumberMap<Span, Local>,
    /// The levels of level parameters, by the span of their name.
    pub level_parameters: NumberMap<Span, LevelId>,
    pub scalars: [Ty; ScalarType::ALL.len()],
    /// The variables of types that are written in the function's body.
    pub scope: TypeScope,
    pub module: usize,
    pub pending: Vec<PendingField>,
    pub level_uses: Vec<LevelUse>,
    /// Uses of functions that may work at a level inside, and those of them that stand under a `concat`.
    pub calls: Vec<Call>,
    pub calls_inside: Vec<(Call, u32, Span)>,
    /// Functions that are applied to levels: in the current function, and in those before.
    pub level_calls: Vec<LevelCall>,
    pub settled_calls: Vec<SettledCall>,
    /// Number of levels above a level parameter at which a function works inside.
    pub raises: HashMap<LevelParameter, u32>,
    pub regions: Vec<Region>,
    pub region: usize,
    /// The region of the value that is piped into the current application.
    pub piped_region: usize,
    /// The highest level at which each function works, as far as it is known.
    pub highest: Vec<Option<u32>>,
    /// Integers whose size must be looked at: the value, whether a minus is before it, and its type.
    pub literals: Vec<(Span, u64, bool, Ty)>,
    /// The expressions of the function.
    pub visited: Vec<ExprId>,
}

/// The binding of a local name.
#[derive(Clone)]
pub enum Local {
    /// A value of a type.
    Value(Ty),
    /// A local function inside of itself.
    Itself(Ty),
    /// A name that a `let` binds, which may be polymorphic.
    Bound(InferredScheme),
}

impl<'p> Checker<'p> {
    pub fn new(
        program: &'p Program,
        names: Names,
        meanings: Meanings,
        errors: Vec<Diagnostic>,
    ) -> Checker<'p> {
        let mut arena = Arena::default();
        let sums = names.sums.len();
        arena.sums = vec![SumKind { name: "".into(), narrowest: Kind::Type, size: (1, 1) }; sums];
        let unknown = arena.add(Node::Error);
        let scalars = ScalarType::ALL.map(|scalar| arena.scalar(scalar));
        Checker {
            program,
            arena,
            errors,
            types: vec![unknown; program.expressions as usize],
            uses: NumberMap::default(),
            schemes: vec![None; names.functions.len()],
            highest: vec![None; names.functions.len()],
            group: NumberMap::default(),
            builtins: Vec::new(),
            constructors: vec![Vec::new(); sums],
            fields: vec![Vec::new(); sums],
            parameters: vec![Vec::new(); sums],
            parameter_kinds: vec![Vec::new(); sums],
            names,
            meanings,
            broken_types: HashSet::new(),
            record_aliases: HashMap::new(),
            locals: NumberMap::default(),
            level_parameters: NumberMap::default(),
            scalars,
            scope: TypeScope::default(),
            module: 0,
            pending: Vec::new(),
            level_uses: Vec::new(),
            calls: Vec::new(),
            calls_inside: Vec::new(),
            level_calls: Vec::new(),
            settled_calls: Vec::new(),
            raises: HashMap::new(),
            regions: vec![Region::default()],
            region: 0,
            piped_region: 0,
            literals: Vec::new(),
            visited: Vec::new(),
        }
    }

    pub fn scalar(&self, scalar: ScalarType) -> Ty {
        self.scalars[scalar as usize]
    }

    pub fn int(&self) -> Ty {
        self.scalar(ScalarType::I64)
    }

    pub fn bool(&self) -> Ty {
        self.scalar(ScalarType::Bool)
    }

    pub fn unknown(&mut self) -> Ty {
        self.arena.add(Node::Error)
    }

    /// Remembers the type of an expression.
    pub fn record(&mut self, expr: &Expr, ty: Ty) -> Ty {
        if let Some(slot) = self.types.get_mut(expr.id.0 as usize) {
            *slot = ty;
            self.visited.push(expr.id);
        }
        ty
    }

    /// Checks that an expression is of a type.
    pub fn check(&mut self, expr: &Expr, expected: Ty, why: Why<'_>) {
        let (expected, node) = self.arena.find(expected);
        match (&expr.kind, node) {
            (ExprKind::Fn(parameters, body), Node::Function(..) | Node::LevelFunction(..)) => {
                let ty = self.lambda(parameters, body, Some(expected), why);
                self.record(expr, ty);
                self.expect(expr, ty, expected, why);
            }
            (ExprKind::Let(bindings, body), _) => {
                self.bindings(bindings);
                self.check(body, expected, why);
                self.record(expr, expected);
            }
            (ExprKind::If(condition, yes, no), node) if !matches!(node, Node::Flexible { .. }) => {
                self.check(condition, self.bool(), Why::Condition);
                self.check(yes, expected, why);
                self.check(no, expected, why);
                self.record(expr, expected);
            }
            (ExprKind::Case(value, arms), node) if !matches!(node, Node::Flexible { .. }) => {
                self.arms(value, arms, |checker, arm| checker.check(arm, expected, why));
                self.check_exhaustive(expr);
                self.record(expr, expected);
            }
            (ExprKind::Tuple(parts), Node::Tuple(types)) if parts.len() == self.arena.parts(types).len() => {
                for (number, part) in parts.iter().enumerate() {
                    self.check(part, self.arena.part(types, number), why);
                }
                self.record(expr, expected);
            }
            (ExprKind::Record(fields), Node::Record(shape, types)) if self.has_fields(shape, fields) => {
                let names = self.arena.shape(shape);
                for (name, field) in fields {
                    let number = names.iter().position(|known| *known == name.name).unwrap_or(0);
                    self.check(field, self.arena.part(types, number), Why::Field(&name.name));
                }
                self.record(expr, expected);
            }
            _ => {
                let ty = self.infer(expr);
                self.expect(expr, ty, expected, why);
            }
        }
    }

    fn has_fields(&self, shape: u32, fields: &[(Ident, Expr)]) -> bool {
        let mut names: Vec<&Name> = fields.iter().map(|(name, _)| &name.name).collect();
        names.sort();
        names.into_iter().eq(self.arena.shape(shape).iter())
    }

    /// Reports an error if the type of an expression is not the expected one.
    pub fn expect(&mut self, expr: &Expr, ty: Ty, expected: Ty, why: Why<'_>) -> bool {
        match self.arena.unify(expected, ty) {
            Ok(()) => true,
            Err(clash) => {
                self.mismatch(expr, ty, expected, why, clash);
                false
            }
        }
    }

    /// Reports an error if a type is not of a kind.
    pub fn require(&mut self, expr: &Expr, ty: Ty, kind: Kind, why: Why<'_>) {
        if let Err(clash) = self.arena.require(ty, kind) {
            self.wrong_kind(expr, ty, why, clash);
        }
    }

    /// Infers the type of an expression.
    pub fn infer(&mut self, expr: &Expr) -> Ty {
        let ty = match &expr.kind {
            ExprKind::Error => self.unknown(),
            ExprKind::Integer(value, suffix) => self.integer(expr.span, *value, *suffix, false),
            ExprKind::Float(_, Some(suffix)) => self.scalar(*suffix),
            ExprKind::Float(_, None) => self.arena.fresh(Kind::Float),
            ExprKind::Bool(_) => self.bool(),
            ExprKind::BlockSize => self.int(),
            ExprKind::Name(_) | ExprKind::Apply(..) | ExprKind::ApplyLevel(..) => {
                return self.application(expr, Vec::new());
            }
            ExprKind::Binary(..) => return self.operators(expr),
            ExprKind::Tuple(parts) => {
                let parts: Vec<Ty> = parts.iter().map(|part| self.infer(part)).collect();
                self.arena.tuple(&parts)
            }
            ExprKind::List(parts) => self.list(parts),
            ExprKind::Record(fields) => {
                self.check_fields_differ(fields.iter().map(|(name, _)| name));
                let fields =
                    fields.iter().map(|(name, field)| (name.name.clone(), self.infer(field))).collect();
                self.arena.record(fields)
            }
            ExprKind::Update(record, fields) => {
                self.check_fields_differ(fields.iter().map(|(name, _)| name));
                let ty = self.infer(record);
                for (name, field) in fields {
                    let expected = self.field(ty, name, record.span);
                    self.check(field, expected, Why::Field(&name.name));
                }
                ty
            }
            ExprKind::Field(record, name) => {
                let ty = self.infer(record);
                self.field(ty, name, record.span)
            }
            ExprKind::Fn(parameters, body) => self.lambda(parameters, body, None, Why::Nothing),
            ExprKind::Let(bindings, body) => {
                self.bindings(bindings);
                self.infer(body)
            }
            ExprKind::If(condition, yes, no) => {
                self.check(condition, self.bool(), Why::Condition);
                let first = self.infer(yes);
                let second = self.infer(no);
                self.join(no, first, second, Why::Branch(yes.span))
            }
            ExprKind::Case(value, arms) => {
                let mut result: Option<(Ty, Span)> = None;
                self.arms(value, arms, |checker, arm| {
                    let ty = checker.infer(arm);
                    result = Some(match result {
                        None => (ty, arm.span),
                        Some((first, span)) => (checker.join(arm, first, ty, Why::Branch(span)), span),
                    });
                });
                self.check_exhaustive(expr);
                match result {
                    Some((ty, _)) => ty,
                    None => self.unknown(),
                }
            }
            ExprKind::Negate(value) => {
                if let ExprKind::Integer(number, suffix) = &value.kind {
                    let ty = self.integer(value.span, *number, *suffix, true);
                    self.record(value, ty)
                } else {
                    let ty = self.infer(value);
                    self.require(value, ty, Kind::Number, Why::Operator("-"));
                    ty
                }
            }
            ExprKind::Section(operator) => self.section(*operator),
            ExprKind::Typed(value, written) => {
                let mut scope = std::mem::take(&mut self.scope);
                let ty = self.elaborate(self.module, written, &mut scope);
                self.scope = scope;
                let before = self.errors.len();
                self.check(value, ty, Why::Annotation(written.span));
                if self.errors.len() > before { self.unknown() } else { ty }
            }
            ExprKind::Comprehension(head, qualifiers) => self.comprehension(head, qualifiers),
        };
        self.record(expr, ty)
    }

    fn integer(&mut self, span: Span, value: u64, suffix: Option<ScalarType>, negative: bool) -> Ty {
        let ty = match suffix {
            Some(suffix) => self.scalar(suffix),
            None => self.arena.fresh(Kind::Number),
        };
        if value > i32::MAX as u64 {
            self.literals.push((span, value, negative, ty));
        }
        ty
    }

    fn list(&mut self, parts: &[Expr]) -> Ty {
        let size = SizeRef::Number(parts.len() as u64);
        let element = match parts.split_first() {
            None => self.arena.fresh(Kind::Ground),
            Some((first, rest)) => {
                let mut element = self.infer(first);
                if let Err(clash) = self.arena.require(element, Kind::Ground) {
                    self.wrong_kind(first, element, Why::Element, clash);
                    element = self.unknown();
                }
                for part in rest {
                    let ty = self.infer(part);
                    element = self.join(part, element, ty, Why::Elements(first.span));
                }
                element
            }
        };
        self.arena.array(element, &[size], None)
    }

    /// Returns the common type of two branches: their sizes may differ.
    fn join(&mut self, expr: &Expr, first: Ty, second: Ty, why: Why<'_>) -> Ty {
        match self.arena.unify_but_sizes(first, second) {
            Ok(false) => first,
            Ok(true) => self.arena.without_sizes(first),
            Err(clash) => {
                self.mismatch(expr, second, first, why, clash);
                first
            }
        }
    }

    fn arms(&mut self, value: &Expr, arms: &[(Pattern, Expr)], mut arm: impl FnMut(&mut Self, &Expr)) {
        let ty = self.infer(value);
        for (pattern, body) in arms {
            self.pattern(pattern, ty);
            arm(self, body);
        }
    }
}
