//! Proposals of the laws that draw by eigenvectors, without regard to where the rows are stored.

use faer::Mat;
use serde::{Deserialize, Serialize};

use super::{
    CountRule, DEFAULT_PROPOSAL_BUDGET, Projection, acceptance,
    rejection::RejectionSetup,
    spectral::{SpectralLaw, log_weights},
};
use crate::{
    Dpp, KDpp, PartitionDpp, Result,
    engine::{Engine, Items, Rows},
    polynomial::{
        ConditionalBernoulli,
        spectrum::{TiltedSpectrum, keep_probabilities},
    },
};

/// The number of eigenvectors per proposal, and their probabilities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum EigenvectorLaw {
    /// Independent coins with these probabilities.
    Coins(Vec<f64>),
    /// A fixed number of eigenvectors, with probability ∝ Π λ_j.
    OfSize(Vec<f64>, usize),
}

impl EigenvectorLaw {
    fn of(found: &TiltedSpectrum, dpp: &PartitionDpp) -> Self {
        let values = found.spectrum.values.clone();
        match dpp.counts().total() {
            Some(k) => Self::OfSize(values, k),
            None => Self::Coins(keep_probabilities(&values, 0.0)),
        }
    }

    /// r.
    pub(crate) fn rank(&self) -> usize {
        match self {
            Self::Coins(values) | Self::OfSize(values, _) => values.len(),
        }
    }

    /// The probability that each eigenvector is used.
    pub(crate) fn inclusion_probabilities(&self) -> Result<Vec<f64>> {
        match self {
            Self::Coins(keep) => Ok(keep.clone()),
            Self::OfSize(values, k) => Ok(ConditionalBernoulli::new(values, *k)?.inclusion_probabilities()),
        }
    }

    /// The expected number of further eigenvectors used, if `count` more have this eigenvalue.
    pub(crate) fn use_of_more(&self, count: usize, value: f64, log_scale: f64) -> Result<f64> {
        match self {
            Self::Coins(_) => Ok(count as f64 * keep_probabilities(&[value], log_scale)[0]),
            Self::OfSize(values, k) => {
                let all: Vec<f64> = values.iter().copied().chain(vec![value; count]).collect();
                let probabilities = ConditionalBernoulli::new(&all, *k)?.inclusion_probabilities();
                Ok(probabilities[values.len()..].iter().sum())
            }
        }
    }
}

/// The data of a law that proposals need.
#[derive(Debug)]
pub(crate) struct TiltedProposals {
    pub(crate) eigenvectors: EigenvectorLaw,
    /// F, n×r: rows are w_l s_l Fᵀ a_i in whitened coordinates.
    pub(crate) whitener: Mat<f64>,
    /// w_l s_l of every open group.
    pub(crate) row_weights: Vec<f64>,
    /// ln of the ratio between the eigenvalues of the kernel and of the scaled rows.
    pub(crate) log_scale: f64,
    /// The counts that are accepted, and the logarithms of part weights that the acceptance corrects for; all without
    /// a quota.
    pub(crate) rule: Option<(CountRule, Vec<f64>)>,
    /// A lower bound of the draws per proposal.
    pub(crate) acceptance_bound: f64,
    pub(crate) law_error: f64,
}

impl TiltedProposals {
    fn new(found: &TiltedSpectrum, rows: &Rows<'_>, eigenvectors: EigenvectorLaw) -> Self {
        let weights = found.tilt.root_weights();
        Self {
            eigenvectors,
            whitener: found.spectrum.whitener(),
            row_weights: weights.iter().zip(rows.scales()).map(|(weight, scale)| weight * scale).collect(),
            log_scale: 0.0,
            rule: None,
            acceptance_bound: 1.0,
            law_error: found.spectrum.error,
        }
    }

    /// The proposals of a DPP; `None` if every set except the empty one has probability zero.
    pub(crate) fn of_dpp(dpp: &Dpp, engine: &Engine) -> Result<Option<Self>> {
        let items = dpp.ground.free_items();
        let rows = dpp.rows(&items);
        let found = TiltedSpectrum::for_dpp(engine, &rows, &dpp.ground)?;
        Ok(found.map(|(found, log_scale)| {
            let keep = keep_probabilities(&found.spectrum.values, log_scale);
            Self { log_scale, ..Self::new(&found, &rows, EigenvectorLaw::Coins(keep)) }
        }))
    }

    pub(crate) fn of_k_dpp(dpp: &KDpp, engine: &Engine) -> Result<Self> {
        let items = dpp.ground.free_items();
        let rows = Rows::scaled(dpp.ground.features(), vec![Items::from(&items)]);
        let found = TiltedSpectrum::for_size(engine, &rows, &dpp.ground, dpp.size())?;
        let law = EigenvectorLaw::OfSize(found.spectrum.values.clone(), dpp.size());
        Ok(Self::new(&found, &rows, law))
    }

    /// Proposals without acceptance, for a law with something left to choose.
    pub(crate) fn of_spectrum(dpp: &PartitionDpp, engine: &Engine) -> Result<Self> {
        let rows = dpp.rows();
        let found = dpp.spectrum(engine, &rows)?;
        let eigenvectors = EigenvectorLaw::of(&found, dpp);
        Ok(Self::new(&found, &rows, eigenvectors))
    }

    /// The proposals of a Partition-DPP with something left to choose.
    pub(crate) fn of_partition_dpp(dpp: &PartitionDpp, engine: &Engine) -> Result<Self> {
        let setup = RejectionSetup::new(dpp, None, engine)?;
        let RejectionSetup { rows, found, correction, .. } = &setup;
        let acceptance = acceptance::bound(dpp, found, &rows.scales(), correction, engine)?;
        let how = (Projection::Cheaper, DEFAULT_PROPOSAL_BUDGET);
        let (law, law_error) = SpectralLaw::under_quota(&setup, acceptance, how, engine)?;
        let eigenvectors = EigenvectorLaw::of(found, dpp);
        let rule = CountRule::new(dpp.counts(), correction.clone());
        Ok(Self {
            rule: Some((rule, log_weights(found, rows))),
            acceptance_bound: law.acceptance_bound(),
            law_error,
            ..Self::new(found, rows, eigenvectors)
        })
    }
}
