//! Building array programs for ever must not grow memory. Alone in its process, because it measures that.

#[cfg(target_os = "linux")]
#[test]
fn building_for_ever_does_not_grow_memory() -> Result<(), Box<dyn std::error::Error>> {
    use pumice_array::{Acc, ArrayProgram, Vector, generate};
    let resident_pages = || -> Result<usize, Box<dyn std::error::Error>> {
        let statm = std::fs::read_to_string("/proc/self/statm")?;
        Ok(statm.split(' ').nth(1).ok_or("no resident pages")?.parse()?)
    };
    let build = |count: u32| {
        // A program with arguments is written in a scope of its own, as `pumice::compile` opens one.
        (0..count).for_each(|k| {
            pumice_scalar::scope(|| {
                // Extents outside any function, inside one, and as another array's shape.
                let xs = Acc::<Vector<f32>>::argument(0);
                let n = xs.size();
                let scaled = xs.map(|x| x * k as f32 + n.cast::<f32>());
                let indices = generate(n, |i| i.cast::<f32>());
                let root = scaled.zip_with(indices, |a, b| a - b).sum();
                assert!(k > 0 || ArrayProgram::of(&[root.described().clone()]).to_string().contains("sum"));
            })
        });
    };
    build(20_000);
    let before = resident_pages()?;
    build(180_000);
    let grown = resident_pages()?.saturating_sub(before);
    assert!(grown < 512, "grew by {grown} pages");
    Ok(())
}
