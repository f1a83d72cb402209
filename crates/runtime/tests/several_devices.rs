//! Several devices of one kind: each runs programs of its own, and what is one's is refused by the others.
//!
//! PoCL shows the processor as two devices if its environment says so, before it is loaded: so the test program starts
//! itself again, with the one test [`child`].

use pumice::layers::runtime::{
    CompiledKernel, Device, EmitOptions, Engine, Error, Inputs, LaunchArgument, PreparedPlan, open,
};
use pumice::{Compiler, prelude::*};
use std::process::Command;
use std::sync::Arc;

/// Set in the process that the test starts.
const CHILD: &str = "PUMICE_TEST_TWO_DEVICES";

/// Values of `POCL_DEVICES` that make PoCL show two devices: the names of its drivers were changed between versions.
const TWO: [&str; 2] = ["pthread basic", "cpu cpu-minimal"];

#[test]
fn two_devices_of_a_kind_are_two_devices() {
    let this = std::env::current_exe().expect("this program");
    let mut text = String::new();
    for devices in TWO {
        let mut command = Command::new(&this);
        command.args(["child", "--exact", "--nocapture"]).env(CHILD, "1").env("POCL_DEVICES", devices);
        let output = command.env_remove("PUMICE_OPENCL_DEVICE").output().expect("a child");
        text =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if !text.contains("one device only") {
            assert!(output.status.success() && text.contains("both are right"), "{text}");
            return;
        }
    }
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{text}");
    eprintln!("not tested: no OpenCL that shows two devices");
}

/// Not a test of anything alone: it is what the test starts.
#[test]
fn child() -> Result<(), Error> {
    if std::env::var_os(CHILD).is_none() {
        return Ok(());
    }
    let (Ok(first), Ok(second)) = (open("opencl:0"), open("opencl:1")) else {
        println!("one device only");
        return Ok(());
    };
    assert_eq!((first.name().to_string(), second.name().to_string()), ("opencl:0".into(), "opencl:1".into()));
    assert_ne!(first.id(), second.id());
    assert!(Arc::ptr_eq(&first, &open("opencl")?));
    let error = open("opencl:7").err().map(|error| error.to_string()).unwrap_or_default();
    assert!(
        error.starts_with("there is no device `opencl:7`; the devices are opencl:0, opencl:1"),
        "{error}"
    );

    one_program_runs_on_each(&first, &second)?;
    handles_are_refused(&*first, &*second)?;
    plans_are_refused(&first, &second)?;
    println!("both are right");
    Ok(())
}

/// A program is compiled for each; results of one are arguments of the other, and so are its failures.
fn one_program_runs_on_each(first: &Arc<dyn Device>, second: &Arc<dyn Device>) -> Result<(), Error> {
    let squares = |xs: Acc<Vector<f32>>| xs.map(|x| x * x);
    let (here, there) = (Compiler::with(first.clone()), Compiler::with(second.clone()));
    let (square_here, square_there) = (here.compile(squares)?, there.compile(squares)?);
    let sum = there.compile(|xs: Acc<Vector<f32>>| xs.sum())?;
    for n in [0usize, 1, 1000, 70_000] {
        let xs: Vec<f32> = (0..n).map(|i| (i % 7) as f32).collect();
        let expected: Vec<f32> = xs.iter().map(|x| x * x).collect();
        let one = square_here.run(&xs)?;
        assert_eq!(one.to_vec()?, expected);
        assert_eq!(square_there.run(&xs)?.to_vec()?, expected);
        // Before the host has looked at it.
        let moved = square_there.run(&square_here.run(&xs)?)?;
        assert_eq!(moved.to_vec()?, expected.iter().map(|x| x * x).collect::<Vec<_>>());
        assert_eq!(sum.run(&one)?.to_value()?, expected.iter().sum::<f32>());
    }
    let bad = here.compile(|x: Exp<i32>| unit(7 / x).replicate(3))?.run(0)?;
    let used = there.compile(|xs: Acc<Vector<i32>>| xs.map(|x| x + 1))?.run(&bad);
    let message = used.and_then(|array| Ok(array.to_vec()?)).err().map(|error| error.to_string());
    assert!(message.is_some_and(|message| message.contains("integer division by zero")));
    Ok(())
}

/// Memory and kernels of the first are refused by the second.
fn handles_are_refused(first: &dyn Device, second: &dyn Device) -> Result<(), Error> {
    let (here, there) = (first.allocate(16)?, second.allocate(16)?);
    let kernel = empty_kernel(first)?;
    for refused in [
        second.upload(&here, &[0; 16]),
        second.download(&here, &mut [0; 16]),
        second.zero(&here, 16),
        second.copy(&here, &there, 16),
        first.copy(&here, &there, 16),
        // SAFETY: the kernel has no parameters and does nothing.
        unsafe { second.launch(&kernel, 1, &[]) },
    ] {
        assert!(matches!(refused, Err(Error::WrongDevice { .. })), "{refused:?}");
    }
    let error = second.upload(&here, &[0; 16]).err().map(|error| error.to_string());
    assert_eq!(error.as_deref(), Some("memory of device `opencl:0` was given to device `opencl:1`"));

    // A launch of the second's own kernel with the first's memory.
    let text = "kernel one\nmemory @x: global write i32\nparams @x\nthreads 1\nprologue {\n}\n\
                blocks %b.0: i64 < 1:i64\nbody {\n  parallel %t.1: i64 < 1:i64 {\n    store @x[%t.1] = 1:i32\n  }\n}\n";
    let own = load(second, text)?;
    // SAFETY: the memory holds four elements, of which the kernel writes the first.
    let refused = unsafe { second.launch(&own, 1, &[LaunchArgument::Memory(&here)]) };
    assert!(matches!(refused, Err(Error::WrongDevice { .. })), "{refused:?}");
    // SAFETY: as above.
    unsafe { second.launch(&own, 1, &[LaunchArgument::Memory(&there)]) }
}

/// A plan that was prepared for the first is refused by the second.
fn plans_are_refused(first: &Arc<dyn Device>, second: &Arc<dyn Device>) -> Result<(), Error> {
    let (here, there) = (Engine::of(first.clone()), Engine::of(second.clone()));
    assert!(!Arc::ptr_eq(&here, &there));
    let program = Compiler::with(first.clone()).compile(|n: Exp<i64>| generate(n, |i| i).sum())?;
    let plan = program.plan(100)?;
    let inputs = Inputs { scalars: vec![100i64.into()], ..Inputs::default() };
    let prepared = PreparedPlan::new(&here, program.program(), plan, &EmitOptions::default(), &inputs, None)?;
    prepared.bind(&here, program.program(), &inputs)?.launch()?;
    let refused = prepared.bind(&there, program.program(), &inputs).err().map(|error| error.to_string());
    assert_eq!(refused.as_deref(), Some("a plan of device `opencl:0` was given to device `opencl:1`"));
    Ok(())
}

fn empty_kernel(device: &dyn Device) -> Result<CompiledKernel, Error> {
    load(device, "kernel nothing\nthreads 1\nprologue {\n}\nblocks %block.0: i64 < 1:i64\nbody {\n}\n")
}

fn load(device: &dyn Device, text: &str) -> Result<CompiledKernel, Error> {
    let program = pumice_program::parse(text).unwrap_or_else(|error| panic!("{error:?}"));
    let program = pumice_program::verify(program).unwrap_or_else(|error| panic!("{error}"));
    let binary = device.build(&program, &EmitOptions::default())?;
    // SAFETY: it was just built of this program.
    unsafe { device.load(&program, &binary) }
}
