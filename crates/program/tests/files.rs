//! Runs the file tests on the simulator, as they are and after the passes; broken kernels must be caught.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pumice_program::file_test::{Case, Expectation, FileTest, read};
use pumice_program::simulate::Options;
use pumice_program::{
    Param, Program, VectorOptions, check, drop_spare_vars, eliminate_dead, mark_exact, narrow, parse, settle,
    simulate, vectorise,
};

/// Runs a case. The error says which expectation is not met.
fn run(program: &Program, case: &Case) -> Result<(), String> {
    if let Expectation::Refused(message) = &case.expectation {
        return match check(program) {
            Err(error) if error.to_string().contains(message) => Ok(()),
            Err(error) => Err(format!("refused with another message: {error}")),
            Ok(()) => Err("not refused".to_owned()),
        };
    }
    let mut memories = case.sim_memories();
    let mut options = Options::default();
    options.steps = case.steps.unwrap_or(options.steps);
    match (simulate(program, &mut memories, &case.scalars, &options), &case.expectation) {
        (Ok(_), Expectation::Fault(kind)) => Err(format!("no fault, and {kind} was expected")),
        (Ok(_), _) => {
            check(program).map_err(|error| error.to_string())?;
            let bytes: Vec<&[u8]> = memories.iter().map(|memory| memory.bytes()).collect();
            case.compare(&bytes)
        }
        (Err(fault), Expectation::Fault(kind)) if fault.kind == *kind && fault.statement.is_some() => Ok(()),
        (Err(fault), _) => Err(fault.to_string()),
    }
}

/// The program with every pass, for the very arguments of a case.
fn optimised(program: &Program, case: &Case) -> Program {
    let scalars = program.params.iter().filter_map(|param| match param {
        Param::Scalar(var) => Some(*var),
        Param::Memory(_) => None,
    });
    let ranges: BTreeMap<_, _> = scalars
        .zip(&case.scalars)
        .filter_map(|(var, scalar)| scalar.as_integer().map(|value| (var, (value, value))))
        .collect();
    let mut settled = program.clone();
    if !settle(&mut settled, &ranges).is_empty() {
        // It takes other arguments than the case has.
        settled = program.clone();
    }
    let mut program = narrow(&settled, &ranges);
    vectorise(&mut program, &VectorOptions::default());
    eliminate_dead(&mut program);
    mark_exact(&mut program, &ranges);
    drop_spare_vars(&mut program);
    program
}

fn files() -> Vec<(PathBuf, FileTest)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let test = read(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path, test)
    };
    paths.into_iter().map(read).collect()
}

#[test]
fn files_do_what_they_say() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (path, test) in files() {
        for case in &test.cases {
            let mut record = |program: &Program, what: &str| {
                count += 1;
                if let Err(message) = run(program, case) {
                    let path = path.display();
                    wrong.push(format!("{path} {} {what}: {message}\n{program}", case.name));
                }
            };
            record(&test.program, "as it is");
            record(&parse(&test.program.to_string()).unwrap(), "printed and read back");
            // What is broken may be broken in another way, or not at all, once optimised.
            if let Expectation::Contents(_) = case.expectation {
                record(&optimised(&test.program, case), "optimised");
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 60, "only {count} runs");
}

#[test]
fn faults_name_the_statement_and_the_place() {
    let text = "// input n = 3
        // space out = 2
        // expect fault out-of-bounds
        kernel k
        memory @out: global write f32
        params @out, %n: i64
        threads 4
        blocks %block: i64 < 1:i64
        body {
          // map at src/main.rs:14
          parallel %i: i64 < %n {
            %f: f32 = cast %i
            store @out[%i] = %f
          }
        }";
    let test = read(text).unwrap();
    let case = &test.cases[0];
    let fault =
        simulate(&test.program, &mut case.sim_memories(), &case.scalars, &Options::default()).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "kernel `k`, block 0, index 2: out-of-bounds: index 2 of `out`, which has 2 elements \
         in `store @out[%i.2] = %f.3` (map at src/main.rs:14)"
    );
}

#[test]
fn mistakes_in_files_are_reported_with_their_line() {
    let message = |directives: &str| {
        let text = format!(
            "{directives}\nkernel k\nmemory @xs: global read f32\nparams @xs, %n: i64\nthreads 1\n\
             blocks %b: i64 < 1:i64\nbody {{\n}}\n"
        );
        read(&text).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(message("// input xs = [1]\n// input n = 3"), Ok(()));
    assert_eq!(message("// input xs = [1]"), Err("line 1: `n` is not given".into()));
    assert_eq!(
        message("// input xs = [1]\n// input n = x"),
        Err("line 2: `x` is not a value of type i64".into())
    );
    assert_eq!(message("// input ys = [1]"), Err("line 1: there is no parameter `ys`".into()));
    assert_eq!(message("// expect fault flood"), Err("line 1: there is no fault `flood`".into()));
    assert!(message("}").is_err());
}
