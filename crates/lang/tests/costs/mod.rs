//! Costs of programs by the rules of `docs/semantics-of-pum.md`. Numbers are computed by hand: a rule whose cost is wrong fails a test here.

use pumice_lang::meaning::{CostLevel, MeaningCosts, MeaningOptions, evaluate};
use pumice_lang::program::Program;
use pumice_lang::types::check;

/// Returns the costs of an expression, with blocks of 32 threads, or the error.
fn evaluated(program: &str, expression: &str, most_steps: u64) -> Result<MeaningCosts, String> {
    let text = format!("{program}\nfun it = {expression}\n");
    let none = |name: &str| Err(format!("there is no `{name}`"));
    let program = Program::load("test.pum", &text, &none).map_err(|(_, errors)| format!("{errors:?}"))?;
    let checked = check(&program).map_err(|errors| errors[0].render(&program.sources, false))?;
    let entry = checked.entry("it").ok_or("no `it`")?;
    let options = MeaningOptions { block_size: 32, most_steps };
    let evaluated = evaluate(&program, &checked, entry, &[], options);
    evaluated.map(|evaluated| evaluated.costs).map_err(|error| error.render(&program.sources, false))
}

#[track_caller]
fn costs(expression: &str) -> MeaningCosts {
    evaluated("", expression, 1_000_000).unwrap_or_else(|error| panic!("{expression}:\n{error}"))
}

/// An expression costs so many parallel steps and so much work.
#[track_caller]
fn takes(expression: &str, steps: u64, work: u64) {
    let costs = costs(expression);
    assert_eq!((costs.steps, costs.work), (steps, work), "{expression}: {costs:?}");
}

#[test]
fn a_thread_does_its_elements_one_after_the_other() {
    // A multiplication and a write for each (rules 39, 40, 56).
    takes("push <thread> (map (fn x => x * x) [1, 2, 3])", 6, 6);
    takes("push <thread> []", 0, 0);
}

#[test]
fn the_threads_of_a_group_step_together() {
    // Rule 41: the longest counts.
    takes("push <block> (map (fn x => x * x) [1, 2, 3])", 2, 6);
    let uneven = "generate 4 (fn i => seqfor i (fn _ x => x + 1) 0)";
    takes(&format!("push <warp> ({uneven})"), 3 + 1, 3 + 2 + 1 + 4);
    takes(&format!("push <thread> ({uneven})"), 3 + 2 + 1 + 4, 3 + 2 + 1 + 4);
    // More elements than threads: in rounds, each as long as its longest thread.
    takes("push <block> (generate 70 (fn i => i))", 3, 70);
    takes("push <block> (generate 33 (fn i => seqfor i (fn _ x => x + 1) 0))", 31 + 1 + 32 + 1, 528 + 33);
    // A grid has as many blocks as are needed.
    takes("push <grid> (generate 70 (fn i => i))", 1, 70);
}

#[test]
fn threads_without_an_element_are_idle() {
    let of = |expression: &str, level| {
        let costs = costs(expression).at(level);
        (costs.busy, costs.idle)
    };
    assert_eq!(of("push <block> (generate 70 (fn i => i))", CostLevel::Block), (70, 26));
    assert_eq!(of("push <warp> (generate 8 (fn i => i))", CostLevel::Warp), (8, 24));
    assert_eq!(of("push <thread> (generate 8 (fn i => i))", CostLevel::Thread), (8, 0));
    assert_eq!(of("push <grid> (generate 33 (fn i => i))", CostLevel::Grid), (33, 31));
    // Lanes of a warp without a part.
    let lanes = "[push <thread> [1], push <thread> [2]] |> concat 1";
    assert_eq!(of(lanes, CostLevel::Warp), (0, 30));
    assert_eq!(of(lanes, CostLevel::Thread), (2, 0));
}

#[test]
fn parts_are_done_side_by_side() {
    // Rule 42: for each element a multiplication and an addition for the index in `splitUp`, one addition, and a write; outside,
    // the division of `splitUp`.
    let parts =
        "splitUp 2 [1, 2, 3, 4] |> map (fn part => push <block> (map (fn x => x + 1) part)) |> concat 2";
    takes(parts, 1 + 4, 1 + 4 * 4);
    // A block of 32 threads is one warp: two parts of warps take two rounds.
    let warps = "[push <warp> [1, 2], push <warp> [3, 4]] |> concat 2";
    takes(warps, 2, 4);
    takes("[push <block> [1, 2], push <block> [3, 4]] |> concat 2", 1, 4);
    let counts = costs(parts).at(CostLevel::Grid).counts;
    // Elements are written once, to the memory of what is forced.
    assert_eq!((counts.forces, counts.written, costs(parts).at(CostLevel::Block).counts.written), (1, 4, 0));
}

