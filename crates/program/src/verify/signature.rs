//! Checks what a program is to its launcher: names, parameters, and the records of failures and stops.

use pumice_scalar::ScalarType;

use crate::ir::{Access, Param, Space};

use super::{Checked, Checker, is_identifier};

impl Checker<'_> {
    pub(super) fn names(&self) -> Checked {
        let program = self.program;
        let check = |what: &str, name: &str| match is_identifier(name) {
            true => Ok(()),
            false => self.error(format!("the name {name:?} of {what} is not an identifier")),
        };
        check("the kernel", &program.name)?;
        program.vars.iter().try_for_each(|info| check("a variable", &info.name))?;
        program.memories.iter().try_for_each(|memory| check("a memory", &memory.name))?;
        let mut names: Vec<&str> = program.memories.iter().map(|memory| memory.name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => self.error(format!("two memories are called `{}`", pair[0])),
            None => Ok(()),
        }
    }

    pub(super) fn params(&mut self) -> Checked {
        let program = self.program;
        let mut passed = vec![false; program.memories.len()];
        for param in &program.params {
            match *param {
                Param::Scalar(var) => {
                    self.define(var)?;
                }
                Param::Memory(id) => {
                    match (program.memories.get(id.0 as usize), passed.get_mut(id.0 as usize)) {
                        (Some(memory), Some(passed)) => {
                            if !matches!(memory.space, Space::Global { .. }) {
                                let space = if let Space::Shared { .. } = memory.space {
                                    "shared"
                                } else {
                                    "private"
                                };
                                return self
                                    .error(format!("{space} memory `{}` is a parameter", memory.name));
                            }
                            if std::mem::replace(passed, true) {
                                return self.error(format!("memory `{}` is a parameter twice", memory.name));
                            }
                        }
                        _ => return self.error(format!("there is no memory with number {}", id.0)),
                    }
                }
            }
        }
        let absent = program.memories.iter().zip(passed);
        for (memory, passed) in absent {
            if matches!(memory.space, Space::Global { .. }) && !passed {
                return self.error(format!("global memory `{}` is not a parameter", memory.name));
            }
        }
        Ok(())
    }

    pub(super) fn failure(&self) -> Checked {
        let program = self.program;
        let Some(failure) = program.failure else {
            return match self.fails {
                true => self.error("there is a `fail`, and nowhere to record it"),
                false => Ok(()),
            };
        };
        if !self.fails {
            return self.error("there is a place for failures, and no `fail`");
        }
        let Some(memory) = program.memories.get(failure.memory.0 as usize) else {
            return self.error(format!("there is no memory with number {}", failure.memory.0));
        };
        match memory.space {
            Space::Global { access: Access::Write | Access::ReadWrite } if memory.ty == ScalarType::I64 => {}
            _ => {
                return self
                    .error(format!("the failure memory `{}` is not i64 that can be written", memory.name));
            }
        }
        let base = program.params.contains(&Param::Scalar(failure.base));
        match program.vars.get(failure.base.0 as usize) {
            Some(info) if base && info.ty == ScalarType::I64 => Ok(()),
            _ => self.error("the base of failure codes is not a scalar parameter of type i64"),
        }
    }

    pub(super) fn stop(&self) -> Checked {
        let Some(stop) = self.program.stop else { return Ok(()) };
        match self.program.memories.get(stop.0 as usize) {
            None => self.error(format!("there is no memory with number {}", stop.0)),
            Some(memory)
                if memory.ty == ScalarType::I64
                    && memory.space == (Space::Global { access: Access::ReadWrite }) =>
            {
                Ok(())
            }
            Some(memory) => self
                .error(format!("the stop record `{}` is not i64 that can be read and written", memory.name)),
        }
    }
}
