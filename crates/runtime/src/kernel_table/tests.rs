//! The kernel table, tested with a device that only counts.

mod damage;
mod limits;

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Barrier};

use pumice_emit::EmitOptions;
use pumice_kernel::Profile;
use pumice_program::Verified;
use pumice_scalar::Place;

use super::entry::{HEADER, MAGIC};
use super::*;
use crate::device::tests::empty_program;
use crate::device::{CompiledKernel, Device, DeviceMemory, LaunchArgument, Signature};
use crate::error::{Error, Result};
use crate::identity::{DeviceId, DeviceName};

/// A device whose binaries are texts.
struct Counting {
    id: DeviceId,
    fingerprint: &'static str,
    built: AtomicUsize,
    /// Kernels that are loaded.
    loaded: Arc<AtomicUsize>,
    refuse: bool,
    profile: Profile,
}

/// A loaded kernel.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Counting {
    fn new(fingerprint: &'static str) -> Counting {
        let profile = Profile {
            threads: 1,
            lanes: 1,
            max_threads: 1,
            shared_bytes: 0,
            max_blocks: 1,
            busy_blocks: 1,
            vector_bytes: 0,
            coalesces: false,
            forward_progress: false,
            native_warps: false,
            capabilities: pumice_program::Capabilities::ALL,
        };
        Counting {
            id: DeviceId::new(DeviceName::of_kind("counting")),
            fingerprint,
            built: AtomicUsize::new(0),
            loaded: Arc::default(),
            refuse: false,
            profile,
        }
    }

    fn built(&self) -> usize {
        self.built.load(Ordering::SeqCst)
    }

    fn loaded(&self) -> usize {
        self.loaded.load(Ordering::SeqCst)
    }
}

const DONE: Result<()> = Ok(());

/// The error of programs that cannot be built.
fn refused(place: Option<Place>) -> Error {
    let (device, compiler, kernel) = (DeviceName::of_kind("counting"), "none".into(), "broken".into());
    Error::Compiler { device, compiler, kernel, log: "refused".into(), place }
}

