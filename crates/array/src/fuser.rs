//! Pulls as functions: the element of an array at an index, with everything that is fused into it written out.
//!
//! In these functions, extents are `Variable::Extent { array: class, dimension: 0 }` and loads are from [`load_key`]s.

use crate::extents::Extents;
use crate::form::{Form, Forms};
use crate::operation::{Demand, Nature};
use crate::program::{ArrayProgram, Node, NodeId};
use pumice_program::interval::{Interval, of_op};
use pumice_scalar::{
    Constant, ElementOf, FailureKind, Function, Id, Node as ScalarNode, Op, ScalarType, Site, Term, Variable,
    branch, function, inspect,
};
use std::cell::RefCell;
use std::collections::HashMap;

/// The number under which a pull's function knows a scalar of a manifest array.
pub fn load_key(slot: usize, column: usize) -> u64 {
    (slot as u64) << 16 | column as u64
}

/// The slot and column of a [`load_key`].
pub fn slot_and_column(key: u64) -> (usize, usize) {
    ((key >> 16) as usize, (key & 0xffff) as usize)
}

/// One element while it is computed.
#[derive(Clone, Debug)]
pub struct Element {
    /// Whether it is there, for elements of a loose array.
    pub present: Option<Term>,
    /// Its scalars; zeros where it is absent, or anything.
    pub value: Vec<Term>,
}

impl From<Vec<Term>> for Element {
    fn from(value: Vec<Term>) -> Element {
        Element { present: None, value }
    }
}

impl Element {
    /// The flag, if there is one, and the scalars.
    fn terms(self) -> Vec<Term> {
        self.present.into_iter().chain(self.value).collect()
    }
}

/// A function that computes elements.
#[derive(Clone, Debug)]
pub struct Elements {
    /// From an index (in the form that the caller asked for) to a flag, if the array is loose, and the scalars.
    pub function: Function,
    /// Whether the first result tells if the element is there.
    pub loose: bool,
}

/// Writes pulls as functions.
pub struct Fuser<'a> {
    /// The program.
    pub program: &'a ArrayProgram,
    /// The extents of its arrays.
    pub extents: &'a Extents,
    /// Their forms.
    pub forms: &'a Forms,
    /// The slots of manifest arrays.
    pub slots: &'a HashMap<NodeId, usize>,
    /// Bounds of the values of the function that is being written, by node of its graph.
    bounds: RefCell<Vec<Interval>>,
    /// The extents of its parameters.
    parameters: RefCell<Vec<i64>>,
}

enum Task {
    /// The element of an array at an index; whether it may be read only under a check.
    Element(NodeId, Vec<Term>, bool),
    /// The element of a pull, from those of its inputs, which were computed last.
    Combine(NodeId, Vec<Term>, usize),
    /// The element that was computed last, or zeros where the condition does not hold.
    Guarded(Term),
    /// Remember the element that was computed last.
    Remember((NodeId, Vec<Id>, bool)),
}

impl<'a> Fuser<'a> {
    /// A fuser for these forms.
    pub fn new(
        program: &'a ArrayProgram,
        extents: &'a Extents,
        forms: &'a Forms,
        slots: &'a HashMap<NodeId, usize>,
    ) -> Self {
        Fuser { program, extents, forms, slots, bounds: RefCell::default(), parameters: RefCell::default() }
    }

    /// A function whose first parameters are indices below these extents; of the others nothing is known.
    pub fn function(
        &self,
        types: &[ScalarType],
        below: Vec<i64>,
        f: impl FnOnce(&[Term]) -> Vec<Term>,
    ) -> Function {
        // Bounds are those of one function: its graph numbers its nodes anew, and its parameters are its own.
        let outer = (self.parameters.replace(below), self.bounds.take());
        let function = function(types, f);
        self.parameters.replace(outer.0);
        self.bounds.replace(outer.1);
        function
    }

    /// The array whose indices an array's elements are computed from: its own, or of a loose one the array that was
    /// filtered.
    pub fn space(&self, node: NodeId) -> NodeId {
        match self.forms.of(node) {
            Some(Form::Loose { space }) => *space,
            _ => node,
        }
    }

    /// An array's elements, computed (even if it is to be in memory), from the index in its space, row by row.
    pub fn linear(&self, node: NodeId) -> Elements {
        let space = self.space(node);
        self.elements(node, vec![self.extents.size(space)], |index| {
            self.compute(node, &self.unflatten(space, index[0], self.rank(space)))
        })
    }

