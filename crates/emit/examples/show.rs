//! Prints a program (text form, on standard input) in the dialect named by the argument.
use std::io::Read;
fn main() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).unwrap();
    let program = pumice_program::verify(pumice_program::parse(&text).unwrap()).unwrap();
    let dialect = match std::env::args().nth(1).as_deref() {
        Some("opencl") => pumice_emit::Dialect::OpenCl,
        Some("cuda") => pumice_emit::Dialect::Cuda,
        _ => pumice_emit::Dialect::C,
    };
    print!("{}", pumice_emit::emit(&program, dialect, &pumice_emit::Options::default()).unwrap().text);
}
