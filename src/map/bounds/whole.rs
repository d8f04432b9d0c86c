//! The Γ relaxation of a whole ground set on the engine.

use faer::Mat;

use super::{
    Relaxed, Subproblem,
    balance::balance,
    choice::Choices,
    columns::{Pool, maximise_by_columns},
    error_amplification::ErrorAmplification,
    gamma::{Gamma, GammaPoint, RoundedRow},
    relaxation::Majorant,
    spectral::{Grams, bound_from_grams},
};
use crate::{
    Result,
    engine::{Engine, RowMap, Rows, in_double},
    map::{
        Candidates, Place,
        rounding::{VANISHING, of_sum, of_value},
    },
    model::FreeItems,
};

/// All candidates, group by group.
struct Whole<'a> {
    candidates: &'a Candidates<'a>,
    engine: &'a Engine,
    rows: &'a Rows<'a>,
    choices: Choices,
    /// ‖v_i‖² of the scaled rows, before projection.
    norms: Vec<f64>,
    /// The error of a row's residual beyond the included rows, as a fraction of the row's length.
    unknown: f64,
    /// The weights of the parts, in addition to their scales.
    log_weights: Vec<f64>,
}

impl Whole<'_> {
    fn subproblem(&self, items: &[usize]) -> Subproblem {
        let mut group = 0;
        let mut places = Vec::with_capacity(items.len());
        for &item in items {
            while self.choices.groups[group].last().is_none_or(|&last| last < item) {
                group += 1;
            }
            places.push(Place { group, position: item - self.choices.groups[group][0] });
        }
        Subproblem::new(self.candidates, places).reweighted(&self.log_weights)
    }
}

impl Pool for Whole<'_> {
    type Master = Gamma;

    fn master(&self, items: &[usize]) -> (Gamma, Choices) {
        let problem = self.subproblem(items);
        (Gamma::of(&problem), Choices::of(&problem))
    }

    fn majorants(&self, master: &Gamma, point: &GammaPoint) -> Result<[Majorant; 2]> {
        let (factor, dims) = (point.gradient_factor(), self.rows.features().dims());
        let (lifted, rounding) = match self.candidates.ground.beyond() {
            Some(basis) => (basis * factor, of_sum(dims) * (1.0 + (dims as f64).sqrt())),
            None => (factor, of_sum(dims)),
        };
        let raised = point.raised(rounding);
        let groups = self.rows.groups();
        let forms = self.engine.row_forms(self.rows, &vec![lifted.as_ref(); groups.len()])?;
        let mut prices = Vec::with_capacity(forms.len());
        for ((items, group), log_weight) in self.choices.groups.iter().zip(groups).zip(&self.log_weights) {
            let (factor, linear) = (log_weight.exp(), -2.0 * group.scale.ln() - log_weight);
            for &item in items {
                let (form, length) = (factor * forms[item], (factor * self.norms[item]).sqrt());
                // The factor is also rounded.
                let error = (self.unknown + of_value(2.0)) * length + VANISHING;
                prices.push(raised(&RoundedRow { form, length, error, linear }));
            }
        }
        Ok(Majorant::with_scales(master.intercept(point, &self.choices.counts), prices))
    }

    fn choices(&self) -> &Choices {
        &self.choices
    }
}

/// The places of all items, in the order of [`relax_whole`].
pub(crate) fn places(candidates: &Candidates<'_>) -> Vec<Place> {
    places_of(&candidates.groups)
}

/// The places of all items of some groups.
pub(crate) fn places_of(groups: &[FreeItems]) -> Vec<Place> {
    let members = groups.iter().map(FreeItems::len).enumerate();
    members.flat_map(|(group, len)| (0..len).map(move |position| Place { group, position })).collect()
}

