//! A scalar function as data: parameters, a graph of its own, results. Immutable, and independent of any thread.

use crate::Op;
use crate::arena;
use crate::graph::{Graph, Id, Node, Site, Variable};
use crate::schedule::{Item, MAX_NESTING, Schedule, TooDeep, loop_dependencies};
use crate::types::{Constant, ScalarType};
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A scalar function.
#[derive(Clone)]
pub struct Function(Arc<Data>);

struct Data {
    parameters: Vec<ScalarType>,
    nodes: Vec<Node>,
    results: Vec<Id>,
    hash: u64,
}

impl Function {
    /// The part of a graph that these results need. Parameters before `first` are another function's, and a mistake.
    pub(crate) fn extract(graph: &Graph, first: Id, parameters: &[ScalarType], results: &[Id]) -> Function {
        let needed_up_to = results.iter().map(|id| id.0 as usize + 1).max().unwrap_or(0);
        let mut needed = vec![false; needed_up_to];
        results.iter().for_each(|id| needed[id.0 as usize] = true);
        for number in (0..needed_up_to).rev() {
            if needed[number] {
                graph.nodes()[number].for_each_operand(|id| needed[id.0 as usize] = true);
            }
        }
        let mut renumbered = vec![Id(0); needed_up_to];
        let mut loops: HashMap<u32, u32> = HashMap::new();
        let mut nodes = Vec::new();
        for number in (0..needed_up_to).filter(|&number| needed[number]) {
            renumbered[number] = Id(nodes.len() as u32);
            let mut node = graph.nodes()[number].map_operands(|id| renumbered[id.0 as usize]);
            // Loops are numbered anew too: equal functions must be equal wherever they were built.
            if let Node::Loop { number, .. } | Node::LoopVariable { number, .. } = &mut node {
                let next = loops.len() as u32;
                *number = *loops.entry(*number).or_insert(next);
            }
            if let Node::Variable(Variable::Parameter(_), ty) = node
                && number < first.0 as usize
            {
                node = Node::Invalid { message: arena::STRAY.into(), ty };
            }
            nodes.push(node);
        }
        let results = results.iter().map(|id| renumbered[id.0 as usize]).collect::<Vec<_>>();
        let mut hasher = DefaultHasher::new();
        (parameters, &nodes, &results).hash(&mut hasher);
        Function(Arc::new(Data { parameters: parameters.to_vec(), nodes, results, hash: hasher.finish() }))
    }

    /// The types of the parameters.
    pub fn parameters(&self) -> &[ScalarType] {
        &self.0.parameters
    }

    /// The nodes, operands before users.
    pub fn nodes(&self) -> &[Node] {
        &self.0.nodes
    }

    /// The results.
    pub fn results(&self) -> &[Id] {
        &self.0.results
    }

    /// The types of the results.
    pub fn result_types(&self) -> Vec<ScalarType> {
        self.results().iter().map(|id| self.nodes()[id.0 as usize].ty().unwrap_or(ScalarType::Bool)).collect()
    }

    /// How many loops it has; their numbers are below this.
    pub fn loops(&self) -> u32 {
        let number = |node: &Node| match node {
            Node::Loop { number, .. } | Node::LoopVariable { number, .. } => number + 1,
            _ => 0,
        };
        self.nodes().iter().map(number).max().unwrap_or(0)
    }

    /// The first mistake in it, if there is one.
    pub fn mistake(&self) -> Option<String> {
        let invalid = self.nodes().iter().find_map(|node| match node {
            Node::Invalid { message, .. } => Some(message.to_string()),
            _ => None,
        });
        let depends = loop_dependencies(self.nodes().iter(), |id| Some(id.0 as usize));
        let escaped = self.results().iter().any(|id| !depends.of(id.0 as usize).is_empty());
        let deep = || match self.may_nest_deeply() {
            true => self.schedule().err().map(|error| error.to_string()),
            false => None,
        };
        invalid.or_else(|| escaped.then(|| "a loop's variable is used outside the loop".into())).or_else(deep)
    }

    /// Where its nodes are computed.
    pub(crate) fn schedule(&self) -> Result<Schedule, TooDeep> {
        Schedule::new(self.nodes(), self.results(), |_| false, MAX_NESTING)
    }

