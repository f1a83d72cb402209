//! The failure record, by which a run reports its first failure. All code that allocates, clears or reads a record uses this file.
//!
//! A record is [`FAILURE_WORDS`] words of `i64`, zero before the first launch: the code of the first failure, its index and
//! its bound. A code is a site's number plus one, plus what the launch added to its sites ([`Failure::base`]), so that all
//! launches of a run share one record and one list of sites.
//!
//! [`Failure::base`]: crate::Failure::base

use pumice_scalar::{PlacedMessage, Site};

/// Words of a failure record.
pub const FAILURE_WORDS: usize = 3;

/// Bytes of a failure record.
pub const FAILURE_BYTES: usize = 8 * FAILURE_WORDS;

/// A failure that a record tells.
///
/// ```
/// use pumice::layers::program::{FAILURE_BYTES, FailureRecord};
/// assert_eq!(FailureRecord::read(&[0; FAILURE_BYTES]), None);
/// let bytes = [3i64, 10, 4].map(i64::to_le_bytes);
/// let failure = FailureRecord::read(bytes.as_flattened()).expect("a failure");
/// assert_eq!((failure.site(), failure.index, failure.bound), (Some(2), 10, 4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureRecord {
    /// The code, which is not 0.
    pub code: i64,
    /// The index that was refused, or another number that belongs to the site.
    pub index: i64,
    /// The bound that it was compared with.
    pub bound: i64,
}

impl FailureRecord {
    /// Reads a record, and returns nothing if no check failed.
    pub fn read(bytes: &[u8]) -> Option<FailureRecord> {
        let mut words = bytes.as_chunks::<8>().0.iter().map(|word| i64::from_le_bytes(*word));
        let mut word = || words.next().unwrap_or(0);
        let (code, index, bound) = (word(), word(), word());
        (code != 0).then_some(FailureRecord { code, index, bound })
    }

    /// Returns the number of the site in the run's list; nothing if no site can have this code.
    pub fn site(&self) -> Option<usize> {
        usize::try_from(self.code.checked_sub(1)?).ok()
    }

    /// Returns what the user is told, given the run's sites; nothing if none of them has this code.
    pub fn message(&self, sites: &[Site]) -> Option<PlacedMessage> {
        Some(sites.get(self.site()?)?.message(self.index, self.bound))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_that_no_site_has_are_failures_without_a_site() {
        for (code, site) in [(i64::MIN, None), (-1, None), (1, Some(0)), (7, Some(6))] {
            let bytes = [code, 0, 0].map(i64::to_le_bytes);
            let failure = FailureRecord::read(bytes.as_flattened()).unwrap_or_else(|| panic!("{code}"));
            assert_eq!(failure.site(), site);
            assert_eq!(failure.message(&[]), None);
        }
    }

    #[test]
    fn a_record_that_is_cut_off_tells_what_is_there() {
        assert_eq!(FailureRecord::read(&[]), None);
        let failure = FailureRecord::read(&5i64.to_le_bytes());
        assert_eq!(failure, Some(FailureRecord { code: 5, index: 0, bound: 0 }));
    }
}
