//! Scans of rows, by every division of their work, on every device: against plain Rust.

use crate::launches::{Column, devices, prepare};
use pumice::layers::runtime::Device;
use pumice_kernel::skeletons::{
    ElementAt, Monoid, Scan, ScanKind, ScanPhases, ScanPlan, ScanState, ScanTask, ScanWay,
};
use pumice_kernel::{Ix, Profile, Scalars, read};
use pumice_program::{Access, MemoryId};
use pumice_scalar::{Elt, Exp, Lift, ScalarType, constant};
use std::rc::Rc;

/// A scan with an operator, in Rust and in the kernel language.
struct Case<T: Elt> {
    name: &'static str,
    element: fn(i64) -> T,
    neutral: T,
    plain: fn(T, T) -> T,
    operator: fn(T::Exp, T::Exp) -> T::Exp,
    commutes: bool,
}

impl<T: Elt> Case<T> {
    fn monoid(&self) -> Monoid {
        let f = self.operator;
        let exp = |scalars: Scalars| T::Exp::from_terms(&mut scalars.0.into_iter());
        Monoid {
            operator: Rc::new(move |a, b| Scalars(f(exp(a), exp(b)).terms())),
            neutral: Scalars(constant::<T, T::Exp>(self.neutral).terms()),
            total: true,
        }
    }
}

fn at(memories: &[MemoryId], types: &[ScalarType], columns: Ix) -> ElementAt {
    let cells: Vec<(MemoryId, ScalarType)> = memories.iter().copied().zip(types.iter().copied()).collect();
    Rc::new(move |row, column| {
        let index = (row * columns + column).term();
        // SAFETY: scans ask for elements of the matrix only.
        Scalars(cells.iter().map(|(memory, ty)| unsafe { read(*memory, *ty, index, false) }).collect())
    })
}

/// Parameters of a scan.
#[derive(Clone, Copy, Debug)]
struct Asked {
    rows: i64,
    columns: i64,
    kind: ScanKind,
    from_right: bool,
}

/// Division of its work: the plan for a profile and a task.
type Division = fn(&Profile, &ScanTask) -> ScanPlan;

/// The kernels of a scan and their memory on a device.
struct Scanner<'a> {
    device: &'a dyn Device,
    types: Vec<ScalarType>,
    monoid: &'a dyn Fn() -> Monoid,
    division: Division,
    commutes: bool,
}

