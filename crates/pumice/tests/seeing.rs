//! Views of a program for people: explanations, profiles and traces.
//!
//! The texts in `explained/`, and `docs/above_mean.svg`, are for people to read when they change; `PUMICE_UPDATE=1` writes them anew. They are for the simulator, so
//! that they are the same on every machine.

use pumice::kernel::{Grid, Ix, Pull, Push};
use pumice::layers::runtime::open;
use pumice::{Compiler, Explanation, prelude::*};
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

fn distance(xs: Acc<Vector<f32>>, ys: Acc<Vector<f32>>) -> Acc<Scalar<f32>> {
    xs.zip_with(ys, |x, y| (x - y) * (x - y)).sum().map(|sum| sum.sqrt())
}

/// An array that is needed twice, a fold of it and a filter.
fn above_mean(xs: Acc<Vector<f32>>) -> Acc<Vector<f32>> {
    let scaled = xs.map(|x| (x.sin() * x.cos()).exp());
    let mean = scaled.clone().sum().map(|sum| sum * 0.001);
    scaled.filter(|x| x.gt(mean.the()))
}

fn ranked(xs: Acc<Vector<i32>>) -> Acc<Vector<u32>> {
    iterate(3, xs.sort(), |xs| xs.scanl1(|a, b| a + b)).histogram(16, |x| (x & 15).cast::<i64>())
}

/// The explanations of some programs, each with a name.
fn explanations() -> pumice::Result<Vec<(&'static str, Explanation)>> {
    let compiler = Compiler::on("sim")?;
    let floats = vec![1.0f32; 1000];
    Ok(vec![
        ("distance", compiler.compile(distance)?.explain((&floats, &floats))?),
        ("above_mean", compiler.compile(above_mean)?.explain(&floats)?),
        ("ranked", compiler.compile(ranked)?.explain(vec![1; 5000])?),
    ])
}

/// The text with `_` for the numbers of lines and columns: they change when anything is added above.
fn without_lines(text: &str) -> String {
    let mut parts = text.split(".rs:");
    let mut clean = parts.next().unwrap_or_default().to_string();
    for part in parts {
        clean += ".rs:_";
        clean += part.trim_start_matches(|letter: char| letter.is_ascii_digit());
    }
    let is_number =
        |line: &str| line.trim_start().starts_with("\"line\"") || line.trim_start().starts_with("\"column\"");
    clean.lines().filter(|line| !is_number(line)).map(|line| format!("{line}\n")).collect()
}

#[test]
fn explanations_are_as_they_are_kept() -> pumice::Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (folder, guide) = (here.join("tests/explained"), here.join("../../docs"));
    for (name, explanation) in explanations()? {
        for (ending, text) in
            [("txt", explanation.summary()), ("json", explanation.json()), ("svg", explanation.svg())]
        {
            // docs/performance.md shows this drawing, and a book has the files in `docs` alone.
            let folder = if (name, ending) == ("above_mean", "svg") { &guide } else { &folder };
            let (path, text) = (folder.join(format!("{name}.{ending}")), without_lines(&text));
            if std::env::var_os("PUMICE_UPDATE").is_some() {
                std::fs::write(&path, &text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            }
            let kept = std::fs::read_to_string(&path).unwrap_or_default();
            assert_eq!(kept, text, "{}: PUMICE_UPDATE=1 writes it anew", path.display());
        }
    }
    Ok(())
}

