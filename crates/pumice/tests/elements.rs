//! Elements that users define: `#[derive(Elt)]` on structs and enums, in array programs, kernels and on the host.

#![deny(warnings, missing_docs)]

use pumice::kernel::{Block, Grid, Ix, Pull, Push};
use pumice::layers::array::HostData;
use pumice::layers::scalar::ScalarType::{self, Bool, F32, I32, U32};
use pumice::{Compiler, Result, prelude::*};
use std::sync::Arc;

fn sim() -> Result<Compiler> {
    Compiler::on("sim")
}

/// A public struct, whose expression needs no documentation of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Elt)]
pub struct Point {
    /// To the right.
    pub x: f32,
    /// Upwards.
    pub y: f32,
}

impl std::ops::Add for PointExp {
    type Output = PointExp;
    fn add(self, other: PointExp) -> PointExp {
        PointExp { x: self.x + other.x, y: self.y + other.y }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Elt)]
struct Pair<T, const N: usize = 1>
where
    T: Send,
{
    key: T,
    rest: [Option<T>; N],
}

#[derive(Clone, Copy, Debug, PartialEq, Elt)]
struct Metres(f32);

#[derive(Clone, Copy, Debug, PartialEq, Elt)]
struct Nothing;

#[derive(Clone, Copy, Debug, PartialEq, Elt)]
enum Shape {
    Circle(f32),
    Rect { width: f32, height: f32 },
    Point,
    Polygon { corners: i32, at: Point },
}

