//! Networks as data, in plain Rust: that they sort, that composed ones are the same, and that groups of stages do what their
//! stages do one after the other.

use pumice_algorithms::fuse::fuse;
use pumice_algorithms::networks::*;

fn apply<T: Ord>(stages: &[Stage], xs: &mut [T]) {
    stages.iter().for_each(|stage| stage.apply(xs));
}

/// The bits of a number as an array of zeros and ones.
fn zeros_and_ones(bits: u32, n: u32) -> Vec<u32> {
    (0..1 << n).map(|wire| bits >> wire & 1).collect()
}

/// A network that sorts all arrays of zeros and ones sorts all arrays.
#[test]
fn sorters_of_16_sort_everything() {
    for (name, stages) in [("tsort", tsort(4)), ("vsort", vsort(4))] {
        for bits in 0..1 << 16 {
            let mut xs = zeros_and_ones(bits, 4);
            apply(&stages, &mut xs);
            assert!(xs.is_sorted(), "{name} of {bits:016b} is {xs:?}");
        }
    }
}

#[test]
fn mergers_of_16_sort_what_they_are_for() {
    let half = |zeros: usize| (0..8).map(move |i| u32::from(i >= zeros));
    for (first, second) in (0..=8).flat_map(|first| (0..=8).map(move |second| (first, second))) {
        let mut rises_and_falls: Vec<u32> = half(first).chain(half(second).rev()).collect();
        apply(&bmerge(4), &mut rises_and_falls);
        assert!(rises_and_falls.is_sorted());
        let mut two_halves: Vec<u32> = half(first).chain(half(second)).collect();
        apply(&tmerge(4), &mut two_halves);
        assert!(two_halves.is_sorted());
        let mut interleaved: Vec<u32> = half(first).zip(half(second)).flat_map(|(a, b)| [a, b]).collect();
        apply(&bpmerge(4), &mut interleaved);
        assert!(interleaved.is_sorted());
    }
}

#[test]
fn recursive_descriptions_come_to_the_same_stages() {
    for n in 0..=10 {
        assert_eq!(bmerge_r(n).stages(), bmerge(n));
        assert_eq!(tmerge_r(n).stages(), tmerge(n));
        assert_eq!(tsort_r(n).stages(), tsort(n));
        assert_eq!(bpmerge_r(n).stages(), bpmerge(n));
        assert_eq!(vsort_r(n).stages(), vsort(n));
    }
}

#[test]
fn combinators_compose() {
    assert_eq!(Network::Two.vee(3).ilv(2).stages(), [Stage::ilv_vee(2, 3)]);
    assert_eq!(Network::Two.ilv(5).stages(), [Stage::ilv(5)]);
    assert_eq!(Network::Id.ilv(5).stages(), []);
}

/// Every element is in one coset, and doing the groups is doing the stages.
#[test]
fn groups_do_what_their_stages_do() {
    for (n, k) in [(1, 4), (4, 1), (4, 2), (5, 3), (6, 4), (9, 3), (9, 4), (10, 5)] {
        for stages in [bmerge(n), tmerge(n), tsort(n), bpmerge(n), vsort(n)] {
            let mut expected: Vec<u32> = (0..1 << n).map(|x: u32| x.wrapping_mul(2654435761) >> 8).collect();
            let mut found = expected.clone();
            apply(&stages, &mut expected);
            let groups = fuse(&stages, n, k);
            let count: usize = groups.iter().map(|group| group.stages().len()).sum();
            assert_eq!(count, stages.len());
            for group in groups {
                assert_eq!(group.elements() * group.cosets(), 1 << n);
                let mut seen = vec![false; 1 << n];
                for coset in 0..group.cosets() {
                    let base = group.base(coset);
                    let index = |k: u32| (base ^ group.offset(k)) as usize;
                    let mut own: Vec<u32> = (0..group.elements()).map(|k| found[index(k)]).collect();
                    group.apply(&mut own, |a, b| (*a.min(b), *a.max(b)));
                    for (k, element) in own.into_iter().enumerate() {
                        let index = index(k as u32);
                        assert!(!std::mem::replace(&mut seen[index], true), "{index} is in two cosets");
                        found[index] = element;
                        let sum = base as usize + group.offset(k as u32) as usize;
                        assert!(!group.adds(k as u32) || sum == index);
                    }
                }
            }
            assert_eq!(found, expected, "{n} {k}");
        }
    }
}

/// The lanes of a warp that read (or write) one element each of their cosets are in different banks of padded memory, as far
/// as there are bits to choose from: in the groups of sorters, two lanes meet at times (with 9 bits three).
#[test]
fn lanes_do_not_meet_in_a_bank() {
    for (n, k, fewest) in [(9, 3, 16), (9, 4, 8), (12, 4, 16)] {
        for (stages, fewest) in
            [(bmerge(n), if n == 12 { 32 } else { fewest }), (tsort(n), fewest), (vsort(n), fewest)]
        {
            for group in fuse(&stages, n, k) {
                for element in 0..group.elements() {
                    let bank = |coset: u32| {
                        let index = group.base(coset) ^ group.offset(element);
                        (index + (index >> 5)) % 32
                    };
                    let mut banks: Vec<u32> = (0..32).map(bank).collect();
                    banks.sort_unstable();
                    banks.dedup();
                    assert!(banks.len() >= fewest, "{} banks, {group:?}", banks.len());
                }
            }
        }
    }
}
