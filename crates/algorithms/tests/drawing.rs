//! The pictures in `docs/networks` are those that the networks draw; `PUMICE_UPDATE=1` draws them anew.

use pumice_algorithms::drawing::{figures, svg};
use pumice_algorithms::networks::{bmerge, vsort};
use std::path::Path;

#[test]
fn pictures_are_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/networks");
    for (name, picture) in figures() {
        let path = folder.join(format!("{name}.svg"));
        if std::env::var_os("PUMICE_UPDATE").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &picture).unwrap();
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(found, picture, "{}: PUMICE_UPDATE=1 draws it anew", path.display());
    }
}

#[test]
fn every_comparator_is_drawn_once() {
    for (stages, n) in [(bmerge(4), 4), (vsort(4), 4), (vsort(3), 3)] {
        let picture = svg(&stages, n);
        let comparators: usize = stages.iter().map(|stage| stage.comparators(n).count()).sum();
        assert_eq!(picture.matches('V').count(), comparators);
        assert_eq!(picture.matches("<circle").count(), 2 * comparators);
        assert_eq!(picture.matches('H').count(), 1 << n);
    }
}
