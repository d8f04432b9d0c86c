//! Walker's alias table in integers, with prefetched look-ups.

use prefetch_index::prefetch_index;

use super::sweep::Sweep;
use crate::{
    linalg::power_of_two_near,
    parallel::{map_in_tasks, map_ordered_mut, sum_in_blocks},
};

/// The relative margin above weights, for rounding in computations with them.
const HEADROOM: f64 = 1e-9;
/// Approximate number of shares of an average weight.
const SHARES: f64 = (1_u64 << 30) as f64;

/// Binary logarithm of the number of entries that a thread fills at a time.
const LOG_BLOCK: u32 = 16;

/// A table that draws items in proportion to weights, in O(1) per draw; 16 bytes per item.
///
/// Weights are rounded up to multiples of a share, about 2⁻³⁰ of their mean, and every entry holds the same number of
/// shares. The table is exact: items are drawn in proportion to the weights that [`weight`](AliasTable::weight)
/// returns, up to the 2⁻⁶⁴ of a random word. Left-over shares belong to a null entry; a draw of it is repeated.
///
/// Drawing the random word, prefetching its entry and looking it up are separate steps, so that draws need not wait
/// for memory.
///
/// # Source
/// Walker, *An efficient method for generating discrete random variables with general distributions* (1977).
#[derive(Clone, Debug)]
pub(crate) struct AliasTable {
    /// One entry per item, and a null entry, which is always rejected.
    entries: Vec<Entry>,
    /// Number of shares per entry.
    capacity: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Number of shares that belong to the entry's own item; the others belong to its alias.
    pub(super) own: u32,
    pub(super) alias: u32,
    weight: f32,
    item: u32,
}

impl Entry {
    /// Number of shares of the weight, rounded up.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2⁶³")]
    fn shares(&self, share: f64) -> u64 {
        (f64::from(self.weight) / share).ceil() as u64
    }
}

impl AliasTable {
    /// Creates a table of `len` items, at most 2³²−1. `item` returns the item at a position and its weight, which is
    /// finite and not negative. The sum of the weights is positive.
    pub(crate) fn new(len: usize, item: impl Fn(usize) -> (u32, f64) + Sync + Send) -> Self {
        Self::in_blocks(len, item, LOG_BLOCK)
    }

    fn in_blocks(len: usize, item: impl Fn(usize) -> (u32, f64) + Sync + Send, log_block: u32) -> Self {
        let mut entries = map_in_tasks(len + 1, |at| {
            let (item, weight) = if at < len { item(at) } else { (0, 0.0) };
            Entry { own: 0, alias: 0, weight: round_up(weight), item }
        });
        let total = sum_in_blocks(entries.len(), |at| f64::from(entries[at].weight));
        let share = power_of_two_near(total / (SHARES * len as f64)).max(f64::from(f32::MIN_POSITIVE));
        let mut own = map_in_tasks(entries.len(), |at| entries[at].shares(share));
        let shares = sum_in_blocks(own.len(), |at| own[at]);
        let capacity = shares.div_ceil(own.len() as u64);
        own[len] = capacity * own.len() as u64 - shares;
        let sweep = Sweep::new(&own, capacity, log_block);
        let blocks = entries.chunks_mut(1 << log_block).zip(own.chunks(1 << log_block));
        map_ordered_mut(blocks.collect(), |block, (entries, own)| {
            sweep.fill(block, entries);
            for (entry, own) in entries.iter_mut().zip(own) {
                // Exact: from 2²⁴ shares on, this is the weight itself; below, it has at most the 24 bits of an f32.
                #[expect(clippy::cast_possible_truncation, reason = "exact")]
                let weight = (*own as f64 * share) as f32;
                entry.weight = weight;
            }
        });
        entries[len].weight = f32::INFINITY;
        Self { entries, capacity }
    }

    /// Prefetches the entry of a random word.
    #[inline]
    pub(crate) fn prefetch(&self, word: u64) {
        prefetch_index(&self.entries, self.split(word).0);
    }

    /// Returns the position drawn by a random word.
    ///
    /// The high half of word × length picks an entry, and the low half chooses between the entry and its alias. This
    /// is exact up to length / 2⁶⁴.
    #[inline]
    pub(crate) fn look_up(&self, word: u64) -> u32 {
        let (index, share) = self.split(word);
        let entry = self.entries[index];
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let index = index as u32;
        // A mask instead of a branch: half of all branches would be mispredicted.
        let keep = u32::from(share < u64::from(entry.own)).wrapping_neg();
        (index & keep) | (entry.alias & !keep)
    }

    /// Returns the entry of a random word, and the share within it.
    #[expect(clippy::cast_possible_truncation, reason = "halves of 128-bit products")]
    fn split(&self, word: u64) -> (usize, u64) {
        let product = u128::from(word) * self.entries.len() as u128;
        let share = (u128::from(product as u64) * u128::from(self.capacity)) >> 64;
        ((product >> 64) as usize, share as u64)
    }

    /// Returns the own shares and the alias of every entry, with the null entry last, and the number of shares per
    /// entry.
    pub(crate) fn entries(&self) -> (Vec<u32>, u32) {
        let pairs = self.entries.iter().flat_map(|entry| [entry.own, entry.alias]).collect();
        #[expect(clippy::cast_possible_truncation, reason = "an entry holds about 2³⁰ shares")]
        let capacity = self.capacity as u32;
        (pairs, capacity)
    }

    /// Prefetches the item at a position.
    #[inline]
    pub(crate) fn prefetch_item(&self, position: u32) {
        prefetch_index(&self.entries, position as usize);
    }

    /// Returns the item at a position; any item for the null entry.
    #[inline]
    pub(crate) fn item(&self, position: u32) -> u32 {
        self.entries[position as usize].item
    }