impl Device for Counting {
    fn id(&self) -> DeviceId {
        self.id
    }
    fn description(&self) -> String {
        "it counts".into()
    }
    fn fingerprint(&self) -> String {
        self.fingerprint.into()
    }
    fn profile(&self) -> &Profile {
        &self.profile
    }
    fn allocate(&self, bytes: usize) -> Result<DeviceMemory> {
        Ok(DeviceMemory::new(self.id, bytes, ()))
    }
    fn upload(&self, _to: &DeviceMemory, _from: &[u8]) -> Result<()> {
        DONE
    }
    fn download_from(&self, _from: &DeviceMemory, _first: usize, _to: &mut [u8]) -> Result<()> {
        DONE
    }
    fn zero(&self, _memory: &DeviceMemory, _bytes: usize) -> Result<()> {
        DONE
    }
    fn build_unit(&self, programs: &[&Verified], _options: &EmitOptions) -> Result<Vec<Vec<u8>>> {
        if self.refuse || programs.iter().any(|program| program.name == "broken") {
            return Err(refused(None));
        }
        // Long enough for others to come in between, if they could.
        std::thread::sleep(std::time::Duration::from_millis(5));
        self.built.fetch_add(programs.len(), Ordering::SeqCst);
        let binary = |program: &&Verified| format!("binary of {} for {}", program.name, self.fingerprint);
        Ok(programs.iter().map(|program| binary(program).into_bytes()).collect())
    }
    unsafe fn load(&self, program: &Verified, binary: &[u8]) -> Result<CompiledKernel> {
        let expected = format!("binary of {} for {}", program.name, self.fingerprint);
        let refusal = Error::Binary {
            device: self.name(),
            kernel: program.name.clone(),
            reason: "it is wrong".into(),
            place: None,
        };
        if binary == expected.as_bytes() {
            self.loaded.fetch_add(1, Ordering::SeqCst);
            Ok(CompiledKernel::new(self.id, Signature::of(program), Counted(self.loaded.clone())))
        } else {
            Err(refusal)
        }
    }
    unsafe fn launch(
        &self,
        _kernel: &CompiledKernel,
        _blocks: u64,
        _arguments: &[LaunchArgument<'_>],
    ) -> Result<()> {
        DONE
    }
    fn synchronize(&self) -> Result<()> {
        DONE
    }
    fn waits(&self) -> u64 {
        0
    }
    fn time(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<f64> {
        work().map(|()| 0.0)
    }
}

/// A folder for one test, removed afterwards.
struct Temporary(PathBuf);

impl Temporary {
    fn new() -> Temporary {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::SeqCst);
        let path = std::env::temp_dir().join(format!("pumice-table-{}-{count}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Temporary(path)
    }

    fn table(&self) -> KernelTable {
        KernelTable::with_folder(Some(self.0.clone()))
    }

    fn entries(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.0).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn get(table: &KernelTable, device: &Counting) -> Result<Arc<CompiledKernel>> {
    table.get_or_build(device, &empty_program("k"), "text", &EmitOptions::default())
}

#[test]
fn a_kernel_is_built_once_and_kept_for_the_next_process() -> Result<()> {
    let (temporary, device) = (Temporary::new(), Counting::new("one"));
    let table = temporary.table();
    let first = get(&table, &device)?;
    assert!(Arc::ptr_eq(&first, &get(&table, &device)?));
    assert_eq!(table.counts(), Counts { memory: 1, disk: 0, built: 1 });
    let next = temporary.table();
    get(&next, &device)?;
    assert_eq!(next.counts(), Counts { memory: 0, disk: 1, built: 0 });
    assert_eq!(next.diagnostics(), [""; 0]);
    assert_eq!(device.built(), 1);
    Ok(())
}

#[test]
fn everything_that_decides_a_binary_is_in_the_key() -> Result<()> {
    let (temporary, device, other) = (Temporary::new(), Counting::new("one"), Counting::new("two"));
    let table = temporary.table();
    let (exact, fast) = (EmitOptions { fast_math: false }, EmitOptions { fast_math: true });
    let program = empty_program("k");
    table.get_or_build(&device, &program, "text", &exact)?;
    table.get_or_build(&device, &program, "text", &fast)?;
    table.get_or_build(&device, &program, "other text", &exact)?;
    table.get_or_build(&other, &program, "text", &exact)?;
    assert_eq!(table.counts().built, 4);
    assert_eq!(temporary.entries().len(), 4);
    Ok(())
}

#[test]
fn devices_of_one_model_share_binaries_and_no_kernels() -> Result<()> {
    let (temporary, one, other) = (Temporary::new(), Counting::new("one"), Counting::new("one"));
    let table = temporary.table();
    let (first, second) = (get(&table, &one)?, get(&table, &other)?);
    assert_eq!((first.device(), second.device()), (one.id, other.id));
    assert_eq!(table.counts(), Counts { memory: 0, disk: 1, built: 1 });
    Ok(())
}

#[test]
fn a_damaged_entry_is_built_again() -> Result<()> {
    let (temporary, device) = (Temporary::new(), Counting::new("one"));
    get(&temporary.table(), &device)?;
    let entry = temporary.entries().remove(0);
    let good = std::fs::read(&entry).expect("the entry");
    let flipped = |place: usize| {
        let mut bytes = good.clone();
        bytes[place] ^= 1;
        bytes
    };
    let damaged = [
        Vec::new(),
        good[..HEADER - 1].to_vec(),
        good[..HEADER].to_vec(),
        good[..good.len() - 1].to_vec(),
        [&good[..], b"more"].concat(),
        flipped(0),
        flipped(MAGIC.len()),
        flipped(HEADER - 1),
        flipped(good.len() - 1),
        b"something else".repeat(100),
    ];
    for (round, bytes) in damaged.iter().enumerate() {
        std::fs::write(&entry, bytes).expect("damaging the entry");
        let table = temporary.table();
        get(&table, &device)?;
        assert_eq!(table.counts().built, 1, "round {round} was trusted");
        assert_eq!(table.diagnostics().len(), 1);
        assert_eq!(std::fs::read(&entry).expect("the new entry"), good);
    }
    Ok(())
}

#[test]
fn an_entry_under_another_name_or_for_another_device_is_not_trusted() -> Result<()> {
    let (temporary, device) = (Temporary::new(), Counting::new("one"));
    get(&temporary.table(), &device)?;
    let entry = temporary.entries().remove(0);
    let table = temporary.table();
    table.get_or_build(&device, &empty_program("other"), "other text", &EmitOptions::default())?;
    let other = temporary.entries().into_iter().find(|path| *path != entry).expect("a second entry");
    std::fs::copy(&entry, &other).expect("copying the entry");
    let table = temporary.table();
    table.get_or_build(&device, &empty_program("other"), "other text", &EmitOptions::default())?;
    assert_eq!(table.counts().built, 1);

    // Whole, but the device refuses it.
    let name = entry.file_name().and_then(|name| name.to_str()).expect("a name");
    write_entry(&temporary.0, name, b"of an older device").expect("writing an entry");
    let table = temporary.table();
    get(&table, &device)?;
    assert_eq!(table.counts().built, 1);
    let again = temporary.table();
    get(&again, &device)?;
    assert_eq!(again.counts().disk, 1);
    Ok(())
}

#[test]
fn a_folder_that_cannot_be_used_is_done_without() -> Result<()> {
    let (temporary, device) = (Temporary::new(), Counting::new("one"));
    std::fs::write(&temporary.0, "a file where the folder should be").expect("writing a file");
    for path in [temporary.0.clone(), temporary.0.join("below")] {
        let table = KernelTable::with_folder(Some(path));
        get(&table, &device)?;
        get(&table, &device)?;
        assert_eq!(table.counts(), Counts { memory: 1, disk: 0, built: 1 });
        assert_eq!(table.folder(), None);
        assert!(table.diagnostics()[0].starts_with("kernels are not kept in "), "{:?}", table.diagnostics());
    }
    std::fs::remove_file(&temporary.0).expect("removing the file");
    let table = KernelTable::with_folder(None);
    get(&table, &device)?;
    assert_eq!((table.counts().built, table.diagnostics()), (1, vec![]));
    Ok(())
}

#[test]
fn a_folder_that_vanishes_is_no_error() -> Result<()> {
    let (temporary, device) = (Temporary::new(), Counting::new("one"));
    let table = temporary.table();
    assert!(table.folder().is_some());
    std::fs::remove_dir_all(&temporary.0).expect("removing the folder");
    get(&table, &device)?;
    assert_eq!(table.diagnostics().len(), 1);
    Ok(())
}

#[test]
fn a_failed_build_is_an_error_and_leaves_nothing() {
    let temporary = Temporary::new();
    let device = Counting { refuse: true, ..Counting::new("one") };
    let table = temporary.table();
    for _ in 0..2 {
        assert_eq!(get(&table, &device).err(), Some(refused(None)));
    }
    assert!(temporary.entries().is_empty());
}

#[test]
fn threads_that_want_the_same_kernel_build_it_once() -> Result<()> {
    let (temporary, device) = (Temporary::new(), Counting::new("one"));
    let (table, start) = (temporary.table(), Barrier::new(8));
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    get(&table, &device).map(|_| ())
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    assert_eq!((device.built(), table.counts().memory), (1, 7));
    Ok(())
}

#[test]
fn processes_that_write_the_same_entry_do_not_disturb_each_other() -> Result<()> {
    // Tables do not know each other, just like processes.
    let (temporary, device) = (Temporary::new(), Counting::new("one"));
    let start = Barrier::new(8);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    (0..20).try_for_each(|_| {
                        let table = temporary.table();
                        get(&table, &device)?;
                        assert_eq!(table.diagnostics(), [""; 0], "an entry was seen in part");
                        DONE
                    })
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    assert_eq!(temporary.entries().len(), 1, "temporary files were left");
    Ok(())
}

#[test]
fn the_users_folder_is_found_in_the_environment() {
    let of = |variables: &[(&str, &str)]| {
        let found = folder_of(|name| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| PathBuf::from(value))
        });
        found.map(|path| path.display().to_string())
    };
    assert_eq!(
        of(&[("PUMICE_CACHE_DIR", "/a"), ("XDG_CACHE_HOME", "/b"), ("HOME", "/c")]).as_deref(),
        Some("/a")
    );
    assert_eq!(of(&[("XDG_CACHE_HOME", "/b"), ("HOME", "/c")]).as_deref(), Some("/b/pumice"));
    assert_eq!(of(&[("XDG_CACHE_HOME", "b"), ("HOME", "/c")]).as_deref(), Some("/c/.cache/pumice"));
    assert_eq!(of(&[]), None);
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).expect("metadata").permissions().mode() & 0o777
    }

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("changing the mode");
    }

    #[test]
    fn only_the_owner_may_read_and_write() -> Result<()> {
        let (temporary, device) = (Temporary::new(), Counting::new("one"));
        let inner = Temporary(temporary.0.join("deep/down"));
        get(&inner.table(), &device)?;
        assert_eq!((mode(&temporary.0), mode(&inner.0), mode(&inner.entries()[0])), (0o700, 0o700, 0o600));
        Ok(())
    }

    #[test]
    fn what_others_can_write_is_not_trusted() -> Result<()> {
        let (temporary, device) = (Temporary::new(), Counting::new("one"));
        get(&temporary.table(), &device)?;
        let entry = temporary.entries().remove(0);
        for bits in [0o620, 0o602] {
            set_mode(&entry, bits);
            let table = temporary.table();
            get(&table, &device)?;
            assert_eq!(table.counts().built, 1);
            assert!(table.diagnostics()[0].contains("others may write to it"), "{:?}", table.diagnostics());
            assert_eq!(mode(&entry), 0o600, "the new entry is ours alone");
        }
        for bits in [0o720, 0o702] {
            set_mode(&temporary.0, bits);
            let table = temporary.table();
            get(&table, &device)?;
            assert_eq!((table.counts().built, table.folder()), (1, None));
            assert!(table.diagnostics()[0].contains("others may write to it"), "{:?}", table.diagnostics());
        }
        set_mode(&temporary.0, 0o755);
        assert!(temporary.table().folder().is_some());
        Ok(())
    }

    #[test]
    fn a_link_is_not_followed() -> Result<()> {
        let (temporary, device) = (Temporary::new(), Counting::new("one"));
        get(&temporary.table(), &device)?;
        let entry = temporary.entries().remove(0);
        let elsewhere = temporary.0.join("elsewhere");
        std::fs::rename(&entry, &elsewhere).expect("moving the entry");
        symlink(&elsewhere, &entry).expect("making a link");
        let table = temporary.table();
        get(&table, &device)?;
        assert_eq!((table.counts().built, table.diagnostics().len()), (1, 1));
        assert!(std::fs::symlink_metadata(&entry).expect("the entry").is_file());
        Ok(())
    }
}

