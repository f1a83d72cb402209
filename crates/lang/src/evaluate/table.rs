//! Table of the built-in functions of the language with their meanings, one row per function. Their types and numbers of arguments
//! are in `pum/builtins.pum`; the Rust functions in rows are in the files of their subjects.

use super::builtins::Call;
use super::whole::Whole;
use super::{Evaluator, Outcome, value::Value};
use pumice_array::operations::Gives;
use pumice_scalar::{Op, ScalarType};
use std::rc::Rc;

/// The meaning of a built-in function.
#[derive(Clone, Copy)]
pub(super) enum Meaning {
    /// An operation on scalars, all of the first one's type.
    Scalar(Op),
    /// A conversion.
    Cast(ScalarType),
    /// A pull, which is described by its extents and its elements (`host.rs`).
    Pull,
    /// A function that handles every mode itself.
    Everywhere(fn(&Rc<Evaluator>, Call) -> Outcome<Value>),
    /// An operation of the array language, only outside of functions on elements and kernels.
    Outside(fn(&Whole<'_>) -> Outcome<Value>),
}

use Meaning::{Cast, Everywhere, Outside, Pull, Scalar};

/// The functions.
pub(super) const BUILTINS: &[(&str, Meaning)] = &[
    // Pulls.
    ("generate", Pull),
    ("generate2", Pull),
    ("generate3", Pull),
    ("generate4", Pull),
    ("generate5", Pull),
    ("map", Pull),
    ("mapPull", Pull),
    ("map2", Pull),
    ("map3", Pull),
    ("map4", Pull),
    ("map5", Pull),
    ("zipWith", Pull),
    ("slice", Pull),
    ("zipWith2D", Pull),
    ("zipWith3D", Pull),
    ("rows", Pull),
    ("transpose2", Pull),
    ("transposeInner", Pull),
    ("transposeOuter", Pull),
    ("reshape2", Pull),
    ("reshape3", Pull),
    ("reshape4", Pull),
    ("reshape5", Pull),
    ("flatten2", Pull),
    ("flatten3", Pull),
    ("flatten4", Pull),
    ("flatten5", Pull),
    ("index", Everywhere(Evaluator::element_at)),
    ("index2", Everywhere(Evaluator::element_at)),
    ("index3", Everywhere(Evaluator::element_at)),
    ("index4", Everywhere(Evaluator::element_at)),
    ("index5", Everywhere(Evaluator::element_at)),
    ("indexOr", Everywhere(Evaluator::element_or)),
    ("length", Everywhere(Evaluator::length)),
    ("lengthPull", Everywhere(Evaluator::length)),
    ("shape2", Everywhere(Evaluator::shape)),
    ("shape3", Everywhere(Evaluator::shape)),
    ("shape4", Everywhere(Evaluator::shape)),
    ("shape5", Everywhere(Evaluator::shape)),
    // Levels.
    ("push", Everywhere(Evaluator::levelled)),
    ("force", Everywhere(Evaluator::levelled)),
    ("mapPush", Everywhere(Evaluator::levelled)),
    ("lengthPush", Everywhere(Evaluator::levelled)),
    ("concat", Everywhere(Evaluator::levelled)),
    ("interleave", Everywhere(Evaluator::levelled)),
    ("while", Everywhere(Evaluator::levelled)),
    ("power", Everywhere(Evaluator::levelled)),
    ("pushBy", Everywhere(Evaluator::levelled)),
    ("forceWithin", Everywhere(Evaluator::levelled)),
    ("whileWithin", Everywhere(Evaluator::levelled)),
    ("ifWhole", Everywhere(Evaluator::levelled)),
    ("concatTiles", Everywhere(Evaluator::levelled)),
    ("forceAs", Everywhere(Evaluator::levelled)),
    ("forceTile", Everywhere(Evaluator::levelled)),
    ("concatTiles2D", Everywhere(Evaluator::levelled)),
    ("forceWindows", Everywhere(Evaluator::levelled)),
    ("concatOwned", Everywhere(Evaluator::levelled)),
    ("appendPush", Everywhere(Evaluator::levelled)),
    ("unpairPush", Everywhere(Evaluator::levelled)),
    ("ixMap", Everywhere(Evaluator::levelled)),
    ("takePush", Everywhere(Evaluator::levelled)),
    ("scatterPush", Everywhere(Evaluator::levelled)),
    ("filterPush", Everywhere(Evaluator::levelled)),
    ("pairwise", Everywhere(Evaluator::levelled)),
    ("perform", Everywhere(Evaluator::levelled)),
    ("shuffle", Everywhere(Evaluator::levelled)),
    ("shuffleUp", Everywhere(Evaluator::levelled)),
    ("shuffleDown", Everywhere(Evaluator::levelled)),
    ("shuffleXor", Everywhere(Evaluator::levelled)),
    ("ballot", Everywhere(Evaluator::levelled)),
    ("anyLane", Everywhere(Evaluator::levelled)),
    ("allLanes", Everywhere(Evaluator::levelled)),
    ("now", Everywhere(|evaluator, call| evaluator.now(&call))),
    ("select", Everywhere(|evaluator, call| evaluator.select(&call))),
    // Memory that changes.
    ("inPlace", Everywhere(|evaluator, call| evaluator.in_place(&call))),
    ("memory", Everywhere(|evaluator, call| evaluator.changing(&call))),
    ("freeze", Everywhere(|evaluator, call| evaluator.changing(&call))),
    ("lengthMem", Everywhere(|evaluator, call| evaluator.changing(&call))),
    ("read", Everywhere(|evaluator, call| evaluator.changing(&call))),
    ("write", Everywhere(|evaluator, call| evaluator.changing(&call))),
    ("atomicAdd", Everywhere(|evaluator, call| evaluator.changing(&call))),
    ("atomicSub", Everywhere(|evaluator, call| evaluator.changing(&call))),
    ("atomicMin", Everywhere(|evaluator, call| evaluator.changing(&call))),
    ("atomicMax", Everywhere(|evaluator, call| evaluator.changing(&call))),
    ("atomicAnd", Everywhere(|evaluator, call| evaluator.changing(&call))),
    ("atomicOr", Everywhere(|evaluator, call| evaluator.changing(&call))),
    ("atomicXor", Everywhere(|evaluator, call| evaluator.changing(&call))),
    ("atomicExchange", Everywhere(|evaluator, call| evaluator.changing(&call))),
    ("atomicCompareExchange", Everywhere(|evaluator, call| evaluator.changing(&call))),
    ("atomicRead", Everywhere(|evaluator, call| evaluator.changing(&call))),
    ("atomicWrite", Everywhere(|evaluator, call| evaluator.changing(&call))),
    // Loops of one thread.
    ("seqfor", Everywhere(Evaluator::seqfor)),
    ("whileLoop", Everywhere(Evaluator::while_loop)),
    // Folds and scans.
    ("reduce", Everywhere(Evaluator::reduce)),
    ("reduce1", Everywhere(Evaluator::reduce)),
    ("sum", Everywhere(Evaluator::reduce)),
    ("product", Everywhere(Evaluator::reduce)),
    ("minimum", Everywhere(Evaluator::reduce)),
    ("maximum", Everywhere(Evaluator::reduce)),
    ("reduceRows", Outside(|whole| whole.fold_rows(true))),
    ("reduce1Rows", Outside(|whole| whole.fold_rows(false))),
    ("reduceRows3", Outside(|whole| whole.fold_rows(true))),
    ("reduce1Rows3", Outside(|whole| whole.fold_rows(false))),
    ("scan", Outside(|whole| whole.scan(Gives::Inclusive, false))),
    ("scan1", Outside(|whole| whole.scan1(false))),
    ("scanExclusive", Outside(|whole| whole.scan(Gives::Exclusive, false))),
    ("prescan", Outside(|whole| whole.scan(Gives::Extended, false))),
    ("scanTotal", Outside(|whole| whole.scan(Gives::Total, false))),
    ("scanRight", Outside(|whole| whole.scan(Gives::Inclusive, true))),
    ("scan1Right", Outside(|whole| whole.scan1(true))),
    ("scanExclusiveRight", Outside(|whole| whole.scan(Gives::Exclusive, true))),
    ("prescanRight", Outside(|whole| whole.scan(Gives::Extended, true))),
    ("scanTotalRight", Outside(|whole| whole.scan(Gives::Total, true))),
    ("scanRows", Outside(|whole| whole.scan(Gives::Inclusive, false))),
    ("scan1Rows", Outside(|whole| whole.scan1(false))),
    ("scanExclusiveRows", Outside(|whole| whole.scan(Gives::Exclusive, false))),
    ("prescanRows", Outside(|whole| whole.scan(Gives::Extended, false))),
    ("scanRightRows", Outside(|whole| whole.scan(Gives::Inclusive, true))),
    ("scan1RightRows", Outside(|whole| whole.scan1(true))),
    ("scanRows3", Outside(|whole| whole.scan(Gives::Inclusive, false))),
    ("scan1Rows3", Outside(|whole| whole.scan1(false))),
    // Selecting, sorting, combining.
    ("filter", Outside(|whole| whole.filter())),
    ("sort", Outside(|whole| whole.sort(false))),
    ("sortDescending", Outside(|whole| whole.sort(true))),
    ("sortByKey", Outside(|whole| whole.sort_by_key(false))),
    ("sortDescendingByKey", Outside(|whole| whole.sort_by_key(true))),
    ("sortBy", Outside(|whole| whole.sort_by())),
    ("sortRows", Outside(|whole| whole.sort(false))),
    ("sortDescendingRows", Outside(|whole| whole.sort(true))),
    ("sortByKeyRows", Outside(|whole| whole.sort_by_key(false))),
    ("sortDescendingByKeyRows", Outside(|whole| whole.sort_by_key(true))),
    ("sortSegmentsByKey", Outside(|whole| whole.sort_segments())),
    ("permute", Outside(|whole| whole.permute(false))),
    ("permute2", Outside(|whole| whole.permute(false))),
    ("permuteIf", Outside(|whole| whole.permute(true))),
    ("permuteIf2", Outside(|whole| whole.permute(true))),
    ("scatter", Outside(|whole| whole.scatter(false))),
    ("scatter2", Outside(|whole| whole.scatter(false))),
    ("scatterIf", Outside(|whole| whole.scatter(true))),
    ("scatterIf2", Outside(|whole| whole.scatter(true))),
    ("histogram", Outside(|whole| whole.histogram())),
    ("expand", Outside(|whole| whole.expand())),
    ("expandReduce", Outside(|whole| whole.expand_reduce())),
    ("reduceSegments", Outside(|whole| whole.fold_segments())),
    ("append", Everywhere(Evaluator::append)),
    ("appendRows", Outside(|whole| whole.append(0))),
    ("appendColumns", Outside(|whole| whole.append(1))),
    ("matmul", Outside(|whole| whole.matmul())),
    ("matmul3", Outside(|whole| whole.matmul())),
    ("productBy", Outside(|whole| whole.product_by())),
    ("productBy3", Outside(|whole| whole.product_by())),
    // Control.
    ("iterate", Outside(|whole| whole.iterate())),
    ("iterateNumbered", Outside(|whole| whole.iterate())),
    ("iterateWhile", Outside(|whole| whole.iterate_while())),
    ("compute", Outside(|whole| whole.compute())),
    ("trace", Outside(|whole| whole.trace())),
    // Scalars.
    ("fst", Everywhere(|evaluator, call| evaluator.half(&call, 0))),
    ("snd", Everywhere(|evaluator, call| evaluator.half(&call, 1))),
    ("not", Scalar(Op::Not)),
    ("complement", Scalar(Op::Not)),
    ("min", Scalar(Op::Min)),
    ("max", Scalar(Op::Max)),
    ("abs", Everywhere(Evaluator::absolute)),
    ("countOnes", Scalar(Op::CountOnes)),
    ("leadingZeros", Scalar(Op::LeadingZeros)),
    ("trailingZeros", Scalar(Op::TrailingZeros)),
    ("rotateLeft", Everywhere(|evaluator, call| evaluator.rotated(&call, true))),
    ("rotateRight", Everywhere(|evaluator, call| evaluator.rotated(&call, false))),
    ("sqrt", Scalar(Op::Sqrt)),
    ("exp", Scalar(Op::Exp)),
    ("exp2", Scalar(Op::Exp2)),
    ("log", Scalar(Op::Log)),
    ("log2", Scalar(Op::Log2)),
    ("log10", Scalar(Op::Log10)),
    ("sin", Scalar(Op::Sin)),
    ("cos", Scalar(Op::Cos)),
    ("tan", Scalar(Op::Tan)),
    ("asin", Scalar(Op::Asin)),
    ("acos", Scalar(Op::Acos)),
    ("atan", Scalar(Op::Atan)),
    ("atan2", Scalar(Op::Atan2)),
    ("sinh", Scalar(Op::Sinh)),
    ("cosh", Scalar(Op::Cosh)),
    ("tanh", Scalar(Op::Tanh)),
    ("pow", Scalar(Op::Pow)),
    ("floor", Scalar(Op::Floor)),
    ("ceil", Scalar(Op::Ceil)),
    ("round", Scalar(Op::Round)),
    ("trunc", Scalar(Op::Trunc)),
    ("mulAdd", Scalar(Op::MulAdd)),
    ("cbrt", Scalar(Op::Cbrt)),
    ("exp10", Scalar(Op::Exp10)),
    ("expM1", Scalar(Op::ExpM1)),
    ("log1p", Scalar(Op::Ln1p)),
    ("asinh", Scalar(Op::Asinh)),
    ("acosh", Scalar(Op::Acosh)),
    ("atanh", Scalar(Op::Atanh)),
    ("erf", Scalar(Op::Erf)),
    ("erfc", Scalar(Op::Erfc)),
    ("gamma", Scalar(Op::Gamma)),
    ("logGamma", Scalar(Op::LnGamma)),
    ("roundTiesEven", Scalar(Op::RoundTiesEven)),
    ("hypot", Scalar(Op::Hypot)),
    ("i32", Cast(ScalarType::I32)),
    ("i64", Cast(ScalarType::I64)),
    ("u32", Cast(ScalarType::U32)),
    ("u64", Cast(ScalarType::U64)),
    ("i8", Cast(ScalarType::I8)),
    ("i16", Cast(ScalarType::I16)),
    ("u8", Cast(ScalarType::U8)),
    ("u16", Cast(ScalarType::U16)),
    ("f16", Cast(ScalarType::F16)),
    ("bf16", Cast(ScalarType::BF16)),
    ("f32", Cast(ScalarType::F32)),
    ("f64", Cast(ScalarType::F64)),
    ("int", Cast(ScalarType::I64)),
    ("double", Cast(ScalarType::F64)),
    ("toInt", Cast(ScalarType::I64)),
    ("fromInt", Everywhere(Evaluator::from_int)),
    ("toBits32", Everywhere(Evaluator::same_bits)),
    ("toBits64", Everywhere(Evaluator::same_bits)),
    ("fromBits32", Everywhere(Evaluator::same_bits)),
    ("fromBits64", Everywhere(Evaluator::same_bits)),
    ("minValue", Everywhere(Evaluator::constant_of_type)),
    ("maxValue", Everywhere(Evaluator::constant_of_type)),
    ("infinity", Everywhere(Evaluator::constant_of_type)),
    ("nan", Everywhere(Evaluator::constant_of_type)),
    ("epsilon", Everywhere(Evaluator::constant_of_type)),
    ("uniformAt", Everywhere(Evaluator::random)),
    ("integerAt", Everywhere(Evaluator::random)),
    ("normalAt", Everywhere(Evaluator::random)),
];

/// Iterates over the names of all functions.
#[cfg(test)]
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    BUILTINS.iter().map(|(name, _)| *name)
}

/// Returns the row of a function: its name and its meaning.
pub(super) fn row(name: &str) -> Option<(&'static str, Meaning)> {
    BUILTINS.iter().find(|(known, _)| *known == name).copied()
}

/// Returns the scalar operation of a built-in function, if it is one; for conversions with the type of their result.
pub(crate) fn operation_of(name: &str) -> Option<(Op, Option<ScalarType>)> {
    match row(name)?.1 {
        Scalar(op) => Some((op, None)),
        Cast(ty) => Some((Op::Cast, Some(ty))),
        Pull | Everywhere(_) | Outside(_) => None,
    }
}

/// Returns the name of a pull without its number of dimensions: `map2` and `zipWith3D` are maps and zips.
pub(crate) fn without_rank(name: &str) -> &str {
    let name = name.strip_suffix('D').unwrap_or(name);
    name.trim_end_matches(|letter: char| letter.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::STANDARD;
    use crate::source::FileId;

    #[test]
    fn each_signature_has_one_meaning_and_each_meaning_a_signature() {
        let module = crate::syntax::parse(FileId(0), STANDARD[0].1, &mut 0).module;
        let mut signatures: Vec<String> =
            module.signatures.iter().map(|signature| signature.name.name.to_string()).collect();
        let mut rows: Vec<String> = BUILTINS.iter().map(|(name, _)| name.to_string()).collect();
        signatures.sort();
        rows.sort();
        assert_eq!(signatures, rows);
    }
}
