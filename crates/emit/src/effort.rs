//! Optimisation effort for a program's compiler, decided by the program's size.
//!
//! Compilers take time that grows with the square of a function's length when they optimise it: gcc at `-O3` takes minutes
//! for a polynomial of 5,000 terms. One function decides for all dialects; it looks at the program alone, so that the
//! decision needs no part of its own in a kernel's key.

use pumice_program::{Program, Stmt};

use crate::Dialect;

/// Optimisation effort for a program's compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Effort {
    /// All optimisations: for every kernel of usual size.
    #[default]
    Full,
    /// Registers are allocated and simple expressions are folded, and loops are left as they are.
    Reduced,
    /// The text is translated as it stands.
    None,
}

/// The most statements that are compiled with full effort: some seconds for gcc.
const FULL: usize = 2_500;

/// The most statements that are compiled with reduced effort: likewise.
const REDUCED: usize = 12_000;

impl Effort {
    /// Decides by the number of statements of a program.
    pub fn of(program: &Program) -> Effort {
        match count(&program.body) {
            size if size <= FULL => Effort::Full,
            size if size <= REDUCED => Effort::Reduced,
            _ => Effort::None,
        }
    }

    /// The flags that ask a dialect's compiler for it.
    pub(crate) fn flags(self, dialect: Dialect) -> &'static [&'static str] {
        match (dialect, self) {
            (Dialect::C, Effort::Full) => &["-O3"],
            (Dialect::C, Effort::Reduced) => &["-O1"],
            (Dialect::C, Effort::None) => &["-O0"],
            (Dialect::OpenCl, Effort::None) => &["-cl-opt-disable"],
            (Dialect::Cuda, Effort::None) => &["--ptxas-options=-O0"],
            // These compilers take about as long with less effort.
            (Dialect::OpenCl | Dialect::Cuda, Effort::Full | Effort::Reduced) => &[],
        }
    }
}

/// Counts statements, with those inside of others.
fn count(list: &[Stmt]) -> usize {
    let inside = |stmt: &Stmt| stmt.children().into_iter().map(|list| count(list)).sum::<usize>();
    list.iter().map(|stmt| 1 + inside(stmt)).sum()
}
