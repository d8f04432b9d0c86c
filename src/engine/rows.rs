//! The rows that a verb works on.

use crate::{Features, linalg};

/// Rows of a feature matrix in groups, each with a scale.
#[derive(Clone, Debug)]
pub struct Rows<'a> {
    features: &'a Features<'a>,
    groups: Vec<Group<'a>>,
}

/// A group of rows, read as s·a_i.
#[derive(Clone, Copy, Debug)]
pub struct Group<'a> {
    /// The rows.
    pub items: Items<'a>,
    /// s, a power of two.
    pub scale: f64,
}

/// Which rows are in a group.
#[derive(Clone, Copy, Debug)]
pub enum Items<'a> {
    /// All rows 0..m.
    All(usize),
    /// The rows listed.
    Listed(&'a [u32]),
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

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Index of the row at a position of the group.
    #[must_use]
    pub fn at(&self, position: usize) -> usize {
        match self {
            Items::All(_) => position,
            Items::Listed(items) => items[position] as usize,
        }
    }
}

impl<'a> Rows<'a> {
    /// Groups of rows, each scaled by the power of two that brings its largest entry into [½, 1).
    ///
    /// Scaling a group changes its weight in a determinant by a constant, exactly: constrained
    /// laws do not notice, others undo it. Parts of any magnitude meet as equals.
    #[must_use]
    pub fn scaled(features: &'a Features<'a>, items: Vec<Items<'a>>) -> Self {
        const CHUNK: usize = 1 << 15;
        let mut groups: Vec<Group<'a>> = items.into_iter().map(|items| Group { items, scale: 0.0 }).collect();
        for group in &mut groups {
            let items = group.items;
            let chunks = items.len().div_ceil(CHUNK);
            let maxima = crate::parallel::map_ordered(chunks, |chunk| {
                let positions = chunk * CHUNK..items.len().min((chunk + 1) * CHUNK);
                features.max_abs(positions.map(|position| items.at(position)))
            });
            group.scale = linalg::power_of_two_near(maxima.into_iter().fold(0.0, f64::max)).recip();
        }
        Self { features, groups }
    }

    /// The matrix.
    #[must_use]
    pub fn features(&self) -> &'a Features<'a> {
        self.features
    }

    /// The groups.
    #[must_use]
    pub fn groups(&self) -> &[Group<'a>] {
        &self.groups
    }
}