#[test]
fn fusion_costs_nothing() {
    // Rules 36, 37, 38, 43 to 55.
    let same = "(fn x => x)";
    takes(&format!("push <thread> (map {same} (map {same} [1, 2]))"), 2, 2);
    takes(&format!("mapPush {same} (push <thread> [1, 2])"), 2, 2);
    takes(&format!("mapPush {same} (concat 1 [push <thread> [1], push <thread> [2]])"), 1, 2);
    takes(
        "push <thread> (let (a, b) = ({ x = 1 }, 2); xs = zipWith (fn x y => y) [1] [b] in [index xs 0, a.x])",
        2,
        2,
    );
    takes("push <thread> (flatten2 (transpose2 (reshape2 1 2 [1, 2])))", 2, 2);
    takes("push <thread> (map length (map rows [generate2 2 3 (fn i j => i)]))", 1, 1);
    assert!(costs("push <thread> (map (fn x => x) [1])").administrative > 0);
}

#[test]
fn operations_and_branches_are_steps() {
    // Rule 56 and 57; the last step is the write.
    takes("push <thread> [1 + 2 * 3]", 3, 3);
    takes("push <thread> [-(abs (f32 (2 - 1)))]", 5, 5);
    takes("push <thread> [if true then 1 else 1 + 1]", 2, 2);
    takes("push <thread> [case 3 of | 1 => 1 | _ => 2]", 2, 2);
    takes("push <thread> [false && 1 / 0 == 1]", 2, 2);
    takes("push <thread> [(1, 2) == (1, 3)]", 3, 3);
    takes("push <thread> [(1, 2) < (3, 4)]", 2, 2);
}

#[test]
fn elements_are_computed_each_time_until_they_are_forced() {
    let use_twice = "push <thread> (generate 3 (fn i => index xs 0 + index xs 1))";
    let cubes = "generate 2 (fn i => i * i * i)";
    // Two multiplications for each use, an addition and a write.
    takes(&format!("let xs = {cubes} in {use_twice}"), 3 * (4 + 1 + 1), 3 * (4 + 1 + 1));
    // Forced, two multiplications and a write for each, then two reads (58), an addition and a write.
    let forced = format!("let xs = force (push <thread> ({cubes})) in {use_twice}");
    takes(&forced, 2 * 3 + 3 * 4, 2 * 3 + 3 * 4);
    let counts = costs(&forced).at(CostLevel::Thread).counts;
    assert_eq!((counts.forces, counts.written, counts.read, counts.barriers), (2, 5, 6, 0));
}

#[test]
fn forces_of_groups_wait() {
    let twice = "push <block> (map (fn x => x) (force (push <block> [1, 2])))";
    let block = costs(twice).at(CostLevel::Block);
    // The last array is alive together with the one that it reads: four numbers of 8 bytes.
    assert_eq!((block.counts.forces, block.counts.barriers, block.memory), (2, 2, 32));
    assert_eq!((block.counts.written, block.counts.read), (4, 2));
    takes(twice, 1 + 2, 2 + 4);
    // The first array is not referred to any more when the third is written.
    let thrice = "fun copy arr = force (push <block> (map (fn x => x) arr))";
    let memory = |expression: &str| {
        let costs = evaluated(thrice, expression, 10_000).unwrap_or_else(|error| panic!("{error}"));
        costs.at(CostLevel::Block).memory
    };
    assert_eq!(memory("copy (copy (copy [1, 2]))"), 32);
    assert_eq!(memory("let a = copy [1i64, 2]; b = copy a in copy b"), 48);
}

#[test]
fn loops_of_levels() {
    // `while` (60): 8 elements are added in 4 threads, then in 2, then in 1, each step with a force.
    let red = "push <block> (index (splitUp 8 (iota 8)) 0) |> force |> red <block> (+)";
    let block = costs(red).at(CostLevel::Block);
    // The first force; the step before the loop, two steps in it, and the result.
    assert_eq!(block.counts.forces, 1 + 3 + 1);
    assert_eq!(block.counts.written, 8 + (4 + 2 + 1) + 1);
    assert_eq!(block.counts.read, 2 * (4 + 2 + 1) + 1);
    // `power` (61): three steps and what they begin with.
    let power = "push <warp> (power 3 (fn xs => push <warp> (map (fn x => x + x) xs)) (push <warp> [1]))";
    assert_eq!(costs(power).at(CostLevel::Warp).counts.forces, 1 + 3 + 1);
    takes(power, 1 + 3 * 3 + 2, 1 + 3 * 3 + 2);
}

