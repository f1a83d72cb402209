//! PageRank: how often a random walk visits each page. The walk follows any link of a page with equal chances, and sometimes begins anew
//! anywhere. From a page without links it begins anew in any case.
//!
//! Links are two arrays: the pages with a link to each page, one after the other, and where those of each page begin, with the end
//! of the last behind it.

use pumice::prelude::*;

/// Returns the ranks of all pages, whose sum is 1. `damping` is how often a link is followed. Rounds are made until ranks change by no
/// more than `tolerance`, all together, or `most` were made.
///
/// ```
/// use pumice_algorithms::whole::pagerank;
/// let ranks = pumice::Compiler::on("sim")?.compile(pagerank::ranks)?;
/// // Page 0 has a link to 1, and 1 has none.
/// let found = ranks.run((&[0, 0, 1], &[0], 0.5, 1e-9, 100))?.to_vec()?;
/// assert!((found[0] - 0.4).abs() < 1e-8 && (found[1] - 0.6).abs() < 1e-8);
/// # Ok::<(), pumice::Error>(())
/// ```
pub fn ranks(
    offsets: Acc<Vector<i64>>,
    sources: Acc<Vector<i64>>,
    damping: Exp<f64>,
    tolerance: Exp<f64>,
    most: Exp<i64>,
) -> Acc<Vector<f64>> {
    let pages = offsets.size() - 1;
    let links = sources.clone().histogram(pages, |source| source);
    let equal = 1.0 / pages.cast::<f64>();
    let (ranks, _, _) = awhile(
        (fill(pages, equal), unit(f64::INFINITY), unit(0)),
        |(_, change, round)| change.zip_with(round, |change, round| change.gt(tolerance) & round.lt(most)),
        |(ranks, _, round)| {
            let lost = sum![rank | rank <- ranks | links <- links, links == 0];
            let shares = comp![rank / (links as f64) | rank <- ranks | links <- links];
            let followed = comp![
                sum![shares[source] | source <- sources[start..end]] | start <- offsets | end <- offsets[1..]
            ];
            let next = comp![
                damping * (followed + equal * lost.the()) + (1.0 - damping) * equal | followed <- followed
            ];
            let change = sum![(new - old).abs() | new <- next | old <- ranks];
            (next, change, round.map(|round| round + 1))
        },
    );
    ranks
}

/// Links that are made by plain Rust, and the same in it.
pub mod plain {
    use crate::irregular::Numbers;

    /// Links on the host.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Links {
        /// Start of the links to each page, and the end of those to the last page.
        pub offsets: Vec<i64>,
        /// The pages that they come from.
        pub sources: Vec<i64>,
    }

    impl Links {
        /// About so many links, of which most go to few pages. Every eighth page has none to others.
        pub fn random(pages: usize, links: usize, seed: u64) -> Links {
            let mut numbers = Numbers::new(seed);
            let mut to_pages = vec![Vec::new(); pages];
            for _ in 0..if pages == 0 { 0 } else { links } {
                let (source, below) = (numbers.below(pages), 1 + numbers.below(pages));
                if source % 8 > 0 {
                    to_pages[numbers.below(below)].push(source as i64);
                }
            }
            let mut all = Links { offsets: vec![0], sources: Vec::new() };
            for sources in to_pages {
                all.sources.extend(sources);
                all.offsets.push(all.sources.len() as i64);
            }
            all
        }

        /// The number of pages.
        pub fn pages(&self) -> usize {
            self.offsets.len() - 1
        }

        /// Counts the links from each page.
        pub fn from_pages(&self) -> Vec<u32> {
            let mut counts = vec![0; self.pages()];
            self.sources.iter().for_each(|source| counts[*source as usize] += 1);
            counts
        }

        /// The ranks, and the number of rounds.
        pub fn ranks(&self, damping: f64, tolerance: f64, most: i64) -> (Vec<f64>, i64) {
            let (counts, equal) = (self.from_pages(), 1.0 / self.pages() as f64);
            let mut ranks = vec![equal; self.pages()];
            for round in 0..most {
                let lost: f64 =
                    ranks.iter().zip(&counts).filter(|(_, count)| **count == 0).map(|(rank, _)| rank).sum();
                let rank = |range: &[i64]| {
                    let sources = &self.sources[range[0] as usize..range[1] as usize];
                    let share = |source: &i64| ranks[*source as usize] / f64::from(counts[*source as usize]);
                    let followed: f64 = sources.iter().map(share).sum();
                    damping * (followed + equal * lost) + (1.0 - damping) * equal
                };
                let next: Vec<f64> = self.offsets.windows(2).map(rank).collect();
                let change: f64 = next.iter().zip(&ranks).map(|(new, old)| (new - old).abs()).sum();
                ranks = next;
                if change <= tolerance {
                    return (ranks, round + 1);
                }
            }
            (ranks, most)
        }
    }
}