impl Scanner<'_> {
    /// The columns of the result, and those of the totals.
    fn scan(&self, asked: Asked, input: &[Column]) -> (Vec<Column>, Vec<Column>) {
        let Asked { rows, columns, kind, from_right } = asked;
        let device = self.device;
        let task = ScanTask { rows, columns, types: self.types.clone(), cost: 1, commutes: self.commutes };
        let plan = (self.division)(device.profile(), &task);
        let extended = columns + i64::from(kind == ScanKind::Extended);
        let memory = |length: i64| -> Vec<Column> {
            self.types.iter().map(|ty| Column::new(device, *ty, length)).collect()
        };
        let (results, totals) = (memory(rows * extended), memory(rows));
        let width = self.types.len();
        let numbers = [("rows", rows), ("columns", columns), ("tiles", plan.tiles), ("tile", plan.tile)];
        let describe = |memories: &[MemoryId], numbers: &[Ix], totals: &[MemoryId]| {
            let [rows, columns, tiles, tile] = numbers.try_into().expect("four numbers");
            let rows = if asked.rows == 1 { Exp::from(1) } else { rows };
            let tiles = if plan.tiles == 1 { Exp::from(1) } else { tiles };
            let totals = totals.to_vec();
            let write_total = move |row: Ix, total: Scalars| {
                for (memory, term) in totals.iter().zip(&total.0) {
                    // SAFETY: there is an element per row, and each row has one total.
                    unsafe { pumice_kernel::store(*memory, row.term(), *term) };
                }
            };
            Scan {
                rows,
                columns,
                tiles,
                tile,
                at: at(&memories[..width], &self.types, columns),
                monoid: (self.monoid)(),
                kind,
                from_right,
                totals: Some(Rc::new(write_total)),
            }
        };
        let mut given: Vec<(&Column, Access)> = input.iter().map(|column| (column, Access::Read)).collect();
        let outputs = results.iter().chain(&totals).map(|column| (column, Access::Write));
        let before;
        let (words, sums);
        match plan.phases {
            ScanPhases::Three => {
                let tile_sums = memory(rows * plan.tiles);
                given.extend(tile_sums.iter().map(|column| (column, Access::Write)));
                let sums = |memories: &[MemoryId], numbers: &[Ix]| {
                    let scan = describe(memories, numbers, &[]);
                    let push = Scan { totals: None, ..scan }.tile_sums(plan);
                    // SAFETY: there is an element per tile.
                    unsafe { push.write_to(&memories[width..]) };
                };
                prepare(device, "tile_sums", plan.sums_threads(), &given, &numbers, sums).run(device);
                let tiles =
                    Asked { columns: plan.tiles, kind: ScanKind::Exclusive, from_right: false, ..asked };
                let flipped = || if from_right { flip((self.monoid)()) } else { (self.monoid)() };
                let scanner = Scanner { types: self.types.clone(), monoid: &flipped, ..*self };
                before = scanner.scan(tiles, &tile_sums).0;
                given.truncate(width);
                given.extend(before.iter().map(|column| (column, Access::Read)));
                given.extend(outputs);
                let scan = |memories: &[MemoryId], numbers: &[Ix]| {
                    let scan = describe(memories, numbers, &memories[3 * width..]);
                    let sums = at(&memories[width..2 * width], &self.types, Exp::from(0));
                    let push = scan.push_with_sums(plan, Rc::new(move |tile| sums(Exp::from(0), tile)));
                    // SAFETY: there is memory for all results.
                    unsafe { push.write_to(&memories[2 * width..3 * width]) };
                };
                prepare(device, "scan_with_sums", plan.threads, &given, &numbers, scan).run(device);
            }
            ScanPhases::Alone | ScanPhases::LookBack => {
                let state = plan.state(&task);
                words =
                    Column::zeroed(device, ScalarType::U64, state.as_ref().map_or(0, |state| state.words));
                let types = state.as_ref().map_or(Vec::new(), |state| state.types.clone());
                let count = state.as_ref().map_or(0, |state| state.sums);
                sums = types.iter().map(|ty| Column::new(device, *ty, count)).collect::<Vec<_>>();
                given.extend(outputs);
                given.push((&words, Access::ReadWrite));
                given.extend(sums.iter().map(|column| (column, Access::ReadWrite)));
                let scan = |memories: &[MemoryId], numbers: &[Ix]| {
                    let scan = describe(memories, numbers, &memories[2 * width..3 * width]);
                    let state =
                        ScanState { words: memories[3 * width], sums: memories[3 * width + 1..].to_vec() };
                    // SAFETY: the state is as large as the plan says, and zero; there is memory for all results.
                    unsafe { scan.push(plan, Some(state)).write_to(&memories[width..2 * width]) };
                };
                prepare(device, "scan", plan.threads, &given, &numbers, scan).run(device);
            }
        }
        (results, totals)
    }
}

fn flip(monoid: Monoid) -> Monoid {
    let f = monoid.operator.clone();
    Monoid { operator: Rc::new(move |a, b| f(b, a)), ..monoid }
}

impl<T: Elt + PartialEq + std::fmt::Debug> Case<T> {
    /// Scans one row in plain Rust: the result and the total.
    fn expected(&self, asked: Asked, row: &[T]) -> (Vec<T>, T) {
        let mut sum = self.neutral;
        let mut result = Vec::new();
        let elements: Vec<T> = match asked.from_right {
            true => row.iter().rev().cloned().collect(),
            false => row.to_vec(),
        };
        for element in elements {
            let before = sum;
            sum = match asked.from_right {
                true => (self.plain)(element, before),
                false => (self.plain)(before, element),
            };
            result.push(if asked.kind == ScanKind::Inclusive { sum } else { before });
        }
        if asked.kind == ScanKind::Extended {
            result.push(sum);
        }
        if asked.from_right {
            result.reverse();
        }
        (result, sum)
    }

