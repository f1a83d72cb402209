//! The inputs of workloads: the same in every program of `benches/peers`.

/// Returns `n` numbers in [0, 1); they differ between streams.
pub fn uniform(n: usize, stream: u32) -> Vec<f32> {
    // The index wraps beyond 2³², which no workload reaches.
    (0..n).map(|i| (hash(i as u32, stream) >> 8) as f32 * (1.0 / 16_777_216.0)).collect()
}

/// Returns `n` whole numbers from 0 to 15, whose sums fit into 32 bits.
pub fn numbers(n: usize) -> Vec<i32> {
    (0..n).map(|i| (hash(i as u32, 0) >> 28) as i32).collect()
}

/// Returns `n` whole numbers of 32 bits, of which one in four is a multiple of four.
pub fn words(n: usize) -> Vec<i32> {
    (0..n).map(|i| hash(i as u32, 0) as i32).collect()
}

/// Returns `n` whole numbers of `bits` bits, from 1 to 31.
pub fn keys(n: usize, bits: u32) -> Vec<i32> {
    (0..n).map(|i| (hash(i as u32, 0) >> (32 - bits)) as i32).collect()
}

/// Returns a text of `n` bytes, whose letters are as frequent as in English.
pub fn text(n: usize) -> Vec<u8> {
    // Blanks and letters, each as often as it occurs among 64 letters of a text.
    const LETTERS: &[u8; 64] = b"           eeeeeettttaaaaooooiiiinnnnsssshhrrrddlllcuummwfgypbv.";
    (0..n).map(|i| LETTERS[(hash(i as u32, 5) >> 26) as usize]).collect()
}

/// Hashes an index and a stream to 32 bits, from which all inputs are made.
pub fn hash(index: u32, stream: u32) -> u32 {
    let mut x = index.wrapping_add(stream.wrapping_mul(0x9e37_79b9));
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ x >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spread_evenly_and_streams_differ() {
        let (xs, ys) = (uniform(10_000, 0), uniform(10_000, 1));
        for numbers in [&xs, &ys] {
            let mean = numbers.iter().sum::<f32>() / numbers.len() as f32;
            assert!((0.49..0.51).contains(&mean), "{mean}");
            assert!(numbers.iter().all(|x| (0.0..1.0).contains(x)));
        }
        assert!(xs.iter().zip(&ys).filter(|(x, y)| x == y).count() < 10);
    }
}
