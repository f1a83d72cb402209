//! Programs with levels: what they mean, and that their kernels are those that Rust makes.

mod normal;
mod same;
mod tiled;

use super::{is, value};

#[track_caller]
fn fails(program: &str, expression: &str, words: &str) {
    match value(program, expression) {
        Ok(found) => panic!("{expression} gives {found}"),
        Err(error) => assert!(error.contains(words), "{expression}: {error}"),
    }
}

#[test]
fn a_kernel_changes_a_copy_of_an_array() {
    let add = "fun addOne bins xs = inPlace (fn m => push <grid> (map (fn x => let _ = atomicAdd m x 1 in ()) xs)) bins";
    is(add, "addOne (replicate 4 0) [1, 3, 1, 1]", "[0, 3, 0, 1]");
    is(add, "addOne [10, 20, 30] [2, 0]", "[11, 20, 31]");
    is(add, "let xs = [5, 6] in (addOne xs [0], xs)", "([6, 6], [5, 6])");
    let reverse =
        "fun reversed xs = let n = length xs in inPlace (fn m => push <grid> (generate (n / 2) (fn i =>
      let x = read m i
          y = read m (n - 1 - i)
          _ = write m i y
      in write m (n - 1 - i) x))) xs";
    is(reverse, "reversed (iota 7)", "[6, 5, 4, 3, 2, 1, 0]");
    is(reverse, "reversed [(1, true), (2, false)]", "[(2, false), (1, true)]");
    fails("", "push <grid> (map (fn x => ()) [1, 2])", "`inPlace` runs one that changes an array");
    fails(add, "addOne [0] [1]", "index 1 out of bounds for length 1 in atomicAdd at test.pum:1");
}

#[test]
fn a_block_has_memory_that_changes() {
    let counted = "fun counted part =
  let m = memory <block> (replicate 4 0)
      _ = perform (push <block> (map (fn x => if x > 0 then ignore (atomicAdd m (x % 4) 1) else ()) part))
  in push <block> (freeze m)";
    is(counted, "splitUp 4 [1, 5, -1, 2, 3, 3, 3, 0] |> map counted |> concat 4", "[0, 2, 1, 0, 0, 0, 0, 3]");
    // Code under a condition runs only where the condition holds, even if it gives a value.
    let guarded = "fun f part =
  let m = memory <block> part
  in push <block> (generate (length part) (fn i => if i > 0 then read m (i - 1) else 100))";
    is(guarded, "splitUp 3 [1, 2, 3] |> map f |> concat 3", "[100, 1, 2]");
    let each = "fun f part =
  let m = memory <thread> [0]
      _ = perform (push <block> (map (fn x => write m 0 (x * 10)) part))
  in push <block> (map (fn x => read m 0 + x) part)";
    is(each, "splitUp 2 [1, 2, 3, 4] |> map f |> concat 2", "[11, 22, 33, 44]");
    let all = "fun f part =
  let m = memory <block> [10u32, 10, 10, 12, 10, 7, 7, 1]
      one = push <block> (map (fn x =>
        let _ = atomicMin m 0 x
            _ = atomicMax m 1 x
            _ = atomicSub m 2 x
            _ = atomicAnd m 3 x
            _ = atomicOr m 4 x
            _ = atomicXor m 5 x
            _ = atomicExchange m 6 x
        in ignore (atomicCompareExchange m 7 1 x)) part)
      _ = force one
  in push <block> (freeze m)";
    is(all, "splitUp 1 [4u32] |> map f |> concat 8", "[4, 10, 6, 4, 14, 3, 4, 4]");
    let loops = "fun f part =
  let m = memory <block> (replicate 3 0)
      _ = force (push <block> (generate 1 (fn _ => seqfor 20 (fn i _ => write m (i % 3) i) ())))
  in push <block> (freeze m)";
    is(loops, "splitUp 1 [0] |> map f |> concat 3", "[18, 19, 17]");
    fails("", "memory <block> [1] |> lengthMem", "`memory` is for the inside of kernels");
    let warp = "fun f part = let m = memory <warp> part in push <warp> (freeze m)";
    fails(warp, "concat 32 [concat 32 [f (iota 32)]]", "there is no memory that changes of the level `warp`");
    let inner = "fun f part = push <block> (inPlace (fn m => push <grid> (map (write m 0) part)) part)";
    fails(inner, "concat 1 [f [1]]", "levels do not nest");
}