#[test]
fn an_explanation_names_operations_reasons_and_bytes() -> pumice::Result<()> {
    let explanations: HashMap<_, _> = explanations()?.into_iter().collect();
    let distance = &explanations["distance"].parts[0];
    assert_eq!(distance.kernels.len(), 1, "all is fused");
    let operations: Vec<&str> =
        distance.kernels[0].operations.iter().map(|place| place.operation()).collect();
    assert_eq!(operations, ["zip_with", "sum", "map"]);
    assert_eq!((distance.kernels[0].bytes_read, distance.kernels[0].bytes_written), (8000, 4));
    let reasons = |name: &str| -> Vec<&str> {
        explanations[name].parts.iter().flat_map(|part| &part.arrays).map(|array| array.reason).collect()
    };
    assert_eq!(reasons("distance"), ["given", "given", "result"]);
    // It costs more than a store and a load, and is used twice.
    assert!(reasons("above_mean").contains(&"recomputed"), "{:?}", reasons("above_mean"));
    assert!(["scratch", "cell", "handed-on"].iter().all(|reason| reasons("above_mean").contains(reason)));
    for explanation in explanations.values() {
        let kernels = explanation.parts.iter().flat_map(|part| &part.kernels);
        for kernel in kernels {
            assert!(!kernel.operations.is_empty() && !kernel.why.is_empty(), "{}", kernel.name);
        }
        let value: Value = serde_json::from_str(&explanation.json()).unwrap_or_default();
        assert_eq!(value["version"], 1);
        assert_eq!(value["plans"].as_array().map(Vec::len), Some(explanation.parts.len()));
    }
    let unfused = Compiler::on("sim")?.fuse(false).compile(above_mean)?.explain([1.0])?;
    assert!(
        unfused.parts[0]
            .arrays
            .iter()
            .all(|array| ["given", "unfused", "cell", "scratch"].contains(&array.reason))
    );
    Ok(())
}

#[test]
fn drawings_are_well_formed_and_have_a_box_for_everything() -> pumice::Result<()> {
    for (name, explanation) in explanations()? {
        let svg = explanation.svg();
        let document = roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{name}: {error}"));
        let boxes =
            |class: &str| document.descendants().filter(|it| it.attribute("class") == Some(class)).count();
        let count = |of: fn(&pumice::ExplainedPlan) -> usize| explanation.parts.iter().map(of).sum::<usize>();
        assert_eq!(boxes("kernel"), count(|part| part.kernels.len()), "{name}");
        assert_eq!(boxes("array"), count(|part| part.arrays.len()), "{name}");
        assert!(boxes("arrow") >= boxes("kernel"), "{name}");
    }
    // A user's text, with what XML does not have.
    let place = pumice::Place::new("<&\u{1}>", "a\"b<.pum", 1, 1);
    let mut explanation = explanations()?.remove(0).1;
    for kernel in explanation.kernels_mut() {
        kernel.operations.push(place);
        kernel.why.push("]]> & <svg>\u{ffff}".into());
    }
    let svg = explanation.svg();
    let document = roxmltree::Document::parse(&svg);
    assert!(
        document
            .is_ok_and(|document| document.descendants().any(|it| it.text() == Some("because ]]> & <svg>?")))
    );
    Ok(())
}

/// Devices whose work is seen.
fn devices() -> Vec<&'static str> {
    ["sim", "cpu", "opencl"].into_iter().filter(|name| open(name).is_ok()).collect()
}

#[test]
fn a_profile_has_the_time_of_every_kernel() -> pumice::Result<()> {
    for name in devices() {
        let program = Compiler::on(name)?.compile(above_mean)?;
        let report = program.profile(vec![1.0; 5000])?;
        let kernels: Vec<_> = report.explanation.parts.iter().flat_map(|part| &part.kernels).collect();
        assert!(!kernels.is_empty());
        for kernel in kernels {
            let measured = kernel.measured.unwrap_or_else(|| panic!("{} on {name} has no time", kernel.name));
            assert_eq!(measured.launches, 1, "{} on {name}", kernel.name);
            assert!(measured.milliseconds > 0.0, "{} on {name}", kernel.name);
            assert_eq!(measured.share.is_some(), name != "sim");
        }
        assert_eq!(report.uploads.bytes, 20_000, "{name}");
        assert!(report.downloads.count >= 1, "{name}");
        assert_eq!(report.ceilings.is_some(), name != "sim");
        let text = report.to_string();
        assert!(text.contains("took ") && text.contains("a run took "), "{text}");
        // Nobody collects any more, and the program still works.
        assert_eq!(program.run([0.0])?.len(), 1, "{name}");
    }
    Ok(())
}

/// Set in the process that a test starts.
const CHILD: &str = "PUMICE_TEST_CHILD";

