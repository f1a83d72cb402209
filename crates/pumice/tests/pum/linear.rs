// Made by `pumice build`; needs the feature `pum` of `pumice`.

static PUM_MODULE: ::pumice::pum::IncludedModule = ::pumice::pum::IncludedModule::new(&[
    ("linear.pum", "-- Vectors and matrices, to be called from other languages.\n\nimport pairs\n\n-- The dot product of two vectors.\n-- >>> dotp [1.0, 2.0, 3.0] [4.0, 5.0, 6.0]\n-- 32.0\nsig dotp : [f64; n] -> [f64; n] -> f64\nfun dotp xs ys = sum (zipWith (fn x y => pairs::product (x, y)) xs ys)\n\n-- The elements in the opposite order: each block turns a chunk round.\nsig turned : int -> [i32] -> [i32]<grid>\nfun turned chunk xs =\n  splitUp chunk xs |> map (fn part => push <block> (reverse part)) |> reverse |> concat chunk\n\n-- The mean, how far elements are from it, and whether there are any.\nsig moments : [f64] -> { mean : f64, centred : [f64], any : bool }\nfun moments xs =\n  let mean = sum xs / f64 (length xs)\n  in { mean = mean, centred = map (fn x => x - mean) xs, any = length xs > 0 }\n\nsig scaled : f32 -> [f32; _, _] -> [f32; _, _]\nfun scaled by m = transpose2 (map2 (fn x => by * x) m)\n\n-- Fails where an index is out of bounds.\nsig picked : [i64] -> [i64] -> [i64]\nfun picked xs places = map (fn i => index xs i) places\n\ntype Shape = Circle f32 | Box f32 f32\n\nsig grown : f32 -> [{ name : u32, shape : Shape }] -> [{ name : u32, shape : Shape }]\nfun grown by shapes = map (fn s => { s with shape = grow by s.shape }) shapes\n\nsig grow : f32 -> Shape -> Shape\nfun grow by shape =\n  case shape of\n  | Circle r => Circle (by * r)\n  | Box w h => Box (by * w) (by * h)\n\nsig weighted : { weight : f64, offset : f64 } -> ([f64; 3], f64) -> [f64; 3]\nfun weighted line (xs, x) = map (fn y => line.weight * y + line.offset + x) xs\n\n-- Names that other languages do not have. */ \"\"\" \\\nsig next' : i64 -> i64\nfun next' for = for + 1\n\nfun twice f x = f (f x)\n"),
    ("pairs", "sig product : (f64, f64) -> f64\nfun product (x, y) = x * y\n"),
]);

#[doc = " The dot product of two vectors."]
#[doc = " "]
#[doc = " `dotp : [double; n] -> [double; n] -> double`"]
#[track_caller]
#[allow(dead_code, non_snake_case, clippy::too_many_arguments, clippy::type_complexity)]
pub fn dotp(xs: ::pumice::Acc<::pumice::Vector<f64>>, ys: ::pumice::Acc<::pumice::Vector<f64>>) -> ::pumice::Acc<::pumice::Scalar<f64>> {
    PUM_MODULE.call("dotp", ::pumice::pum::ModuleArguments::default().array(&xs).array(&ys))
}

#[doc = " The elements in the opposite order: each block turns a chunk round."]
#[doc = " "]
#[doc = " `turned : int -> [i32] -> [i32]<grid>`"]
#[track_caller]
#[allow(dead_code, non_snake_case, clippy::too_many_arguments, clippy::type_complexity)]
pub fn turned(chunk: ::pumice::Exp<i64>, xs: ::pumice::Acc<::pumice::Vector<i32>>) -> ::pumice::Acc<::pumice::Vector<i32>> {
    PUM_MODULE.call("turned", ::pumice::pum::ModuleArguments::default().scalar(chunk).array(&xs))
}

#[doc = " The mean, how far elements are from it, and whether there are any."]
#[doc = " "]
#[doc = " `moments : [double] -> { any : bool, centred : [double], mean : double }`"]
#[doc = ""]
#[doc = " It gives a tuple of the fields `any`, `centred`, `mean`."]
#[track_caller]
#[allow(dead_code, non_snake_case, clippy::too_many_arguments, clippy::type_complexity)]
pub fn moments(xs: ::pumice::Acc<::pumice::Vector<f64>>) -> (::pumice::Acc<::pumice::Scalar<bool>>, ::pumice::Acc<::pumice::Vector<f64>>, ::pumice::Acc<::pumice::Scalar<f64>>) {
    PUM_MODULE.call("moments", ::pumice::pum::ModuleArguments::default().array(&xs))
}

#[doc = " `scaled : f32 -> [f32; _, _] -> [f32; _, _]`"]
#[track_caller]
#[allow(dead_code, non_snake_case, clippy::too_many_arguments, clippy::type_complexity)]
pub fn scaled(by: ::pumice::Exp<f32>, m: ::pumice::Acc<::pumice::Matrix<f32>>) -> ::pumice::Acc<::pumice::Matrix<f32>> {
    PUM_MODULE.call("scaled", ::pumice::pum::ModuleArguments::default().scalar(by).array(&m))
}

#[doc = " Fails where an index is out of bounds."]
#[doc = " "]
#[doc = " `picked : [int] -> [int] -> [int]`"]
#[track_caller]
#[allow(dead_code, non_snake_case, clippy::too_many_arguments, clippy::type_complexity)]
pub fn picked(xs: ::pumice::Acc<::pumice::Vector<i64>>, places: ::pumice::Acc<::pumice::Vector<i64>>) -> ::pumice::Acc<::pumice::Vector<i64>> {
    PUM_MODULE.call("picked", ::pumice::pum::ModuleArguments::default().array(&xs).array(&places))
}

#[doc = " `grown : f32 -> [{ name : u32, shape : Shape }] -> [{ name : u32, shape : Shape }]`"]
#[track_caller]
#[allow(dead_code, non_snake_case, clippy::too_many_arguments, clippy::type_complexity)]
pub fn grown(by: ::pumice::Exp<f32>, shapes: ::pumice::Acc<::pumice::Vector<(u32, (i32, f32, f32, f32))>>) -> ::pumice::Acc<::pumice::Vector<(u32, (i32, f32, f32, f32))>> {
    PUM_MODULE.call("grown", ::pumice::pum::ModuleArguments::default().scalar(by).array(&shapes))
}

#[doc = " `weighted : { offset : double, weight : double } -> ([double; 3], double) -> [double; 3]`"]
#[track_caller]
#[allow(dead_code, non_snake_case, clippy::too_many_arguments, clippy::type_complexity)]
pub fn weighted(line_offset: ::pumice::Exp<f64>, line_weight: ::pumice::Exp<f64>, argument1_0: ::pumice::Acc<::pumice::Vector<f64>>, argument1_1: ::pumice::Exp<f64>) -> ::pumice::Acc<::pumice::Vector<f64>> {
    PUM_MODULE.call("weighted", ::pumice::pum::ModuleArguments::default().scalar(line_offset).scalar(line_weight).array(&argument1_0).scalar(argument1_1))
}

#[doc = " Names that other languages do not have. */ \"\"\" \\"]
#[doc = " "]
#[doc = " `next' : int -> int`"]
#[track_caller]
#[allow(dead_code, non_snake_case, clippy::too_many_arguments, clippy::type_complexity)]
pub fn next_prime(for_: ::pumice::Exp<i64>) -> ::pumice::Acc<::pumice::Scalar<i64>> {
    PUM_MODULE.call("next'", ::pumice::pum::ModuleArguments::default().scalar(for_))
}
