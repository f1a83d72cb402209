//! Inputs of programs.

/// Numbers that look random, the same every time.
pub fn numbers(count: usize) -> Vec<i32> {
    // A sequence that steps evenly through all 64-bit numbers, each with its bits well mixed.
    let mixed = |i: usize| {
        let mut x = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        x = (x ^ x >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        x = (x ^ x >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        (x >> 32) as i32
    };
    (0..count).map(mixed).collect()
}
