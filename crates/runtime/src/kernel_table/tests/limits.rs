//! Tests of the limits: what is kept and what is evicted when there is too much, in memory and on disk.

use std::time::{Duration, SystemTime};

use super::*;

/// One of many programs on the counting device.
fn get_number(table: &KernelTable, device: &Counting, number: usize) -> Result<Arc<CompiledKernel>> {
    table.get_or_build(device, &empty_program("k"), &format!("text {number}"), &EmitOptions::default())
}

fn limited(temporary: &Temporary, kernels: usize, bytes: u64) -> KernelTable {
    KernelTable::with_limits(Some(temporary.0.clone()), Limits { kernels, bytes })
}

/// Makes an entry look as if it had last been used so long ago.
fn age(path: &Path, by: Duration) {
    let file = std::fs::File::options().write(true).open(path).expect("the entry");
    file.set_modified(SystemTime::now() - by).expect("setting its time");
}

fn age_of(path: &Path) -> Duration {
    let modified =
        std::fs::metadata(path).and_then(|metadata| metadata.modified()).expect("the entry's time");
    modified.elapsed().unwrap_or_default()
}

const HOUR: Duration = Duration::from_secs(3600);

#[test]
fn the_least_recently_used_kernels_are_unloaded_and_work_again() -> Result<()> {
    let (temporary, device) = (Temporary::new(), Counting::new("one"));
    let table = limited(&temporary, 4, 1 << 20);
    for number in 0..20 {
        get_number(&table, &device, number)?;
        // The first stays in use.
        get_number(&table, &device, 0)?;
        assert!(device.loaded() <= 4 && table.loaded() == device.loaded(), "{} are loaded", device.loaded());
    }
    assert_eq!((device.loaded(), device.built()), (4, 20));
    let before = table.counts();
    for number in [0, 17, 18, 19] {
        get_number(&table, &device, number)?;
    }
    assert_eq!(table.counts(), Counts { memory: before.memory + 4, ..before });
    get_number(&table, &device, 5)?;
    assert_eq!((table.counts().disk, device.built(), device.loaded()), (before.disk + 1, 20, 4));
    Ok(())
}

#[test]
fn kernels_that_somebody_holds_stay_loaded_once() -> Result<()> {
    let (temporary, device) = (Temporary::new(), Counting::new("one"));
    let table = limited(&temporary, 2, 1 << 20);
    let held = (0..5).map(|number| get_number(&table, &device, number)).collect::<Result<Vec<_>>>()?;
    for number in 5..10 {
        get_number(&table, &device, number)?;
    }
    assert!(device.loaded() <= 6, "{}", device.loaded());
    assert!(Arc::ptr_eq(&held[0], &get_number(&table, &device, 0)?));
    drop(held);
    get_number(&table, &device, 10)?;
    assert_eq!((table.loaded(), device.loaded()), (2, 2));
    Ok(())
}

#[test]
fn kernels_that_cannot_be_built_leave_no_place_behind() {
    let device = Counting { refuse: true, ..Counting::new("one") };
    let table = KernelTable::with_folder(None);
    for number in 0..10 {
        assert!(get_number(&table, &device, number).is_err());
    }
    assert_eq!(table.loaded(), 0);
}

