//! The k-DPP of a part, of the rows v_i.

use faer::Mat;
use rand::Rng;

use crate::{
    Features, Result,
    engine::{Engine, Group, Rows},
    linalg::{Eigen, eigen, scale_columns},
    polynomial::ConditionalBernoulli,
    sample::{
        Projection,
        projection::{ProjectionDpp, Scratch},
    },
};

/// Eigenvalues below this fraction of the largest may be rounding.
const ROUNDING: f64 = 1e-13;

/// Sets of a part with probability det(V_S V_Sᵀ) / e_κ(Ĝ_l), for some counts κ.
#[derive(Debug)]
pub(crate) struct PartLaw<'a> {
    projection: ProjectionDpp<'a>,
    /// For every count from the least on.
    sizes: Vec<ConditionalBernoulli>,
    low: usize,
    /// Total variation error of a draw from the rounding of eigenvectors.
    error: f64,
}

/// Ĝ_l, and the n×r matrix that maps the group's rows to v_i.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartMap<'m> {
    pub(super) gram: &'m Mat<f64>,
    pub(super) factor: &'m Mat<f64>,
    /// √y_l.
    pub(super) weight: f64,
}

impl<'a> PartLaw<'a> {
    /// The law of the counts from `low` to `high` of a group.
    pub(super) fn new(
        engine: &dyn Engine,
        features: &Features<'a>,
        group: Group<'_>,
        map: PartMap<'_>,
        [low, high]: [usize; 2],
        way: Projection,
    ) -> Result<Self> {
        let Eigen { values, vectors } = eigen(map.gram.as_ref())?;
        let least = ROUNDING * values.first().copied().unwrap_or(0.0);
        let rank = values.iter().take_while(|&&value| value > least).count();
        let values = &values[..rank];
        let roots: Vec<f64> = values.iter().map(|value| value.sqrt().recip()).collect();
        let whitener = map.factor * scale_columns(vectors.subcols(0, rank), &roots);
        let rows = Rows::with_scales(features, vec![group]);
        let projection =
            ProjectionDpp::of_whitener(engine, features, &rows, &[map.weight], whitener, high as f64, way)?;
        let of_size = |count| ConditionalBernoulli::new(values, count);
        let sizes = (low..=high.min(rank)).map(of_size).collect::<Result<Vec<_>>>()?;
        let rounding = |law: &ConditionalBernoulli| -> f64 {
            let used = law.inclusion_probabilities();
            let lost = |(used, value): (f64, &f64)| used * values[0] / value;
            f64::EPSILON * rank as f64 * used.into_iter().zip(values).map(lost).sum::<f64>()
        };
        let error = sizes.iter().map(rounding).fold(0.0, f64::max);
        Ok(Self { projection, sizes, low, error })
    }

    /// Total variation error of a draw.
    pub(super) fn error(&self) -> f64 {
        self.error
    }

    /// Draws a set of this size; false if rounding, or `go_on`, ends it.
    pub(super) fn sample<R: Rng + ?Sized>(
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
