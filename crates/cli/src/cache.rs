//! `pumice cache`: lists or removes what is kept in the folder of compiled kernels.
//!
//! The runtime does the work; this only reads the command line and prints.

use crate::error::Result;
use crate::print;
use pumice::layers::runtime::{KernelTable, Removed, Usage};
use std::time::{Duration, SystemTime};

/// What `pumice cache` takes.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    task: Task,
}

/// What can be done with the cache.
#[derive(clap::Subcommand)]
enum Task {
    /// Print what is kept, and its limit.
    Show,
    /// Remove the kernels that were used least recently.
    Prune {
        /// Until the others take no more than this many bytes [default: the limit].
        #[arg(long, value_name = "N")]
        bytes: Option<u64>,
    },
    /// Remove all that is kept, results of tuning too.
    Clear,
}

/// Carries out the command.
pub fn run(arguments: &Arguments) -> Result<()> {
    let table = KernelTable::new();
    print(&match arguments.task {
        Task::Show => shown(&table),
        Task::Prune { bytes } => told(&table, table.prune(bytes.unwrap_or(table.limits().bytes))),
        Task::Clear => told(&table, table.clear()),
    })
}

/// Returns the folder of compiled kernels and their number, as text.
pub fn place(table: &KernelTable) -> String {
    match (table.folder(), table.usage()) {
        (Some(folder), Some(Usage { kernels, bytes, .. })) => {
            format!("{}: {kernels} kernels, {:.1} MB", folder.display(), bytes as f64 / 1e6)
        }
        _ => "kernels are kept in memory only".to_string(),
    }
}

fn shown(table: &KernelTable) -> String {
    let limits = table.limits();
    let mut lines = Vec::new();
    match (table.folder(), table.usage()) {
        (Some(folder), Some(usage)) => {
            lines.push(format!("folder     {}", folder.display()));
            lines.push(format!("kernels    {}, {} bytes", usage.kernels, usage.bytes));
            if let (Some(oldest), Some(newest)) = (usage.oldest, usage.newest) {
                lines.push(format!("last used  between {} and {} ago", since(newest), since(oldest)));
            }
            lines.push(format!("notes      {} (results of tuning)", usage.notes));
            lines.push(format!("limit      {} bytes (PUMICE_CACHE_BYTES)", limits.bytes));
        }
        _ => lines.push("folder     none: kernels are kept in memory only".into()),
    }
    lines.push(format!("in memory  {} kernels for each device (PUMICE_KERNELS)", limits.kernels));
    lines.extend(table.diagnostics().into_iter().map(|note| format!("note       {note}")));
    lines.join("\n") + "\n"
}

fn told(table: &KernelTable, removed: Removed) -> String {
    let notes = match removed.notes {
        0 => String::new(),
        notes => format!("; notes removed: {notes}"),
    };
    let mut text = format!("kernels removed: {} ({} bytes){notes}\n", removed.kernels, removed.bytes);
    for line in std::iter::once(place(table)).chain(table.diagnostics()) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// Formats the time since `then` in its largest unit.
fn since(then: SystemTime) -> String {
    let seconds = then.elapsed().unwrap_or(Duration::ZERO).as_secs();
    let (count, unit) = match seconds {
        0..60 => (seconds, "second"),
        60..3_600 => (seconds / 60, "minute"),
        3_600..86_400 => (seconds / 3_600, "hour"),
        86_400.. => (seconds / 86_400, "day"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_in_their_largest_unit() {
        let ago = |seconds| since(SystemTime::now() - Duration::from_secs(seconds));
        assert_eq!(
            [ago(1), ago(150), ago(4000), ago(200_000)],
            ["1 second", "2 minutes", "1 hour", "2 days"]
        );
        assert_eq!(since(SystemTime::now() + Duration::from_secs(100)), "0 seconds");
    }
}
