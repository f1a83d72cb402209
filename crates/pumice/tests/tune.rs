//! Auto-tuning with made-up costs: what strategies find, and what is remembered.

use pumice::tune::{Choice, Space, Strategy, best, kept_in, search, tune};
use pumice::{Compiler, Error, Result};

fn space() -> Space {
    Space::new(1 << 20)
        .with("threads", [32, 64, 128, 256, 512, 1024])
        .with("items", 1..=16)
        .with("unroll", [1, 2, 4, 8])
}

/// A bowl with its lowest point at 128 threads, 5 items, no unrolling; more than 8192 registers do not exist.
fn cost(choice: &Choice) -> Result<f64> {
    let [threads, items, unroll] = ["threads", "items", "unroll"].map(|name| choice.get(name));
    if threads * items * unroll > 8192 {
        return Err(Error::Invalid("too many registers".into()));
    }
    let distance = |a: i64, b: i64| (a as f64).log2() - (b as f64).log2();
    Ok(1.0 + distance(threads, 128).powi(2) + (items - 5).pow(2) as f64 * 0.1 + distance(unroll, 1))
}

#[test]
fn every_choice_is_tried_and_the_best_is_found() -> Result<()> {
    let found = search(&space(), Strategy::Exhaustive, cost)?;
    assert_eq!(found.best.to_string(), "threads=128 items=5 unroll=1");
    assert_eq!(found.milliseconds, 1.0);
    assert_eq!(found.measurements.len() + found.infeasible, 6 * 16 * 4);
    assert!(found.infeasible > 0);
    Ok(())
}

#[test]
fn random_choices_are_distinct_and_come_near() -> Result<()> {
    let strategy = Strategy::Random { tries: 100, seed: 7 };
    let found = search(&space(), strategy, cost)?;
    assert_eq!(found.measurements.len() + found.infeasible, 100);
    assert!(found.milliseconds < 2.5, "{}", found.milliseconds);
    assert_eq!(search(&space(), strategy, cost)?, found);
    let other = search(&space(), Strategy::Random { tries: 100, seed: 8 }, cost)?;
    assert_ne!(other.measurements, found.measurements);
    // More tries than there are choices: all of them.
    let all = search(&space(), Strategy::Random { tries: 10_000, seed: 7 }, cost)?;
    assert_eq!(all.best, search(&space(), Strategy::Exhaustive, cost)?.best);
    assert!(search(&space(), Strategy::Random { tries: 0, seed: 7 }, cost).is_err());
    Ok(())
}

#[test]
fn climbing_finds_the_lowest_point_with_few_timings() -> Result<()> {
    for seed in 0..10 {
        let strategy = Strategy::HillClimb { restarts: 2, seed };
        let found = search(&space(), strategy, cost)?;
        assert_eq!(found.best.to_string(), "threads=128 items=5 unroll=1", "seed {seed}");
        assert!(found.measurements.len() < 200, "{}", found.measurements.len());
        assert_eq!(search(&space(), strategy, cost)?, found);
    }
    Ok(())
}

#[test]
fn the_median_of_several_timings_counts() -> Result<()> {
    let mut count = 0;
    let space = Space::new(10).with("x", [1, 2]);
    let found = search(&space, Strategy::Exhaustive, |choice| {
        count += 1;
        // Two of five timings of the first choice are disturbed.
        Ok(match (choice.get("x"), count % 5) {
            (1, 0 | 3) => 100.0,
            (1, _) => 1.0,
            _ => 2.0,
        })
    })?;
    assert_eq!((found.best.get("x"), found.milliseconds, count), (1, 1.0, 10));
    Ok(())
}

#[test]
fn where_nothing_can_run_there_is_an_error_that_says_why() {
    let nothing = |_: &Choice| Err(Error::Invalid("no such luck".into()));
    for strategy in [
        Strategy::Exhaustive,
        Strategy::Random { tries: 5, seed: 1 },
        Strategy::HillClimb { restarts: 3, seed: 1 },
    ] {
        let error = search(&space(), strategy, nothing).map(drop).err().map(|error| error.to_string());
        assert!(error.as_deref().is_some_and(|error| error.contains("no such luck")), "{error:?}");
    }
    let not_a_time = |_: &Choice| Ok(f64::NAN);
    assert!(search(&space(), Strategy::Exhaustive, not_a_time).is_err());
    let empty = Space::new(10).with("x", []);
    assert!(search(&empty, Strategy::Exhaustive, |_| Ok(1.0)).is_err());
}

#[test]
fn the_best_choice_is_remembered_and_a_damaged_file_is_not() -> Result<()> {
    let compiler = Compiler::on("sim")?;
    let name = format!("tune test {}", std::process::id());
    assert_eq!(best(&compiler, &name, &space()), None);
    let tuned = tune(&compiler, &name, &space(), Strategy::Exhaustive, cost)?;
    assert_eq!(best(&compiler, &name, &space()), Some(tuned.best.clone()));
    // Another size class, another space, another device, another program: nobody tuned those.
    let larger = Space::new(1 << 21).with("threads", [32]);
    assert_eq!(best(&compiler, &name, &larger), None);
    assert_eq!(best(&compiler, &name, &space().with("more", [1])), None);
    assert_eq!(best(&Compiler::on("cpu")?, &name, &space()), None);
    assert_eq!(best(&compiler, "another program", &space()), None);
    let Some(file) = kept_in(&compiler, &name, &space()) else { return Ok(()) };
    let host = |error: std::io::Error| Error::Invalid(error.to_string().into());
    let whole = std::fs::read(&file).map_err(host)?;
    let mut flipped = whole.clone();
    if let Some(byte) = flipped.last_mut() {
        *byte ^= 1;
    }
    for damaged in [&whole[..whole.len() / 2], &flipped, b"", b"nonsense"] {
        std::fs::write(&file, damaged).map_err(host)?;
        assert_eq!(best(&compiler, &name, &space()), None);
        // And it is written again.
        tune(&compiler, &name, &space(), Strategy::Random { tries: 50, seed: 3 }, cost)?;
        assert!(best(&compiler, &name, &space()).is_some());
    }
    std::fs::remove_file(&file).map_err(host)
}
