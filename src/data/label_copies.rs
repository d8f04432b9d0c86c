//! Items with several labels: one copy per label.

use std::{fmt::Display, ops::Range};

use super::{partition::check_item_count, with_rows};
use crate::{Error, Estimate, Features, Partition, Result, Subset};

/// Items with any number of labels each, as a ground set of copies.
///
/// There is one copy per item and label, in the part of that label. Parts are then disjoint, and quotas for labels
/// become quotas for parts.
///
/// ```text
/// Pr(C) = det(K_C) / Z_κ,   K_cd = a_i(c) · a_i(d),   |C ∩ P_l| = κ_l
/// ```
///
/// Here C is a set of copies, and i(c) is the item of copy c. A [`PartitionDpp`](crate::PartitionDpp), a
/// [`KDpp`](crate::KDpp) or a [`Dpp`](crate::Dpp) over the copies never contains an item twice, since equal rows make
/// the determinant zero. [`IndependentKDpps`](crate::IndependentKDpps) may contain an item once per label.
///
/// Copies are ordered by item, then by label. Parts are ordered by label. An item without labels has no copy.
///
/// # Shapes
/// m lists with c labels in total give c copies. Memory: 12 bytes per copy and 8 per item.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, Method, PartitionDpp, Quota, data::LabelCopies};
/// // Four images; the third shows the sky above a tree.
/// let images = Features::from_rows(4, 3, vec![1., 0., 0., 0., 1., 0., 1., 1., 1., 0., 0., 2.])?;
/// let copies = LabelCopies::from_labels(&[vec!["sky"], vec!["tree"], vec!["tree", "sky"], vec!["sun"]])?;
/// assert_eq!(copies.partition().names(), ["sky", "sun", "tree"]);
/// assert_eq!(copies.partition().items(), 5);
///
/// let features = copies.features(&images)?;
/// let quota = Quota::named(copies.partition(), [("sky", 1), ("tree", 1)])?;
/// let dpp = PartitionDpp::new(&features, copies.partition(), &quota)?;
/// let subset = &dpp.sampler(Method::Auto, &Engine::cpu())?.sample_many(1, 0).subsets()[0].clone();
/// assert_eq!(copies.items_of(subset).len(), 2);
/// assert_eq!(copies.repeats(subset), 0);
/// # Ok(()) }
/// ```
///
/// # Source
/// Kathuria and Deshpande (2016), § 4, second task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelCopies {
    partition: Partition,
    /// The item of each copy, ascending.
    item_of: Vec<u32>,
    /// The copies of item i are `offsets[i]..offsets[i + 1]`.
    offsets: Vec<usize>,
}

impl LabelCopies {
    /// One copy for each label of each item; parts have the order of the labels.
    ///
    /// # Cost
    /// O(m + c log c).
    ///
    /// # Errors
    /// - [`Error::Empty`] if no item has a label;
    /// - [`Error::RepeatedLabel`] if an item has the same label twice;
    /// - [`Error::TooManyItems`] above 2³²−1 items or copies.
    pub fn from_labels<L: Ord + Display, S: AsRef<[L]>>(labels: &[S]) -> Result<Self> {
        check_item_count(labels.len())?;
        let (mut of_copies, mut item_of) = (Vec::<&L>::new(), Vec::new());
        let mut offsets = Vec::with_capacity(labels.len() + 1);
        offsets.push(0);
        for (item, labels) in (0..).zip(labels) {
            let first = of_copies.len();
            of_copies.extend(labels.as_ref());
            of_copies[first..].sort_unstable();
            if let Some(pair) = of_copies[first..].windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(Error::RepeatedLabel { item: item as usize, label: pair[0].to_string() });
            }
            item_of.resize(of_copies.len(), item);
            offsets.push(of_copies.len());
        }
        Ok(Self { partition: Partition::from_labels(&of_copies)?, item_of, offsets })
    }

    /// The parts of the copies, one per label.
    #[must_use]
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// Number of items, m. The number of copies is the number of items of [`partition`](Self::partition).
    #[must_use]
    pub fn items(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The item of a copy.
    ///
    /// # Panics
    /// If there is no such copy.
    #[must_use]
    pub fn item_of(&self, copy: usize) -> usize {
        self.item_of[copy] as usize
    }

    /// The copies of an item.
    ///
    /// # Panics
    /// If there is no such item.
    #[must_use]
    pub fn copies_of(&self, item: usize) -> Range<usize> {
        self.offsets[item]..self.offsets[item + 1]
    }

    /// The rows of all copies, in the precision of the items' rows.
    ///
    /// # Shapes
    /// From m×n to c×n.
    ///
    /// # Cost
    /// One pass. Memory: c·n values, even if the rows of the items are shared or memory-mapped.
    ///
    /// # Errors
    /// [`Error::LabelCount`] if the features have another number of items.
    pub fn features(&self, features: &Features) -> Result<Features> {
        let (items, dims, copies) = (features.items(), features.dims(), self.item_of.len());
        if items != self.items() {
            return Err(Error::LabelCount { items, labels: self.items() });
        }
        let copied = with_rows!(features.values(), rows => {
            let row = |&item: &u32| rows.row(item as usize);
            Features::from_rows(copies, dims, self.item_of.iter().map(row).collect::<Vec<_>>().concat())
        });
        copied?.weighted_as(features, self.item_of.iter().map(|&item| item as usize))
    }

    /// The item of every chosen copy, ascending. An item appears once per chosen copy.
    ///
    /// # Panics
    /// If a copy of the subset does not exist.
    #[must_use]
    pub fn items_of(&self, subset: &Subset) -> Vec<usize> {
        subset.iter().map(|copy| self.item_of(copy)).collect()
    }

    /// The number of chosen copies whose item already appears in an earlier chosen copy.
    ///
    /// # Panics
    /// If a copy of the subset does not exist.
    #[must_use]
    pub fn repeats(&self, subset: &Subset) -> usize {
        self.items_of(subset).windows(2).filter(|pair| pair[0] == pair[1]).count()
    }

    /// Pr(i ∈ S) of every item: the sum over its copies, since at most one copy is chosen.
    ///
    /// [`IndependentKDpps`](crate::IndependentKDpps) is the exception, as it may choose several.
    ///
    /// # Panics
    /// If there are fewer probabilities than copies.
    #[must_use]
    pub fn inclusion_probabilities(&self, of_copies: &Estimate<Vec<f64>>) -> Estimate<Vec<f64>> {
        let of_item = |item| of_copies.value[self.copies_of(item)].iter().sum::<f64>().min(1.0);
        let most = (0..self.items()).map(|item| self.copies_of(item).len()).max().unwrap_or_default();
        let value = (0..self.items()).map(of_item).collect();
        Estimate { value, error: of_copies.error * most as f64 }
    }
}
