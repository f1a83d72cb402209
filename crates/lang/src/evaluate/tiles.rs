//! Arrays and matrices in tiles, inside of kernels. A tile that is whole is a case of its own, with a length that is known when the kernel
//! is built; tiles and windows of matrices are kept in a block's memory, in a layout without bank conflicts.
//!
//! Each function is one of the kernel language; the code here only determines the values that are data there, like sizes.

use super::builtins::Call;
use super::in_kernel::term_of;
use super::layout::columns;
use super::value::Value;
use super::{Evaluator, Mode, Outcome};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::types::Type;
use pumice_kernel::{
    self as kernel, Any, AnyLevel, Block, Dynamic, Grid, Ix, Layout, Length, Pull, Push, Rows, Scalars,
    Thread, Warp, Window, written_at,
};
use pumice_scalar::{Constant, Exp, Term};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// A push array whose level, elements and length are data.
type AnyPush = Push<AnyLevel, Dynamic, Length>;

impl Evaluator {
    /// `ifWhole`: applies one function to an array that has exactly a given number of elements, and another to any other array.
    pub(super) fn if_whole(self: &Rc<Self>, call: &Call) -> Outcome<Value> {
        let span = call.span;
        let [size, whole, rest, array] = &call.arguments[..] else {
            return Err(self.wrong(span, "an array is wanted here"));
        };
        let size = self.size(size, "how many elements a whole array has", span)?;
        let (array, to) = (self.array(array, span)?, self.element_type(call)?.0);
        let elements = self.elements(array, span)?;
        let case = |f: &Value| {
            let (this, f) = (self.clone(), f.clone());
            let ty =
                Type::Array { element: Box::new(array.element().clone()), sizes: Vec::new(), level: None };
            move |tile: kernel::Value| -> AnyPush {
                let made = this.within(Mode::Kernel, || {
                    let tile = this.of_item(tile, &ty);
                    this.apply(&f, tile, span).and_then(|made| this.as_push(&made, span))
                });
                this.keep(made.map(|(push, _)| push), || super::steps::nothing(AnyLevel::Thread))
            }
        };
        let (whole, rest, tile) = (case(whole), case(rest), elements.clone().dynamic());
        let (of_whole, of_rest) = kernel::probe(|| {
            let exact = elements.clone();
            let exact = Pull::<Dynamic, usize>::new(size, move |i| exact.at(i));
            (whole(exact.into()), rest(tile.clone().into()))
        });
        self.kept(())?;
        let place = self.place("ifWhole", span);
        let level = of_whole.level();
        // A program gives nothing, and so has no length.
        if columns(&to, self.sums()).is_some_and(|columns| columns.is_empty()) {
            let program = move || {
                written_at(place, || {
                    let do_whole = |tile: Pull<Dynamic>| whole(tile.into()).write(&|_, _| {});
                    tile.clone().do_whole(size, do_whole, |tile| rest(tile.into()).write(&|_, _| {}));
                });
            };
            return Ok(Value::Push(program_at(level, of_whole.len(), program), to));
        }
        let length = match (of_whole.len(), of_rest.len()) {
            (whole, rest) if same(whole, rest) => whole,
            (whole, rest) if same(whole, Length::Known(size)) && same(rest, elements.len()) => rest,
            _ => {
                let message = "the two functions of `ifWhole` give arrays of different lengths";
                let help = "both give as many elements, or each as many as it is given";
                return Err(Box::new(Diagnostic::new(span, message).help(help)));
            }
        };
        let made = written_at(place, || {
            tile.if_whole(size, length, move |tile| whole(tile.into()), move |tile| rest(tile.into()))
        });
        Ok(Value::Push(made, to))
    }

    /// `concatTiles`: puts together the tiles that `tiles` made.
    pub(super) fn concat_tiles(self: &Rc<Self>, call: &Call) -> Outcome<Value> {
        let span = call.span;
        let [size, length, parts] = &call.arguments[..] else {
            return Err(self.wrong(span, "an array of push arrays is wanted here"));
        };
        let size = self.size(size, "how many elements a tile has", span)?;
        let length = Exp::from_term(self.scalar(length, span)?.term);
        let tiles = self.as_pull(self.array(parts, span)?, span)?.dynamic();
        let tiles = tiles.map(|tile: kernel::Value| tile.push().at_level::<Block>());
        let all = written_at(self.place("concatTiles", span), || tiles.concat_tiles(size, length));
        Ok(Value::Push(kernel::Value::from(all).push(), self.element_type(call)?.0))
    }

    /// `forceAs`: as `force`, in a layout.
    pub(super) fn force_as(&self, call: &Call) -> Outcome<Value> {
        let span = call.span;
        let [layout, array] = &call.arguments[..] else {
            return Err(self.wrong(span, "a push array is wanted here"));
        };
        let (layout, (push, element)) = (self.layout(layout, span)?, self.as_push(array, span)?);
        if matches!(push.len(), Length::Device(_)) {
            return Err(self.unknown_size(span));
        }
        Ok(self.forced(written_at(self.place("forceAs", span), || push.force_as(layout)), element))
    }

