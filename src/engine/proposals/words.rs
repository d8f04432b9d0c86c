//! The use of a proposal's random words.
//!
//! The counter is (index, proposal, block), and the key is the seed. Indices from 0 on are the high words of coins,
//! four per index. Indices from [`LOW`] on are their low words, needed if the high word decides nothing. Indices from
//! [`TRIALS`] on are one trial each.

use super::random_words;

const LOW: u32 = 1 << 30;
pub(crate) const TRIALS: u32 = 1 << 31;
/// Number of trials per pick of a sequential draw, after which its whole table is read.
pub(crate) const NUMBERED_TRIALS: u32 = 1024;

/// The random numbers of a block of draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stream {
    pub(crate) seed: u64,
    pub(crate) block: u64,
}

/// A coin, uniform over [0, 1).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coin(pub(crate) f64);

/// A word that picks the item of a trial, and the number that is compared with its probability of acceptance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trial {
    pub(crate) word: u64,
    pub(crate) uniform: f64,
}

impl Stream {
    /// The key and the block as words, low first.
    pub(crate) fn words(self) -> ([u32; 2], [u32; 2]) {
        (halves(self.seed), halves(self.block))
    }

    fn at(self, proposal: u32, index: u32) -> [u32; 4] {
        let (key, [low, high]) = self.words();
        random_words([index, proposal, low, high], key)
    }

    /// The coin that decides on an eigenvector.
    pub(crate) fn coin(self, proposal: u32, number: u32) -> Coin {
        let word = |first: u32| self.at(proposal, first + number / 4)[number as usize % 4];
        Coin(unit(word(0), word(LOW)))
    }

    pub(crate) fn trial(self, proposal: u32, number: u32) -> Trial {
        let [a, b, c, d] = self.at(proposal, TRIALS + number);
        Trial { word: u64::from(a) << 32 | u64::from(b), uniform: unit(c, d) }
    }
}

/// Returns the number in [0, 1) with these leading 53 bits.
fn unit(high: u32, low: u32) -> f64 {
    ((u64::from(high) << 32 | u64::from(low)) >> 11) as f64 * (0.5 * f64::EPSILON)
}

#[expect(clippy::cast_possible_truncation, reason = "halves")]
fn halves(x: u64) -> [u32; 2] {
    [x as u32, (x >> 32) as u32]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniform_numbers_have_the_digits_of_both_words() {
        for (high, low, expected) in
            [(0, 0, 0.0), (1 << 31, 0, 0.5), (0, 1 << 11, 2_f64.powi(-53)), (0, (1 << 11) - 1, 0.0)]
        {
            assert_eq!(unit(high, low).to_bits(), expected.to_bits());
        }
        assert_eq!(unit(u32::MAX, u32::MAX).to_bits(), (1.0 - 0.5 * f64::EPSILON).to_bits());
    }

    #[test]
    fn nothing_is_decided_by_the_same_word_twice() {
        let stream = Stream { seed: 7 << 32 | 5, block: 3 };
        assert_eq!(stream.words(), ([5, 7], [3, 0]));
        let coins = (0..64).map(|j| stream.coin(9, j).0.to_bits());
        let trials = (0..64).flat_map(|t| {
            let Trial { word, uniform } = stream.trial(9, t);
            [word, uniform.to_bits()]
        });
        let mut all: Vec<u64> = coins.chain(trials).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
        assert_ne!(stream.trial(8, 0).word, stream.trial(9, 0).word);
        assert_ne!(Stream { block: 4, ..stream }.trial(9, 0).word, stream.trial(9, 0).word);
    }
}
