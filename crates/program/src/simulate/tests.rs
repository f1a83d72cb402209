//! The simulator's own tests: what programs mean, and what is refused.

use pumice_scalar::ScalarType;

use super::*;

const TEXT: &str =
    "kernel k memory @xs: global read i64 memory @out: global write i64 memory @s: shared i64[4]
    params @xs, %n: i64, @out threads 4 blocks %block: i64 < %n
    body {
      %x: i64 = load @xs[%block]
      parallel %i: i64 < 4:i64 { store @s[%i] = %i }
      sync
      parallel %j: i64 < 4:i64 {
        %y: i64 = load @s[%j]
        %z: i64 = mul %x, %y
        %first: i64 = mul %block, 4:i64
        %at: i64 = add %first, %j
        store @out[%at] = %z
      }
    }";

#[test]
fn a_report_counts_what_happened() {
    let program = crate::parse(TEXT).unwrap();
    let mut memories =
        [SimMemory::from_constants(&[3i64.into(), 5i64.into()]), SimMemory::unwritten(2 * 4 * 8)];
    let report = simulate(&program, &mut memories, &[2i64.into()], &Options::default()).unwrap();
    assert_eq!((report.blocks, report.threads, report.warps, report.failures), (2, 4, 2, 0));
    assert_eq!((report.shared_bytes, report.private_cells), (32, 0));
    let costs = Costs {
        global_loads: GlobalCosts { requests: 2, elements: 2, bytes: 16, sectors: 2 },
        global_stores: GlobalCosts { requests: 2, elements: 8, bytes: 64, sectors: 2 },
        shared_loads: SharedCosts { requests: 2, elements: 8, wavefronts: 2, conflicts: 0 },
        shared_stores: SharedCosts { requests: 2, elements: 8, wavefronts: 2, conflicts: 0 },
        block_barriers: 2,
        ..Costs::default()
    };
    assert_eq!(report.costs, costs);
    assert_eq!(report.places, [PlaceCosts { place: String::new(), costs }]);
    let values: Vec<i64> =
        (0..8).map(|index| memories[1].get(ScalarType::I64, index).unwrap().bits() as i64).collect();
    assert_eq!(values, [0, 3, 6, 9, 0, 5, 10, 15]);
}

#[test]
fn arguments_that_do_not_fit_are_refused() {
    let program = crate::parse(TEXT).unwrap();
    let kind = |memories: &mut [SimMemory], scalars: &[Constant]| {
        simulate(&program, memories, scalars, &Options::default()).unwrap_err().kind
    };
    assert_eq!(kind(&mut [], &[1i64.into()]), FaultKind::Arguments);
    let mut memories = [SimMemory::unwritten(8), SimMemory::unwritten(8)];
    assert_eq!(kind(&mut memories, &[]), FaultKind::Arguments);
    assert_eq!(kind(&mut memories, &[i64::MAX.into()]), FaultKind::Arithmetic);
    // No blocks, nothing to do.
    let none = simulate(&program, &mut memories, &[0i64.into()], &Options::default());
    assert_eq!(none.map(|report| (report.blocks, report.steps, report.costs)), Ok((0, 0, Costs::default())));
}

#[test]
fn a_mark_of_exactness_must_hold() {
    let text = "kernel k threads 1 blocks %block: i32 < 2:i32 body { %x: i32 = add! %block, 2147483647:i32 }";
    let program = crate::parse(text).unwrap();
    let fault = simulate(&program, &mut [], &[], &Options::default()).unwrap_err();
    assert_eq!((fault.kind, fault.block), (FaultKind::Arithmetic, Some(1)));
}

#[test]
fn memory_knows_what_was_written() {
    let mut memory = SimMemory::unwritten(40);
    assert!(memory.set(3, 1.5f32.into()));
    assert_eq!(memory.is_written(ScalarType::F32, 3), Some(true));
    assert_eq!(memory.is_written(ScalarType::F64, 1), Some(false));
    assert_eq!(memory.is_written(ScalarType::F32, 10), None);
    assert!(memory.write_bytes(8, &[0; 4]));
    assert_eq!(memory.is_written(ScalarType::F64, 1), Some(true));
    assert_eq!(memory.get(ScalarType::F32, 3), Some(1.5f32.into()));
    assert!(!memory.write_bytes(38, &[0; 4]));
    assert!(!memory.write_bytes(usize::MAX, &[0; 4]));
    assert!(!memory.set(10, 1.5f32.into()));
    assert_eq!(memory.get(ScalarType::F64, usize::MAX), None);
}

