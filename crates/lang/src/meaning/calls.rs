//! The functions of the language itself: which rule is behind each, once all arguments are there.

use super::pulls::whole;
use super::types::resolve;
use super::value::{Call, FunctionKind, Value};
use super::{Evaluator, Outcome};
use crate::evaluate::{operation_of, without_rank};
use crate::types::{Scheme, Type};
use pumice_scalar::Constant;
use std::rc::Rc;

impl<'p> Evaluator<'p> {
    /// Applies a built-in function if it has all its arguments, else returns a function of the rest, which refers to values of this depth.
    pub(super) fn call(&self, call: Call<'p>, depth: u32) -> Outcome<Value<'p>> {
        let arity = self.scheme(&call).map_or(0, |scheme| arity(&scheme.ty));
        match call.arguments.len() < arity {
            true => {
                let span = call.span;
                self.function(FunctionKind::Builtin(call), depth, span)
            }
            false => self.meaning(&call),
        }
    }

    fn scheme(&self, call: &Call<'p>) -> Option<Rc<Scheme>> {
        if let Some(scheme) = self.builtins.borrow().get(&call.name) {
            return Some(scheme.clone());
        }
        let scheme = Rc::new(self.checked.scheme_of_builtin(&call.name)?);
        self.builtins.borrow_mut().insert(call.name.clone(), scheme.clone());
        Some(scheme)
    }

    /// Returns the type of an argument.
    pub(super) fn argument_type(&self, call: &Call<'p>, number: usize) -> Type {
        let scheme = self.scheme(call);
        let mut ty = scheme.as_ref().map(|scheme| &scheme.ty);
        let mut left = number;
        loop {
            match ty {
                Some(Type::LevelFunction(_, to)) => ty = Some(to),
                Some(Type::Function(from, _)) if left == 0 => return resolve(from, &call.types),
                Some(Type::Function(_, to)) => {
                    ty = Some(to);
                    left -= 1;
                }
                _ => return Type::Tuple(Vec::new()),
            }
        }
    }

    /// Returns the type of the call's result.
    pub(super) fn result_type(&self, call: &Call<'p>) -> Type {
        let scheme = self.scheme(call);
        let mut ty = scheme.as_ref().map(|scheme| &scheme.ty);
        while let Some(Type::LevelFunction(_, to) | Type::Function(_, to)) = ty {
            ty = Some(to);
        }
        ty.map_or(Type::Tuple(Vec::new()), |ty| resolve(ty, &call.types))
    }

    fn meaning(&self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let span = call.span;
        let Some(subject) = subject(&call.name) else {
            return Err(self.fault(span, format!("`{}` has no meaning", call.name)));
        };
        match (subject, &call.arguments[..]) {
            (Subject::Pull, _) => self.pull_made(call),
            (Subject::Index, _) => self.indexed(call),
            (Subject::Length, [array]) => Ok(whole(self.pull(array, span)?.shape.extents[0])),
            (Subject::Shape, [array]) => {
                Ok(Value::Tuple(self.pull(array, span)?.shape.known().iter().copied().map(whole).collect()))
            }
            (Subject::Push, _) => self.push_made(call),
            (Subject::Level, _) => self.levelled(call),
            (Subject::Memory, _) => self.changing(call),
            (Subject::For, [times, step, initial]) => {
                let mut value = initial.clone();
                for round in 0..self.integer(times, span)?.max(0) {
                    self.take(1, span)?;
                    value = self.apply_all(step, [Value::Scalar(Constant::from(round)), value], span)?;
                }
                Ok(value)
            }
            (Subject::While, [condition, step, initial]) => {
                let mut value = initial.clone();
                while self.scalar(&self.apply(condition, value.clone(), span)?, span)?.is_true() {
                    self.take(1, span)?;
                    value = self.apply(step, value, span)?;
                }
                Ok(value)
            }
            (Subject::Half, [pair]) => {
                let [first, second] = self.pair(pair, span)?;
                Ok(if &*call.name == "fst" { first } else { second })
            }
            (Subject::Select, [condition, yes, no]) => {
                let holds = self.scalar(condition, span)?.is_true();
                self.step(span);
                Ok(if holds { yes } else { no }.clone())
            }
            (Subject::Now, [value]) => Ok(value.clone()),
            (Subject::Scalar, _) => self.scalar_function(call),
            (Subject::Fold, _) => self.fold(call),
            (Subject::Scan, _) => self.scan(call),
            (Subject::Product, _) => self.multiplied(call),
            (Subject::Sort, _) => self.sorted(call),
            (Subject::Place, _) => self.placed(call),
            (Subject::Expand, _) => self.expanded(call),
            (Subject::List, _) => self.whole_array(call),
            _ => Err(self.fault(span, "an argument is missing")),
        }
    }
}

/// The group of rules that a built-in function belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    Pull,
    Index,
    Length,
    Shape,
    Push,
    Level,
    Memory,
    For,
    While,
    Half,
    Select,
    Now,
    Scalar,
    Fold,
    Scan,
    Product,
    Sort,
    Place,
    Expand,
    List,
}

