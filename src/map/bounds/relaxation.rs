//! What every relaxation offers, and the bound that follows at any point.

use faer::Mat;

use super::choice::Choices;
use crate::Result;

/// A concave function over [0, 1]^m that is nowhere below ln det K_S at the indicator of a set S.
///
/// At any x, whether or not it is near the maximum,
///
/// ```text
/// max_S ln det K_S  ≤  f(x) + max_y ∇f(x)·(y − x)
/// ```
///
/// over the y that the quotas allow: the linear problem is solved by sorting.
pub(super) trait Relaxation: Sync {
    /// What evaluation at a point leaves behind.
    type Point: AsRef<Linearised> + Send;

    /// Value and gradient.
    fn at(&self, x: &[f64]) -> Result<Self::Point>;

    /// −∇²f, positive semidefinite; both halves are filled.
    fn curvature(&self, point: &Self::Point) -> Mat<f64>;
}

/// A concave function near a point.
#[derive(Clone, Debug)]
pub(super) struct Linearised {
    /// f.
    pub(super) value: f64,
    /// ∇f.
    pub(super) gradient: Vec<f64>,
    /// What rounding may have taken from f.
    pub(super) error: f64,
}

impl Linearised {
    /// The bound at x.
    pub(super) fn bound(&self, x: &[f64], choices: &Choices) -> f64 {
        let best = choices.best(&self.gradient).value;
        let here: f64 = self.gradient.iter().zip(x).map(|(g, x)| g * x).sum();
        let size: f64 = self.gradient.iter().zip(x).map(|(g, x)| (g * x).abs()).sum();
        let summed = f64::EPSILON * (x.len() as f64).sqrt() * (self.value.abs() + best.abs() + size);
        self.value + (best - here) + self.error + 8.0 * summed
    }
}