#[test]
fn threads_may_use_more_kernels_than_are_kept() -> Result<()> {
    let (temporary, device) = (Temporary::new(), Counting::new("one"));
    let table = limited(&temporary, 2, 1 << 20);
    let work = |thread: usize| {
        (0..100).try_for_each(|round| get_number(&table, &device, (thread + round * 3) % 8).map(drop))
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|thread| scope.spawn(move || work(thread))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    assert_eq!(device.built(), 8);
    get_number(&table, &device, 8)?;
    assert!(device.loaded() <= 2 && table.diagnostics().is_empty(), "{:?}", table.diagnostics());
    Ok(())
}

#[test]
fn the_least_recently_used_entries_are_removed() -> Result<()> {
    let (temporary, device) = (Temporary::new(), Counting::new("one"));
    let table = temporary.table();
    table.remember(&["a note".into()], &[0; 1000]);
    let note = temporary.entries();
    let mut entries = Vec::new();
    for number in 0..8u32 {
        get_number(&table, &device, number as usize)?;
        let new =
            temporary.entries().into_iter().find(|path| !entries.contains(path) && !note.contains(path));
        entries.push(new.expect("a new entry"));
        age(&entries[number as usize], HOUR * (20 - number));
    }
    // Another process uses the oldest.
    get_number(&temporary.table(), &device, 0)?;
    assert!(age_of(&entries[0]) < HOUR && age_of(&entries[7]) > HOUR);
    let size = std::fs::metadata(&entries[0]).expect("the entry").len();
    let usage = table.usage().expect("a folder");
    assert_eq!((usage.kernels, usage.bytes, usage.notes), (8, 8 * size, 1));
    assert!(usage.oldest < usage.newest);

    // One more than the limit: the folder is pruned to three quarters of it.
    let limited = limited(&temporary, 8, 8 * size);
    get_number(&limited, &device, 8)?;
    let left: Vec<bool> = entries.iter().map(|path| path.exists()).collect();
    assert_eq!(left, [true, false, false, false, true, true, true, true]);
    assert_eq!(limited.usage().map(|usage| (usage.kernels, usage.notes)), Some((6, 1)));
    // What was removed works again.
    get_number(&limited, &device, 1)?;
    assert_eq!((limited.counts().built, limited.diagnostics()), (2, vec![]));

    assert_eq!(limited.prune(3 * size), Removed { kernels: 4, bytes: 4 * size, notes: 0 });
    assert_eq!(limited.prune(3 * size), Removed::default());
    assert_eq!(limited.clear(), Removed { kernels: 3, bytes: 3 * size, notes: 1 });
    assert!(temporary.entries().is_empty());
    Ok(())
}

#[test]
fn a_recent_use_is_not_noted_again() -> Result<()> {
    let (temporary, device) = (Temporary::new(), Counting::new("one"));
    get(&temporary.table(), &device)?;
    let entry = temporary.entries().remove(0);
    age(&entry, Duration::from_secs(300));
    get(&temporary.table(), &device)?;
    assert!(age_of(&entry) >= Duration::from_secs(300));
    Ok(())
}

#[test]
fn processes_may_prune_at_once() -> Result<()> {
    // Tables do not know each other, just like processes.
    let (temporary, device) = (Temporary::new(), Counting::new("one"));
    let start = Barrier::new(4);
    let work = |thread: usize| {
        let table = limited(&temporary, 1, 1000);
        start.wait();
        for number in 0..30 {
            get_number(&table, &device, thread * 20 + number)?;
            table.prune(500);
        }
        assert_eq!(table.diagnostics(), [""; 0]);
        DONE
    };
    let work = &work;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|thread| scope.spawn(move || work(thread))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    let table = temporary.table();
    assert!(
        table.usage().is_some_and(|usage| usage.bytes <= 1000 && usage.kernels > 0),
        "{:?}",
        table.usage()
    );
    Ok(())
}

#[test]
fn only_files_of_ours_are_removed() -> Result<()> {
    let (temporary, device) = (Temporary::new(), Counting::new("one"));
    get(&temporary.table(), &device)?;
    let key = "0123456789abcdef".repeat(4);
    let live = crate::files::process_tag();
    let kept = [
        "notes.txt".to_string(),
        key[1..].to_string(),
        key.to_uppercase(),
        format!("{key}.old"),
        format!("{key}.{live}.7.new"),
        format!("{key}.note.{live}.8.new"),
        format!("{key}.1-0.x.new"),
        format!("{key}ü"),
    ];
    for name in &kept {
        std::fs::write(temporary.0.join(name), "a file").expect("writing a file");
    }
    let folder = temporary.0.join(key.replace('0', "f"));
    std::fs::create_dir(&folder).expect("making a folder");
    let left = [
        format!("{key}.{live}.9.new"),
        #[cfg(target_os = "linux")]
        format!("{key}.{}.7.new", crate::files::ended_tag()),
        #[cfg(target_os = "linux")]
        format!("{key}.note.{}.8.new", crate::files::ended_tag()),
    ];
    for name in &left {
        std::fs::write(temporary.0.join(name), "a leftover").expect("writing a file");
    }
    age(&temporary.0.join(&left[0]), 25 * HOUR);
    // The first write of a process.
    get_number(&temporary.table(), &device, 1)?;
    assert!(left.iter().all(|name| !temporary.0.join(name).exists()), "a leftover was not removed");
    let table = temporary.table();
    assert_eq!(table.clear().kernels, 2);
    assert!(kept.iter().all(|name| temporary.0.join(name).exists()) && folder.is_dir());
    Ok(())
}

#[test]
fn limits_come_from_the_environment() {
    let of = |kernels: Option<&str>, bytes: Option<&str>| {
        limits_of(|name| match name {
            "PUMICE_KERNELS" => kernels.map(OsString::from),
            _ => bytes.map(OsString::from),
        })
    };
    assert_eq!(of(None, None), (Limits { kernels: 1024, bytes: 1 << 30 }, vec![]));
    assert_eq!(of(Some("7"), Some("0")), (Limits { kernels: 7, bytes: 0 }, vec![]));
    let (limits, mistakes) = of(Some("many"), Some("-1"));
    assert_eq!(limits, Limits::default());
    assert_eq!(mistakes[0], "PUMICE_KERNELS is `many`, which is no whole number; 1024 is used instead");
    assert_eq!(mistakes.len(), 2);
}

#[test]
fn without_bytes_there_is_no_folder() -> Result<()> {
    let (temporary, device) = (Temporary::new(), Counting::new("one"));
    let table = limited(&temporary, 4, 0);
    get(&table, &device)?;
    table.remember(&["a".into()], b"note");
    assert_eq!(table.recall(&["a".into()]).as_deref(), Some(&b"note"[..]));
    assert_eq!((table.folder(), table.usage(), temporary.0.exists()), (None, None, false));
    Ok(())
}