    /// Like [`Fuser::linear`], but reads from memory if the array is there.
    pub fn linear_of_input(&self, node: NodeId) -> Elements {
        match self.forms.is_manifest(node) {
            true => self.elements(node, vec![self.extents.size(node)], |index| {
                self.load(node, &self.unflatten(node, index[0], self.rank(node)), false).into()
            }),
            false => self.linear(node),
        }
    }

    /// An array's elements from the numbers of row and column in its space: computed, even if it is to be in memory.
    pub fn rows(&self, node: NodeId) -> Elements {
        self.by_rows(node, self.space(node), |index| self.compute(node, index))
    }

    /// Like [`Fuser::rows`], but reads from memory if the array is there.
    pub fn rows_of_input(&self, node: NodeId) -> Elements {
        match self.forms.is_manifest(node) {
            true => self.by_rows(node, node, |index| self.load(node, index, false).into()),
            false => self.rows(node),
        }
    }

    /// The elements of an array of matrices, from the numbers of row and column and the number of the matrix: read from
    /// memory, or computed.
    pub fn matrices(&self, node: NodeId) -> Function {
        let bounds = self.extents.bounds(node);
        let outer = bounds.len().saturating_sub(2);
        let below = vec![
            bounds.get(outer).copied().unwrap_or(1),
            bounds.last().copied().unwrap_or(1),
            bounds[..outer].iter().product(),
        ];
        let elements = self.elements(node, below, |index| {
            let mut full = self.unflatten(node, index[2], outer);
            full.extend(&index[..2]);
            self.element(node, &full)
        });
        elements.function
    }

    /// An array's elements from an index in its space, one parameter per dimension: computed, even if it is to be in
    /// memory.
    pub fn indexed(&self, node: NodeId) -> Elements {
        self.elements(node, self.extents.bounds(self.space(node)), |index| self.compute(node, index))
    }

    /// Like [`Fuser::indexed`], but reads from memory if the array is there.
    pub fn indexed_of_input(&self, node: NodeId) -> Elements {
        match self.forms.is_manifest(node) {
            true => {
                self.elements(node, self.extents.bounds(node), |index| self.load(node, index, false).into())
            }
            false => self.indexed(node),
        }
    }

    fn by_rows(&self, node: NodeId, space: NodeId, element: impl Fn(&[Term]) -> Element) -> Elements {
        let (rows, columns) = rows_and_columns(&self.extents.bounds(space));
        self.elements(node, vec![rows, columns], |index| {
            let mut full = self.unflatten(space, index[0], self.rank(space).saturating_sub(1));
            full.extend((self.rank(space) > 0).then_some(index[1]));
            element(&full)
        })
    }

    fn elements(&self, node: NodeId, below: Vec<i64>, f: impl FnOnce(&[Term]) -> Element) -> Elements {
        let loose = std::cell::Cell::new(false);
        let types = vec![ScalarType::I64; below.len()];
        let function = self.function(&types, below, |index| {
            let element = f(index);
            loose.set(element.present.is_some());
            element.terms()
        });
        debug_assert!(
            function.results().len() == self.program.node(node).types.len() + usize::from(loose.get())
        );
        Elements { function, loose: loose.get() }
    }

    /// Composes the operations that an element of a push passes through: from its index, row by row,
    /// and its scalars to the index in the last operation's result, a flag if it may be dropped, and the scalars.
    pub fn stages(&self, producer: NodeId, stages: &[NodeId]) -> Elements {
        let types = [&[ScalarType::I64][..], &self.program.node(producer).types].concat();
        let loose = std::cell::Cell::new(false);
        let function = self.function(&types, vec![self.extents.size(producer)], |terms| {
            let (mut at, mut linear) = (producer, terms[0]);
            let mut element = Element::from(terms[1..].to_vec());
            for stage in stages {
                let node = self.program.node(*stage);
                // Only an operation with several inputs reads at the index.
                let index = match self.rank(at) {
                    1 => vec![linear],
                    _ => self.unflatten(at, linear, self.rank(at)),
                };
                let input = |number: NodeId| match number == at {
                    true => element.clone(),
                    false => self.element(number, &index),
                };
                let inputs = node.inputs.iter().map(|number| input(*number)).collect();
                element = node.operation.element(self, node, &index, inputs);
                if node.operation.listens(0) == crate::operation::Listens::Reindexes {
                    let there = node.operation.reindex(self, node, index);
                    linear = self.flatten(*stage, &there);
                }
                at = *stage;
            }
            loose.set(element.present.is_some());
            std::iter::once(linear).chain(element.terms()).collect()
        });
        Elements { function, loose: loose.get() }
    }

