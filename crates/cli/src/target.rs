//! Target languages of `emit`, and the profiles of devices that programs are planned for. Opens no device but the CPU.

use pumice::layers::emit::Dialect;
use pumice::layers::kernel::Profile;
use pumice::layers::runtime::open;
use pumice_testing::cuda_like;

/// What a program can be printed as.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Target {
    /// The array language.
    Array,
    /// The programs of kernels.
    Program,
    /// What the device `cpu` compiles.
    #[value(alias = "cpu")]
    C,
    /// What OpenCL compiles.
    Opencl,
    /// What CUDA compiles.
    Cuda,
}

impl Target {
    /// Returns the dialect of its kernels, if it is a language that is compiled.
    pub fn dialect(self) -> Option<Dialect> {
        match self {
            Target::Array | Target::Program => None,
            Target::C => Some(Dialect::C),
            Target::Opencl => Some(Dialect::OpenCl),
            Target::Cuda => Some(Dialect::Cuda),
        }
    }
}

/// Returns the dialect with this name.
pub fn dialect(name: &str) -> Result<Dialect, String> {
    // Accepts `cpu` as well: it is the device that runs the C dialect.
    let name = if name == "cpu" { "c" } else { name };
    Dialect::ALL.into_iter().find(|dialect| dialect.name() == name).ok_or_else(|| {
        let names = Dialect::ALL.map(Dialect::name).join(", ");
        format!("there is no target `{name}`; the targets are {names}")
    })
}

/// Returns the profile of a typical device of a dialect. For C that is this machine, if it has a compiler.
pub fn profile(dialect: Dialect) -> Profile {
    match dialect {
        Dialect::Cuda | Dialect::OpenCl => cuda_like(),
        Dialect::C => open("cpu").map_or_else(|_| cpu_like(), |cpu| cpu.profile().clone()),
    }
}

/// Returns the profile of a small CPU.
fn cpu_like() -> Profile {
    Profile {
        threads: 64,
        lanes: 16,
        max_threads: 4096,
        shared_bytes: 8 << 20,
        max_blocks: i64::MAX as u64,
        busy_blocks: 16,
        vector_bytes: 0,
        coalesces: false,
        forward_progress: false,
        native_warps: false,
        capabilities: pumice::layers::emit::capabilities(Dialect::C),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_found_by_name() {
        assert_eq!(dialect("cuda").ok(), Some(Dialect::Cuda));
        assert_eq!(dialect("cpu").ok(), Some(Dialect::C));
        let message = dialect("ptx").err().unwrap_or_default();
        assert!(message.contains("there is no target `ptx`; the targets are c, opencl, cuda"), "{message}");
    }

    #[test]
    fn a_cpu_is_no_gpu() {
        assert!(!profile(Dialect::C).coalesces && profile(Dialect::Cuda).coalesces);
    }
}
