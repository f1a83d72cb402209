//! Parallel loops where every thread runs the text: a GPU's.
//!
//! A thread without an index usually does nothing. Where threads do something together, those without an index must
//! come along: all of a group run the same rounds, `active` says which of them have an index, and only those touch
//! memory. What has no effect is computed by all (every operation is total), so that the text stays free of branches.
//! The group is a warp where warps go their own ways, and the block where a barrier of the block stands for a warp's.

use pumice_program::{Level, Operand, Program, Stmt, Uniformity, Var, WARP, Workers};

use crate::dialect::Threads;
use crate::expression::Binding;
use crate::writer::Writer;

/// Predication of threads, in which some run along that have no index, or whose warp is not at work.
#[derive(Clone, Debug)]
pub(crate) struct Predication {
    /// Predicate of the threads that are at work: a name, where some may not be.
    pub(crate) predicate: Option<String>,
    /// Where the program's values are the same.
    uniformity: Uniformity,
}

impl Predication {
    /// All threads are at work.
    pub(crate) fn none(program: &Program) -> Predication {
        Predication { predicate: None, uniformity: Uniformity::of(program) }
    }

    /// Whether an operand can have a value that the program never has, in threads whose predicate is false.
    pub(crate) fn doubts(&self, operand: Operand) -> bool {
        self.predicate.is_some() && self.varies(&[operand])
    }

    /// Whether operands can differ among the threads of a block.
    pub(crate) fn varies(&self, operands: &[Operand]) -> bool {
        self.uniformity.operands(operands) != Level::Block
    }

    fn var_varies(&self, var: Var) -> bool {
        self.varies(&[Operand::Var(var)])
    }
}

/// Whether threads wait for each other in a statement, where a barrier of the block stands for a warp's.
pub(crate) fn waits(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Collective { .. } | Stmt::Sync { .. } => true,
        stmt => stmt.children().into_iter().flatten().any(waits),
    }
}

/// Whether a statement, or one inside it, loads something that is the same for all threads.
fn loads_evenly(stmt: &Stmt, predication: &Predication) -> bool {
    match stmt {
        Stmt::Load { vars, .. } => vars.iter().all(|&var| !predication.var_varies(var)),
        stmt => stmt.children().into_iter().flatten().any(|stmt| loads_evenly(stmt, predication)),
    }
}

