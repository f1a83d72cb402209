//! Functions of a `.pum` file in Rust programs: by `include_pum!`, as the text that `pumice build --to rust` writes, and from a text that is
//! there only when the program runs.
#![cfg(feature = "pum")]

use pumice::layers::runtime::Inputs;
use pumice::prelude::*;
use pumice::pum::Module;
use pumice::{Compiler, Error, Result};

mod linear {
    pumice::include_pum!("pum/linear.pum");
}

mod written {
    include!("pum/linear.rs");
}

fn compilers() -> Result<[Compiler; 2]> {
    Ok([Compiler::on("sim")?, Compiler::on("cpu")?])
}

#[test]
fn functions_of_a_file_are_programs() -> Result<()> {
    for compiler in compilers()? {
        let dotp = compiler.compile(linear::dotp)?;
        assert_eq!(dotp.run((&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]))?.to_value()?, 32.0);
        let xs: Vec<i32> = (0..1000).collect();
        let turned = compiler.compile(linear::turned)?.run((100, &xs))?.to_vec()?;
        assert!(turned.iter().copied().eq((0..1000).rev()));
        let m = Matrix::from_vec([2, 3], vec![1f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
        let scaled = compiler.compile(linear::scaled)?.run((10.0, &m))?;
        assert_eq!((scaled.extents(), scaled.to_vec()?), ([3, 2], vec![10.0, 40.0, 20.0, 50.0, 30.0, 60.0]));
        assert_eq!(compiler.compile(linear::next_prime)?.run(41)?.to_value()?, 42);
        // A record is the tuple of its fields, in the order of names: any, centred, mean.
        let (any, centred, mean) = compiler.compile(linear::moments)?.run([1.0, 2.0, 6.0])?;
        assert_eq!(
            (any.to_value()?, centred.to_vec()?, mean.to_value()?),
            (true, vec![-2.0, -1.0, 3.0], 3.0)
        );
        // Parts of records and tuples are parameters, sums are tuples of a tag and all fields.
        let weighted = compiler.compile(linear::weighted)?;
        assert_eq!(weighted.run((1.0, 2.0, &[1.0, 2.0, 3.0], 10.0))?.to_vec()?, [13.0, 15.0, 17.0]);
        let shapes = [(7u32, (0, 1.5f32, 0.0f32, 0.0f32)), (8, (1, 0.0, 2.0, 3.0))];
        let grown = compiler.compile(linear::grown)?.run((2.0, &shapes))?.to_vec()?;
        assert_eq!(grown, [(7, (0, 3.0, 0.0, 0.0)), (8, (1, 0.0, 4.0, 6.0))]);
    }
    Ok(())
}

#[test]
fn functions_of_a_file_are_parts_of_programs() -> Result<()> {
    fn shares(xs: Acc<Vector<f64>>) -> Acc<Vector<f64>> {
        let norm = linear::dotp(xs.clone(), xs.clone());
        xs.map(|x| x / norm.the())
    }
    let compiler = Compiler::on("sim")?;
    let shares = compiler.compile(shares)?;
    assert_eq!(shares.run([3.0, 4.0])?.to_vec()?, [3.0 / 25.0, 4.0 / 25.0]);
    // What stands around a function is fused with it.
    let fused = compiler.compile(|xs: Acc<Vector<f64>>| linear::dotp(xs.clone().map(|x| x + 1.0), xs))?;
    let alone = compiler.compile(|xs: Acc<Vector<f64>>| linear::dotp(xs.clone(), xs))?;
    assert_eq!(fused.skeletons([1.0, 2.0])?.len(), alone.skeletons([1.0, 2.0])?.len());
    assert_eq!(fused.run([1.0, 2.0])?.to_value()?, 8.0);
    Ok(())
}

#[test]
fn failures_name_the_file() -> Result<()> {
    for compiler in compilers()? {
        let picked = compiler.compile(linear::picked)?;
        assert_eq!(picked.run((&[10, 20, 30], &[2, 0]))?.to_vec()?, [30, 10]);
        let error = picked.run((&[10, 20, 30], &[1, 7]))?.to_vec().map_err(|error| error.to_string());
        let error = error.err().unwrap_or_default();
        assert!(error.contains("index 7") && error.contains("pum/linear.pum:"), "{error}");
    }
    Ok(())
}

#[test]
fn what_the_command_writes_is_the_same() -> Result<()> {
    let compiler = Compiler::on("sim")?;
    // The command calls the file by its name alone.
    let operations = |text: String| {
        text.replace("pum/linear.pum", "linear.pum").split_off(text.find("zip_with").unwrap_or(0))
    };
    let described = operations(compiler.compile(written::dotp)?.describe());
    assert!(described.contains("\"linear.pum\" 9:"), "{described}");
    assert_eq!(described, operations(compiler.compile(linear::dotp)?.describe()));
    assert_eq!(compiler.compile(written::turned)?.run((2, &[1, 2, 3, 4]))?.to_vec()?, [4, 3, 2, 1]);
    Ok(())
}

#[test]
fn a_text_that_is_there_only_at_run_time_is_a_module() -> Result<()> {
    let module = Module::load(&[(
        "sums.pum",
        "sig both : [(i64, f64)] -> (i64, f64)\nfun both xs = (sum (map fst xs), sum (map snd xs))",
    )])?;
    let program = Compiler::on("sim")?.compile_program(module.function("both")?.columns())?;
    let (numbers, floats) = (Vector::from(vec![1i64, 2]), Vector::from(vec![0.5, 0.25]));
    let mut inputs = Inputs::default();
    inputs.arrays.extend([(0, numbers.data().clone()), (1, floats.data().clone())]);
    let results = program.run_all(&inputs)?;
    assert_eq!(results[0].columns()?[0][..], 3i64.to_le_bytes());
    assert_eq!(results[1].columns()?[0][..], 0.75f64.to_le_bytes());
    Ok(())
}

#[test]
fn what_is_wrong_with_a_text_is_told_with_its_place() -> Result<()> {
    let wrong = |result: Result<Module>, part: &str| match result.map(|_| ()) {
        Err(Error::Invalid(message)) => assert!(message.contains(part), "{message}"),
        other => panic!("{other:?}"),
    };
    wrong(Module::load(&[]), "a module has a text");
    wrong(Module::load(&[("a.pum", "fun f = 1 + true")]), "a.pum:1:");
    wrong(Module::load(&[("a.pum", "import b")]), "`b` cannot be imported: its text was not given");
    let module = Module::load(&[("a.pum", "fun twice f x = f (f x)\nsig one : int\nfun one = 1")])?;
    let refused = |name: &str| module.function(name).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(
        refused("twice").starts_with("`twice` cannot be called from other languages: its type"),
        "{}",
        refused("twice")
    );
    assert_eq!(refused("two"), "the file has no function `two`; those that can be called are: one");
    Ok(())
}
