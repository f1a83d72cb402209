//! Building programs for ever must not grow memory. Alone in its process, because it measures that.

#[cfg(target_os = "linux")]
#[test]
fn a_million_builds_do_not_grow_memory() {
    use pumice_scalar::{Exp, ScalarType, function};
    let resident_pages = || -> usize {
        let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
        statm.split(' ').nth(1).unwrap().parse().unwrap()
    };
    let build = |count: u32| {
        for k in 0..count {
            let small = function(&[ScalarType::F32], |terms| {
                let x: Exp<f32> = Exp::from_term(terms[0]);
                let y = (x * k as f32).exp() + x.gt(k as f32).select(x, x * 0.5);
                vec![y.term()]
            });
            assert!(small.nodes().len() > 5);
        }
    };
    build(20_000);
    let before = resident_pages();
    build(980_000);
    let grown = resident_pages().saturating_sub(before);
    assert!(grown < 256, "grew by {grown} pages");
}
