//! Explanations as JSON, for tools. Fields are documented in `docs/performance.md`; they are only ever added to.

use super::{ExplainedArray, ExplainedKernel, ExplainedPlan, Explanation};
use pumice_scalar::Place;
use serde_json::{Value, json};

impl Explanation {
    /// The explanation as JSON, in several lines. `docs/performance.md` lists its fields.
    ///
    /// ```
    /// use pumice::prelude::*;
    /// let f = pumice::Compiler::on("sim")?.compile(|xs: Acc<Vector<i32>>| xs.map(|x| x + 1))?;
    /// assert!(f.explain(&[3, 1, 2])?.json().contains("\"bytes_read\": 12"));
    /// # Ok::<(), pumice::Error>(())
    /// ```
    pub fn json(&self) -> String {
        let parts: Vec<Value> = self.parts.iter().map(part).collect();
        format!("{:#}\n", json!({ "version": 1, "device": self.device, "plans": parts }))
    }
}

fn part(part: &ExplainedPlan) -> Value {
    json!({
        "within": part.within,
        "error": part.error,
        "arrays": part.arrays.iter().map(array).collect::<Vec<_>>(),
        "kernels": part.kernels.iter().map(kernel).collect::<Vec<_>>(),
        "then": part.then,
    })
}

fn array(array: &ExplainedArray) -> Value {
    json!({
        "place": array.place,
        "types": array.types.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "extents": array.extents,
        "is_bound": array.is_bound,
        "bytes": array.bytes,
        "reason": array.reason,
        "why": array.why,
    })
}

fn kernel(kernel: &ExplainedKernel) -> Value {
    let resources = kernel.resources.unwrap_or_default();
    json!({
        "name": kernel.name,
        "place": kernel.place,
        "operations": kernel.operations.iter().map(|place| operation(*place)).collect::<Vec<_>>(),
        "skeleton": kernel.skeleton,
        "why": kernel.why,
        "blocks": kernel.blocks,
        "threads": kernel.threads,
        "reads": kernel.reads,
        "writes": kernel.writes,
        "bytes_read": kernel.bytes_read,
        "bytes_written": kernel.bytes_written,
        "shared_bytes": resources.shared_bytes.unwrap_or(kernel.shared_bytes),
        "registers": resources.registers,
        "private_bytes": resources.private_bytes,
        "measured": kernel.measured.map(|measured| json!({
            "launches": measured.launches,
            "milliseconds": measured.milliseconds,
            "gigabytes_per_second": measured.gigabytes_per_second,
            "share_of_copy": measured.share,
        })),
    })
}

fn operation(place: Place) -> Value {
    json!({
        "operation": place.operation(),
        "file": place.file(),
        "line": place.line(),
        "column": place.column(),
    })
}
