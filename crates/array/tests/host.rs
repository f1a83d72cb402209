//! Data of the host as arrays and back, as a user does it: vectors, files and other crates' arrays, parts that are fetched alone, and what
//! is said where something does not fit. All features are on here.

#[path = "../../pumice/tests/programs/mod.rs"]
mod programs;

use proptest::prelude::*;
use pumice::layers::runtime::devices::Sim;
use pumice::{Compiler, prelude::*};
use std::path::PathBuf;
use std::sync::Arc;

fn sim() -> (Arc<Sim>, Compiler) {
    let sim = Arc::new(Sim::open().expect("the simulator"));
    (sim.clone(), Compiler::with(sim))
}

/// A path of this process that no other test has.
fn scratch(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("host-{}-{name}", std::process::id()))
}

fn message<T>(result: Result<T, impl ToString>) -> String {
    result.err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn arrays_come_from_what_rust_has_and_go_back() -> pumice::Result<()> {
    let expected = [[1, 2, 3], [4, 5, 6]];
    let made: [Matrix<i32>; 4] = [
        expected.into(),
        Matrix::from_nested(expected.iter().map(|row| row.to_vec()).collect())?,
        vec![vec![1, 2, 3], vec![4, 5, 6]].try_into()?,
        (1..7).collect::<Vector<i32>>().reshape([2, 3])?,
    ];
    for matrix in &made {
        assert_eq!((matrix.shape(), matrix.len()), ([2, 3], 6));
        assert_eq!(matrix.to_nested()?, expected);
        assert_eq!(matrix, &made[0]);
        assert!(matrix.rows()?.eq(expected.iter().map(|row| &row[..])));
        assert_eq!((matrix[[1, 2]], matrix[(0, 1)], *matrix.get((1, 0))?), (6, 2, 4));
        assert_eq!(matrix.iter()?.rev().copied().collect::<Vec<_>>(), [6, 5, 4, 3, 2, 1]);
    }
    let cube = Array::<Dim3, i32>::from([[[1], [2]], [[3], [4]]]);
    assert_eq!((cube.extents(), cube[(1, 0, 0)], cube.row(1)?), ([2, 2, 1], 3, Matrix::from([[3], [4]])));
    assert_eq!(cube.to_nested()?, [[[1], [2]], [[3], [4]]]);
    let ragged = message(Matrix::from_nested(vec![vec![1, 2], vec![], vec![3]]));
    assert!(
        ragged.contains("a row of 0 elements stands behind one of 2") && ragged.contains("Ragged"),
        "{ragged}"
    );
    let none = Matrix::<f32>::from_nested(vec![vec![]; 3])?;
    assert_eq!((none.extents(), none.rows()?.len(), none.to_nested()?), ([3, 0], 3, vec![vec![]; 3]));
    // Elements that are taken apart are the same to look at.
    let pairs: Vector<(i32, Option<bool>)> = [(1, None), (2, Some(true))].into();
    assert_eq!((pairs[1], pairs.as_slice()?.len()), ((2, Some(true)), 2));
    assert_eq!(pairs.map_elements(|(number, _)| f64::from(number))?, [1.0, 2.0]);
    Ok(())
}

#[test]
fn programs_take_arrays_of_arrays_and_parts_of_results() -> pumice::Result<()> {
    for device in ["sim", "cpu", "opencl"] {
        let Ok(compiler) = Compiler::on(device) else { continue };
        let table = compiler.run(generate((4, 3), |(i, j)| (10 * i + j).cast::<i32>()))?;
        assert_eq!(table.row(2)?, [20, 21, 22]);
        // Its compiler takes its time, and the rest is the same for all.
        if device == "opencl" {
            continue;
        }
        let sums = compiler.compile(|m: Acc<Matrix<i32>>| m.sum())?;
        assert_eq!(sums.run([[1, 2], [3, 4]])?, [3, 7]);
        // Views that begin where the array does, others, and views of views.
        assert_eq!(sums.run(&table.slice(..2)?)?, [3, 33]);
        assert_eq!(sums.run(&table.slice(1..)?.slice(1..=1)?)?, [63]);
        assert_eq!(sums.run(&table.reshape::<Dim2>([3, 4])?)?, [13, 64, 115]);
        let total = compiler.compile(|v: Acc<Vector<i32>>| v.sum())?;
        assert_eq!(total.run(&table.row(3)?)?.to_value()?, 93);
        assert_eq!(total.run(&table.reshape::<Dim1>([12])?)?.to_value()?, table.iter()?.sum::<i32>());
        let uploaded = compiler.upload([[1, 2], [3, 4]])?;
        assert_eq!((uploaded.extents(), sums.run(&uploaded)?), ([2, 2], Vector::from([3, 7])));
    }
    Ok(())
}

#[test]
fn only_what_is_looked_at_is_fetched() -> pumice::Result<()> {
    let (device, compiler) = sim();
    let table = compiler.run(generate((100, 50), |(i, j)| (1000 * i + j, i.eq(j))))?;
    let mut before = device.downloaded();
    // An element is 8 bytes and one.
    let mut fetched = |elements: u64, what: &str| {
        let now = device.downloaded();
        assert_eq!(now - before, 9 * elements, "{what}");
        before = now;
    };
    assert_eq!(table.extents(), [100, 50]);
    fetched(0, "extents");
    assert_eq!(table.row(3)?[3], (3003, true));
    fetched(50, "a row");
    assert_eq!(table.slice(90..)?.slice(..2)?.to_vec()?.len(), 100);
    fetched(100, "two rows");
    assert!(table.to_string().starts_with("[[(0, true), (1, false),"), "{table}");
    fetched(36, "corners");
    assert_eq!(table[(99, 49)], (99_049, false));
    fetched(5000, "the whole");
    assert!(table.row(3)?[0] == table[[3, 0]] && table == table.clone());
    fetched(0, "what was fetched before");
    Ok(())
}

#[test]
fn what_does_not_fit_is_said() -> pumice::Result<()> {
    let (_, compiler) = sim();
    let m = Matrix::from([[1, 2], [3, 4]]);
    let outside = message(m.get([0, 2]));
    let said =
        "there is no element [0, 2] in an array of extents [2, 2] in get at crates/array/tests/host.rs:";
    assert!(outside.starts_with(said), "{outside}");
    assert!(message(m.slice(1..3)).contains("no part 1..3"));
    #[allow(clippy::reversed_empty_ranges)]
    let backwards = message(m.slice(2..1));
    assert!(backwards.contains("no part 2..1"));
    assert!(message(m.row(usize::MAX)).contains("no row"));
    assert!(message(m.reshape::<Dim3>([usize::MAX, 4, 4])).contains("4 elements are not an array"));
    // Inner extents whose product is no number, of an array without elements.
    let none = Array::<Dim3, i32>::from_vec([0, 1 << 40, 1 << 40], vec![])?;
    assert_eq!((none.slice(..)?.len(), none.rows()?.len(), none.to_nested()?.len()), (0, 0, 0));
    assert_eq!(none.to_string(), "[]");
    // A computation that failed equals nothing, and tells why.
    let failed =
        compiler.compile(|xs: Acc<Vector<i32>>, n: Exp<i32>| xs.map(|x| x / n))?.run((&[1, 2], 0))?;
    let same = failed.clone();
    assert!(failed != same && message(failed.slice(1..)?.to_vec()).contains("division by zero"));
    assert!(message(failed.get(0)).contains("host.rs") && failed.to_string().contains("division by zero"));
    assert_eq!(failed.len(), 2);
    Ok(())
}

#[test]
fn a_large_array_prints_its_type_and_corners() {
    let table = Matrix::from_fn([1000, 1000], |[i, j]| i as f32 - j as f32 / 4.0).expect("a matrix");
    let expected = "\
Array<f32> of 1000 x 1000:
[[   0.0 ,   -0.25,   -0.5 , ..., -249.25, -249.5 , -249.75],
 [   1.0 ,    0.75,    0.5 , ..., -248.25, -248.5 , -248.75],
 [   2.0 ,    1.75,    1.5 , ..., -247.25, -247.5 , -247.75],
 ...,
 [ 997.0 ,  996.75,  996.5 , ...,  747.75,  747.5 ,  747.25],
 [ 998.0 ,  997.75,  997.5 , ...,  748.75,  748.5 ,  748.25],
 [ 999.0 ,  998.75,  998.5 , ...,  749.75,  749.5 ,  749.25]]";
    assert_eq!(format!("{table:?}"), expected);
    let text = format!("{table:.1}");
    assert_eq!(text.lines().count(), 7);
    assert_eq!(text.lines().next(), Some("[[   0.0,   -0.2,   -0.5, ..., -249.2, -249.5, -249.8],"));
}

#[test]
fn numpy_files_of_any_rank_and_element_come_back() -> pumice::Result<()> {
    let path = scratch("any.npy");
    let single = Scalar::<u64>::from_vec([], vec![7])?;
    single.write_npy(&path)?;
    assert_eq!(Scalar::<u64>::read_npy(&path)?, single);
    let five =
        Array::<Dim5, (f32, bool)>::from_fn([2, 1, 3, 1, 2], |[a, _, b, _, c]| ((a + b) as f32, c == 1))?;
    five.write_npy(&path)?;
    assert_eq!(Array::<Dim5, (f32, bool)>::read_npy(&path)?, five);
    let rank = message(Vector::<(f32, bool)>::read_npy(&path));
    assert!(
        rank.starts_with("cannot read")
            && rank.contains("it has 5 dimensions, and an array of 1 was asked for")
    );
    std::fs::write(&path, b"\x93NUMPY\x01\x00").expect("a file");
    assert!(message(Vector::<f32>::read_npy(&path)).contains("no NumPy file"));
    std::fs::remove_file(&path).expect("a file");
    let gone = message(Vector::<f32>::read_npy(&path));
    assert!(gone.contains("any.npy: No such file"), "{gone}");
    assert!(message(single.write_npy(path.join("nowhere"))).starts_with("cannot write"));
    Ok(())
}

/// The examples run as programs and print the output that their headers show.
#[test]
fn examples_print_what_they_say() {
    let examples = [
        ("arrow_table", include_str!("../examples/arrow_table.rs")),
        ("count_letters", include_str!("../examples/count_letters.rs")),
    ];
    for device in ["sim", "cpu", "opencl"] {
        programs::run_all(&examples, device);
    }
}

proptest! {
    #[test]
    fn any_matrix_comes_back_from_every_form(rows in 0usize..5, columns in 0usize..5, seed in any::<u32>()) {
        let element = |[i, j]: [usize; 2]| (f64::from(seed) / (1 + i) as f64, (j as u32 ^ seed).is_multiple_of(3));
        let matrix = Matrix::from_fn([rows, columns], element).expect("a matrix");
        let nested = Matrix::from_nested(matrix.to_nested().expect("rows")).expect("a matrix");
        // Without rows nobody knows how long they are.
        prop_assert!(nested == matrix || rows == 0);
        let flat = matrix.reshape::<Dim1>([rows * columns]).expect("a vector");
        prop_assert_eq!(&flat, &flat.iter().expect("elements").copied().collect::<Vec<_>>());
        let path = scratch("property.npy");
        matrix.write_npy(&path).expect("a file");
        prop_assert_eq!(&Matrix::read_npy(&path).expect("a file"), &matrix);
        std::fs::remove_file(&path).expect("a file");
    }
}

#[test]
fn files_are_arguments_without_being_read_first() -> pumice::Result<()> {
    let (path, (_, compiler)) = (scratch("mapped.raw"), sim());
    let bytes: Vec<u8> = (0..3000u32).flat_map(u32::to_le_bytes).collect();
    std::fs::write(&path, &bytes).expect("a file");
    let sum = compiler.compile(|xs: Acc<Vector<u32>>| xs.sum())?;
    // SAFETY: no other test knows the files.
    unsafe {
        let mapped = Vector::<u32>::map_file(&path)?;
        assert_eq!(sum.run(&mapped)?.to_value()?, (0..3000).sum::<u32>());
        assert_eq!(mapped.reshape::<Dim2>([30, 100])?.row(2)?.slice(..2)?, [200, 201]);
        assert!(message(Vector::<bool>::map_file(&path)).contains("no truth values"));
        std::fs::write(&path, &bytes[..10]).expect("a file");
        assert!(message(Vector::<u32>::map_file(&path)).contains("its 10 bytes are no whole number"));
        std::fs::write(&path, []).expect("a file");
        assert_eq!(Vector::<u32>::map_file(&path)?.len(), 0);
        assert!(message(Vector::<u32>::map_npy(&path)).contains("no NumPy file"));
        let matrix = Matrix::from([[1.5, 2.5], [3.5, 4.5]]);
        matrix.write_npy(&path)?;
        assert_eq!(Matrix::<f64>::map_npy(&path)?, matrix);
        let whole = std::fs::read(&path).expect("a file");
        std::fs::write(&path, &whole[..whole.len() - 1]).expect("a file");
        assert!(message(Matrix::<f64>::map_npy(&path)).contains("31 bytes of elements"));
        Vector::from([(1, 2)]).write_npy(&path)?;
        assert!(message(Vector::<(i32, i32)>::map_npy(&path)).contains("`read_npy` converts"));
    }
    std::fs::remove_file(&path).expect("a file");
    Ok(())
}

#[test]
fn archives_of_arrays_are_read_whoever_wrote_them() -> pumice::Result<()> {
    let path = scratch("arrays.npz");
    let mut writer = pumice::NpzWriter::create(&path)?;
    writer.add("xs", &Vector::from([1.5f32]))?;
    assert!(message(writer.add("xs", &Vector::from([2.5f32]))).starts_with("cannot write"));
    writer.finish()?;
    let mut file = pumice::Npz::open(&path)?;
    assert_eq!(file.read::<Dim1, f32>("xs")?, [1.5]);
    assert!(
        message(file.read::<Dim1, f64>("xs")).contains("`xs`: its elements are f32, and f64 was asked for")
    );
    let whole = std::fs::read(&path).expect("a file");
    // Broken anywhere, a file is an error or what it was, and never a panic.
    for place in 0..whole.len() {
        let mut broken = whole.clone();
        broken[place] ^= 0x55;
        std::fs::write(&path, &broken).expect("a file");
        if let Ok(mut file) = pumice::Npz::open(&path) {
            let _ = file.read::<Dim1, f32>("xs");
        }
    }
    std::fs::write(&path, &whole[..whole.len() / 2]).expect("a file");
    assert!(message(pumice::Npz::open(&path)).starts_with("cannot read"));
    std::fs::remove_file(&path).expect("a file");
    Ok(())
}

#[test]
fn serde_keeps_shapes_and_refuses_what_does_not_fit() -> pumice::Result<()> {
    let matrix = Matrix::from([[1, 2], [3, 4]]);
    let text = serde_json::to_string(&matrix).expect("JSON");
    assert_eq!(text, r#"{"shape":[2,2],"elements":[1,2,3,4]}"#);
    assert_eq!(serde_json::from_str::<Matrix<i32>>(&text).expect("a matrix"), matrix);
    let rows = Ragged::from(vec![vec![1.5], vec![]]);
    assert_eq!(serde_json::to_string(&rows).expect("JSON"), "[[1.5],[]]");
    assert_eq!(serde_json::from_str::<Ragged<f64>>("[[1.5],[]]").expect("rows"), rows);
    for (text, part) in [
        (r#"{"shape":[2,3],"elements":[1]}"#, "cannot hold 1 elements"),
        (r#"{"shape":[1],"elements":[1]}"#, "a shape of 1 dimensions, and an array of 2 was asked for"),
        (r#"{"shape":[4294967296,4294967296],"elements":[]}"#, "cannot hold 0 elements"),
        (r#"{"elements":[1]}"#, "shape"),
    ] {
        let found = message(serde_json::from_str::<Matrix<i32>>(text));
        assert!(found.contains(part), "{found}");
    }
    Ok(())
}

#[test]
fn arrays_are_near_each_other_if_all_elements_are() {
    use approx::{abs_diff_eq, relative_eq, ulps_eq};
    let (one, other) = (Vector::from([1.0f32, 100.0]), Vector::from([1.0f32, 100.001]));
    assert!(relative_eq!(one, other, max_relative = 1e-4) && !relative_eq!(one, other));
    assert!(abs_diff_eq!(one, other, epsilon = 0.01) && !abs_diff_eq!(one, other));
    assert!(ulps_eq!(one, one.clone(), max_ulps = 0) && !ulps_eq!(one, other));
    assert!(!abs_diff_eq!(one, Vector::from([1.0]), epsilon = 1e9));
}

#[test]
fn pictures_are_matrices_of_pixels() -> pumice::Result<()> {
    use image::{ImageBuffer, Luma, Rgb};
    let (_, compiler) = sim();
    let picture = ImageBuffer::from_fn(3, 2, |x, y| Rgb([x as f32, y as f32, 0.5]));
    let pixels = Matrix::<(f32, f32, f32)>::from_image(&picture);
    assert_eq!((pixels.extents(), pixels[[1, 2]]), ([2, 3], (2.0, 1.0, 0.5)));
    assert_eq!(pixels.to_image::<Rgb<f32>>()?, picture);
    let darker = compiler.compile(|m: Acc<Matrix<(f32, f32, f32)>>| m.map(|(r, g, _)| r + 10.0 * g))?;
    let grey: ImageBuffer<Luma<f32>, _> = darker.run((&picture,))?.to_image()?;
    assert_eq!(grey.as_raw(), &[0.0, 1.0, 2.0, 10.0, 11.0, 12.0]);
    Ok(())
}

#[test]
fn ndarray_goes_in_and_out_in_any_order() -> pumice::Result<()> {
    let (_, compiler) = sim();
    let sums = compiler.compile(|m: Acc<Matrix<i32>>| m.sum())?;
    let matrix = ndarray::arr2(&[[1, 2, 3], [4, 5, 6]]);
    assert_eq!(sums.run((matrix.view().reversed_axes().to_owned(),))?, [5, 7, 9]);
    assert_eq!(sums.run((&matrix.slice(ndarray::s![.., ..;2]),))?, [4, 10]);
    assert_eq!(sums.run((matrix,))?.to_ndarray()?, ndarray::arr1(&[6, 15]));
    let error = message(Vector::from_ndarray(&ndarray::arr2(&[[1]]).into_dyn()));
    let said = "an `ndarray` array of 2 dimensions is no array of 1 dimensions in from_ndarray at ";
    assert!(error.starts_with(said), "{error}");
    Ok(())
}

#[test]
fn dates_and_times_of_arrow_are_their_numbers() -> pumice::Result<()> {
    use arrow_array::{
        Date32Array, Date64Array, DurationSecondArray, Float32Array, Time32SecondArray,
        Time64MicrosecondArray, TimestampMillisecondArray,
    };
    let days = Date32Array::from(vec![10, 20, 30]);
    let vector = Vector::<i32>::from_arrow(&days.slice(1, 2))?;
    assert_eq!(vector, [20, 30]);
    assert_eq!(vector.as_slice()?.as_ptr(), days.values()[1..].as_ptr(), "not copied");
    let times = TimestampMillisecondArray::from(vec![Some(5), None]).with_timezone("UTC");
    assert_eq!(Vector::<Option<i64>>::from_arrow(&times)?, [Some(5), None]);
    assert!(message(Vector::<i64>::from_arrow(&times)).contains("read it as `Option<i64>`"));
    assert_eq!(Vector::<i32>::from_arrow(&Time32SecondArray::from(vec![7]))?, [7]);
    for column in [
        &Date64Array::from(vec![7]) as &dyn arrow_array::Array,
        &Time64MicrosecondArray::from(vec![7]),
        &DurationSecondArray::from(vec![7]),
    ] {
        assert_eq!(Vector::<i64>::from_arrow(column)?, [7]);
    }
    assert!(message(Vector::<i64>::from_arrow(&days)).contains("is of type Date32, and Int64 was asked for"));
    assert!(
        Vector::<i32>::from_arrow(&Float32Array::from(vec![1.0])).is_err(),
        "of the same size, and no number of days"
    );
    Ok(())
}

#[test]
fn columns_of_arrow_keep_nulls_and_lists() -> pumice::Result<()> {
    use arrow_array::{Array as _, BooleanArray, Float32Array, Int64Array, StringArray};
    let numbers = Int64Array::from(vec![1, 2, 3, 4]);
    let vector = Vector::<i64>::from_arrow(&numbers.slice(1, 2))?;
    assert_eq!(vector, [2, 3]);
    // Where Arrow has them.
    assert_eq!(vector.as_slice()?.as_ptr(), numbers.values()[1..].as_ptr());
    let options: [Option<f32>; 3] = [Some(0.5), None, Some(-1.0)];
    let column = Vector::from(options).to_arrow()?;
    assert_eq!((column.null_count(), column.len()), (1, 3));
    assert_eq!(Vector::<Option<f32>>::from_arrow(&column)?, options);
    assert!(message(Vector::<f32>::from_arrow(&column)).contains("read it as `Option<f32>`"));
    assert_eq!(Vector::<f32>::from_arrow(&Float32Array::from(vec![1.5]))?, [1.5]);
    let truths = Vector::from([true, false]).to_arrow()?;
    assert_eq!(Vector::<Option<bool>>::from_arrow(&truths)?, [Some(true), Some(false)]);
    assert!(message(Vector::<bool>::from_arrow(&BooleanArray::from(vec![None]))).contains("1 nulls"));
    let text = message(Vector::<i64>::from_arrow(&StringArray::from(vec!["a"])));
    assert!(text.contains("of type Utf8, and Int64 was asked for"), "{text}");
    let rows: Ragged<Option<i32>> = Ragged::from(vec![vec![Some(1), None], vec![], vec![Some(2)]]);
    let lists = rows.to_arrow()?;
    assert_eq!(Ragged::<Option<i32>>::from_arrow(&lists)?, rows);
    assert_eq!(Ragged::<Option<i32>>::from_arrow(&lists.slice(1, 2))?.to_vecs(), [vec![], vec![Some(2)]]);
    assert!(message(Ragged::<i64>::from_arrow(&numbers)).contains("a list was asked for"));
    Ok(())
}