    fn check(&self, device: &dyn Device, division: Division, asked: Asked) {
        let count = (asked.rows * asked.columns) as usize;
        let elements: Vec<T> = (0..count as i64).map(self.element).collect();
        let mut columns = Vec::new();
        T::add_columns(&elements, &mut columns);
        let types = T::types();
        let input: Vec<Column> =
            types.iter().zip(&columns).map(|(ty, bytes)| Column::upload(device, *ty, bytes)).collect();
        let monoid = || self.monoid();
        let scanner =
            Scanner { device, types: types.clone(), monoid: &monoid, division, commutes: self.commutes };
        let (results, totals) = scanner.scan(asked, &input);
        let extended = asked.columns + i64::from(asked.kind == ScanKind::Extended);
        let download = |columns: &[Column], length: i64| -> Vec<T> {
            let bytes: Vec<Vec<u8>> = columns.iter().map(|column| column.download(device, length)).collect();
            T::from_columns(&mut bytes.iter().map(Vec::as_slice), length as usize).expect("columns")
        };
        let found = download(&results, asked.rows * extended);
        let totals = download(&totals, asked.rows);
        let (mut expected, mut expected_totals) = (Vec::new(), Vec::new());
        for row in 0..asked.rows as usize {
            let columns = asked.columns as usize;
            let (result, total) = self.expected(asked, &elements[row * columns..(row + 1) * columns]);
            expected.extend(result);
            expected_totals.push(total);
        }
        let name = (self.name, device.name(), asked);
        let wrong = found.iter().zip(&expected).position(|(found, expected)| found != expected);
        if let Some(index) = wrong {
            panic!("{name:?}: {:?} instead of {:?} at {index}", found[index], expected[index]);
        }
        assert_eq!(totals, expected_totals, "{name:?}: totals");
    }
}

fn sum() -> Case<i32> {
    Case {
        name: "sum",
        element: |i| (i.wrapping_mul(7919) % 1001) as i32 - 500,
        neutral: 0,
        plain: i32::wrapping_add,
        operator: |a, b| a + b,
        commutes: true,
    }
}

/// Composition of affine functions: does not commute.
fn affine() -> Case<(i32, i32)> {
    Case {
        name: "affine",
        element: |i| ((i % 3) as i32 + 1, (i % 7) as i32),
        neutral: (1, 0),
        plain: |(a, b), (c, d)| (a.wrapping_mul(c), b.wrapping_mul(c).wrapping_add(d)),
        operator: |(a, b), (c, d)| (a * c, b * c + d),
        commutes: false,
    }
}

/// Sums of segments, largest elements and whether there was a start: fits no word.
fn segments() -> Case<(f32, bool, i64)> {
    Case {
        name: "segments",
        element: |i| ((i % 5) as f32, i % 11 == 0, i * 37 % 1000),
        neutral: (0.0, false, 0),
        plain: |(a, f, m), (b, g, n)| (if g { b } else { a + b }, f | g, m.max(n)),
        operator: |(a, f, m), (b, g, n)| (g.select(b, a + b), f | g, m.max(n)),
        commutes: false,
    }
}

/// A segmented sum, which fits a word.
fn segmented() -> Case<(f32, bool)> {
    Case {
        name: "segmented",
        element: |i| ((i % 5) as f32, i % 13 == 0),
        neutral: (0.0, false),
        plain: |(a, f), (b, g)| (if g { b } else { a + b }, f | g),
        operator: |(a, f), (b, g)| (g.select(b, a + b), f | g),
        commutes: false,
    }
}

const KINDS: [ScanKind; 3] = [ScanKind::Inclusive, ScanKind::Exclusive, ScanKind::Extended];

/// All kinds, from the left and from the right in turn, by the simulator, which compiles nothing; the others do one.
fn check_all<T: Elt + PartialEq + std::fmt::Debug>(case: &Case<T>, division: Division, sizes: &[(i64, i64)]) {
    for device in devices() {
        let is_quick = device.name().to_string() == "sim";
        for (number, (rows, columns)) in sizes.iter().enumerate() {
            for (k, kind) in KINDS.into_iter().enumerate() {
                let asked = Asked { rows: *rows, columns: *columns, kind, from_right: (number + k) % 2 == 1 };
                if is_quick || (k == 2 && number == sizes.len() - 1 && device.profile().coalesces) {
                    case.check(&*device, division, asked);
                }
            }
        }
    }
}