/// The Γ bound of all candidates, starting from a set of them.
///
/// # Cost
/// 2mn² for each of about ten to thirty rounds.
pub(crate) fn relax_whole(
    candidates: &Candidates<'_>,
    engine: &Engine,
    start: &[Place],
    enough: &dyn Fn(f64, f64) -> bool,
) -> Result<Relaxed> {
    // Prices in single precision would not give a bound.
    let engine = in_double(engine);
    let rows = candidates.rows();
    let norms = engine.row_norms(&rows)?;
    let choices = choices(candidates);
    let mut items: Vec<usize> =
        start.iter().map(|place| choices.groups[place.group][place.position]).collect();
    items.extend(longest_rows(&choices, &norms, &rows));
    items.sort_unstable();
    items.dedup();
    let log_weights = vec![0.0; choices.groups.len()];
    let unknown = ErrorAmplification::of(candidates).most();
    let mut whole = Whole { candidates, engine, rows: &rows, choices, norms, unknown, log_weights };
    whole.log_weights = balance(&whole.subproblem(&items), enough)?;
    Ok(Relaxed::from_priced(maximise_by_columns(&whole, items, enough)?))
}

/// The choices among all candidates, group by group.
fn choices(candidates: &Candidates<'_>) -> Choices {
    let mut first = 0;
    let mut groups = Vec::with_capacity(candidates.groups.len());
    for members in &candidates.groups {
        groups.push((first..first + members.len()).collect::<Vec<usize>>());
        first += members.len();
    }
    Choices { groups, counts: candidates.counts.clone() }
}

/// As many of the longest rows as are chosen, plus one of every group.
fn longest_rows(choices: &Choices, norms: &[f64], rows: &Rows<'_>) -> Vec<usize> {
    // Logarithms undo scales. All are positive, so as many rows as possible are taken.
    let mut lengths = vec![0.0; norms.len()];
    for (items, group) in choices.groups.iter().zip(rows.groups()) {
        let shift = 2.0 * group.scale.ln();
        items.iter().for_each(|&item| lengths[item] = norms[item].max(f64::MIN_POSITIVE).ln() - shift);
    }
    let shortest = lengths.iter().copied().fold(f64::INFINITY, f64::min);
    lengths.iter_mut().for_each(|length| *length += 1.0 - shortest);
    choices.ends(&lengths).with_next()
}

/// The bounds of all candidates that take one pass over the rows.
pub(crate) struct OnePass {
    pub(crate) spectral: f64,
    pub(crate) hadamard: f64,
}

/// Computes both bounds.
///
/// # Cost
/// 2mn².
pub(crate) fn one_pass_over_whole(candidates: &Candidates<'_>, engine: &Engine) -> Result<OnePass> {
    let engine = in_double(engine);
    let rows = candidates.rows();
    let map = candidates.ground.beyond().map(Mat::as_ref);
    let ones = vec![1.0; rows.groups().len()];
    let map = map.map(|factor| RowMap { weights: &ones, factor });
    let grams = engine.part_grams(&rows, map.as_ref())?;
    let norms = engine.row_norms(&rows)?;
    let weights: Vec<f64> = rows.groups().iter().map(|group| -2.0 * group.scale.ln()).collect();
    let offset = candidates.log_det_included_at_most();
    let longest = norms.iter().copied().fold(0.0, f64::max).sqrt();
    let grams = Grams {
        grams: &grams,
        items: norms.len(),
        weights: &weights,
        longest,
        error: longest * ErrorAmplification::of(candidates).most(),
    };
    let spectral = bound_from_grams(&grams, &candidates.counts)? + offset;
    let hadamard = hadamard(candidates, &norms, &weights, offset);
    Ok(OnePass { spectral: spectral + of_value(spectral), hadamard })
}

/// Hadamard's bound; projecting rows off the included ones does not lengthen them.
fn hadamard(candidates: &Candidates<'_>, norms: &[f64], weights: &[f64], offset: f64) -> f64 {
    let choices = choices(candidates);
    let dims = candidates.features().dims();
    let mut slopes = vec![f64::NEG_INFINITY; norms.len()];
    for (items, weight) in choices.groups.iter().zip(weights) {
        for &item in items {
            let log_length = (norms[item].sqrt() * (1.0 + of_sum(dims)) + VANISHING).ln();
            slopes[item] = weight + 2.0 * log_length + 2.0 * (of_value(*weight) + of_value(log_length));
        }
    }
    Majorant { intercept: offset, slopes }.maximum(&choices)
}
