//! Comprehensions as users write them: what they give, and what is planned for them. The conformance suite has more, on every
//! device.

use pumice::Compiler;
use pumice::prelude::*;

fn on_sim<T: Elt>(program: Acc<Vector<T>>) -> Vec<T> {
    Compiler::on("sim").unwrap().run(program).unwrap().to_vec().unwrap()
}

fn scalar_on_sim<T: Elt>(program: Acc<Scalar<T>>) -> T {
    Compiler::on("sim").unwrap().run(program).unwrap().to_value().unwrap()
}

#[test]
fn generators_filters_and_bindings() {
    let xs = use_([3i64, 1, 4, 1, 5]);
    assert_eq!(on_sim(comp![x | x <- xs]), [3, 1, 4, 1, 5]);
    assert_eq!(on_sim(comp![x * x + 1 | x <- xs, x > 1]), [10, 17, 26]);
    assert_eq!(
        on_sim(comp![(x, y) | x <- xs, 2 < x, y <- 0..x, y != 1, let z = x + y, z % 2 == 0 || z > 7]),
        [(4, 0), (4, 2), (5, 3), (5, 4)]
    );
    let pairs = use_([(1, 2.5f32), (2, 0.5)]);
    assert_eq!(on_sim(comp![(b, if a > 1 { 1 } else { 0 }) | (a, b) <- pairs]), [(2.5, 0), (0.5, 1)]);
    assert_eq!(on_sim(comp![1u32 | _ <- pairs]), [1, 1]);
    assert_eq!(on_sim(comp![(i, x) | i <- 0.. | x <- xs, i < 2]), [(0, 3), (1, 1)]);
    assert_eq!(on_sim(comp![i | false, i <- 0..10]), [0; 0]);
    assert_eq!(on_sim(comp![i as f32 | i <- 0..=3]), [0.0, 1.0, 2.0, 3.0]);
    assert_eq!(on_sim(comp![x + n | x <- xs, let n = 10, x >= 4]), [14, 15]);
    assert_eq!(on_sim(comp![y | x <- xs, y <- [x * z | z <- 0..x, z > 1]]), [6, 8, 12, 10, 15, 20]);
    assert_eq!(on_sim(comp![x + y | x <- xs, x > 3, y <- [x | x <- 0..2]]), [4, 5, 5, 6]);
}

#[test]
fn reductions() {
    let xs = use_([3i64, 1, 4, 1, 5]);
    assert_eq!(scalar_on_sim(sum![x * y | x <- xs, y <- 0..x]), 83);
    assert_eq!(scalar_on_sim(count![x <- xs, x > 1]), 3);
    assert_eq!(scalar_on_sim(max![x - 1 | x <- xs]), 4);
    assert!(scalar_on_sim(any![x == 4 | x <- xs]));
    assert!(!scalar_on_sim(all![x == 4 | x <- xs]));
    assert_eq!(scalar_on_sim(fold!(|a, b| a * b, 2; x | x <- xs)), 120);
    assert_eq!(scalar_on_sim(product![x | x <- xs]), 60);
}

#[test]
fn parts_rows_and_reductions_for_each() {
    let xs = use_([3i64, 1, 4, 1, 5]);
    let rows = use_([(0i64, 2i64), (2, 2), (1, 5)]);
    assert_eq!(
        on_sim(comp![(a, x) | (a, b) <- rows, x <- xs[a..b]]),
        [(0, 3), (0, 1), (1, 1), (1, 4), (1, 1), (1, 5)]
    );
    assert_eq!(on_sim(comp![sum![x | x <- xs[a..b]] | (a, b) <- rows]), [4, 0, 11]);
    assert_eq!(
        on_sim(comp![count![x <- xs[a..b], x > 1, _ <- 0..x, let y = 1, y > 0] | (a, b) <- rows]),
        [3, 0, 9]
    );
    assert_eq!(on_sim(comp![any![x > 4 | x <- xs[a..b]] | (a, b) <- rows]), [false, false, true]);
    assert_eq!(on_sim(comp![fold!(|a, b| a * b, 10; x | x <- xs[a..b]) | (a, b) <- rows]), [30, 10, 200]);
    assert_eq!(
        on_sim(comp![sum![x * y | x <- xs[a..b], y <- 0..x, y > 0] + a | (a, b) <- rows]),
        [9, 2, 4 * 6 + 5 * 10 + 1]
    );
    assert_eq!(on_sim(comp![max![x | x <- xs[a..b], x < 5] | (a, b) <- rows, a < b]), [3, 4]);
    let m = use_(Matrix::from_vec([2, 3], vec![1i64, 2, 3, 4, 5, 6]).unwrap());
    assert_eq!(on_sim(comp![x * i | i <- 0..2, x <- m[i]]), [0, 0, 0, 4, 5, 6]);
    assert_eq!(on_sim(comp![sum![x * y | x <- m[i] | y <- xs] | i <- 0..2]), [3 + 2 + 12, 12 + 5 + 24]);
    assert_eq!(on_sim(comp![x / sum![y | y <- xs] | x <- [14 * x | x <- xs]]), [3, 1, 4, 1, 5]);
}

