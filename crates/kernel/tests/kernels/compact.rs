//! Compactions in one pass and in three phases, on every device: against plain Rust.

use crate::launches::{Column, devices, prepare};
use pumice::layers::runtime::Device;
use pumice_kernel::skeletons::{
    Compact, CompactPlan, CompactTask, Scan, ScanKind, ScanPhases, ScanPlan, ScanState, counting,
};
use pumice_kernel::{Ix, Profile, Scalars, read};
use pumice_program::{Access, MemoryId};
use pumice_scalar::{Exp, Primitive, ScalarType};
use std::rc::Rc;

const TYPES: [ScalarType; 2] = [ScalarType::I32, ScalarType::F64];

/// An element, and whether it is kept.
fn element(i: i64) -> (i32, f64) {
    ((i.wrapping_mul(2654435761) >> 7) as i32, i as f64 / 4.0)
}

fn is_kept((x, _): &(i32, f64)) -> bool {
    x % 4 == 0
}

type Division = fn(&Profile, &CompactTask) -> CompactPlan;

fn at(memories: &[MemoryId]) -> Rc<dyn Fn(Ix) -> (Exp<bool>, Scalars)> {
    let (xs, ys) = (memories[0], memories[1]);
    Rc::new(move |index| {
        // SAFETY: compactions ask for elements of the array only.
        let read = |memory, ty| unsafe { read(memory, ty, index.term(), false) };
        let (x, y) = (read(xs, ScalarType::I32), read(ys, ScalarType::F64));
        ((Exp::<i32>::from_term(x) % 4).eq(0), Scalars(vec![x, y]))
    })
}

fn number<T: Primitive>(scalars: &Scalars) -> Exp<T> {
    Exp::from_term(scalars.0[0])
}

/// Compacts, and returns the elements and the count.
fn compact(
    device: &dyn Device,
    division: Division,
    input: &[Column],
    length: i64,
    kept: Option<i64>,
) -> (Vec<Column>, i64) {
    let plan = division(device.profile(), &CompactTask { length, types: TYPES.to_vec(), cost: 1 });
    let results: Vec<Column> = TYPES.iter().map(|ty| Column::new(device, *ty, length)).collect();
    let count = Column::new(device, ScalarType::I64, 1);
    let numbers = [
        ("length", length),
        ("tiles", plan.scan.tiles),
        ("tile", plan.scan.tile),
        ("kept", kept.unwrap_or(0)),
    ];
    let compaction = |memories: &[MemoryId], numbers: &[Ix], cell: Option<MemoryId>| {
        let tell = |cell: MemoryId| -> Rc<dyn Fn(Ix)> {
            // SAFETY: the cell has an element, which one thread writes.
            Rc::new(move |count: Ix| unsafe {
                pumice_kernel::store(cell, Exp::<i64>::from(0).term(), count.term());
            })
        };
        Compact {
            length: numbers[0],
            tiles: if plan.scan.tiles == 1 { Exp::from(1) } else { numbers[1] },
            tile: numbers[2],
            at: at(memories),
            kept: kept.map(|_| numbers[3]),
            count: cell.map(tell),
        }
    };
    let mut given: Vec<(&Column, Access)> = input.iter().map(|column| (column, Access::Read)).collect();
    let outputs = results.iter().map(|column| (column, Access::Write));
    let scan = plan.scan;
    if scan.phases == ScanPhases::Three {
        let counts = Column::new(device, ScalarType::I64, scan.tiles);
        let offsets = Column::new(device, ScalarType::I64, scan.tiles + 1);
        given.push((&counts, Access::Write));
        let describe = |memories: &[MemoryId], numbers: &[Ix]| {
            let push = compaction(memories, numbers, None).tile_counts(plan);
            // SAFETY: there is an element per tile.
            unsafe { push.write_to(&memories[2..]) };
        };
        prepare(device, "tile_counts", scan.sums_threads(), &given, &numbers, describe).run(device);
        // A scan in one kernel, whatever the device would choose.
        let task = plan.counts_task();
        let whole = Profile { forward_progress: false, ..device.profile().clone() };
        let counts_plan = ScanPlan::new(&whole, &task);
        assert_eq!(counts_plan.phases, ScanPhases::Alone);
        let given = [(&counts, Access::Read), (&offsets, Access::Write), (&count, Access::Write)];
        let describe = |memories: &[MemoryId], numbers: &[Ix]| {
            let (counts, cell) = (memories[0], memories[2]);
            // SAFETY: a scan reads its matrix only; the cell has an element.
            let at =
                move |_: Ix, i: Ix| unsafe { Scalars(vec![read(counts, ScalarType::I64, i.term(), false)]) };
            let total = move |_: Ix, total: Scalars| unsafe {
                pumice_kernel::store(cell, Exp::<i64>::from(0).term(), number::<i64>(&total).term());
            };
            let scan = Scan {
                rows: Exp::from(1),
                columns: numbers[0],
                tiles: Exp::from(1),
                tile: numbers[0],
                at: Rc::new(at),
                monoid: counting(),
                kind: ScanKind::Extended,
                from_right: false,
                totals: Some(Rc::new(total)),
            };
            // SAFETY: there is an element per tile and one more, and no state.
            unsafe { scan.push(counts_plan, None).write_to(&memories[1..2]) };
        };
        prepare(device, "offsets", counts_plan.threads, &given, &[("tiles", scan.tiles)], describe)
            .run(device);
        let mut given: Vec<(&Column, Access)> = input.iter().map(|column| (column, Access::Read)).collect();
        given.push((&offsets, Access::Read));
        given.extend(results.iter().map(|column| (column, Access::Write)));
        let describe = |memories: &[MemoryId], numbers: &[Ix]| {
            let offsets = memories[2];
            // SAFETY: the offsets are what they should be, and there is memory for all elements.
            unsafe {
                let before =
                    move |tile: Ix| Scalars(vec![read(offsets, ScalarType::I64, tile.term(), false)]);
                let push = compaction(memories, numbers, None).push_with_counts(plan, Rc::new(before));
                push.write_to(&memories[3..]);
            }
        };
        prepare(device, "compact", scan.threads, &given, &numbers, describe).run(device);
    } else {
        let words = plan.state().map_or(0, |state| state.words);
        assert!(plan.state().is_none_or(|state| state.types.is_empty()));
        let words = Column::zeroed(device, ScalarType::U64, words);
        given.extend(outputs);
        given.extend([(&count, Access::Write), (&words, Access::ReadWrite)]);
        let describe = |memories: &[MemoryId], numbers: &[Ix]| {
            let state = ScanState { words: memories[5], sums: Vec::new() };
            // SAFETY: the state is what it should be, and there is memory for all elements.
            unsafe {
                compaction(memories, numbers, Some(memories[4]))
                    .push(plan, Some(state))
                    .write_to(&memories[2..4])
            };
        };
        prepare(device, "compact", scan.threads, &given, &numbers, describe).run(device);
    }
    let count = i64::from_le_bytes(count.download(device, 1).try_into().expect("a count"));
    (results, count)
}

