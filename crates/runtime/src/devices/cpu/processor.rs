//! Kind of this processor: `-march=native` makes binaries that run on no other.

use std::fs::File;
use std::io::Read;

/// A processor's model and the extensions that it has.
pub struct Processor {
    model: String,
    features: String,
}

impl Processor {
    /// Asks the system.
    pub fn detect() -> Processor {
        // The kernel writes this file as it is read, processor by processor, and takes milliseconds to write all of a
        // large machine's: the beginning is enough, since the others are the same.
        let mut text = Vec::new();
        if let Ok(file) = File::open("/proc/cpuinfo") {
            let _ = file.take(16 << 10).read_to_end(&mut text);
        }
        Processor::parse(&String::from_utf8_lossy(&text))
    }

    fn parse(text: &str) -> Processor {
        let first = text.split("\n\n").next().unwrap_or_default();
        let fields =
            || first.lines().filter_map(|line| line.split_once(':')).map(|(k, v)| (k.trim(), v.trim()));
        let field =
            |names: &[&str]| fields().find(|(key, _)| names.contains(key)).map_or("", |(_, value)| value);
        let model = match field(&["model name", "Processor", "cpu model", "cpu"]) {
            // ARM's kernels write numbers instead of a name.
            "" => fields()
                .filter(|(key, _)| key.starts_with("CPU "))
                .map(|(_, v)| v)
                .collect::<Vec<_>>()
                .join(" "),
            name => name.to_owned(),
        };
        // Names are for people; the numbers tell apart processors that share a name.
        let numbers = ["cpu family", "model", "stepping"].map(|name| field(&[name])).join(" ");
        let features = field(&["flags", "Features", "isa"]);
        Processor { model, features: format!("{} {numbers} {features}", std::env::consts::ARCH) }
    }

    /// The model, for people.
    pub fn model(&self) -> &str {
        if self.model.is_empty() { std::env::consts::ARCH } else { &self.model }
    }

    /// Everything that a binary for this processor depends on.
    pub fn fingerprint(&self) -> String {
        format!("{} {}", self.model(), self.features)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_processor_is_read() {
        let text = "processor\t: 0\ncpu family\t: 6\nmodel\t\t: 143\nmodel name\t: Fast(R) One\nstepping\t: 8\n\
                    flags\t\t: fpu avx2 avx512f\n\nprocessor\t: 1\nmodel name\t: Other\nflags\t\t: mmx\n";
        let processor = Processor::parse(text);
        assert_eq!(processor.model(), "Fast(R) One");
        assert!(processor.fingerprint().ends_with("6 143 8 fpu avx2 avx512f"), "{}", processor.fingerprint());
        assert_ne!(processor.fingerprint(), Processor::parse(&text.replace("avx2 ", "")).fingerprint());
    }

    #[test]
    fn an_unreadable_system_still_has_a_name() {
        assert_eq!(Processor::parse("").model(), std::env::consts::ARCH);
        let arm = "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n";
        assert_eq!(Processor::parse(arm).model(), "0x41 0xd40");
        assert!(Processor::parse(arm).fingerprint().ends_with("fp asimd"));
    }
}