impl Writer<'_> {
    /// Writes what must stand at the end of a side of a branch with these statements, and after the branch. All threads take the same side of
    /// a branch in which they wait for each other, so they all come to it.
    pub(crate) fn end_branch<'s>(&mut self, inside: impl IntoIterator<Item = &'s Stmt>) {
        if let Some(barrier) = self.language.barrier_around_ends()
            && inside.into_iter().any(waits)
        {
            self.text.line(barrier);
        }
    }

    /// Closes a branch that has one side, these statements.
    pub(crate) fn close_branch(&mut self, inside: &[Stmt]) {
        self.end_branch(inside);
        self.text.close();
        self.end_branch(inside);
    }

    /// Writes a parallel loop.
    pub(crate) fn parallel_numbered(&mut self, workers: Workers, var: Var, extent: Operand, body: &[Stmt]) {
        let Threads::Numbered { thread, warps } = self.language.threads() else { return };
        let thread = match &self.exchange {
            Some(exchange) => exchange.thread.clone(),
            None => thread.to_owned(),
        };
        let (number, count) = match workers {
            Workers::Threads => (thread, self.program.threads),
            Workers::Warps => (format!("{thread} / {WARP}"), self.program.threads / WARP),
            Workers::Lanes => (format!("{thread} % {WARP}"), WARP),
        };
        let joint = body.iter().any(Stmt::is_warp_collective);
        if joint && !self.come_together(workers, extent, count, warps) {
            self.parallel_predicated(&number, count, var, extent, body);
            return;
        }
        let outer = self.predication.predicate.clone();
        let guard = if joint { None } else { self.predication.predicate.take() };
        if let Some(guard) = &guard {
            self.text.open(&format!("if ({guard})"));
        }
        self.parallel_plain(&number, count, var, extent, body);
        if guard.is_some() {
            self.text.close();
        }
        self.predication.predicate = outer;
    }

    /// Whether the threads of a group all have an index in every round, or none of them has.
    fn come_together(&self, workers: Workers, extent: Operand, count: u32, warps: bool) -> bool {
        let (low, high) = self.intervals.operand(extent);
        let divides = |number: u32| low == high && number > 0 && high % i128::from(number) == 0;
        match workers {
            // A warp has one index as a whole.
            Workers::Warps if warps => true,
            Workers::Threads if warps => divides(count) || (count.is_multiple_of(WARP) && divides(WARP)),
            _ => divides(count),
        }
    }

    fn parallel_plain(&mut self, number: &str, count: u32, var: Var, extent: Operand, body: &[Stmt]) {
        let bound = self.value(extent).within(Binding::Sum);
        let range = self.intervals.operand(extent);
        let (ty, name) = (self.register(var), self.name(var).to_owned());
        let count = i128::from(count);
        let (repeats, whole) = (range.1 > count, range == (count, count));
        if repeats {
            self.text.open(&format!("for ({ty} {name} = {number}; {name} < {bound}; {name} += {count})"));
        } else {
            self.text.line(&format!("{ty} {name} = {number};"));
            if whole {
                self.text.open_block();
            } else {
                self.text.open(&format!("if ({name} < {bound})"));
            }
        }
        self.statements(body);
        match repeats || whole {
            true => self.text.close(),
            false => self.close_branch(body),
        }
    }

    /// Writes a loop through which all threads of a group go, with an index or without.
    fn parallel_predicated(&mut self, number: &str, count: u32, var: Var, extent: Operand, body: &[Stmt]) {
        let bound = self.value(extent).within(Binding::Sum);
        let range = self.intervals.operand(extent);
        let (ty, name) = (self.register(var), self.name(var).to_owned());
        let repeats = range.1 > i128::from(count);
        let branches =
            !repeats && range.0 < 1 && body.iter().any(|stmt| loads_evenly(stmt, &self.predication));
        if repeats {
            let first = self.names.fresh(&format!("{name}_0"));
            self.text.open(&format!("for ({ty} {first} = 0; {first} < {bound}; {first} += {count})"));
            self.text.line(&format!("{ty} {name} = {first} + {number};"));
        } else {
            if branches {
                // What is loaded by all must be there for one of them at least.
                self.text.open(&format!("if (0 < {bound})"));
            } else {
                self.text.open_block();
            }
            self.text.line(&format!("{ty} {name} = {number};"));
        }
        let active = self.names.fresh("active");
        let condition = match &self.predication.predicate {
            Some(outer) => format!("{outer} & ({name} < {bound})"),
            None => format!("{name} < {bound}"),
        };
        self.text.line(&format!("bool {active} = {condition};"));
        let outer = self.predication.predicate.replace(active);
        self.statements(body);
        self.predication.predicate = outer;
        match branches {
            true => self.close_branch(body),
            false => self.text.close(),
        }
    }

    /// Returns the condition under which a thread may access memory in a statement that defines these values, if there is one.
    pub(crate) fn guard_of(&self, defines: &[Var]) -> Option<String> {
        match &self.predication.predicate {
            // Values that are the same for all threads are the same where the predicate is false too: what all do together
            // may depend on them.
            Some(_) if !defines.is_empty() && !self.any_varies(defines) => None,
            Some(active) => Some(active.clone()),
            None => self.mask(),
        }
    }

    fn any_varies(&self, vars: &[Var]) -> bool {
        vars.iter().any(|&var| self.predication.var_varies(var))
    }

    /// Whether a statement must be kept from threads whose predicate is false, as a whole.
    pub(crate) fn is_predicated(&self, stmt: &Stmt) -> bool {
        let given: Vec<Var> = match stmt {
            Stmt::If { then, otherwise, .. } if then.is_empty() && otherwise.is_empty() => return false,
            Stmt::If { results, .. } => results.iter().map(|joined| joined.var).collect(),
            Stmt::For { carried, .. } | Stmt::While { carried, .. } => {
                carried.iter().map(|carried| carried.var).collect()
            }
            _ => return false,
        };
        // If it gives something that is the same for all threads, then all of them go through it alike.
        let even = given.iter().any(|&var| !self.predication.var_varies(var));
        self.predication.predicate.is_some() && !stmt.is_warp_collective() && !even
    }

    /// Writes a statement for the active threads alone. Its values exist for the others too, and mean nothing.
    pub(crate) fn write_predicated(&mut self, stmt: &Stmt) {
        let Some(active) = self.predication.predicate.take() else { return };
        match stmt {
            Stmt::If { condition, then, otherwise, results }
                if otherwise.is_empty() && results.is_empty() =>
            {
                let condition = self.value(*condition).within(Binding::Unary);
                self.text.open(&format!("if ({active} & {condition})"));
                self.statements(then);
                self.text.close();
            }
            Stmt::If { condition, then, otherwise, results } => {
                for joined in results {
                    let zero = self.zero(self.program.var_type(joined.var));
                    self.define(joined.var, &zero);
                }
                let condition = self.value(*condition);
                self.text.open(&format!("if ({active})"));
                self.branches(&condition, then, otherwise, results);
                self.text.close();
            }
            stmt => {
                if let Stmt::For { carried, .. } | Stmt::While { carried, .. } = stmt {
                    self.define_carried(carried);
                }
                self.text.open(&format!("if ({active})"));
                self.repetition(stmt);
                self.text.close();
            }
        }
        self.predication.predicate = Some(active);
    }
}
