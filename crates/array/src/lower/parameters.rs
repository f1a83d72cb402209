//! The parameters of a kernel that is being built for an array program: asked for when something needs them, and bound in
//! that order.

use crate::extents::Extents;
use crate::fuser::{load_key, slot_and_column};
use crate::program::NodeId;
use pumice_kernel::{Ix, Scalars, length_parameter, memory_parameter, read, scalar_parameter};
use pumice_program::{Access, MemoryId};
use pumice_scalar::{Constant, Exp, Function, ScalarType, Term, Variable};
use std::cell::RefCell;
use std::collections::HashMap;

/// A scalar parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ScalarParameter {
    /// An extent, by class, or the most that it can be.
    Extent(usize),
    /// A scalar argument of the array program.
    Argument(u32),
    /// A number that only the launch knows.
    Number(&'static str, i64),
    /// A value that the kernel is made for, if it is an integer.
    Fixed(Constant),
}

/// Location of an array's element in a kernel.
pub(crate) enum Source {
    /// In registers.
    Value(Term),
    /// In this cell of a memory.
    Memory(MemoryId, Term),
}

/// The parameters that a kernel under construction has asked for, in order.
pub struct Parameters {
    /// Each with its memory, unless that is the kernel language's own affair.
    pub(crate) columns: RefCell<Vec<(u64, Option<MemoryId>)>>,
    pub(crate) scalars: RefCell<Vec<(ScalarParameter, Term)>>,
    /// Extents that are no parameters: the kernel is made for their value, or reads them.
    fixed: RefCell<HashMap<usize, Term>>,
    /// By class, the slot of the cell in which the device keeps an extent.
    cells: HashMap<usize, usize>,
    /// By class, its length or bound.
    bounds: HashMap<usize, i64>,
}

impl Parameters {
    /// No parameters yet, for a program with these extents whose cells are in these slots.
    pub(crate) fn new(extents: &Extents, cells: &HashMap<NodeId, usize>) -> Parameters {
        let mut parameters = Parameters {
            columns: RefCell::default(),
            scalars: RefCell::default(),
            fixed: RefCell::default(),
            cells: HashMap::new(),
            bounds: HashMap::new(),
        };
        for (class, length) in extents.all() {
            parameters.bounds.insert(class, length.bound);
            if let Some(slot) = length.cell.and_then(|cell| cells.get(&cell)) {
                parameters.cells.insert(class, *slot);
            }
        }
        parameters
    }

    /// A scalar column of an array in memory.
    pub fn memory(&self, slot: usize, column: usize, ty: ScalarType, access: Access) -> MemoryId {
        let key = load_key(slot, column);
        let known =
            self.columns.borrow().iter().find(|(known, memory)| *known == key && memory.is_some()).copied();
        if let Some((_, Some(memory))) = known {
            return memory;
        }
        let prefix = if access == Access::Read { "in" } else { "out" };
        let name = if column == 0 { format!("{prefix}{slot}") } else { format!("{prefix}{slot}_{column}") };
        // SAFETY: `Lowering::kernel` binds the memories of `columns`, in this order.
        let memory = unsafe { memory_parameter(&name, ty, access) };
        self.columns.borrow_mut().push((key, Some(memory)));
        memory
    }

    /// Notes a parameter for the first column of a slot that was added to the kernel by other means.
    pub(crate) fn add_column(&self, slot: usize) {
        self.columns.borrow_mut().push((load_key(slot, 0), None));
    }

    /// All columns of an array in memory.
    pub fn memories(&self, slot: usize, types: &[ScalarType], access: Access) -> Vec<MemoryId> {
        types.iter().enumerate().map(|(column, ty)| self.memory(slot, column, *ty, access)).collect()
    }

    pub(crate) fn scalar(&self, parameter: ScalarParameter, ty: ScalarType) -> Term {
        let scalars = self.scalars.borrow();
        if let Some((_, term)) = scalars.iter().find(|(known, _)| *known == parameter) {
            return *term;
        }
        drop(scalars);
        let name = match parameter {
            ScalarParameter::Extent(class) => format!("n{class}"),
            ScalarParameter::Argument(number) => format!("argument{number}"),
            ScalarParameter::Number(name, _) => name.to_string(),
            ScalarParameter::Fixed(_) => "given".to_string(),
        };
        // SAFETY: `Lowering::kernel` binds the values of `scalars`, in this order.
        let term = unsafe { scalar_parameter(&name, ty) };
        self.scalars.borrow_mut().push((parameter, term));
        term
    }

