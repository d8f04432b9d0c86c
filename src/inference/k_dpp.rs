//! Inference for the k-DPP.

use super::{Inference, Marginals, RowInference};
use crate::{
    KDpp, Result,
    engine::{Engine, Items, Rows},
    model::{Constraint, SetProbabilities, accurately},
    polynomial::{ConditionalBernoulli, spectrum::TiltedSpectrum},
};

impl KDpp {
    /// Exact probabilities: the normaliser, inclusion probabilities, and log-probabilities of sets.
    ///
    /// # Cost
    /// Two passes over A (2mn² operations each) and O(n³).
    ///
    /// # Errors
    /// [`Error::Eigen`](crate::Error::Eigen), [`Error::SizeAboveRank`](crate::Error::SizeAboveRank) if the rank is
    /// too small in f64, [`Error::IllConditioned`](crate::Error::IllConditioned), and errors of the engine.
    pub fn inference(&self, engine: &Engine) -> Result<Inference> {
        Ok(accurately(
            self,
            |law| law.graded(engine),
            |law| law.inference_as_given(engine),
            RowInference::error,
        )?
        .into())
    }

    /// Inference in the coordinates of the features.
    pub(crate) fn inference_as_given(&self, engine: &Engine) -> Result<RowInference> {
        let (ground, k) = (self.ground.clone(), self.free_size());
        let items = ground.free_items();
        let mut log_z = ground.log_det_included();
        let mut marginals = Marginals::Forced(0.0);
        if k > 0 {
            let rows = Rows::scaled(ground.features(), vec![Items::from(&items)]);
            let spectrum = TiltedSpectrum::for_size(engine, &rows, &ground, k)?.spectrum;
            let coins = ConditionalBernoulli::new(&spectrum.values, k)?;
            log_z.value += coins.log_normalizer() - 2.0 * k as f64 * rows.groups()[0].scale.ln();
            let terms = (spectrum.values.len() + k) as f64;
            log_z.error += spectrum.error + terms * 2.0 * f64::EPSILON * log_z.value.abs().max(1.0);
            marginals = Marginals::spectral(&spectrum, coins.inclusion_probabilities().into_iter());
        }
        let sets = SetProbabilities { ground, constraint: Constraint::Size(self.size()), log_z };
        Ok(RowInference { sets, groups: vec![items], marginals, engine: engine.clone() })
    }
}