    /// Returns the rounded-up weight with which the item at a position is drawn; infinite for the null entry.
    #[inline]
    pub(crate) fn weight(&self, position: u32) -> f32 {
        self.entries[position as usize].weight
    }

    /// Number of items.
    pub(crate) fn len(&self) -> usize {
        self.entries.len() - 1
    }

    /// Whether a position is the null entry.
    pub(crate) fn is_null(&self, position: u32) -> bool {
        position as usize == self.len()
    }

    /// Returns the exact total shares of every position.
    #[cfg(test)]
    fn shares(&self) -> Vec<u64> {
        let mut out = vec![0; self.entries.len()];
        for (index, entry) in self.entries.iter().enumerate() {
            assert!(u64::from(entry.own) <= self.capacity);
            out[index] += u64::from(entry.own);
            out[entry.alias as usize] += self.capacity - u64::from(entry.own);
        }
        out
    }
}

/// Returns an f32 at or above x (0 for 0), with some margin.
fn round_up(x: f64) -> f32 {
    let x = x * (1.0 + HEADROOM);
    #[expect(clippy::cast_possible_truncation, reason = "rounded up below")]
    let near = x as f32;
    if f64::from(near) < x { near.next_up() } else { near }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(weights: &[f64], log_block: u32) -> AliasTable {
        AliasTable::in_blocks(weights.len(), |at| (u32::try_from(at).unwrap(), weights[at]), log_block)
    }

    /// Fills the table by the sweep as in its source, one donor after another.
    fn swept(shares: &[u64], capacity: u64) -> Vec<[u64; 2]> {
        let mut filled = vec![[0; 2]; shares.len()];
        let next = |from: usize, is_light: bool| {
            (from..shares.len()).find(|&at| (shares[at] <= capacity) == is_light)
        };
        let (mut light, mut heavy) = (next(0, true), next(0, false));
        let mut left = heavy.map_or(0, |heavy| shares[heavy]);
        while let Some(donor) = heavy {
            if left > capacity {
                let receiver = light.unwrap();
                filled[receiver] = [shares[receiver], donor as u64];
                left -= capacity - shares[receiver];
                light = next(receiver + 1, true);
            } else {
                heavy = next(donor + 1, false);
                filled[donor] = [left, heavy.unwrap_or(donor) as u64];
                left = heavy.map_or(0, |other| shares[other] + left - capacity);
            }
        }
        while let Some(full) = light {
            filled[full] = [capacity, full as u64];
            light = next(full + 1, true);
        }
        filled
    }

    #[test]
    fn blocks_of_any_size_are_filled_as_in_one_sweep() {
        let mut state = 1_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for len in (1..60).chain([200, 1000]) {
            for kind in 0..4 {
                let weights: Vec<f64> = (0..len)
                    .map(|at| match kind {
                        0 => 1.0 + random(3) as f64,
                        1 => (random(1000) as f64).powi(4) + f64::from(u8::from(at == 0)),
                        2 => f64::from(u8::from(at % 17 == 0)) + 1e-9,
                        _ => f64::from(u8::from(at % 17 != 0)) + 1e-3,
                    })
                    .collect();
                let one = table(&weights, LOG_BLOCK);
                let own: Vec<u64> = one.shares();
                let expected = swept(&own, one.capacity);
                for log_block in [0, 1, 2, 5] {
                    let table = table(&weights, log_block);
                    let filled = table.entries.iter().map(|entry| [entry.own.into(), entry.alias.into()]);
                    assert_eq!(filled.collect::<Vec<[u64; 2]>>(), expected, "{len} {kind} {log_block}");
                }
            }
        }
    }

    #[test]
    fn draws_in_proportion_to_its_weights_exactly() {
        let many: Vec<f64> = (0..1000_u16).map(|i| f64::from(i * 7919 % 1000).powi(3)).collect();
        let mut lumpy = vec![1e-30; 500];
        lumpy[3] = 1.0;
        lumpy[499] = 0.25;
        for weights in [
            vec![1.0],
            vec![0.0, 1.0],
            vec![1.0, 0.0, 0.0],
            vec![3.0, 1.0, 2.0, 2.0],
            vec![1e-30; 3],
            many,
            lumpy,
            vec![0.1; 77],
        ] {
            let table = table(&weights, LOG_BLOCK);
            let shares = table.shares();
            let (position, &some) = (0..).zip(&shares).max_by_key(|(_, shares)| **shares).unwrap();
            let share = f64::from(table.weight(position)) / some as f64;
            for ((position, &weight), &shares) in (0..).zip(&weights).zip(&shares) {
                let stored = f64::from(table.weight(position));
                assert!(stored >= weight && stored <= weight * (1.0 + 2e-7) + share, "{stored} {weight}");
                assert_eq!((shares as f64 * share).to_bits(), stored.to_bits());
                assert_eq!(table.item(position), position);
            }
            // The null entry has less than one share per entry, and a share is at most 2⁻²⁹ of the mean weight.
            assert!((shares[weights.len()] as f64) < 1e-8 * shares.iter().sum::<u64>() as f64 + 3.0);
            assert!(table.is_null(table.len().try_into().unwrap()));
            // A weight of zero is never drawn, at either end of an entry's range.
            for word in (0..4096_u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).chain([u64::MAX]) {
                assert!(table.weight(table.look_up(word)) > 0.0);
            }
        }
    }

    #[test]
    fn rounds_up() {
        for x in [0.0, 1e-60, 1e-45, 1e-40, 0.1, 0.5, 1.0, 1.0 / 3.0] {
            let rounded = f64::from(round_up(x));
            assert!(rounded >= x && rounded <= x * (1.0 + 2e-7) + 1e-44, "{x} {rounded}");
        }
    }
}