/// Returns the group of rules of a built-in function, if it has a meaning.
fn subject(name: &str) -> Option<Subject> {
    if operation_of(name).is_some() {
        return Some(Subject::Scalar);
    }
    Some(match without_rank(name) {
        "generate" | "map" | "mapPull" | "zipWith" | "slice" | "rows" | "transpose" | "transposeInner"
        | "transposeOuter" | "reshape" | "flatten" => Subject::Pull,
        "index" | "indexOr" => Subject::Index,
        "length" | "lengthPull" => Subject::Length,
        "shape" => Subject::Shape,
        "push" | "pushBy" | "pairwise" | "scatterPush" | "filterPush" | "concat" | "interleave"
        | "concatTiles" | "concatTiles2D" | "concatOwned" | "mapPush" | "ixMap" | "takePush"
        | "appendPush" | "unpairPush" | "shuffle" | "shuffleUp" | "shuffleDown" | "shuffleXor" | "ballot"
        | "anyLane" | "allLanes" => Subject::Push,
        "lengthPush" | "force" | "forceWithin" | "forceAs" | "forceTile" | "forceWindows" | "ifWhole"
        | "perform" | "while" | "whileWithin" | "power" => Subject::Level,
        "inPlace"
        | "memory"
        | "freeze"
        | "lengthMem"
        | "read"
        | "write"
        | "atomicAdd"
        | "atomicSub"
        | "atomicMin"
        | "atomicMax"
        | "atomicAnd"
        | "atomicOr"
        | "atomicXor"
        | "atomicExchange"
        | "atomicCompareExchange"
        | "atomicRead"
        | "atomicWrite" => Subject::Memory,
        "seqfor" => Subject::For,
        "whileLoop" => Subject::While,
        "fst" | "snd" => Subject::Half,
        "select" => Subject::Select,
        "now" => Subject::Now,
        "abs" | "rotateLeft" | "rotateRight" | "fromInt" | "toBits" | "fromBits" | "minValue"
        | "maxValue" | "infinity" | "nan" | "epsilon" | "uniformAt" | "integerAt" | "normalAt" => {
            Subject::Scalar
        }
        "reduce" | "reduceRows" | "reduce1Rows" | "sum" | "product" | "minimum" | "maximum" => Subject::Fold,
        "scan" | "scanExclusive" | "prescan" | "scanTotal" | "scanRight" | "scan1Right"
        | "scanExclusiveRight" | "prescanRight" | "scanTotalRight" | "scanRows" | "scan1Rows"
        | "scanExclusiveRows" | "prescanRows" | "scanRightRows" | "scan1RightRows" => Subject::Scan,
        "matmul" | "productBy" => Subject::Product,
        "sort"
        | "sortDescending"
        | "sortByKey"
        | "sortDescendingByKey"
        | "sortBy"
        | "sortRows"
        | "sortDescendingRows"
        | "sortByKeyRows"
        | "sortDescendingByKeyRows"
        | "sortSegmentsByKey" => Subject::Sort,
        "permute" | "permuteIf" | "scatter" | "scatterIf" | "histogram" => Subject::Place,
        "expand" | "expandReduce" | "reduceSegments" => Subject::Expand,
        "filter" | "append" | "appendRows" | "appendColumns" | "iterate" | "iterateNumbered"
        | "iterateWhile" | "compute" | "trace" => Subject::List,
        _ => return None,
    })
}

/// Returns the number of arguments that a function takes, without levels.
fn arity(ty: &Type) -> usize {
    let (mut ty, mut count) = (ty, 0);
    loop {
        match ty {
            Type::LevelFunction(_, to) => ty = to,
            Type::Function(_, to) => (ty, count) = (to, count + 1),
            _ => return count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_function_of_the_language_has_a_meaning() {
        let without: Vec<&str> = crate::evaluate::names().filter(|name| subject(name).is_none()).collect();
        assert!(without.is_empty(), "say in `subject` which rules are behind {without:?}");
    }
}
