//! The softmax extension: its value and gradient in the cube, computed from features.

use std::sync::atomic::{AtomicU64, Ordering};

use faer::{Mat, MatRef, Side, linalg::solvers::Llt};

use super::{Candidates, Objective};
use crate::{
    Dpp, Error, Result, Subset, Watch,
    engine::{Engine, Group, Items, Rows},
    linalg::{column, column_mut, inverse_of_lower, kernels::dot, power_of_two_near},
    map::Place,
    parallel::fold_ordered,
};

/// F(x) = ln E[det K_S], where item i is in S with probability x_i, independently.
///
/// ```text
/// F(x) = ln Σ_S det(K_S) Π_{i∈S} x_i Π_{i∉S} (1 − x_i) = ln det(Diag(x)(K − I) + I)
/// ```
///
/// At a corner of the cube F is ln det K_S. It is concave along every direction whose entries have the same sign.
/// Along one coordinate it is the logarithm of an affine function.
///
/// Included items have x_i = 1 and excluded ones x_i = 0; the values given for them are ignored.
///
/// # Cost
/// O(mn² + n³) operations and three passes over A per point. K is never formed.
///
/// # Numerics
/// f64. Items with x_i below ½ enter by the matrix determinant lemma, the others (at most 2n, the largest) by its
/// dual. Nothing is therefore divided by a small 1 − x_i or x_i:
///
/// ```text
/// F = −Σ_L ln(1+w_i) + ln det B − Σ_H ln(1+1/w_i) + ln det G,   w_i = x_i/(1−x_i)
/// B = I + Σ_L w_i a_i a_iᵀ,   G = Diag(1/w_i)_H + A_H B⁻¹ A_Hᵀ
/// ```
///
/// Errors are about 1e-16·max K_ii. If a row could be longer than 2¹⁴, all rows are multiplied by a power of two that
/// prevents it; F then belongs to the scaled kernel.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Dpp, Engine, Features, map::SoftmaxExtension};
/// let features = Features::from_rows(2, 2, vec![2.0, 0.0, 0.0, 3.0])?;
/// let dpp = Dpp::new(&features)?;
/// // A diagonal kernel: F = Σ ln(1 + x_i (K_ii − 1)).
/// let point = SoftmaxExtension::new(&dpp).at(&[0.5, 1.0], &Engine::cpu())?;
/// assert!((point.value - (2.5_f64 * 9.0).ln()).abs() < 1e-12);
/// assert!((point.gradient[0] - 3.0 / 2.5).abs() < 1e-12);
/// # Ok(()) }
/// ```
///
/// # Source
/// Gillenwater, Kulesza and Taskar (2012).
#[derive(Debug)]
pub struct SoftmaxExtension<'m> {
    candidates: Candidates<'m>,
    /// The factor by which rows are multiplied, a power of two.
    scale: f64,
    /// The number of evaluations of F.
    evaluations: AtomicU64,
}

/// The softmax extension at a point.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SoftmaxPoint {
    /// F(x); −∞ if all sets of positive probability have dependent or nearly dependent rows.
    pub value: f64,
    /// ∂F/∂x_i for every item; 0 for included and excluded items, and for all items if F is −∞.
    pub gradient: Vec<f64>,
}

/// Longer rows are scaled down.
const LONGEST: f64 = 16384.0;

impl<'m> SoftmaxExtension<'m> {
    /// Creates the extension of ln det K_S for the sets of a DPP.
    #[must_use]
    pub fn new(model: &'m Dpp) -> Self {
        let candidates = model.candidates();
        let features = candidates.features();
        let longest = features.max_abs() * (features.dims() as f64).sqrt();
        let scale = if longest > LONGEST { power_of_two_near(longest / LONGEST).recip() } else { 1.0 };
        Self { candidates, scale, evaluations: AtomicU64::new(0) }
    }

    /// Computes F and its gradient at a point with one x_i per item.
    ///
    /// # Errors
    /// - [`Error::Shape`] if the number of values is not m;
    /// - [`Error::NotAProbability`] for the first x_i outside [0, 1];
    /// - [`Error::Eigen`]; errors of the engine.
    pub fn at(&self, x: &[f64], engine: &Engine) -> Result<SoftmaxPoint> {
        let odds = self.odds(x)?;
        let mut gradient = vec![0.0; x.len()];
        let Some(point) = self.point(engine, &odds)? else {
            return Ok(SoftmaxPoint { value: f64::NEG_INFINITY, gradient });
        };
        for (position, (&odds, &ratio)) in odds.iter().zip(&point.ratios).enumerate() {
            let item = self.candidates.item(Place { group: 0, position });
            // (ρ − 1) / (1 − x + xρ).
            gradient[item] = if odds > 1.0 {
                (ratio - 1.0) * (1.0 + odds.recip()) / (odds.recip() + ratio)
            } else {
                (ratio - 1.0) * (1.0 + odds) / (1.0 + odds * ratio)
            };
        }
        Ok(SoftmaxPoint { value: point.value, gradient })
    }

