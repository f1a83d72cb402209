//! A defined kernel as a producer inside a kernel that is being built: its statements are copied, and where it would write
//! an element of its result, the element is handed on instead.
//!
//! The copy has values, memories and failure sites of its own in the new program. Parameters are what the caller says they
//! are. The user's function is not run again: [`crate::define`] has done that, once.

use crate::binding::{Binding, Launcher};
use crate::builder::{List, bind, framed, fresh, materialise, with};
use crate::built::{Requirement, require_at_launch};
use crate::define::Definition;
use crate::effects::{self, execute_as};
use crate::item::{Dynamic, Ix, Scalars};
use crate::level::Grid;
use crate::push::{Push, Writer};
use pumice_program::{MemoryId, Operand, Param, Program, Stmt, Var};
use pumice_scalar::{Constant, Exp, Site, Term};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Binding of a parameter of an embedded kernel.
#[derive(Clone, Copy, Debug)]
pub enum Embedded {
    /// Memory of the kernel that is being built.
    Memory(MemoryId),
    /// A value that is known before the kernel starts.
    Scalar(Term),
}

impl Definition {
    /// Describes this kernel's result as a push array of the kernel that is being built, which must have blocks of as many
    /// threads. `given` says what its parameters are; it is not asked for the result and for failures.
    ///
    /// # Safety
    ///
    /// In every launch, each memory that is given holds as many elements as the length given beside it, and nothing else writes
    /// it while the kernel runs.
    pub unsafe fn embed(&self, given: &impl Launcher<Argument = Embedded>) -> Push<Grid, Dynamic, Ix> {
        let program = &self.kernel.program;
        if program.threads != effects::block_threads() {
            let (threads, found) = (program.threads, effects::block_threads());
            with(|builder| {
                builder.mistake(format!("a kernel with {threads} threads inside one with {found}"));
            });
        }
        effects::resident(program.resident);
        let copy = Copied::new(program.clone(), self.kernel.sites.clone());
        for (param, binding) in program.params.iter().zip(&self.bindings) {
            match (*param, binding.resolve(given)) {
                (Param::Memory(memory), Some(Embedded::Memory(here))) => copy.stands_for_memory(memory, here),
                (Param::Scalar(var), Some(Embedded::Scalar(term))) => {
                    if let Some(operand) = materialise(&[term]).first() {
                        copy.values.borrow_mut().insert(var, *operand);
                    }
                }
                // The result is handed on, and failures are the new kernel's.
                _ => {}
            }
        }
        copy.list(program.prologue.clone(), &|_, _| {});
        for Requirement { holds, site, index, bound } in &self.kernel.requirements {
            require_at_launch(copy.term(*holds), *site, copy.term(*index), copy.term(*bound));
        }
        let (length, complete) = match &self.outcome {
            Some(outcome) => (copy.term(outcome.length), outcome.complete),
            None => (Constant::from(0i64).into(), true),
        };
        let columns = self.outcome.iter().flat_map(|outcome| &outcome.types).count();
        let results = self.result_memories();
        let copy = Rc::new(Copied { results, columns, ..copy });
        Push::trusted(Exp::from_term(length), move |write: Writer<'_, Dynamic>| {
            let Program { blocks, block, body, .. } = &copy.program;
            effects::distribute(copy.term(*blocks), |here| {
                if let Some(operand) = materialise(&[here]).first() {
                    copy.values.borrow_mut().insert(*block, *operand);
                }
                copy.list(body.clone(), &|index, value| write(index, value));
            });
        })
        .complete_if(move || complete)
    }

    /// The memories of the result's columns.
    fn result_memories(&self) -> Vec<MemoryId> {
        let params = self.kernel.program.params.iter().zip(&self.bindings);
        let result = |(param, binding): (&Param, &Binding)| match (param, binding) {
            (Param::Memory(memory), Binding::Result { .. }) => Some(*memory),
            _ => None,
        };
        params.filter_map(result).collect()
    }
}

/// A program whose statements are copied into the one that is being built.
struct Copied {
    program: Program,
    sites: Vec<Site>,
    /// The memories whose stores are elements that are handed on, one per column.
    results: Vec<MemoryId>,
    columns: usize,
    /// Replacements of its values.
    values: RefCell<HashMap<Var, Operand>>,
    /// Replacements of its memories.
    memories: RefCell<HashMap<MemoryId, MemoryId>>,
    /// The scalars of an element of which not all columns have been written.
    element: RefCell<Vec<Operand>>,
    /// The comment that is in force.
    comment: RefCell<Option<String>>,
}

