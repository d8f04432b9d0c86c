//! Batches of rows, and powers of two that scale them to about 1.

use std::sync::Arc;

use faer::MatRef;

use crate::{
    Error, Features, Partition, Result,
    data::check_partition,
    engine::{Engine, Group, Items, RowMap, Rows, in_double},
    error::WeightProblem,
    parallel::map_ordered,
};

/// A batch of rows with their labels, and the number by which the application knows it.
///
/// Rows may have any type, scores or unit length, as in all [`Features`]. The labels may cover only some of the
/// parts. A batch may be empty. Cloning is cheap.
///
/// The number identifies rows in draws and separates the random numbers of batches. So every batch needs its own
/// number, which must stay the same in every pass. Data from two batches with the same number is rejected when it is
/// combined.
///
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Features, Partition, stream::Batch};
/// let features = Features::from_rows(2, 3, vec![1.0_f32, 0.0, 2.0, 0.0, 1.0, 1.0])?.with_unit_rows()?;
/// let batch = Batch::new(7, &features, &Partition::from_labels(&["cat", "dog"])?)?;
/// assert_eq!((batch.number(), batch.rows(), Batch::empty(8).rows()), (7, 2, 0));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Batch {
    number: u64,
    content: Option<(Features, Partition)>,
    /// Whether the label of every part is text, if that is known.
    texts: Option<Arc<[bool]>>,
}

impl Batch {
    /// Takes rows with their parts.
    ///
    /// # Errors
    /// [`Error::LabelCount`](crate::Error::LabelCount).
    pub fn new(number: u64, features: &Features, partition: &Partition) -> Result<Self> {
        check_partition(features, partition)?;
        Ok(Self { number, content: Some((features.clone(), partition.clone())), texts: None })
    }

    /// Sets whether the label of every part is text, in the order of [`Partition::names`].
    ///
    /// Batches whose labels have the same text but different kinds, such as 0 and "0", are then rejected when they
    /// are combined.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if the number of values is not the number of parts.
    pub fn with_text_labels(self, texts: &[bool]) -> Result<Self> {
        let expected = self.content.as_ref().map_or(0, |(_, partition)| partition.parts());
        if texts.len() != expected {
            return Err(Error::Shape { what: "the list of kinds of labels", expected, found: texts.len() });
        }
        Ok(Self { texts: Some(texts.into()), ..self })
    }

    /// A batch without rows.
    #[must_use]
    pub fn empty(number: u64) -> Self {
        Self { number, content: None, texts: None }
    }

    /// The same batch with the same number of other rows.
    pub(super) fn with_rows(&self, rows: Features) -> Self {
        let content = self.content.as_ref().map(|(_, partition)| (rows, partition.clone()));
        Self { content, ..self.clone() }
    }

    /// The number of the batch.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.content.as_ref().map_or(0, |(features, _)| features.items())
    }

    /// Whether the label of a part is text, if that is known.
    pub(crate) fn is_text(&self, part: usize) -> Option<bool> {
        self.texts.as_ref().map(|texts| texts[part])
    }

    /// The rows and their parts; `None` if the batch is empty.
    #[must_use]
    pub fn content(&self) -> Option<(&Features, &Partition)> {
        self.content.as_ref().map(|(features, partition)| (features, partition))
    }
}

/// ln 2 as the sum of two numbers. The last 21 bits of the first are zero, so its products with allowed orders are
/// exact.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// The largest |log₂| of a weighted row. Above it, products of orders with ln 2 would be rounded.
const LARGEST_LOG: f64 = 1_048_576.0;
/// The largest |order| of such rows.
const LARGEST_ORDER_OF_ROWS: i64 = (1 << 20) + 1;
/// The largest binary order of a scale. Its reciprocal is still a normal number.
const LARGEST_ORDER: i64 = 1000;
/// The number of rows per task in the search for the largest entry.
const CHUNK: usize = 1 << 14;

/// ln(e^log · 2^−order), with only the rounding of the result for every sound order.
pub(super) fn log_over_power(log: f64, order: i64) -> f64 {
    (log - order as f64 * LN_2_HIGH) - order as f64 * LN_2_LOW
}

/// Whether an order is possible for allowed rows.
pub(super) fn is_sound(order: i64) -> bool {
    (-LARGEST_ORDER_OF_ROWS..=LARGEST_ORDER_OF_ROWS).contains(&order)
}

