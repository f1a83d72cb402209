//! Loops of many rounds must not grow memory. Alone in its process, because it measures that.

#[cfg(target_os = "linux")]
#[test]
fn looping_for_ever_does_not_grow_memory() -> Result<(), Box<dyn std::error::Error>> {
    use pumice::{Compiler, prelude::*};
    const ELEMENTS: usize = 1 << 14;
    let resident_bytes = || -> Result<usize, Box<dyn std::error::Error>> {
        let statm = std::fs::read_to_string("/proc/self/statm")?;
        Ok(statm.split(' ').nth(1).ok_or("no resident pages")?.parse::<usize>()? * 4096)
    };
    let compiler = Compiler::on("cpu")?;
    // The same extents in every round.
    let program = compiler.compile(|xs: Acc<Vector<u64>>, n: Exp<i64>| {
        iterate(n, xs, |xs| xs.map(|x| x * 6_364_136_223_846_793_005 + 1))
    })?;
    // Others in every round.
    let shorter = compiler.compile(|xs: Acc<Vector<u64>>, least: Exp<i64>| {
        awhile(xs, |xs| unit(xs.size().gt(least)), |xs| xs.drop(1))
    })?;
    let xs = compiler.upload(vec![1u64; ELEMENTS])?;
    let run = |rounds: i64| -> pumice::Result<(u64, usize)> {
        let last = program.run((&xs, rounds))?.to_vec()?;
        Ok((last[0], shorter.run((&xs, ELEMENTS as i64 - rounds / 10))?.to_vec()?.len()))
    };
    run(100)?;
    let before = resident_bytes()?;
    let (value, length) = run(10_000)?;
    let grown = resident_bytes()?.saturating_sub(before);
    let expected = (0..10_000).fold(1u64, |x, _| x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    assert_eq!((value, length), (expected, ELEMENTS - 1000));
    // An array in every round would be more than a gigabyte.
    assert!(grown < 256 << 20, "grew by {grown} bytes");
    Ok(())
}
