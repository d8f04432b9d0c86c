//! Walker's alias table, with look-ups that can be announced ahead.

use prefetch_index::prefetch_index;

/// Indices in proportion to weights, in O(1) each.
///
/// A ready-made table draws an index in one go, and waits for memory each time. Here the random
/// word comes first, its entry is prefetched, and looked up later.
///
/// # Source
/// Walker, *An efficient method for generating discrete random variables with general
/// distributions* (1977); Vose (1991) for the construction.
#[derive(Clone, Debug)]
pub(crate) struct AliasTable<T> {
    entries: Vec<Entry<T>>,
}

#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    /// Probability of keeping the index, not taking its alias.
    keep: f64,
    alias: u32,
    /// What belongs to the index, on the same cache line.
    payload: T,
}

impl<T: Copy> AliasTable<T> {
    /// A table for finite non-negative weights with a positive sum, at most 2³²−1 of them.
    pub(crate) fn new(weights: &[f32], payloads: impl Iterator<Item = T>) -> Self {
        let total: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
        let scale = weights.len() as f64 / total;
        let entry = |((alias, &weight), payload)| Entry { keep: f64::from(weight) * scale, alias, payload };
        let mut entries: Vec<Entry<T>> = (0..).zip(weights).zip(payloads).map(entry).collect();
        // Entries below average are filled from entries above, until none of one kind is left;
        // what rounding leaves keeps itself.
        let (mut small, mut large): (Vec<u32>, Vec<u32>) =
            (0..).take(entries.len()).partition(|&index| entries[index as usize].keep < 1.0);
        while let (Some(&receiver), Some(&donor)) = (small.last(), large.last()) {
            small.pop();
            entries[receiver as usize].alias = donor;
            entries[donor as usize].keep -= 1.0 - entries[receiver as usize].keep;
            if entries[donor as usize].keep < 1.0 {
                large.pop();
                small.push(donor);
            }
        }
        for rest in small.into_iter().chain(large) {
            entries[rest as usize].keep = 1.0;
        }
        Self { entries }
    }

    /// Asks for the entry that a random word stands for.
    #[inline]
    pub(super) fn prefetch(&self, word: u64) {
        prefetch_index(&self.entries, self.split(word).0);
    }

    /// The index that a random word stands for.
    ///
    /// The high half of word × length picks an entry, the low half decides about its alias: exact
    /// up to length / 2⁶⁴.
    #[inline]
    pub(crate) fn look_up(&self, word: u64) -> u32 {
        let (index, fraction) = self.split(word);
        let entry = self.entries[index];
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let index = index as u32;
        // A mask, not a branch: half of all branches would be mispredicted.
        let keep = u32::from(fraction < entry.keep).wrapping_neg();
        (index & keep) | (entry.alias & !keep)
    }

    /// Entry, and place within it in [0, 1).
    #[expect(clippy::cast_possible_truncation, reason = "halves of a 128-bit product")]
    fn split(&self, word: u64) -> (usize, f64) {
        const UNIT: f64 = 1.0 / 18_446_744_073_709_551_616.0;
        let product = u128::from(word) * self.entries.len() as u128;
        ((product >> 64) as usize, (product as u64) as f64 * UNIT)
    }

    /// Asks for what belongs to an index.
    #[inline]
    pub(super) fn prefetch_payload(&self, index: u32) {
        prefetch_index(&self.entries, index as usize);
    }

    /// What belongs to an index.
    #[inline]
    pub(crate) fn payload(&self, index: u32) -> T {
        self.entries[index as usize].payload
    }

    /// Number of indices.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    #[cfg(test)]
    fn probabilities(&self) -> Vec<f64> {
        let share = 1.0 / self.entries.len() as f64;
        let mut out = vec![0.0; self.entries.len()];
        for (index, entry) in self.entries.iter().enumerate() {
            let keep = entry.keep.min(1.0);
            out[index] += share * keep;
            out[entry.alias as usize] += share * (1.0 - keep);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn implies_the_weights_exactly() {
        let many: Vec<f32> = (0..1000_u16).map(|i| f32::from(i * 7919 % 1000).powi(3)).collect();
        let mut lumpy = vec![1e-30_f32; 500];
        lumpy[3] = 1.0;
        lumpy[499] = 0.25;
        for weights in [
            vec![1.0],
            vec![0.0, 1.0],
            vec![1.0, 0.0, 0.0],
            vec![3.0, 1.0, 2.0, 2.0],
            many,
            lumpy,
            vec![0.1; 77],
        ] {
            let total: f64 = weights.iter().map(|&weight| f64::from(weight)).sum();
            let table = AliasTable::new(&weights, 0..weights.len());
            for (found, &weight) in table.probabilities().iter().zip(&weights) {
                assert!((found - f64::from(weight) / total).abs() < 1e-14, "{found} {weight} {total}");
            }
            // A weight of zero is never drawn, at either end of an entry's range.
            for word in (0..4096_u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).chain([u64::MAX]) {
                assert!(weights[table.look_up(word) as usize] > 0.0);
            }
        }
    }
}
