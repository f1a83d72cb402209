//! Tests of the verifier: programs that it accepts and refuses, and its messages.

use pumice_scalar::MAX_NESTING;

use super::*;
use crate::ir::{Failure, MemoryId, Operand, Param};
use crate::parse::parse;

/// A program with these statements, in a block and in a thread of it.
fn text(block: &str, thread: &str) -> String {
    format!(
        "kernel k memory @r: global read f32 memory @w: global write f32 memory @s: shared f32[8]
         params @r, @w, %n: i64, %a: f32 threads 8 blocks %block: i64 < 1:i64
         body {{ {block} parallel %i: i64 < 8:i64 {{ {thread} }} }}"
    )
}

fn reason(text: &str) -> Option<String> {
    let program = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    verify(program).err().map(|error| error.reason)
}

#[track_caller]
fn refused(block: &str, thread: &str, expected: &str) {
    let reason = reason(&text(block, thread)).expect("should be refused");
    assert!(reason.contains(expected), "{reason}");
}

#[track_caller]
fn accepted(block: &str, thread: &str) {
    assert_eq!(reason(&text(block, thread)), None);
}

#[test]
fn uses_follow_definitions() {
    refused("%x: f32 = add %y, %a %y: f32 = add %a, %a", "", "%y.4 is not defined at this place");
    refused("%c: bool = lt %n, %n if %c { %x: i64 = add %n, %n } %y: i64 = add %x, %n", "", "not defined");
    refused("%x: f32 = add %a, %a %x: f32 = add %a, %a", "", "defined twice");
    refused("", "%block: i64 = add %n, %n", "defined twice");
    refused("for %k: i64 in 0:i64..%n step 1:i64 { } %x: i64 = add %k, 1:i64", "", "not defined");
    accepted(
        "for %k: i64 in 0:i64..%n step 1:i64 carry %z: i64 = 0:i64 { next %k } %x: i64 = add %z, 1:i64",
        "",
    );
    accepted("while { %c: bool = lt %n, 0:i64 } test %c { %d: bool = not %c }", "");
    refused("while { %c: bool = lt %n, 0:i64 } test %c { } %d: bool = not %c", "", "not defined");
    refused("%x: i64 = if true { yield 1:i64 } else { %y: i64 = add %x, 1:i64 yield %y }", "", "not defined");
}

#[test]
fn types_agree() {
    refused("%x: f32 = add %a, %n", "", "`add` does not make f32 from (f32, i64)");
    refused("%x: f32 = add %a", "", "`add` does not make f32 from (f32)");
    refused(
        "%x: i64 = if true { yield 1:i64 } else { yield %a }",
        "",
        "a branch's value is f32 and should be i64",
    );
    refused("if %a { }", "", "the condition is f32 and should be bool");
    refused("while carry %z: i64 = %a { } test false { next %z }", "", "a first value is f32");
    refused("while carry %z: i64 = %n { } test false { next %a }", "", "a next value is f32");
    refused("for %k: i64 in 0:i32..%n step 1:i64 { }", "", "one integer type");
    refused("for %k: i64 in 0:i64..%n step 0:i64 { }", "", "not positive");
    refused("", "store @w[%i] = %n", "a stored value is i64 and should be f32");
    refused("", "%x: i64 = load @r[%i]", "the memory holds f32, and the variable is i64");
    refused("", "%x: f32 = load @r[%a]", "the index is f32, not an integer");
    refused("parallel %j: i64 < 8:i32 { }", "", "one integer type");
    accepted("", "%j: u32 = cast %i %x: f32 = load @r[%j]");
}

#[test]
fn memory_is_used_as_declared() {
    refused("", "store @r[%i] = %a", "can only be read");
    refused("", "%x: f32 = load @w[%i]", "can only be written");
    refused("", "%x: f32, %y: f32, %z: f32 = load @r[%i]", "1, 2 or 4");
    accepted("%x: f32 = load @r[0:i64]", "%p: f32, %q: f32 = load @r[%i] store @s[%i] = %p, %q, %q, %p");
}

#[test]
fn statements_stand_where_they_may() {
    let store = text("store @w[0:i64] = %a", "");
    assert_eq!(reason(&store).as_deref(), Some("a store outside `parallel`"));
    refused("", "sync", "`sync` inside `parallel`");
    refused("", "parallel %j: i64 < 2:i64 { }", "`parallel` inside `parallel`");
    refused("fail 0 unless true, index 0:i64, bound 0:i64", "", "a `fail` outside `parallel`");
    accepted("for %k: i64 in 0:i64..%n step 1:i64 { sync }", "if true { store @w[%i] = %a }");
    let prologue = text("", "").replace("threads 8", "threads 8 prologue { sync }");
    assert_eq!(reason(&prologue).as_deref(), Some("only lets can stand in the prologue"));
}

