//! Options of samplers.

use super::{Bound, Method, Projection};
use crate::estimate::DEFAULT_LAW_ERROR;

/// The default budget of average proposals per sample.
pub const DEFAULT_PROPOSAL_BUDGET: f64 = 1e7;

/// How a sampler draws, and its budget; the same for every model.
///
/// A [`Method`] alone converts into options: `dpp.sampler(Method::Rejection, &engine)`.
///
/// ```
/// use partition_dpp::{Method, Projection, SamplerOptions};
/// let options = SamplerOptions::default().with_method(Method::Rejection).with_projection(Projection::Leverage);
/// assert_eq!(SamplerOptions::from(Method::Auto), SamplerOptions::default());
/// # assert_ne!(options, SamplerOptions::default());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct SamplerOptions {
    pub(super) method: Method,
    pub(super) projection: Projection,
    pub(super) bound: Bound,
    pub(super) proposal_budget: f64,
    pub(super) law_error: f64,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) draws: Draws,
}

/// The way draws are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Draws {
    /// Many at a time, on a device if one is able to.
    #[default]
    InBatches,
    /// One at a time, on the host.
    OneByOne,
}

impl Default for SamplerOptions {
    /// [`Method::Auto`], [`Projection::Cheaper`], [`Bound::Auto`], [`DEFAULT_PROPOSAL_BUDGET`],
    /// [`DEFAULT_LAW_ERROR`].
    fn default() -> Self {
        Self {
            method: Method::default(),
            projection: Projection::default(),
            bound: Bound::default(),
            proposal_budget: DEFAULT_PROPOSAL_BUDGET,
            law_error: DEFAULT_LAW_ERROR,
            draws: Draws::InBatches,
        }
    }
}

impl From<Method> for SamplerOptions {
    fn from(method: Method) -> Self {
        Self::default().with_method(method)
    }
}

impl SamplerOptions {
    /// Sets how a quota is met. Models without a quota have only one method and ignore this.
    #[must_use]
    pub fn with_method(self, method: Method) -> Self {
        Self { method, ..self }
    }

    /// Sets how items are picked once the eigenvectors are chosen.
    #[must_use]
    pub fn with_projection(self, projection: Projection) -> Self {
        Self { projection, ..self }
    }

    /// Options of a law whose draws are not made on a device.
    pub(super) fn one_by_one(self) -> Self {
        Self { draws: Draws::OneByOne, ..self }
    }

    /// The method; choosing a bound implies rejection.
    pub(super) fn method(&self) -> Method {
        if self.method == Method::Auto && self.bound != Bound::Auto { Method::Rejection } else { self.method }
    }

    /// Sets the bound that rejection accepts proposals against. Models without a quota ignore this.
    #[must_use]
    pub fn with_bound(self, bound: Bound) -> Self {
        Self { bound, ..self }
    }

    /// Sets the largest average number of proposals per sample that [`Method::Auto`], and rejection under ranges,
    /// accept.
    #[must_use]
    pub fn with_proposal_budget(self, proposal_budget: f64) -> Self {
        Self { proposal_budget, ..self }
    }

    /// Sets the total variation error that is accurate enough.
    ///
    /// If the error from rounding may be larger, the model is set up again in coordinates that keep every digit. This
    /// is done only if other coordinates can help and their multi-precision arithmetic takes at most seconds; a
    /// larger error here saves that time. Errors above 1e-4 are refused in any case.
    #[must_use]
    pub fn with_law_error(self, law_error: f64) -> Self {
        Self { law_error, ..self }
    }
}
