//! The generating function of a ridge law at the nodes of a torus.

use faer::{Mat, c64};

use super::turned::{Shares, Turn, TurnedGroup, exp};
use crate::{
    Estimate, Result,
    engine::{Engine, GridRequest, Precision, RowMap, Rows, in_double, inverses_at_a_time},
    estimate::accurate,
    linalg::{complex_determinant, complex_inverse, sigmoid, softplus},
    model::{Correction, DrawnDpp, FreeItems, FreeRidge, log_probability},
    parallel::map_ordered,
    polynomial::{
        CountLaws,
        generating_function::GeneratingFunction,
        spectrum::TiltedSpectrum,
        torus::{RangeSum, Torus, default_node_budget},
    },
};

/// The sum over all allowed counts, with its nodes.
///
/// ```text
/// φ(θ) = Π_i (1 − p_i + p_i e^{iθ}) det P(θ),   P(θ) = I + Σ_i u_i u_iᵀ (e^{iθ} / (1 − p_i + p_i e^{iθ}) − 1)
/// ```
///
/// Here u_i are the rows of the marginal kernel of T, and θ is the angle of item i's part.
#[derive(Debug)]
pub(super) struct RidgeNodes {
    pub(super) drawn: DrawnDpp,
    /// The generating function of T; `None` if all rows are zero.
    pub(super) function: Option<GeneratingFunction>,
    pub(super) groups: Vec<TurnedGroup>,
    pub(super) torus: Torus,
    /// The factors of φ at every node.
    pub(super) extractors: Vec<c64>,
    /// The sum as a fraction of e^Φ.
    pub(super) mass: Estimate<f64>,
    /// The error of the spectrum, in units of the sum.
    pub(super) spectrum: f64,
    /// ln of the sum over all allowed sets.
    pub(super) log_sum: Estimate<f64>,
}

/// φ and P⁻¹ at a node.
#[derive(Debug)]
pub(super) struct Value {
    pub(super) phi: c64,
    pub(super) inverse: Option<Mat<c64>>,
}

impl RidgeNodes {
    /// Computes the nodes of a law in which a choice is left.
    pub(super) fn new(
        engine: &Engine,
        free: &FreeRidge,
        log_weights: &[f64],
        drawn: &DrawnDpp,
    ) -> Result<Self> {
        let rows = drawn.rows();
        let found = TiltedSpectrum::for_dpp(engine, &rows, &drawn.ground)?;
        let (mut log_mass, mut lost, mut function) = (0.0, 0.0, None);
        if let Some((found, log_scale)) = found {
            let (of_drawn, reference) = GeneratingFunction::of_free_size(&found, &rows.scales(), log_scale)?;
            (log_mass, lost, function) = (reference.log_value(), found.spectrum.error, Some(of_drawn));
        }
        let exact = in_double(engine);
        let coins: Vec<usize> = free.groups.iter().map(FreeItems::len).collect();
        let laws = CountLaws::bounded(means(exact, free, log_weights, drawn, function.as_ref())?, &coins);
        let correction = Correction::new(&free.counts, log_weights);
        let sum = RangeSum::new(laws, free.counts.clone(), correction).between();
        let rank = function.as_ref().map_or(0, GeneratingFunction::rank);
        let torus = sum.torus(default_node_budget(rank.max(1)))?;
        let extractors = sum.extractors(engine, &torus)?;
        let groups = TurnedGroup::all(exact, free, log_weights, drawn, function.as_ref(), &torus)?;
        for (group, t) in log_weights.iter().enumerate() {
            log_mass += free.sums(group, *t, |x| [softplus(x)])[0];
        }
        log_mass += free.certain.iter().map(|&item| free.log_odds(item as usize)).sum::<f64>();
        let nothing = Estimate { value: 0.0, error: 0.0 };
        let drawn = drawn.clone();
        let mut nodes = Self {
            drawn,
            function,
            groups,
            torus,
            extractors,
            mass: nothing,
            spectrum: 0.0,
            log_sum: nothing,
        };
        nodes.mass = nodes.summed(engine)?;
        let mass = nodes.mass;
        // In the worst case, all sets affected by the error of the spectrum are allowed.
        nodes.spectrum = accurate(lost / mass.value)?;
        let terms = (rank + log_weights.len() + 4) as f64;
        let largest = log_mass.abs().max(sum.log_unit().abs()).max(1.0);
        nodes.log_sum = Estimate {
            value: log_mass + mass.value.ln() + sum.log_unit(),
            error: accurate(mass.error / mass.value)? + nodes.spectrum + terms * f64::EPSILON * largest,
        };
        Ok(nodes)
    }