/// Not a test of anything alone: it is what the tests of traces start.
#[test]
fn child() -> pumice::Result<()> {
    fn doubled(xs: Pull<i32, Ix>) -> Push<Grid, i32, Ix> {
        xs.map(|x| x * 2).push()
    }
    if std::env::var_os(CHILD).is_none() {
        return Ok(());
    }
    let compiler = Compiler::new()?;
    let rows = compiler.compile(ranked)?.run(vec![7; 3000])?.to_vec()?;
    assert_eq!(rows.iter().sum::<u32>(), 3000);
    let doubled = compiler.kernel("doubled", 64, doubled)?;
    let result: Vector<i32> = doubled.run([1, 2, 3])?;
    assert_eq!(result.to_vec()?, [2, 4, 6]);
    // As a program that is killed.
    std::process::abort();
}

/// Runs the child with `PUMICE_PROFILE` set to this file, and returns its standard error.
fn traced(device: &str, file: &Path) -> String {
    let test = std::env::current_exe().unwrap_or_default();
    let child = Command::new(test)
        .args(["child", "--exact", "--nocapture"])
        .envs([("PUMICE_DEVICE", device), (CHILD, "1")])
        .env("PUMICE_PROFILE", file)
        .output();
    child.map(|output| String::from_utf8_lossy(&output.stderr).into_owned()).unwrap_or_default()
}

#[test]
fn a_trace_has_every_slice_with_its_line_and_survives_the_end_of_the_program() {
    for device in devices() {
        let file: PathBuf =
            std::env::temp_dir().join(format!("pumice-trace-{}-{device}.json", std::process::id()));
        let said = traced(device, &file);
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let _ = std::fs::remove_file(&file);
        let events: Vec<Value> =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{device}: {error}\n{said}"));
        let slices: Vec<&Value> = events.iter().filter(|event| event["ph"] == "X").collect();
        let of = |category: &str| slices.iter().filter(|slice| slice["cat"] == category).collect::<Vec<_>>();
        for category in ["run", "planning", "compilation", "upload", "download", "queue"] {
            assert!(!of(category).is_empty(), "{device}: no {category} in {text}");
        }
        // The user's lines.
        for category in ["run", "planning", "compilation", "upload", "download", "queue"] {
            for slice in of(category) {
                let place = slice["args"]["place"].as_str().unwrap_or_default();
                assert!(place.contains("tests/seeing.rs:"), "{device}: {slice}");
            }
        }
        let launches: Vec<_> =
            of("queue").into_iter().filter(|slice| slice["args"]["blocks"].is_u64()).collect();
        assert!(launches.len() >= 4, "{device}: {text}");
        for slice in launches {
            assert!(slice["args"]["bytes_written"].is_u64() && slice["args"]["threads"].is_u64(), "{slice}");
        }
        assert!(slices.iter().any(|slice| slice["name"] == "doubled"), "{device}: {text}");
        nest(&slices, device);
        // Every row has a name.
        let names: Vec<&Value> =
            events.iter().filter(|event| event["name"] == "thread_name").map(|event| &event["tid"]).collect();
        assert!(slices.iter().all(|slice| names.contains(&&slice["tid"])), "{device}: {text}");
    }
}

/// Checks that of two slices of a row that overlap one is within the other.
fn nest(slices: &[&Value], device: &str) {
    let mut rows: HashMap<i64, Vec<(f64, f64)>> = HashMap::new();
    for slice in slices {
        let number =
            |name: &str| slice[name].as_f64().unwrap_or_else(|| panic!("{device}: no {name} in {slice}"));
        let (start, duration) = (number("ts"), number("dur"));
        assert!(start >= 0.0 && duration >= 0.0, "{device}: {slice}");
        rows.entry(slice["tid"].as_i64().unwrap_or(-1)).or_default().push((start, start + duration));
    }
    // Times are rounded.
    const ROUNDED: f64 = 0.01;
    for row in rows.values_mut() {
        row.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
        for (position, one) in row.iter().enumerate() {
            for other in &row[position + 1..] {
                let apart = other.0 >= one.1 - ROUNDED;
                assert!(apart || other.1 <= one.1 + ROUNDED, "{device}: {one:?} and {other:?} overlap");
            }
        }
    }
}

#[test]
fn a_trace_that_cannot_be_written_is_told_once_and_nothing_else_changes() {
    let said = traced("sim", Path::new("/nonexistent/trace.json"));
    assert_eq!(said.matches("PUMICE_PROFILE: cannot write `/nonexistent/trace.json`").count(), 1, "{said}");
    assert!(!said.contains("panicked"), "{said}");
}
