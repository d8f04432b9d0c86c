//! Inclusion probabilities of a ridge law.

use faer::{Mat, MatRef, c64};

use super::{
    nodes::RidgeNodes,
    turned::{ItemTurn, Shares, Turn},
};
use crate::{
    Result,
    engine::{Engine, GridRequest, in_double},
    linalg::{self, add_real_part},
    model::{FreeItems, FreeRidge},
    polynomial::generating_function::GeneratingFunction,
};

/// The sums over nodes that determine the probabilities of a group's items. There is one sum per angle, or a single
/// sum if all items have the same quality.
///
/// ```text
/// Pr(i ∈ S) Z = Σ over angles of Re (a_i v + b_i u_iᵀ W u_i),   v = Σ x φ,   W = Σ x φ P⁻¹ over the nodes at the angle
/// ```
///
/// Here a_i = p_i e^{iθ}/c_i and b_i = (1 − p_i) e^{iθ}/c_i² are the derivatives of ln φ.
#[derive(Debug)]
enum Sums {
    /// Σ Re a v, and Σ Re b W.
    Even(f64, Mat<f64>),
    Each(Vec<c64>, Vec<Mat<c64>>),
}

impl Sums {
    fn new(shares: &Shares, angles: usize, rank: usize) -> Self {
        match shares {
            Shares::Even(_) => Self::Even(0.0, Mat::zeros(rank, rank)),
            Shares::Each(_) => {
                Self::Each(vec![c64::new(0.0, 0.0); angles], vec![Mat::zeros(rank, rank); angles])
            }
        }
    }

    /// Adds a node with this x φ; `even` is the turn of all items, if they have the same quality.
    fn add(&mut self, turn: Turn, value: c64, inverse: Option<&Mat<c64>>, even: Option<ItemTurn>) {
        match self {
            Self::Even(added, form) => {
                let Some(item) = even else { unreachable!("all items have the same quality") };
                *added += (turn.of_number(item.added()) * value).re;
                if let Some(inverse) = inverse {
                    add_real_part(form, turn.of_number(item.drawn()) * value, inverse);
                }
            }
            Self::Each(added, forms) => {
                added[turn.at] += turn.of_number(value);
                let Some(inverse) = inverse else { return };
                let form = &mut forms[turn.at];
                for j in 0..form.ncols() {
                    for i in 0..form.nrows() {
                        form[(i, j)] += turn.of_number(value * inverse[(i, j)]);
                    }
                }
            }
        }
    }
}

impl RidgeNodes {
    /// Sets the probabilities of the items of all groups and returns their error.
    pub(super) fn set_probabilities(
        &self,
        engine: &Engine,
        free: &FreeRidge,
        log_weights: &[f64],
        out: &mut [f64],
    ) -> Result<f64> {
        let rank = self.function.as_ref().map_or(0, GeneratingFunction::rank);
        let new = |group: &super::turned::TurnedGroup| Sums::new(&group.shares, group.angles.len(), rank);
        let mut sums: Vec<Sums> = self.groups.iter().map(new).collect();
        self.visit(engine, GridRequest::Inverses, |node, turns, value| {
            let weighted = self.extractors[node] * value.phi;
            for (group, (sums, &turn)) in sums.iter_mut().zip(turns).enumerate() {
                let even = free.is_even().then(|| {
                    let angle = self.groups[group].angles.get(turn.at);
                    ItemTurn::new(free.log_delta() + log_weights[group], angle)
                });
                sums.add(turn, weighted, value.inverse.as_ref(), even);
            }
        })?;
        for (group, sums) in sums.iter().enumerate() {
            for item in free.groups[group].iter() {
                out[item] = match sums {
                    Sums::Even(added, _) => *added,
                    Sums::Each(added, _) => {
                        let x = free.log_odds(item) + log_weights[group];
                        let term = |(at, v): (usize, &c64)| {
                            (ItemTurn::new(x, self.groups[group].angles.get(at)).added() * v).re
                        };
                        added.iter().enumerate().map(term).sum()
                    }
                };
            }
        }
        self.add_drawn(engine, free, log_weights, &sums, out)?;
        let mass = self.mass.value;
        for item in free.groups.iter().flat_map(FreeItems::iter) {
            out[item] = (out[item] / mass).clamp(0.0, 1.0);
        }
        let most = free.counts.most.min(rank) + 2;
        Ok(self.spectrum + most as f64 * self.mass.error / mass)
    }

    /// Adds Σ Re b_i u_iᵀ W u_i.
    fn add_drawn(
        &self,
        engine: &Engine,
        free: &FreeRidge,
        log_weights: &[f64],
        sums: &[Sums],
        out: &mut [f64],
    ) -> Result<()> {
        let even = |sums: &Sums| if let Sums::Even(_, form) = sums { Some(form.clone()) } else { None };
        let forms: Vec<Option<Mat<f64>>> = sums.iter().map(even).collect();
        self.add_forms(engine, &forms, |item, _, form| out[item] += form)?;
        let angles = self.groups.iter().map(|group| group.angles.len()).max().unwrap_or(0);
        for at in 0..angles {
            let part = |of: fn(c64) -> f64| -> Vec<Option<Mat<f64>>> {
                let form = |sums: &Sums| match sums {
                    Sums::Each(_, forms) => {
                        let form = forms.get(at)?;
                        Some(Mat::from_fn(form.nrows(), form.ncols(), |i, j| of(form[(i, j)])))
                    }
                    Sums::Even(..) => None,
                };
                sums.iter().map(form).collect()
            };
            let factor = |item: usize, group: usize| {
                let x = free.log_odds(item) + log_weights[group];
                ItemTurn::new(x, self.groups[group].angles.get(at)).drawn()
            };
            self.add_forms(engine, &part(|z| z.re), |item, group, form| {
                out[item] += factor(item, group).re * form;
            })?;
            self.add_forms(engine, &part(|z| z.im), |item, group, form| {
                out[item] -= factor(item, group).im * form;
            })?;
        }
        Ok(())
    }

    /// Calls `add` with u_iᵀ W_l u_i for the items of every group with a W_l. The form is the difference of two
    /// squares.
    fn add_forms(
        &self,
        engine: &Engine,
        forms: &[Option<Mat<f64>>],
        mut add: impl FnMut(usize, usize, f64),
    ) -> Result<()> {
        let (Some(function), true) = (&self.function, forms.iter().any(Option::is_some)) else {
            return Ok(());
        };
        let rows = self.drawn.rows();
        for sign in [1.0, -1.0] {
            let factor = |group: usize| match forms.get(group).and_then(Option::as_ref) {
                Some(form) => {
                    let root = linalg::positive_root(form.as_ref(), sign * function.weights[group].powi(2))?;
                    Ok(linalg::square_root(&function.map * root))
                }
                // Certain items, and groups with fewer angles, have no form.
                None => Ok(Mat::zeros(function.map.nrows(), 1)),
            };
            let factors = (0..rows.groups().len()).map(factor).collect::<Result<Vec<_>>>()?;
            let factors: Vec<MatRef<'_, f64>> = factors.iter().map(Mat::as_ref).collect();
            let squares = in_double(engine).row_forms(&rows, &factors)?;
            for ((item, group), square) in rows.iter().zip(squares) {
                if forms.get(group).is_some_and(Option::is_some) {
                    add(item, group, sign * square);
                }
            }
        }
        Ok(())
    }
}
