//! Explanations as text: a summary for people, and behind it every step and kernel.

use super::{ExplainedKernel, ExplainedPlan, Explanation, Measured, Resources, in_blocks, in_bytes};
use std::fmt::{self, Write};

impl Explanation {
    /// Summarises memory and launches, with the reasons, and without the steps and kernels that `Display` prints besides.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let f = pumice::Compiler::on("sim")?.compile(|xs: Acc<Vector<i32>>| xs.sort().take(1))?;
    /// let summary = f.explain(&[3, 1, 2])?.summary();
    /// assert!(summary.contains("because "));
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn summary(&self) -> String {
        let mut text = String::new();
        if let Some(device) = &self.device {
            let _ = writeln!(text, "for {device}\n");
        }
        for (number, part) in self.parts.iter().enumerate() {
            if let Some(heading) = part.heading(number) {
                let _ = writeln!(text, "\n{heading}:");
            }
            part.summary(&mut text);
        }
        text
    }
}

impl ExplainedPlan {
    /// Returns the heading of a plan: the program that it is of. The first plan has none.
    pub(super) fn heading(&self, number: usize) -> Option<String> {
        match (number, self.within.is_empty()) {
            (0, _) => None,
            (_, true) => Some("the rest".into()),
            (_, false) => Some(self.within.join(", ")),
        }
    }

    // Writing to a string does not fail.
    fn summary(&self, text: &mut String) {
        if let Some(error) = &self.error {
            let _ = writeln!(text, "if this is run, it fails: {error}");
        }
        if !self.arrays.is_empty() {
            text.push_str("in memory\n");
        }
        for (number, array) in self.arrays.iter().enumerate() {
            let (ty, bytes) = (array.type_text(), in_bytes(array.bytes));
            let _ =
                writeln!(text, "  m{number:<3} {ty}, {bytes}: {}\n       because {}", array.place, array.why);
        }
        if !self.kernels.is_empty() {
            text.push_str("launched\n");
        }
        for (number, kernel) in self.kernels.iter().enumerate() {
            kernel.summary(number, text);
        }
        for sentence in &self.then {
            let _ = writeln!(text, "then {sentence}");
        }
    }
}

impl ExplainedKernel {
    fn summary(&self, number: usize, text: &mut String) {
        let ExplainedKernel { name, place, skeleton, .. } = self;
        let (number, size) = (number + 1, in_blocks(self.blocks, self.threads));
        let _ = writeln!(text, "  {number}. {name} for {place}: {size}, by {skeleton}");
        for (what, line) in self.lines() {
            let _ = writeln!(text, "       {what:<8} {line}");
        }
    }

    /// Describes the kernel: a word and a line each.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let operations: Vec<String> = self.operations.iter().map(ToString::to_string).collect();
        let mut lines = vec![("computes", operations.join(", "))];
        let memory = |arrays: &[usize], bytes: u64| {
            let names: Vec<String> = arrays.iter().map(|array| format!("m{array}")).collect();
            format!("{} ({})", names.join(", "), in_bytes(bytes))
        };
        if !self.reads.is_empty() {
            lines.push(("reads", memory(&self.reads, self.bytes_read)));
        }
        if !self.writes.is_empty() {
            lines.push(("writes", memory(&self.writes, self.bytes_written)));
        }
        lines.extend(self.why.iter().map(|why| ("because", why.clone())));
        if self.shared_bytes > 0 {
            lines.push(("shared", format!("{} of a block's memory", in_bytes(self.shared_bytes))));
        }
        lines.extend(self.resources.and_then(|resources| Some(("compiled", resources.text()?))));
        lines.extend(self.measured.map(|measured| ("took", measured.text())));
        lines
    }
}

impl Resources {
    fn text(&self) -> Option<String> {
        let parts = [
            self.registers.map(|registers| format!("{registers} registers of a thread")),
            self.shared_bytes.map(|bytes| format!("{bytes} B of shared memory")),
            self.private_bytes.map(|bytes| format!("{bytes} B of private memory")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

impl Measured {
    /// Describes the measurement in words.
    pub fn text(&self) -> String {
        let Measured { launches, milliseconds, gigabytes_per_second, share } = self;
        let often = if *launches == 1 { String::new() } else { format!(" in {launches} launches") };
        let share = share.map_or(String::new(), |share| format!(", {:.0} % of a copy's", 100.0 * share));
        format!("{milliseconds:.3} ms{often}, {gigabytes_per_second:.1} GB/s{share}")
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.summary())?;
        for (number, part) in self.parts.iter().enumerate() {
            writeln!(f, "\n// {}", part.heading(number).unwrap_or_else(|| "the steps".into()))?;
            if let Some(error) = &part.error {
                writeln!(f, "if this is run, it fails: {error}")?;
            }
            let Some(plan) = &part.plan else { continue };
            write!(f, "{plan}")?;
            for launch in plan.launches() {
                write!(f, "\n// {}, by {}\n{}", launch.place, launch.skeleton, launch.program)?;
            }
        }
        Ok(())
    }
}