/// A kernel with these memories and this body: `@xs` (read) and `@out` (readwrite) of type `i32` are global. Blocks are
/// `%b`, and `n` is the number of threads.
fn kernel(memories: &str, threads: u32, blocks: u32, body: &str) -> Program {
    let text = format!(
        "kernel k\nmemory @xs: global read i32\nmemory @out: global readwrite i32\n{memories}\nparams @xs, @out\n\
         threads {threads}\nblocks %b: i32 < {blocks}:i32\nbody {{\n{body}\n}}\n"
    );
    crate::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Returns the contents of `@out` (of this length) after a run where `@xs` counts from 0; `-1` where nothing was written.
fn run(program: &Program, out: usize) -> Result<Vec<i32>, Box<Fault>> {
    let xs: Vec<Constant> = (0..256i32).map(Constant::from).collect();
    let mut memories = [SimMemory::from_constants(&xs), SimMemory::unwritten(4 * out)];
    simulate(program, &mut memories, &[], &Options::default())?;
    let value = |index| match memories[1].is_written(ScalarType::I32, index) {
        Some(true) => memories[1].get(ScalarType::I32, index).unwrap().bits() as i32,
        _ => -1,
    };
    Ok((0..out).map(value).collect())
}

#[track_caller]
fn gives(memories: &str, threads: u32, blocks: u32, body: &str, expected: &[i32]) {
    let program = kernel(memories, threads, blocks, body);
    crate::check(&program).unwrap();
    match run(&program, expected.len()) {
        Ok(found) => assert_eq!(found, expected),
        Err(fault) => panic!("{fault}\n{program}"),
    }
}

#[track_caller]
fn faults(memories: &str, threads: u32, blocks: u32, body: &str, kind: FaultKind) -> Box<Fault> {
    let program = kernel(memories, threads, blocks, body);
    match run(&program, 64) {
        Ok(found) => panic!("no fault: {found:?}\n{program}"),
        Err(fault) => {
            assert_eq!(fault.kind, kind, "{fault}");
            fault
        }
    }
}

// Control flow.

#[test]
fn lanes_go_their_own_ways_and_come_together() {
    let body = "parallel %i: i32 < 40:i32 {
        %odd: i32 = and %i, 1:i32
        %is: bool = ne %odd, 0:i32
        %x: i32 = if %is {
          for %k: i32 in 0:i32..%i step 2:i32 carry %sum: i32 = 0:i32 { %more: i32 = add %sum, %k next %more }
          yield %sum
        } else {
          while carry %z: i32 = %i, %n: i32 = 0:i32 { %go: bool = lt 3:i32, %z } test %go {
            %less: i32 = sub %z, 3:i32 %m: i32 = add %n, 100:i32 next %less, %m }
          %y: i32 = add %z, %n
          yield %y
        }
        store @out[%i] = %x
      }";
    let expected = (0..40).map(|i: i32| match i % 2 {
        1 => (0..i).step_by(2).sum(),
        _ => {
            let (mut z, mut n) = (i, 0);
            while z > 3 {
                (z, n) = (z - 3, n + 100);
            }
            z + n
        }
    });
    // Whole warps and parts of them, one round and several.
    for threads in [1, 7, 32, 40, 64] {
        gives("", threads, 1, body, &expected.clone().collect::<Vec<i32>>());
    }
}

#[test]
fn warps_have_lanes() {
    let body = "warps %w: i32 < 4:i32 {
        %first: i32 = mul %w, 40:i32
        %x: i32 = load @xs[%first]
        lanes %l: i32 < 40:i32 {
          %y: i32 = add %x, %l
          %at: i32 = add %first, %l
          store @out[%at] = %y
        }
      }";
    gives("", 64, 1, body, &(0..160).collect::<Vec<i32>>());
}

// Private memory.

#[test]
fn private_memory_stays_with_its_thread() {
    let body = "parallel %i: i32 < 40:i32 {
        store @p[0:i32] = %i
      }
      parallel %j: i32 < 32:i32 {
        %x: i32 = load @p[0:i32]
        store @out[%j] = %x
      }";
    // Threads 0 to 7 have a second index.
    let expected: Vec<i32> = (0..32).map(|i| if i < 8 { i + 32 } else { i }).collect();
    gives("memory @p: private i32[2]", 32, 1, body, &expected);
    let body = "warps %w: i32 < 3:i32 { lanes %l: i32 < 32:i32 { store @p[1:i32] = %w } }
      parallel %i: i32 < 64:i32 { %x: i32 = load @p[1:i32] store @out[%i] = %x }";
    let expected: Vec<i32> = (0..64).map(|i| if i < 32 { 2 } else { 1 }).collect();
    gives("memory @p: private i32[2]", 64, 1, body, &expected);
}

#[test]
fn private_memory_is_unwritten_at_first_in_every_block() {
    let body = "%first: bool = eq %b, 0:i32
      if %first { parallel %i: i32 < 4:i32 { store @p[1:i32] = %i } }
      parallel %j: i32 < 4:i32 { %x: i32 = load @p[1:i32] }";
    let fault = faults("memory @p: private i32[2]", 4, 2, body, FaultKind::Unwritten);
    assert_eq!((fault.block, fault.index), (Some(1), Some(0)));
    assert_eq!(fault.reason, "this thread has not written `p` at index 1");
    let body = "parallel %i: i32 < 4:i32 { store @p[2:i32] = %i }";
    faults("memory @p: private i32[2]", 4, 1, body, FaultKind::OutOfBounds);
}

// What lanes do together.

