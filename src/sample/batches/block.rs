//! The draws of a block made so far.

use std::ops::{Range, RangeInclusive};

use super::Tally;
use crate::{
    Error, Result,
    engine::proposals::{Stream, Wave},
};

/// Proposals since the last accepted one after which a draw is given up, in units of the promised average. All of
/// them fail once in e⁶⁴ draws.
const PATIENCE: f64 = 64.0;
/// Room for this many more listed proposals than expected.
const ROOM: f64 = 64.0;
/// The largest factor by which the acceptance is taken to exceed its bound.
const LOOSE: f64 = 4.0;

/// A block of draws, made in order from its first proposal.
#[derive(Debug)]
pub(super) struct Block {
    stream: Stream,
    made: u64,
    /// Proposals since the last accepted one.
    rejected: u64,
    /// The number of draws already taken.
    taken: usize,
    /// The draws not yet taken: their items, and the number of proposals made for each.
    drawn: Vec<(Vec<u32>, u64)>,
}

impl Block {
    pub(super) fn new(stream: Stream) -> Self {
        Self { stream, made: 0, rejected: 0, taken: 0, drawn: Vec::new() }
    }

    /// Whether this block is of this stream and still has its draws from number `first` on.
    pub(super) fn has(&self, stream: Stream, first: usize) -> bool {
        self.stream == stream && self.taken <= first
    }

    pub(super) fn len(&self) -> usize {
        self.taken + self.drawn.len()
    }

    /// Takes the draws with these numbers, as far as they are made, and forgets all earlier ones.
    pub(super) fn take(&mut self, numbers: Range<usize>) -> Vec<(Vec<u32>, u64)> {
        let end = numbers.end.min(self.len()) - self.taken;
        let later = self.drawn.split_off(end);
        let mut taken = std::mem::replace(&mut self.drawn, later);
        taken.drain(..end.min(numbers.start - self.taken));
        self.taken += end;
        taken
    }

    /// The next wave on the way to `draws` draws, of a size within `sizes`. The size does not affect which draws are
    /// made.
    pub(super) fn wave(
        &self,
        draws: usize,
        acceptance_bound: f64,
        tally: Tally,
        sizes: RangeInclusive<u32>,
    ) -> Wave {
        let known = tally.acceptance();
        let share = known.unwrap_or(acceptance_bound);
        let listed =
            known.map_or(LOOSE * acceptance_bound, |share| share + tally.replayed as f64 / tally.made as f64);
        let wanted = (draws - self.len()) as f64;
        let left = f64::from(u32::MAX) - self.made as f64;
        let count = ((wanted + 2.0 * wanted.sqrt() + 2.0) / share)
            .clamp(f64::from(*sizes.start()), f64::from(*sizes.end()))
            .min(left);
        let expected = 1.25 * listed * count + ROOM;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2³²")]
        let wave = Wave {
            stream: self.stream,
            first: self.made as u32,
            count: count.ceil() as u32,
            expected: expected.ceil() as u32,
        };
        wave
    }

    /// Adds the next `made` proposals, and the accepted ones among them.
    pub(super) fn add(&mut self, made: u32, accepted: Vec<(u32, Vec<u32>)>) {
        let mut from = self.made - self.rejected;
        for (number, items) in accepted {
            let next = u64::from(number) + 1;
            self.drawn.push((items, next - from));
            from = next;
        }
        self.made += u64::from(made);
        self.rejected = self.made - from;
    }

    /// Fails if the current draw takes far longer than the acceptance explains.
    pub(super) fn check(&self, acceptance_bound: f64) -> Result<()> {
        let expected = acceptance_bound.recip();
        if self.rejected as f64 <= PATIENCE * expected && self.made < u64::from(u32::MAX) {
            return Ok(());
        }
        Err(Error::DrawGivenUp { proposals: self.rejected, expected })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: Stream = Stream { seed: 1, block: 2 };

    #[test]
    fn draws_are_accepted_proposals_in_order() {
        let mut block = Block::new(STREAM);
        block.add(10, vec![(2, vec![7]), (3, vec![8])]);
        block.add(5, Vec::new());
        block.add(5, vec![(19, vec![9])]);
        assert!(block.has(STREAM, 0) && !block.has(Stream { block: 3, ..STREAM }, 0));
        assert_eq!(block.take(1..2), [(vec![8], 1)]);
        assert!(block.len() == 3 && block.has(STREAM, 2) && !block.has(STREAM, 1));
        assert!(block.take(2..2).is_empty());
        assert_eq!(block.take(2..9), [(vec![9], 16)]);
        assert!(block.take(5..9).is_empty());
        let wave = block.wave(3 + 100, 0.5, Tally::default(), 1..=1000);
        assert_eq!((wave.first, wave.count), (20, 244));
        let known = Tally { made: 1000, accepted: 100, replayed: 100 };
        let wave = block.wave(3 + 100, 0.01, known, 64..=1 << 16);
        assert_eq!((wave.count, wave.expected), (1220, 369));
        assert_eq!(block.wave(1 << 14, 1e-4, Tally::default(), 1..=4096).count, 4096);
        assert_eq!(block.wave(3 + 1, 1.0, Tally::default(), 64..=4096).count, 64);
    }

    #[test]
    fn broken_promises_end() {
        let mut block = Block::new(STREAM);
        block.add(128, Vec::new());
        assert!(block.check(0.5).is_ok());
        block.add(1, Vec::new());
        let error = block.check(0.5).unwrap_err();
        assert!(matches!(error, Error::DrawGivenUp { proposals: 129, .. }), "{error:?}");
    }
}
