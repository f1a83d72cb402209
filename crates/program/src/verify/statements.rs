//! Checks each statement: its operands, and that it stands where its execution scope allows it.

use pumice_scalar::{MAX_NESTING, ScalarType};

use crate::ir::{Access, AtomicOp, CollectiveOp, MemoryId, Operand, Scope, Space, Stmt, WARP, Workers};

use super::{Checked, Checker, ExecutionScope, Place};

impl<'a> Checker<'a> {
    pub(super) fn statements(&mut self, list: &'a [Stmt], place: Place) -> Checked {
        if place.depth > MAX_NESTING {
            return self.error(format!("statements are nested more than {MAX_NESTING} deep"));
        }
        let outer = self.comment;
        for stmt in list {
            if let Stmt::Comment(text) = stmt {
                self.comment = Some(text);
            }
            self.current = Some(stmt);
            self.statement(stmt, place)?;
        }
        self.comment = outer;
        Ok(())
    }

    /// Checks the memory of a load or store and gives the type of its elements.
    fn memory(
        &self,
        id: MemoryId,
        index: Operand,
        count: usize,
        write: bool,
        place: Place,
    ) -> Checked<ScalarType> {
        let Some(memory) = self.program.memories.get(id.0 as usize) else {
            return self.error(format!("there is no memory with number {}", id.0));
        };
        if self.program.failure.is_some_and(|failure| failure.memory == id) {
            return self.error(format!("only `fail` may use the failure memory `{}`", memory.name));
        }
        if self.program.stop == Some(id) {
            return self.error(format!("no statement may use the stop record `{}`", memory.name));
        }
        match memory.space {
            Space::Global { access: Access::Read } if write => {
                return self.error(format!("memory `{}` can only be read", memory.name));
            }
            Space::Global { access: Access::Write } if !write => {
                return self.error(format!("memory `{}` can only be written", memory.name));
            }
            Space::Private { .. } if place.scope != ExecutionScope::Thread => {
                return self.error(format!("private memory `{}` outside `parallel`", memory.name));
            }
            _ => {}
        }
        let packed = count.is_power_of_two() && count * memory.ty.bytes() <= 16;
        if !matches!(count, 1 | 2 | 4) && !packed {
            return self
                .error(format!("{count} elements at once; it can be 1, 2 or 4 (8 or 16 of 16 bytes)"));
        }
        let ty = self.operand(index)?;
        match ty.is_integer() {
            true => Ok(memory.ty),
            false => self.error(format!("the index is {ty}, not an integer")),
        }
    }

    pub(super) fn statement(&mut self, stmt: &'a Stmt, place: Place) -> Checked {
        match stmt {
            Stmt::If { .. } => self.branch(stmt, place),
            Stmt::For { .. } => self.for_loop(stmt, place),
            Stmt::While { .. } => self.while_loop(stmt, place),
            Stmt::Parallel { .. } => self.parallel(stmt, place),
            _ => self.simple(stmt, place),
        }
    }

