//! Explanations as JSON, for tools. Fields are documented in `docs/performance.md`; they are only ever added to.

use super::{ExplainedArray, ExplainedKernel, ExplainedPlan, Explanation};
use crate::json::Json;
use pumice_scalar::Place;

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
        let whole = Json::Object(vec![
            ("device", self.device.as_ref().into()),
            ("plans", Json::List(self.parts.iter().map(part).collect())),
            ("version", 1u32.into()),
        ]);
        format!("{whole:#}\n")
    }
}

fn part(part: &ExplainedPlan) -> Json {
    Json::Object(vec![
        ("arrays", Json::List(part.arrays.iter().map(array).collect())),
        ("error", part.error.as_ref().into()),
        ("kernels", Json::List(part.kernels.iter().map(kernel).collect())),
        ("then", Json::list(&part.then)),
        ("within", Json::list(&part.within)),
    ])
}

fn array(array: &ExplainedArray) -> Json {
    Json::Object(vec![
        ("bytes", array.bytes.into()),
        ("extents", Json::list(array.extents.iter().copied())),
        ("is_bound", array.is_bound.into()),
        ("place", (&array.place).into()),
        ("reason", array.reason.into()),
        ("types", Json::list(array.types.iter().map(|ty| ty.name()))),
        ("why", (&array.why).into()),
    ])
}

fn kernel(kernel: &ExplainedKernel) -> Json {
    let resources = kernel.resources.unwrap_or_default();
    let measured = kernel.measured.map(|measured| {
        Json::Object(vec![
            ("gigabytes_per_second", measured.gigabytes_per_second.into()),
            ("launches", measured.launches.into()),
            ("milliseconds", measured.milliseconds.into()),
            ("share_of_copy", measured.share.into()),
        ])
    });
    Json::Object(vec![
        ("blocks", kernel.blocks.into()),
        ("bytes_read", kernel.bytes_read.into()),
        ("bytes_written", kernel.bytes_written.into()),
        ("measured", measured.into()),
        ("name", (&kernel.name).into()),
        ("operations", Json::List(kernel.operations.iter().map(|place| operation(*place)).collect())),
        ("place", (&kernel.place).into()),
        ("private_bytes", resources.private_bytes.into()),
        ("reads", Json::list(kernel.reads.iter().copied())),
        ("registers", resources.registers.into()),
        ("shared_bytes", resources.shared_bytes.unwrap_or(kernel.shared_bytes).into()),
        ("skeleton", (&kernel.skeleton).into()),
        ("threads", kernel.threads.into()),
        ("why", Json::list(&kernel.why)),
        ("writes", Json::list(kernel.writes.iter().copied())),
    ])
}

fn operation(place: Place) -> Json {
    Json::Object(vec![
        ("column", place.column().into()),
        ("file", place.file().into()),
        ("line", place.line().into()),
        ("operation", place.operation().into()),
    ])
}