    /// Returns a set with ln det K_S ≥ F(x), up to rounding errors, by rounding every x_i to its better end.
    ///
    /// # Cost
    /// One evaluation of F if x is near a local maximum, at most m.
    ///
    /// # Errors
    /// Errors of [`at`](SoftmaxExtension::at).
    pub fn round(&self, x: &[f64], engine: &Engine) -> Result<Subset> {
        let odds = self.odds(x)?;
        let at = self.point_or_nowhere(engine, &odds)?;
        let Some(corner) = self.round_odds(engine, &odds, &at, &Watch::default().start())? else {
            unreachable!("this clock never ends")
        };
        Ok(self.candidates.subset(&places_at(&corner)))
    }

    /// The odds x_i/(1 − x_i) of the free items.
    fn odds(&self, x: &[f64]) -> Result<Vec<f64>> {
        let items = self.candidates.features().items();
        if x.len() != items {
            return Err(Error::Shape { what: "the point of the cube", expected: items, found: x.len() });
        }
        if let Some(item) = x.iter().position(|x| !(0.0..=1.0).contains(x)) {
            return Err(Error::NotAProbability { item, value: x[item] });
        }
        let free = Items::from(&self.candidates.groups[0]);
        Ok(free.iter().map(|item| x[item] / (1.0 - x[item])).collect())
    }

    fn rows(&self) -> Rows<'_> {
        let items = Items::from(&self.candidates.groups[0]);
        Rows::with_scales(self.candidates.features(), vec![Group { items, scale: self.scale }])
    }

    /// F at these odds; `None` if it is −∞.
    pub(super) fn point(&self, engine: &Engine, odds: &[f64]) -> Result<Option<Point>> {
        self.evaluations.fetch_add(1, Ordering::Relaxed);
        let rows = self.rows();
        let Some(split) = Split::of(odds, self.candidates.counts.most) else { return Ok(None) };
        let Ok(base) = weighted_gram(&rows, &split.weights).llt(Side::Lower) else { return Ok(None) };
        let whitening = inverse_of_lower(base.L());
        let image = &whitening * self.rows_above(&split.above).transpose();
        let mut gram = image.transpose() * &image;
        for (at, &position) in split.above.iter().enumerate() {
            gram[(at, at)] += odds[position].recip();
        }
        let Ok(gram) = gram.llt(Side::Lower) else { return Ok(None) };
        let gram_whitening = inverse_of_lower(gram.L());
        let below = whitening.transpose().to_owned();
        let above = &below * image * gram_whitening.transpose();
        let mut forms = engine.row_forms(&rows, &[below.as_ref()])?;
        if above.ncols() > 0 {
            let taken = engine.row_forms(&rows, &[above.as_ref()])?;
            forms.iter_mut().zip(taken).for_each(|(form, taken)| *form = (*form - taken).max(0.0));
        }
        let ratio = |(&form, &weight): (&f64, &f64)| form / (1.0 - weight * form).max(f64::MIN_POSITIVE);
        let mut ratios: Vec<f64> = forms.iter().zip(&split.weights).map(ratio).collect();
        for (at, &position) in split.above.iter().enumerate() {
            let share = dot(column(gram_whitening.as_ref(), at), column(gram_whitening.as_ref(), at));
            ratios[position] = (1.0 - share / odds[position]).max(0.0) / share;
        }
        let value = log_det(&base) + log_det(&gram) - split.normaliser(odds);
        Ok(value.is_finite().then_some(Point { value, ratios }))
    }

    pub(super) fn evaluations(&self) -> u64 {
        self.evaluations.load(Ordering::Relaxed)
    }

    /// F at these odds. If it is −∞, all ratios are 0.
    pub(super) fn point_or_nowhere(&self, engine: &Engine, odds: &[f64]) -> Result<Point> {
        let nowhere = || Point { value: f64::NEG_INFINITY, ratios: vec![0.0; odds.len()] };
        Ok(self.point(engine, odds)?.unwrap_or_else(nowhere))
    }

    /// The rows A_H: some free items, then the included ones.
    fn rows_above(&self, above: &[usize]) -> Mat<f64> {
        let free = above.iter().map(|&position| self.candidates.item(Place { group: 0, position }));
        let included = self.candidates.ground.included().iter().map(|&item| item as usize);
        let items: Vec<usize> = free.chain(included).collect();
        let mut columns = Mat::zeros(self.candidates.features().dims(), items.len());
        for (at, &item) in items.iter().enumerate() {
            self.candidates.features().read_row(item, self.scale, column_mut(columns.as_mut(), at));
        }
        columns.transpose().to_owned()
    }
}