    /// `forceTile`: a matrix of a few rows in a block's memory.
    pub(super) fn force_tile(self: &Rc<Self>, call: &Call) -> Outcome<Value> {
        let span = call.span;
        let [layout, side, matrix] = &call.arguments[..] else {
            return Err(self.wrong(span, "an array of rows is wanted here"));
        };
        let (layout, side) = (self.layout(layout, span)?, self.size(side, "the side of a tile", span)?);
        let matrix = self.matrix(matrix, span)?;
        let forced = written_at(self.place("forceTile", span), || {
            let (rows, columns) = (matrix.len(), matrix.head().len());
            matrix.force_2d_as(rows, columns, side, layout)
        });
        Ok(self.of_item(forced.into(), &self.result_type(call)?))
    }

    /// `concatTiles2D`: a matrix of tiles, one block per tile.
    pub(super) fn concat_tiles_2d(self: &Rc<Self>, call: &Call) -> Outcome<Value> {
        let span = call.span;
        let [side, rows, columns, tiles] = &call.arguments[..] else {
            return Err(self.wrong(span, "an array of rows of tiles is wanted here"));
        };
        let side = self.size(side, "the side of a tile", span)?;
        let (rows, columns) = (self.index(rows, span)?, self.index(columns, span)?);
        let tiles = self.as_pull(self.array(tiles, span)?, span)?.dynamic();
        let tiles: Rows<Rows<Dynamic>> =
            tiles.map(|row: kernel::Value| row.pull().dynamic().map(kernel::Value::rows));
        let all = written_at(self.place("concatTiles2D", span), || tiles.concat_2d(side, rows, columns));
        Ok(Value::Push(kernel::Value::from(all).push(), self.element_type(call)?.0))
    }

    /// `forceWindows`: windows of two matrices in a block's memory.
    pub(super) fn force_windows(self: &Rc<Self>, call: &Call) -> Outcome<Value> {
        let span = call.span;
        let [otherwise, first, second] = &call.arguments[..] else {
            return Err(self.wrong(span, "windows are wanted here"));
        };
        let place = self.place("forceWindows", span);
        let otherwise = Scalars(self.stored(otherwise, span)?);
        let placed = |value: &Value| {
            let Value::Tuple(parts) = value else { return Err(self.wrong(span, "a window is wanted here")) };
            let [window, width, corner, matrix] = &parts[..] else {
                return Err(self.wrong(span, "a window, its place and a matrix are wanted here"));
            };
            let Value::Tuple(corner) = corner else { return Err(self.wrong(span, "a pair is wanted here")) };
            let [row, column] = &corner[..] else { return Err(self.wrong(span, "a pair is wanted here")) };
            let corner = (self.index(row, span)?, self.index(column, span)?);
            let (window, width) = (self.window(window, span)?, self.index(width, span)?);
            let matrix = self.matrix(matrix, span)?;
            Ok(written_at(place, || matrix.window(width, corner, window)))
        };
        let windows = [placed(first)?, placed(second)?];
        let forced = written_at(place, || kernel::force_windows(windows, otherwise));
        let Type::Tuple(types) = self.result_type(call)? else {
            return Err(self.wrong(span, "a pair is wanted here"));
        };
        let parts = forced.into_iter().zip(&types).map(|(rows, ty)| self.of_item(rows.into(), ty));
        Ok(Value::Tuple(parts.collect()))
    }

    /// `concatOwned`: a matrix of tiles in which each thread owns some elements.
    pub(super) fn concat_owned(self: &Rc<Self>, call: &Call) -> Outcome<Value> {
        let span = call.span;
        let [sides, rows, columns, place_of, tiles] = &call.arguments[..] else {
            return Err(self.wrong(span, "an array of rows of tiles is wanted here"));
        };
        let Value::Tuple(sides) = sides else { return Err(self.wrong(span, "a pair is wanted here")) };
        let [height, width] = &sides[..] else { return Err(self.wrong(span, "a pair is wanted here")) };
        let side = |side: &Value| self.size(side, "the side of a tile", span);
        let sides = (side(height)?, side(width)?);
        let (rows, columns) = (self.index(rows, span)?, self.index(columns, span)?);
        let tiles = self.as_pull(self.array(tiles, span)?, span)?.dynamic();
        let own = |own: kernel::Value| own.elements().fixed();
        let tiles: Rows<Pull<Pull<Dynamic>>> = tiles.map(move |row: kernel::Value| {
            row.pull().dynamic().map(move |tile: kernel::Value| tile.pull().fixed().map(own))
        });
        let places = self.places(place_of, span);
        let place = self.place("concatOwned", span);
        let all = written_at(place, || tiles.concat_owned(sides, rows, columns, places));
        Ok(Value::Push(kernel::Value::from(all).push(), self.element_type(call)?.0))
    }