#[test]
fn shuffles_move_values() {
    let shuffle = |op: &str, operand: &str| {
        format!(
            "parallel %i: i32 < 32:i32 {{ %x: i32 = load @xs[%i] %d: i32 = {operand}
             %y: i32 = {op} %x, %d store @out[%i] = %y }}"
        )
    };
    let all = |f: fn(i32) -> i32| (0..32).map(f).collect::<Vec<i32>>();
    gives("", 32, 1, &shuffle("shuffle", "sub 30:i32, %i"), &all(|i| (30 - i).rem_euclid(32)));
    gives("", 32, 1, &shuffle("shuffle_up", "add 0:i32, 3:i32"), &all(|i| if i < 3 { i } else { i - 3 }));
    gives("", 32, 1, &shuffle("shuffle_down", "add 0:i32, 3:i32"), &all(|i| if i > 28 { i } else { i + 3 }));
    gives("", 32, 1, &shuffle("shuffle_xor", "add 0:i32, 5:i32"), &all(|i| i ^ 5));
}

#[test]
fn votes_count_the_lanes_that_take_part() {
    let body = "parallel %i: i32 < 40:i32 {
        %c: bool = lt 1:i32, %i
        %all: bool = all %c
        %any: bool = any %c
        %lanes: u32 = ballot %c
        %l: i32 = cast %lanes
        %a: i32 = cast %all
        %o: i32 = cast %any
        %a2: i32 = mul %a, 2:i32
        %ao: i32 = add %a2, %o
        %j: i32 = mul %i, 2:i32
        store @out[%j] = %l
        %k: i32 = add %j, 1:i32
        store @out[%k] = %ao
      }";
    let expected: Vec<i32> = (0..40).flat_map(|i| if i < 32 { [!3, 1] } else { [0xff, 3] }).collect();
    gives("", 64, 1, body, &expected);
}

#[test]
fn a_reduction_by_shuffles_in_every_warp() {
    let body = "warps %w: i32 < 2:i32 { lanes %l: i32 < 32:i32 {
        %w32: i32 = mul %w, 32:i32 %at: i32 = add %w32, %l
        %x: i32 = load @xs[%at]
        %y1: i32 = shuffle_xor %x, 16:i32 %x1: i32 = add %x, %y1
        %y2: i32 = shuffle_xor %x1, 8:i32 %x2: i32 = add %x1, %y2
        %y3: i32 = shuffle_xor %x2, 4:i32 %x3: i32 = add %x2, %y3
        %y4: i32 = shuffle_xor %x3, 2:i32 %x4: i32 = add %x3, %y4
        %y5: i32 = shuffle_xor %x4, 1:i32 %x5: i32 = add %x4, %y5
        %first: bool = eq %l, 0:i32
        if %first { store @out[%w] = %x5 }
      } }";
    gives("", 64, 1, body, &[496, 1520]);
}

#[test]
fn a_lane_that_is_absent_has_no_value() {
    let body = "parallel %i: i32 < 20:i32 { %x: i32 = shuffle_down %i, 1:i32 store @out[%i] = %x }";
    let fault = faults("", 32, 1, body, FaultKind::Unwritten);
    assert_eq!(fault.index, Some(19));
    assert_eq!(fault.reason, "the value of lane 20, which does not take part");
}

#[test]
fn what_lanes_do_together_all_must_reach() {
    for op in ["shuffle_xor %i, 1:i32", "shuffle %i, 0:i32"] {
        let body = format!(
            "parallel %i: i32 < 32:i32 {{ %some: bool = lt %i, 16:i32 if %some {{ %x: i32 = {op} }} }}"
        );
        let fault = faults("", 32, 1, &body, FaultKind::Barrier);
        assert_eq!(fault.reason, "not every lane of the warp gets here: lane 16 does not");
    }
    let body = "parallel %i: i32 < 32:i32 { for %k: i32 in 0:i32..%i step 1:i32 { %x: bool = any true } }";
    faults("", 32, 1, body, FaultKind::Barrier);
}

#[test]
fn barriers_in_diverging_code_are_refused() {
    let body = "parallel %i: i32 < 4:i32 { %some: bool = lt %i, 2:i32 if %some { sync } }";
    faults("", 4, 1, body, FaultKind::Barrier);
    let body = "warps %w: i32 < 1:i32 { lanes %l: i32 < 32:i32 {
        %some: bool = lt %l, 2:i32 if %some { sync warp } } }";
    let fault = faults("", 32, 1, body, FaultKind::Barrier);
    assert_eq!((fault.warp, fault.index), (Some(0), Some(0)));
    let body = "warps %w: i32 < 1:i32 { sync }";
    faults("", 32, 1, body, FaultKind::Barrier);
}

// Atomics.

