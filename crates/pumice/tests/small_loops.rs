//! Loops over arrays that fit one block: they are one kernel, and the host neither launches nor waits in between.

use pumice::layers::emit::{Dialect, EmitOptions, emit};
use pumice::layers::runtime::device_names;
use pumice::{Compiler, prelude::*};

/// The devices that work here.
fn compilers() -> impl Iterator<Item = Compiler> {
    device_names().into_iter().filter_map(|name| Compiler::on(&name).ok())
}

#[test]
fn debug() -> pumice::Result<()> {
    let program = Compiler::on("opencl")?.compile(|table: Acc<Vector<i64>>, n: Exp<i64>| {
        let walked = iterate(n, fill(3, 0), |places| places.map(|i| table.at(i + 1)));
        walked.map(|x| x + 10)
    })?;
    println!("{}", program.explain((&[9, 1, 2, 3], 0))?);
    for launch in program.skeletons((&[9, 1, 2, 3], 0))? {
        println!("{}", emit(&launch.program, Dialect::OpenCl, &EmitOptions::default()).unwrap().text);
    }
    println!("{:?}", program.run((&[9, 1, 2, 3], 0))?.to_vec()?);
    for round in 0..40 {
        let table: Vec<i64> = (0..4).map(|i| i + round).collect();
        let found = [0, 3, 0].map(|n| program.run((&table, n)).and_then(|r| Ok(r.to_vec()?)));
        println!("{found:?}");
    }
    let simple = |xs: Acc<Vector<f32>>, n: Exp<i64>| {
        awhile(
            (xs, unit(0)),
            |(_, i)| i.map(|i| i.lt(n)),
            |(xs, i)| (xs.map(|x| x * 0.5 + 1.0), i.map(|i| i + 1)),
        )
    };
    let program = Compiler::on("sim")?.compile(simple)?;
    for launch in program.skeletons((&vec![1.0; 1000], 10000))? {
        println!("{}", emit(&launch.program, Dialect::Cuda, &EmitOptions::default()).unwrap().text);
    }
    let until = |xs: Acc<Vector<f32>>| awhile(xs, |xs| xs.sum().map(|x| x.lt(100.0)), |xs| xs.map(|x| x * 0.5 + 1.0));
    let program = Compiler::on("sim")?.compile(until)?;
    for launch in program.skeletons(&vec![1.0; 1000])? {
        println!("{}", emit(&launch.program, Dialect::Cuda, &EmitOptions::default()).unwrap().text);
    }
    Ok(())
}
