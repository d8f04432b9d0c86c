//! The interface of relaxations, and the bound from any point.

use faer::Mat;

use super::choice::Choices;
use crate::{Result, map::rounding::of_sum, model::Counts};

/// A concave function over [0, 1]^m that is at least ln det K_S at the indicator of every set S.
///
/// At any x, whether or not it is near the maximum,
///
/// ```text
/// max_S ln det K_S  ≤  f(x) + max_y ∇f(x)·(y − x)
/// ```
///
/// over the y that the quota allows. This is a linear problem, solved by sorting. f(x) − ∇f(x)·x and ∇f(x) are
/// replaced by numbers computed from a dual point, for which the bound holds despite rounding.
pub(super) trait Relaxation: Sync {
    /// The result of an evaluation at a point.
    type Point: AsRef<Linearised> + Send;

    /// Evaluates the value and gradient.
    fn at(&self, x: &[f64]) -> Result<Self::Point>;

    /// −∇²f, positive semidefinite; both halves are filled.
    fn curvature(&self, point: &Self::Point) -> Mat<f64>;

    /// The bound that a point proves.
    fn majorant(&self, point: &Self::Point, counts: &Counts) -> Majorant;
}

/// A concave function near a point.
#[derive(Clone, Debug)]
pub(super) struct Linearised {
    /// The rounded value of f.
    pub(super) value: f64,
    /// The rounded ∇f.
    pub(super) gradient: Vec<f64>,
}

/// ln det K_S ≤ intercept + Σ_{i∈S} slope_i for all sets with certain counts, rounding included.
#[derive(Clone, Debug)]
pub(super) struct Majorant {
    pub(super) intercept: f64,
    pub(super) slopes: Vec<f64>,
}

impl Majorant {
    /// Creates the majorants of rows with their given scales and with their best scales.
    pub(super) fn with_scales(intercept: f64, slopes: Vec<[f64; 2]>) -> [Self; 2] {
        let (plain, scaled) = slopes.into_iter().map(|[plain, scaled]| (plain, scaled)).unzip();
        [Self { intercept, slopes: plain }, Self { intercept, slopes: scaled }]
    }

    /// An upper bound of the maximum; ∞ if nothing is known.
    ///
    /// The bound minus an item's regret also bounds the maximum with that item forced in or out.
    pub(super) fn maximum(&self, choices: &Choices) -> f64 {
        let best = choices.best(&self.slopes);
        let taken = self.slopes.iter().zip(&best.taken).filter(|(_, taken)| **taken);
        let size = self.intercept.abs() + taken.map(|(slope, _)| slope.abs()).sum::<f64>();
        let bound = self.intercept + best.value;
        // Items of zero length are in no set.
        let added = if bound == f64::NEG_INFINITY { 0.0 } else { of_sum(choices.counts.most + 4) * size };
        if bound.is_nan() { f64::INFINITY } else { bound + added }
    }
}