#[test]
fn interleaved_parts_compute_their_places() {
    // Rule 59: a multiplication and an addition for the place, and a write.
    takes("[push <block> [1, 2], push <block> [3, 4]] |> interleave 4 (fn part i => i * 2 + part)", 3, 12);
}

#[test]
fn operations_of_whole_arrays_have_stated_costs() {
    // Eight squares side by side, and with the neutral element a tree of four additions.
    takes("sum (generate 8 (fn i => i * i))", 1 + 4, 8 + 8);
    takes("maximum (generate 8 (fn i => i))", 3, 7);
    // A running sum: six additions deep, and all are written at once.
    takes("scan (+) 0 (generate 8 (fn i => i))", 2 * 3 + 1, 8 + 8);
    // The condition, a scan of the marks, and what is left is written.
    takes("filter (fn x => x < 3) (generate 8 (fn i => i))", 1 + 6 + 1, 8 + 8 + 3);
    takes("sort (generate 8 (fn i => 0 - i))", 1 + 9 + 1, 8 + 24 + 8);
    takes("matmul (generate2 2 2 (fn i j => i)) (generate2 2 3 (fn i j => j))", 4 + 1, 6 * 4 + 6);
    takes("generate 8 (fn i => i + 1)", 2, 16);
    // In a thread they are loops.
    takes("push <thread> [sum (generate 8 (fn i => i * i))]", 8 + 8 + 1, 8 + 8 + 1);
    // A comprehension computes its rows: the numbers of the range, the conditions, their scan; then the heads are computed and written.
    takes("[ x * x | x <- 0..8, x < 4 ]", 1 + 1 + 6 + 1 + 1, 8 + 8 + 8 + 4 + 4);
}

#[test]
fn costs_are_of_lines_and_levels() {
    let program = "fun squares xs =\n  push <block>\n    (map (fn x => x * x)\n      xs)";
    let costs =
        evaluated(program, "squares [1, 2] |> force", 10_000).unwrap_or_else(|error| panic!("{error}"));
    let lines: Vec<_> = costs
        .lines
        .iter()
        .map(|line| (line.file.as_str(), line.line, line.level, line.counts.work, line.counts.written))
        .collect();
    let block = CostLevel::Block;
    assert_eq!(lines, [("test.pum", 3, block, 2, 0), ("test.pum", 5, block, 2, 2)]);
}

#[test]
fn what_no_location_respects_is_an_error() {
    let nested = "push <block> (generate 2 (fn i => index (force (push <block> [i])) 0))";
    let error = evaluated("", nested, 10_000).expect_err("a thread is no block");
    assert!(error.contains("an array of `block` is forced where one thread is at work"), "{error}");
    // A thread respects its own level.
    takes("push <block> (generate 2 (fn i => index (force (push <thread> [i])) 0))", 1 + 1 + 1, 6);
}

#[test]
fn evaluation_is_bounded() {
    let fails = |program: &str, expression: &str, part: &str| {
        let error = evaluated(program, expression, 1_000_000).expect_err("it does not end");
        assert!(error.contains(part), "{expression}: {error}");
    };
    fails("fun f x = f (x + 1)", "f 0", "calls or arrays are nested too deeply");
    fails("", "whileLoop (fn x => x >= 0) (fn x => 0) 0", "takes more than 1000000 steps");
    fails("", "sum (generate 1000000000000 (fn i => i))", "takes more than 1000000 steps");
    fails("", "push <grid> [1] |> force |> fn xs => iterateWhile (fn xs => true) (fn xs => xs) xs", "steps");
    fails("", "whileLoop (fn f => f 0 < 1) (fn f => fn x => x) (fn x => x)", "nested too deeply");
    fails("", "index (whileLoop (fn xs => length xs > 0) (map (fn x => x)) [1]) 0", "nested too deeply");
    let doubled: String = (0..40).map(|n| format!("fun f{} x = f{n} (x, x)\n", n + 1)).collect();
    fails(&format!("fun f0 x = 1\n{doubled}"), "f40 0", "the type of this is too large");
    fails("", "index2 (generate2 5000000000 5000000000 (fn i j => i)) 1 1", "can be counted");
    fails("", "iterate 1000000000000 compute []", "steps");
    fails("", "concat 1000000000000 [push <block> [1]]", "steps");
    fails("", "[ x | a <- 0..1000000, x <- 0..1000000 ]", "steps");
}

