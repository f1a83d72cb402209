//! The file that `PUMICE_PROFILE` names: slices in Chrome's Trace Event Format, which Perfetto and `chrome://tracing` open.
//!
//! The file is a whole JSON array after every slice, so a program that ends early, or is killed, leaves a trace up to there. A file that
//! cannot be written is told once on standard error, and the program goes on without a trace.

use super::{Activity, Facts, Slice, lock};
use pumice_array::Json;
use std::collections::HashMap;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};
use std::thread::ThreadId;
use std::time::Instant;

static TRACE: OnceLock<Mutex<Option<Trace>>> = OnceLock::new();

/// Text after the last event.
const END: &str = "\n]\n";

struct Trace {
    path: PathBuf,
    file: File,
    /// Time 0.
    start: Instant,
    /// Position of the next event in the file.
    position: u64,
    /// The numbers of rows.
    rows: HashMap<(Activity, Option<ThreadId>), usize>,
}

/// Creates the file; returns whether it could be created.
pub(super) fn open(path: PathBuf) -> bool {
    let trace = File::create(&path).map_err(|error| warn(&path, &error)).ok().and_then(|file| {
        let mut trace = Trace { path, file, start: Instant::now(), position: 0, rows: HashMap::new() };
        let name = std::env::args().next().unwrap_or_else(|| "pumice".into());
        trace.add(&metadata("process_name", 0, &name)).then_some(trace)
    });
    let is_open = trace.is_some();
    let _ = TRACE.set(Mutex::new(trace));
    is_open
}

/// Adds a slice, if there is a trace.
pub(super) fn write(slice: &Slice) {
    let Some(trace) = TRACE.get() else { return };
    let mut trace = lock(trace);
    if let Some(open) = &mut *trace
        && !open.slice(slice)
    {
        *trace = None;
    }
}

impl Trace {
    /// Adds a slice; whether that worked.
    fn slice(&mut self, slice: &Slice) -> bool {
        let row = (slice.activity, slice.thread);
        let (count, known) = (self.rows.len(), self.rows.get(&row).copied());
        let row = match known {
            Some(row) => row,
            None => {
                let number = count + 1;
                self.rows.insert(row, number);
                let thread = std::thread::current();
                let name = match (slice.thread, thread.name()) {
                    (Some(_), Some(name)) if name != "main" => format!("{} ({name})", slice.activity),
                    _ => slice.activity.to_string(),
                };
                if !self.add(&metadata("thread_name", number, &name)) {
                    return false;
                }
                number
            }
        };
        let Facts { name, place, bytes_read, bytes_written, blocks, threads, detail } = &slice.facts;
        let texts = [("place", place), ("detail", detail)];
        let numbers = [
            ("bytes_read", *bytes_read),
            ("bytes_written", *bytes_written),
            ("blocks", *blocks),
            ("threads", (*threads).into()),
        ];
        let texts =
            texts.into_iter().filter(|(_, text)| !text.is_empty()).map(|(key, text)| (key, text.into()));
        let numbers = numbers.into_iter().filter(|(_, number)| *number > 0);
        let args = texts.chain(numbers.map(|(key, number)| (key, number.into()))).collect();
        let microseconds = |seconds: f64| (seconds * 1e9).round() / 1e3;
        self.add(&Json::Object(vec![
            ("ph", "X".into()),
            ("pid", std::process::id().into()),
            ("tid", row.into()),
            ("cat", slice.activity.name().into()),
            ("name", name.into()),
            ("ts", microseconds(slice.start.saturating_duration_since(self.start).as_secs_f64()).into()),
            ("dur", microseconds(slice.duration.as_secs_f64()).into()),
            ("args", Json::Object(args)),
        ]))
    }

    /// Adds an event; whether that worked.
    fn add(&mut self, event: &Json) -> bool {
        let before = if self.position == 0 { "[\n" } else { ",\n" };
        let text = format!("{before}{event}{END}");
        let at = SeekFrom::Start(self.position);
        match self.file.seek(at).and_then(|_| self.file.write_all(text.as_bytes())) {
            Ok(()) => {
                self.position += (text.len() - END.len()) as u64;
                true
            }
            Err(error) => {
                warn(&self.path, &error);
                false
            }
        }
    }
}

/// An event that names a process or a row.
fn metadata(what: &str, row: usize, name: &str) -> Json {
    Json::Object(vec![
        ("ph", "M".into()),
        ("pid", std::process::id().into()),
        ("tid", row.into()),
        ("name", what.into()),
        ("args", Json::Object(vec![("name", name.into())])),
    ])
}

/// Tells that there is no trace, or no more of it.
fn warn(path: &std::path::Path, error: &std::io::Error) {
    let mut terminal = std::io::stderr().lock();
    let path = path.display();
    // Where that cannot be told either, nothing is left to do.
    let _ = writeln!(
        terminal,
        "pumice: PUMICE_PROFILE: cannot write `{path}`: {error}; there is no trace from here on"
    );
}