/// The division by tiles, with tiles that are small enough to have many, on any device.
fn tiles(profile: &Profile, task: &ScanTask) -> ScanPlan {
    let gpu =
        Profile { coalesces: true, max_threads: 1024, threads: 64, vector_bytes: 16, ..profile.clone() };
    let long = ScanTask { columns: 1 << 20, ..task.clone() };
    let plan = ScanPlan { groups: 2, ..ScanPlan::new(&gpu, &long) };
    let tile = i64::from(plan.threads * plan.groups * plan.items);
    let tiles = (task.columns.max(1) + tile - 1) / tile;
    assert_eq!(plan.way, ScanWay::Tiles);
    let phases = if tiles == 1 { ScanPhases::Alone } else { plan.phases };
    ScanPlan { tile, tiles, phases, ..plan }
}

const SIZES: [(i64, i64); 8] =
    [(1, 0), (0, 5), (1, 1), (1, 77), (3, 1000), (1, 5000), (7, 513), (2, 3 * 512)];

/// The division of a device that lets no block wait for another.
fn three_phases(profile: &Profile, task: &ScanTask) -> ScanPlan {
    tiles(&Profile { forward_progress: false, ..profile.clone() }, task)
}

/// The division of a GPU.
fn as_planned(profile: &Profile, task: &ScanTask) -> ScanPlan {
    let gpu = Profile { coalesces: true, max_threads: 1024, vector_bytes: 16, ..profile.clone() };
    ScanPlan::new(&gpu, task)
}

/// The division of a CPU, with stretches that are short enough to have many.
fn stretches(profile: &Profile, task: &ScanTask) -> ScanPlan {
    let cpu = Profile { coalesces: false, threads: 64, lanes: 32, vector_bytes: 0, ..profile.clone() };
    let cut = ScanTask { rows: 1, columns: 1 << 16, ..task.clone() };
    match task.columns > 600 {
        false => ScanPlan::new(&cpu, task),
        true => {
            let plan = ScanPlan::new(&cpu, &cut);
            let step = plan.sums.map_or(1, |fold| fold.step());
            let tile = (100 + step - 1) / step * step;
            let tiles = (task.columns + 4 * tile - 1) / (4 * tile) * 4;
            assert_eq!(plan.way, ScanWay::Stretches);
            ScanPlan { tile, tiles, ..plan }
        }
    }
}

#[test]
fn tiles_look_back() {
    check_all(&sum(), tiles, &SIZES);
    check_all(&affine(), tiles, &SIZES[4..]);
    check_all(&segments(), tiles, &SIZES[3..]);
    check_all(&segmented(), tiles, &SIZES[4..6]);
}

#[test]
fn tiles_are_scanned_in_three_phases() {
    check_all(&sum(), three_phases, &SIZES);
    check_all(&affine(), three_phases, &SIZES[4..]);
    check_all(&segments(), three_phases, &SIZES[3..]);
}

#[test]
fn lanes_share_short_rows() {
    let sizes: [(i64, i64); 14] = [
        (1, 1),
        (5, 0),
        (0, 3),
        (1000, 1),
        (33, 3),
        (70, 4),
        (300, 17),
        (40, 64),
        (129, 64),
        (9, 128),
        (7, 129),
        (3, 500),
        (20, 512),
        (6, 1024),
    ];
    check_all(&sum(), as_planned, &sizes);
    check_all(&affine(), as_planned, &sizes[3..]);
    check_all(&segments(), as_planned, &sizes[3..]);
}

#[test]
fn a_block_scans_a_row() {
    let sizes = [(3, 1025), (2, 2048), (5, 3000), (1, 4096), (2, 5001)];
    check_all(&sum(), as_planned, &sizes);
    check_all(&segmented(), as_planned, &sizes);
}

#[test]
fn workers_go_through_stretches() {
    check_all(&sum(), stretches, &SIZES);
    check_all(&affine(), stretches, &SIZES);
    check_all(&segments(), stretches, &SIZES);
}

/// Tests the division that each device chooses by itself.
#[test]
fn devices_scan_large_and_small_rows() {
    for device in devices().into_iter().filter(|device| device.name().to_string() != "sim") {
        let asked = |rows, columns, kind, from_right| Asked { rows, columns, kind, from_right };
        sum().check(&*device, ScanPlan::new, asked(1, 100_003, ScanKind::Inclusive, false));
        sum().check(&*device, ScanPlan::new, asked(7, 20_000, ScanKind::Extended, true));
        affine().check(&*device, ScanPlan::new, asked(1, 70_001, ScanKind::Exclusive, true));
        segments().check(&*device, ScanPlan::new, asked(1001, 33, ScanKind::Inclusive, false));
    }
}
