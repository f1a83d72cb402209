//! Random programs on every device, the same ones each time, and those that failed once (`random/`).
//!
//! `cargo xtask random` runs as many others as there is time for, and writes those that fail into that folder. A device that
//! is not available here is skipped with a note, unless `CI=true`: then it is a failure.

use pumice_testing::random::{Kind, Recipe, Runner};
use std::path::Path;

/// The seed of the programs that run each time.
const SEED: u64 = 20_261_115;

fn runner(device: &str) -> Option<Runner> {
    match Runner::on(device) {
        Ok(runner) => Some(runner),
        Err(error) if std::env::var("CI").as_deref() == Ok("true") => panic!("{error}"),
        Err(error) => {
            eprintln!("skipped: {error}");
            None
        }
    }
}

/// Runs programs; `names` gives their names for messages.
fn check(device: &str, recipes: &[Recipe], names: impl Fn(usize) -> String) {
    let Some(runner) = runner(device) else { return };
    let outcomes = runner.run(recipes).into_iter().enumerate();
    let failed: Vec<String> = outcomes
        .filter_map(|(place, outcome)| outcome.err().map(|message| (place, message)))
        .map(|(place, message)| format!("{}: {message}\n{}", names(place), recipes[place].describe()))
        .collect();
    assert!(failed.is_empty(), "{} failed on {device}\n{}", failed.len(), failed.join("\n"));
}

fn check_seed(device: &str, count: u64) {
    let recipes: Vec<Recipe> = (0..count).map(|number| Recipe::from_seed(SEED, number)).collect();
    check(device, &recipes, |number| format!("program {number} of seed {SEED}"));
}

#[test]
fn the_simulator_agrees() {
    check_seed("sim", 500);
}

#[test]
fn the_cpu_agrees() {
    check_seed("cpu", 20);
}

#[test]
fn opencl_agrees() {
    check_seed("opencl", 5);
}

/// Returns the programs of the folder, with their names.
fn kept() -> Vec<(String, Recipe)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join("random");
    let files = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{error}"));
    let mut kept: Vec<(String, Recipe)> = files
        .map(|file| {
            let path = file.unwrap_or_else(|error| panic!("{error}")).path();
            let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{error}"));
            let name = path.display().to_string();
            let recipe = Recipe::from_file(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            (name, recipe)
        })
        .collect();
    kept.sort_by(|one, other| one.0.cmp(&other.0));
    kept
}

fn check_kept(device: &str) {
    let (names, recipes): (Vec<String>, Vec<Recipe>) = kept().into_iter().unzip();
    check(device, &recipes, |place| names[place].clone());
}

#[test]
fn programs_that_failed_once_pass_on_the_simulator() {
    check_kept("sim");
}

#[test]
fn programs_that_failed_once_pass_on_the_cpu() {
    check_kept("cpu");
}

#[test]
fn programs_that_failed_once_pass_on_opencl() {
    check_kept("opencl");
}

#[test]
fn random_programs_are_worth_their_time() {
    // The bytes determine much: most programs must be more than a copy, and all operations must occur.
    let (mut arrays, mut kernels) = (String::new(), String::new());
    for recipe in (0..300).map(|number| Recipe::from_seed(SEED, number)) {
        match recipe.kind {
            Kind::Arrays => arrays += &recipe.describe(),
            Kind::Kernel => kernels += &recipe.describe(),
        }
    }
    let names = ["argument", "use", "zip_with", "generate", "reshape", "backpermute", "fold"];
    for name in names.into_iter().chain(["scan", "filter", "permute", "sort"]) {
        let count = arrays.matches(&format!("= {name} ")).count();
        assert!(count > 20, "few of {name}: {count}");
    }
    for name in ["if ", "for ", "while ", "sync", "shuffle", "ballot", "atomic", "store ", "fail "] {
        let count = kernels.matches(name).count();
        assert!(count >= 20, "few of {name}: {count}");
    }
}
