//! Damaged entries: never loaded unless they are what was written, and never a panic.

use proptest::prelude::*;

use super::*;

/// Damage to a good entry.
#[derive(Clone, Debug)]
enum Damage {
    /// Other bytes altogether.
    Replaced(Vec<u8>),
    /// A good beginning, and other bytes after it.
    Continued(Vec<u8>),
    /// Its end is lost.
    Truncated(prop::sample::Index),
    /// Some of its bits are others.
    Flipped(Vec<(prop::sample::Index, u8)>),
    /// It says that its payload has another length.
    Length(u64),
    /// It is whole, and of another key.
    OtherKey(Vec<u8>),
}

fn damage() -> impl Strategy<Value = Damage> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..200);
    prop_oneof![
        bytes().prop_map(Damage::Replaced),
        bytes().prop_map(Damage::Continued),
        any::<prop::sample::Index>().prop_map(Damage::Truncated),
        prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..4).prop_map(Damage::Flipped),
        any::<u64>().prop_map(Damage::Length),
        bytes().prop_map(Damage::OtherKey),
    ]
}

/// The entry after the damage.
fn damaged(good: &[u8], damage: &Damage, elsewhere: &Temporary) -> Vec<u8> {
    let mut bytes = good.to_vec();
    match damage {
        Damage::Replaced(other) => bytes = other.clone(),
        Damage::Continued(more) => bytes = [&good[..HEADER], more].concat(),
        Damage::Truncated(end) => bytes.truncate(end.index(good.len())),
        Damage::Flipped(flips) => {
            flips.iter().for_each(|(place, bits)| bytes[place.index(good.len())] ^= bits)
        }
        Damage::Length(length) => bytes[MAGIC.len()..MAGIC.len() + 8].copy_from_slice(&length.to_le_bytes()),
        Damage::OtherKey(payload) => {
            make_folder(&elsewhere.0).expect("a folder");
            write_entry(&elsewhere.0, "another key", payload).expect("writing an entry");
            bytes = std::fs::read(elsewhere.0.join("another key")).expect("the entry");
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn a_damaged_entry_is_never_loaded(damage in damage()) {
        let (temporary, elsewhere, device) = (Temporary::new(), Temporary::new(), Counting::new("one"));
        get(&temporary.table(), &device).expect("it is built");
        let entry = temporary.entries().remove(0);
        let good = std::fs::read(&entry).expect("the entry");
        let bytes = damaged(&good, &damage, &elsewhere);
        std::fs::write(&entry, &bytes).expect("damaging the entry");

        let table = temporary.table();
        get(&table, &device).expect("it is built again");
        // Bits that were flipped twice make a good entry again.
        let whole = u64::from(bytes == good);
        prop_assert_eq!(table.counts(), Counts { memory: 0, disk: whole, built: 1 - whole });
        prop_assert_eq!(table.diagnostics().len() as u64, 1 - whole);
        prop_assert_eq!(std::fs::read(&entry).expect("the new entry"), good);
    }

    #[test]
    fn a_damaged_note_is_never_recalled(damage in damage()) {
        let (temporary, elsewhere) = (Temporary::new(), Temporary::new());
        let (table, parts) = (temporary.table(), ["a note".to_string()]);
        table.remember(&parts, b"what was found");
        let entry = temporary.entries().remove(0);
        let good = std::fs::read(&entry).expect("the entry");
        let bytes = damaged(&good, &damage, &elsewhere);
        std::fs::write(&entry, &bytes).expect("damaging the entry");
        let expected = (bytes == good).then(|| b"what was found".to_vec());
        prop_assert_eq!(table.recall(&parts), expected);
    }

    #[test]
    fn a_folder_with_files_of_any_names_is_listed(names in prop::collection::vec("[a-f0-9]{0,70}[.a-z0-9-]{0,20}", 0..8)) {
        let temporary = Temporary::new();
        let table = temporary.table();
        prop_assert!(table.folder().is_some());
        for name in names.iter().filter(|name| !matches!(name.as_str(), "" | "." | "..")) {
            std::fs::write(temporary.0.join(name), "text").expect("writing a file");
        }
        let usage = table.usage().unwrap_or_default();
        let removed = table.clear();
        prop_assert_eq!((usage.kernels, usage.notes), (removed.kernels, removed.notes));
    }
}
