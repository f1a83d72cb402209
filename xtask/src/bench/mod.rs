//! The task `bench`: compares Pumice and its peers on the same machine in one run, as a table, in Markdown and as a picture.
//!
//! Measures nothing itself: `pumice bench` and the peer programs do, and all print rows of one format. With
//! the programs' paths given on the command line it needs neither cargo nor the repository, so that it can
//! be run on a machine that has a GPU and no Rust.

mod compare;
mod heat;
mod markdown;
mod peers;
mod plot;
mod rows;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result};
use crate::options::Options;
use crate::process;
use crate::workspace::{Workspace, make_folder};
use peers::Places;
use rows::Row;

const KNOWN_OPTIONS: &[&str] = &[
    "--device", "--filter", "--rounds", "--with", "--json", "--svg", "--heat", "--pumice", "--peers", "--out",
];

/// Runs the task `bench`.
pub fn run(arguments: &[String]) -> Result<()> {
    let options = Options::parse(arguments, KNOWN_OPTIONS)?;
    let plan = Plan::from_options(&options)?;
    make_folder(&plan.places.out)?;

    let (mut rows, mut pumice, mut notes) = (Vec::new(), Ok(()), Vec::new());
    if let Some(file) = options.value("--with") {
        rows = read_rows(Path::new(file))?;
    }
    for _ in 0..plan.rounds {
        // If Pumice does not run, that is an error, but the peers' figures are still worth having.
        match measure_pumice(&plan) {
            Ok(own) => rows.extend(own),
            Err(error) => pumice = Err(error),
        }
        let measured = peers::measure(&plan.places, plan.device.as_deref(), &plan.filter)?;
        rows.extend(measured.rows);
        notes = measured.notes;
    }
    rows.retain(|row| row.workload.contains(&plan.filter));
    let rows = rows::best(rows);

    let groups = compare::compare(&rows);
    println!("\n{}", compare::table(&groups));
    // As it can be typed again, without paths of this machine.
    let command = ["cargo xtask bench", &shown(&options)].join(" ");
    println!("{}", markdown::tables(&groups, command.trim_end(), &markdown::today()));
    write_file(&plan.svg, &plot::svg(&groups))?;
    println!("plot: {}", plan.svg.display());
    if let Some(file) = &plan.heat {
        let picture =
            heat::svg(&rows).ok_or_else(|| Error::new("nothing was done in several ways".to_string()))?;
        write_file(file, &picture)?;
        println!("ways: {}", file.display());
    }
    if let Some(json) = &plan.json {
        write_file(json, &rows::rows_to_json(&rows))?;
        println!("rows: {}", json.display());
    }
    for note in &notes {
        println!("left out: {note}");
    }
    pumice
}

/// Returns the options that choose the measurements, as they were given.
fn shown(options: &Options) -> String {
    let given = ["--device", "--filter", "--rounds"]
        .map(|name| options.value(name).map(|value| format!("{name} {value}")));
    given.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Choice of measurements, programs that make them, and places of the results.
struct Plan {
    device: Option<String>,
    filter: String,
    /// Number of measurements of each program, in turn (0 if rows were given). The best one counts, because others use the machine too.
    rounds: usize,
    pumice: Pumice,
    places: Places,
    svg: PathBuf,
    heat: Option<PathBuf>,
    json: Option<PathBuf>,
}

/// Source of the `pumice` program.
enum Pumice {
    Given(PathBuf),
    BuiltFrom(Workspace),
}

impl Plan {
    fn from_options(options: &Options) -> Result<Plan> {
        let path = |name: &str| options.value(name).map(PathBuf::from);
        let given = (path("--pumice"), path("--peers"), path("--out"), path("--svg"));
        let (pumice, places, svg) = match given {
            (Some(pumice), Some(sources), Some(out), svg) => {
                let svg = svg.unwrap_or_else(|| out.join("bench.svg"));
                (Pumice::Given(pumice), Places { sources, out }, svg)
            }
            (pumice, sources, out, svg) => {
                let workspace = Workspace::find()?;
                let places = Places {
                    sources: sources.unwrap_or_else(|| workspace.root.join("benches").join("peers")),
                    out: out.unwrap_or_else(|| workspace.target.join("peers")),
                };
                let svg = svg.unwrap_or_else(|| workspace.target.join("bench.svg"));
                (pumice.map_or(Pumice::BuiltFrom(workspace), Pumice::Given), places, svg)
            }
        };
        let rounds = options.value("--rounds").unwrap_or("1");
        let rounds = rounds.parse().ok().filter(|rounds| *rounds > 0);
        let rounds = rounds.ok_or_else(|| Error::new("--rounds needs a number of at least 1".to_string()))?;
        Ok(Plan {
            // Rows from elsewhere are not measured again.
            rounds: if options.value("--with").is_some() { 0 } else { rounds },
            device: options.value("--device").map(str::to_string),
            filter: options.value("--filter").unwrap_or_default().to_string(),
            pumice,
            places,
            svg,
            heat: path("--heat"),
            json: path("--json"),
        })
    }
}

impl Pumice {
    /// Returns a command that runs the program, which is built first if it was not given.
    fn command(&self) -> Result<Command> {
        match self {
            Pumice::Given(program) => Ok(Command::new(program)),
            Pumice::BuiltFrom(workspace) => workspace.build_pumice(),
        }
    }
}

fn measure_pumice(plan: &Plan) -> Result<Vec<Row>> {
    println!("── Pumice");
    let output = plan.places.out.join("pumice.json");
    // A file of an earlier run must not pass for this one's.
    match std::fs::remove_file(&output) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
            return Err(Error::io("remove", &output, &cause));
        }
        _ => {}
    }
    let mut command = plan.pumice.command()?;
    command.arg("bench").arg("--json").arg(&output);
    if let Some(device) = &plan.device {
        command.args(["--device", device]);
    }
    if !plan.filter.is_empty() {
        command.args(["--filter", &plan.filter]);
    }
    process::run(&mut command)?;
    read_rows(&output)
}

/// Reads the rows that `pumice bench` or an earlier run of this task wrote.
fn read_rows(file: &Path) -> Result<Vec<Row>> {
    let text = std::fs::read_to_string(file).map_err(|cause| Error::io("read", file, &cause))?;
    rows::parse_rows(&text).map_err(|error| Error::new(format!("{} has {error}", file.display())))
}

fn write_file(path: &Path, content: &str) -> Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        make_folder(folder)?;
    }
    std::fs::write(path, content).map_err(|cause| Error::io("write", path, &cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(arguments: &[&str]) -> Plan {
        let arguments: Vec<String> = arguments.iter().map(|argument| argument.to_string()).collect();
        Plan::from_options(&Options::parse(&arguments, KNOWN_OPTIONS).unwrap()).unwrap()
    }

    #[test]
    fn with_all_places_given_no_repository_is_needed() {
        let plan = plan(&["--pumice", "/p/pumice", "--peers", "/s", "--out=/o", "--filter", "dot"]);
        assert!(matches!(&plan.pumice, Pumice::Given(program) if program == Path::new("/p/pumice")));
        assert_eq!(plan.places.sources, Path::new("/s"));
        assert_eq!(plan.svg, Path::new("/o/bench.svg"));
        assert_eq!((plan.filter.as_str(), plan.device, plan.json), ("dot", None, None));
        assert_eq!(plan.rounds, 1);
    }

    #[test]
    fn rows_that_are_given_are_not_measured() {
        assert_eq!(plan(&["--with", "rows.json", "--rounds", "3"]).rounds, 0);
    }
}
