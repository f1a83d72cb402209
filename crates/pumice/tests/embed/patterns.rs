//! Paths through modules, patterns with `|`, and references, in embedded functions.

// References are written as users may write them.
#![allow(clippy::op_ref)]

use super::{agree, integers, pairs};
use pumice::prelude::*;

mod inner {
    use pumice::prelude::*;

    #[derive(Clone, Copy, Debug, PartialEq, Elt)]
    pub struct Point {
        pub x: i32,
        pub y: i32,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Elt)]
    pub struct Both(pub i32, pub i32);

    #[derive(Clone, Copy, Debug, PartialEq, Elt)]
    pub enum Turn {
        Left(i32),
        Right { by: i32 },
        None,
    }

    pub const LIMIT: i32 = 7;

    #[embed]
    pub fn doubled(x: i32) -> i32 {
        2 * x
    }

    #[embed]
    impl Point {
        pub fn new(x: i32, y: i32) -> Point {
            Self { x, y }
        }

        pub fn sum(&self) -> i32 {
            let Point { x, y } = self;
            *x + y
        }
    }
}

#[embed]
fn through_modules(p: inner::Point, by: i32) -> inner::Point {
    let inner::Point { x, .. } = p;
    let inner::Both(a, b) = inner::Both(x, by);
    let turn = if b > inner::LIMIT {
        inner::Turn::Left(a)
    } else if b < 0 {
        inner::Turn::Right { by: b }
    } else {
        inner::Turn::None
    };
    match (turn, inner::Both(a, b)) {
        (inner::Turn::Left(n), _) => inner::Point { x: n, ..p },
        (inner::Turn::Right { by }, inner::Both(2, _)) => inner::Point { x: by, y: self::inner::doubled(by) },
        _ => inner::Point::new(inner::Point::sum(&p), 1),
    }
}

#[test]
fn types_behind_modules_agree() {
    agree!(pairs().map(|(a, b)| (inner::Point { x: a, y: 3 }, b)), |p, by| through_modules(p, by));
}

#[derive(Clone, Copy, Debug, PartialEq, Elt)]
enum Figure {
    Circle(i32),
    Square(i32),
    Rect { width: i32, height: i32 },
    Nothing,
}

#[embed]
impl Figure {
    fn width(&self) -> i32 {
        match self {
            Figure::Circle(width) | Figure::Square(width) | Figure::Rect { width, .. } => *width,
            Figure::Nothing => 0,
        }
    }

    fn is_small(&self, limit: i32) -> bool {
        matches_small(*self, limit) || matches_small(*self, Figure::width(self))
    }
}

#[embed]
fn matches_small(figure: Figure, limit: i32) -> bool {
    if let Figure::Circle(n) | Figure::Rect { width: n, height: 1 | 7 } | Figure::Rect { height: n, .. } =
        figure
        && n < limit
    {
        return true;
    }
    let (Figure::Square(n @ (1 | 2)) | Figure::Rect { width: 7, height: n }) = figure else {
        return false;
    };
    n < limit
}

fn figures() -> impl Iterator<Item = (Figure, i32)> {
    pairs().flat_map(|(a, b)| {
        [
            (Figure::Circle(a), b),
            (Figure::Square(a), b),
            (Figure::Rect { width: a, height: b }, 7),
            (Figure::Nothing, a),
        ]
    })
}

#[embed]
fn first_present(a: Option<i32>, b: Option<i32>) -> i32 {
    match (a, b) {
        // The guard holds for either side, so the second one counts where the first one's value is refused.
        (Some(n), _) | (_, Some(n)) if 12 / n > 2 => n,
        (Some(n), None) | (None, Some(n)) => -n,
        (Some(p), Some(q)) => p * q,
        (None, None) => 1000,
    }
}

#[embed]
fn either_way(a: i32, b: i32) -> i32 {
    let result = if a < b { Ok(a) } else { Err(b) };
    let (Ok(n) | Err(n)) = result;
    let mut rounds = 0;
    let mut state = Some(result);
    while let Some(Ok(m) | Err(m)) = state {
        rounds += m;
        state = if rounds > 3 || rounds % 3 == 0 { None } else { Some(Err(2)) };
    }
    n + rounds
}

#[test]
fn sides_of_a_pattern_bind_the_same_names() {
    agree!(figures(), |f, limit| f.is_small(limit));
    agree!(figures(), |f, limit| matches_small(f, limit));
    // The guard would fail for 0, and is not asked of it where the first side matches.
    let values =
        [(Some(3), Some(0)), (Some(9), Some(2)), (Some(9), Some(7)), (None, Some(4)), (Some(9), None)];
    agree!(values.into_iter().chain([(None, Some(8)), (None, None)]), |a, b| first_present(a, b));
    agree!(pairs(), |a, b| either_way(a, b));
}

#[embed]
fn kept(x: Option<i32>, least: i32) -> [Option<i32>; 3] {
    [x.filter(|v| *v > least), x.filter(|&v| v % 2 == 0), x.filter(|v| v >= &least)]
}

#[embed]
fn order(a: f32, b: f32) -> i32 {
    let by = &b;
    a.total_cmp(by) as i32 + f32::total_cmp(&b, &0.5) as i32
}

#[test]
fn shared_references_are_copies() {
    agree!(pairs().map(|(a, b)| (Some(a), b)).chain([(None, 1)]), |x, least| kept(x, least));
    agree!(super::float_pairs(), |a, b| order(a, b));
    agree!(integers().map(|(a,)| (inner::Point { x: a, y: a },)), |p| p.sum());
}
