//! Tiles (rules 93 to 97): matrices in a block's memory, and matrices that are made of tiles, one block each.

use super::costs::{CostCounts, CostLevel};
use super::running::Writer;
use super::stores::Memory;
use super::value::{Call, Elements, Pull, Push, PushKind, Shape, Tiles, Value};
use super::{Evaluator, Location, Outcome};
use crate::source::Span;
use std::rc::Rc;

impl<'p> Evaluator<'p> {
    /// `ifWhole` (rule 93): chooses a function by the number of elements.
    pub(super) fn if_whole(&self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let span = call.span;
        let [size, whole, rest, array] = &call.arguments[..] else {
            return Err(self.fault(span, "an argument is missing"));
        };
        let (size, length) = (self.extent(size, "ifWhole", span)?, self.pull(array, span)?.shape.count());
        self.step(span);
        self.apply(if size == length { whole } else { rest }, array.clone(), span)
    }

    /// `forceTile` (rule 95): the rows of a tile in a block's memory.
    pub(super) fn tile_forced(&self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let span = call.span;
        let [_, side, matrix] = &call.arguments[..] else {
            return Err(self.fault(span, "an argument is missing"));
        };
        let (side, matrix) = (self.extent(side, "forceTile", span)?, self.pull(matrix, span)?);
        let rows = matrix.shape.count();
        let columns = if rows == 0 { 0 } else { self.row_at(&matrix, 0, span)?.shape.count() };
        if rows > side || columns > side {
            let message = format!("a tile of {rows} × {columns} elements, whose side is {side}");
            return Err(self.wrong(span, message));
        }
        let forced = self.rows_stored((rows, columns), span, |row, column| {
            self.element_at(&self.row_at(&matrix, row, span)?, column, span)
        })?;
        self.waited_for(1, span);
        Ok(forced)
    }

    /// `forceWindows` (rule 96): windows of two matrices in a block's memory, and one barrier for both.
    pub(super) fn windows_forced(&self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let span = call.span;
        let [otherwise, first, second] = &call.arguments[..] else {
            return Err(self.fault(span, "an argument is missing"));
        };
        let windows = [first, second].map(|window| self.window(window, otherwise, span));
        let windows = windows.into_iter().collect::<Outcome<Rc<[_]>>>()?;
        self.waited_for(2, span);
        Ok(Value::Tuple(windows))
    }

