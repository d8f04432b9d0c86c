//! Walker's alias table in integers, with prefetched look-ups.

use prefetch_index::prefetch_index;

use crate::linalg::power_of_two_near;

/// The relative margin above weights, for rounding in computations with them.
const HEADROOM: f64 = 1e-9;
/// About the number of shares of an average weight.
const SHARES: f64 = (1_u64 << 30) as f64;

/// Draws items in proportion to weights, in O(1) each; 16 bytes per item.
///
/// Weights are rounded up to multiples of a share, about 2⁻³⁰ of their mean, and every entry holds equally many shares.
/// The table is exact: items are drawn in proportion to the weights that [`weight`](AliasTable::weight) returns, up to
/// the 2⁻⁶⁴ of a random word. Shares that are left over belong to a null entry; a draw of it is repeated.
///
/// Drawing the random word, prefetching its entry and looking it up are separate steps, so that draws need not wait for
/// memory.
///
/// # Source
/// Walker, *An efficient method for generating discrete random variables with general distributions* (1977);
/// Hübschle-Schneider and Sanders, *Parallel weighted random sampling* (2022), for the construction in one sweep.
#[derive(Clone, Debug)]
pub(crate) struct AliasTable {
    /// One entry per item, and a null entry, which is always rejected.
    entries: Vec<Entry>,
    /// Shares of an entry.
    capacity: u64,
    /// Weight of a share, a power of two.
    share: f64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Shares of the entry that belong to its own item; the others belong to its alias.
    own: u32,
    alias: u32,
    weight: f32,
    item: u32,
}

impl AliasTable {
    /// A table for `len` items, at most 2³²−1, with finite non-negative weights of a positive sum.
    pub(crate) fn new(len: usize, weights: impl Iterator<Item = (u32, f64)>) -> Self {
        let entry = |(item, weight)| Entry { own: 0, alias: 0, weight: round_up(weight), item };
        let mut entries: Vec<Entry> = Vec::with_capacity(len + 1);
        entries.extend(weights.map(entry));
        let total: f64 = entries.iter().map(|entry| f64::from(entry.weight)).sum();
        let share =
            power_of_two_near(total / (SHARES * entries.len() as f64)).max(f64::from(f32::MIN_POSITIVE));
        let mut shares = 0;
        for entry in &mut entries {
            let own = (f64::from(entry.weight) / share).ceil();
            // Exact: from 2²⁴ shares on it is the weight itself, and below it has at most the digits of an f32.
            #[expect(clippy::cast_possible_truncation, reason = "exact")]
            let weight = (own * share) as f32;
            entry.weight = weight;
            shares += shares_of(weight, share);
        }
        entries.push(Entry { own: 0, alias: 0, weight: f32::INFINITY, item: 0 });
        let capacity = shares.div_ceil(entries.len() as u64);
        let mut table = Self { entries, capacity, share };
        table.fill(table.capacity * table.entries.len() as u64 - shares);
        table
    }

    /// Fills entries from left to right. Shares missing from an entry come from the current entry that overflows.
    fn fill(&mut self, null: u64) {
        let (capacity, share, last) = (self.capacity, self.share, self.entries.len() - 1);
        let shares = |table: &Self, at: usize| {
            if at == last { null } else { shares_of(table.entries[at].weight, share) }
        };
        let next = |table: &Self, from: usize, fits: bool| {
            (from..=last).find(|&at| (shares(table, at) <= capacity) == fits)
        };
        let (mut light, mut heavy) = (next(self, 0, true), next(self, 0, false));
        let mut left = heavy.map_or(0, |heavy| shares(self, heavy));
        while let Some(donor) = heavy {
            if left > capacity {
                // One entry overflows, so another is not full.
                let Some(receiver) = light else { unreachable!("entries hold all shares") };
                let own = shares(self, receiver);
                self.set(receiver, own, donor);
                left -= capacity - own;
                light = next(self, receiver + 1, true);
            } else {
                heavy = next(self, donor + 1, false);
                match heavy {
                    Some(other) => {
                        self.set(donor, left, other);
                        left = shares(self, other) - (capacity - left);
                    }
                    None => self.set(donor, left, donor),
                }
            }
        }
        // The remaining entries are full.
        while let Some(full) = light {
            self.set(full, capacity, full);
            light = next(self, full + 1, true);
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "an entry holds about 2³⁰ shares, items are counted in 32 bits"
    )]
    fn set(&mut self, at: usize, own: u64, alias: usize) {
        (self.entries[at].own, self.entries[at].alias) = (own as u32, alias as u32);
    }

    /// Prefetches the entry of a random word.
    #[inline]
    pub(crate) fn prefetch(&self, word: u64) {
        prefetch_index(&self.entries, self.split(word).0);
    }

    /// The position drawn by a random word.
    ///
    /// The high half of word × length picks an entry, the low half chooses between the entry and its alias: exact up to
    /// length / 2⁶⁴.
    #[inline]
    pub(crate) fn look_up(&self, word: u64) -> u32 {
        let (index, share) = self.split(word);
        let entry = self.entries[index];
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let index = index as u32;
        // A mask, not a branch: half of all branches would be mispredicted.
        let keep = u32::from(share < u64::from(entry.own)).wrapping_neg();
        (index & keep) | (entry.alias & !keep)
    }

    /// The entry of a random word, and which of its shares.
    #[expect(clippy::cast_possible_truncation, reason = "halves of 128-bit products")]
    fn split(&self, word: u64) -> (usize, u64) {
        let product = u128::from(word) * self.entries.len() as u128;
        let share = (u128::from(product as u64) * u128::from(self.capacity)) >> 64;
        ((product >> 64) as usize, share as u64)
    }

    /// Shares of its own and the alias of every entry, the null entry last, and the shares of an entry.
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

    /// The item at a position; any item for the null entry.
    #[inline]
    pub(crate) fn item(&self, position: u32) -> u32 {
        self.entries[position as usize].item
    }

    /// The weight in proportion to which the item at a position is drawn, rounded up; infinite for the null entry.
    #[inline]
    pub(crate) fn weight(&self, position: u32) -> f32 {
        self.entries[position as usize].weight
    }

    /// Number of items.
    pub(crate) fn len(&self) -> usize {
        self.entries.len() - 1
    }

    /// Whether a position is the null entry's.
    pub(crate) fn is_null(&self, position: u32) -> bool {
        position as usize == self.len()
    }

    /// Shares of every position, exactly.
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

/// An f32 at or above x (0 for 0), with some margin.
fn round_up(x: f64) -> f32 {
    let x = x * (1.0 + HEADROOM);
    #[expect(clippy::cast_possible_truncation, reason = "rounded up below")]
    let near = x as f32;
    if f64::from(near) < x { near.next_up() } else { near }
}

/// A multiple of the share as a number of shares.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number below 2⁶³")]
fn shares_of(weight: f32, share: f64) -> u64 {
    (f64::from(weight) / share) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let table = AliasTable::new(weights.len(), (0..).zip(weights.iter().copied()));
            let shares = table.shares();
            for ((position, &weight), &shares) in (0..).zip(&weights).zip(&shares) {
                let stored = f64::from(table.weight(position));
                assert!(
                    stored >= weight && stored <= weight * (1.0 + 2e-7) + table.share,
                    "{stored} {weight}"
                );
                assert_eq!((shares as f64 * table.share).to_bits(), stored.to_bits());
                assert_eq!(table.item(position), position);
            }
            // The null entry has less than one share, of a mean share of 2⁻²⁹ at most.
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