    /// The target of an element that is combined into another array, by an operation's function of its index and scalars:
    /// from the number of its index in `space` and its scalars to whether it has a target, the number of the target, and the value
    /// to combine there. An element of a loose array has no index in its array, and none is asked for. An index out of bounds in some dimension is
    /// recorded here; the caller checks that the number is one of the target's.
    pub fn target(
        &self,
        node: &Node,
        target: &Function,
        (source, space): (NodeId, NodeId),
        into: NodeId,
    ) -> Function {
        let types = [&[ScalarType::I64][..], &self.program.node(source).types].concat();
        self.function(&types, vec![self.extents.size(space)], |terms| {
            let index = self.unflatten(source, terms[0], self.rank(source));
            let results = self.apply(target, &[&index[..], &terms[1..]].concat());
            let (goes, rest) = results.split_at(1.min(results.len()));
            let (there, value) = rest.split_at(self.rank(into).min(rest.len()));
            // Nothing is checked of an element that goes nowhere.
            let only_if = |condition: Term, then: &dyn Fn() -> Term| match condition.constant() {
                Some(known) if known.is_true() => then(),
                Some(_) => condition,
                None => {
                    let no = Term::from(Constant::from(false));
                    branch(condition, &[then()], &[no]).first().copied().unwrap_or(no)
                }
            };
            let inside = || match there.len() {
                0 | 1 => Term::from(Constant::from(true)),
                _ => self.within(node, into, there),
            };
            let yes = Term::from(Constant::from(true));
            let goes = goes.first().copied().unwrap_or(yes);
            let goes = only_if(goes, &inside);
            let linear = self.flatten(into, there);
            [goes, linear].into_iter().chain(value.iter().copied()).collect()
        })
    }

    fn rank(&self, node: NodeId) -> usize {
        self.program.node(node).rank
    }

    /// A user's function, applied, with extents by class.
    pub fn apply(&self, function: &Function, arguments: &[Term]) -> Vec<Term> {
        function.instantiate(
            &mut |variable, ty| match variable {
                Variable::Parameter(number) => match arguments.get(number as usize) {
                    Some(argument) if argument.ty() == ty => *argument,
                    _ => Term::invalid(ty, "a function does not fit the arrays that it is applied to"),
                },
                Variable::Extent { array, dimension } => {
                    self.extent(NodeId(u32::try_from(array).unwrap_or(u32::MAX)), dimension)
                }
                other => Term::variable(other, ty),
            },
            // Nothing that users write makes one here.
            &mut |_, ty, _, _| Term::invalid(ty, "a kernel's memory is read in an array program"),
            &mut |of, index| self.element_at(of, index),
        )
    }

    /// An element that a function reads by an index of its own.
    fn element_at(&self, of: ElementOf, index: &[Term]) -> Term {
        let array = NodeId(u32::try_from(of.array).unwrap_or(u32::MAX));
        let inside = self.inside(of.site, array, index);
        let zero = Term::from(Constant::zero(of.ty));
        let known = inside.constant().map(|inside| inside.is_true());
        if known == Some(false) {
            return zero;
        }
        let element = self.run(vec![Task::Element(array, index.to_vec(), known.is_none())]);
        let missing = || Term::invalid(of.ty, "an element of an array is read as another type");
        let value = element.value.get(of.column as usize).copied().unwrap_or_else(missing);
        match known {
            None => branch(inside, &[value], &[zero]).first().copied().unwrap_or(zero),
            Some(_) => value,
        }
    }

    /// A user's function of an element that may be absent: where it is, the function is not computed if that could fail.
    pub fn apply_if(&self, present: Option<Term>, function: &Function, arguments: &[Term]) -> Vec<Term> {
        let value = self.apply(function, arguments);
        match present {
            Some(present) if !function.is_total() => branch(present, &value, &zeros(&value)),
            _ => value,
        }
    }