    /// A number that the launch gives.
    pub fn number(&self, name: &'static str, value: i64) -> Ix {
        Exp::from_term(self.scalar(ScalarParameter::Number(name, value), ScalarType::I64))
    }

    /// An extent by class: an argument, or a length that the device has found.
    pub fn extent(&self, class: usize) -> Ix {
        if let Some(term) = self.fixed.borrow().get(&class) {
            return Exp::from_term(*term);
        }
        let bound = Exp::from_term(self.scalar(ScalarParameter::Extent(class), ScalarType::I64));
        let Some(slot) = self.cells.get(&class) else { return bound };
        // SAFETY: a column of its own, bound in this order; the plan gives every cell one element.
        let length = unsafe { length_parameter(&format!("length{class}"), bound) };
        self.add_column(*slot);
        self.fix(class, length);
        length
    }

    /// Makes an extent this value from here on.
    pub(crate) fn fix(&self, class: usize, value: Ix) {
        self.fixed.borrow_mut().insert(class, value.term());
    }

    /// Asks for the parameters that a function needs. A user's skeleton may be run twice, the first
    /// time only to look at it; parameters that were asked for then would be lost.
    pub(crate) fn declare(&self, function: &Function) {
        // Unknown values, so that nothing is simplified away.
        let unknown =
            |(number, ty): (usize, &ScalarType)| Term::variable(Variable::Parameter(number as u32), *ty);
        let arguments: Vec<Term> = function.parameters().iter().enumerate().map(unknown).collect();
        self.apply(function, &arguments);
    }

    /// A function of the array program, applied inside the kernel.
    pub fn apply(&self, function: &Function, arguments: &[Term]) -> Vec<Term> {
        let extent = |class: usize| self.extent(class).term();
        // SAFETY: all elements are where the plan has them.
        unsafe {
            self.apply_over(function, arguments, &extent, &|slot, column, ty, index| {
                self.source(slot, column, ty, index)
            })
        }
    }

    /// The element of an array that the plan has in memory.
    pub(crate) fn source(&self, slot: usize, column: usize, ty: ScalarType, index: Term) -> Source {
        Source::Memory(self.memory(slot, column, ty, Access::Read), index)
    }

    /// Like [`Parameters::apply`], with other extents by class, and elements that may be somewhere else.
    ///
    /// # Safety
    ///
    /// A memory that `element` gives has all elements of the slot's array, from where it says on.
    pub(crate) unsafe fn apply_over(
        &self,
        function: &Function,
        arguments: &[Term],
        extent: &dyn Fn(usize) -> Term,
        element: &dyn Fn(usize, usize, ScalarType, Term) -> Source,
    ) -> Vec<Term> {
        function.instantiate(
            &mut |variable, ty| match variable {
                Variable::Parameter(number) => arguments
                    .get(number as usize)
                    .copied()
                    .unwrap_or_else(|| Term::invalid(ty, "a function has too few arguments")),
                Variable::Extent { array, .. } => extent(array as usize),
                Variable::Argument(number) => self.scalar(ScalarParameter::Argument(number), ty),
                Variable::Local(_) => Term::variable(variable, ty),
            },
            &mut |key, ty, index, guarded| {
                let (slot, column) = slot_and_column(key);
                match element(slot, column, ty, index) {
                    Source::Value(value) => value,
                    // SAFETY: the function comes from the fuser, whose indices are in their arrays or loads guarded by a check
                    // that they are, as long as its arguments are indices of the array that it computes: skeletons get it as a
                    // pull array of that array's extents. The memory has the whole array, as the caller promises.
                    Source::Memory(memory, cell) => unsafe { read(memory, ty, cell, guarded) },
                }
            },
            // The fuser has written them out.
            &mut |of, _| Term::invalid(of.ty, "an element of an array stands in a kernel"),
        )
    }

    /// Like [`Parameters::apply`], on elements.
    pub fn apply_to(&self, function: &Function, arguments: &[&Scalars]) -> Scalars {
        let terms: Vec<Term> = arguments.iter().flat_map(|scalars| scalars.0.iter().copied()).collect();
        Scalars(self.apply(function, &terms))
    }

    /// The bound of an extent.
    pub fn bound(&self, class: usize) -> i64 {
        self.bounds.get(&class).copied().unwrap_or(0)
    }
}
