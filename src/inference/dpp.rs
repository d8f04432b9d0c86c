//! Inference for the plain DPP.

use super::{Inference, Marginals, RowInference};
use crate::{
    Dpp, Result,
    engine::{Engine, Items},
    estimate::accurate,
    linalg::{sigmoid, softplus},
    model::{Constraint, SetProbabilities, accurately},
    polynomial::spectrum::TiltedSpectrum,
};

impl Dpp {
    /// Exact probabilities: the normaliser, inclusion probabilities, and log-probabilities of sets.
    ///
    /// # Cost
    /// Two passes over A (2mn² operations each) and O(n³).
    ///
    /// # Errors
    /// [`Error::Eigen`](crate::Error::Eigen), [`Error::IllConditioned`](crate::Error::IllConditioned), and errors of
    /// the engine.
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
        let ground = self.ground.clone();
        let items = ground.free_items();
        let mut log_z = ground.log_det_included();
        let mut marginals = Marginals::Forced(0.0);
        if items.len() > 0 && ground.dims_left() > 0 {
            let rows = self.rows(&items);
            if let Some((found, log_scale)) = TiltedSpectrum::for_dpp(engine, &rows, &ground)? {
                let spectrum = found.spectrum;
                let odds: Vec<f64> = spectrum.values.iter().map(|value| value.ln() + log_scale).collect();
                log_z.value += odds.iter().map(|&log| softplus(log)).sum::<f64>();
                let rounding = odds.len() as f64 * 4.0 * f64::EPSILON;
                log_z.error += spectrum.error + rounding * log_z.value.abs().max(1.0);
                marginals = Marginals::spectral(&spectrum, odds.into_iter().map(sigmoid));
            }
        } else {
            let error = accurate(ground.beyond_rank(Items::from(&items).iter()))?;
            log_z.error += error;
            marginals = Marginals::Forced(error);
        }
        let groups = vec![items];
        let sets = SetProbabilities { ground, constraint: Constraint::AnySize, log_z };
        Ok(RowInference { sets, groups, marginals, engine: engine.clone() })
    }
}
