//! From a fused array to kernels: chooses a skeleton by the device's profile and the extents, and builds it.
//!
//! Kernels take extents as arguments, so they serve every size; what is fixed in them is how the work is divided.

use crate::error::Error;
use crate::extents::Extents;
use crate::form::{Fuser, load_key, rows_and_columns, slot_and_column};
use crate::node::{Node, Operation, argument};
use crate::plan::{Argument, Buffers, Launch, Options};
use crate::reduction::Reduction;
use pumice_kernel::skeletons::{
    Fold, FoldPlan, FoldRows, FoldTask, WritePlan, can_write_tiles, within, write, write_rows, write_tiles,
};
use pumice_kernel::{Binding, BuildError, LaunchArgument, ParameterKind};
use pumice_kernel::{
    BuiltKernel, Dynamic, Grid, Ix, Known, Passes, Profile, Pull, Push, Scalars, build, comment,
};
use pumice_kernel::{memory_parameter, read, ready, scalar_parameter};
use pumice_program::{Access, MemoryId, Param};
use pumice_scalar::{
    Constant, Exp, Function, Node as ScalarNode, Op, ScalarType, Site, Term, Variable, function,
};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// Makes the kernels of one program.
pub struct Lowering<'a> {
    /// What the device is like.
    pub profile: &'a Profile,
    /// Which passes run.
    pub options: &'a Options,
    /// The extents of the arrays.
    pub extents: &'a Extents,
    /// The scalar arguments of the program, those that extents depend on; the others have any value.
    pub scalars: &'a [Constant],
    /// Writes pulls as functions.
    pub fuser: Fuser<'a>,
    /// The buffers; a fold's intermediate results are added to them.
    pub buffers: &'a RefCell<Buffers>,
}

/// How an array is computed.
pub struct Lowered {
    /// The kernels, in order.
    pub kernels: Vec<ReadyKernel>,
    /// The slot of intermediate results.
    pub temporary: Option<usize>,
}

/// A scalar parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Parameter {
    /// An extent, by class.
    Extent(usize),
    /// A scalar argument of the array program.
    Argument(u32),
    /// A number that only the launch knows.
    Number(&'static str, i64),
}

/// The parameters that a kernel under construction has asked for, in order.
#[derive(Default)]
struct Parameters {
    columns: RefCell<Vec<(u64, MemoryId)>>,
    scalars: RefCell<Vec<(Parameter, Term)>>,
    /// What needs no parameter, because the kernel is made for its value.
    fixed: RefCell<Vec<(Parameter, Term)>>,
}

impl Parameters {
    fn memory(&self, key: u64, ty: ScalarType, access: Access) -> MemoryId {
        let mut columns = self.columns.borrow_mut();
        if let Some((_, memory)) = columns.iter().find(|(known, _)| *known == key) {
            return *memory;
        }
        let (slot, column) = slot_and_column(key);
        let prefix = if access == Access::Read { "in" } else { "out" };
        let name = if column == 0 { format!("{prefix}{slot}") } else { format!("{prefix}{slot}_{column}") };
        // SAFETY: `Lowering::ready` binds what `columns` says, in this order.
        let memory = unsafe { memory_parameter(&name, ty, access) };
        columns.push((key, memory));
        memory
    }

    fn scalar(&self, parameter: Parameter, ty: ScalarType) -> Term {
        let mut scalars = self.scalars.borrow_mut();
        let fixed = self.fixed.borrow();
        if let Some((_, term)) = scalars.iter().chain(fixed.iter()).find(|(known, _)| *known == parameter) {
            return *term;
        }
        let name = match parameter {
            Parameter::Extent(class) => format!("n{class}"),
            Parameter::Argument(number) => format!("argument{number}"),
            Parameter::Number(name, _) => name.to_string(),
        };
        // SAFETY: `Lowering::ready` binds what `scalars` says, in this order.
        let term = unsafe { scalar_parameter(&name, ty) };
        scalars.push((parameter, term));
        term
    }

    fn number(&self, name: &'static str, value: i64) -> Ix {
        Exp::from_term(self.scalar(Parameter::Number(name, value), ScalarType::I64))
    }