/// Names that are words of Rust, and a type that gives its expression another name.
#[derive(Clone, Copy, Debug, PartialEq, Elt)]
#[elt(exp = "Instruction")]
enum Word<T> {
    Loop(T),
    Type { r#match: T, value: Metres },
    Self_,
    If(Option<Nested>),
}

#[derive(Clone, Copy, Debug, PartialEq, Elt)]
enum Nested {
    Only(bool),
}

const SHAPES: [Shape; 5] = [
    Shape::Polygon { corners: 5, at: Point { x: 1.0, y: 2.0 } },
    Shape::Circle(3.0),
    Shape::Rect { width: 4.0, height: 5.0 },
    Shape::Point,
    Shape::Circle(-1.0),
];

#[test]
fn columns_are_those_of_the_fields_and_variants_share_them() {
    assert_eq!(Point::types(), [F32, F32]);
    assert_eq!(<Pair<i32, 2>>::types(), [I32, Bool, I32, Bool, I32]);
    assert_eq!(Nothing::types(), []);
    assert_eq!(Shape::types(), [U32, F32, F32, I32]);
    assert_eq!(<Word<f32>>::types(), [U32, F32, F32, Bool, U32, Bool]);
    assert_eq!(Nested::types(), [U32, Bool]);
}

fn there_and_back<T: Elt>(values: &[T]) {
    let array: Vector<T> = values.into();
    assert_eq!(array.to_vec().ok().as_deref(), Some(values));
}

#[test]
fn values_come_back_from_their_columns() {
    there_and_back(&SHAPES);
    there_and_back::<Shape>(&[]);
    there_and_back(&[Nothing; 3]);
    there_and_back(&[Metres(1.5), Metres(-0.0)]);
    there_and_back(&[Pair { key: 1u64, rest: [Some(2), None] }, Pair { key: 3, rest: [None, None] }]);
    there_and_back(&[
        Word::Type { r#match: 7i64, value: Metres(0.5) },
        Word::Self_,
        Word::If(Some(Nested::Only(true))),
        Word::Loop(-1),
        Word::If(None),
    ]);
    there_and_back(&[Some(SHAPES[0]), None, Some(SHAPES[2])]);
}

/// More fields than a tuple that is an element can have.
#[derive(Clone, Copy, Debug, PartialEq, Elt)]
struct Long(u8, u16, u32, u64, i8, i16, i32, i64, f32, f64, bool, char, (f32, i32), Point);

#[test]
fn a_struct_has_any_number_of_fields() -> Result<()> {
    let corner = Point { x: 0.5, y: -1.0 };
    let value = Long(1, 2, 3, 4, -5, -6, -7, -8, 9.0, 10.0, true, 'l', (13.0, 14), corner);
    let types: Vec<_> = Long::types().iter().map(|ty| ty.to_string()).collect();
    assert_eq!(types.join(" "), "u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 bool u32 f32 i32 f32 f32");
    let doubled = use_([value]).map(|long| LongExp { 0: long.0 * 2, ..long });
    assert_eq!(sim()?.run(doubled)?.to_vec()?, [Long { 0: 2, ..value }]);
    Ok(())
}

#[test]
fn a_tag_that_no_variant_has_is_the_last_variant() -> Result<()> {
    let bytes = |words: [u32; 2]| words.map(u32::to_le_bytes).concat();
    let columns = vec![bytes([77, 0]), bytes([0, 2.0f32.to_bits()]), bytes([0, 0]), bytes([6, 0])];
    let types: Vec<ScalarType> = Shape::types();
    let array = Vector::<Shape>::from_data(Arc::new(HostData::new(vec![2], types, columns)))?;
    let last = Shape::Polygon { corners: 6, at: Point::default() };
    assert_eq!(array.to_vec()?, [last, Shape::Circle(2.0)]);
    let corners = sim()?
        .run(use_(&array).map(|s| s.match_(|_| constant(0), |_, _| constant(1), || constant(2), |n, _| n)))?;
    assert_eq!(corners.to_vec()?, [6, 0]);
    // Columns that are shorter than they should be are an error, as for scalars.
    let short = HostData::new(vec![2], Shape::types(), vec![Vec::new(); 4]);
    assert!(Vector::<Shape>::from_data(Arc::new(short))?.to_vec().is_err());
    Ok(())
}

#[test]
fn variants_are_made_tested_and_matched() -> Result<()> {
    let shapes = use_(SHAPES);
    let turned = shapes.clone().map(|shape| {
        shape.match_(
            |radius| ShapeExp::rect(radius, 2.0),
            |width, height| ShapeExp::polygon(4, PointExp { x: height, y: width }),
            || ShapeExp::circle(1.0),
            |corners, at| cond(corners.gt(4), ShapeExp::point, || ShapeExp::circle(at.x)),
        )
    });
    let expected = [
        Shape::Point,
        Shape::Rect { width: 3.0, height: 2.0 },
        Shape::Polygon { corners: 4, at: Point { x: 5.0, y: 4.0 } },
        Shape::Circle(1.0),
        Shape::Rect { width: -1.0, height: 2.0 },
    ];
    assert_eq!(sim()?.run(turned)?.to_vec()?, expected);
    let tests = shapes.clone().map(|s| (s.is_circle(), s.is_rect(), s.is_point(), s.is_polygon()));
    let plain = SHAPES.map(|s| {
        let number = match s {
            Shape::Circle(_) => 0,
            Shape::Rect { .. } => 1,
            Shape::Point => 2,
            Shape::Polygon { .. } => 3,
        };
        (number == 0, number == 1, number == 2, number == 3)
    });
    assert_eq!(sim()?.run(tests)?.to_vec()?, plain);
    let unpacked = shapes.map(|s| {
        // What `#[embed]` reads where it has looked.
        let (radius, corners, at) = (s.circle_field_0, s.polygon_field_corners, s.polygon_field_at);
        cond(s.is_circle(), || (radius, constant(0)), || (at.y, corners))
    });
    assert_eq!(sim()?.run(unpacked)?.to_vec()?[..2], [(2.0, 5), (3.0, 0)]);
    Ok(())
}

#[test]
fn functions_of_other_variants_are_not_evaluated() -> Result<()> {
    let divide = |shape: ShapeExp| {
        shape.match_(|_| constant(1), |_, _| constant(2), || constant(3), |corners, _| 60 / corners)
    };
    assert_eq!(sim()?.run(use_(SHAPES).map(divide))?.to_vec()?, [12, 1, 2, 3, 1]);
    // Of a variant that is known, nothing is left of the others.
    let known = ShapeExp::rect(2.0, 3.0).match_(|r| r, |w, h| w * h, || constant(0.0), |_, at| at.x);
    assert_eq!(known.term().constant(), Some(6f32.into()));
    Ok(())
}

#[test]
fn equality_is_that_of_the_values() -> Result<()> {
    let others = [SHAPES[0], Shape::Circle(3.5), SHAPES[2], Shape::Circle(0.0), Shape::Circle(-1.0)];
    let found = use_(SHAPES).zip_with(use_(others), |a, b| (a.eq(b), a.ne(b), a.eq(Shape::Point)));
    let expected: Vec<_> =
        SHAPES.iter().zip(&others).map(|(a, b)| (a == b, a != b, *a == Shape::Point)).collect();
    assert_eq!(sim()?.run(found)?.to_vec()?, expected);
    // Zeros of either sign are equal, and what is not a number differs from itself.
    let points = [Point { x: 0.0, y: 1.0 }, Point { x: f32::NAN, y: 1.0 }];
    let found = use_(points).map(|p| (p.eq(PointExp { x: constant(-0.0), y: constant(1.0) }), p.ne(p)));
    assert_eq!(sim()?.run(found)?.to_vec()?, [(true, false), (false, true)]);
    Ok(())
}

#[test]
fn generic_types_and_strange_names_work_in_programs() -> Result<()> {
    let words =
        [Word::Loop(1.5f32), Word::Type { r#match: 2.0, value: Metres(3.0) }, Word::Self_, Word::If(None)];
    let swapped = use_(words).map(|word| {
        word.match_(
            |x| Instruction::r#type(x, MetresExp(x)),
            |x, MetresExp(value)| Instruction::r#loop(x + value),
            || Instruction::r#if(some(NestedExp::only(true))),
            |_| Instruction::self_(),
        )
    });
    let expected = [
        Word::Type { r#match: 1.5, value: Metres(1.5) },
        Word::Loop(5.0),
        Word::If(Some(Nested::Only(true))),
        Word::Self_,
    ];
    assert_eq!(sim()?.run(swapped)?.to_vec()?, expected);
    fn first<T: pumice::Number>(pair: PairExp<T, 2>) -> Exp<T> {
        pair.rest[0].unwrap_or(pair.key)
    }
    let pairs = [Pair { key: 1, rest: [Some(5), None] }, Pair { key: 2, rest: [None, Some(9)] }];
    assert_eq!(sim()?.run(use_(pairs).map(first))?.to_vec()?, [5, 2]);
    assert_eq!(
        sim()?.run(use_([Nothing; 3]).map(|nothing| (nothing, constant(1))))?.to_vec()?,
        [(Nothing, 1); 3]
    );
    Ok(())
}

#[test]
fn structs_go_through_every_kind_of_operation() -> Result<()> {
    let points: Vec<Point> = (0..1000).map(|i| Point { x: (i * 7 % 13) as f32, y: i as f32 }).collect();
    let zero = Point::default();
    let sum = |points: &[Point]| points.iter().fold(zero, |a, b| Point { x: a.x + b.x, y: a.y + b.y });
    let (folded, scanned, sorted) = sim()?.run((
        use_(&points).fold(zero, |a, b| a + b),
        use_(&points).scanl(zero, |a, b| a + b),
        use_(&points).sort_by_key(|p| p.x),
    ))?;
    assert_eq!(folded.to_value()?, sum(&points));
    assert_eq!(scanned.to_vec()?[500], sum(&points[..500]));
    let mut expected = points.clone();
    expected.sort_by(|a, b| a.x.total_cmp(&b.x));
    assert_eq!(sorted.to_vec()?, expected);
    // Combined at an index with the struct's operator, which no atomic operation does.
    let sums = use_(&points).permute(|new, old| new + old, fill(10, zero), |i| some(i % 10));
    let plain: Vec<Point> =
        (0..10).map(|k| sum(&points.iter().skip(k).step_by(10).copied().collect::<Vec<_>>())).collect();
    assert_eq!(sim()?.run(sums)?.to_vec()?, plain);
    // The state of a loop, and an option of a struct.
    let moved = iterate(3, use_(&points), |points| points.map(|p| p + p));
    let right = sim()?.run(moved.map(|p| cond(p.x.gt(50.0), || some(p), none)))?.to_vec()?;
    let plain = |p: &Point| (8.0 * p.x > 50.0).then_some(Point { x: 8.0 * p.x, y: 8.0 * p.y });
    assert_eq!(right, points.iter().map(plain).collect::<Vec<_>>());
    let filtered = sim()?.run(use_(SHAPES).filter(|s| s.is_circle()))?;
    assert_eq!(filtered.to_vec()?, [Shape::Circle(3.0), Shape::Circle(-1.0)]);
    Ok(())
}

/// The sums of blocks of 64 points, and what is missing in the last block is zero.
fn block_sums(points: Pull<Point, Ix>) -> Push<Grid, Point, Ix> {
    let blocks = (points.len() + 63) / 64;
    let padded = points.padded(blocks * 64, constant(Point::default()));
    let sum = |mut part: Pull<Point>| {
        while part.len() > 1 {
            let (low, high) = part.halve();
            part = low.zip_with(high, |a, b| a + b).push::<Block>().force();
        }
        part.push::<Block>()
    };
    padded.split_up(64).map(sum).concat()
}

#[test]
fn kernels_have_structs_enums_arrays_and_results() -> Result<()> {
    let sums = sim()?.kernel("block_sums", 32, block_sums)?;
    let points: Vec<Point> = (0..130).map(|i| Point { x: i as f32, y: 1.0 }).collect();
    let part = |part: &[Point]| Point { x: part.iter().map(|p| p.x).sum(), y: part.len() as f32 };
    assert_eq!(sums.run(&points)?.to_vec()?, points.chunks(64).map(part).collect::<Vec<_>>());
    type Row = (Shape, [i32; 2]);
    let looked = |rows: Pull<Row, Ix>| -> Push<Grid, std::result::Result<i32, Shape>, Ix> {
        rows.map(|(shape, [a, b])| cond(shape.is_point(), || ok(a + b), || err(shape))).push()
    };
    let rows: Vec<Row> = SHAPES.iter().map(|shape| (*shape, [3, 4])).collect();
    let found = sim()?.kernel("looked", 32, looked)?.run(&rows)?.to_vec()?;
    assert_eq!(found, SHAPES.map(|shape| if shape == Shape::Point { Ok(7) } else { Err(shape) }));
    Ok(())
}

#[test]
fn an_index_into_an_element_fails_at_its_place() -> Result<()> {
    let line = line!() + 1;
    let found = use_([[1, 2, 3], [4, 5, 6]]).zip_with(use_([2i64, 3]), |row, i| row.at(i));
    let failure = sim()?.run(found)?.to_vec().err().map(|error| error.to_string()).unwrap_or_default();
    assert!(failure.contains(&format!("elements.rs:{line}")) && failure.contains('3'), "{failure}");
    Ok(())
}

#[test]
fn arrays_of_derived_types_are_printed() {
    let array: Vector<Shape> = SHAPES[1..3].into();
    assert!(format!("{array:?}").contains("Circle(3.0), Rect { width: 4.0, height: 5.0 }"), "{array:?}");
}
