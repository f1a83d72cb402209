//! The pass that makes a program one that can be stopped, for runs with a deadline.
//!
//! Needs: a program that has taken all other passes, since it adds a parameter. Leaves: one that computes the same as
//! long as its stop record says nothing. Nothing that was proved of the program rests on a loop having come to its end: a
//! loop that is left early leaves every index in bounds.

use crate::ir::{Access, Memory, MemoryId, Param, Program, Space};
use crate::verify::{Verified, VerifyError, verify};
use pumice_scalar::ScalarType;

/// Words of a stop record: whether to stop, how many nanoseconds the run may take, and when that is over by the device's own
/// clock (0 before the run's first launch).
pub const STOP_WORDS: usize = 3;

/// Gives a program a stop record, as its last parameter.
pub fn make_stoppable(program: &Program) -> Result<Verified, VerifyError> {
    let mut program = program.clone();
    let mut name = "stop".to_owned();
    while program.memories.iter().any(|memory| memory.name == name) {
        name.push('_');
    }
    let stop = MemoryId(program.memories.len() as u32);
    let space = Space::Global { access: Access::ReadWrite };
    program.memories.push(Memory { name, ty: ScalarType::I64, space });
    program.params.push(Param::Memory(stop));
    program.stop = Some(stop);
    verify(program)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    #[test]
    fn a_stop_record_is_the_last_parameter_and_in_the_text() {
        let text = "kernel k memory @stop: global readwrite i64 params @stop, %n: i64 threads 1
                    blocks %b: i64 < %n body { parallel %t: i64 < 1:i64 { store @stop[%b] = %n } }";
        let program = parse(text).unwrap_or_else(|error| panic!("{error:?}"));
        let stoppable = make_stoppable(&program).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(stoppable.params.last(), Some(&Param::Memory(MemoryId(1))));
        let again = parse(&stoppable.to_string()).unwrap_or_else(|error| panic!("{error:?}"));
        assert_eq!(again.stop, Some(MemoryId(1)));
        assert!(stoppable.key_text().contains("\nstop "));
        // No statement may use it.
        let mut misused = again;
        misused.stop = Some(MemoryId(0));
        assert!(verify(misused).is_err_and(|error| error.reason.contains("the stop record `stop`")));
    }
}