#[test]
fn orders_groups_and_joins() {
    let words = use_([(2i64, 10i32), (1, 20), (2, 30), (3, 5), (1, 7)]);
    assert_eq!(
        on_sim(comp![(k, v) | (k, v) <- words, order by (k desc, v)]),
        [(3, 5), (2, 10), (2, 30), (1, 7), (1, 20)]
    );
    assert_eq!(on_sim(comp![v | (_, v) <- words, order by v desc, take 2]), [30, 20]);
    assert_eq!(on_sim(comp![v | (_, v) <- words, v > 9, take 100]), [10, 20, 30]);
    assert_eq!(on_sim(comp![k | (k, _) <- words, distinct]), [1, 2, 3]);
    assert_eq!(
        on_sim(comp![(k, sum![v], count![]) | (k, v) <- words, group by k]),
        [(1, 27, 2), (2, 40, 2), (3, 5, 1)]
    );
    assert_eq!(
        on_sim(
            comp![(odd, max![v] - min![v]) | (k, v) <- words, group by odd = k % 2, count![] > 2, order by odd]
        ),
        [(1, 15)]
    );
    let names = use_([(1i64, 100), (3, 300), (1, 101), (4, 400)]);
    assert_eq!(
        on_sim(comp![(v, n) | (k, v) <- words, (l, n) <- names, k == l && n != 101]),
        [(20, 100), (5, 300), (7, 100)]
    );
}

/// The operations of a program of pairs of key and value, and of numbers.
fn described<T: Elt>(
    program: impl Fn(Acc<Vector<(i64, i64)>>, Acc<Vector<(i64, i64)>>) -> Acc<Vector<T>>,
) -> String {
    Compiler::on("sim").unwrap().compile(program).unwrap().describe()
}

type Pairs = Acc<Vector<(i64, i64)>>;
type OfPairs<L> = fn(Pairs, Pairs) -> Acc<Vector<L>>;

