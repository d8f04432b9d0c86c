//! Rows drawn in proportion to their leverages, in the coordinates used for draws.

use std::collections::BTreeSet;

use faer::MatRef;

use super::open_rows::OpenRows;
use crate::{
    Result,
    bytes::Kind,
    error::StreamProblem,
    linalg::{column, kernels::dot},
    parallel::map_ordered,
};

const KIND: Kind = Kind { tag: *b"PDPPTRIA", what: "trials" };
/// The number of rows whose coordinates are computed together.
const CHUNK: usize = 256;
/// The allowed deviation of the length of a row's coordinates from 1: absolute, and in units of the rounding of one
/// product.
const UNIT: [f64; 2] = [1e-9, 32.0];

/// The location of an item: its batch, its row in the batch, and its part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Place {
    /// The number of the batch.
    pub batch: u64,
    /// The row in the batch.
    pub row: u32,
    /// The part, by its position in [`Plan::parts`](super::Plan::parts).
    pub part: u32,
}

/// Coordinates in which all rows together are orthonormal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coordinates<'p> {
    /// F, n×r.
    pub(super) whitener: MatRef<'p, f64>,
    /// The factor of the rows of every part.
    pub(super) factors: &'p [f64],
}

/// Independent draws of rows with probability in proportion to their leverages, with the place of each row.
///
/// A row is given by its r coordinates in the plan's eigenvectors, as a unit vector:
///
/// ```text
/// x_i = Fᵀ b_i / √h_i,   b_i = √y_l a_i,   h_i = ‖Fᵀ b_i‖²
/// ```
///
/// A draw needs nothing else, and r is at most n.
///
/// # Shapes
/// 8r + 16 bytes per trial. The columns are plain slices, in the order of trials.
#[derive(Clone, Debug, PartialEq)]
pub struct Trials {
    plan: u64,
    rank: usize,
    batches: Vec<u64>,
    rows: Vec<u32>,
    parts: Vec<u32>,
    coordinates: Vec<f64>,
}

impl Trials {
    pub(super) fn none(plan: u64, rank: usize) -> Self {
        let (batches, rows, parts, coordinates) = Default::default();
        Self { plan, rank, batches, rows, parts, coordinates }
    }

    /// The trials of these rows, given by group with their places and leverages.
    ///
    /// # Errors
    /// [`StreamProblem::ChangedRows`] if a row has another leverage.
    pub(super) fn of_rows(
        plan: u64,
        open: &OpenRows<'_>,
        coordinates: &Coordinates<'_>,
        drawn: &[(usize, Place, f64)],
    ) -> Result<Self> {
        let Coordinates { whitener, factors } = *coordinates;
        let chunks: Vec<_> = drawn.chunks(CHUNK).collect();
        let rounding = UNIT[1] * f64::EPSILON * whitener.nrows() as f64 * whitener.squared_norm_l2();
        let of_chunk = |at: usize| {
            let (mut row, mut out) = (vec![0.0; whitener.nrows()], Vec::new());
            for &(group, place, leverage) in chunks[at] {
                open.read(group, place.row, &mut row);
                let unit = factors[place.part as usize] / leverage.sqrt();
                out.extend((0..whitener.ncols()).map(|j| unit * dot(column(whitener, j), &row)));
                let own = &out[out.len() - whitener.ncols()..];
                let allowed = UNIT[0].max(rounding * unit * unit * dot(&row, &row));
                // False for NaN. Subnormal leverages have too few digits for this check.
                let is_unit = (dot(own, own) - 1.0).abs() <= allowed;
                if !is_unit && leverage.is_normal() {
                    return Err(StreamProblem::ChangedRows { number: place.batch });
                }
            }
            Ok(out)
        };
        let coordinates: Vec<_> =
            map_ordered(chunks.len(), of_chunk).into_iter().collect::<std::result::Result<_, _>>()?;
        Ok(Self {
            plan,
            rank: whitener.ncols(),
            batches: drawn.iter().map(|(_, place, _)| place.batch).collect(),
            rows: drawn.iter().map(|(_, place, _)| place.row).collect(),
            parts: drawn.iter().map(|(_, place, _)| place.part).collect(),
            coordinates: coordinates.concat(),
        })
    }

    /// Joins the trials of several batches in any order: a [`StreamSampler`](super::StreamSampler) shuffles them.
    ///
    /// # Errors
    /// [`StreamProblem::OtherPlan`] if the trials are of different plans; [`StreamProblem::RepeatedBatch`] if two
    /// lists are of the same batch, or of two batches with the same number; [`Error::Empty`](crate::Error::Empty) if
    /// there are no lists.
    pub fn concatenate(lists: impl IntoIterator<Item = Self>) -> Result<Self> {
        let mut lists = lists.into_iter();
        let Some(mut all) = lists.next() else {
            return Err(crate::Error::Empty { what: "the list of trials" });
        };
        let mut known: BTreeSet<u64> = all.batches.iter().copied().collect();
        for list in lists {
            if (list.plan, list.rank) != (all.plan, all.rank) {
                return Err(StreamProblem::OtherPlan { what: "a list of trials" }.into());
            }
            let own: BTreeSet<u64> = list.batches.iter().copied().collect();
            if let Some(&number) = own.intersection(&known).next() {
                return Err(StreamProblem::RepeatedBatch { number }.into());
            }
            known.extend(own);
            all.batches.extend(list.batches);
            all.rows.extend(list.rows);
            all.parts.extend(list.parts);
            all.coordinates.extend(list.coordinates);
        }
        Ok(all)
    }

    /// Number of trials.
    #[must_use]
    pub fn len(&self) -> usize {
        self.batches.len()
    }

    /// Whether there are no trials.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// r, the number of coordinates of a row.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The batch of every trial.
    #[must_use]
    pub fn batches(&self) -> &[u64] {
        &self.batches
    }

    /// The row in its batch of every trial.
    #[must_use]
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The part of every trial, by its position in [`Plan::parts`](super::Plan::parts).
    #[must_use]
    pub fn parts(&self) -> &[u32] {
        &self.parts
    }

    /// The coordinates of all rows, r for each trial.
    #[must_use]
    pub fn coordinates(&self) -> &[f64] {
        &self.coordinates
    }

    /// The place of a trial.
    ///
    /// # Panics
    /// If there is no such trial.
    #[must_use]
    pub fn place(&self, trial: usize) -> Place {
        Place { batch: self.batches[trial], row: self.rows[trial], part: self.parts[trial] }
    }

    pub(super) fn row(&self, trial: usize) -> &[f64] {
        &self.coordinates[trial * self.rank..(trial + 1) * self.rank]
    }

    pub(super) fn plan(&self) -> u64 {
        self.plan
    }

    /// Serialises to bytes, to be sent to another process.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let Self { plan, rank, batches, rows, parts, coordinates } = self;
        KIND.write(&(plan, rank, batches, rows, parts, coordinates))
    }

    /// Deserialises the bytes of [`to_bytes`](Trials::to_bytes).
    ///
    /// # Errors
    /// [`Error::Stream`](crate::Error::Stream) if the bytes are truncated, of another version, or not trials.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (plan, rank, batches, rows, parts, coordinates) = KIND.read(bytes)?;
        let trials = Self { plan, rank, batches, rows, parts, coordinates };
        let count = trials.batches.len();
        KIND.check([trials.rows.len(), trials.parts.len()] == [count; 2])?;
        KIND.check(count.checked_mul(rank) == Some(trials.coordinates.len()))?;
        KIND.check(trials.coordinates.iter().all(|x| x.is_finite()))?;
        Ok(trials)
    }
}