/// A program with these statements, in a block, in a warp of it and in a lane of that.
fn warp_text(block: &str, warp: &str, lane: &str) -> String {
    format!(
        "kernel k memory @r: global read i64 memory @w: global readwrite i64 memory @s: shared i64[64]
         memory @p: private i64[2] memory @f: shared f32[1] memory @o: global write i64
         params @r, @w, @o, %n: i64 threads 64
         blocks %block: i64 < 1:i64
         body {{ %small: bool = lt %n, 9:i64 {block}
           warps %warp: i64 < 2:i64 {{ {warp} lanes %lane: i32 < 32:i32 {{ {lane} }} }} }}"
    )
}

#[track_caller]
fn warp_refused(block: &str, warp: &str, lane: &str, expected: &str) {
    let reason = reason(&warp_text(block, warp, lane)).expect("should be refused");
    assert!(reason.contains(expected), "{reason}");
}

#[track_caller]
fn warp_accepted(block: &str, warp: &str, lane: &str) {
    assert_eq!(reason(&warp_text(block, warp, lane)), None);
}

#[test]
fn loops_over_warps_and_lanes_nest() {
    warp_accepted("parallel %i: i64 < 8:i64 { }", "if %small { lanes %l: i64 < 8:i64 { } }", "");
    warp_refused("lanes %l: i64 < 8:i64 { }", "", "", "`lanes` outside `warps`");
    warp_refused("", "warps %v: i64 < 8:i64 { }", "", "`parallel` inside `parallel`");
    warp_refused("", "parallel %i: i64 < 8:i64 { }", "", "`parallel` inside `parallel`");
    warp_refused("", "", "lanes %l: i64 < 8:i64 { }", "`parallel` inside `parallel`");
    warp_refused("parallel %i: i64 < 8:i64 { lanes %l: i64 < 8:i64 { } }", "", "", "inside `parallel`");
    let uneven = warp_text("", "", "").replace("threads 64", "threads 48");
    assert_eq!(reason(&uneven).as_deref(), Some("a block of 48 threads has no whole number of warps"));
}

#[test]
fn threads_act_where_there_are_threads() {
    for (statement, what) in [
        ("store @s[0:i64] = %n", "a store outside"),
        ("fence block", "a `fence` outside"),
        ("atomic add @s[0:i64], %n", "an `atomic` outside"),
        ("%v: i64 = shuffle %n, 0:i32", "`shuffle` outside"),
        ("%v: bool = any %small", "`any` outside"),
        ("%v: i64 = load @p[0:i64]", "private memory `p` outside"),
    ] {
        warp_refused(statement, "", "", what);
        warp_refused("", statement, "", what);
        warp_accepted("", "", statement);
        warp_accepted(&format!("parallel %i: i64 < 8:i64 {{ {statement} }}"), "", "");
    }
    warp_accepted("", "%v: i64 = load @s[0:i64]", "");
}

#[test]
fn atomics_fit_their_memory() {
    let refused = |statement: &str, expected: &str| warp_refused("", "", statement, expected);
    refused("atomic add @p[0:i64], %n", "private memory");
    refused("atomic add @r[0:i64], %n", "can only be read");
    refused("atomic add @o[0:i64], %n", "can only be written");
    refused("%x: i64 = atomic load @o[0:i64]", "can only be written");
    refused("atomic store @r[0:i64], %n", "can only be read");
    refused("atomic add @s[0:i64], 1:i32", "a value is i32 and should be i64");
    refused("%x: i32 = atomic add @s[0:i64], %n", "the memory holds i64");
    refused("atomic add @s[0:i64], %n, %n", "takes 1 values");
    refused("atomic compare_exchange @s[0:i64], %n", "takes 2 values");
    refused("atomic sub @f[0:i64], 1.0:f32", "`atomic sub` does not work on f32");
    refused("atomic load @s[0:i64]", "without a variable");
    refused("%x: i64 = atomic store @s[0:i64], %n", "gives nothing");
    refused("atomic add @s[1.0:f32], %n", "the index is f32");
    for statement in [
        "atomic add @f[0:i32], 1.0:f32",
        "atomic min @f[0:i32], 1.0:f32",
        "%x: f32 = atomic compare_exchange @f[0:i32], 1.0:f32, 2.0:f32",
        "%x: i64 = atomic load @r[%n]",
        "atomic store @o[%n], %n",
        "%x: i64 = atomic compare_exchange @w[%n], 0:i64, %n",
        "atomic xor @s[%lane], %n",
    ] {
        warp_accepted("", "", statement);
    }
}