#[test]
fn joins_are_found_behind_conditions_bindings_and_generators() {
    let (xs, ys) = (
        vec![(2i64, 10i64), (1, 20), (2, 3), (7, 1), (4, 8)],
        vec![(2i64, 5i64), (4, 9), (2, 30), (1, 1), (3, 0)],
    );
    let mut expected = Vec::new();
    for (k, a) in &xs {
        expected.extend(ys.iter().filter(|(l, b)| k == l && a > b).map(|(_, b)| (*a, *b, a - b)));
    }
    let programs: [OfPairs<(i64, i64, i64)>; 6] = [
        |xs, ys| comp![(a, b, a - b) | (k, a) <- xs, (l, b) <- ys, k == l, a > b],
        |xs, ys| comp![(a, b, a - b) | (k, a) <- xs, (l, b) <- ys, a > b, k == l],
        |xs, ys| comp![(a, b, d) | (k, a) <- xs, (l, b) <- ys, let d = a - b, l == k, d > 0],
        |xs, ys| comp![(a, b, d) | (k, a) <- xs, (l, b) <- ys, let (d, m) = (a - b, 2), a > b && k * 2 == l * 2, m > 1],
        // A binding that is of one side alone is repeated in the key; so is one that is of the other.
        |xs, ys| comp![(a, b, a - b) | (k, a) <- xs, (l, b) <- ys, let m = l + 1, let n = k % 100, a > b, let o = m - 1, n == o],
        |xs, ys| comp![(a, b, a - b) | (k, a) <- xs, (l, b) <- ys, _ <- 0..1, a > b, k == l],
    ];
    for program in programs {
        let text = described(program);
        assert!(text.contains("sort") && !text.contains("product"), "{text}");
        assert_eq!(on_sim(program(use_(&xs), use_(&ys))), expected, "{text}");
    }
    // What has no key of each side, or one that what stands before it guards, is a product: it gives, or fails, as it is written.
    let programs: [OfPairs<(i64, i64, i64)>; 4] = [
        |xs, ys| comp![(a, b, d) | (k, a) <- xs, (l, b) <- ys, let d = a - b, a > b, k - l == d - (a - b)],
        |xs, ys| comp![(a, b, a - b) | (k, a) <- xs, (l, b) <- ys, a > b, let k = k - l, k + l == l],
        |xs, ys| comp![(a, b, a - b) | (k, a) <- xs, (l, b) <- ys, a > b, b != 0 && b / b * l == k],
        |xs, ys| comp![(a, b, a - b) | (k, a) <- xs, (l, b) <- ys, a > b, b != 0, let e = b / b * l, e == k],
    ];
    for program in programs {
        let text = described(program);
        assert!(!text.contains("sort"), "{text}");
        let guarded: Vec<_> = expected.iter().copied().filter(|(_, b, _)| *b != 0).collect();
        assert_eq!(on_sim(program(use_(&xs), use_(&ys))), guarded, "{text}");
    }
}

#[test]
fn reductions_join() {
    let (xs, ys) =
        (vec![(2i64, 10i64), (1, 20), (2, 3), (7, 1)], vec![(2i64, 5i64), (4, 9), (2, 30), (1, 1), (3, 0)]);
    let sum = |k: i64| ys.iter().filter(|(l, _)| *l == k).map(|(_, b)| *b).sum::<i64>();
    let sums: Vec<(i64, i64)> = xs.iter().map(|(k, a)| (*a, sum(*k))).collect();
    let programs: [OfPairs<(i64, i64)>; 3] = [
        |xs, ys| comp![(a, sum![b | (l, b) <- ys, k == l]) | (k, a) <- xs],
        |xs, ys| comp![(a, sum![b * c - b * c + b | (l, b) <- ys, let c = a - b, c > -100, l + 1 == k + 1]) | (k, a) <- xs],
        // One that is computed only sometimes, a loop: it goes through the same range.
        |xs, ys| comp![(a, if k < 100 { sum![b | (l, b) <- ys, k == l] } else { 0 }) | (k, a) <- xs],
    ];
    for program in programs {
        let text = described(program);
        assert!(text.contains("sort"), "{text}");
        assert_eq!(on_sim(program(use_(&xs), use_(&ys))), sums, "{text}");
    }
    let counted = on_sim(comp![
        (count![(l, _) <- use_(&ys), l == k], any![b > a | (l, b) <- use_(&ys), l == k], fold!(|x, y| x.max(y), -1; b | (l, b) <- use_(&ys), l == k))
        | (k, a) <- use_(&xs), any![l == k | (l, _) <- use_(&ys)]
    ]);
    assert_eq!(counted, [(2, true, 30), (1, false, 1), (2, true, 30)]);
    // A join behind the first generator of a reduction, and one whose key is of a variable that a block binds.
    let (xs, ys) = (use_(&xs), use_(&ys));
    let second = comp![sum![a * b | (k, a) <- xs, (l, b) <- ys, k == l, a != n] | n <- 9..11];
    assert_eq!(on_sim(second), [350 + 20 + 105, 20 + 105]);
    let of_block = comp![{ let m = n + 1; sum![a | (k, a) <- xs, k + m == n + 3] } | n <- 0..2];
    assert_eq!(on_sim(of_block), [13, 13]);
    let least = Compiler::on("sim").unwrap().run(comp![min![a | (k, a) <- xs, k == n] | n <- 1..4]).unwrap();
    assert!(least.to_vec().unwrap_err().to_string().contains("comprehensions.rs"));
}

