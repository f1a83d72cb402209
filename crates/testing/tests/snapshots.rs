//! Snapshots of the examples in every dialect, from the program as a user writes it to the text that is compiled.
//!
//! The texts are in `snapshots/`, for people to read when they change; `INSTA_UPDATE=always` writes them anew. They are
//! planned for made-up devices, so that they are the same on every machine.

use pumice::layers::array::PlanOptions;
use pumice::layers::emit::{Dialect, EmitOptions, emit};
use pumice::layers::kernel::Profile;
use pumice::layers::scalar::{Constant, ScalarType};
use pumice_testing::programs::{self, Example};

/// Profile of a GPU.
const GPU: Profile = Profile { shared_bytes: 48 << 10, ..Profile::large_gpu() };

/// Profile of a CPU.
const CPU: Profile = Profile {
    threads: 2048,
    lanes: 32,
    max_threads: 4096,
    shared_bytes: 8 << 20,
    max_blocks: 1 << 40,
    busy_blocks: 8,
    vector_bytes: 0,
    coalesces: false,
    forward_progress: false,
    native_warps: false,
    capabilities: pumice_program::Capabilities::ALL,
};

/// Returns the example with this name, for a million elements.
fn example(name: &str) -> Example {
    let mut example = programs::example(name).expect("the examples have these names");
    for extents in example.extents.values_mut() {
        let extent = if extents.len() == 1 && name != "matrix_vector" { 1 << 20 } else { 1 << 10 };
        extents.fill(extent);
    }
    let extents = example.scalars.iter_mut().filter(|scalar| scalar.ty() == ScalarType::I64);
    extents.for_each(|scalar| *scalar = Constant::from(1i64 << 10));
    example
}

/// Returns the kernels of an example, one after another.
fn kernels(name: &str, dialect: Dialect) -> String {
    let profile = if dialect == Dialect::C { &CPU } else { &GPU };
    let plan = example(name).plan(profile, &PlanOptions::default());
    let plan = plan.unwrap_or_else(|error| panic!("{name} for {dialect}: {error}"));
    let texts = plan.launches().map(|launch| {
        let source = emit(&launch.program, dialect, &EmitOptions::default());
        without_lines(&source.unwrap_or_else(|error| panic!("{name} for {dialect}: {error}")).text)
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Replaces the line (and column) after each name of a Rust file by `:_`: they change when anything is added
/// above.
fn without_lines(text: &str) -> String {
    let mut parts = text.split(".rs:");
    let mut clean = parts.next().unwrap_or_default().to_string();
    for part in parts {
        clean += ".rs:_";
        clean += part.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
    }
    clean
}

fn snapshot(name: &str) {
    for dialect in Dialect::ALL {
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(format!("{name}.{dialect}"), kernels(name, dialect));
        });
    }
}

macro_rules! snapshots {
    ($($name:ident)*) => { $(
        #[test]
        fn $name() {
            snapshot(stringify!($name));
        }
    )* };
}
snapshots!(dotp saxpy row_sums column_sums matrix_vector blur black_scholes mandelbrot);

/// Examples whose kernels are too long to review changes in them.
const LONG: [&str; 9] =
    ["distances", "joined", "prefix_sums", "select", "bins", "covered", "sparse_vector", "sorted", "faces"];

#[test]
fn every_other_example_has_a_snapshot() {
    let examples = programs::examples();
    let names: Vec<_> =
        examples.iter().map(|example| example.name).filter(|name| !LONG.contains(name)).collect();
    let known =
        ["dotp", "saxpy", "row_sums", "column_sums", "matrix_vector", "blur", "black_scholes", "mandelbrot"];
    assert_eq!(names, known);
}

/// Also of kernels that go on with what others have begun, which take large arrays: devices differ in how they divide those.
#[test]
fn every_kernel_of_the_examples_has_a_reason() {
    let waiting = Profile { forward_progress: false, ..GPU };
    for profile in [&GPU, &waiting, &CPU] {
        for example in programs::examples() {
            let plan = example.plan(profile, &PlanOptions::default());
            let plan = plan.unwrap_or_else(|error| panic!("{}: {error}", example.name));
            for launch in plan.launches() {
                assert!(!launch.why.is_empty(), "{} of {} has no reason", launch.program.name, example.name);
                let why = launch.why.join("; ");
                assert!(!why.contains(" 1 rows") && !why.contains(" 1 elements"), "{why}");
            }
            let arguments = plan.inputs().iter().filter(|input| input.place.operation() == "argument");
            for input in arguments {
                assert!(input.place.file().ends_with("testing/src/programs.rs"), "{}", input.place);
            }
        }
    }
}

#[test]
fn lines_are_left_out() {
    assert_eq!(
        without_lines("// map at a/b.rs:12:5, sum at c.rs:7\nx"),
        "// map at a/b.rs:_, sum at c.rs:_\nx"
    );
    assert_eq!(without_lines("no place"), "no place");
}

/// In the formula of Black and Scholes `d1` and `d2` are used many times, and so is each value of `cnd'` (the Accelerate
/// paper, section 6.3): per element, each is computed once.
#[test]
fn shared_values_of_black_scholes_are_computed_once() {
    let counts = |text: &str, calls: [&str; 5]| calls.map(|call| text.matches(call).count());
    // An `exp` for the discount and for each `cnd'`, whose polynomials begin with 1 / (1 + |d|); two divisions for `d1`.
    let once = [3, 1, 1, 2, 4];

    let c = kernels("black_scholes", Dialect::C);
    let (_helpers, c) = c.split_once("\nvoid map(").expect("the entry point");
    let calls = ["exp_f32(", "log_f32(", "__builtin_sqrtf(", "__builtin_fabsf(", " / "];
    assert_eq!(counts(c, calls), once, "{c}");

    // A thread of a full block has four elements, unrolled; in the last block it takes one at a time.
    let cuda = kernels("black_scholes", Dialect::Cuda);
    let (_, cuda) = cuda.split_once("if (length_ == 1024) {").expect("full blocks are a case of their own");
    let (four, one) = cuda.split_once("} else {").expect("other blocks are a case of their own");
    let calls = ["expf(", "logf(", "sqrtf(", "fabsf(", " / "];
    assert_eq!(counts(one, calls), once, "{one}");
    assert_eq!(counts(four, calls), once.map(|count| 4 * count), "{four}");
}