#[test]
fn collectives_fit_their_operands() {
    let refused = |statement: &str| warp_refused("", "", statement, "does not make");
    refused("%x: i64 = shuffle %n");
    refused("%x: i64 = shuffle %n, %n");
    refused("%x: i32 = shuffle_up %n, 1:i32");
    refused("%x: bool = all %n");
    refused("%x: u32 = any %small");
    refused("%x: bool = ballot %small");
    for statement in [
        "%x: i64 = shuffle_xor %n, %lane",
        "%x: bool = shuffle_down %small, 1:i32",
        "%x: bool = all %small",
        "%x: u32 = ballot %small",
    ] {
        warp_accepted("", "", statement);
    }
}

#[test]
fn all_lanes_of_a_warp_get_to_what_they_do_together() {
    let lane = |text: &str| text.replace("HERE", "%got: i64 = shuffle %n, 0:i32");
    // What is around it is the same for the whole block.
    for around in [
        "if %small { HERE } else { }",
        "%x: i64 = load @r[%block] %c: bool = lt %x, %n if %c { HERE }",
        "for %k: i64 in 0:i64..%n step 1:i64 { HERE }",
        "while carry %k: i64 = 0:i64 { %c: bool = lt %k, %n } test %c { HERE %m: i64 = add %k, 1:i64 next %m }",
    ] {
        warp_accepted("", &around.replace("HERE", "sync warp"), "");
        warp_accepted("", "", &lane(around));
        warp_accepted(&format!("parallel %i: i64 < %n {{ {} }}", lane(around)), "", "");
        warp_accepted(
            "",
            &lane(around).replace("%got", "lanes %l: i64 < %n { %got").replace("0:i32", "0:i32 }"),
            "",
        );
    }
    // It is the same for a warp, others of which may do something else.
    for around in [
        "%c: bool = lt %warp, 1:i64 if %c { HERE }",
        "%c: bool = lt %warp, 1:i64 if %c { } else { if %small { HERE } }",
        "%x: i64 = load @r[%warp] for %k: i64 in 0:i64..%x step 1:i64 { HERE }",
        "for %k: i64 in %warp..%n step 1:i64 { HERE }",
        "while carry %k: i64 = %warp { %c: bool = lt %k, %n } test %c { HERE %m: i64 = add %k, 1:i64 next %m }",
        "while carry %k: i64 = %warp { HERE %c: bool = lt %k, %n } test %c { %m: i64 = add %k, 1:i64 next %m }",
    ] {
        warp_accepted("", &around.replace("HERE", "sync warp"), "");
        warp_accepted("", "", &lane(around));
    }
    let own = "%x: i64 = load @r[%i] %odd: bool = lt %x, %n";
    for around in [
        "%all: bool = all %odd if %all { HERE }",
        "%bits: u32 = ballot %odd while carry %left: u32 = %bits { %c: bool = ne %left, 0:u32 }
         test %c { HERE %m: u32 = shr %left, 1:u32 next %m }",
        "%of_first: i64 = shuffle %x, 0:i32 for %k: i64 in 0:i64..%of_first step 1:i64 { HERE }",
    ] {
        warp_accepted(&lane(&format!("parallel %i: i64 < 9:i64 {{ {own} {around} }}")), "", "");
    }
    // It may differ from lane to lane.
    for (around, what) in [
        ("%c: bool = lt %lane, 1:i32 if %c { HERE }", "`if` %c"),
        ("for %k: i32 in 0:i32..%lane step 1:i32 { HERE }", "`for` with the bound %lane"),
        (
            "%of_other: i32 = shuffle %lane, %lane while { %c: bool = lt %of_other, 1:i32 } test %c { HERE }",
            "`while` with the condition %c",
        ),
    ] {
        warp_refused("", "", &lane(around), &format!("`shuffle` inside {what}"));
        warp_refused(
            "",
            "",
            &lane(around),
            "from thread to thread: all lanes of a warp must get there, or none",
        );
    }
    warp_refused(
        &lane("parallel %i: i64 < 8:i64 { %c: bool = lt %i, 1:i64 if %c { HERE } }"),
        "",
        "",
        "`shuffle` inside `if` %c",
    );
    // The number of lanes must not differ even from warp to warp; where nothing is done together it may.
    let lanes = "lanes %l: i64 < %warp { HERE }";
    warp_refused("", &lane(lanes), "", "`shuffle` inside a parallel loop with the extent %warp");
    warp_refused("", &lane(lanes), "", "from warp to warp: every warp must get there");
    warp_accepted("", lanes.replace("HERE", "store @s[%l] = %l").as_str(), "");
}

