//! Snapshots of programs in every dialect. The texts are in `snapshots/`, for people to read when they change.

mod common;

use common::read;
use pumice_emit::{Dialect, EmitOptions, emit};

fn snapshot(name: &str, text: &str) {
    let program = read(text);
    for dialect in Dialect::ALL {
        let source = emit(&program, dialect, &EmitOptions::default()).unwrap();
        assert_eq!((source.dialect, source.threads), (dialect, program.threads));
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(format!("{name}.{dialect}"), source.text);
        });
    }
}

#[test]
fn saxpy() {
    snapshot("saxpy", include_str!("programs/saxpy.pir"));
}

#[test]
fn dot() {
    snapshot("dot", include_str!("programs/dot.pir"));
}

#[test]
fn mandelbrot() {
    snapshot("mandelbrot", include_str!("programs/mandelbrot.pir"));
}

#[test]
fn checked() {
    snapshot("checked", include_str!("programs/checked.pir"));
}

#[test]
fn everything() {
    snapshot("everything", include_str!("programs/everything.pum-ir"));
}

#[test]
fn partial_block() {
    snapshot("partial_block", include_str!("programs/partial_block.pum-ir"));
}

#[test]
fn private_memory() {
    snapshot("private_memory", include_str!("programs/private_memory.pum-ir"));
}

#[test]
fn chain() {
    snapshot("chain", include_str!("programs/chain.pum-ir"));
}

#[test]
fn large_shared() {
    snapshot("large_shared", include_str!("programs/large_shared.pum-ir"));
}
