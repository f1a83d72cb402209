//! `pumice random`: as many random programs as there is time for, on one device, from a seed that is printed.
//!
//! Programs run in child processes, several at a time, so that a crash of a device or its compiler ends a batch and not the
//! campaign. `--run` and `--program` are for children; people may use them to reproduce a failure.

mod campaign;
mod child;

use crate::device::DeviceOption;
use crate::error::{Error, Result};
use crate::print;
use campaign::{Campaign, Failure};
use pumice::layers::runtime::default_device;
use pumice_testing::random::{Recipe, Runner};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What `pumice random` takes.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    device: DeviceOption,
    /// For so many minutes.
    #[arg(long, value_name = "N", default_value = "1", value_parser = parse_minutes)]
    minutes: Duration,
    /// At most so many programs.
    #[arg(long, value_name = "N")]
    programs: Option<u64>,
    /// From this seed [default: another one each time; it is printed].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Where files go.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    out: PathBuf,
    /// Only the programs with these numbers, in this process.
    #[arg(long, value_name = "A..B", value_parser = parse_range, conflicts_with = "program")]
    run: Option<Range<u64>>,
    /// Only the program of a file's last line, in this process.
    #[arg(long, value_name = "TEXT")]
    program: Option<Recipe>,
}

/// Runs a campaign, or the part of one that a child is started for.
pub fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { seed, minutes, programs, .. } = *arguments;
    let device = match arguments.device.name() {
        Some(device) => device.to_owned(),
        None => default_device()?.name().to_string(),
    };
    if let Some(range) = &arguments.run {
        let recipes: Vec<Recipe> =
            range.clone().map(|number| Recipe::from_seed(seed.unwrap_or(0), number)).collect();
        return run_here(&device, range.start, &recipes);
    }
    if let Some(recipe) = &arguments.program {
        return run_here(&device, 0, std::slice::from_ref(recipe));
    }
    let campaign = Campaign {
        // Fails now if the device cannot be opened, instead of in each child.
        device: pumice::layers::runtime::open(&device)?.name().to_string(),
        seed: seed.unwrap_or_else(seed_of_now),
        time: minutes,
        programs,
    };
    run_campaign(&campaign, &arguments.out)
}

/// Runs programs in this process. Prints a line for each that fails, and then the last line, as [`child::Report`] needs it.
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

fn parse_minutes(text: &str) -> std::result::Result<Duration, String> {
    let minutes =
        text.parse::<f64>().ok().and_then(|minutes| Duration::try_from_secs_f64(minutes * 60.0).ok());
    minutes.ok_or_else(|| "that is no number of minutes".to_string())
}

fn parse_range(text: &str) -> std::result::Result<Range<u64>, String> {
    let ends = text.split_once("..").and_then(|(start, end)| Some(start.parse().ok()?..end.parse().ok()?));
    let range =
        ends.filter(|range: &Range<u64>| range.end.saturating_sub(range.start) <= campaign::LARGEST_BATCH);
    range.ok_or_else(|| format!("give at most {} numbers such as 0..10", campaign::LARGEST_BATCH))
}

/// Returns a seed that differs each time and is short enough to type.
fn seed_of_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64 % 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_wrong_is_refused() {
        for range in ["3", "0..99999999999", "a..b", "..", "-1..2"] {
            assert!(parse_range(range).is_err_and(|message| message.contains("0..10")), "{range}");
        }
        for minutes in ["a", "-1", "nan", "inf"] {
            assert!(parse_minutes(minutes).is_err(), "{minutes}");
        }
        assert_eq!(parse_range("3..5").ok(), Some(3..5));
        assert_eq!(parse_minutes("0.5").ok(), Some(Duration::from_secs(30)));
    }
}