#[test]
fn barriers_of_warps_stand_in_loops_over_warps() {
    warp_accepted("sync", "sync warp", "");
    warp_refused("sync warp", "", "", "`sync warp` outside `warps`");
    warp_refused("", "sync", "", "`sync` inside `parallel`");
    warp_refused("", "", "sync warp", "`sync` inside `parallel`");
    warp_refused("", "", "sync", "`sync` inside `parallel`");
}

#[test]
fn the_simulator_finds_misplaced_barriers_itself() {
    for (warp, lane) in
        [("", "%c: bool = lt %lane, 1:i32 if %c { %got: i64 = shuffle %n, 0:i32 }"), ("", "sync")]
    {
        let program = parse(&warp_text("", warp, lane)).unwrap();
        assert!(check(&program).is_err());
        assert_eq!(check_but_barriers(&program), Ok(()));
    }
}

#[test]
fn failures_have_a_place() {
    refused("", "fail 0 unless true, index %i, bound %n", "nowhere to record it");
    let mut program = parse(&text("", "")).unwrap();
    program.failure = Some(Failure { memory: MemoryId(1), base: Var(0) });
    assert!(check(&program).unwrap_err().reason.contains("no `fail`"));
    let with = "kernel k memory @f: global readwrite i64 params @f, %n: i64, %m: i32 failure @f + %n threads 1
        blocks %block: i64 < 1:i64 body { parallel %i: i64 < 1:i64 { fail 0 unless true, index %i, bound %n } }";
    assert_eq!(reason(with), None);
    assert!(reason(&with.replace("@f + %n", "@f + %m")).unwrap().contains("base"));
    assert!(reason(&with.replace("readwrite i64", "readwrite i32")).unwrap().contains("not i64"));
    assert!(reason(&with.replace("fail 0 unless", "%x: i64 = load @f[0:i64] fail 0 unless")).is_some());
    assert!(reason(&with.replace("index %i", "index %m")).unwrap().contains("the index is i32"));
}

#[test]
fn parameters_and_names_are_checked() {
    let change = |change: fn(&mut Program)| {
        let mut program = parse(&text("", "")).unwrap();
        change(&mut program);
        check(&program).unwrap_err().reason
    };
    assert!(change(|program| program.params.truncate(1)).contains("`w` is not a parameter"));
    assert!(change(|program| program.params[1] = Param::Memory(MemoryId(0))).contains("twice"));
    assert!(change(|program| program.params[1] = Param::Memory(MemoryId(2))).contains("shared memory `s`"));
    assert!(
        change(|program| program.params[1] = Param::Memory(MemoryId(9))).contains("no memory with number 9")
    );
    assert!(change(|program| program.memories[1].name = "r".into()).contains("two memories are called `r`"));
    assert!(change(|program| program.name = "1".into()).contains("\"1\""));
    assert!(change(|program| program.vars[0].name = "a b".into()).contains("\"a b\""));
    assert!(change(|program| program.threads = 0).contains("no threads"));
    assert!(change(|program| program.blocks = Operand::Constant(1u32.into())).contains("number of blocks"));
    assert!(change(|program| program.blocks = Operand::Var(Var(99))).contains("no variable with number 99"));
    assert!(change(|program| program.block = Var(99)).contains("no variable with number 99"));
}

#[test]
fn errors_show_the_statement() {
    let error = check(&parse(&text("%x: f32 = add %a, %n", "")).unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "kernel `k` is not well formed: `add` does not make f32 from (f32, i64) in `%x.3: f32 = add %a.1, %n.0`"
    );
}

#[test]
fn nesting_is_bounded() {
    let mut list = Vec::new();
    for _ in 0..MAX_NESTING + 2 {
        let condition = Operand::Constant(true.into());
        list = vec![Stmt::If { condition, then: list, otherwise: Vec::new(), results: Vec::new() }];
    }
    let mut program = parse(&text("", "")).unwrap();
    program.body = list;
    assert!(check(&program).unwrap_err().reason.contains("nested"));
}