    /// Asks for the parameters that a function needs. What a user's skeleton describes may be described twice, the first
    /// time only to look at it; parameters that were asked for then would be lost.
    fn declare(&self, function: &Function) {
        // Values that nobody knows, so that nothing is simplified away.
        let unknown =
            |(number, ty): (usize, &ScalarType)| Term::variable(Variable::Parameter(number as u32), *ty);
        let arguments: Vec<Term> = function.parameters().iter().enumerate().map(unknown).collect();
        self.apply(function, &arguments);
    }

    /// A function of the array program, applied inside the kernel.
    fn apply(&self, function: &Function, arguments: &[Term]) -> Vec<Term> {
        function.instantiate(
            &mut |variable, ty| match variable {
                Variable::Parameter(number) => arguments
                    .get(number as usize)
                    .copied()
                    .unwrap_or_else(|| Term::invalid(ty, "a function has too few arguments")),
                Variable::Extent { array, .. } => self.scalar(Parameter::Extent(array as usize), ty),
                Variable::Argument(number) => self.scalar(Parameter::Argument(number), ty),
                Variable::Local(_) => Term::variable(variable, ty),
            },
            &mut |key, ty, index, guarded| {
                let memory = self.memory(key, ty, Access::Read);
                // SAFETY: the function comes from the fuser, whose indices are in their arrays or loads guarded by a check that
                // they are, as long as its arguments are indices of the array that it computes: skeletons get it as a pull
                // array of that array's extents.
                unsafe { read(memory, ty, index, guarded) }
            },
        )
    }
}