#[test]
fn atomics_change_one_element_after_the_other() {
    let on = |op: &str, operand: &str| {
        format!(
            "parallel %z: i32 < 1:i32 {{ store @s[0:i32] = 100:i32 }} sync
             parallel %i: i32 < 40:i32 {{ %v: i32 = {operand} atomic {op} @s[0:i32], %v }} sync
             parallel %o: i32 < 1:i32 {{ %x: i32 = load @s[0:i32] store @out[0:i32] = %x }}"
        )
    };
    let shared = "memory @s: shared i32[1]";
    for (op, operand, expected) in [
        ("add", "add %i, 0:i32", 880),
        ("sub", "add %i, 0:i32", -680),
        ("min", "add %i, 0:i32", 0),
        ("max", "mul %i, 10:i32", 390),
        ("and", "or %i, 64:i32", 64),
        ("or", "shl 1:i32, 3:i32", 108),
        ("xor", "add 1:i32, 0:i32", 100),
        ("exchange", "add %i, 0:i32", 39),
        ("store", "add %i, 0:i32", 39),
    ] {
        gives(shared, 64, 1, &on(op, operand), &[expected]);
    }
    let tickets = "parallel %z: i32 < 1:i32 { store @s[0:i32] = 100:i32 } sync
        parallel %i: i32 < 40:i32 { %t: i32 = atomic add @s[0:i32], 1:i32 store @out[%i] = %t }";
    gives(shared, 64, 1, tickets, &(100..140).collect::<Vec<i32>>());
    let exchange = "parallel %z: i32 < 1:i32 { store @s[0:i32] = 0:i32 } sync
        parallel %i: i32 < 40:i32 { %t: i32 = atomic compare_exchange @s[0:i32], 0:i32, 7:i32 store @out[%i] = %t }";
    let expected: Vec<i32> = (0..40).map(|i| if i == 0 { 0 } else { 7 }).collect();
    gives(shared, 64, 1, exchange, &expected);
    let floats = "parallel %z: i32 < 1:i32 { store @s[0:i32] = 0.5:f32 } sync
        parallel %i: i32 < 8:i32 { atomic add @s[0:i32], 0.25:f32 } sync
        parallel %o: i32 < 1:i32 { %x: f32 = load @s[0:i32] %y: i32 = cast %x store @out[0:i32] = %y }";
    gives("memory @s: shared f32[1]", 64, 1, floats, &[2]);
    let unwritten = "parallel %i: i32 < 1:i32 { atomic add @s[0:i32], 1:i32 }";
    faults(shared, 64, 1, unwritten, FaultKind::Unwritten);
}

// Races.

#[test]
fn a_race_names_both_places() {
    let body = "// force at src/x.rs:12
      parallel %i: i32 < 64:i32 { store @s[%i] = %i }
      // sum at src/x.rs:14
      parallel %j: i32 < 64:i32 {
        %back: i32 = sub 63:i32, %j
        %x: i32 = load @s[%back]
        store @out[%j] = %x
      }";
    let fault = faults("memory @s: shared i32[64]", 64, 1, body, FaultKind::Race);
    assert_eq!(
        fault.to_string(),
        "kernel `k`, block 0, index 0: race: it reads `s` at index 63, which thread 63 writes, with no barrier \
         between in `%x.4: i32 = load @s[%back.3]` (sum at src/x.rs:14); the other is `store @s[%i.1] = %i.1` \
         (force at src/x.rs:12)"
    );
    let ordered = body.replace("// sum at", "sync\n// sum at");
    let expected: Vec<i32> = (0..64).rev().collect();
    gives("memory @s: shared i32[64]", 64, 1, &ordered, &expected);
}

#[test]
fn a_comment_holds_in_the_lists_inside() {
    let body = "// outer
      parallel %i: i32 < 2:i32 {
        %c: bool = lt %i, 5:i32
        if %c {
          // inner
          %x: i32 = add %i, 1:i32
        }
        store @out[1000:i32] = %i
      }";
    assert_eq!(faults("", 32, 1, body, FaultKind::OutOfBounds).place.as_deref(), Some("outer"));
}

#[test]
fn an_index_belongs_to_its_thread() {
    // 4 and 0 are the same thread, and that is in order; 5 and 0 are not.
    let body = |back: u32| {
        format!(
            "parallel %i: i32 < 8:i32 {{ %low: i32 = and %i, 3:i32 store @s[%low] = %i }}
             parallel %j: i32 < 4:i32 {{ %o: i32 = add %j, {back}:i32 %at: i32 = and %o, 3:i32
               %x: i32 = load @s[%at] store @out[%j] = %x }}"
        )
    };
    gives("memory @s: shared i32[4]", 4, 1, &body(0), &[4, 5, 6, 7]);
    faults("memory @s: shared i32[4]", 4, 1, &body(1), FaultKind::Race);
}

#[test]
fn atomic_and_plain_accesses_race() {
    let shared = "memory @s: shared i32[1]";
    let start = "parallel %z: i32 < 1:i32 { store @s[0:i32] = 0:i32 }";
    let add = "parallel %i: i32 < 40:i32 { atomic add @s[0:i32], 1:i32 }";
    let read = "parallel %o: i32 < 1:i32 { %x: i32 = load @s[0:i32] store @out[0:i32] = %x }";
    gives(shared, 64, 1, &format!("{start} sync {add} sync {read}"), &[40]);
    let fault = faults(shared, 64, 1, &format!("{start} {add} sync {read}"), FaultKind::Race);
    assert!(fault.reason.contains("it atomically changes") && fault.reason.contains("thread 0 writes"));
    let fault = faults(shared, 64, 1, &format!("{start} sync {add} {read}"), FaultKind::Race);
    assert!(fault.reason.contains("it reads") && fault.reason.contains("atomically changes"), "{fault}");
    // One after the other in one thread.
    let alone = "parallel %i: i32 < 1:i32 { store @s[0:i32] = 0:i32 atomic add @s[0:i32], 1:i32
        %x: i32 = load @s[0:i32] store @out[0:i32] = %x }";
    gives(shared, 64, 1, alone, &[1]);
    let loads = "parallel %i: i32 < 40:i32 { %x: i32 = atomic load @s[0:i32] store @out[%i] = %x }";
    gives(shared, 64, 1, &format!("{start} sync {loads}"), &[0; 40]);
    faults(shared, 64, 1, &format!("{start} {loads}"), FaultKind::Race);
}

