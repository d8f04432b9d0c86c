//! The generating function of a ridge law at the nodes of one part.

use std::f64::consts::PI;

use faer::{Mat, c64};

use crate::{
    Result,
    engine::{Engine, Group, RowMap, Rows},
    linalg::sigmoid,
    model::{DrawnDpp, FreeRidge, log_probability},
    polynomial::{generating_function::GeneratingFunction, torus::Torus},
};

/// The angles θ of a group's nodes from 0 to π; conjugates are left out.
#[derive(Clone, Debug)]
pub(super) struct Angles(Vec<f64>);

/// An angle, and whether the node is at the conjugate of the angle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) at: usize,
    pub(super) is_conjugate: bool,
}

impl Angles {
    /// The angles of every group.
    pub(super) fn of(torus: &Torus) -> Vec<Self> {
        let angles = |[size, _, half]: [usize; 3]| {
            let angle = |j: usize| PI * (2 * j + half) as f64 / size as f64;
            Self((0..=size / 2).filter(|j| 2 * j + half <= size).map(angle).collect())
        };
        torus.steps(0).into_iter().map(angles).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn get(&self, at: usize) -> f64 {
        self.0[at]
    }
}

impl Turn {
    /// The turn of every group at a node.
    pub(super) fn of(torus: &Torus, node: usize) -> Vec<Self> {
        let turn = |[size, j, half]: [usize; 3]| {
            let is_conjugate = 2 * j + half > size;
            Self { at: if is_conjugate { size - j - half } else { j }, is_conjugate }
        };
        torus.steps(node).into_iter().map(turn).collect()
    }

    /// Converts a number at the angle to the number at the node.
    pub(super) fn of_number(self, z: c64) -> c64 {
        if self.is_conjugate { z.conj() } else { z }
    }
}

/// The factors of an item with log-odds x if the variable of its part turns by the angle θ.
///
/// ```text
/// c = 1 − p + p e^{iθ}:   the generating function of B
/// ```
#[derive(Clone, Copy, Debug)]
pub(super) struct ItemTurn {
    /// ln c.
    log: c64,
    x: f64,
    angle: f64,
}

impl ItemTurn {
    pub(super) fn new(x: f64, angle: f64) -> Self {
        let square = (0.5 * angle).sin().powi(2);
        // 4 p (1 − p)
        let spread = 4.0 * sigmoid(x) * sigmoid(-x);
        // |c|² = 1 − spread·square, without cancellation.
        let log_square = if spread * square < 0.5 {
            (-spread * square).ln_1p()
        } else {
            ((0.5 * x).tanh().powi(2) + spread * (0.5 * angle).cos().powi(2)).ln()
        };
        let argument = (sigmoid(x) * angle.sin()).atan2(1.0 - 2.0 * sigmoid(x) * square);
        Self { log: c64::new(0.5 * log_square, argument), x, angle }
    }

    /// ln c.
    pub(super) fn log(self) -> c64 {
        self.log
    }

    /// 1/|c|, the factor by which rounding errors grow.
    pub(super) fn growth(self) -> f64 {
        (-self.log.re).exp()
    }

    /// e^{iθ}/c: the square of an item's row relative to the row without a turn.
    fn square(self) -> c64 {
        exp(c64::new(-self.log.re, self.angle - self.log.im))
    }

    /// ln of the factors of an item's row in A and B, the two parts of its square: e^{iθ}/c = e^{iθ} A + B.
    fn log_factors(self) -> [f64; 2] {
        [log_probability(-self.x), log_probability(self.x)].map(|log| 0.5 * log - self.log.re)
    }

    /// p e^{iθ}/c: the probability that the item is in B.
    pub(super) fn added(self) -> c64 {
        self.square() * sigmoid(self.x)
    }