#[test]
fn what_has_no_meaning_names_its_place() {
    for (expression, part) in [
        ("index [1, 2] 2", "index 2 is out of bounds of 2 elements"),
        ("1 / (1 - 1)", "division by zero"),
        ("minimum (generate 0 (fn i => i))", "`minimum` of an array without elements"),
        ("[push <block> [1, 2]] |> concat 1", "a part of 2 elements where each has 1"),
        ("[push <block> [1, 2]] |> interleave 2 (fn _ i => 0)", "two elements are written to index 0"),
        ("[push <block> [1]] |> interleave 1 (fn _ i => 7)", "index 7 of 1 elements"),
        ("zipWith (fn a b => a) [1] [1, 2]", "`zipWith` of arrays of 1 and of 2 elements"),
        ("generate (0 - 1) (fn i => i)", "`generate` of -1 elements"),
        ("scatter [1] [(3, 4)]", "`scatter` to index 3 of 1 elements"),
        ("ixMap (fn i => i + 1) (push <block> [1, 2])", "`ixMap` to index 2 of 2 elements"),
        ("pairwise <block> 2 min max [1, 2]", "partners are missing"),
        ("forceWithin 1 (push <block> [1, 2])", "`forceWithin 1` of an array of 2 elements"),
        ("shuffleUp 1 (fn _ x y => x) (pushBy <warp> 2 (iota 64))", "has no meaning in the semantics"),
        ("shuffleDown 1 (fn _ x y => y) (push <warp> [1, 2])", "lane 2, which has none"),
        (
            "inPlace (fn m => push <grid> (generate 2 (fn i => write m i 0))) [1]",
            "index 1 of 1 elements of memory",
        ),
        (
            "inPlace (fn m => push <grid> (generate 2 (fn i => write m 0 i))) [1]",
            "`write` races with another",
        ),
        (
            // A barrier of one block says nothing to the other.
            "inPlace (fn m => concat 1 (generate 2 (fn b => \
             let _ = force (push <block> (generate 1 (fn _ => if b == 0 then write m 0 7 else ()))) \
             in push <block> (generate 1 (fn _ => let _ = read m 0 in ()))))) [1]",
            "`read` races with another",
        ),
    ] {
        let error = evaluated("", expression, 10_000).expect_err("it has no meaning");
        assert!(error.contains(part) && error.contains("test.pum:2"), "{expression}: {error}");
    }
}

#[test]
fn threads_take_what_their_push_array_says() {
    // Rules 85 to 89: two threads with four writes each; an operation and a write for both parts of a pair; one after the other.
    takes("pushBy <block> 4 (generate 8 (fn i => i))", 4, 8);
    takes("pairwise <block> 1 (+) (fn a b => a - b) (generate 4 (fn i => i))", 4, 8);
    takes("appendPush (push <block> [1, 2]) (push <block> [3])", 2, 3);
    takes("unpairPush (push <block> [(1, 2), (3, 4)])", 2, 4);
    takes("ixMap (fn i => 1 - i) (push <block> [1, 2])", 2, 4);
    takes("takePush 1 (push <grid> [1, 2])", 1, 1);
    takes("scatterPush <block> 2 [(1, 5)]", 1, 1);
    // The conditions, a scan of four numbers, and two writes.
    let filtered = "filterPush <block> (fn x => x > 1) (generate 4 (fn i => i))";
    takes(filtered, 1 + 4 + 1, 4 + 4 + 2);
    assert_eq!(costs(filtered).at(CostLevel::Block).counts.barriers, 2);
}

#[test]
fn lanes_exchange_in_one_step() {
    // Rules 90 and 91: the exchange, an addition, and a write; a vote has its condition before.
    takes("shuffleXor 1 (fn _ x y => x + y) (push <warp> (generate 32 (fn i => i)))", 3, 96);
    takes("ballot (fn x => x > 1) (fn _ _ bits => bits) (push <warp> (generate 32 (fn i => i)))", 3, 96);
}

#[test]
fn accesses_to_memory_that_changes_are_counted() {
    // Rules 93 to 96: the copy, and a write by each thread.
    takes("inPlace (fn m => push <grid> (generate 4 (fn i => write m i i))) (generate 4 (fn _ => 0))", 2, 8);
    let block = "concat 1 [let m = memory <block> [5, 6] in push <block> (generate 1 (fn i => read m i + atomicAdd m 1 3))]";
    // Two elements are written side by side; a read, an update, an addition and the result's write follow.
    takes(block, 1 + 4, 2 + 4);
    let counts = costs(block).at(CostLevel::Block).counts;
    assert_eq!((counts.read, counts.written, counts.barriers), (2, 2 + 1, 1));
    assert_eq!(costs(block).at(CostLevel::Block).memory, 16);
    // Programs that give nothing write nothing.
    takes("inPlace (fn m => push <grid> [(), ()]) [1]", 1, 1);
}
