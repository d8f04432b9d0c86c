//! Items drawn in proportion to weights of any magnitude.

use crate::{
    Error, Result,
    engine::{Items, proposals::alias::AliasTable},
    estimate::REFUSED,
    linalg::power_of_two_near,
    parallel::sum_in_blocks,
};

/// An alias table of weights, which are scaled to be near 1 for f32.
#[derive(Debug)]
pub(super) struct ItemTable {
    table: AliasTable,
    /// A power of two.
    scale: f64,
    total: f64,
}

impl ItemTable {
    /// A table for ascending items and their weights. If all weights underflow, all items get the least normal weight
    /// of f64.
    ///
    /// # Errors
    /// [`Error::IllConditioned`] if a weight overflows.
    pub(super) fn new(items: Items<'_>, weights: &[f64]) -> Result<Self> {
        let largest = weights.iter().copied().fold(0.0, f64::max);
        if !largest.is_finite() {
            return Err(Error::IllConditioned { deviation: 1.0, tolerance: REFUSED });
        }
        let underflow = largest < f64::MIN_POSITIVE;
        let scale = if underflow { f64::MIN_POSITIVE } else { power_of_two_near(largest) };
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let table = AliasTable::new(weights.len(), |at| {
            (items.at(at) as u32, if underflow { 1.0 } else { weights[at] / scale })
        });
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let total = scale * sum_in_blocks(weights.len(), |at| f64::from(table.weight(at as u32)));
        Ok(Self { table, scale, total })
    }

    /// The sum of all weights.
    pub(super) fn total(&self) -> f64 {
        self.total
    }

    /// The weight that the item at a position is drawn with.
    #[inline]
    pub(super) fn weight(&self, position: u32) -> f64 {
        f64::from(self.table.weight(position)) * self.scale
    }

    /// 1/√w at a position.
    #[inline]
    pub(super) fn root_scale(&self, position: u32) -> f64 {
        self.weight(position).sqrt().recip()
    }

    /// The position drawn by a random word; `None` for the null entry.
    #[inline]
    pub(super) fn look_up(&self, word: u64) -> Option<u32> {
        let position = self.table.look_up(word);
        (!self.table.is_null(position)).then_some(position)
    }

    /// The item at a position.
    #[inline]
    pub(super) fn item(&self, position: u32) -> u32 {
        self.table.item(position)
    }

    /// The position of an item in the table.
    pub(super) fn position_of(&self, item: u32) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let (mut first, mut after) = (0, self.len() as u32);
        while first < after {
            let middle = first.midpoint(after);
            if self.item(middle) < item { first = middle + 1 } else { after = middle }
        }
        first
    }

    /// The alias table, with the scaled weights.
    pub(super) fn alias(&self) -> &AliasTable {
        &self.table
    }

    /// Number of items.
    pub(super) fn len(&self) -> usize {
        self.table.len()
    }
}