    /// Whether its branches and loops could be nested too deeply, if each were written where it is used.
    fn may_nest_deeply(&self) -> bool {
        let mut nesting: Vec<usize> = Vec::with_capacity(self.nodes().len());
        for node in self.nodes() {
            let mut mine = 0;
            node.for_each_operand(|id| mine = mine.max(nesting[id.0 as usize]));
            nesting.push(mine + usize::from(matches!(node, Node::Branch { .. } | Node::Loop { .. })));
        }
        nesting.into_iter().any(|nesting| nesting > MAX_NESTING)
    }

    /// The constant results, if all results are constants.
    pub fn constants(&self) -> Option<Vec<Constant>> {
        let constant = |id: &Id| match &self.nodes()[id.0 as usize] {
            Node::Constant(constant) => Some(*constant),
            _ => None,
        };
        self.results().iter().map(constant).collect()
    }

    /// Instructions, roughly, that one evaluation takes; a loop counts as many.
    pub fn cost(&self) -> u32 {
        let price = |node: &Node| match node {
            Node::Apply { op, ty, .. } => op.cost(*ty),
            Node::Loop { .. } => 1000,
            Node::Load { .. } => 4,
            Node::Check { .. } | Node::Branch { .. } => 1,
            _ => 0,
        };
        self.nodes().iter().map(price).fold(0, u32::saturating_add)
    }

    /// Whether it can be evaluated on any arguments: it checks nothing, reads nothing and has no loop.
    pub fn is_total(&self) -> bool {
        let partial =
            |node: &Node| matches!(node, Node::Check { .. } | Node::Load { .. } | Node::Loop { .. });
        !self.nodes().iter().any(partial)
    }

    /// The places at which evaluation can fail.
    pub fn sites(&self) -> impl Iterator<Item = Site> {
        self.nodes().iter().filter_map(|node| match node {
            Node::Check { site, .. } => Some(*site),
            _ => None,
        })
    }

    /// Whether a function of two equal halves of parameters gives the same when the halves are swapped. Decided on the
    /// graph: both applications are built, and with a canonical order of operands equal values are equal nodes. A `false`
    /// means that it could not be shown.
    pub fn commutes(&self) -> bool {
        let (types, half) = (self.parameters(), self.parameters().len() / 2);
        if types.len() != 2 * half || types[..half] != types[half..] {
            return false;
        }
        arena::scope(|| {
            let term = |(index, ty): (usize, &ScalarType)| {
                arena::Term::variable(Variable::Parameter(index as u32), *ty)
            };
            let arguments: Vec<arena::Term> = types.iter().enumerate().map(term).collect();
            let swapped = [&arguments[half..], &arguments[..half]].concat();
            let (one, other) = (self.apply(&arguments), self.apply(&swapped));
            one.iter().zip(&other).all(|(a, b)| a.id() == b.id())
        })
    }

    /// A neutral element of a function of two elements, if one is found: combined with it, from either side, every element
    /// stays as it is to the bit. Decided on the graph, for elements of up to two scalars.
    pub fn neutral(&self) -> Option<Vec<Constant>> {
        let (types, half) = (self.parameters(), self.parameters().len() / 2);
        if types.len() != 2 * half || types[..half] != types[half..] || half > 2 {
            return None;
        }
        let mut candidates: Vec<Vec<Constant>> = vec![Vec::new()];
        for ty in &types[..half] {
            let extended = candidates.iter().flat_map(|first| {
                neutral_candidates(*ty).into_iter().map(move |next| [&first[..], &[next]].concat())
            });
            candidates = extended.collect();
        }
        candidates.into_iter().find(|candidate| self.is_neutral(candidate))
    }

    /// Whether these scalars are seen to be neutral.
    fn is_neutral(&self, candidate: &[Constant]) -> bool {
        let types = &self.parameters()[..candidate.len()];
        arena::scope(|| {
            let element: Vec<arena::Term> = types
                .iter()
                .enumerate()
                .map(|(index, ty)| arena::Term::variable(Variable::Parameter(index as u32), *ty))
                .collect();
            let neutral: Vec<arena::Term> = candidate.iter().map(|constant| (*constant).into()).collect();
            let sides = [[&neutral[..], &element].concat(), [&element[..], &neutral].concat()];
            sides.iter().all(|arguments| {
                let results = self.apply(arguments);
                let mut scalars = results.iter().zip(element.iter().zip(candidate));
                scalars.all(|(result, (element, candidate))| is_unchanged(*result, *element, *candidate))
            })
        })
    }