/// Whether an inclusion probability is neither 0 nor 1.
pub(super) fn is_inside(odds: f64) -> bool {
    odds > 0.0 && odds.is_finite()
}

/// The items with inclusion probability 1.
pub(super) fn places_at(corner: &[f64]) -> Vec<Place> {
    let certain = (0..corner.len()).filter(|&position| corner[position].is_infinite());
    certain.map(|position| Place { group: 0, position }).collect()
}

/// F at a point, with a ratio for every item.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) value: f64,
    /// ρ_i = E[det K_S | i ∈ S] / E[det K_S | i ∉ S].
    pub(super) ratios: Vec<f64>,
}

impl Point {
    /// max |Pr(i) − x_i|, with sets weighted by their determinant.
    pub(super) fn largest_change(&self, odds: &[f64]) -> f64 {
        let probability =
            |odds: f64| if odds > 1.0 { (1.0 + odds.recip()).recip() } else { odds / (1.0 + odds) };
        let change = |(&odds, &ratio): (&f64, &f64)| match odds {
            0.0 | f64::INFINITY => 0.0,
            _ => (probability(odds * ratio) - probability(odds)).abs(),
        };
        odds.iter().zip(&self.ratios).map(change).fold(0.0, f64::max)
    }
}

/// The split into items that enter by the lemma and items that enter by its dual.
struct Split {
    /// The weights w_i of L; 0 for H.
    weights: Vec<f64>,
    /// The items of H, ascending.
    above: Vec<usize>,
}

impl Split {
    /// Splits the items; `None` if more items are certain than can be independent.
    fn of(odds: &[f64], rank: usize) -> Option<Self> {
        let mut above: Vec<usize> = (0..odds.len()).filter(|&i| odds[i] > 1.0).collect();
        if above.iter().filter(|&&i| odds[i].is_infinite()).count() > rank {
            return None;
        }
        above.sort_by(|&i, &j| odds[j].total_cmp(&odds[i]));
        above.truncate(2 * rank);
        above.sort_unstable();
        let mut weights = odds.to_vec();
        above.iter().for_each(|&i| weights[i] = 0.0);
        Some(Self { weights, above })
    }

    /// The logarithm of Π (1 + odds) over L and Π (1 + 1/odds) over H.
    fn normaliser(&self, odds: &[f64]) -> f64 {
        let below: f64 = self.weights.iter().map(|weight| weight.ln_1p()).sum();
        let above: f64 = self.above.iter().map(|&i| odds[i].recip().ln_1p()).sum();
        below + above
    }
}

/// The lower half of I + Σ w_i a_i a_iᵀ over rows with positive weight.
fn weighted_gram(rows: &Rows<'_>, weights: &[f64]) -> Mat<f64> {
    const CHUNK: usize = 1024;
    const WAVE: usize = 32;
    let (features, Group { items, scale }) = (rows.features(), rows.groups()[0]);
    let positive: Vec<usize> = (0..weights.len()).filter(|&at| weights[at] > 0.0).collect();
    let chunks: Vec<&[usize]> = positive.chunks(CHUNK).collect();
    let partial = |chunk: usize| {
        let mut columns = Mat::<f64>::zeros(features.dims(), chunks[chunk].len());
        for (at, &position) in chunks[chunk].iter().enumerate() {
            let scale = scale * weights[position].sqrt();
            features.read_row(items.at(position), scale, column_mut(columns.as_mut(), at));
        }
        gram(columns.as_ref())
    };
    let mut sum = Mat::<f64>::identity(features.dims(), features.dims());
    fold_ordered(chunks.len(), WAVE, partial, |_, gram| sum += gram);
    sum
}

/// The product C Cᵀ.
fn gram(columns: MatRef<'_, f64>) -> Mat<f64> {
    let mut gram = Mat::zeros(columns.nrows(), columns.nrows());
    let (whole, transposed) = (columns, columns.transpose());
    faer::linalg::matmul::matmul(&mut gram, faer::Accum::Replace, whole, transposed, 1.0, faer::Par::Seq);
    gram
}

fn log_det(factor: &Llt<f64>) -> f64 {
    let factor = factor.L();
    2.0 * (0..factor.nrows()).map(|j| factor[(j, j)].ln()).sum::<f64>()
}