impl Lowering<'_> {
    /// The kernels that compute a manifest array into its slot.
    pub fn array(&self, node: &Arc<Node>, slot: usize) -> Result<Lowered, Error> {
        if let Operation::Kernel { .. } = node.operation {
            return Ok(Lowered { kernels: vec![self.user_kernel(node, slot)?], temporary: None });
        }
        match self.folded(node) {
            Some(fold) => self.fold(node, &fold, slot),
            None => Ok(Lowered { kernels: vec![self.write(node, slot)?], temporary: None }),
        }
    }

    /// A kernel that the user wrote, for the lengths of its arrays.
    fn user_kernel(&self, node: &Arc<Node>, slot: usize) -> Result<ReadyKernel, Error> {
        let mistake = |error: BuildError| Error::Program(format!("{error} in {}", node.place()));
        let lost = || Error::Program(format!("a kernel's parameters are lost in {}", node.place()));
        let Operation::Kernel { scalars, inputs, .. } = &node.operation else { return Err(lost()) };
        let (definition, mut actual) = self.extents.kernel_arguments(node, self.scalars)?.ok_or_else(lost)?;
        definition.fits(self.profile).map_err(mistake)?;
        // By parameter: where its array is, or its value.
        let (mut scalars, mut inputs) = (scalars.iter(), inputs.iter());
        let mut given = Vec::new();
        for (kind, shaping) in definition.parameters().iter().zip(definition.shaping()) {
            given.push(match kind {
                ParameterKind::Array { .. } => {
                    let slot = inputs.next().and_then(|input| self.fuser.slots.get(&input.id));
                    (slot.copied(), None)
                }
                ParameterKind::Scalar(ty) => {
                    // What nothing depends on stays an argument of the program.
                    let argument = scalars.next().and_then(argument).filter(|_| !shaping);
                    if let (Some(_), Some(actual)) = (argument, actual.get_mut(given.len())) {
                        *actual = LaunchArgument::Unknown(*ty);
                    }
                    (None, argument)
                }
            });
        }
        let passes = Passes { vectorise: self.options.vectorise, narrow: self.options.narrow };
        let special = definition.specialise(&actual, self.profile, passes).map_err(mistake)?;
        let buffers = self.buffers.borrow();
        let column = |slot: Option<usize>, column: usize| {
            slot.and_then(|slot| buffers.of(slot).get(column).copied()).map(Argument::Buffer)
        };
        let bound = |binding: &Binding| match *binding {
            Binding::Column { parameter, column: number } => column(given.get(parameter)?.0, number),
            Binding::Result { column: number } => column(Some(slot), number),
            Binding::Length { parameter } | Binding::Scalar { parameter } => match actual.get(parameter)? {
                LaunchArgument::Length(length) => Some(Argument::Constant(Constant::from(*length as i64))),
                LaunchArgument::Scalar(value) => Some(Argument::Constant(*value)),
                LaunchArgument::Unknown(_) => given.get(parameter)?.1.map(Argument::Scalar),
            },
            Binding::Failure => Some(Argument::Failure),
            Binding::FailureBase => Some(Argument::FailureBase),
            Binding::Value(value) => Some(Argument::Constant(value)),
        };
        let arguments = special.bindings.iter().map(bound).collect::<Option<Vec<_>>>().ok_or_else(lost)?;
        let fails = special.program.failure.is_some();
        let sites = if fails { definition.kernel().sites.clone() } else { Vec::new() };
        let skeleton = "the user's kernel".to_string();
        let complete = definition.outcome().is_none_or(|outcome| outcome.complete);
        let clears = if complete { Vec::new() } else { buffers.of(slot).to_vec() };
        Ok(ReadyKernel { program: special.program, arguments, clears, sites, place: node.place(), skeleton })
    }

    /// The fold that an array's push consists of, if it is one: through maps and reshapes that are not in memory.
    fn folded(&self, node: &Arc<Node>) -> Option<Arc<Node>> {
        let mut current = node.clone();
        loop {
            let next = match &current.operation {
                Operation::Fold { .. } => return Some(current),
                Operation::ZipWith { inputs, .. } if inputs.len() == 1 => inputs[0].clone(),
                Operation::Reshape { input, .. } => input.clone(),
                _ => return None,
            };
            if !matches!(self.fuser.forms.of(&next), Some(crate::form::Form::Push)) {
                return None;
            }
            current = next;
        }
    }

    fn write(&self, node: &Arc<Node>, slot: usize) -> Result<ReadyKernel, Error> {
        let linear = self.fuser.linear_pull(node);
        if let Some(skeleton) = &self.options.skeletons.write {
            let (name, threads) = (skeleton.name(), skeleton.threads(self.profile));
            return self.kernel(node, name, name, threads, slot, |parameters, outputs| {
                comment(format!("written by skeleton {name}"));
                let size = self.size(node, &parameters);
                parameters.declare(&linear);
                let at = move |index: Ix| Scalars(parameters.apply(&linear, &[index.term()]));
                let push = skeleton.write(Pull::new(size, at), self.profile);
                let push = within(push, size, node.place);
                let complete = push.is_complete();
                // SAFETY: the slot has as many elements as the array, which is its size.
                unsafe { push.write_to(outputs) };
                complete
            });
        }
        let bytes = node.types.iter().map(|ty| ty.bytes()).max().unwrap_or(1);
        let mut plan = WritePlan::new(self.profile, bytes, linear.cost());
        let (rows, columns) = rows_and_columns(self.extents.of(node));
        // Where the index does not come out linear, going row by row saves a division an element.
        let by_rows = divides(&linear) && columns >= i64::from(self.profile.lanes);
        let function = if by_rows { self.fuser.rows(node) } else { linear };
        let across = by_rows && columns_are_contiguous(&function);
        let all_bytes = node.types.iter().map(|ty| ty.bytes()).sum();
        let by_tiles = across && can_write_tiles(self.profile, rows, columns, all_bytes);
        if across {
            plan = WritePlan::across(self.profile, bytes);
        } else if by_rows && columns % i64::from(plan.items) != 0 {
            plan.items = 1;
        }
        let skeleton = match (by_tiles, by_rows) {
            (true, _) => "write_tiles",
            (_, true) => "write_rows",
            _ => "write",
        };
        self.kernel(node, node.place.operation(), skeleton, plan.threads, slot, |parameters, outputs| {
            let apply = parameters.clone();
            let push: Push<Grid, Dynamic, Ix> = if by_rows {
                let (rows, columns) = (parameters.number("rows", rows), self.columns(node, &parameters));
                let at =
                    move |row: Ix, column: Ix| Scalars(apply.apply(&function, &[row.term(), column.term()]));
                match by_tiles {
                    true => write_tiles(rows, columns, Rc::new(at)),
                    false => write_rows(rows, columns, Rc::new(at), plan),
                }
            } else {
                let size = self.size(node, &parameters);
                let at = move |index: Ix| Scalars(apply.apply(&function, &[index.term()]));
                write(Pull::<Dynamic, Ix>::new(size, at), plan)
            };
            let complete = push.is_complete();
            // SAFETY: the slot has as many elements as the array, which is its size.
            unsafe { push.write_to(outputs) };
            complete
        })
    }

    /// The number of elements of an array, inside a kernel.
    fn size(&self, node: &Node, parameters: &Parameters) -> Ix {
        match node.rank {
            0 => Exp::from(1),
            1 => self.columns(node, parameters),
            _ => parameters.number("size", self.extents.size(node)),
        }
    }

    /// The innermost extent of an array, inside a kernel.
    fn columns(&self, node: &Node, parameters: &Parameters) -> Ix {
        let class = node.rank.checked_sub(1).and_then(|last| self.extents.class(node.id, last as u32));
        class.map_or(Exp::from(1), |class| {
            Exp::from_term(parameters.scalar(Parameter::Extent(class), ScalarType::I64))
        })
    }

    fn fold(&self, node: &Arc<Node>, fold: &Arc<Node>, slot: usize) -> Result<Lowered, Error> {
        let Operation::Fold { operator, initial, input } = &fold.operation else {
            return Ok(Lowered { kernels: Vec::new(), temporary: None });
        };
        let (rows, columns) = rows_and_columns(self.extents.of(input));
        let bytes = input.types.iter().map(|ty| ty.bytes()).max().unwrap_or(1);
        let elements = self.fuser.rows_of_input(input);
        let columns_are_contiguous = columns_are_contiguous(&elements);
        let task = FoldTask { rows, columns, bytes, commutes: operator.commutes(), columns_are_contiguous };
        let operator = function(operator.parameters(), |terms| self.fuser.apply(operator, terms));
        let initial = function(&[], |_| self.fuser.apply(initial, &[]));
        let reduction = Reduction::new(elements, operator, initial, self.finish(node, fold));
        let theirs = self.options.skeletons.fold.as_deref();
        // A user's skeleton does with whole rows of any length what it likes.
        let whole_rows = |plan| FoldPlan { chunks: 1, fixed_columns: None, ..plan };
        let plan = FoldPlan::new(self.profile, task);
        let plan = if theirs.is_some() { whole_rows(plan) } else { plan };
        let step = |slot, plan, columns: Columns, elements: &Function, is_last: bool| {
            let name = if is_last { fold.place.operation() } else { "fold_chunks" };
            let Reduction { operator, neutral, finish, .. } = &reduction;
            let finish = is_last.then_some(finish);
            self.fold_kernel(node, name, slot, rows, columns, plan, elements, operator, neutral, finish)
        };
        let class = self.extents.class(input.id, input.rank.saturating_sub(1) as u32);
        let whole = Columns { class, count: columns };
        if plan.chunks == 1 {
            let kernel = step(slot, plan, whole, &reduction.elements, true)?;
            return Ok(Lowered { kernels: vec![kernel], temporary: None });
        }
        let chunks = i64::from(plan.chunks);
        let between = self.buffers.borrow_mut().add(&reduction.types, rows * chunks);
        let first = step(between, plan, whole, &reduction.elements, false)?;
        // The chunks' results are a matrix in memory, folded once more.
        let partial = function(&[ScalarType::I64; 2], |index| {
            let count = Variable::Extent { array: PARTIAL_COLUMNS as u64, dimension: 0 };
            let count = Term::variable(count, ScalarType::I64);
            let linear = index[0].binary(Op::Mul, count).binary(Op::Add, index[1]);
            // SAFETY: it is read as a matrix of `rows` × `chunks` elements, which is what the slot was added with.
            let load = |(column, ty): (usize, &ScalarType)| unsafe {
                Term::load(load_key(between, column), *ty, linear, false)
            };
            reduction.types.iter().enumerate().map(load).collect()
        });
        let task = FoldTask { columns: chunks, columns_are_contiguous: false, ..task };
        let again = FoldPlan { chunks: 1, ..FoldPlan::new(self.profile, task) };
        let rest = Columns { class: None, count: chunks };
        let second = step(slot, again, rest, &partial, true)?;
        Ok(Lowered { kernels: vec![first, second], temporary: Some(between) })
    }

    /// What happens to the elements of a fold before they are written: the maps after it.
    fn finish(&self, node: &Arc<Node>, fold: &Arc<Node>) -> Function {
        let mut functions = Vec::new();
        let mut current = node;
        while current.id != fold.id {
            if let Operation::ZipWith { function, .. } = &current.operation {
                functions.push(function);
            }
            let Some(input) = current.inputs().first() else { break };
            current = input;
        }
        function(&fold.types, |terms| {
            functions.iter().rev().fold(terms.to_vec(), |value, function| self.fuser.apply(function, &value))
        })
    }

    #[allow(clippy::too_many_arguments)]
    fn fold_kernel(
        &self,
        node: &Arc<Node>,
        name: &str,
        slot: usize,
        rows: i64,
        columns: Columns,
        plan: FoldPlan,
        elements: &Function,
        operator: &Function,
        neutral: &Function,
        finish: Option<&Function>,
    ) -> Result<ReadyKernel, Error> {
        let theirs = self.options.skeletons.fold.as_deref();
        let (name, skeleton, threads) = match theirs {
            Some(skeleton) => (skeleton.name(), skeleton.name(), skeleton.threads(self.profile)),
            None => (name, "fold", plan.threads),
        };
        self.kernel(node, name, skeleton, threads, slot, |parameters, outputs| {
            let rows = parameters.number("rows", rows);
            let count: Ix = match (plan.fixed_columns, columns.class) {
                (Some(fixed), _) => Exp::from(i64::from(fixed)),
                (None, Some(class)) => {
                    Exp::from_term(parameters.scalar(Parameter::Extent(class), ScalarType::I64))
                }
                (None, None) => parameters.number("columns", columns.count),
            };
            let cut = (plan.chunks > 1).then(|| {
                let chunks = parameters.number("chunks", plan.chunks.into());
                (chunks, parameters.number("steps", plan.steps(columns.count)))
            });
            // The extent by which the elements know their own columns.
            let own = columns.class.unwrap_or(PARTIAL_COLUMNS);
            parameters.fixed.borrow_mut().push((Parameter::Extent(own), count.term()));
            if theirs.is_some() {
                [elements, operator, neutral].into_iter().for_each(|function| parameters.declare(function));
            }
            let (at_parameters, elements) = (parameters.clone(), elements.clone());
            let at = move |row: Ix, column: Ix| {
                Scalars(at_parameters.apply(&elements, &[row.term(), column.term()]))
            };
            let (operator_parameters, operator) = (parameters.clone(), operator.clone());
            let combine = move |a: Scalars, b: Scalars| {
                Scalars(operator_parameters.apply(&operator, &[a.0, b.0].concat()))
            };
            let neutral = Scalars(parameters.apply(neutral, &[]));
            let push = match theirs {
                None => {
                    let (at, operator) = (Rc::new(at), combine);
                    Fold::<Dynamic, _> { rows, columns: count, cut, at, operator, neutral }.push(plan)
                }
                Some(theirs) => {
                    comment(format!("folded by skeleton {}", theirs.name()));
                    let at = Rc::new(at);
                    let row = move |row: Ix| {
                        let at = at.clone();
                        Pull::<Dynamic, Ix>::new(count, move |column| at(row, column))
                    };
                    let (matrix, operator) = (Pull::new(rows, row), Rc::new(combine));
                    let fold = FoldRows { rows, columns: count, matrix, operator, neutral };
                    within(theirs.fold(fold, self.profile), rows, node.place)
                }
            };
            let push = match finish.cloned() {
                None => push,
                Some(finish) => {
                    let parameters = parameters.clone();
                    push.map(move |value| Scalars(parameters.apply(&finish, &value.0)))
                }
            };
            let complete = push.is_complete();
            // SAFETY: the slot has an element a row, and a chunk where rows are cut.
            unsafe { push.write_to(outputs) };
            complete
        })
    }

    /// Builds a kernel that writes a slot, and readies it for a device. `describe` returns whether it writes every element.
    fn kernel(
        &self,
        node: &Arc<Node>,
        name: &str,
        skeleton: &str,
        threads: u32,
        slot: usize,
        describe: impl FnOnce(Rc<Parameters>, &[MemoryId]) -> bool,
    ) -> Result<ReadyKernel, Error> {
        if threads > self.profile.max_threads {
            let (place, most) = (node.place(), self.profile.max_threads);
            return Err(Error::Program(format!(
                "skeleton `{skeleton}` has {threads} threads in a block, and the limit is {most}, in {place}"
            )));
        }
        let parameters = Rc::new(Parameters::default());
        let mut complete = true;
        let built = build(name, threads, || {
            comment(node.place());
            let output = |(column, ty): (usize, &ScalarType)| {
                parameters.memory(load_key(slot, column), *ty, Access::Write)
            };
            let types = self.buffers.borrow().types(slot);
            let outputs: Vec<MemoryId> = types.iter().enumerate().map(output).collect();
            complete = describe(parameters.clone(), &outputs);
        });
        let kernel = built.map_err(|error| Error::Program(format!("{error} in {}", node.place())))?;
        let clears = if complete { Vec::new() } else { self.buffers.borrow().of(slot).to_vec() };
        Ok(ReadyKernel { clears, ..self.ready(node, kernel, skeleton, &parameters)? })
    }

    /// Runs the passes over a kernel and finds its arguments.
    fn ready(
        &self,
        node: &Node,
        kernel: BuiltKernel,
        skeleton: &str,
        parameters: &Parameters,
    ) -> Result<ReadyKernel, Error> {
        let BuiltKernel { program, sites, .. } = &kernel;
        let columns = parameters.columns.borrow();
        let scalars = parameters.scalars.borrow();
        let (mut next_column, mut next_scalar) = (columns.iter(), scalars.iter());
        let mut arguments = Vec::new();
        let mut known = Known::default();
        for param in &program.params {
            let failure = program.failure;
            let argument = match *param {
                Param::Memory(memory) if failure.is_some_and(|failure| failure.memory == memory) => {
                    Argument::Failure
                }
                Param::Scalar(var) if failure.is_some_and(|failure| failure.base == var) => {
                    Argument::FailureBase
                }
                Param::Memory(_) => {
                    let (slot, column) = next_column.next().map_or((0, 0), |(key, _)| slot_and_column(*key));
                    Argument::Buffer(self.buffers.borrow().of(slot).get(column).copied().unwrap_or(0))
                }
                Param::Scalar(_) => match next_scalar.next().map(|(parameter, _)| *parameter) {
                    Some(Parameter::Argument(number)) => Argument::Scalar(number),
                    Some(Parameter::Extent(class)) => {
                        Argument::Constant(Constant::from(self.extents.class_value(class)))
                    }
                    Some(Parameter::Number(_, value)) => Argument::Constant(Constant::from(value)),
                    None => {
                        return Err(Error::Program(format!(
                            "a kernel's parameters are lost in {}",
                            node.place()
                        )));
                    }
                },
            };
            if let (Param::Scalar(var), Argument::Constant(constant)) = (param, &argument) {
                let value = constant.as_integer().unwrap_or(0);
                // Not the value itself: programs for other extents should come out the same.
                known.integer(*var, value.min(1), value);
            }
            arguments.push(argument);
        }
        let scalar = |argument: &Argument| match argument {
            Argument::Constant(constant) => Some(*constant),
            Argument::Scalar(number) => self.scalars.get(*number as usize).copied(),
            Argument::FailureBase => Some(Constant::from(0i64)),
            Argument::Buffer(_) | Argument::Failure => None,
        };
        let launch: Vec<Constant> = arguments.iter().filter_map(scalar).collect();
        kernel.check_launch(&launch).map_err(|error| Error::Shape(format!("{error} in {}", node.place())))?;
        let passes = Passes { vectorise: self.options.vectorise, narrow: self.options.narrow };
        let ready = ready(program.clone(), self.profile, passes, &known)
            .map_err(|error| Error::Program(format!("{error} in {}", node.place())))?;
        let arguments = ready.bind(arguments, Argument::Constant);
        // Where every check was proved away, nothing can fail.
        let sites = if ready.program.failure.is_some() { sites.clone() } else { Vec::new() };
        let skeleton = skeleton.to_string();
        let (program, clears) = (Arc::new(ready.program), Vec::new());
        Ok(ReadyKernel { program, arguments, clears, sites, place: node.place(), skeleton })
    }
}