/// Binary orders of the largest entries of rows: multiplying by 2^−order brings them into [½, 1).
#[derive(Clone, Copy, Debug)]
pub(super) struct Orders {
    /// The order of all weighted rows.
    pub(super) most: i64,
    /// The order of the row with the smallest weighted entries, if rows have weights; otherwise `most`.
    pub(super) least: i64,
}

/// The orders of every part; `None` for a part whose rows are all zero.
///
/// # Errors
/// [`WeightProblem::Spread`].
pub(super) fn orders(features: &Features, partition: &Partition) -> Result<Vec<Option<Orders>>> {
    let of_item = |ends: (f64, f64), &item: &u32| {
        let log = features.log_weight(item as usize) * std::f64::consts::LOG2_E;
        let largest = log + features.max_abs_of_stored(item as usize).log2();
        // Rows of zeros have no order.
        if largest > f64::NEG_INFINITY { (ends.0.min(largest), ends.1.max(largest)) } else { ends }
    };
    let nothing = (f64::INFINITY, f64::NEG_INFINITY);
    let part = |part: usize| {
        let chunks: Vec<&[u32]> = partition.members(part).chunks(CHUNK).collect();
        let of_chunk = |at: usize| chunks[at].iter().fold(nothing, of_item);
        let wider = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
        let (least, most) = map_ordered(chunks.len(), of_chunk).into_iter().fold(nothing, wider);
        if most == f64::NEG_INFINITY {
            return Ok(None);
        }
        if most.abs().max(least.abs()) > LARGEST_LOG {
            return Err(WeightProblem::Spread.into());
        }
        #[expect(clippy::cast_possible_truncation, reason = "far below 2⁵³")]
        let order = |log: f64| log.floor() as i64 + 1;
        if features.is_weighted() {
            return Ok(Some(Orders { most: order(most), least: order(least) }));
        }
        let most = order(most).max(-LARGEST_ORDER);
        Ok(Some(Orders { most, least: most }))
    };
    (0..partition.parts()).map(part).collect()
}

/// 2^−order, for rows without weights.
pub(super) fn scale(order: i64) -> f64 {
    (-order.clamp(-LARGEST_ORDER, 1 << 20) as f64).exp2()
}

/// ln of the factor of a weighted row: its weight times 2^−order.
pub(super) fn log_factor(features: &Features, item: usize, order: i64) -> f64 {
    // A row far below the others is zero in f64.
    log_over_power(features.log_weight(item), order).max(-2000.0)
}

/// The rows of some parts of a batch, each multiplied by 2^−order of its part.
#[derive(Debug)]
pub(super) struct ScaledRows<'b> {
    features: Features,
    partition: &'b Partition,
    /// The part and the scale of every group.
    groups: Vec<(usize, f64)>,
}

impl<'b> ScaledRows<'b> {
    /// `parts` lists parts of the batch with their orders.
    pub(super) fn new(features: &Features, partition: &'b Partition, parts: &[(usize, i64)]) -> Result<Self> {
        if !features.is_weighted() {
            let groups = parts.iter().map(|&(part, order)| (part, scale(order))).collect();
            return Ok(Self { features: features.clone(), partition, groups });
        }
        // Weights and powers are combined before exponentiation, since either may exceed the range of f64.
        let mut logs = vec![0.0; features.items()];
        for &(part, order) in parts {
            for &item in partition.members(part) {
                logs[item as usize] = log_factor(features, item as usize, order);
            }
        }
        let groups = parts.iter().map(|&(part, _)| (part, 1.0)).collect();
        Ok(Self { features: features.reweighted(logs)?, partition, groups })
    }

    pub(super) fn rows(&self) -> Rows<'_> {
        let group =
            |&(part, scale): &(usize, f64)| Group { items: Items::of_part(self.partition, part), scale };
        Rows::with_scales(&self.features, self.groups.iter().map(group).collect())
    }

    /// The Gram matrices of the groups, with rows multiplied by Fᵀ if there is a factor.
    pub(super) fn grams(
        &self,
        factor: Option<MatRef<'_, f64>>,
        engine: &Engine,
    ) -> Result<Vec<faer::Mat<f64>>> {
        let weights = vec![1.0; self.groups.len()];
        let map = factor.map(|factor| RowMap { weights: &weights, factor });
        in_double(engine).part_grams(&self.rows(), map.as_ref())
    }
}