    /// A function of users with extents by class.
    pub fn with_classes(&self, user: &Function) -> Function {
        self.function(user.parameters(), Vec::new(), |terms| self.apply(user, terms))
    }

    /// An extent, by class.
    pub fn extent(&self, array: NodeId, dimension: u32) -> Term {
        match self.extents.class(array, dimension) {
            Some(class) => {
                Term::variable(Variable::Extent { array: class as u64, dimension: 0 }, ScalarType::I64)
            }
            None => Term::invalid(ScalarType::I64, "an extent of an array that is not part of the program"),
        }
    }

    /// The number of an index, row by row.
    pub fn flatten(&self, node: NodeId, index: &[Term]) -> Term {
        let mut linear = Term::from(Constant::from(0i64));
        for (dimension, part) in index.iter().enumerate() {
            linear = match dimension {
                0 => *part,
                _ => linear.binary(Op::Mul, self.extent(node, dimension as u32)).binary(Op::Add, *part),
            };
        }
        linear
    }

    /// The index in the first `rank` dimensions of an array that a number, row by row, stands for.
    pub fn unflatten(&self, node: NodeId, linear: Term, rank: usize) -> Vec<Term> {
        let mut rest = linear;
        let mut index = Vec::with_capacity(rank);
        for dimension in (1..rank).rev() {
            let extent = self.extent(node, dimension as u32);
            index.push(rest.binary(Op::Rem, extent));
            rest = rest.binary(Op::Div, extent);
        }
        if rank > 0 {
            index.push(rest);
        }
        index.reverse();
        index
    }

    /// An element of an array that is in memory.
    fn load(&self, node: NodeId, index: &[Term], guarded: bool) -> Vec<Term> {
        let types = &self.program.node(node).types;
        let Some(&slot) = self.slots.get(&node) else {
            let invalid = |ty: &ScalarType| Term::invalid(*ty, "an array that is read was never written");
            return types.iter().map(invalid).collect();
        };
        let linear = self.flatten(node, index);
        // SAFETY: the index is one of the array's, in each of its dimensions, or the load is guarded by a check that it is;
        // the plan gives the slot as many elements as the array has.
        let column = |(column, ty): (usize, &ScalarType)| unsafe {
            Term::load(load_key(slot, column), *ty, linear, guarded)
        };
        types.iter().enumerate().map(column).collect()
    }

    /// The element of an array at an index: from memory, or computed.
    pub fn element(&self, node: NodeId, index: &[Term]) -> Element {
        self.run(vec![Task::Element(node, index.to_vec(), false)])
    }

    /// The element of an array at an index, computed (even if it will be written to memory).
    fn compute(&self, node: NodeId, index: &[Term]) -> Element {
        let mut tasks = Vec::new();
        self.expand(self.program.node(node), index.to_vec(), false, &mut tasks);
        self.run(tasks)
    }

    /// No recursion: chains of operations may be long.
    fn run(&self, mut tasks: Vec<Task>) -> Element {
        let mut known: HashMap<(NodeId, Vec<Id>, bool), Element> = HashMap::new();
        let mut values: Vec<Element> = Vec::new();
        while let Some(task) = tasks.pop() {
            match task {
                Task::Element(number, index, guarded) => {
                    let key = (number, index.iter().map(|term| term.id()).collect::<Vec<Id>>(), guarded);
                    if let Some(value) = known.get(&key) {
                        values.push(value.clone());
                        continue;
                    }
                    tasks.push(Task::Remember(key));
                    let node = self.program.node(number);
                    let computed = matches!(node.operation.nature(), Nature::Pull | Nature::Loose);
                    match self.forms.is_manifest(number) || !computed {
                        true => values.push(self.load(number, &index, guarded).into()),
                        false => self.expand(node, index, guarded, &mut tasks),
                    }
                }
                Task::Combine(number, index, count) => {
                    let node = self.program.node(number);
                    let inputs = values.split_off(values.len().saturating_sub(count));
                    values.push(node.operation.element(self, node, &index, inputs));
                }
                Task::Guarded(condition) => {
                    if let Some(element) = values.last_mut() {
                        element.value = branch(condition, &element.value, &zeros(&element.value));
                    }
                }
                Task::Remember(key) => {
                    if let Some(value) = values.last() {
                        known.insert(key, value.clone());
                    }
                }
            }
        }
        values.pop().unwrap_or_else(|| Element::from(Vec::new()))
    }