#[test]
fn several_programs_are_built_together_and_each_once() -> Result<()> {
    let (folder, device) = (Temporary::new(), Counting::new("a"));
    let programs: Vec<Verified> = (0..40).map(|number| empty_program(&format!("k{}", number % 30))).collect();
    let programs: Vec<_> = programs.iter().map(|program| (program, None)).collect();
    let all =
        |table: &KernelTable| table.get_or_build_all(&device, &programs, &EmitOptions::default(), || Ok(()));
    let table = folder.table();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| all(&table))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic").map(drop))
    })?;
    let kernels = all(&table)?;
    let names: Vec<&str> = kernels.iter().map(|kernel| kernel.name()).collect();
    assert_eq!(names, programs.iter().map(|(program, _)| program.name.as_str()).collect::<Vec<_>>());
    assert_eq!(device.built.load(Ordering::SeqCst), 30);
    assert_eq!(all(&folder.table())?.len(), 40);
    assert_eq!(device.built.load(Ordering::SeqCst), 30, "they are kept");
    Ok(())
}

#[test]
fn one_program_that_cannot_be_built_does_not_keep_the_others_from_it() {
    let (folder, device) = (Temporary::new(), Counting::new("a"));
    let programs = ["k0", "broken", "k1"].map(empty_program);
    let places = [1, 2, 3].map(|line| Place::new("map", "prices.rs", line, 7));
    let programs: Vec<_> = programs.iter().zip(places.map(Some)).collect();
    let table = folder.table();
    let error = table.get_or_build_all(&device, &programs, &EmitOptions::default(), || Ok(())).err();
    // The place is that of the one, though all were handed to the compiler together.
    assert_eq!(error, Some(refused(Some(places[1]))));
    for (program, _) in [programs[0], programs[2]] {
        let kernel = table.get_or_build(&device, program, &program.key_text(), &EmitOptions::default());
        assert_eq!(kernel.map(|kernel| kernel.name().to_string()), Ok(program.name.clone()));
    }
}
