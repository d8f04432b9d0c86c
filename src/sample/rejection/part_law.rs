//! The k-DPP of a part on the rows v_i.

use faer::Mat;

use super::{
    part_picks::{PartPicks, PickScratch, Prediction},
    rows::WhitenedRows,
};
use crate::{
    Features, Result,
    engine::{Engine, Group, Rows},
    linalg::{Eigen, eigen, scale_columns},
    polynomial::ConditionalBernoulli,
    sample::{
        Projection,
        projection::{self, ProjectionDpp, Scratch},
    },
};

/// Eigenvalues below this fraction of the largest may be rounding.
const ROUNDING: f64 = 1e-13;

/// Sets of a group with probability det(V_S V_Sᵀ) / e_κ(Ĝ_l), for some counts κ.
#[derive(Debug)]
pub(crate) struct PartLaw {
    pub(super) way: Way,
    /// Total variation error of a draw from the rounding of eigenvectors.
    error: f64,
}

/// The way sets are drawn.
#[derive(Debug)]
pub(super) enum Way {
    Eigenvectors(Mixture),
    Picks(PartPicks),
}

/// A choice of eigenvectors, then their projection DPP.
#[derive(Debug)]
pub(super) struct Mixture {
    projection: ProjectionDpp,
    /// One per count, starting with the least.
    sizes: Vec<ConditionalBernoulli>,
    low: usize,
}

/// Buffers of the draws of a part.
#[derive(Debug, Default)]
pub(crate) struct PartScratch {
    pub(super) spectral: Scratch,
    pub(super) picks: PickScratch,
}

/// A group with its rows, and Ĝ_l in their coordinates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'m> {
    pub(super) features: &'m Features,
    pub(super) rows: &'m WhitenedRows,
    pub(super) number: usize,
    pub(super) group: Group<'m>,
    pub(super) gram: &'m Mat<f64>,
    /// Maps weighted rows of the group to v_i; n×r.
    pub(super) factor: &'m Mat<f64>,
    /// √y_l.
    pub(super) weight: f64,
}

impl PartLaw {
    /// The law of the counts from `low` to `high`.
    pub(super) fn new(
        engine: &Engine,
        part: Part<'_>,
        [low, high]: [usize; 2],
        way: Projection,
    ) -> Result<Self> {
        let Eigen { values, vectors } = eigen(part.gram.as_ref())?;
        let least = ROUNDING * values.first().copied().unwrap_or(0.0);
        let rank = values.iter().take_while(|&&value| value > least).count();
        let values = &values[..rank];
        if way == Projection::Cheaper && low == high && low <= rank {
            let prediction = Prediction::best(values, high, part.rows.read_operations());
            let items = part.group.items.len() as f64;
            let dims = part.features.dims() as f64;
            if prediction.operations < projection::operations(items, dims, rank as f64, high as f64) {
                let (group, vectors) = ((part.number, part.group.items), vectors.subcols(0, rank));
                let picks = PartPicks::new(part.rows, group, vectors, &prediction)?;
                return Ok(Self { way: Way::Picks(picks), error: 0.0 });
            }
        }
        let roots: Vec<f64> = values.iter().map(|value| value.sqrt().recip()).collect();
        let whitener = part.factor * scale_columns(vectors.subcols(0, rank), &roots);
        let rows = Rows::with_scales(part.features, vec![part.group]);
        let (weights, size) = ([part.weight], high as f64);
        let projection =
            ProjectionDpp::of_whitener(engine, part.features, &rows, &weights, whitener, size, way)?;
        let of_size = |count| ConditionalBernoulli::new(values, count);
        let sizes = (low..=high.min(rank)).map(of_size).collect::<Result<Vec<_>>>()?;
        let rounding = |law: &ConditionalBernoulli| -> f64 {
            let used = law.inclusion_probabilities();
            let lost = |(used, value): (f64, &f64)| used * values[0] / value;
            f64::EPSILON * rank as f64 * used.into_iter().zip(values).map(lost).sum::<f64>()
        };
        let error = sizes.iter().map(rounding).fold(0.0, f64::max);
        Ok(Self { way: Way::Eigenvectors(Mixture { projection, sizes, low }), error })
    }

    /// Total variation error per draw.
    pub(super) fn error(&self) -> f64 {
        self.error
    }
}

impl Mixture {
    /// Draws a set of this size; false if rounding, or `go_on`, ends it.
    pub(super) fn sample<R: rand::Rng + ?Sized>(
        &self,
        count: usize,
        rng: &mut R,
        scratch: &mut Scratch,
        items: &mut Vec<u32>,
        mut go_on: impl FnMut() -> bool,
    ) -> bool {
        let Some(law) = self.sizes.get(count - self.low) else { return false };
        law.sample_into(rng, &mut scratch.chosen);
        let Some(picks) = self.projection.draw(rng, scratch, |_| go_on()) else { return false };
        items.extend_from_slice(picks);
        true
    }
}
