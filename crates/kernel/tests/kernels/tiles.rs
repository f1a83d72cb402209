//! Tiles and windows at the edges, and the messages about misuse of them.

use pumice_kernel::{Block, Grid, Ix, Mutable, Pull, Push, Window, define, force_windows, preview, seq_for};
use pumice_program::{SimMemory, simulate, verify};
use pumice_scalar::{Constant, Exp};

#[test]
fn groups_at_the_grid_take_every_size() {
    for n in [0, 1, 7, 31, 32, 33, 64, 100] {
        let xs: Vec<i32> = (0..n).collect();
        let copy = preview(8, &xs, |xs: Pull<i32, Ix>| xs.push_by::<Grid>(4));
        assert_eq!(copy, Ok(xs));
    }
}

#[test]
fn cases_of_another_length_are_refused() {
    let of = |length: usize| {
        preview(8, &[1, 2, 3], move |xs: Pull<i32, Ix>| {
            xs.tiles(2)
                .map(move |tile| {
                    tile.if_whole(
                        2,
                        length,
                        |two| two.push::<Block>(),
                        |one| one.padded(2usize, 0.into()).push(),
                    )
                })
                .concat()
        })
    };
    assert_eq!(of(2), Ok(vec![1, 2, 3, 0]));
    let message = of(3).unwrap_err().to_string();
    assert!(message.contains("not of the length given"), "{message}");
}

#[test]
fn tiles_that_do_not_fit_their_place_are_failures() {
    let twice = preview(8, &[1, 2, 3, 4], |xs: Pull<i32, Ix>| {
        let length = xs.len();
        // Tiles of three elements where there is room for two.
        xs.tiles(2).map(|_| Pull::<i32>::new(3, |_| 0.into()).push::<Block>()).concat_tiles(2, length)
    });
    let message = twice.unwrap_err().to_string();
    assert!(message.contains("concat_tiles"), "{message}");
}

#[test]
fn windows_go_beyond_every_edge() {
    // Sums of 3 by 3 neighbours, of which those outside count as 100.
    let (rows, columns) = (4i64, 5i64);
    let xs: Vec<i32> = (0..20).collect();
    let found = preview(8, &xs, move |xs: Pull<i32, Ix>| {
        let row_of = move |row: Ix| {
            let window = Window { rows: 3, columns: 8, items: 2, transposed: false, padding: 1 };
            let matrix = xs.clone().rows(columns.into());
            let placed = matrix.window(columns.into(), (row - 1, Exp::from(-1)), window);
            let [near] = force_windows([placed], 100.into());
            let sum = move |column: Ix| {
                seq_for::<i32>(9.into(), 1, 0.into(), |sum, k| sum + near.at(k / 3).at(column + k % 3))
            };
            Pull::<i32>::new(columns as usize, sum).push::<Block>()
        };
        Pull::<Push<Block, i32>, Ix>::new(rows.into(), row_of).concat()
    });
    let at = |row: i64, column: i64| match (0..rows).contains(&row) && (0..columns).contains(&column) {
        true => (row * columns + column) as i32,
        false => 100,
    };
    let sum = |(row, column)| (0..9).map(|k| at(row + k / 3 - 1, column + k % 3 - 1)).sum();
    let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    assert_eq!(found, Ok(places.map(sum).collect::<Vec<i32>>()));
}

#[test]
fn groups_that_do_not_fill_a_row_are_refused() {
    let found = preview(8, &[0; 16], |xs: Pull<i32, Ix>| {
        let block = move |_: Ix| {
            let window = Window { rows: 2, columns: 6, items: 4, transposed: false, padding: 0 };
            let placed = xs.clone().rows(4.into()).window(4.into(), (0.into(), 0.into()), window);
            let [rows] = force_windows([placed], 0.into());
            Pull::<i32>::new(1, move |_| rows.at(0).at(0)).push::<Block>()
        };
        Pull::<Push<Block, i32>>::new(1, block).concat()
    });
    let message = found.unwrap_err().to_string();
    assert!(message.contains("rows of 6 in groups of 4"), "{message}");
}

/// A counter that is not zero makes blocks do the last tile again, and nothing outside the array. That is an error.
#[test]
fn tiles_in_order_stay_in_the_array() {
    let definition = define("turn", 8, |xs: Pull<i32, Ix>, counter: Mutable<u64>| {
        let length = xs.len();
        let tiles = xs.tiles(2).map(|tile| tile.reverse().push::<Block>());
        tiles.concat_tiles_in_order(2, length, &counter)
    });
    let program = verify(definition.unwrap().kernel().program.clone()).unwrap();
    let bytes = |xs: &[i32]| xs.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    // One block of one tile, so that nothing races.
    let mut memories = vec![
        SimMemory::from_bytes(bytes(&[1, 2])),
        SimMemory::from_bytes(7u64.to_le_bytes().to_vec()),
        SimMemory::unwritten(8),
        SimMemory::from_bytes(vec![0; 24]),
    ];
    let scalars: Vec<Constant> = [2i64, 1, 0].into_iter().map(Constant::from).collect();
    simulate(&program, &mut memories, &scalars, &Default::default())
        .unwrap_or_else(|fault| panic!("{fault}\n{program}"));
    assert_eq!(memories[2].bytes(), bytes(&[2, 1]));
    assert_eq!(memories[1].bytes(), 8u64.to_le_bytes());
    let failure = memories[3].get(pumice_scalar::ScalarType::I64, 0);
    assert_ne!(failure, Some(Constant::from(0i64)), "no failure was recorded");
}
