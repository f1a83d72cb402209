//! A pass: lowers what a target lacks to what it has, and refuses what cannot be lowered, with its place.
//!
//! Needs: a program that the verifier accepts; types and memory are final, so it comes after the passes that choose them.
//! Leaves: a program of which the target has every type and every atomic operation, and which is within its limits. A legal
//! program stays as it is.
//!
//! An atomic operation that the target lacks becomes a loop around a compare-and-exchange of the element's bits. What the
//! lanes of a warp do together stays: the emitter imitates that ([`Warps`]), and here it only counts as memory. Arithmetic on
//! numbers of 8 and 16 bits is done in 32 (`small.rs`).

use std::borrow::Cow;
use std::fmt;

use pumice_scalar::{Constant, MAX_NESTING, Op, ScalarType};

use crate::capabilities::{Capabilities, Target, Warps, WideAtomics};
use crate::ir::{AtomicOp, Carried, Operand, Param, Program, Space, Stmt, Var, WARP};
use crate::memory::plan;
use crate::passes::small;
use crate::verify::{Verified, verify};

/// A program needs something that its target lacks and that cannot be lowered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The name of the program.
    pub program: String,
    /// Reason, as the end of a sentence that begins with the kernel.
    pub reason: String,
    /// Source location: the comment in force there, if there is one.
    pub place: Option<String>,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}` {}", self.program, self.reason)?;
        match &self.place {
            Some(place) => write!(f, " ({place})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Unsupported {}

/// Legalises a program for a target.
///
/// # Errors
/// Fails if the target lacks a type, an atomic operation that compare-and-exchange cannot do, or room.
pub fn legalise(program: &mut Program, target: &Target) -> Result<(), Unsupported> {
    if needs_lowering(program, target)? {
        let body = std::mem::take(&mut program.body);
        program.body = lower_list(program, &target.capabilities, body);
        if !target.capabilities.small {
            let (prologue, body) = (std::mem::take(&mut program.prologue), std::mem::take(&mut program.body));
            program.prologue = small::lower(program, prologue);
            program.body = small::lower(program, body);
        }
    }
    Ok(())
}

/// Returns a verified program as it is legal for a target: most often itself.
///
/// # Errors
/// As [`legalise`].
pub fn legal<'p>(program: &'p Verified, target: &Target) -> Result<Cow<'p, Verified>, Unsupported> {
    if !needs_lowering(program, target)? {
        return Ok(Cow::Borrowed(program));
    }
    let mut lowered = program.clone().into_program();
    legalise(&mut lowered, target)?;
    let broken = |reason| Unsupported { program: program.name.clone(), reason, place: None };
    verify(lowered).map(Cow::Owned).map_err(|error| broken(format!("could not be lowered: {}", error.reason)))
}

/// Whether something has to be lowered; refuses what cannot be.
fn needs_lowering(program: &Program, target: &Target) -> Result<bool, Unsupported> {
    check_limits(program, target)?;
    let mut finder = Finder { program, capabilities: &target.capabilities, place: None, lowers: false };
    finder.outside()?;
    finder.list(&program.prologue, 0)?;
    finder.list(&program.body, 0)?;
    Ok(finder.lowers)
}

/// Bytes of the block's memory that a target takes for what warps do together in a program.
pub fn exchange_bytes(program: &Program, warps: Warps) -> u32 {
    match warps {
        Warps::ThroughShared if program.body.iter().any(Stmt::is_warp_collective) => {
            program.threads.div_ceil(WARP).saturating_mul(8 * WARP)
        }
        _ => 0,
    }
}

fn check_limits(program: &Program, target: &Target) -> Result<(), Unsupported> {
    let refuse = |reason: String| {
        let place = first_comment(&program.body).map(str::to_owned);
        Err(Unsupported { program: program.name.clone(), reason, place })
    };
    let (threads, most) = (program.threads, target.max_threads);
    if threads > most {
        return refuse(format!("has {threads} threads in a block, and the limit is {most}"));
    }
    let shares = program.memories.iter().any(|memory| matches!(memory.space, Space::Shared { .. }));
    let bytes = match shares && target.shared_bytes < u32::MAX {
        true => plan(program, target.shared_bytes).map(|layout| layout.bytes),
        false => Ok(0),
    };
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(error) => return refuse(error.reason()),
    };
    let (exchange, limit) = (exchange_bytes(program, target.capabilities.warps), target.shared_bytes);
    let all = u64::from(bytes) + u64::from(exchange);
    if all > limit.into() {
        return refuse(format!(
            "needs {all} bytes of shared memory with what its warps exchange, and the limit is {limit}"
        ));
    }
    let bytes = |param: &Param| match *param {
        Param::Memory(_) => 8,
        Param::Scalar(var) => program.var_type(var).bytes() as u64,
    };
    // Each is aligned to its size, of at most 8 bytes.
    let all = program.params.iter().map(bytes).fold(0u64, |sum, bytes| sum.next_multiple_of(bytes) + bytes);
    let limit = target.capabilities.parameter_bytes;
    if all > limit.into() {
        return refuse(format!("takes {all} bytes of arguments, and the limit is {limit}"));
    }
    Ok(())
}

fn first_comment(list: &[Stmt]) -> Option<&str> {
    list.iter().find_map(|stmt| match stmt {
        Stmt::Comment(text) => Some(text.as_str()),
        stmt => stmt.children().into_iter().find_map(|list| first_comment(list)),
    })
}

/// Finds what a target lacks.
struct Finder<'a> {
    program: &'a Program,
    capabilities: &'a Capabilities,
    /// The comment in force.
    place: Option<&'a str>,
    /// Whether something has to be lowered.
    lowers: bool,
}

impl<'a> Finder<'a> {
    fn refuse<T>(&self, what: &str) -> Result<T, Unsupported> {
        let place = self.place.map(str::to_owned);
        let reason = format!("needs {what}, which the device does not have");
        Err(Unsupported { program: self.program.name.clone(), reason, place })
    }

    fn ty(&self, ty: ScalarType) -> Result<(), Unsupported> {
        match self.capabilities.has_type(ty) {
            true => Ok(()),
            false if ty.is_float() => self.refuse(&format!("floats of 64 bits (`{ty}`)")),
            false => self.refuse(&format!("integers of 64 bits (`{ty}`)")),
        }
    }

    /// Checks what no statement defines: arguments, memory, the index of the block.
    fn outside(&mut self) -> Result<(), Unsupported> {
        let program = self.program;
        self.place = first_comment(&program.body);
        program.memories.iter().try_for_each(|memory| self.ty(memory.ty))?;
        for param in &program.params {
            if let Param::Scalar(var) = param {
                self.ty(program.var_type(*var))?;
            }
        }
        self.ty(program.var_type(program.block))?;
        self.place = None;
        Ok(())
    }

    fn list(&mut self, list: &'a [Stmt], depth: usize) -> Result<(), Unsupported> {
        let outer = self.place;
        for stmt in list {
            self.statement(stmt, depth)?;
            for child in stmt.children() {
                self.list(child, depth + 1)?;
            }
        }
        self.place = outer;
        Ok(())
    }

    fn statement(&mut self, stmt: &'a Stmt, depth: usize) -> Result<(), Unsupported> {
        if let Stmt::Comment(text) = stmt {
            self.place = Some(text);
        }
        stmt.defines().into_iter().try_for_each(|var| self.ty(self.program.var_type(var)))?;
        stmt.operands().into_iter().try_for_each(|operand| self.ty(self.program.operand_type(operand)))?;
        let atomics = self.capabilities.atomics;
        match stmt {
            Stmt::Let { var, op, operands }
                if !self.capabilities.small && small::is_lowered(self.program, *var, *op, operands) =>
            {
                self.lowers = true;
                match small::needs_doubles(self.program, *var, *op) {
                    true => self.ty(ScalarType::F64),
                    false => Ok(()),
                }
            }
            Stmt::Fail { .. } if atomics.wide < WideAtomics::Base => {
                self.refuse("atomic operations on 64 bits (to record that a check failed)")
            }
            Stmt::Atomic { op, memory, .. } => {
                let memory = self.program.memory(*memory);
                // Memory that the kernel does not write is loaded as any other.
                let constant = matches!(memory.space, Space::Global { access: crate::ir::Access::Read });
                if constant || atomics.has(*op, memory.ty) {
                    return Ok(());
                }
                if !is_lowered(*op) || !atomics.has(AtomicOp::CompareExchange, memory.ty) {
                    return self.refuse(&format!("the atomic operation `{}` on `{}`", op.name(), memory.ty));
                }
                if depth >= MAX_NESTING {
                    return self.refuse("an atomic operation so deep inside conditions and loops");
                }
                self.lowers = true;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// The operation that a loop around compare-and-exchange does in place of an atomic one.
fn scalar_op(op: AtomicOp) -> Option<Op> {
    Some(match op {
        AtomicOp::Add => Op::Add,
        AtomicOp::Sub => Op::Sub,
        AtomicOp::Min => Op::Min,
        AtomicOp::Max => Op::Max,
        AtomicOp::And => Op::And,
        AtomicOp::Or => Op::Or,
        AtomicOp::Xor => Op::Xor,
        AtomicOp::Exchange | AtomicOp::CompareExchange | AtomicOp::Load(_) | AtomicOp::Store(_) => {
            return None;
        }
    })
}

fn is_lowered(op: AtomicOp) -> bool {
    scalar_op(op).is_some()
}

fn lower_list(program: &mut Program, capabilities: &Capabilities, list: Vec<Stmt>) -> Vec<Stmt> {
    let mut out = Vec::with_capacity(list.len());
    for mut stmt in list {
        for child in stmt.children_mut() {
            *child = lower_list(program, capabilities, std::mem::take(child));
        }
        let lacking = match &stmt {
            Stmt::Atomic { op, memory, .. } => {
                let ty = program.memory(*memory).ty;
                scalar_op(*op).filter(|_| !capabilities.atomics.has(*op, ty)).map(|op| (op, ty))
            }
            _ => None,
        };
        match lacking {
            Some((op, ty)) => exchange_loop(program, op, ty, stmt, &mut out),
            None => out.push(stmt),
        }
    }
    out
}

/// Writes an atomic operation as a loop:
///
/// ```text
/// old = a guess; new = op(old, value)
/// while not done { found = compare_exchange(old, new); done = found is old, or op(found, value) is found;
///                  old = found; new = op(found, value) }
/// ```
///
/// No load comes first: the first exchange reads the element anyway, and succeeds if the guess is right.
fn exchange_loop(program: &mut Program, op: Op, ty: ScalarType, stmt: Stmt, out: &mut Vec<Stmt>) {
    let Stmt::Atomic { var, memory, index, operands, .. } = stmt else { return };
    let Some(&value) = operands.first() else { return };
    let bool_of = |value: bool| Operand::Constant(value.into());
    let guess = match op {
        // Most values do not change an extremum, and those that equal it are found so at once.
        Op::Min | Op::Max => value,
        _ => Operand::Constant(Constant::zero(ty)),
    };
    let old = var.unwrap_or_else(|| program.add_var(ty, "old"));
    let [first, new, found, next] = ["first", "new", "found", "next"].map(|name| program.add_var(ty, name));
    let [going, is_old, is_same, done, again] =
        ["going", "is_old", "is_same", "done", "again"].map(|name| program.add_var(ScalarType::Bool, name));
    out.push(Stmt::Let { var: first, op, operands: vec![guess, value] });
    let mut body = vec![
        Stmt::Atomic {
            var: Some(found),
            op: AtomicOp::CompareExchange,
            memory,
            index,
            operands: vec![Operand::Var(old), Operand::Var(new)],
        },
        Stmt::Let { var: next, op, operands: vec![Operand::Var(found), value] },
    ];
    let [old_bits, found_bits, next_bits] = [old, found, next].map(|var| bits(program, var, &mut body));
    let binary = |var, op, a, b| Stmt::Let { var, op, operands: vec![Operand::Var(a), Operand::Var(b)] };
    body.extend([
        binary(is_old, Op::Eq, found_bits, old_bits),
        binary(is_same, Op::Eq, next_bits, found_bits),
        binary(done, Op::Or, is_old, is_same),
        Stmt::Let { var: again, op: Op::Not, operands: vec![Operand::Var(done)] },
    ]);
    let carried = |var, initial, next| Carried { var, initial, next: Operand::Var(next) };
    out.push(Stmt::While {
        carried: vec![
            carried(old, guess, found),
            carried(new, Operand::Var(first), next),
            carried(going, bool_of(true), again),
        ],
        header: Vec::new(),
        condition: Operand::Var(going),
        body,
    });
}