#[test]
fn a_warps_barrier_orders_its_lanes_only() {
    let body = |barrier: &str, from: &str| {
        format!(
            "warps %w: i32 < 2:i32 {{
               %first: i32 = mul %w, 32:i32
               lanes %l: i32 < 32:i32 {{ %at: i32 = add %first, %l store @s[%at] = %at }}
               {barrier}
               lanes %m: i32 < 32:i32 {{
                 %to: i32 = add %first, %m %other: i32 = xor %to, {from}:i32
                 %x: i32 = load @s[%other] store @out[%to] = %x
               }}
             }}"
        )
    };
    let shared = "memory @s: shared i32[64]";
    gives(shared, 64, 1, &body("sync warp", "1"), &(0..64).map(|i| i ^ 1).collect::<Vec<i32>>());
    let fault = faults(shared, 64, 1, &body("", "1"), FaultKind::Race);
    assert_eq!((fault.warp, fault.index), (Some(0), Some(0)));
    // The first warp reads what is not written yet; the other way round it is the second one's race.
    faults(shared, 64, 1, &body("sync warp", "32"), FaultKind::Unwritten);
    let back = "warps %w: i32 < 2:i32 {
        %first: i32 = mul %w, 32:i32
        lanes %l: i32 < 32:i32 { %at: i32 = add %first, %l store @s[%at] = %at }
        sync warp
        lanes %m: i32 < 32:i32 { %x: i32 = load @s[%m] store @s[%m] = %x }
      }";
    let fault = faults(shared, 64, 1, back, FaultKind::Race);
    assert_eq!((fault.warp, fault.index), (Some(1), Some(0)));
    // What lanes have read can be overwritten after the warp's barrier.
    let again = "warps %w: i32 < 2:i32 {
        %first: i32 = mul %w, 32:i32
        for %k: i32 in 0:i32..3:i32 step 1:i32 {
          lanes %l: i32 < 32:i32 { %at: i32 = add %first, %l store @s[%at] = %k }
          sync warp
          lanes %m: i32 < 32:i32 { %x: i32 = load @s[%first] %to: i32 = add %first, %m store @out[%to] = %x }
          sync warp
        }
      }";
    gives(shared, 64, 1, again, &[2; 64]);
    let scattered = "warps %w: i32 < 2:i32 { %x: i32 = load @s[%w] sync warp lanes %l: i32 < 1:i32 { store @s[%w] = %x } }";
    let start = "parallel %i: i32 < 2:i32 { store @s[%i] = %i } sync";
    gives(shared, 64, 1, &format!("{start} {scattered}"), &[]);
    faults(shared, 64, 1, &format!("{start} {}", scattered.replace("sync warp", "")), FaultKind::Race);
}

#[test]
fn blocks_that_scatter_to_one_place_race() {
    let body = "// scatter at src/y.rs:3
      parallel %i: i32 < 4:i32 { %at: i32 = mul %b, 3:i32 %to: i32 = add %at, %i store @out[%to] = %i }";
    let fault = faults("", 4, 2, body, FaultKind::Race);
    assert_eq!((fault.block, fault.index), (Some(1), Some(0)));
    assert!(fault.reason.contains("which block 0 writes"), "{fault}");
    assert_eq!(fault.place, fault.other.and_then(|other| other.place));
    let body = "parallel %i: i32 < 1:i32 { %first: bool = eq %b, 0:i32
        if %first { store @out[0:i32] = 1:i32 } else { %x: i32 = load @out[0:i32] } }";
    faults("", 4, 3, body, FaultKind::Race);
}

#[test]
fn a_halo_that_reaches_too_far_is_found() {
    let body = "// stencil at src/z.rs:9
      parallel %i: i32 < 256:i32 { %right: i32 = add %i, 1:i32 %x: i32 = load @xs[%right] }";
    let fault = faults("", 64, 1, body, FaultKind::OutOfBounds);
    assert_eq!((fault.index, fault.place.as_deref()), (Some(255), Some("stencil at src/z.rs:9")));
    assert_eq!(fault.reason, "index 256 of `xs`, which has 256 elements");
}

/// Every block adds 1 to what the one before it left, and says when it is done. The first element of `@out` is the
/// flag of block 0, which writes the second one.
fn chain(write: &str, wait: &str) -> String {
    format!(
        "%first: bool = eq %b, 0:i32
         %flag: i32 = mul %b, 2:i32
         %value: i32 = add %flag, 1:i32
         parallel %i: i32 < 1:i32 {{
           %x: i32 = if %first {{ yield 10:i32 }} else {{
             %before: i32 = sub %flag, 2:i32
             {wait}
             %at: i32 = sub %flag, 1:i32
             %y: i32 = load @out[%at]
             %z: i32 = add %y, 1:i32
             yield %z
           }}
           {write}
         }}"
    )
}

const WAIT: &str = "while { %f: i32 = atomic load @out[%before] %go: bool = ne %f, 1:i32 } test %go { }";
const WRITE: &str = "store @out[%value] = %x fence grid atomic store @out[%flag], 1:i32";