#[test]
fn names_of_users_and_of_the_macro_do_not_meet() {
    let (xs, ys) = (use_([(1i64, 5i64), (2, 6)]), use_([(2i64, 7i64), (2, 8)]));
    let joined = comp![(first, end, number) | (first, end) <- xs, (key, number) <- ys, first == key];
    assert_eq!(on_sim(joined), [(2, 6, 7), (2, 6, 8)]);
    let shadowed = comp![x + z | (x, z) <- xs, let x = x * 10 + z, (z, _) <- ys, let (_, y) = (x, z), y > 1, z <- z..z + 1, take 3];
    assert_eq!(on_sim(shadowed), [17, 17, 28]);
}

#[test]
fn rows_of_different_lengths() {
    let rows = use_([(0i64, 2i64), (2, 2), (1, 4)]);
    let xs = use_([3i64, 1, 4, 1, 5]);
    let on_sim = |ragged: AccRagged<_>| Compiler::on("sim").unwrap().run(ragged).unwrap().to_vecs();
    assert_eq!(on_sim(comp![[x + a | x <- xs[a..b]] | (a, b) <- rows]), [vec![3, 1], vec![], vec![2, 5, 2]]);
    assert_eq!(
        on_sim(comp![[j | j <- 0..5, j % i == 0] | i <- 1..4, i != 2]),
        [vec![0, 1, 2, 3, 4], vec![0, 3]]
    );
    assert_eq!(on_sim(comp![[7 | _ <- 0..2] | _ <- 0..2]), [vec![7, 7], vec![7, 7]]);
}

#[test]
fn counting_triples_needs_no_array_of_them() {
    let compiler = Compiler::on("sim").unwrap();
    let triples = |n: Exp<i64>| count![x <- 1..n, y <- x..n, z <- y..n, x * x + y * y == z * z];
    assert_eq!(compiler.compile(triples).unwrap().run(30i64).unwrap().to_value().unwrap(), 10);
    let pairs = |n: Exp<i64>| count![x <- 1..n, y <- x..n, let z = ((x * x + y * y) as f64).sqrt() as i64, z < n, x * x + y * y == z * z];
    let program = compiler.compile(pairs).unwrap();
    assert_eq!(program.run(30i64).unwrap().to_value().unwrap(), 10);
    let plan = program.plan(1000i64).unwrap().to_string();
    assert!(plan.contains("by fold") && !plan.contains("read its element"), "{plan}");
    // Of what is allocated, nothing has an element per pair: partial results, if anything.
    let sizes = plan
        .lines()
        .filter_map(|line| line.strip_prefix("allocate ")?.split(' ').nth(1)?.parse::<usize>().ok());
    assert!(sizes.clone().count() > 0 && sizes.clone().all(|size| size < 10_000), "{plan}");
}

#[test]
fn a_reduction_of_a_group_that_is_written_twice_is_computed_once() {
    let program = |words: Acc<Vector<(i64, i64)>>| comp![(k, sum![v] / count![], sum![v]) | (k, v) <- words, group by k, count![] > 0, order by sum![v] desc];
    let compiled = pumice::Compiler::on("sim").unwrap().compile(program).unwrap();
    let text = compiled.describe();
    let reduced = text.lines().find(|line| line.contains("expand_reduce")).unwrap();
    assert!(reduced.contains("[_] (i64, i64) = expand_reduce"), "{text}");
    let in_rows = |words: AccRagged<(i64, i64)>| comp![[(k, sum![v] / count![], sum![v]) | (k, v) <- words[i], group by k, order by sum![v] desc] | i <- 0..words.size()];
    let text = pumice::Compiler::on("sim").unwrap().compile(in_rows).unwrap().describe();
    assert_eq!(text.matches("expand_reduce").count(), 1, "{text}");
    assert!(text.contains("[_] (i64, i64) = expand_reduce"), "{text}");
}

#[test]
fn squares_of_a_range_are_wide_where_its_end_asks_for_it() {
    let squares = |n: Exp<i64>| sum![x * x | x <- 0..n, x >= n - 2];
    let program = Compiler::on("sim").unwrap().compile(squares).unwrap();
    for n in [10i64, 70_000, 11] {
        let expected = (n - 2) * (n - 2) + (n - 1) * (n - 1);
        assert_eq!(program.run(n).unwrap().to_value().unwrap(), expected, "{n}");
    }
}