fn check(device: &dyn Device, division: Division, length: i64, partition: bool) {
    let elements: Vec<(i32, f64)> = (0..length).map(element).collect();
    let xs: Vec<u8> = elements.iter().flat_map(|(x, _)| x.to_le_bytes()).collect();
    let ys: Vec<u8> = elements.iter().flat_map(|(_, y)| y.to_le_bytes()).collect();
    let input = [Column::upload(device, ScalarType::I32, &xs), Column::upload(device, ScalarType::F64, &ys)];
    let (mut expected, others): (Vec<_>, Vec<_>) = elements.into_iter().partition(is_kept);
    let kept = expected.len() as i64;
    if partition {
        expected.extend(others);
    }
    let (results, count) = compact(device, division, &input, length, partition.then_some(kept));
    assert_eq!(count, kept, "{} {length}", device.name());
    let xs = results[0].download(device, expected.len() as i64);
    let ys = results[1].download(device, expected.len() as i64);
    let xs = xs.chunks(4).map(|bytes| i32::from_le_bytes(bytes.try_into().expect("four bytes")));
    let ys = ys.chunks(8).map(|bytes| f64::from_le_bytes(bytes.try_into().expect("eight bytes")));
    assert!(xs.zip(ys).eq(expected), "{} {length} {partition}", device.name());
}

/// The division by tiles, on any device.
fn tiles(profile: &Profile, task: &CompactTask) -> CompactPlan {
    let gpu =
        Profile { coalesces: true, max_threads: 1024, threads: 64, vector_bytes: 16, ..profile.clone() };
    CompactPlan::new(&gpu, task)
}

fn three_phases(profile: &Profile, task: &CompactTask) -> CompactPlan {
    tiles(&Profile { forward_progress: false, ..profile.clone() }, task)
}

fn stretches(profile: &Profile, task: &CompactTask) -> CompactPlan {
    CompactPlan::new(&Profile { coalesces: false, vector_bytes: 0, lanes: 32, ..profile.clone() }, task)
}

#[test]
fn kept_elements_come_in_order_without_gaps() {
    for device in devices().into_iter().filter(|device| device.name().to_string() == "sim") {
        for division in [tiles as Division, three_phases, stretches] {
            for (number, length) in [0, 1, 100, 255, 256, 257, 5000, 40_000].into_iter().enumerate() {
                check(&*device, division, length, number % 2 == 1);
                check(&*device, division, length, number % 2 == 0);
            }
        }
    }
}

#[test]
fn devices_compact() {
    for device in devices().into_iter().filter(|device| device.name().to_string() != "sim") {
        check(&*device, CompactPlan::new, 50_001, false);
        check(&*device, CompactPlan::new, 50_001, true);
        check(&*device, CompactPlan::new, 0, false);
    }
}