/// The class of the number of chunks, in the second step of a fold.
const PARTIAL_COLUMNS: usize = usize::MAX;

/// The columns that a fold reduces.
#[derive(Clone, Copy)]
struct Columns {
    class: Option<usize>,
    count: i64,
}

/// A kernel that a device can compile, with its arguments.
pub struct ReadyKernel {
    /// The kernel.
    pub program: Arc<pumice_program::Verified>,
    /// Its arguments.
    pub arguments: Vec<Argument>,
    /// Buffers that are zeroed first, as it may not write all of their elements.
    pub clears: Vec<usize>,
    /// Where it can fail.
    pub sites: Vec<Site>,
    /// What it comes from.
    pub place: String,
    /// The skeleton that it was made by.
    pub skeleton: String,
}

impl ReadyKernel {
    /// The launch, given the number of its first failure site.
    pub fn launch(self, first_site: usize) -> Launch {
        let arguments = self.arguments.into_iter().map(|argument| match argument {
            Argument::FailureBase => Argument::Constant(Constant::from(first_site as i64)),
            other => other,
        });
        Launch {
            program: self.program,
            arguments: arguments.collect(),
            clears: self.clears,
            place: self.place,
            skeleton: self.skeleton,
        }
    }
}

/// Whether a function divides by something that is not a constant: what is left of an index that is not linear.
fn divides(function: &Function) -> bool {
    function.nodes().iter().any(|node| match node {
        ScalarNode::Apply { op: Op::Div | Op::Rem, ty: ScalarType::I64, operands } => {
            operands.as_slice().get(1).is_some_and(|id| {
                matches!(function.nodes()[id.0 as usize], ScalarNode::Variable(Variable::Extent { .. }, _))
            })
        }
        _ => false,
    })
}