#[test]
fn a_flag_orders_blocks() {
    gives("", 4, 3, &chain(WRITE, WAIT), &[1, 10, 1, 11, 1, 12]);
    let fault = faults("", 4, 3, &chain(WRITE, ""), FaultKind::Race);
    assert!(fault.reason.contains("nothing between that orders the two blocks"), "{fault}");
    // The flag before the value.
    let early = "atomic store @out[%flag], 1:i32 store @out[%value] = %x";
    faults("", 4, 3, &chain(early, WAIT), FaultKind::Race);
    // A flag that is not atomic.
    let plain = "store @out[%value] = %x store @out[%flag] = 1:i32";
    let fault = faults("", 4, 3, &chain(plain, WAIT), FaultKind::Race);
    assert!(fault.reason.contains("it atomically reads"), "{fault}");
}

#[test]
fn a_flag_is_for_what_its_thread_knows() {
    // All threads write, one of them says so.
    let body = |before: &str| {
        format!(
            "%first: bool = eq %b, 0:i32
             if %first {{
               parallel %i: i32 < 8:i32 {{ %at: i32 = add %i, 1:i32 store @out[%at] = %i }}
               {before}
               parallel %f: i32 < 1:i32 {{ fence grid atomic store @out[0:i32], 1:i32 }}
             }} else {{
               parallel %w: i32 < 1:i32 {{
                 while {{ %f2: i32 = atomic load @out[0:i32] %go: bool = ne %f2, 1:i32 }} test %go {{ }}
               }}
               sync
               parallel %j: i32 < 8:i32 {{
                 %from: i32 = add %j, 1:i32 %to: i32 = add %j, 9:i32
                 %x: i32 = load @out[%from] store @out[%to] = %x
               }}
             }}"
        )
    };
    gives("", 8, 2, &body("sync"), &[1, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7]);
    let fault = faults("", 8, 2, &body(""), FaultKind::Race);
    // Thread 0 wrote the first one itself.
    assert_eq!(fault.index, Some(1), "{fault}");
    // Within a warp, its barrier does.
    let warp = |before: &str| {
        body("")
            .replace(
                "parallel %f: i32 < 1:i32 { fence",
                &format!("warps %z: i32 < 1:i32 {{ {before} lanes %f: i32 < 1:i32 {{ fence"),
            )
            .replace("1:i32 }\n             } else", "1:i32 } }\n             } else")
    };
    let expected = [1, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7];
    gives("", 32, 2, &warp("sync warp"), &expected);
    faults("", 32, 2, &warp(""), FaultKind::Race);
}