    /// Pushes the tasks that compute an element that is not in memory.
    fn expand(&self, node: &Node, index: Vec<Term>, guarded: bool, tasks: &mut Vec<Task>) {
        let Demand { elements, guard } = node.operation.demand(self, node, &index);
        let guard = guard.filter(|guard| guard.constant().is_none());
        let guarded = guarded || guard.is_some();
        tasks.extend(guard.map(Task::Guarded));
        tasks.push(Task::Combine(node.id, index, elements.len()));
        let input = |(number, index): (usize, Vec<Term>)| {
            node.inputs.get(number).map(|input| Task::Element(*input, index, guarded))
        };
        tasks.extend(elements.into_iter().rev().filter_map(input));
    }

    /// Whether an index is within an array; where it is not, the failure is recorded.
    pub fn within(&self, node: &Node, input: NodeId, index: &[Term]) -> Term {
        self.inside(Some(Site { place: node.place, kind: FailureKind::OutOfBounds }), input, index)
    }

    /// Whether an index is within an array; where it is not, the failure is recorded if there is a place for it.
    fn inside(&self, site: Option<Site>, input: NodeId, index: &[Term]) -> Term {
        let zero = Term::from(Constant::from(0i64));
        let mut all = Term::from(Constant::from(true));
        let lengths = self.extents.lengths(input);
        // For these extents.
        let is_proved = |(dimension, part): (usize, &Term)| {
            let length = lengths.get(dimension).filter(|length| length.cell.is_none());
            let (low, high) = self.bounds(*part);
            low >= 0 && length.is_some_and(|length| high < length.bound.into())
        };
        let proved: Vec<bool> = index.iter().enumerate().map(is_proved).collect();
        // Without a failure site, one part of an index must not decide whether another one is computed, which may fail.
        let together = site.is_none() && proved.contains(&false);
        for (dimension, part) in index.iter().enumerate() {
            if proved[dimension] && !together {
                continue;
            }
            let extent = self.extent(input, dimension as u32);
            let inside = zero.compare(Op::Le, *part).binary(Op::And, part.compare(Op::Lt, extent));
            let inside = site.map_or(inside, |site| inside.check(site, *part, extent));
            all = all.binary(Op::And, inside);
        }
        all
    }

    /// Bounds of a value, given the actual extents.
    fn bounds(&self, term: Term) -> Interval {
        let id = term.id();
        let parameters = self.parameters.borrow();
        let mut bounds = self.bounds.borrow_mut();
        inspect(|graph| {
            for node in &graph.nodes()[bounds.len().min(id.0 as usize + 1)..=id.0 as usize] {
                let full = node.ty().map_or((i128::MIN, i128::MAX), ScalarType::range);
                let known = match node {
                    ScalarNode::Constant(constant) => constant.as_integer().map(|value| (value, value)),
                    ScalarNode::Variable(Variable::Parameter(number), _) => {
                        parameters.get(*number as usize).map(|extent| (0, i128::from(*extent - 1).max(0)))
                    }
                    ScalarNode::Variable(Variable::Extent { array, .. }, _) => {
                        let length = self.extents.length(*array as usize);
                        Some((
                            if length.cell.is_some() { 0 } else { length.bound.into() },
                            length.bound.into(),
                        ))
                    }
                    ScalarNode::Apply { op, ty, operands } => {
                        let ids = operands.as_slice();
                        let types: Vec<ScalarType> =
                            ids.iter().filter_map(|id| graph.node(*id).ty()).collect();
                        let intervals: Vec<Interval> = ids.iter().map(|id| bounds[id.0 as usize]).collect();
                        Some(of_op(*op, *ty, &types, &intervals))
                    }
                    _ => None,
                };
                bounds.push(known.unwrap_or(full));
            }
        });
        bounds[id.0 as usize]
    }
}

/// Zeros of the same types.
pub fn zeros(like: &[Term]) -> Vec<Term> {
    like.iter().map(|term| Constant::zero(term.ty()).into()).collect()
}

/// Returns the number of rows of an array, and their length.
pub fn rows_and_columns(extents: &[i64]) -> (i64, i64) {
    match extents.split_last() {
        Some((columns, outer)) => (outer.iter().product(), *columns),
        None => (1, 1),
    }
}
