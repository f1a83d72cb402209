//! Source locations of a kernel: statements, failures and errors name the line of the user, also for what we write on the
//! user's behalf.

use pumice_kernel::skeletons::{Fold, FoldPlan};
use pumice_kernel::{Block, Grid, Ix, Loops, Mutable, Pull, Push, define, on_behalf, preview};
use pumice_program::Stmt;
use pumice_scalar::Place;
use std::rc::Rc;

/// The comments of a kernel, in order.
fn comments(list: &[Stmt], found: &mut Vec<String>) {
    for stmt in list {
        if let Stmt::Comment(text) = stmt {
            found.push(text.clone());
        }
        stmt.children().into_iter().for_each(|list| comments(list, found));
    }
}

fn place() -> Place {
    Place::new("fold", "prices.pum", 3, 7)
}

#[test]
fn a_skeletons_statements_name_the_users_line_and_nothing_of_ours() {
    let plan = FoldPlan {
        lanes: 32,
        threads: 64,
        items: 1,
        unroll: 1,
        chunks: 1,
        fixed_columns: None,
        commutes: true,
        shuffles: false,
    };
    let kernel = |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> {
        let at = Rc::new(move |row: Ix, column: Ix| xs.at(row * 1000 + column));
        let fold = Fold::<i32, _> {
            rows: 4.into(),
            columns: 1000.into(),
            cut: None,
            at,
            operator: |a, b| a + b,
            neutral: 0.into(),
            total: true,
        };
        fold.push(plan)
    };
    let definition = on_behalf(place(), || define("sums", plan.threads, kernel)).expect("it is built");
    let mut found = Vec::new();
    comments(&definition.kernel().program.body, &mut found);
    assert!(!found.is_empty());
    assert!(found.iter().all(|text| text == "fold at prices.pum:3"), "{found:?}");
    let sites = &definition.kernel().sites;
    assert!(!sites.is_empty());
    assert!(sites.iter().all(|site| site.place == place()), "{sites:?}");
}

#[test]
fn errors_of_what_is_done_on_behalf_name_the_users_line() {
    let kernel = |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> {
        Push::new(xs.len(), |_| Block::for_each(1.into(), &|_| {}))
    };
    let error = on_behalf(place(), || define("broken", 32, kernel)).expect_err("it is refused");
    assert_eq!(error.place(), Some(place()));
    assert!(error.to_string().ends_with(" in fold at prices.pum:3"), "{error}");
    assert!(!error.message().contains("prices.pum"), "{error}");
}

#[test]
fn what_a_users_own_skeleton_does_names_its_own_lines() {
    let written = line!() + 2;
    let kernel = |xs: Pull<i32, Ix>| -> Push<Grid, i32, Ix> {
        let own = xs.clone().push::<Grid>();
        Push::new(xs.len(), move |write| on_behalf(None, || own.write(write)))
    };
    let definition = on_behalf(place(), || define("own", 32, kernel)).expect("it is built");
    let mut found = Vec::new();
    comments(&definition.kernel().program.body, &mut found);
    assert_eq!(found, [format!("push at crates/kernel/tests/kernels/places.rs:{written}")]);
}

#[test]
fn the_place_is_the_operations_own_again_after_a_panic() {
    let caught = std::panic::catch_unwind(|| on_behalf(place(), || panic!("in between")));
    assert!(caught.is_err());
    let error = preview(32, &[1, 2], |xs: Pull<i32, Ix>| xs.push::<Grid>().ix_map(|i| i + 1));
    let message = error.expect_err("an index is outside").to_string();
    assert!(message.contains("in ix_map at crates/kernel/tests/kernels/places.rs"), "{message}");
}

#[test]
fn an_error_of_the_kernel_as_a_whole_names_where_it_was_defined() {
    let written = line!() + 1;
    let error = define("nothing", 32, |_: Mutable<i32>| {}).expect_err("it does nothing");
    assert_eq!(error.place().map(|place| place.line()), Some(written));

    let definition = define("copy", 32, |xs: Pull<i32, Ix>| xs.push::<Grid>()).expect("it is built");
    let error = definition.length_for(&[]).expect_err("an argument is missing");
    assert_eq!(error.place().map(|place| place.file()), Some("crates/kernel/tests/kernels/places.rs"));
}
