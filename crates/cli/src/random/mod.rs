//! `pumice random`: as many random programs as there is time for, on one device, from a seed that is printed.
//!
//! Programs run in child processes, two at a time, so that a crash of a device or its compiler ends a batch and not the
//! campaign. `--run` and `--program` are what children are told; people may use them to see one failure again.

mod campaign;
mod child;

use crate::error::{Error, Result};
use crate::options::Options;
use crate::print;
use campaign::{Campaign, Failure};
use pumice::layers::runtime::default_device;
use pumice_testing::random::{Recipe, Runner};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The options that take a value.
pub const OPTIONS: &[&str] =
    &["--device", "--minutes", "--programs", "--seed", "--out", "--run", "--program"];

/// Runs a campaign, or what a campaign asks of a child.
pub fn run(options: &Options) -> Result<()> {
    let device = match options.value("--device") {
        Some(device) => device.to_owned(),
        None => default_device()?.name().to_string(),
    };
    let seed = number(options, "--seed")?;
    match (options.value("--run"), options.value("--program")) {
        (Some(_), Some(_)) => Err(Error::Usage("--run and --program exclude each other".into())),
        (Some(range), None) => {
            let range = parse_range(range)?;
            let recipes: Vec<Recipe> =
                range.clone().map(|number| Recipe::from_seed(seed.unwrap_or(0), number)).collect();
            run_here(&device, range.start, &recipes)
        }
        (None, Some(program)) => {
            let recipe: Recipe = program.parse().map_err(Error::Usage)?;
            run_here(&device, 0, &[recipe])
        }
        (None, None) => {
            let campaign = Campaign {
                // An error now is better than one in each child.
                device: pumice::layers::runtime::open(&device)?.name().to_string(),
                seed: seed.unwrap_or_else(seed_of_now),
                time: options.value("--minutes").map_or(Ok(Duration::from_secs(60)), parse_minutes)?,
                programs: number(options, "--programs")?,
            };
            run_campaign(&campaign, Path::new(options.value("--out").unwrap_or(".")))
        }
    }
}

/// Runs programs in this process: a line for each that fails, and then what [`child::Report`] reads.
fn run_here(device: &str, first: u64, recipes: &[Recipe]) -> Result<()> {
    let runner = Runner::on(device)?;
    let mut failed = 0;
    for (number, outcome) in (first..).zip(runner.run(recipes)) {
        if let Err(message) = outcome {
            failed += 1;
            print(&child::failure_line(number, &message))?;
        }
    }
    print(&child::last_line(recipes.len() - failed, failed))?;
    if failed == 0 { Ok(()) } else { Err(Error::Told) }
}

fn run_campaign(campaign: &Campaign, folder: &Path) -> Result<()> {
    print(&format!("random programs on {}, seed {}\n", campaign.device, campaign.seed))?;
    let result = campaign.run(|failure| {
        let file = keep(failure, campaign, folder)?;
        print(&format!("FAILED {}\n  kept in {}\n", failure.summary(), file.display()))
    })?;
    let seconds = result.time.as_secs_f64();
    print(&format!(
        "{}: {} programs in {seconds:.0} s ({:.1} per second), seed {}\n{} passed, {} failed\n",
        campaign.device,
        result.programs,
        result.programs as f64 / seconds.max(1e-3),
        campaign.seed,
        result.programs - result.failed,
        result.failed,
    ))?;
    if result.failed == 0 { Ok(()) } else { Err(Error::Told) }
}

/// Writes a failing program to a file.
fn keep(failure: &Failure, campaign: &Campaign, folder: &Path) -> Result<PathBuf> {
    let file = folder.join(format!("{}-{}-{}.txt", campaign.device, campaign.seed, failure.number));
    let what = format!("{}, seed {}: {}", campaign.device, campaign.seed, failure.summary());
    let write =
        std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&file, failure.recipe.to_file(&what)));
    write.map_err(|error| {
        Error::Failed(format!("cannot write {}: {error}\n{what}\n{}", file.display(), failure.recipe))
    })?;
    Ok(file)
}

fn number(options: &Options, name: &str) -> Result<Option<u64>> {
    let parse = |text: &str| {
        text.parse().map_err(|_| Error::Usage(format!("{name} needs a whole number, and `{text}` is none")))
    };
    options.value(name).map(parse).transpose()
}

fn parse_minutes(text: &str) -> Result<Duration> {
    let minutes =
        text.parse::<f64>().ok().and_then(|minutes| Duration::try_from_secs_f64(minutes * 60.0).ok());
    minutes.ok_or_else(|| Error::Usage(format!("--minutes needs a number of minutes, and `{text}` is none")))
}

fn parse_range(text: &str) -> Result<Range<u64>> {
    let ends = text.split_once("..").and_then(|(start, end)| Some(start.parse().ok()?..end.parse().ok()?));
    let range =
        ends.filter(|range: &Range<u64>| range.end.saturating_sub(range.start) <= campaign::LARGEST_BATCH);
    let most = campaign::LARGEST_BATCH;
    range.ok_or_else(|| {
        Error::Usage(format!("--run needs at most {most} numbers such as 0..10, not `{text}`"))
    })
}

/// A seed that is another one each time, short enough to be typed.
fn seed_of_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64 % 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_wrong_is_named() {
        let message = |result: Result<()>| result.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(message(parse_range("3").map(|_| ())).contains("--run needs"));
        assert!(message(parse_range("0..99999999999").map(|_| ())).contains("--run needs"));
        for minutes in ["a", "-1", "nan", "inf"] {
            assert!(message(parse_minutes(minutes).map(|_| ())).contains("--minutes needs"), "{minutes}");
        }
        assert_eq!(parse_range("3..5").ok(), Some(3..5));
        assert_eq!(parse_minutes("0.5").ok(), Some(Duration::from_secs(30)));
    }
}
