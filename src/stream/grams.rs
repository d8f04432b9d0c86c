//! Sums over the rows of all batches: everything that a driver needs to know about the rows.

use std::{collections::BTreeMap, sync::Arc};

use faer::Mat;
use serde::{Deserialize, Serialize};

use super::{
    batch::{Batch, Orders, ScaledRows, is_sound, orders},
    frame::Frame,
    source::is_about_rank,
};
use crate::{
    CountRange, Error, Quota, Result,
    bytes::Kind,
    data::{check_item_count, common_kind},
    engine::Engine,
    error::StreamProblem,
};

const KIND: Kind = Kind { tag: *b"PDPPGRAM", what: "Gram matrices" };
/// The number of rows that are summed before their sum is added to others.
const RUN: usize = 8192;

/// The Gram matrix and the number of rows of every part, over one or several batches.
///
/// ```text
/// G_l = 4^(e_l) · Σ_i b_i b_iᵀ,   b_i = 2^(−e_l) q_i a_i
/// ```
///
/// A power of two per part keeps all numbers near 1, so scores of ±1000 neither overflow nor underflow. Batches can
/// be merged although each is computed from its own rows only. Parts are united by name.
///
/// # Shapes
/// p·n(n + 1)/2 numbers, and one for every batch: 50 kB for n = 64 and p = 3, 24 MB for n = 768 and p = 10. All
/// batches have the same n.
///
/// # Cost
/// 2mn² operations for a batch of m rows; p·n²/2 to merge two.
///
/// # Numerics
/// Merging is commutative, and associative up to rounding. If batches are merged in another order, entry (i, j)
/// changes by less than twice the number of batches and of runs of 8192 rows, times ε·√(G_ii G_jj).
///
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, Partition, stream::{Batch, Grams}};
/// let batch = |number, values: [f64; 4], labels: [&str; 2]| {
///     Batch::new(number, &Features::from_rows(2, 2, values.to_vec())?, &Partition::from_labels(&labels)?)
/// };
/// let first = Grams::of_batch(&batch(0, [1.0, 0.0, 0.0, 1.0], ["cat", "dog"])?, &Engine::cpu())?;
/// let second = Grams::of_batch(&batch(1, [1.0, 1.0, 2.0, 0.0], ["dog", "dog"])?, &Engine::cpu())?;
/// let all = first.merge(Grams::from_bytes(&second.to_bytes())?)?;
/// assert_eq!(all.parts().collect::<Vec<_>>(), [("cat", 1), ("dog", 3)]);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grams {
    /// n; 0 if there are no rows.
    dims: usize,
    parts: BTreeMap<String, PartSum>,
    /// The coordinates of the sums, if not the coordinates of the rows.
    frame: Option<Arc<Frame>>,
    /// The numbers of the batches, ascending.
    batches: Vec<u64>,
}

/// The sum over the rows of a part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PartSum {
    pub(super) rows: u64,
    /// The power e_l; `None` if all rows are zero.
    pub(super) order: Option<i64>,
    /// The order of the row with the smallest weighted entries; e_l without scores.
    pub(super) least: Option<i64>,
    /// The number of sums added.
    pub(super) terms: u64,
    /// Whether the label of the part is text, if that is known.
    is_text: Option<bool>,
    /// The lower triangle, column by column.
    lower: Vec<f64>,
}

impl PartSum {
    fn new(rows: usize, orders: Option<Orders>, gram: &Mat<f64>) -> Self {
        let columns = (0..gram.ncols()).flat_map(|j| (j..gram.nrows()).map(move |i| (i, j)));
        let lower = columns.map(|at| gram[at]).collect();
        let (order, least) = (orders.map(|orders| orders.most), orders.map(|orders| orders.least));
        Self { rows: rows as u64, order, least, terms: rows.div_ceil(RUN) as u64, is_text: None, lower }
    }

    /// Whether rows with this many features can have this sum.
    fn is_sound(&self, dims: usize) -> bool {
        let Self { rows, order, least, terms, ref lower, .. } = *self;
        // n (n + 1) overflows for some forged values of n.
        dims.checked_mul(dims.saturating_add(1)).is_some_and(|twice| lower.len() == twice / 2)
            && lower.iter().all(|value| value.is_finite())
            && (order.is_some() == least.is_some() && least <= order && terms <= rows)
            && [order, least].into_iter().flatten().all(is_sound)
    }

