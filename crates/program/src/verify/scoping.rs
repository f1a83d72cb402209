//! Checks that values are defined once and read where they are visible, with the types that are asked for.

use pumice_scalar::ScalarType;

use crate::ir::{Carried, Operand, Var};

use super::{Checked, Checker};

impl Checker<'_> {
    /// Marks a variable as defined here and gives its type.
    pub(super) fn define(&mut self, var: Var) -> Checked<ScalarType> {
        let Some(info) = self.program.vars.get(var.0 as usize) else {
            return self.error(format!("there is no variable with number {}", var.0));
        };
        // Both vectors are as long as the list of variables.
        if std::mem::replace(&mut self.defined[var.0 as usize], true) {
            return self.error(format!(
                "variable {} is defined twice",
                self.program.operand_text(Operand::Var(var))
            ));
        }
        self.visible[var.0 as usize] = true;
        self.in_scope.push(var);
        Ok(info.ty)
    }

    /// Makes what became visible after `mark` invisible again.
    pub(super) fn leave(&mut self, mark: usize) {
        for var in self.in_scope.drain(mark.min(self.in_scope.len())..) {
            self.visible[var.0 as usize] = false;
        }
    }

    /// The type of an operand that can be read here.
    pub(super) fn operand(&self, operand: Operand) -> Checked<ScalarType> {
        match operand {
            Operand::Constant(constant) => Ok(constant.ty()),
            Operand::Var(var) => {
                match (self.program.vars.get(var.0 as usize), self.visible.get(var.0 as usize)) {
                    (Some(info), Some(true)) => Ok(info.ty),
                    (Some(_), _) => self.error(format!(
                        "{} is not defined at this place",
                        self.program.operand_text(operand)
                    )),
                    (None, _) => self.error(format!("there is no variable with number {}", var.0)),
                }
            }
        }
    }

    pub(super) fn typed(&self, operand: Operand, ty: ScalarType, what: &str) -> Checked {
        let found = self.operand(operand)?;
        match found == ty {
            true => Ok(()),
            false => self.error(format!("{what} is {found} and should be {ty}")),
        }
    }

    pub(super) fn signed(&self, operand: Operand, what: &str) -> Checked {
        let found = self.operand(operand)?;
        match found.is_signed() {
            true => Ok(()),
            false => self.error(format!("{what} is {found}, not a signed integer")),
        }
    }

    /// Checks that an operand that can be read here has the type of a variable.
    pub(super) fn agrees(&self, var: Var, operand: Operand, what: &str) -> Checked {
        match self.program.vars.get(var.0 as usize) {
            Some(info) => self.typed(operand, info.ty, what),
            None => self.error(format!("there is no variable with number {}", var.0)),
        }
    }

    pub(super) fn initials(&self, carried: &[Carried]) -> Checked {
        carried.iter().try_for_each(|carried| self.agrees(carried.var, carried.initial, "a first value"))
    }

    pub(super) fn nexts(&self, carried: &[Carried]) -> Checked {
        carried.iter().try_for_each(|carried| self.agrees(carried.var, carried.next, "a next value"))
    }

    pub(super) fn carry(&mut self, carried: &[Carried]) -> Checked {
        carried.iter().try_for_each(|carried| self.define(carried.var).map(|_| ()))
    }

    /// Makes the carried values visible after their loop.
    pub(super) fn stay(&mut self, carried: &[Carried]) {
        for carried in carried {
            self.visible[carried.var.0 as usize] = true;
            self.in_scope.push(carried.var);
        }
    }
}