/// The bits of a value: floats that are equal may differ in them, and NaN equals nothing.
fn bits(program: &mut Program, var: Var, out: &mut Vec<Stmt>) -> Var {
    let ty = match program.var_type(var) {
        ty if ty.is_float() => ty.unsigned(),
        _ => return var,
    };
    let bits = program.add_var(ty, "bits");
    out.push(Stmt::Let { var: bits, op: Op::Bitcast, operands: vec![Operand::Var(var)] });
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capabilities::Atomics;
    use crate::simulate::{Options, SimMemory, simulate};

    /// A target with compare-and-exchange, and without any atomic operation that it can stand for.
    const BARE: Target = Target {
        capabilities: Capabilities {
            atomics: Atomics {
                wide: WideAtomics::Base,
                small: false,
                float_add: false,
                float_min_max: false,
            },
            small: false,
            ..Capabilities::ALL
        },
        ..Target::ALL
    };

    /// 64 threads combine 64 values in 4 cells and keep what they found there.
    fn text(op: &str, ty: &str, space: &str) -> String {
        let (memory, params, target) = match space {
            "shared" => (format!("memory @cells: shared {ty}[4]"), "@xs, @out, @old", "@cells"),
            _ => (String::new(), "@xs, @out, @old", "@out"),
        };
        let (clear, copy) = match space {
            "shared" => (
                "parallel %i: i32 < 4:i32 { %x: TY = load @out[%i] store @cells[%i] = %x } sync",
                "sync parallel %k: i32 < 4:i32 { %y: TY = load @cells[%k] store @out[%k] = %y }",
            ),
            _ => ("", ""),
        };
        format!(
            "kernel k memory @xs: global read {ty} memory @out: global readwrite {ty}
             memory @old: global write {ty} {memory} params {params} threads 64 blocks %block: i64 < 1:i64
             body {{
               {clear}
               parallel %t: i32 < 64:i32 {{
                 // combine, user.rs:7:5
                 %v: {ty} = load @xs[%t]
                 %cell: i32 = and %t, 3:i32
                 %before: {ty} = atomic {op} {target}[%cell], %v
                 store @old[%t] = %before
                 atomic {op} {target}[%cell], %v
               }}
               {copy}
             }}"
        )
        .replace("TY", ty)
    }

    fn program(text: &str) -> Program {
        let program = crate::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        crate::check(&program).unwrap_or_else(|error| panic!("{error}\n{program}"));
        program
    }

    fn run(program: &Program, values: &[Constant], start: Constant) -> Vec<Vec<u8>> {
        let ty = start.ty();
        let mut memories = [values.len(), 4, values.len()].map(|n| SimMemory::unwritten(n * ty.bytes()));
        for (index, value) in values.iter().enumerate() {
            assert!(memories[0].set(index, *value));
        }
        assert!((0..4).all(|index| memories[1].set(index, start)));
        simulate(program, &mut memories, &[], &Options::default())
            .unwrap_or_else(|fault| panic!("{fault}\n{program}"));
        memories.iter().map(|memory| memory.bytes().to_vec()).collect()
    }

    /// Values with signs, zeros of both signs and NaN.
    fn values(ty: ScalarType) -> Vec<Constant> {
        let float = |k: i32| match k % 16 {
            3 => -0.0,
            5 => 0.0,
            7 if k > 48 => f32::NAN,
            _ => ((k * 37) % 101 - 50) as f32 * 0.5,
        };
        let value = |k: i32| match ty {
            ScalarType::F32 => Constant::from(float(k)),
            ScalarType::F64 => Constant::from(f64::from(float(k))),
            ty if ty.is_half() => Constant::from_float(ty, float(k).into()),
            ty => Constant::from_integer(ty, i128::from((k * 37) % 101) << (ty.bytes() as u32 * 4 - 4)),
        };
        (0..64).map(value).collect()
    }

    #[test]
    fn what_is_lowered_computes_the_same() {
        use ScalarType::*;
        for (ty, ops) in [
            (F32, &["add", "min", "max"][..]),
            (F64, &["add", "min", "max"]),
            (I64, &["min", "max", "and", "or", "xor"]),
            (U64, &["min", "max"]),
            (F16, &["add", "min", "max"]),
            (BF16, &["min"]),
            (U8, &["add", "sub", "min", "max", "and", "or", "xor"]),
            (I16, &["add", "min", "max"]),
        ] {
            for op in ops {
                for space in ["global", "shared"] {
                    let before = program(&text(op, ty.name(), space));
                    let mut after = before.clone();
                    legalise(&mut after, &BARE).unwrap_or_else(|error| panic!("{error}"));
                    crate::check(&after).unwrap_or_else(|error| panic!("{error}\n{after}"));
                    let printed = after.to_string();
                    assert!(
                        printed.contains("atomic compare_exchange")
                            && !printed.contains(&format!("atomic {op}"))
                    );
                    for start in values(ty).into_iter().take(8).chain([Constant::zero(ty)]) {
                        let (expected, found) =
                            (run(&before, &values(ty), start), run(&after, &values(ty), start));
                        assert_eq!(expected[1], found[1], "{op} on {ty} in {space}, from {start:?}");
                        // Lanes get their turns in another order, so that they find other values before theirs.
                        assert_eq!(expected[2].len(), found[2].len());
                    }
                    let again = after.clone();
                    legalise(&mut after, &BARE).unwrap_or_else(|error| panic!("{error}"));
                    assert_eq!(after, again, "a legal program changed");
                }
            }
        }
    }

    #[test]
    fn the_value_before_is_the_one_before() {
        // One lane after the other, so that the order is the same.
        let text =
            "kernel k memory @out: global readwrite f32 memory @old: global write f32 params @out, @old
            threads 1 blocks %block: i64 < 1:i64 body { parallel %t: i32 < 1:i32 {
              %a: f32 = atomic min @out[0:i32], 2.0:f32
              %b: f32 = atomic min @out[0:i32], 5.0:f32
              %c: f32 = atomic add @out[0:i32], 1.5:f32
              %d: f32 = atomic max @out[0:i32], 3.5:f32
              store @old[0:i32] = %a store @old[1:i32] = %b store @old[2:i32] = %c store @old[3:i32] = %d
            } }";
        let mut program = program(text);
        legalise(&mut program, &BARE).unwrap_or_else(|error| panic!("{error}"));
        let mut memories = [SimMemory::unwritten(4), SimMemory::unwritten(16)];
        assert!(memories[0].set(0, 9.0f32.into()));
        simulate(&program, &mut memories, &[], &Options::default()).unwrap_or_else(|fault| panic!("{fault}"));
        let found = |memory: usize, index| memories[memory].get(ScalarType::F32, index);
        assert_eq!(found(0, 0), Some(3.5f32.into()));
        let old: Vec<_> = (0..4).map(|index| found(1, index)).collect();
        assert_eq!(old, [9.0f32, 2.0, 2.0, 3.5].map(|value| Some(value.into())));
    }

    #[test]
    fn what_a_target_has_stays_as_it_is() {
        let before = program(&text("min", "f32", "global"));
        let mut after = before.clone();
        assert_eq!(legalise(&mut after, &Target::ALL), Ok(()));
        assert_eq!(before, after);
    }

    #[track_caller]
    fn refused(text: &str, target: Target, expected: &str) {
        let mut program = program(text);
        let error = legalise(&mut program, &target).expect_err("it was accepted");
        assert_eq!(error.to_string(), format!("kernel `k` {expected}"));
    }

    #[test]
    fn what_cannot_be_lowered_is_refused_with_its_place() {
        let with = |capabilities| Target { capabilities, ..Target::ALL };
        let no_doubles = with(Capabilities { doubles: false, ..Capabilities::ALL });
        refused(
            "kernel k memory @xs: global write f32 params @xs threads 1 blocks %b: i64 < 1:i64 body {
               parallel %t: i32 < 1:i32 {
                 // map, user.rs:3:9
                 if true {
                   // zip_with, user.rs:4:9
                   %x: f64 = cast %t
                   %y: f32 = cast %x
                   store @xs[%t] = %y
                 }
               }
             }",
            no_doubles,
            "needs floats of 64 bits (`f64`), which the device does not have (zip_with, user.rs:4:9)",
        );
        let wide = Atomics { wide: WideAtomics::None, ..Capabilities::ALL.atomics };
        let narrow = with(Capabilities { atomics: wide, ..Capabilities::ALL });
        refused(
            &text("add", "i64", "global"),
            narrow,
            "needs the atomic operation `add` on `i64`, which the device does not have (combine, user.rs:7:5)",
        );
        let small = Target { max_threads: 32, ..Target::ALL };
        refused(
            &text("add", "i64", "global"),
            small,
            "has 64 threads in a block, and the limit is 32 (combine, user.rs:7:5)",
        );
        let few = with(Capabilities { parameter_bytes: 16, ..Capabilities::ALL });
        refused(
            &text("add", "i64", "global"),
            few,
            "takes 24 bytes of arguments, and the limit is 16 (combine, user.rs:7:5)",
        );
        let integers = with(Capabilities { wide_integers: false, ..Capabilities::ALL });
        refused(
            &text("add", "i32", "global"),
            integers,
            "needs integers of 64 bits (`i64`), which the device does not have (combine, user.rs:7:5)",
        );
    }

    #[test]
    fn what_warps_exchange_counts_as_shared_memory() {
        let text = "kernel k memory @s: shared i64[8] threads 40 blocks %b: i64 < 1:i64 body {
               parallel %t: i64 < 40:i64 { %x: i64 = shuffle %t, 0:i32 store @s[%x] = %x } sync
               parallel %u: i64 < 8:i64 { %y: i64 = load @s[%u] store @s[%u] = %y } }";
        let capabilities = Capabilities { warps: Warps::ThroughShared, ..Capabilities::ALL };
        let target = Target { capabilities, shared_bytes: 500, ..Target::ALL };
        refused(
            text,
            target,
            "needs 576 bytes of shared memory with what its warps exchange, and the limit is 500",
        );
        assert_eq!(legalise(&mut program(text), &Target { shared_bytes: 576, ..target }), Ok(()));
        assert_eq!(
            legalise(&mut program(text), &Target { capabilities: Capabilities::ALL, ..target }),
            Ok(())
        );
        refused(
            text,
            Target { shared_bytes: 60, ..target },
            "needs 64 bytes of shared memory, and the limit is 60 (`s` 64)",
        );
    }
}
