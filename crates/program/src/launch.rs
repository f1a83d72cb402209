//! Evaluation on the host before a launch: the prologue, and from it the number of blocks.
//!
//! It works on any program, verified or not, and must not touch memory.

use std::fmt;

use pumice_scalar::{Constant, ScalarType};

use crate::ir::{Operand, Param, Program, Stmt, Var};

/// Mismatch between scalar arguments and a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaunchError {
    /// The wrong number of scalars.
    Count {
        /// Number of scalars that the program takes.
        expected: usize,
        /// Number of scalars given.
        found: usize,
    },
    /// A scalar of the wrong type.
    Type {
        /// Position of the scalar, counted from 0.
        position: usize,
        /// The type that the program takes.
        expected: ScalarType,
        /// The type that was given.
        found: ScalarType,
    },
    /// The scalar parameters, the prologue or the number of blocks is malformed (the verifier says more).
    Malformed,
}

impl fmt::Display for LaunchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LaunchError::Count { expected, found } => {
                write!(f, "the kernel takes {expected} scalars, and {found} were given")
            }
            LaunchError::Type { position, expected, found } => {
                write!(f, "scalar {position} of the kernel is {expected}, and {found} was given")
            }
            LaunchError::Malformed => f.write_str("the kernel's prologue is not well formed"),
        }
    }
}

impl std::error::Error for LaunchError {}

impl Program {
    /// Returns the number of blocks for these scalar arguments, given in the order of the parameters. A number below zero
    /// counts as zero.
    pub fn blocks_for(&self, scalars: &[Constant]) -> Result<u64, LaunchError> {
        let values = self.launch_values(scalars)?;
        let blocks = match self.blocks {
            Operand::Constant(constant) => Some(constant),
            Operand::Var(var) => value(&values, var),
        };
        let blocks = blocks.and_then(Constant::as_integer).ok_or(LaunchError::Malformed)?;
        Ok(u64::try_from(blocks.max(0)).unwrap_or(u64::MAX))
    }

    /// Returns the values of the variables (by number) that are known before the blocks run: scalar arguments and what the
    /// prologue computes from them.
    pub fn launch_values(&self, scalars: &[Constant]) -> Result<Vec<Option<Constant>>, LaunchError> {
        let params: Vec<Var> = self
            .params
            .iter()
            .filter_map(|param| match param {
                Param::Scalar(var) => Some(*var),
                Param::Memory(_) => None,
            })
            .collect();
        if params.len() != scalars.len() {
            return Err(LaunchError::Count { expected: params.len(), found: scalars.len() });
        }
        let mut values = vec![None; self.vars.len()];
        for (position, (&var, &scalar)) in params.iter().zip(scalars).enumerate() {
            let (Some(info), Some(value)) = (self.vars.get(var.0 as usize), values.get_mut(var.0 as usize))
            else {
                return Err(LaunchError::Malformed);
            };
            if info.ty != scalar.ty() {
                return Err(LaunchError::Type { position, expected: info.ty, found: scalar.ty() });
            }
            *value = Some(scalar);
        }
        for stmt in &self.prologue {
            match stmt {
                Stmt::Comment(_) => {}
                Stmt::Let { var, op, operands } => {
                    let operands: Option<Vec<Constant>> = operands
                        .iter()
                        .map(|operand| match *operand {
                            Operand::Constant(constant) => Some(constant),
                            Operand::Var(var) => value(&values, var),
                        })
                        .collect();
                    let operands = operands.ok_or(LaunchError::Malformed)?;
                    match (self.vars.get(var.0 as usize), values.get_mut(var.0 as usize)) {
                        (Some(info), Some(value)) => *value = Some(op.evaluate(info.ty, &operands)),
                        _ => return Err(LaunchError::Malformed),
                    }
                }
                _ => return Err(LaunchError::Malformed),
            }
        }
        Ok(values)
    }
}

fn value(values: &[Option<Constant>], var: Var) -> Option<Constant> {
    values.get(var.0 as usize).copied().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_counts_blocks() {
        let text = "kernel k memory @m: global read f32 params %a: f32, @m, %n: i64 threads 256
            prologue { %r: i64 = add %n, 255:i64 %blocks: i64 = div %r, 256:i64 }
            blocks %block: i64 < %blocks body { }";
        let program = crate::parse(text).unwrap();
        let blocks = |n: i64| program.blocks_for(&[1.0f32.into(), n.into()]);
        assert_eq!([blocks(0), blocks(1), blocks(256), blocks(257)], [Ok(0), Ok(1), Ok(1), Ok(2)]);
        assert_eq!(blocks(-100_000), Ok(0));
        assert_eq!(program.blocks_for(&[]), Err(LaunchError::Count { expected: 2, found: 0 }));
        let found = ScalarType::I32;
        let wrong = LaunchError::Type { position: 1, expected: ScalarType::I64, found };
        assert_eq!(program.blocks_for(&[1.0f32.into(), 3i32.into()]), Err(wrong));
    }
}