    /// Whether an associative function of two elements gives the same however often, but at least once, `initial` stands
    /// among the elements: it is neutral, or every scalar absorbs it after the first time, as a maximum does. Decided on
    /// the graph, from both sides; a `false` means that it could not be shown.
    pub fn absorbs(&self, initial: &Function) -> bool {
        let (types, half) = (self.parameters(), self.parameters().len() / 2);
        if types.len() != 2 * half
            || types[..half] != types[half..]
            || initial.result_types() != types[..half]
        {
            return false;
        }
        arena::scope(|| {
            let element: Vec<arena::Term> = types[..half]
                .iter()
                .enumerate()
                .map(|(index, ty)| arena::Term::variable(Variable::Parameter(index as u32), *ty))
                .collect();
            let initial = initial.apply(&[]);
            let sides = [[&initial[..], &element].concat(), [&element[..], &initial].concat()];
            let results = sides.map(|arguments| self.apply(&arguments));
            results.iter().all(|values| {
                let scalars = values.iter().zip(element.iter().zip(&initial));
                scalars.into_iter().all(|(value, (element, initial))| is_absorbed(*value, *element, *initial))
            })
        })
    }
}

/// Constants of which one may be neutral for an operator on a type.
fn neutral_candidates(ty: ScalarType) -> Vec<Constant> {
    match ty {
        ScalarType::Bool => vec![false.into(), true.into()],
        ScalarType::I32 => vec![0i32.into(), 1i32.into(), i32::MIN.into(), i32::MAX.into(), (-1i32).into()],
        ScalarType::I64 => vec![0i64.into(), 1i64.into(), i64::MIN.into(), i64::MAX.into(), (-1i64).into()],
        ScalarType::U32 => vec![0u32.into(), 1u32.into(), u32::MAX.into()],
        ScalarType::U64 => vec![0u64.into(), 1u64.into(), u64::MAX.into()],
        // Adding 0.0 would change -0.0.
        ScalarType::F32 => vec![(-0.0f32).into(), 1.0f32.into()],
        ScalarType::F64 => vec![(-0.0f64).into(), 1.0f64.into()],
    }
}

/// Whether `value`, which an operator made of a scalar and a constant, is that scalar to the bit.
fn is_unchanged(value: arena::Term, element: arena::Term, constant: Constant) -> bool {
    if value.id() == element.id() {
        return true;
    }
    let with: arena::Term = constant.into();
    let (value, element, with) = (value.id(), element.id(), with.id());
    arena::inspect(|graph| match graph.node(value) {
        Node::Apply { op, operands, ty } => {
            let operands = operands.as_slice();
            let (low, high) = ty.range();
            let (minus_zero, one) = match ty {
                ScalarType::F32 => (Constant::from(-0.0f32), Constant::from(1.0f32)),
                _ => (Constant::from(-0.0f64), Constant::from(1.0f64)),
            };
            let unchanged = match op {
                Op::Max if ty.is_integer() => constant.as_integer() == Some(low),
                Op::Min if ty.is_integer() => constant.as_integer() == Some(high),
                Op::Add if ty.is_float() => constant == minus_zero,
                Op::Mul if ty.is_float() => constant == one,
                _ => false,
            };
            unchanged && (operands == [element, with] || operands == [with, element])
        }
        _ => false,
    })
}

/// Whether `value`, which an operator made of a scalar and its initial value, is that scalar, or the result of an
/// operation that the initial value changes only the first time.
fn is_absorbed(value: arena::Term, element: arena::Term, initial: arena::Term) -> bool {
    if value.id() == element.id() {
        return true;
    }
    let constant = initial.constant().and_then(|constant| constant.as_float());
    let (value, element, initial) = (value.id(), element.id(), initial.id());
    arena::inspect(|graph| match graph.node(value) {
        Node::Apply { op, operands, ty } => {
            let repeats = match op {
                Op::Min | Op::Max | Op::And | Op::Or => true,
                // Adding 0.0 once more does not change a sum that has it already (-0.0 became 0.0 the first time).
                Op::Add if ty.is_float() => constant == Some(0.0),
                Op::Mul if ty.is_float() => constant == Some(1.0),
                _ => false,
            };
            let operands = operands.as_slice();
            repeats && (operands == [element, initial] || operands == [initial, element])
        }
        _ => false,
    })
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.0.hash == other.0.hash
                && self.0.parameters == other.0.parameters
                && self.0.nodes == other.0.nodes
                && self.0.results == other.0.results)
    }
}

impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types: Vec<String> =
            self.parameters().iter().enumerate().map(|(index, ty)| format!("p{index}: {ty}")).collect();
        writeln!(f, "|{}| {{", types.join(", "))?;
        match self.schedule() {
            Ok(schedule) => self.print_block(f, &schedule, 0, 1)?,
            Err(error) => writeln!(f, "  // {error}")?,
        }
        let results: Vec<String> = self.results().iter().map(|id| self.name(*id)).collect();
        write!(f, "  ({})\n}}", results.join(", "))
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Function {
    fn name(&self, id: Id) -> String {
        match &self.nodes()[id.0 as usize] {
            Node::Constant(constant) => constant.to_string(),
            Node::Variable(Variable::Parameter(index), _) => format!("p{index}"),
            Node::Variable(Variable::Argument(index), _) => format!("argument{index}"),
            Node::Variable(Variable::Extent { array, dimension }, _) => {
                format!("extent(a{array}, {dimension})")
            }
            Node::Variable(Variable::Local(index), _) => format!("local{index}"),
            Node::LoopVariable { number, index, .. } => format!("loop{number}.{index}"),
            Node::Project { of, index, .. } => format!("%{}.{index}", of.0),
            _ => format!("%{}", id.0),
        }
    }

    fn print_block(
        &self,
        f: &mut fmt::Formatter<'_>,
        schedule: &Schedule,
        block: usize,
        depth: usize,
    ) -> fmt::Result {
        let indent = "  ".repeat(depth);
        let names = |ids: &[Id]| ids.iter().map(|id| self.name(*id)).collect::<Vec<_>>().join(", ");
        for item in &schedule.blocks[block] {
            match item {
                Item::Compute(id) => match &self.nodes()[id.0 as usize] {
                    Node::Apply { op, operands, ty } => {
                        writeln!(f, "{indent}%{} = {}.{ty} {}", id.0, op.name(), names(operands.as_slice()))?;
                    }
                    Node::Load { array, index, .. } => {
                        writeln!(f, "{indent}%{} = a{array}[{}]", id.0, self.name(*index))?;
                    }
                    Node::Check { condition, site, .. } => {
                        writeln!(f, "{indent}%{} = check {} // {site:?}", id.0, self.name(*condition))?;
                    }
                    Node::Invalid { message, .. } => writeln!(f, "{indent}%{} = invalid: {message}", id.0)?,
                    _ => {}
                },
                Item::Branch { id, then, otherwise } => {
                    let Node::Branch { condition, then: yes, otherwise: no } = &self.nodes()[id.0 as usize]
                    else {
                        continue;
                    };
                    writeln!(f, "{indent}%{} = if {} {{", id.0, self.name(*condition))?;
                    self.print_block(f, schedule, *then, depth + 1)?;
                    writeln!(f, "{indent}  ({})\n{indent}}} else {{", names(yes))?;
                    self.print_block(f, schedule, *otherwise, depth + 1)?;
                    writeln!(f, "{indent}  ({})\n{indent}}}", names(no))?;
                }
                Item::Select(id) => {
                    let Node::Branch { condition, then: yes, otherwise: no } = &self.nodes()[id.0 as usize]
                    else {
                        continue;
                    };
                    let (condition, yes, no) = (self.name(*condition), names(yes), names(no));
                    writeln!(f, "{indent}%{} = select {condition} ({yes}) ({no})", id.0)?;
                }
                Item::Loop { id, header, body } => {
                    let Node::Loop { initial, condition, next, .. } = &self.nodes()[id.0 as usize] else {
                        continue;
                    };
                    writeln!(f, "{indent}%{} = loop ({}) {{", id.0, names(initial))?;
                    self.print_block(f, schedule, *header, depth + 1)?;
                    writeln!(f, "{indent}  while {}", self.name(*condition))?;
                    self.print_block(f, schedule, *body, depth + 1)?;
                    writeln!(f, "{indent}  ({})\n{indent}}}", names(next))?;
                }
            }
        }
        Ok(())
    }
}