    /// Adds the sum of other rows.
    pub(super) fn add(&mut self, other: &Self) {
        // Counts that were deserialised may be arbitrarily large.
        self.rows = self.rows.saturating_add(other.rows);
        self.terms = self.terms.saturating_add(other.terms);
        let order = self.order.max(other.order);
        self.least = [self.least, other.least].into_iter().flatten().min();
        let factor = |own: Option<i64>| match (own, order) {
            (Some(own), Some(order)) => (2.0 * (own - order) as f64).exp2(),
            _ => 1.0,
        };
        let [own, others] = [self.order, other.order].map(factor);
        let pairs = self.lower.iter_mut().zip(&other.lower);
        pairs.for_each(|(sum, more)| *sum = own * *sum + others * more);
        self.order = order;
    }

    /// 4^(−e_l) G_l.
    pub(super) fn gram(&self, dims: usize) -> Mat<f64> {
        let start = |j: usize| j * dims - j * j.saturating_sub(1) / 2;
        Mat::from_fn(dims, dims, |i, j| {
            let (row, column) = (i.max(j), i.min(j));
            self.lower[start(column) + row - column]
        })
    }
}

impl Grams {
    /// Computes the sums over the rows of a batch.
    ///
    /// # Cost
    /// 2mn² operations in f64. If the engine computes in single precision, the CPU does them.
    ///
    /// # Errors
    /// [`WeightProblem::Spread`](crate::error::WeightProblem::Spread) if the largest entry of a weighted row is above
    /// 2^(2²⁰) or below 2^(−2²⁰), which needs ln q of ±726 817 or more; errors of the engine.
    pub fn of_batch(batch: &Batch, engine: &Engine) -> Result<Self> {
        Self::sum(batch, None, engine)
    }

    /// Computes the sums in the coordinates of a frame, for a second pass over the rows.
    ///
    /// Directions in which all rows are small keep all their digits, which lowers the error of some laws.
    ///
    /// # Cost
    /// 4mn² operations.
    ///
    /// # Errors
    /// [`Error::Shape`] if the frame has other dimensions; the errors of [`of_batch`](Grams::of_batch).
    pub fn in_frame(batch: &Batch, frame: &Frame, engine: &Engine) -> Result<Self> {
        Self::sum(batch, Some(frame), engine)
    }

    fn sum(batch: &Batch, frame: Option<&Frame>, engine: &Engine) -> Result<Self> {
        let batches = vec![batch.number()];
        let Some((features, partition)) = batch.content() else {
            return Ok(Self { batches, ..Self::default() });
        };
        let dims = features.dims();
        let basis = frame.map(|frame| frame.basis(dims)).transpose()?;
        let orders = orders(features, partition)?;
        let parts: Vec<(usize, i64)> = orders
            .iter()
            .enumerate()
            .map(|(part, orders)| (part, orders.map_or(0, |orders| orders.most)))
            .collect();
        let scaled = ScaledRows::new(features, partition, &parts)?;
        let grams = scaled.grams(basis, engine)?;
        let part = |(part, gram): (usize, &Mat<f64>)| {
            let sum = PartSum::new(partition.size(part), orders[part], gram);
            (partition.names()[part].clone(), PartSum { is_text: batch.is_text(part), ..sum })
        };
        let parts = grams.iter().enumerate().map(part).collect();
        Ok(Self { dims, parts, frame: frame.cloned().map(Arc::new), batches })
    }

    /// Adds the sums over other batches.
    ///
    /// [`Grams::default`] is neutral, and batches may be merged in a tree of any shape.
    ///
    /// # Errors
    /// [`StreamProblem::RepeatedBatch`] if two batches have the same number; [`StreamProblem::MixedLabels`];
    /// [`Error::Shape`] if rows differ in length; [`StreamProblem::OtherFrame`].
    pub fn merge(mut self, other: Self) -> Result<Self> {
        let batches = united(&self.batches, &other.batches)?;
        if other.dims == 0 {
            return Ok(Self { batches, ..self });
        }
        if self.dims == 0 {
            return Ok(Self { batches, ..other });
        }
        if self.dims != other.dims {
            return Err(Error::Shape { what: "a row", expected: self.dims, found: other.dims });
        }
        if self.frame != other.frame {
            return Err(StreamProblem::OtherFrame.into());
        }
        for (name, sum) in other.parts {
            match self.parts.get_mut(&name) {
                Some(own) => {
                    own.is_text = common_kind(&name, [own.is_text, sum.is_text])?;
                    own.add(&sum);
                }
                None => {
                    self.parts.insert(name, sum);
                }
            }
        }
        Ok(Self { batches, ..self })
    }