    /// The sum and its error.
    fn summed(&self, engine: &Engine) -> Result<Estimate<f64>> {
        let mut values = Vec::with_capacity(self.torus.nodes());
        self.visit(engine, GridRequest::Determinants, |_, _, value| values.push(value.phi))?;
        let found = self.torus.extracted(&values, &self.extractors, self.rank(), Precision::F64);
        let grown = |(node, (phi, x)): (usize, (&c64, &c64))| {
            let turns = Turn::of(&self.torus, node);
            let growth = turns.iter().zip(&self.groups).map(|(turn, group)| group.growth[turn.at]);
            phi.norm() * x.norm() * growth.fold(1.0, f64::max).powi(2)
        };
        let grown: f64 = values.iter().zip(&self.extractors).enumerate().map(grown).sum();
        let rounding = 2.0 * (self.rank() as f64 + 4.0) * f64::EPSILON * grown;
        Ok(Estimate { value: found.value, error: found.error + rounding })
    }

    fn rank(&self) -> usize {
        self.function.as_ref().map_or(0, GeneratingFunction::rank)
    }

    /// Calls `visit` with every node, its turns, φ and, on request, P⁻¹.
    pub(super) fn visit(
        &self,
        engine: &Engine,
        request: GridRequest,
        mut visit: impl FnMut(usize, &[Turn], Value),
    ) -> Result<()> {
        let size = inverses_at_a_time(self.rank());
        for start in (0..self.torus.nodes()).step_by(size) {
            engine.proceed()?;
            let of = |at: usize| {
                let turns = Turn::of(&self.torus, start + at);
                let value = self.value(&turns, request);
                (turns, value)
            };
            let values = map_ordered(size.min(self.torus.nodes() - start), of);
            for (at, (turns, value)) in values.into_iter().enumerate() {
                visit(start + at, &turns, value);
            }
        }
        Ok(())
    }

    fn value(&self, turns: &[Turn], request: GridRequest) -> Value {
        let logs = turns.iter().zip(&self.groups).map(|(turn, group)| turn.of_number(group.logs[turn.at]));
        let log = logs.sum::<c64>();
        let Some(function) = &self.function else { return Value { phi: exp(log), inverse: None } };
        let matrix = self.matrix(function, turns);
        let (determinant, inverse) = if request == GridRequest::Inverses {
            let (determinant, inverse) = complex_inverse(&matrix);
            (determinant, Some(inverse))
        } else {
            (complex_determinant(&matrix), None)
        };
        let log_scale = f64::from(determinant.exponent) * std::f64::consts::LN_2;
        Value { phi: determinant.mantissa * exp(log + c64::new(log_scale, 0.0)), inverse }
    }

    /// P(θ).
    fn matrix(&self, function: &GeneratingFunction, turns: &[Turn]) -> Mat<c64> {
        let rank = function.rank();
        let mut sum = Mat::<c64>::identity(rank, rank);
        for ((turn, group), share) in turns.iter().zip(&self.groups).zip(&function.shares) {
            match &group.shares {
                Shares::Even(squares) => {
                    let factor = turn.of_number(squares[turn.at]) - c64::new(1.0, 0.0);
                    add(&mut sum, |i, j| factor * share[(i, j)]);
                }
                Shares::Each(turned) => {
                    let turned = &turned[turn.at];
                    add(&mut sum, |i, j| turn.of_number(turned[(i, j)]) - c64::new(share[(i, j)], 0.0));
                }
            }
        }
        sum
    }
}

fn add(sum: &mut Mat<c64>, term: impl Fn(usize, usize) -> c64) {
    for j in 0..sum.ncols() {
        for i in 0..sum.nrows() {
            sum[(i, j)] += term(i, j);
        }
    }
}

/// The expected part counts of a law without its quota.
///
/// ```text
/// E|S∩P_l| = Σ p_i + Σ (1 − p_i) ‖u_i‖²
/// ```
fn means(
    engine: &Engine,
    free: &FreeRidge,
    log_weights: &[f64],
    drawn: &DrawnDpp,
    function: Option<&GeneratingFunction>,
) -> Result<Vec<f64>> {
    let added = |(group, t): (usize, &f64)| free.sums(group, *t, |x| [sigmoid(x)])[0];
    let mut means: Vec<f64> = log_weights.iter().enumerate().map(added).collect();
    let Some(function) = function else { return Ok(means) };
    let root = |_, x: f64| 0.5 * log_probability(-x);
    let weighted = free.weighted(drawn.ground.features(), log_weights, 0.0, root)?;
    let rows = Rows::with_scales(&weighted, drawn.rows().groups().to_vec());
    let map = RowMap { weights: &function.weights, factor: function.map.as_ref() };
    for (mean, gram) in means.iter_mut().zip(engine.part_grams(&rows, Some(&map))?) {
        *mean += (0..gram.nrows()).map(|j| gram[(j, j)]).sum::<f64>();
    }
    Ok(means)
}
