//! Quotas computed from the sizes of the parts.

use super::{Partition, Quota};
use crate::{Error, Result};

impl Quota {
    /// k items shared equally among the parts: k/p from each, or all items of a part smaller than its share.
    ///
    /// The items that smaller parts lack are shared among the other parts. Shares are rounded by the method of
    /// largest remainders; ties go to the first part.
    ///
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Partition, Quota};
    /// let partition = Partition::from_labels(&["a", "a", "a", "a", "a", "a", "b", "c", "c", "c"])?;
    /// assert_eq!(Quota::equal(&partition, 6)?.exact_counts(), Some(&[3, 1, 2][..]));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// - [`Error::Nothing`] if k = 0;
    /// - [`Error::SizeAboveItems`] if k exceeds the number of items.
    pub fn equal(partition: &Partition, k: usize) -> Result<Self> {
        let counts = apportion(k, &vec![1; partition.parts()], &sizes(partition))?;
        Self::new(partition, counts)
    }

    /// k items shared among the parts in proportion to their sizes: k·m_l/m from part l.
    ///
    /// Shares are rounded up or down by the method of largest remainders (Hamilton); ties go to the first part.
    ///
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Partition, Quota};
    /// let partition = Partition::from_labels(&["a", "a", "a", "a", "a", "a", "b", "c", "c", "c"])?;
    /// assert_eq!(Quota::proportional(&partition, 5)?.exact_counts(), Some(&[3, 1, 1][..]));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Quota::equal`].
    pub fn proportional(partition: &Partition, k: usize) -> Result<Self> {
        let sizes = sizes(partition);
        Self::new(partition, apportion(k, &sizes, &sizes)?)
    }
}

fn sizes(partition: &Partition) -> Vec<usize> {
    (0..partition.parts()).map(|part| partition.size(part)).collect()
}

/// Shares of k in proportion to the weights; no share exceeds the size of its part.
fn apportion(k: usize, weights: &[usize], sizes: &[usize]) -> Result<Vec<usize>> {
    let items = sizes.iter().sum();
    if k > items {
        return Err(Error::SizeAboveItems { k, items });
    }
    let mut counts = vec![0; sizes.len()];
    let mut open: Vec<usize> = (0..sizes.len()).filter(|&part| sizes[part] > 0).collect();
    let mut left = k;
    loop {
        let total: u128 = open.iter().map(|&part| weights[part] as u128).sum();
        // Whether the share k·w/W exceeds the size.
        let is_full = |&part: &usize| left as u128 * weights[part] as u128 > sizes[part] as u128 * total;
        let (full, rest): (Vec<usize>, Vec<usize>) = open.iter().partition(|part| is_full(part));
        if full.is_empty() {
            round(left, total, &open, weights, &mut counts);
            return Ok(counts);
        }
        for part in full {
            counts[part] = sizes[part];
            left -= sizes[part];
        }
        open = rest;
    }
}

/// Rounds down the shares of these parts, except those with the largest remainders, which it rounds up.
fn round(k: usize, total: u128, parts: &[usize], weights: &[usize], counts: &mut [usize]) {
    let share = |part: usize| k as u128 * weights[part] as u128;
    let mut given = 0;
    for &part in parts {
        // No share exceeds the size of its part.
        counts[part] = usize::try_from(share(part) / total).unwrap_or(usize::MAX);
        given += counts[part];
    }
    let mut by_remainder = parts.to_vec();
    // The sort is stable, so ties go to the first part.
    by_remainder.sort_by_key(|&part| std::cmp::Reverse(share(part) % total));
    by_remainder.iter().take(k - given).for_each(|&part| counts[part] += 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_fit() {
        for (k, weights, sizes, expected) in [
            (10, vec![1, 1, 1], vec![9, 9, 9], vec![4, 3, 3]),
            (10, vec![1, 1, 1], vec![1, 9, 9], vec![1, 5, 4]),
            (10, vec![1, 1, 1], vec![1, 2, 9], vec![1, 2, 7]),
            (12, vec![1, 1, 1], vec![1, 2, 9], vec![1, 2, 9]),
            (7, vec![50, 30, 20], vec![50, 30, 20], vec![4, 2, 1]),
            (2, vec![1, 1, 1], vec![9, 0, 9], vec![1, 0, 1]),
            (3, vec![5, 5, 5, 5], vec![5, 5, 5, 5], vec![1, 1, 1, 0]),
        ] {
            assert_eq!(apportion(k, &weights, &sizes).unwrap(), expected, "{k} of {sizes:?}");
        }
        assert!(matches!(apportion(4, &[1, 1], &[1, 2]), Err(Error::SizeAboveItems { k: 4, items: 3 })));
    }

    #[test]
    fn proportional_shares_are_rounded_down_or_up() {
        for k in 1..=60 {
            let sizes = [1, 2, 3, 5, 8, 13, 28];
            let counts = apportion(k, &sizes, &sizes).unwrap();
            assert_eq!(counts.iter().sum::<usize>(), k);
            for (count, size) in counts.iter().zip(sizes) {
                let down = k * size / 60;
                assert!(*count == down || *count == down + 1 && k * size % 60 > 0);
            }
        }
    }
}