#[test]
fn lanes_of_a_warp_exchange_elements() {
    let in_warps = |f: &str| {
        format!(
            "splitUp 32 (iota 32) |> map (fn p => concat 32 [{f} (push <warp> p)]) |> concat 32 |> force |> drop 28"
        )
    };
    is("", &in_warps("shuffle (fn i => 31 - i) (fn _ _ y => y)"), "[3, 2, 1, 0]");
    is("", &in_warps("shuffleUp 2 (fn _ x y => (x, y))"), "[(28, 26), (29, 27), (30, 28), (31, 29)]");
    is("", &in_warps("shuffleDown 1 (fn _ _ y => y)"), "[29, 30, 31, 31]");
    is("", &in_warps("shuffleXor 1 (fn i _ y => y - i)"), "[1, -1, 1, -1]");
    is("", &in_warps("ballot (fn x => x < 3) (fn _ _ bits => bits)"), "[7, 7, 7, 7]");
    is("", &in_warps("anyLane (fn x => x > 30) (fn _ _ b => b)"), "[true, true, true, true]");
    is("", &in_warps("allLanes (fn x => x > 30) (fn _ _ b => toInt b)"), "[0, 0, 0, 0]");
}

#[test]
fn filters_and_arrays_one_after_the_other() {
    let odd = "fun odd part = filterPush <block> (fn x => x % 2 == 1) part";
    is(odd, "splitUp 4 [1, 2, 3, 5, 2, 4, 6, 7] |> map odd |> concat 4", "[1, 3, 5, 0, 7, 0, 0, 0]");
    let summed = "fun f part =
  let xs = forceWithin 4 (filterPush <block> (fn x => x % 2 == 1) part)
  in push <block> (generate 1 (fn _ => sum xs * 10 + length xs))";
    is(summed, "splitUp 4 [1, 2, 3, 5, 2, 4, 6, 7] |> map f |> concat 1", "[93, 71]");
    is(
        "",
        "splitUp 2 [1, 2, 3, 4] |> map (fn p => push <block> (append p (append [0] p))) |> concat 5",
        "[1, 2, 0, 1, 2, 3, 4, 0, 3, 4]",
    );
    is(
        "",
        "splitUp 2 [1, 2] |> map (fn p => appendPush (push <block> p) (push <block> (replicate 3 9))) |> concat 5",
        "[1, 2, 9, 9, 9]",
    );
    is(
        "",
        "splitUp 3 [1, 2, 3] |> map (fn p => ixMap (fn i => 2 - i) (push <block> p)) |> concat 3",
        "[3, 2, 1]",
    );
    is("", "concat 4 (map (push <block>) (splitUp 4 (iota 8))) |> takePush 6", "[0, 1, 2, 3, 4, 5]");
    is("", "takePush 3 (push <grid> [7, 8])", "[7, 8, 0]");
    is("", "takePush (0 - 1 + 1) (push <grid> [1, 2])", "[]");
    is(
        "",
        "splitUp 2 [7, 8] |> map (fn p => scatterPush <block> 4 (map (fn x => (x - 5, x)) p)) |> concat 4",
        "[0, 0, 7, 8]",
    );
    fails(
        "",
        "splitUp 2 [7, 8] |> map (fn p => push <block> (force (filterPush <block> (fn x => x > 7) p))) |> concat 2",
        "forceWithin 256",
    );
}

#[test]
fn a_kernel_may_be_a_single_block() {
    let program = "fun twice part = push <block> (map (fn x => x * 2) (force (push <block> part)))";
    is(program, "concat 3 [twice [1, 2, 3]]", "[2, 4, 6]");
    is("", "concat 32 [concat 1 [reduceWarp (+) (iota 32)]] |> force |> takeFirst 1", "[496]");
    fails(program, "concat 1 [twice [1], twice [2]]", "which push array of this list");
}

#[test]
fn reports_and_faults_name_lines() {
    let program = "fun count part =
  let m = memory <block> (replicate 4 0)
      _ = perform (push <block>
        (map (fn x => ignore (
          atomicAdd m (x % 4) 1)) part))
      kept = forceWithin 4 (
        filterPush <block> (fn x => x > 1) (
          freeze m))
  in push <block> (generate 1 (fn _ => length kept))
sig it : [i64] -> [i64]<grid>
fun it xs = splitUp 32 xs |> map count |> concat 1";
    let report = same::report(program, 32, 64);
    for place in [
        "memory at test.pum:2",
        "atomicAdd at test.pum:5",
        "forceWithin at test.pum:6",
        "filterPush at test.pum:7",
        "freeze at test.pum:8",
        "push at test.pum:9",
    ] {
        assert!(report.contains(place), "{place} is not in\n{report}");
    }
    let racing = "fun f part =
  let m = memory <block> part
  in push <block> (generate 4 (fn i =>
    let _ = write m i 0
    in read m (3 - i)))";
    fails(racing, "splitUp 4 [1, 2, 3, 4] |> map f |> concat 4", "race");
    let shuffled = "sig it : [i64] -> [i64]<grid>
fun it xs = splitUp 32 xs |> map (fn part => concat 32 [
  shuffleUp 1 (fn i x y => x + y) (push <warp> part)]) |> concat 32";
    let report = same::report(shuffled, 32, 64);
    assert!(report.contains("push at test.pum:3"), "{report}");
}
