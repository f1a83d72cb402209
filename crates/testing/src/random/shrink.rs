//! Simplifies a failing string of bytes: shorter first, then with smaller bytes. Knows nothing of programs.

/// Returns a string that still fails, after at most `tries` calls of `fails`. If the tries suffice, it is
/// minimal: no chunk can be left out, and no byte can be set to 0 or halved.
///
/// ```
/// use pumice_testing::random::shrink;
/// let shrunk = shrink(&[9, 200, 3, 77, 5], 1000, |bytes| bytes.iter().any(|byte| *byte >= 50));
/// assert!(matches!(shrunk[..], [50..100]));
/// ```
pub fn shrink(bytes: &[u8], tries: usize, mut fails: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    let mut best = bytes.to_vec();
    let mut left = tries;
    let mut attempt = |best: &mut Vec<u8>, candidate: Vec<u8>| {
        let is_simpler = candidate != *best && left > 0 && {
            left -= 1;
            fails(&candidate)
        };
        if is_simpler {
            *best = candidate;
        }
        (is_simpler, left > 0)
    };
    loop {
        let mut is_better = false;
        // From the end: later bytes depend on earlier ones, and not the other way round.
        let mut length = best.len().div_ceil(2);
        while length > 0 {
            let mut end = best.len();
            while end > 0 {
                let start = end.saturating_sub(length);
                let candidate = [&best[..start], &best[end..]].concat();
                let (simpler, goes_on) = attempt(&mut best, candidate);
                if !goes_on {
                    return best;
                }
                is_better |= simpler;
                end = start;
            }
            length /= 2;
        }
        for place in 0..best.len() {
            for smaller in [0, best[place] / 2] {
                let mut candidate = best.clone();
                candidate[place] = smaller;
                let (simpler, goes_on) = attempt(&mut best, candidate);
                if !goes_on {
                    return best;
                }
                is_better |= simpler;
            }
        }
        if !is_better {
            return best;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_matter_goes() {
        let bytes: Vec<u8> = (0..200).collect();
        let needs = |bytes: &[u8]| bytes.contains(&150) && bytes.contains(&20);
        assert_eq!(shrink(&bytes, 10_000, needs), [20, 150]);
        // Minimal in the sense that no byte can be left out.
        let sum = |bytes: &[u8]| bytes.iter().map(|byte| u32::from(*byte)).sum::<u32>() >= 300;
        let shrunk = shrink(&bytes, 10_000, sum);
        assert!(sum(&shrunk));
        assert!((0..shrunk.len()).all(|place| !sum(&[&shrunk[..place], &shrunk[place + 1..]].concat())));
    }

    #[test]
    fn no_more_is_tried_than_was_said() {
        let mut tries = 0;
        let bytes = shrink(&[1; 100], 17, |_| {
            tries += 1;
            false
        });
        assert_eq!((tries, bytes), (17, vec![1; 100]));
        assert!(shrink(&[], 5, |_| true).is_empty());
    }
}
