//! Names of functions in other languages with their counterparts here: for messages about undeclared names.

/// Returns what to write for a name that NumPy, Haskell, R, Futhark or a C-like language has.
pub(super) fn elsewhere(name: &str) -> Option<&'static str> {
    Some(match name {
        "take" => "`takeFirst n xs` has the first n elements",
        "head" => "`first xs` is the first element",
        "tail" => "`drop 1 xs` has all elements but the first",
        "init" => "`takeFirst (length xs - 1) xs` has all elements but the last",
        "foldl" | "foldr" | "fold" => {
            "`reduce f x xs` combines elements, from an initial value, with an operator that is associative"
        }
        "foldl1" | "foldr1" | "fold1" => {
            "`reduce1 f xs` combines elements with an operator that is associative"
        }
        "scanl" | "scanr" | "accumulate" => {
            "`scan f x xs` has the running results, `prescan f x xs` also the initial value"
        }
        "scanl1" => "`scan1 f xs` has the running results",
        "cumsum" => "`scan1 (+) xs` has the running sums",
        "cumprod" => "`scan1 (*) xs` has the running products",
        "prod" => "`product xs` multiplies all elements",
        "std" | "sd" | "stddev" => "`sqrt (variance xs)` is the standard deviation",
        "var" => "`variance xs` is the variance",
        "len" | "size" | "nrow" => {
            "`length xs` is the number of elements, `shape2` has the extents of a matrix"
        }
        "shape" | "dim" => "`length` of a vector; `shape2`, `shape3` of more dimensions",
        "range" | "arange" | "seq" => {
            "`iota n` has the numbers from 0 to below n, `enumFrom a n` those from a on"
        }
        "zeros" => "`replicate n 0` is a vector of zeros, `generate2 n m (fn i j => 0)` a matrix",
        "ones" => "`replicate n 1` is a vector of ones, `generate2 n m (fn i j => 1)` a matrix",
        "concatMap" | "bind" => "`flatMap`, or a comprehension: `[ y | x <- xs, y <- f x ]`",
        "elem" | "contains" => "`any (fn x => x == y) xs` asks whether an element is there",
        "and" => "`a && b`, and `all` of an array",
        "or" => "`a || b`, and `any` of an array",
        "where" | "which" | "nonzero" => {
            "`let x = e in` names a value, `filter` selects elements, `if` chooses"
        }
        "for" | "loop" => {
            "`map` and comprehensions go over elements; `iterate n f x` and `seqfor n f x` repeat a step"
        }
        "return" | "print" | "println" => {
            "a function gives the value of its body: nothing is written before it"
        }
        "lambda" | "function" | "def" => "`fn x => e` is a function, `fun f x = e` declares one",
        "float" => "`double` (or `f32`) is the type, and converts a number to it",
        "long" => "`i64` (or `int`) is the type, and converts a number to it",
        "ln" => "`log` is the natural logarithm",
        "fabs" => "`abs` is for floats, too",
        "otherwise" => "write `else`",
        "t" => "`transpose2` exchanges rows and columns",
        "concatenate" | "cat" => "`append xs ys` has both, one after the other",
        "rev" => "`reverse xs` goes from the last element to the first",
        "nth" | "get" | "at" => {
            "`index xs i` is an element, from 0 on; `indexOr` has another value beyond the end"
        }
        "amax" => "`maximum xs` is the largest element",
        "amin" => "`minimum xs` is the smallest element",
        "ifelse" => "`if c then a else b`",
        _ => return None,
    })
}