#[test]
fn every_thread_may_have_a_flag_of_its_own() {
    let body = "%first: bool = eq %b, 0:i32
        parallel %i: i32 < 8:i32 {
          %value: i32 = add %i, 8:i32
          if %first {
            store @out[%value] = %i
            atomic store @out[%i], 1:i32
          } else {
            while { %f: i32 = atomic load @out[%i] %go: bool = ne %f, 1:i32 } test %go { }
            %x: i32 = load @out[%value]
          }
        }";
    gives("", 8, 2, body, &[1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn statements_can_be_nested_deeply() {
    let mut body = "store @out[%i] = %i".to_owned();
    for depth in 0..pumice_scalar::MAX_NESTING - 2 {
        body = match depth % 3 {
            0 => format!("for %k{depth}: i32 in %i..32:i32 step 32:i32 {{ {body} }}"),
            1 => format!("if true {{ {body} }}"),
            _ => format!("while carry %z{depth}: bool = true {{ }} test %z{depth} {{ {body} next false }}"),
        };
    }
    let body = format!("parallel %i: i32 < 32:i32 {{ {body} }}");
    gives("", 32, 1, &body, &(0..32).collect::<Vec<i32>>());
}

#[test]
fn order_passes_from_block_to_block() {
    // Block 2 waits for block 1 only, which waited for block 0, and reads what that one wrote.
    let body = chain(WRITE, WAIT).replace("sub %flag, 1:i32", "add 0:i32, 1:i32");
    gives("", 4, 3, &body, &[1, 10, 1, 11, 1, 11]);
}

/// Every block writes an element and counts, in `@out[0]`; the last one to count adds up what all wrote.
fn last_block(before: &str, after: &str) -> String {
    format!(
        "parallel %z: i32 < 1:i32 {{
           %first: bool = eq %b, 0:i32
           if %first {{ atomic store @out[0:i32], 0:i32 }}
           %at: i32 = add %b, 2:i32
           // write at src/part.rs:1
           store @out[%at] = %b
           // count at src/part.rs:2
           {before}
           %t: i32 = atomic add @out[0:i32], 1:i32
           %last: bool = eq %t, 3:i32
           if %last {{
             {after}
             // read at src/part.rs:3
             for %k: i32 in 2:i32..6:i32 step 1:i32 carry %sum: i32 = 0:i32 {{
               %x: i32 = load @out[%k] %s: i32 = add %sum, %x next %s }}
             store @out[1:i32] = %sum
           }}
         }}"
    )
}

#[test]
fn the_last_block_reads_what_all_wrote() {
    let fence = "fence grid";
    gives("", 4, 4, &last_block(fence, fence), &[4, 6, 0, 1, 2, 3]);
    for (before, after) in
        [(fence, ""), (fence, "fence block"), ("", fence), ("fence block", fence), ("", "")]
    {
        let fault = faults("", 4, 4, &last_block(before, after), FaultKind::Race);
        let other = fault.other.clone().and_then(|other| other.place);
        let places = (fault.place.as_deref(), other.as_deref());
        assert_eq!(places, (Some("read at src/part.rs:3"), Some("write at src/part.rs:1")), "{fault}");
        assert!(fault.reason.contains("nothing between that orders the two blocks"), "{fault}");
    }
    // A fence that is too early.
    let early = last_block("", fence).replace("%at: i32", "fence grid %at: i32");
    faults("", 4, 4, &early, FaultKind::Race);
    // Who has counted last may write the count.
    let again = last_block(fence, fence).replace("store @out[1:i32] = %sum", "store @out[0:i32] = %sum");
    gives("", 4, 4, &again, &[6, -1, 0, 1, 2, 3]);
}

#[test]
fn fences_are_for_what_their_threads_know() {
    // All threads write, one of them counts, all read.
    let body = |written: &str, counted: &str, told: &str| {
        format!(
            "%from: i32 = mul %b, 4:i32 %last: bool = eq %b, 2:i32 %first: bool = eq %b, 0:i32
             parallel %z: i32 < 1:i32 {{ if %first {{ atomic store @out[0:i32], 0:i32 }} }}
             parallel %i: i32 < 4:i32 {{
               %own: i32 = add %i, 1:i32 %at: i32 = add %from, %own
               store @out[%at] = %i
               {written}
             }}
             sync
             parallel %c: i32 < 1:i32 {{ {counted} }}
             sync
             parallel %j: i32 < 4:i32 {{
               {told}
               if %last {{ %back: i32 = sub 4:i32, %j %x: i32 = load @out[%back] }}
             }}"
        )
    };
    let expected = [3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3];
    let (fence, count) = ("fence grid", "%t: i32 = atomic add @out[0:i32], 1:i32");
    let both = format!("{fence} {count} {fence}");
    // With barriers between, those of one thread are for all of the block, and those of all for the one.
    gives("", 4, 3, &body("", &both, ""), &expected);
    gives("", 4, 3, &body(fence, count, fence), &expected);
    faults("", 4, 3, &body("", count, fence), FaultKind::Race);
    faults("", 4, 3, &body(fence, count, ""), FaultKind::Race);
    // Without, they are not: thread 3 wrote what is read first, and thread 0 counted.
    let fault = faults("", 4, 3, &body(fence, count, fence).replacen("sync", "", 1), FaultKind::Race);
    assert_eq!(fault.index, Some(0), "{fault}");
    faults("", 4, 3, &body("", &both, "").replacen("sync", "", 1), FaultKind::Race);
}

#[test]
fn fences_of_lanes_are_for_their_warp() {
    let body = |before: &str, after: &str| {
        format!(
            "%first: bool = eq %b, 0:i32
             warps %w: i32 < 1:i32 {{
               lanes %i: i32 < 8:i32 {{
                 %starts: bool = eq %i, 0:i32 %both: bool = and %starts, %first
                 if %both {{ atomic store @out[0:i32], 0:i32 }}
                 %at: i32 = add %i, 1:i32
                 if %first {{ store @out[%at] = %i }}
                 fence grid
               }}
               {before}
               lanes %c: i32 < 1:i32 {{ %t: i32 = atomic add @out[0:i32], 1:i32 }}
               {after}
               lanes %j: i32 < 8:i32 {{
                 %reads: bool = eq %j, 7:i32
                 if %reads {{
                   fence grid
                   if %first {{ }} else {{ %back: i32 = sub 8:i32, %j %x: i32 = load @out[%back] }}
                 }}
               }}
             }}"
        )
    };
    gives("", 32, 2, &body("sync warp", "sync warp"), &[2, 0, 1, 2, 3, 4, 5, 6, 7]);
    // Lane 0 counts: of the others' fences it knows nothing, nor do they know what it read.
    let late = body("", "sync warp").replace("sub 8:i32, %j", "sub 9:i32, %j");
    faults("", 32, 2, &late, FaultKind::Race);
    faults("", 32, 2, &body("sync warp", ""), FaultKind::Race);
}

#[test]
fn changes_at_once_pass_on_what_was_released() {
    // Block 1 changes the flag without knowing anything; block 2 acquires what block 0 released.
    let body = |release: &str, last: &str| {
        format!(
            "parallel %z: i32 < 1:i32 {{
               %first: bool = eq %b, 0:i32 %last: bool = eq %b, 2:i32
               if %first {{ atomic store @out[0:i32], 0:i32 store @out[1:i32] = 5:i32 {release} }}
               else {{ if %last {{ {last} %x: i32 = load @out[1:i32] }}
               else {{ %t: i32 = atomic add @out[0:i32], 1:i32 }} }}
             }}"
        )
    };
    let load = "%f: i32 = atomic load @out[0:i32]";
    let change = "%f: i32 = atomic compare_exchange @out[0:i32], 9:i32, 9:i32 fence grid";
    for release in ["atomic store @out[0:i32], 1:i32", "fence grid atomic exchange @out[0:i32], 1:i32"] {
        gives("", 1, 3, &body(release, load), &[2, 5]);
        gives("", 1, 3, &body(release, change), &[2, 5]);
        // Who only stores does not pass anything on.
        let replaced = body(release, load).replace("%t: i32 = atomic add", "atomic store");
        faults("", 1, 3, &replaced, FaultKind::Race);
    }
    faults("", 1, 3, &body("atomic exchange @out[0:i32], 1:i32", load), FaultKind::Race);
    // Relaxed loads and stores order nothing by themselves, and with fences as the others do.
    let relaxed = "%f: i32 = atomic load_relaxed @out[0:i32]";
    let store = "atomic store_relaxed @out[0:i32], 1:i32";
    gives("", 1, 3, &body(&format!("fence grid {store}"), &format!("{relaxed} fence grid")), &[2, 5]);
    faults("", 1, 3, &body(&format!("fence grid {store}"), relaxed), FaultKind::Race);
    faults("", 1, 3, &body(store, &format!("{relaxed} fence grid")), FaultKind::Race);
    let replaced = body("fence grid atomic exchange @out[0:i32], 1:i32", load);
    faults("", 1, 3, &replaced.replace("%t: i32 = atomic add", "atomic store_relaxed"), FaultKind::Race);
    // Who has seen the flag may write it.
    let taken =
        body("fence grid atomic exchange @out[0:i32], 1:i32", &format!("{load} store @out[0:i32] = 8:i32"));
    gives("", 1, 3, &taken.replace("%t: i32 = atomic add @out[0:i32], 1:i32", ""), &[8, 5]);
}

