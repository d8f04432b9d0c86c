//! The rows that a verb works on.

use super::watched::Latch;
use crate::{
    Features, Partition,
    linalg::{self, kernels::dot},
    parallel::map_ordered,
};

/// Rows per task.
const CHUNK: usize = 1 << 14;

/// Rows of a feature matrix in groups, each with a scale.
#[derive(Clone, Debug)]
pub struct Rows<'a> {
    features: &'a Features,
    groups: Vec<Group<'a>>,
    /// The latch of a watch that can end passes over the rows.
    latch: Option<&'a Latch>,
}

/// A group of rows, read as s·a_i.
#[derive(Clone, Copy, Debug)]
pub struct Group<'a> {
    /// The rows.
    pub items: Items<'a>,
    /// s, a power of two.
    pub scale: f64,
}

/// The rows of a group.
#[derive(Clone, Copy, Debug)]
pub enum Items<'a> {
    /// All rows 0..m.
    All(usize),
    /// The rows listed, preferably in ascending order.
    Listed(&'a [u32]),
}

impl<'a> Items<'a> {
    /// Returns the items of a part; rows of the only part need no list.
    pub(crate) fn of_part(partition: &'a Partition, part: usize) -> Self {
        match partition.parts() {
            1 => Self::All(partition.items()),
            _ => Self::Listed(partition.members(part)),
        }
    }
}

impl Items<'_> {
    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Items::All(count) => *count,
            Items::Listed(items) => items.len(),
        }
    }

    /// Whether the group is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Iterates over the indices of the rows, in order.
    pub(crate) fn iter(self) -> impl Iterator<Item = usize> {
        (0..self.len()).map(move |position| self.at(position))
    }

    /// Number of rows with an index below `index`, in an ascending group.
    pub(crate) fn before(&self, index: usize) -> usize {
        match self {
            Items::All(count) => index.min(*count),
            Items::Listed(items) => items.partition_point(|&item| (item as usize) < index),
        }
    }

    /// Index of the row at a position of the group.
    #[must_use]
    #[inline]
    pub fn at(&self, position: usize) -> usize {
        match self {
            Items::All(_) => position,
            Items::Listed(items) => items[position] as usize,
        }
    }
}

impl<'a> Rows<'a> {
    /// Groups of rows, each scaled by a power of two that brings its entries near 1 (within 1e±100).
    ///
    /// Scaling a group multiplies determinants by an exact constant, which cancels under exact counts and is undone
    /// otherwise. It makes parts of any magnitude comparable, and squares neither over- nor underflow.
    #[must_use]
    pub fn scaled(features: &'a Features, items: Vec<Items<'a>>) -> Self {
        let scale = |items: Items<'_>| linalg::power_of_two_near(magnitude(features, items)).recip();
        let groups = items.into_iter().map(|items| Group { items, scale: scale(items) }).collect();
        Self { features, groups, latch: None }
    }

    /// Groups of rows with a common scale, for laws that compare magnitudes across groups.
    pub(crate) fn alike(features: &'a Features, items: Vec<Items<'a>>) -> Self {
        let largest = items.iter().map(|&items| magnitude(features, items)).fold(0.0, f64::max);
        let scale = linalg::power_of_two_near(largest).recip();
        let groups = items.into_iter().map(|items| Group { items, scale }).collect();
        Self { features, groups, latch: None }
    }

    /// Groups of rows that already have scales.
    pub(crate) fn with_scales(features: &'a Features, groups: Vec<Group<'a>>) -> Self {
        Self { features, groups, latch: None }
    }

    /// Returns the rows under a watch. A pass that the watch ends skips the remaining rows, and its result is
    /// meaningless.
    pub(super) fn under(&self, latch: &'a Latch) -> Self {
        Self { latch: Some(latch), ..self.clone() }
    }

    /// Whether the watch has ended the pass.
    pub(super) fn are_abandoned(&self) -> bool {
        self.latch.is_some_and(|latch| latch.ended().is_some())
    }

    /// Also scales each group by the power of two nearest e^(w/2).
    pub(crate) fn weighted(self, log_weights: &[f64]) -> Self {
        let weighted = |(group, weight): (Group<'a>, &f64)| {
            let power = (0.5 * weight * std::f64::consts::LOG2_E).round().exp2();
            Group { scale: group.scale * power, ..group }
        };
        Self { groups: self.groups.into_iter().zip(log_weights).map(weighted).collect(), ..self }
    }

    /// The scales s_l.
    pub(crate) fn scales(&self) -> Vec<f64> {
        self.groups.iter().map(|group| group.scale).collect()
    }

    /// Computes Σ ‖s a_i‖² for every group; the result does not depend on the number of threads.
    pub(crate) fn squared_lengths(&self) -> Vec<f64> {
        let of = |group: &Group<'_>| {
            let chunks = map_ordered(group.items.len().div_ceil(CHUNK), |chunk| {
                let mut row = vec![0.0; self.features.dims()];
                let positions = chunk * CHUNK..group.items.len().min((chunk + 1) * CHUNK);
                let square = |position| {
                    self.features.read_row(group.items.at(position), group.scale, &mut row);
                    dot(&row, &row)
                };
                positions.map(square).sum::<f64>()
            });
            chunks.into_iter().sum()
        };
        self.groups.iter().map(of).collect()
    }

    /// The matrix.
    #[must_use]
    pub fn features(&self) -> &'a Features {
        self.features
    }

    /// Number of rows in all groups.
    #[must_use]
    pub fn len(&self) -> usize {
        self.groups.iter().map(|group| group.items.len()).sum()
    }

    /// Whether all groups are empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Iterates over the rows, group by group, each with its group.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.groups.iter().enumerate().flat_map(|(group, members)| {
            let items = members.items;
            (0..items.len()).map(move |position| (items.at(position), group))
        })
    }

    /// The groups.
    #[must_use]
    pub fn groups(&self) -> &[Group<'a>] {
        &self.groups
    }
}

/// Returns the largest |entry| of a group, or a value close to it.
///
/// Only the first 256 rows are read, unless their entries are all zero or tiny compared with the matrix. The squares
/// of other rows could then overflow, so all rows are read.
fn magnitude(features: &Features, items: Items<'_>) -> f64 {
    const FIRST: usize = 256;
    const RANGE: f64 = 1e100;
    let Items::Listed(listed) = items else {
        return features.max_abs();
    };
    let first = features.max_abs_of(&listed[..listed.len().min(FIRST)]);
    if first * RANGE > features.max_abs() {
        return first;
    }
    largest(features, items)
}

/// Returns the largest |entry| of a group, from all its rows.
pub(super) fn largest(features: &Features, items: Items<'_>) -> f64 {
    let Items::Listed(listed) = items else {
        return features.max_abs();
    };
    let chunks: Vec<&[u32]> = listed.chunks(CHUNK).collect();
    map_ordered(chunks.len(), |chunk| features.max_abs_of(chunks[chunk])).into_iter().fold(0.0, f64::max)
}