    /// n; 0 if there are no rows.
    #[must_use]
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// m, the number of rows of all parts.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.parts.values().fold(0, |rows, part| rows.saturating_add(part.rows))
    }

    /// The name of every part with its number of rows, in the order of the names as text.
    #[must_use]
    pub fn parts(&self) -> impl ExactSizeIterator<Item = (&str, u64)> {
        self.parts.iter().map(|(name, part)| (name.as_str(), part.rows))
    }

    /// Makes a quota for these parts by name, like [`Quota::named`]: parts that are not named get no items.
    ///
    /// # Errors
    /// The errors of [`Quota::named`].
    pub fn quota<N: AsRef<str>, C: Into<CountRange>>(
        &self,
        counts: impl IntoIterator<Item = (N, C)>,
    ) -> Result<Quota> {
        let sizes: Vec<usize> =
            self.parts.values().map(|part| usize::try_from(part.rows).unwrap_or(usize::MAX)).collect();
        Quota::named_over(self.parts.keys().cloned().collect(), &sizes, counts)
    }

    /// Coordinates for a second pass, which separate the small directions of these sums from the large ones.
    ///
    /// # Cost
    /// O(n³).
    ///
    /// # Errors
    /// [`Error::Empty`] if there are no rows; [`Error::Eigen`].
    pub fn frame(&self) -> Result<Frame> {
        self.check_not_empty()?;
        Frame::of(self.sums().map(|(_, part)| part.gram(self.dims)), self.basis())
    }

    /// Whether a second pass in a [`frame`](Grams::frame) may succeed after these sums led to this error, in a plan
    /// or in marginals.
    ///
    /// Directions that are lost in the rounding errors of a Gram matrix count as missing, so a second pass can help
    /// if there are enough dimensions.
    ///
    /// If the second pass also fails with an error about ranks, report the error of the first pass to the user.
    #[must_use]
    pub fn wants_frame_after(&self, error: &Error) -> bool {
        let may_help = match error {
            Error::IllConditioned { .. } | Error::Eigen { .. } => true,
            Error::SizeAboveRank { k: needed, .. } | Error::Infeasible { quota: needed, .. } => {
                *needed <= self.dims
            }
            error => is_about_rank(error),
        };
        may_help && self.dims > 0 && self.frame.is_none()
    }

    pub(super) fn check_not_empty(&self) -> Result<()> {
        if self.dims == 0 { Err(Error::Empty { what: "the list of batches" }) } else { Ok(()) }
    }

    /// Rejects more items than there are rows, and more than there are features. The model itself has few rows,
    /// regardless of the data.
    pub(super) fn check_size(&self, k: usize) -> Result<()> {
        let items = usize::try_from(self.rows()).unwrap_or(usize::MAX);
        check_item_count(k)?;
        match self.dims() {
            _ if k > items => Err(Error::SizeAboveItems { k, items }),
            dims if k > dims => Err(Error::SizeAboveRank { k, rank: dims }),
            _ => Ok(()),
        }
    }

    pub(super) fn sums(&self) -> impl ExactSizeIterator<Item = (&String, &PartSum)> {
        self.parts.iter()
    }

    /// The coordinates of the sums, if not the coordinates of the rows.
    pub(super) fn basis(&self) -> Option<&Frame> {
        self.frame.as_deref()
    }

    /// Serialises to bytes, to be sent to another process.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let frame = self.basis().map_or(&[][..], Frame::values);
        KIND.write(&(self.dims, &self.batches, frame, &self.parts))
    }

    /// Deserialises the bytes of [`to_bytes`](Grams::to_bytes).
    ///
    /// # Errors
    /// [`Error::Stream`] if the bytes are truncated, of another version, or not Gram matrices.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (dims, batches, frame, parts): (_, Vec<u64>, Vec<_>, Vec<(String, PartSum)>) =
            KIND.read(bytes)?;
        KIND.check(batches.is_sorted_by(|one, next| one < next))?;
        KIND.check(parts.is_sorted_by(|(one, _), (next, _)| one < next))?;
        let frame = if frame.is_empty() { None } else { Some(Arc::new(Frame::from_values(dims, frame)?)) };
        KIND.check(parts.iter().all(|(_, part)| part.is_sound(dims)) && (dims == 0) == parts.is_empty())?;
        Ok(Self { dims, parts: parts.into_iter().collect(), frame, batches })
    }
}

/// Unites two lists of batch numbers, ascending.
///
/// # Errors
/// [`StreamProblem::RepeatedBatch`] if a number is in both lists.
fn united(own: &[u64], other: &[u64]) -> Result<Vec<u64>> {
    let (few, many) = if own.len() < other.len() { (own, other) } else { (other, own) };
    if let Some(&number) = few.iter().find(|number| many.binary_search(number).is_ok()) {
        return Err(StreamProblem::RepeatedBatch { number }.into());
    }
    let mut all = [many, few].concat();
    all.sort_unstable();
    Ok(all)
}