#[test]
fn a_lock_orders_blocks() {
    let body = |taken: &str, given: &str| {
        format!(
            "parallel %z: i32 < 1:i32 {{
               %first: bool = eq %b, 0:i32
               if %first {{ store @out[1:i32] = 0:i32 atomic store @out[0:i32], 0:i32 }}
               while {{ %was: i32 = atomic compare_exchange @out[0:i32], 0:i32, 1:i32 %go: bool = ne %was, 0:i32 }}
               test %go {{ }}
               {taken}
               %x: i32 = load @out[1:i32] %more: i32 = add %x, 1:i32 store @out[1:i32] = %more
               {given}
             }}"
        )
    };
    let (fence, give) = ("fence grid", "atomic exchange @out[0:i32], 0:i32");
    gives("", 1, 4, &body(fence, &format!("{fence} {give}")), &[0, 4]);
    gives("", 1, 4, &body(fence, "atomic store @out[0:i32], 0:i32"), &[0, 4]);
    faults("", 1, 4, &body(fence, give), FaultKind::Race);
    faults("", 1, 4, &body("", &format!("{fence} {give}")), FaultKind::Race);
}

#[test]
fn a_lock_orders_threads_of_a_block() {
    // The thread that gets the lock does its work and releases it in the same round: lanes of a warp advance together.
    let body = |taken: &str, given: &str| {
        format!(
            "parallel %z: i32 < 1:i32 {{ store @out[1:i32] = 0:i32 atomic store @out[0:i32], 0:i32 }}
             sync
             parallel %i: i32 < 40:i32 {{
               while carry %waits: bool = true {{ }} test %waits {{
                 %was: i32 = atomic compare_exchange @out[0:i32], 0:i32, 1:i32
                 %free: bool = eq %was, 0:i32
                 %again: bool = if %free {{
                   {taken}
                   %x: i32 = load @out[1:i32] %more: i32 = add %x, 1:i32 store @out[1:i32] = %more
                   {given}
                   yield false
                 }} else {{
                   yield true
                 }}
                 next %again
               }}
             }}"
        )
    };
    let (fence, give) = ("fence grid", "atomic exchange @out[0:i32], 0:i32");
    gives("", 64, 1, &body(fence, &format!("{fence} {give}")), &[0, 40]);
    gives("", 64, 1, &body(fence, "atomic store @out[0:i32], 0:i32"), &[0, 40]);
    faults("", 64, 1, &body(fence, give), FaultKind::Race);
    faults("", 64, 1, &body("", &format!("{fence} {give}")), FaultKind::Race);
    // A thread that does not ask for the lock is not ordered by it.
    let beside = format!(
        "{} parallel %k: i32 < 64:i32 {{ %last: bool = eq %k, 63:i32 if %last {{ store @out[1:i32] = 7:i32 }} }}",
        body(fence, &format!("{fence} {give}"))
    );
    let fault = faults("", 64, 1, &beside, FaultKind::Race);
    assert!(fault.to_string().contains("index 63"), "{fault}");
}

#[test]
fn waiting_for_a_later_block_does_not_end() {
    let body = "parallel %i: i32 < 1:i32 { atomic store @out[0:i32], 0:i32
        while { %f: i32 = atomic load @out[0:i32] %go: bool = eq %f, 0:i32 } test %go { } }";
    let program = kernel("", 1, 1, body);
    let options = Options { steps: 10_000, ..Options::default() };
    let mut memories = [SimMemory::unwritten(0), SimMemory::unwritten(4)];
    assert_eq!(simulate(&program, &mut memories, &[], &options).unwrap_err().kind, FaultKind::Runaway);
}