    /// Returns a window of a matrix; beyond the edges it has `otherwise`.
    fn window(&self, window: &Value<'p>, otherwise: &Value<'p>, span: Span) -> Outcome<Value<'p>> {
        let missing = || self.fault(span, "a window is wanted here");
        let Value::Tuple(parts) = window else { return Err(missing()) };
        let [Value::Record(fields), width, corner, matrix] = &parts[..] else { return Err(missing()) };
        let field = |wanted: &str| {
            let found = fields.iter().find(|(name, _)| &**name == wanted);
            found.map(|(_, value)| value).ok_or_else(missing)
        };
        let size = |name: &str| self.extent(field(name)?, "forceWindows", span);
        let (rows, columns) = (size("rows")?, size("columns")?);
        let transposed = self.scalar(field("transposed")?, span)?.is_true();
        let (width, matrix) = (self.integer(width, span)?, self.pull(matrix, span)?);
        let [row, column] = self.pair(corner, span)?;
        let (row, column) = (self.integer(&row, span)?, self.integer(&column, span)?);
        let extents = if transposed { (columns, rows) } else { (rows, columns) };
        self.rows_stored(extents, span, |outer, inner| {
            let (down, across) = if transposed { (inner, outer) } else { (outer, inner) };
            let inside = |first: i64, more: usize, length: i64| {
                let at = first.saturating_add(more as i64);
                usize::try_from(at).ok().filter(|_| at < length)
            };
            let height = matrix.shape.count() as i64;
            match (inside(row, down, height), inside(column, across, width)) {
                (Some(row), Some(column)) => self.element_at(&self.row_at(&matrix, row, span)?, column, span),
                _ => Ok(otherwise.clone()),
            }
        })
    }

    /// Rows of elements in a block's memory, each written by the thread that computed it.
    fn rows_stored(
        &self,
        (rows, columns): (usize, usize),
        span: Span,
        element: impl Fn(usize, usize) -> Outcome<Value<'p>>,
    ) -> Outcome<Value<'p>> {
        let (level, count) = (CostLevel::Block, rows.saturating_mul(columns));
        self.respects(level, span)?;
        self.memory(count, span)?;
        let mut values = Vec::new();
        self.dealt(level, count, |number| {
            self.at(Location::Thread(level), || {
                values.push(element(number / columns, number % columns)?);
                self.step(span);
                self.meter.count(span, level, CostCounts { written: 1, ..CostCounts::default() });
                Ok(())
            })
        })?;
        let stored = Elements::Stored(Memory::new(level, values, &self.meter));
        let matrix = self.pull(&self.made(Shape::of(&[rows, columns]), stored, 0, span)?, span)?;
        let depth = matrix.depth;
        self.made(Shape::vector(rows), Elements::Rows(matrix), depth, span)
    }

    /// Counts the barrier behind written elements.
    fn waited_for(&self, forces: u64, span: Span) {
        let barriers = self.waited(CostLevel::Block);
        self.meter.count(span, CostLevel::Block, CostCounts { forces, barriers, ..CostCounts::default() });
    }

    /// `concatTiles2D` and `concatOwned`: returns the number of elements, and the push array's kind.
    pub(super) fn tiled(&self, call: &Call<'p>) -> Outcome<(usize, PushKind<'p>)> {
        let (span, name) = (call.span, &*call.name);
        let extent = |value: &Value<'p>| self.extent(value, name, span);
        let (sides, rows, columns, place, of) = match &call.arguments[..] {
            [side, rows, columns, of] => ([extent(side)?; 2], rows, columns, None, of),
            [sides, rows, columns, place, of] => {
                let [height, width] = self.pair(sides, span)?;
                ([extent(&height)?, extent(&width)?], rows, columns, Some(place.clone()), of)
            }
            _ => return Err(self.fault(span, "an argument is missing")),
        };
        let (rows, columns, of) = (extent(rows)?, extent(columns)?, self.pull(of, span)?);
        let tiles = Tiles { sides: sides.map(|side| side.max(1)), rows, columns, place, of };
        Ok((rows.saturating_mul(columns), PushKind::Tiles(tiles)))
    }

    /// Runs the tiles of a matrix (rule 97).
    pub(super) fn run_tiles(&self, push: &Push<'p>, tiles: &Tiles<'p>, write: Writer<'_, 'p>) -> Outcome<()> {
        let (own, below, [height, width]) = (push.span, CostLevel::Block, tiles.sides);
        let (down, across) = (tiles.rows.div_ceil(height), tiles.columns.div_ceil(width));
        let thread = Location::Thread(below);
        self.dealt_parts(push.level, below, down.saturating_mul(across), |number| {
            self.at(Location::Group(below), || {
                let row_of_tiles = self.row_at(&tiles.of, number / across, own)?;
                let tile = self.row_at(&row_of_tiles, number % across, own)?;
                let (first_row, first_column) = (number / across * height, number % across * width);
                let Some(place) = &tiles.place else {
                    let here = (height.min(tiles.rows - first_row), width.min(tiles.columns - first_column));
                    return self.dealt(below, here.0 * here.1, |element| {
                        let (row, column) = (element / here.1, element % here.1);
                        self.at(thread, || {
                            let value = self.element_at(&self.row_at(&tile, row, own)?, column, own)?;
                            write((first_row + row) * tiles.columns + first_column + column, value)
                        })
                    });
                };
                self.dealt(below, tile.shape.count(), |thread_number| {
                    self.at(thread, || {
                        let values = self.row_at(&tile, thread_number, own)?;
                        for k in 0..values.shape.count() {
                            let at =
                                self.apply_all(place, [thread_number, k].map(super::pulls::whole), own)?;
                            let [row, column] = self.pair(&at, own)?;
                            let row = first_row + self.within(&row, height, "concatOwned", own)?;
                            let column = first_column + self.within(&column, width, "concatOwned", own)?;
                            let value = self.element_at(&values, k, own)?;
                            if row < tiles.rows && column < tiles.columns {
                                write(row * tiles.columns + column, value)?;
                            }
                        }
                        Ok(())
                    })
                })
            })
        })
    }

    /// Returns an array inside of another one.
    fn row_at(&self, of: &Rc<Pull<'p>>, number: usize, span: Span) -> Outcome<Rc<Pull<'p>>> {
        self.pull(&self.element_at(of, number, span)?, span)
    }

    /// Returns the element with a number, or an error if it is out of bounds.
    fn element_at(&self, of: &Rc<Pull<'p>>, number: usize, span: Span) -> Outcome<Value<'p>> {
        let count = of.shape.count();
        if number >= count {
            return Err(self.wrong(span, format!("element {number} is wanted of an array of {count}")));
        }
        self.element(of, number, span)
    }
}