    /// (1 − p) e^{iθ}/c²: the factor of the probability that the item is in T, in units of its row without a turn.
    pub(super) fn drawn(self) -> c64 {
        exp(c64::new(-2.0 * self.log.re, self.angle - 2.0 * self.log.im)) * sigmoid(-self.x)
    }
}

pub(super) fn exp(z: c64) -> c64 {
    let (sin, cos) = z.im.sin_cos();
    c64::new(cos, sin) * z.re.exp()
}

/// Σ u_i u_iᵀ e^{iθ}/c_i over a group, at every angle.
#[derive(Clone, Debug)]
pub(super) enum Shares {
    /// In units of the sum without a turn, if all items have the same quality.
    Even(Vec<c64>),
    Each(Vec<Mat<c64>>),
}

/// A group at all of its angles.
#[derive(Clone, Debug)]
pub(super) struct TurnedGroup {
    pub(super) angles: Angles,
    /// Σ ln c_i.
    pub(super) logs: Vec<c64>,
    /// The largest 1/|c_i|.
    pub(super) growth: Vec<f64>,
    pub(super) shares: Shares,
}

impl TurnedGroup {
    /// All groups at their angles.
    ///
    /// # Cost
    /// Two passes over the rows of every group per angle, unless all items have the same quality.
    pub(super) fn all(
        engine: &Engine,
        free: &FreeRidge,
        log_weights: &[f64],
        drawn: &DrawnDpp,
        function: Option<&GeneratingFunction>,
        torus: &Torus,
    ) -> Result<Vec<Self>> {
        let angles = Angles::of(torus);
        let mut tables = match function {
            Some(function) if !free.is_even() => {
                measured(engine, free, log_weights, drawn, function, &angles)?
            }
            _ => vec![Vec::new(); angles.len()],
        };
        let group = |(group, angles): (usize, Angles)| {
            let t = log_weights[group];
            // The item whose probability p is nearest to ½.
            let distances = free.groups[group].iter().map(|item| (free.log_odds(item) + t).abs());
            let nearest = distances.fold(f64::INFINITY, f64::min);
            let log = |&angle: &f64| {
                let [re, im] = free.sums(group, t, |x| {
                    let log = ItemTurn::new(x, angle).log();
                    [log.re, log.im]
                });
                c64::new(re, im)
            };
            let shares = if free.is_even() {
                let x = free.log_delta() + t;
                Shares::Even(angles.0.iter().map(|&angle| ItemTurn::new(x, angle).square()).collect())
            } else {
                Shares::Each(std::mem::take(&mut tables[group]))
            };
            let logs = angles.0.iter().map(log).collect();
            let growth = angles.0.iter().map(|&angle| ItemTurn::new(nearest, angle).growth()).collect();
            Self { angles, logs, growth, shares }
        };
        Ok(angles.clone().into_iter().enumerate().map(group).collect())
    }
}

/// Computes the shares of every group at its angles from the rows.
fn measured(
    engine: &Engine,
    free: &FreeRidge,
    log_weights: &[f64],
    drawn: &DrawnDpp,
    function: &GeneratingFunction,
    angles: &[Angles],
) -> Result<Vec<Vec<Mat<c64>>>> {
    let mut tables = vec![Vec::new(); angles.len()];
    let rows = drawn.rows();
    for at in 0..angles.iter().map(Angles::len).max().unwrap_or(0) {
        let groups: Vec<usize> = (0..angles.len()).filter(|&group| at < angles[group].len()).collect();
        let weights: Vec<f64> = groups.iter().map(|&group| function.weights[group]).collect();
        let map = RowMap { weights: &weights, factor: function.map.as_ref() };
        let grams = |part: usize| {
            let factor = |group: usize, x: f64| match angles[group].0.get(at) {
                Some(&angle) => ItemTurn::new(x, angle).log_factors()[part],
                None => 0.0,
            };
            let weighted = free.weighted(drawn.ground.features(), log_weights, 0.0, factor)?;
            let members: Vec<Group<'_>> = groups.iter().map(|&group| rows.groups()[group]).collect();
            engine.part_grams(&Rows::with_scales(&weighted, members), Some(&map))
        };
        let (first, second) = (grams(0)?, grams(1)?);
        for ((&group, a), b) in groups.iter().zip(&first).zip(&second) {
            let turn = exp(c64::new(0.0, angles[group].get(at)));
            let entry = |i: usize, j: usize| turn * a[(i, j)] + b[(i, j)];
            tables[group].push(Mat::from_fn(a.nrows(), a.ncols(), entry));
        }
    }
    Ok(tables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_of_an_item() {
        for x in [-700.0, -20.0, -1e-3, 0.0, 0.4, 30.0, 700.0] {
            for angle in [0.0, 0.1, 1.5, 3.0, 3.1] {
                let turn = ItemTurn::new(x, angle);
                let rotation = exp(c64::new(0.0, angle));
                let c = c64::new(sigmoid(-x), 0.0) + rotation * sigmoid(x);
                assert!((exp(turn.log()) - c).norm() < 1e-14, "{x} {angle}");
                let [a, b] = turn.log_factors().map(|log| (2.0 * log).exp());
                let near = |found: c64, exact: c64| (found - exact).norm() < 1e-11 * (1.0 + exact.norm());
                assert!(near(turn.square(), rotation * a + c64::new(b, 0.0)), "{x} {angle}");
                assert!(near(turn.square(), rotation / c), "{x} {angle}");
                assert!(near(turn.drawn(), rotation / (c * c) * sigmoid(-x)), "{x} {angle}");
            }
        }
    }
}