    fn branch(&mut self, stmt: &'a Stmt, place: Place) -> Checked {
        let Stmt::If { condition, then, otherwise, results } = stmt else { return Ok(()) };
        let inner = Place { depth: place.depth + 1, ..place };
        self.typed(*condition, ScalarType::Bool, "the condition")?;
        let sides: [(&'a Vec<Stmt>, Vec<Operand>); 2] = [
            (then, results.iter().map(|joined| joined.then).collect()),
            (otherwise, results.iter().map(|joined| joined.otherwise).collect()),
        ];
        for (list, given) in sides {
            let mark = self.in_scope.len();
            self.statements(list, inner)?;
            self.current = Some(stmt);
            for (joined, operand) in results.iter().zip(given) {
                self.agrees(joined.var, operand, "a branch's value")?;
            }
            self.leave(mark);
        }
        results.iter().try_for_each(|joined| self.define(joined.var).map(|_| ()))
    }

    fn for_loop(&mut self, stmt: &'a Stmt, place: Place) -> Checked {
        let Stmt::For { var, start, end, step, carried, body } = stmt else { return Ok(()) };
        let inner = Place { depth: place.depth + 1, ..place };
        let mark = self.in_scope.len();
        let types = [self.operand(*start)?, self.operand(*end)?, self.operand(*step)?];
        self.initials(carried)?;
        let ty = self.define(*var)?;
        if !ty.is_integer() || types.iter().any(|&other| other != ty) {
            return self.error("index, start, end and step of a loop have one integer type");
        }
        if let Operand::Constant(step) = step
            && step.as_integer().is_none_or(|step| step <= 0)
        {
            return self.error("the step of a loop is not positive");
        }
        self.carry(carried)?;
        self.statements(body, inner)?;
        self.current = Some(stmt);
        self.nexts(carried)?;
        self.leave(mark);
        self.stay(carried);
        Ok(())
    }

    fn while_loop(&mut self, stmt: &'a Stmt, place: Place) -> Checked {
        let Stmt::While { carried, header, condition, body } = stmt else { return Ok(()) };
        let inner = Place { depth: place.depth + 1, ..place };
        let mark = self.in_scope.len();
        self.initials(carried)?;
        self.carry(carried)?;
        self.statements(header, inner)?;
        self.current = Some(stmt);
        self.typed(*condition, ScalarType::Bool, "the condition")?;
        self.statements(body, inner)?;
        self.current = Some(stmt);
        self.nexts(carried)?;
        self.leave(mark);
        self.stay(carried);
        Ok(())
    }

    fn parallel(&mut self, stmt: &'a Stmt, place: Place) -> Checked {
        let Stmt::Parallel { workers, var, extent, body } = stmt else { return Ok(()) };
        let inner = Place { depth: place.depth + 1, ..place };
        let scope = match (workers, place.scope) {
            (Workers::Threads, ExecutionScope::Block) | (Workers::Lanes, ExecutionScope::Warp) => {
                ExecutionScope::Thread
            }
            (Workers::Warps, ExecutionScope::Block) if self.program.threads.is_multiple_of(WARP) => {
                ExecutionScope::Warp
            }
            (Workers::Warps, ExecutionScope::Block) => {
                return self.error(format!(
                    "a block of {} threads has no whole number of warps",
                    self.program.threads
                ));
            }
            (Workers::Lanes, ExecutionScope::Block) => return self.error("`lanes` outside `warps`"),
            _ => return self.error("`parallel` inside `parallel`"),
        };
        let extent = self.operand(*extent)?;
        let mark = self.in_scope.len();
        let ty = self.define(*var)?;
        if !ty.is_integer() || extent != ty {
            return self.error("index and extent of `parallel` have one integer type");
        }
        self.statements(body, Place { scope, ..inner })?;
        self.leave(mark);
        Ok(())
    }

    /// A statement without others inside. It is apart from those that have some because, not optimised, it needs a lot
    /// of stack.
    fn simple(&mut self, stmt: &'a Stmt, place: Place) -> Checked {
        match stmt {
            Stmt::Comment(_) => Ok(()),
            Stmt::Let { var, op, operands } => {
                let types =
                    operands.iter().map(|&operand| self.operand(operand)).collect::<Checked<Vec<_>>>()?;
                let result = self.define(*var)?;
                match op.accepts(result, &types) {
                    true => Ok(()),
                    false => {
                        let types: Vec<&str> = types.iter().map(|ty| ty.name()).collect();
                        self.error(format!(
                            "`{}` does not make {result} from ({})",
                            op.name(),
                            types.join(", ")
                        ))
                    }
                }
            }
            Stmt::Load { vars, memory, index } => {
                let element = self.memory(*memory, *index, vars.len(), false, place)?;
                for &var in vars {
                    let ty = self.define(var)?;
                    if ty != element {
                        return self.error(format!("the memory holds {element}, and the variable is {ty}"));
                    }
                }
                Ok(())
            }
            Stmt::Store { memory, index, values } => {
                if place.scope != ExecutionScope::Thread {
                    return self.error("a store outside `parallel`");
                }
                let element = self.memory(*memory, *index, values.len(), true, place)?;
                values.iter().try_for_each(|&value| self.typed(value, element, "a stored value"))
            }
            Stmt::Sync { scope } => match (scope, place.scope) {
                (Scope::Block, ExecutionScope::Block) => Ok(()),
                (Scope::Warp, ExecutionScope::Warp) => {
                    self.together = true;
                    Ok(())
                }
                (Scope::Warp, ExecutionScope::Block) => self.error("`sync warp` outside `warps`"),
                (Scope::Grid, _) => self.error("a grid has no barrier"),
                _ if self.barriers => self.error("`sync` inside `parallel`"),
                _ => Ok(()),
            },
            Stmt::Fence { .. } if place.scope != ExecutionScope::Thread => {
                self.error("a `fence` outside `parallel`")
            }
            Stmt::Fence { .. } => Ok(()),
            Stmt::Atomic { var, op, memory, index, operands } => {
                if place.scope != ExecutionScope::Thread {
                    return self.error("an `atomic` outside `parallel`");
                }
                if op.reads() {
                    self.memory(*memory, *index, 1, false, place)?;
                }
                let element = self.memory(*memory, *index, 1, op.writes(), place)?;
                if let Space::Private { .. } = self.program.memory(*memory).space {
                    return self.error("an `atomic` on private memory");
                }
                if !op.accepts(element) {
                    return self.error(format!("`atomic {}` does not work on {element}", op.name()));
                }
                if operands.len() != op.operands() {
                    return self.error(format!("`atomic {}` takes {} values", op.name(), op.operands()));
                }
                operands.iter().try_for_each(|&value| self.typed(value, element, "a value"))?;
                match (var, op) {
                    (None, AtomicOp::Load(_)) => self.error("`atomic load` without a variable"),
                    (Some(_), AtomicOp::Store(_)) => self.error("`atomic store` gives nothing"),
                    (Some(var), _) => match self.define(*var)? == element {
                        true => Ok(()),
                        false => self.error(format!("the memory holds {element}, and the variable does not")),
                    },
                    (None, _) => Ok(()),
                }
            }
            Stmt::Collective { var, op, operands } => {
                if place.scope != ExecutionScope::Thread {
                    return self.error(format!("`{}` outside `parallel`", op.name()));
                }
                self.together = true;
                let types =
                    operands.iter().map(|&operand| self.operand(operand)).collect::<Checked<Vec<_>>>()?;
                let result = self.define(*var)?;
                let fits = match (op, types.as_slice()) {
                    (CollectiveOp::All | CollectiveOp::Any, [ScalarType::Bool]) => result == ScalarType::Bool,
                    (CollectiveOp::Ballot, [ScalarType::Bool]) => result == ScalarType::U32,
                    (op, [value, ScalarType::I32]) if op.is_shuffle() => result == *value,
                    _ => false,
                };
                match fits {
                    true => Ok(()),
                    false => {
                        let types: Vec<&str> = types.iter().map(|ty| ty.name()).collect();
                        self.error(format!(
                            "`{}` does not make {result} from ({})",
                            op.name(),
                            types.join(", ")
                        ))
                    }
                }
            }
            Stmt::Fail { unless, index, bound, .. } => {
                if place.scope != ExecutionScope::Thread {
                    return self.error("a `fail` outside `parallel`");
                }
                self.fails = true;
                self.typed(*unless, ScalarType::Bool, "the condition")?;
                self.typed(*index, ScalarType::I64, "the index")?;
                self.typed(*bound, ScalarType::I64, "the bound")
            }
            Stmt::If { .. } | Stmt::For { .. } | Stmt::While { .. } | Stmt::Parallel { .. } => Ok(()),
        }
    }
}