    /// Returns a function to the row and column of a thread's element with a number. Results for constant thread numbers are cached, because
    /// each is asked for in the check that every element of a tile belongs to a thread.
    fn places(self: &Rc<Self>, f: &Value, span: Span) -> impl Fn(Ix, usize) -> (Ix, Ix) + 'static {
        let (this, f) = (self.clone(), f.clone());
        let known = RefCell::new(HashMap::<(i64, usize), (i64, i64)>::new());
        move |thread, number| {
            let key = thread.term().integer().map(|thread| (thread, number));
            if let Some((row, column)) = key.and_then(|key| known.borrow().get(&key).copied()) {
                return (Exp::from(row), Exp::from(column));
            }
            let arguments = [thread.term(), Constant::from(number as i64).into()];
            let arguments = arguments.map(|argument: Term| Value::scalar(argument, false));
            let place = this.within(Mode::Kernel, || match this.apply_all(&f, &arguments, span)? {
                Value::Tuple(parts) if parts.len() == 2 => {
                    Ok((this.index(&parts[0], span)?, this.index(&parts[1], span)?))
                }
                _ => Err(this.wrong(span, "a pair is wanted here")),
            });
            let (row, column) = this.keep(place, || (Exp::from(0), Exp::from(0)));
            if let (Some(key), Some(row), Some(column)) = (key, row.term().integer(), column.term().integer())
            {
                known.borrow_mut().insert(key, (row, column));
            }
            (row, column)
        }
    }

    /// Returns a value as an array of rows.
    fn matrix(self: &Rc<Self>, value: &Value, span: Span) -> Outcome<Rows<Dynamic>> {
        let pull: Pull<Any, Length> = self.as_pull(self.array(value, span)?, span)?;
        Ok(kernel::Value::Pull(pull).rows())
    }

    /// Returns a value as an index or a length.
    fn index(&self, value: &Value, span: Span) -> Outcome<Ix> {
        Ok(Exp::from_term(self.scalar(value, span)?.term))
    }

    /// Returns a size that must be known when the kernel is built.
    fn size(&self, value: &Value, what: &str, span: Span) -> Outcome<usize> {
        let size = self.known(self.scalar(value, span)?.term, what, span)?;
        usize::try_from(size).map_err(|_| self.wrong(span, format!("{what} is {size}")))
    }

    /// Returns a value as a layout of the kernel language.
    fn layout(&self, value: &Value, span: Span) -> Outcome<Layout> {
        let Value::Sum(layout) = value else { return Err(self.wrong(span, "a layout is wanted here")) };
        Ok(match self.known(layout.tag.term, "how an array lies in memory", span)? {
            0 => Layout::Plain,
            1 => Layout::Padded,
            _ => Layout::Swizzled,
        })
    }

    /// Returns a value as a window of the kernel language.
    fn window(&self, value: &Value, span: Span) -> Outcome<Window> {
        let Value::Record(fields) = value else { return Err(self.wrong(span, "a window is wanted here")) };
        let field = |wanted: &str| {
            let found = fields.iter().find(|(name, _)| &**name == wanted).map(|(_, value)| value);
            found.ok_or_else(|| self.wrong(span, format!("a window without `{wanted}`")))
        };
        let size = |name: &str| self.size(field(name)?, "what a window is like", span);
        let transposed = self.scalar(field("transposed")?, span)?.term.constant();
        let transposed = transposed.ok_or_else(|| {
            self.wrong(span, "whether a window is transposed must be known when the kernel is built")
        })?;
        Ok(Window {
            rows: size("rows")?,
            columns: size("columns")?,
            items: size("items")?,
            transposed: transposed == Constant::from(true),
            padding: size("padding")?,
        })
    }
}

/// Whether two lengths are plainly the same.
fn same(a: Length, b: Length) -> bool {
    let (a, b) = (term_of(a), term_of(b));
    a.id() == b.id() || a.integer().is_some_and(|a| Some(a) == b.integer())
}

/// Creates a program of a level: a push array without elements.
fn program_at(level: AnyLevel, length: Length, program: impl Fn() + 'static) -> AnyPush {
    let produce = move |_: &dyn Fn(Ix, Scalars)| program();
    match level {
        AnyLevel::Thread => Push::<Thread, Dynamic, Length>::new(length, produce).any_level(),
        AnyLevel::Warp => Push::<Warp, Dynamic, Length>::new(length, produce).any_level(),
        AnyLevel::Block => Push::<Block, Dynamic, Length>::new(length, produce).any_level(),
        AnyLevel::Grid => Push::<Grid, Dynamic, Length>::new(length, produce).any_level(),
    }
}