impl Copied {
    fn new(program: Program, sites: Vec<Site>) -> Copied {
        Copied {
            program,
            sites,
            results: Vec::new(),
            columns: 0,
            values: RefCell::default(),
            memories: RefCell::default(),
            element: RefCell::default(),
            comment: RefCell::default(),
        }
    }

    fn stands_for_memory(&self, memory: MemoryId, here: MemoryId) {
        self.memories.borrow_mut().insert(memory, here);
    }

    /// Returns the replacement of an operand.
    fn operand(&self, operand: Operand) -> Operand {
        match operand {
            Operand::Var(var) => self.values.borrow().get(&var).copied().unwrap_or_else(|| {
                with(|builder| builder.mistake("a value of an embedded kernel is not given"));
                Operand::Constant(Constant::zero(self.program.var_type(var)))
            }),
            constant @ Operand::Constant(_) => constant,
        }
    }

    /// As [`Copied::operand`], as a value of the list of statements that is open.
    fn term(&self, operand: Operand) -> Term {
        let ty = self.program.operand_type(operand);
        match self.operand(operand) {
            Operand::Var(var) => bind(var, ty),
            Operand::Constant(constant) => constant.into(),
        }
    }

    /// Returns the replacement of a memory: shared and private memory is allocated when it is first used.
    fn memory(&self, memory: MemoryId) -> MemoryId {
        *self.memories.borrow_mut().entry(memory).or_insert_with(|| {
            let info = self.program.memory(memory);
            with(|builder| Some(builder.memory(&info.name, info.ty, info.space))).unwrap_or(memory)
        })
    }

    /// Copies statements into the list that is open.
    fn list(&self, list: Vec<Stmt>, write: Writer<'_, Dynamic>) {
        let around = self.comment.borrow().clone();
        with(|builder| builder.note_copied(around.clone()));
        for stmt in list {
            match stmt {
                Stmt::Comment(text) => *self.comment.borrow_mut() = Some(text),
                Stmt::Store { memory, index, values } if self.results.contains(&memory) => {
                    self.element.borrow_mut().extend(values);
                    if self.element.borrow().len() == self.columns {
                        let columns = self.element.take();
                        let value = columns.into_iter().map(|operand| self.term(operand)).collect();
                        write(Exp::from_term(self.term(index)), Scalars(value));
                    }
                }
                stmt => self.statement(stmt, write),
            }
        }
        *self.comment.borrow_mut() = around;
    }

    fn statement(&self, mut stmt: Stmt, write: Writer<'_, Dynamic>) {
        for var in stmt.defines_mut() {
            let info = &self.program.vars[var.0 as usize];
            let here = fresh(info.ty, &info.name);
            self.values.borrow_mut().insert(*var, Operand::Var(here));
            *var = here;
        }
        let inner = |list, body: Vec<Stmt>| framed(list, || self.list(body, write)).1;
        match &mut stmt {
            Stmt::Load { memory, .. } | Stmt::Store { memory, .. } | Stmt::Atomic { memory, .. } => {
                *memory = self.memory(*memory);
            }
            Stmt::Fail { site, .. } => {
                let place = self.sites[*site as usize];
                *site = with(|builder| builder.site(place));
            }
            Stmt::If { then, otherwise, .. } => {
                *then = inner(List::Side, std::mem::take(then));
                *otherwise = inner(List::Side, std::mem::take(otherwise));
            }
            Stmt::For { body, .. } => *body = inner(List::Loop, std::mem::take(body)),
            Stmt::Parallel { workers, body, .. } => {
                let all = std::mem::take(body);
                *body = execute_as(*workers, || inner(List::Loop, all));
            }
            Stmt::While { header, body, .. } => {
                let (first, then) = (std::mem::take(header), std::mem::take(body));
                (*body, *header) = framed(List::Loop, || {
                    self.list(first, write);
                    inner(List::Body, then)
                });
            }
            _ => {}
        }
        for operand in stmt.operands_mut() {
            *operand = self.operand(*operand);
        }
        let comment = self.comment.borrow().clone();
        with(|builder| builder.push_copied(comment, stmt));
    }
}
