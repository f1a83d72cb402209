//! Inner arrays of comprehensions: arrays that each element has its own of. The conformance suite has more, on every device.

use pumice::Compiler;
use pumice::prelude::*;
use std::collections::BTreeMap;

fn on_sim<T: Elt>(program: Acc<Vector<T>>) -> Vec<T> {
    Compiler::on("sim").unwrap().run(program).unwrap().to_vec().unwrap()
}

fn rows_on_sim<T: Elt>(program: AccRagged<T>) -> Vec<Vec<T>> {
    Compiler::on("sim").unwrap().run(program).unwrap().to_vecs()
}

#[test]
fn an_inner_array_has_a_name_and_is_used_often() {
    let ns = use_([3i64, 0, 5]);
    let spans = comp![
        (n, row.size(), row.sum(), if row.size() > 0 { row.max() - row.min() } else { -1 }, sum![x * n | x <- row])
        | n <- ns, let row = [j * j % 7 | j <- 0..n]
    ];
    assert_eq!(on_sim(spans), [(3, 3, 5, 4, 15), (0, 0, 0, -1, 0), (5, 5, 9, 4, 45)]);
    let picked = comp![(row[n / 2], row.argmax()) | n <- ns, n > 0, let row = [j * j % 7 | j <- 0..n]];
    assert_eq!(on_sim(picked), [(1, 2), (4, 2)]);
}

#[test]
fn methods_of_inner_arrays_give_inner_arrays() {
    let ns = use_([4i64, 0, 5]);
    let halves = use_([0.5f32, 0.5, 1.0]);
    let sorted = comp![row.sort().scan(|a, b| a + b) | n <- ns, let row = [j * j % 7 | j <- 0..n]];
    assert_eq!(rows_on_sim(sorted), [vec![0, 1, 3, 7], vec![], vec![0, 1, 3, 5, 9]]);
    let chained = comp![[j * 3 % 5 | j <- 0..n].sort().filter(|x| x > 1) | n <- ns];
    assert_eq!(rows_on_sim(chained), [vec![3, 4], vec![], vec![2, 3, 4]]);
    // Rows of elements that are left, in their order.
    let left = comp![row | n <- ns, let row = [j | j <- 0..n], row.sum() > 0, order by n desc];
    assert_eq!(rows_on_sim(left), [vec![0, 1, 2, 3, 4], vec![0, 1, 2, 3]]);
    let medians =
        comp![row[n / 2] | n <- ns, n != 0, let row = [j * 3 % 5 | j <- 0..n], let row = row.sort()];
    assert_eq!(on_sim(medians), [3, 2]);
    let drawn = comp![(n, x) | n <- ns, x <- [j * 3 % 5 | j <- 0..n].sort(), x > 2];
    assert_eq!(on_sim(drawn), [(4, 3), (4, 4), (5, 3), (5, 4)]);
    // Parameters of a function are its own, whatever else has their names.
    let shadowed = comp![row.map(|n| n as f32 * halves[n]).scan(|a, b| a + b) | (a, b) <- use_([(0i64, 3i64), (1, 2)]), let row = [j | j <- a..b]];
    assert_eq!(rows_on_sim(shadowed), [vec![0.0, 0.5, 2.5], vec![0.5]]);
    let mapped = comp![row.map(|x| x + 1).fold(1, |a, b| a * b) | n <- ns, let row = [j | j <- 0..n]];
    assert_eq!(on_sim(mapped), [24, 1, 120]);
}

#[test]
fn inner_arrays_of_parts_of_filters_and_of_rows() {
    let xs = use_([3i64, 1, 4, 1, 5]);
    let bounds = use_([(0i64, 2i64), (2, 2), (1, 5)]);
    let sorted = comp![part.sort() | (a, b) <- bounds, let part = xs[a..b]];
    assert_eq!(rows_on_sim(sorted), [vec![1, 3], vec![], vec![1, 1, 4, 5]]);
    assert_eq!(on_sim(comp![xs[a..b].sum() | (a, b) <- bounds]), [4, 0, 11]);
    let odd = comp![(odd.size(), sum![x | x <- odd[1..]]) | (a, b) <- bounds, a < b, let odd = [x | x <- xs[a..b], x % 2 == 1]];
    assert_eq!(on_sim(odd), [(2, 1), (3, 6)]);
    let rows = use_ragged(&[vec![5i64, 2], vec![], vec![7, 7, 1]]);
    assert_eq!(on_sim(comp![rows[i].sum() + 1 | i <- 0..3]), [8, 1, 16]);
    assert_eq!(on_sim(comp![rows[i][j] | i <- 0..3, j <- 0..rows[i].size()]), [5, 2, 7, 7, 1]);
    assert_eq!(rows_on_sim(comp![rows[i].sort() | i <- 0..3, i != 1]), [vec![2, 5], vec![1, 7, 7]]);
    let m = use_(Matrix::from_vec([2, 3], vec![1i64, 9, 3, 4, 2, 6]).unwrap());
    assert_eq!(on_sim(comp![m[i].argmin() * 10 + m[i][2 - i] | i <- 0..2]), [3, 12]);
}