/// How fast an index grows with the row and the column of an element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stride {
    None,
    One,
    Many,
}

/// Whether the elements of a column, and not those of a row, are neighbours in memory: judged by the loads of a function
/// of row and column.
fn columns_are_contiguous(function: &Function) -> bool {
    let mut strides: Vec<(Stride, Stride)> = Vec::with_capacity(function.nodes().len());
    let (mut by_row, mut by_column) = (0, 0);
    for node in function.nodes() {
        let of = |id: &pumice_scalar::Id| strides[id.0 as usize];
        let add = |a: Stride, b: Stride| match (a, b) {
            (Stride::None, other) | (other, Stride::None) => other,
            _ => Stride::Many,
        };
        let many = |stride: Stride| if stride == Stride::None { stride } else { Stride::Many };
        let stride = match node {
            ScalarNode::Variable(Variable::Parameter(0), _) => (Stride::One, Stride::None),
            ScalarNode::Variable(Variable::Parameter(1), _) => (Stride::None, Stride::One),
            ScalarNode::Apply { op, operands, .. } => {
                let all = operands.as_slice().iter().map(of).reduce(|a, b| (add(a.0, b.0), add(a.1, b.1)));
                let all = all.unwrap_or((Stride::None, Stride::None));
                match op {
                    Op::Add => all,
                    _ => (many(all.0), many(all.1)),
                }
            }
            ScalarNode::Load { index, .. } => {
                match of(index) {
                    (_, Stride::One) => by_row += 1,
                    (Stride::One, Stride::Many) => by_column += 1,
                    _ => {}
                }
                (Stride::Many, Stride::Many)
            }
            ScalarNode::Constant(_) | ScalarNode::Variable(..) => (Stride::None, Stride::None),
            _ => (Stride::Many, Stride::Many),
        };
        strides.push(stride);
    }
    by_column > by_row
}