#[test]
fn triples_below_a_small_number_are_counted_without_wide_products() {
    use pumice::Function;
    use pumice::layers::array::{ArrayProgram, CheckedProgram, Knowledge, Plan, PlanOptions};
    use pumice::layers::scalar::{Constant, scope};
    let triples = |n: Exp<i64>| count![x <- 1..n, y <- x..n, z <- y..n, x * x + y * y == z * z];
    let root = scope(|| triples.describe().described().clone());
    let options = PlanOptions::default();
    let program = CheckedProgram::new(ArrayProgram::of(&[root])).unwrap().ready(&options).unwrap();
    // As many blocks as sources, one each.
    let profile = pumice::layers::runtime::devices::Sim::gpu_profile();
    let products = |n: i64| {
        let known = Knowledge::of(Default::default(), &[Constant::from(n)]);
        let plan = Plan::new(&program, &profile, &known, &options).unwrap();
        plan.launches().map(|launch| launch.program.to_string().matches("i64 = mul").count()).sum::<usize>()
    };
    assert_eq!(products(1000), 0);
    assert_ne!(products(100_000), 0);
}

#[derive(Clone, Copy, Debug, PartialEq, Elt)]
struct Point {
    x: i64,
    y: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Elt)]
struct Named<T> {
    key: i64,
    at: Point,
    value: T,
}

#[test]
fn fields_of_structs_are_bound_by_patterns() {
    let points = [(1, 2), (3, 4), (5, 2)].map(|(x, y)| Point { x, y });
    let ps = use_(points);
    assert_eq!(on_sim(comp![x * y | Point { x, y } <- ps, x > 1]), [12, 10]);
    assert_eq!(on_sim(comp![(i, a) | i <- 0.. | Point { x: a, .. } <- ps]), [(0, 1), (1, 3), (2, 5)]);
    assert_eq!(
        on_sim(comp![x - b | p <- ps, let Point { y: b, .. } = p, x <- [x | Point { x, .. } <- ps], x > b]),
        [1, 3, 1, 1, 3]
    );
    let total = Compiler::on("sim").unwrap().run(sum![x + y | Point { x, y } <- ps]).unwrap();
    assert_eq!(total.to_value().unwrap(), 17);
    let named =
        use_([(2, 0.5f32, points[0]), (4, 1.5, points[1])].map(|(key, value, at)| Named { key, at, value }));
    let joined = comp![(x, value, z) | Point { x, y } <- ps, Named { key, value, at: Point { x: z, .. } } <- named, z > 0, key == y];
    assert_eq!(on_sim(joined), [(1, 0.5, 1), (3, 1.5, 3), (5, 0.5, 1)]);
    let inner = comp![(sum![z | Named { key, at: Point { x: z, .. }, .. } <- named, key == y], if x > 1 { count![Point { x: z, .. } <- ps, z < x] } else { 0 }) | Point { x, y } <- ps];
    assert_eq!(on_sim(inner), [(1, 0), (3, 1), (1, 2)]);
    let grouped = comp![(y, sum![x]) | p <- ps, let Point { x, y } = p, group by y];
    assert_eq!(on_sim(grouped), [(2, 6), (4, 3)]);
    let by_struct = comp![(a, count![]) | p <- ps, group by Point { y: a, .. } = p, count![] < 2];
    assert_eq!(on_sim(by_struct), [(2, 1), (4, 1), (2, 1)]);
    let rows = comp![[j + y | j <- 0..x, let Point { y, .. } = p] | p <- ps, let Point { x, .. } = p];
    assert_eq!(
        Compiler::on("sim").unwrap().run(rows).unwrap().to_vecs(),
        [vec![2], vec![4, 5, 6], vec![2, 3, 4, 5, 6]]
    );
}