#[test]
fn inner_comprehensions_are_sorted_cut_and_have_each_once() {
    let ns = use_([4i64, 0, 6]);
    let rows = comp![[(j % 3, j) | j <- 0..n, order by (j % 3 desc, j), take n / 2] | n <- ns];
    assert_eq!(rows_on_sim(rows), [vec![(2, 2), (1, 1)], vec![], vec![(2, 2), (2, 5), (1, 1)]]);
    let once = comp![[j % 3 | j <- 0..n, distinct] | n <- ns];
    assert_eq!(rows_on_sim(once), [vec![0, 1, 2], vec![], vec![0, 1, 2]]);
    let largest = comp![sum![j * 5 % 7 | j <- 0..n, order by j * 5 % 7 desc, take 2] | n <- ns];
    assert_eq!(on_sim(largest), [5 + 3, 0, 6 + 5]);
    let count = comp![(count![_ <- 0..n, take 3], any![x == 2 | x <- 0..n, take 2]) | n <- ns];
    assert_eq!(on_sim(count), [(3, false), (0, false), (3, false)]);
}

/// The values of each key, in the order of keys.
fn groups<K: Ord, V>(pairs: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, Vec<V>> {
    let mut groups = BTreeMap::<K, Vec<V>>::new();
    pairs.into_iter().for_each(|(key, value)| groups.entry(key).or_default().push(value));
    groups
}

#[test]
fn inner_comprehensions_have_the_groups_of_each_row() {
    let totals = |rows: AccRagged<(i64, i64)>| comp![[(k, sum![v], count![]) | (k, v) <- rows[i], group by k] | i <- 0..rows.size()];
    let totals = Compiler::on("sim").unwrap().compile(totals).unwrap();
    let full = vec![vec![(2, 10), (1, 20), (2, 30)], vec![], vec![(1, 5), (1, 7), (3, 1)], vec![]];
    for rows in [full, vec![vec![]; 2], vec![]] {
        let of_row = |row: &Vec<(i64, i64)>| -> Vec<(i64, i64, i64)> {
            groups(row.iter().copied())
                .into_iter()
                .map(|(k, vs)| (k, vs.iter().sum(), vs.len() as i64))
                .collect()
        };
        let expected: Vec<_> = rows.iter().map(of_row).collect();
        assert_eq!(totals.run(&Ragged::from(rows)).unwrap().to_vecs(), expected);
    }
    // Conditions on groups, an order and a number of them; what is bound outside has one value for all of a row's groups.
    let ns = use_([7i64, 0, 4, 1]);
    let spans = comp![
        [(n, rest, max![j] - min![j], row.size()) | j <- 0..n, let x = j * j, group by rest = x % 5, count![] > 1, order by rest desc, take n / 3]
        | n <- ns, let row = [k | k <- 0..n, k % 2 == 0]
    ];
    let plain = |n: i64| -> Vec<(i64, i64, i64, i64)> {
        let groups = groups((0..n).map(|j| (j * j % 5, j)));
        let kept = groups.into_iter().rev().filter(|(_, js)| js.len() > 1).take((n / 3) as usize);
        kept.map(|(rest, js)| (n, rest, js[js.len() - 1] - js[0], (n + 1) / 2)).collect()
    };
    assert_eq!(rows_on_sim(spans), [7, 0, 4, 1].map(plain));
    // Keys of several parts, by name and by pattern; one that nobody mentions; one that hides what is bound outside.
    let named =
        comp![[(a, b, product![j]) | j <- 1..n, let a = j % 2, let b = j % 3, group by (b, a)] | n <- ns];
    let of_pattern =
        comp![[(a, b, product![j]) | j <- 1..n, group by (b, (a, _)) = (j % 3, (j % 2, j % 2))] | n <- ns];
    let product = |n: i64| -> Vec<(i64, i64, i64)> {
        let groups = groups((1..n).map(|j| ((j % 3, j % 2), j)));
        groups.into_iter().map(|((b, a), js)| (a, b, js.iter().product())).collect()
    };
    assert_eq!(rows_on_sim(named), [7, 0, 4, 1].map(product));
    assert_eq!(rows_on_sim(of_pattern), [7, 0, 4, 1].map(product));
    assert_eq!(
        rows_on_sim(comp![[count![] | j <- 0..n, group by j / 2] | n <- ns]),
        [vec![2, 2, 2, 1], vec![], vec![2, 2], vec![1]]
    );
    let hidden = comp![[(n, any![m > 3], fold!(|a, b| a + b, 100; m)) | n <- 0..n, let m = n, group by n = n % 2] | n <- ns];
    let seven = vec![(0, true, 112), (1, true, 109)];
    assert_eq!(
        rows_on_sim(hidden),
        [seven, vec![], vec![(0, false, 102), (1, false, 104)], vec![(0, false, 100)]]
    );
    let once = comp![[count![] | j <- 0..n, group by j / 2, distinct] | n <- ns];
    assert_eq!(rows_on_sim(once), [vec![1, 2], vec![], vec![2], vec![1]]);
}

#[test]
fn groups_of_rows_are_reduced_bound_and_drawn_from() {
    let (xs, ranges) = (use_([3i64, 1, 3, 1, 5, 3]), use_([(0i64, 4i64), (2, 2), (1, 6)]));
    let different = comp![count![x <- xs[a..b], group by x] | (a, b) <- ranges];
    assert_eq!(on_sim(different), [2, 0, 3]);
    let often = comp![
        (sum![x | x <- xs[a..b], group by x, count![] > 1], any![sum![x] > 5 + a | x <- xs[a..b], group by x])
        | (a, b) <- ranges
    ];
    assert_eq!(on_sim(often), [(4, true), (0, false), (4, false)]);
    let most = comp![max![count![] * 10 + x | x <- xs[a..b], group by x] | (a, b) <- ranges, a != b];
    assert_eq!(on_sim(most), [23, 23]);
    let bound = comp![
        (a, k, c, counts.size())
        | (a, b) <- ranges, let counts = [(x, count![]) | x <- xs[a..b], group by x], (k, c) <- counts, c > 1
    ];
    assert_eq!(on_sim(bound), [(0, 1, 2, 2), (0, 3, 2, 2), (1, 1, 2, 3), (1, 3, 2, 3)]);
    let drawn =
        comp![(a, x, c) | (a, b) <- ranges, (x, c) <- [(x, count![]) | x <- xs[a..b], group by x], x < 4];
    assert_eq!(on_sim(drawn), [(0, 1, 2), (0, 3, 2), (1, 1, 2), (1, 3, 2)]);
    // Of inner arrays of inner arrays, and in a loop.
    let deeper =
        comp![[row.sum() | k <- 1..n, let row = [c + n * k | j <- 0..k, group by c = j % 2]] | n <- 3..5];
    assert_eq!(rows_on_sim(deeper), [vec![3, 13], vec![4, 17, 25]]);
    let rounds = comp![
        (row.sum(), rounds)
        | (a, b) <- ranges, let row = [x | x <- xs[a..b]], let rounds = 0,
        while row.size() > 1 { row = [count![] + a | x <- row, group by x % 3]; rounds += 1 }
    ];
    assert_eq!(on_sim(rounds), [(2, 2), (0, 0), (3, 4)]);
    // Groups of groups: how many numbers come how often.
    let times =
        comp![[(c, count![]) | x <- xs[a..b], group by x, let c = count![], group by c] | (a, b) <- ranges];
    assert_eq!(rows_on_sim(times), [vec![(2, 2)], vec![], vec![(1, 1), (2, 2)]]);
    // Inner groups of outer ones: reductions are of the nearest `group by` before them.
    let nested = comp![
        [(x, count![], rest, sum![x + j]) | j <- 0..count![], group by rest = j % 2] | x <- xs, group by x
    ];
    assert_eq!(
        rows_on_sim(nested),
        [vec![(1, 1, 0, 1), (1, 1, 1, 2)], vec![(3, 2, 0, 8), (3, 1, 1, 4)], vec![(5, 1, 0, 5)]]
    );
}

#[test]
fn a_reduction_inside_of_another_is_divided_where_there_are_few() {
    let nested =
        |xs: Acc<Vector<i64>>, n: Exp<i64>| comp![sum![sum![x * y - z | z <- 0..y] | y <- 0..n] | x <- xs];
    let compiled = Compiler::on("sim").unwrap().compile(nested).unwrap();
    // How many inner sums there are decides; here the host need not read it.
    for (xs, n, kernels) in
        [(vec![5i64, 0, 3], 7i64, 2), (vec![5i64, 0, 3], 30_000, 1), (vec![1; 70_000], 1, 1)]
    {
        let plan = compiled.explain((&xs, n)).unwrap().to_string();
        assert_eq!(plan.matches("threads, by fold of sources\n").count(), kernels, "{plan}");
        assert!(!plan.contains("the host reads"), "{plan}");
    }
}

#[test]
fn the_host_reads_how_long_rows_are_if_there_are_any() {
    let sort = Compiler::on("sim").unwrap().compile(|rows: AccRagged<i64>| rows.sort()).unwrap();
    for (rows, reads) in [(vec![], 0), (vec![vec![3i64, 1], vec![2]], 1)] {
        let plan = sort.explain(&Ragged::from(rows)).unwrap().to_string();
        assert_eq!(plan.matches("the host reads").count(), reads, "{plan}");
    }
}

#[test]
fn generators_in_step_draw_from_filtered_and_nested_comprehensions() {
    let (xs, ns) = (use_([3i64, 1, 4, 5]), use_([5i64, 0, 3, 9]));
    let even = comp![(n, j, x) | n <- ns, j <- [j | j <- 0..n, j % 2 == 0] | x <- xs];
    let plain: Vec<_> = [5i64, 0, 3, 9]
        .iter()
        .flat_map(|n| (0..*n).step_by(2).zip([3i64, 1, 4, 5]).map(move |(j, x)| (*n, j, x)))
        .collect();
    assert_eq!(on_sim(even), plain);
    let sums = comp![sum![j * x | j <- [j + k | j <- 0..n, k <- 0..2] | x <- xs] | n <- ns];
    assert_eq!(on_sim(sums), [1 + 4 + 10, 0, 1 + 4 + 10, 1 + 4 + 10]);
    // Both depend, and one of them draws from another that has a condition, or from inner arrays.
    let both = comp![
        j * 10 + r
        | n <- ns, j <- [2 * y | y <- [y | y <- 0..n, y % 2 == 1]] | r <- [row.sum() | k <- 1..n, let row = [i | i <- 0..k]]
    ];
    assert_eq!(on_sim(both), [20, 61, 20, 20, 61, 103, 146]);
}

#[test]
fn a_generator_draws_from_what_is_sorted_cut_and_once_in_its_source_alone() {
    let (xs, ns) = (use_([3i64, 1, 3, 5]), use_([3i64, 1, 4]));
    let last = comp![(n, x) | n <- ns, x <- [j | j <- 0..n, order by j desc, take 2]];
    assert_eq!(on_sim(last), [(3, 2), (3, 1), (1, 0), (4, 3), (4, 2)]);
    let same = comp![(n, x) | n <- ns, x <- [x | x <- xs, distinct], x < n];
    assert_eq!(on_sim(same), [(3, 1), (4, 1), (4, 3)]);
    let in_step = comp![(x, y) | n <- ns, x <- [j | j <- 0..n, order by j desc] | y <- xs, x > 1];
    assert_eq!(on_sim(in_step), [(2, 3), (3, 3), (2, 1)]);
    let counted = comp![count![x <- [x % n | x <- xs, distinct], x > 0] | n <- ns];
    assert_eq!(on_sim(counted), [2, 0, 2]);
    let count = Compiler::on("sim").unwrap().run(count![_ <- [x | x <- xs, distinct]]).unwrap();
    assert_eq!(count.to_value().unwrap(), 3);
}

#[test]
fn inner_arrays_of_inner_arrays() {
    let ns = use_([3i64, 4]);
    // For each n and each k below it, the largest two of some numbers; their sum for each n.
    let sums = comp![
        sum![row[0] + row[1] | k <- 1..n, let row = [j * k % 5 | j <- 0..=k].sort_by_key(|x| -x)]
        | n <- ns
    ];
    let plain = |n: i64| {
        (1..n)
            .map(|k| {
                let mut row: Vec<i64> = (0..=k).map(|j| j * k % 5).collect();
                row.sort_unstable_by(|a, b| b.cmp(a));
                row[0] + row[1]
            })
            .sum::<i64>()
    };
    assert_eq!(on_sim(sums), [plain(3), plain(4)]);
    let nested = comp![[row.sum() | k <- 1..n, let row = [j | j <- 0..=k]] | n <- ns];
    assert_eq!(rows_on_sim(nested), [vec![1, 3], vec![1, 3, 6]]);
    let two = comp![[x * y | x <- row | y <- row.sort()].sum() | n <- ns, let row = [j * 2 % 3 | j <- 0..n]];
    assert_eq!(on_sim(two), [4, 1]);
}

#[test]
fn rows_loop_until_each_is_done() {
    let rows = use_ragged(&[vec![8.0f32, 16.0], vec![], vec![1.0, 2.0], vec![100.0]]);
    let halved = rows.while_(|rows| rows.sum().map(|sum| sum.gt(10.0)), |rows| rows.map(|x| x / 2.0));
    assert_eq!(rows_on_sim(halved), [vec![2.0, 4.0], vec![], vec![1.0, 2.0], vec![6.25]]);
    // A step never sees a row that is done: dividing by its length would fail for an empty one.
    let rows = use_ragged(&[vec![5i64, 1, 2], vec![], vec![9]]);
    let (left, rounds) = while_rows(
        (rows, fill(3, 0)),
        |(rows, _)| rows.lengths().map(|length| length.gt(0)),
        |(rows, rounds)| {
            let means = rows.clone().sum().zip_with(rows.lengths(), |sum, length| sum / length);
            let left = comp![[x | x <- rows[i], x < means[i]] | i <- 0..rows.size()];
            (left, rounds.map(|n| n + 1))
        },
    );
    assert_eq!(rows_on_sim(left), vec![vec![0i64; 0]; 3]);
    assert_eq!(on_sim(rounds), [2, 0, 1]);
}

#[test]
fn each_element_goes_round_its_own_loop() {
    let limits = use_([3.0f32, 100.0, 1.0]);
    let halved = comp![
        (row.sum(), rounds)
        | limit <- limits, let row = [j as f32 | j <- 0..5], let rounds = 0,
        while row.sum() > limit { row = [x / 2.0 | x <- row]; rounds += 1 }
    ];
    assert_eq!(on_sim(halved), [(2.5, 2), (10.0, 0), (0.625, 4)]);
    let rows = comp![
        row | n <- 3..6, n != 4, let row = [j | j <- 0..n],
        while row.size() > 2 { let least = row.min(); row = [x | x <- row, x > least]; row = row.map(|x| x + 1) }
    ];
    assert_eq!(rows_on_sim(rows), [vec![2, 3], vec![6, 7]]);
    // Without arrays, it is a loop of each thread.
    let steps = comp![(n, count) | n <- 1..6, let (x, count) = (n, 0), while x != 1 { x = if x % 2 == 0 { x / 2 } else { 3 * x + 1 }; count += 1 }];
    assert_eq!(on_sim(steps), [(1, 0), (2, 1), (3, 7), (4, 2), (5, 5)]);
    // With a reduction, all advance together: the smallest number whose divisors sum up to more than so many times itself.
    let abundant =
        comp![n | k <- 1..3, let n = 2, while sum![d | d <- 1..n, n % d == 0] < k * n / 2 + 1 { n += 1 }];
    assert_eq!(on_sim(abundant), [4, 12]);
}

#[test]
fn rows_whose_lengths_are_known_are_not_counted() {
    let compiler = Compiler::on("sim").unwrap();
    let known = |ns: Acc<Vector<i64>>| comp![[(x, n) | j <- 0..n, let x = j * n] | n <- ns, n > 0];
    let text = compiler.compile(known).unwrap().describe();
    assert!(!text.contains("permute") && text.contains("scan"), "{text}");
    let counted = |ns: Acc<Vector<i64>>| comp![[j | j <- 0..n, j % 2 == 0] | n <- ns];
    assert!(compiler.compile(counted).unwrap().describe().contains("permute"));
}