/// Reductions, vectors and rows, from inner arrays and from several expansions, with results that depend on what is outside.
#[test]
fn parts_give_what_the_whole_gives() {
    type Numbers = Acc<Vector<i64>>;
    let [whole, compilers @ ..] = [1, 3].map(|parts| Compiler::on("sim").unwrap().parts(parts));
    let limits: [&[i64]; 3] = [&[4, 0, 9, 2, 7], &[], &[3]];
    macro_rules! same {
        ($($name:literal: $program:expr, $of:ident;)*) => { $(
            for limits in limits {
                let given = |compiler: &Compiler| {
                    let result = compiler.compile($program).unwrap().run((limits, 3));
                    result.map(|result| format!("{:?}", result.$of())).map_err(|error| error.to_string())
                };
                let expected = given(&whole);
                for compiler in &compilers {
                    assert_eq!(given(compiler), expected, "{} {limits:?}", $name);
                }
            }
        )* };
    }
    same! {
        "rows": |ns: Numbers, k: Exp<i64>| comp![[n % d + k | d <- 1..=n, d != k] | n <- ns], to_vecs;
        "medians": |ns: Numbers, k: Exp<i64>| comp![row.sort()[n / 2] * k | n <- ns, n > 0, let row = [n % d | d <- 1..=n]], to_vec;
        "pairs": |ns: Numbers, k: Exp<i64>| comp![(n, i, j) | n <- ns, i <- 0..n, j <- 0..i, j != k], to_vec;
        "sum": |ns: Numbers, k: Exp<i64>| sum![row.max() + k | n <- ns, n > 0, let row = [n % d | d <- 1..=n]], to_value;
        "largest": |ns: Numbers, k: Exp<i64>| max![row.size() * k | n <- ns, let row = [d | d <- 0..n, d % 2 == 0]], to_value;
        "any": |ns: Numbers, k: Exp<i64>| any![row[0] == k | n <- ns, n > 0, let row = [n % d | d <- 1..=n].sort_by_key(|x| -x)], to_value;
        "counted": |ns: Numbers, k: Exp<i64>| count![n <- ns, i <- 0..n, _j <- 0..i, i != k], to_value;
        "numbered": |ns: Numbers, k: Exp<i64>| comp![(i, row.sum()) | i <- 0.. | n <- ns, let row = [x * k | x <- 0..n]], to_vec;
        "known": |ns: Numbers, k: Exp<i64>| comp![row.sum() + k + ns.size() | i <- 0..7, let row = [x * i | x <- 0..i]], to_vec;
        "rounds": |ns: Numbers, k: Exp<i64>| comp![(row.sum(), r) | n <- ns, let row = [x | x <- 0..n], let r = 0,
            while row.sum() > k { row = [x / 2 | x <- row]; r += 1 }], to_vec;
        "ordered": |ns: Numbers, k: Exp<i64>| comp![row.sum() + k | n <- ns, let row = [x | x <- 0..n], order by n desc, take 2], to_vec;
        "loop": |ns: Numbers, k: Exp<i64>| iterate(2, ns, |ns| comp![row.sum() % 9 + k | n <- ns, let row = [x | x <- 0..n]]), to_vec;
    }
}

#[test]
fn a_run_without_memory_begins_again_in_parts() {
    use pumice::layers::runtime::devices::Sim;
    let rows = |ns: Acc<Vector<i64>>| comp![[n % d | d <- 1..=n].sort()[n / 2] | n <- ns];
    let kept = |ns: Acc<Vector<i64>>| comp![[n % d | d <- 1..=n, n % d > 297] | n <- ns];
    let device = |bytes| Compiler::with(std::sync::Arc::new(Sim::with_memory(bytes)));
    let ns = vec![300i64; 80];
    let (little, plenty) = (device(180_000), device(usize::MAX));
    for compiler in [&little, &plenty] {
        let medians = compiler.compile(rows).unwrap();
        // What it took is known the second time, for arguments like those.
        for length in [80, 80, 2, 80] {
            let found = medians.run(&ns[..length]).unwrap().to_vec().unwrap();
            assert_eq!(found, vec![43; length]);
        }
        assert_eq!(compiler.compile(kept).unwrap().run(&ns).unwrap().to_vecs(), vec![Vec::<i64>::new(); 80]);
        assert!(medians.run([0]).unwrap().to_vec().is_err());
    }
    // What is asked for in one piece does not fit.
    let whole = little.compile(|ns: Acc<Vector<i64>>| comp![[n % d | d <- 1..=n] | n <- ns]).unwrap();
    assert!(matches!(whole.run(&ns), Err(pumice::Error::OutOfMemory { .. })));
    assert_eq!(little.compile(rows).unwrap().run(&ns).unwrap().to_vec().unwrap(), [43; 80]);
}
