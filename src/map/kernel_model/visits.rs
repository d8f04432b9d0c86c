//! Visits to items, in which they apply the picks that they have missed.

use super::super::lazy_visits::Leaders;
use crate::{
    Result,
    engine::{Top, row_kernels::CHUNK},
    similarity::{Factor, FeatureScalar},
};

/// Picks applied at a time: an item's row is read once for all of them.
const AT_ONCE: usize = 8;
/// How many items ahead are prefetched.
const AHEAD: usize = 4;
/// An item below this fraction of the best gain postpones its remaining picks, since it is unlikely to be picked now.
const PATIENCE: f64 = 0.65;

/// A run of items of a group, with what is known of them.
pub(super) struct Run<'a, T> {
    pub(super) items: &'a [u32],
    /// K_jj.
    pub(super) diagonal: &'a [f64],
    /// What multiplies residuals to make gains.
    pub(super) scales: &'a [f64],
    /// Residuals after `applied` picks, at least what they are now; −∞ for items that are out.
    pub(super) bounds: &'a mut [f64],
    pub(super) applied: &'a mut [u32],
    /// The first entries of L⁻¹ K_{S,j} for every item j, as many as are applied.
    pub(super) coefficients: &'a mut [T],
}

/// Memory of visits.
pub(super) struct Scratch {
    row: Vec<[f64; CHUNK]>,
    /// The coefficients of an item, and zeros up to a whole chunk.
    known: Vec<f64>,
}

impl Scratch {
    pub(super) fn new(factor: &Factor<'_>) -> Self {
        Self { row: Vec::new(), known: vec![0.0; factor.len().next_multiple_of(CHUNK)] }
    }
}

/// Which items apply the picks that they have missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Update {
    /// All.
    Every,
    /// Those that could be the best.
    Needed,
}

/// What a search for the best gain knows before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Floor {
    pub(super) update: Update,
    /// Items with a lower gain are not looked for.
    pub(super) gain: f64,
    /// By which fraction of K_jj residuals may be off.
    pub(super) noise: f64,
}

impl<T: FeatureScalar> Run<'_, T> {
    /// What a gain can be if the residual is off by this fraction of K_jj.
    pub(super) fn gain_within(&self, at: usize, noise: f64) -> f64 {
        (self.bounds[at] + noise * self.diagonal[at]) * self.scales[at]
    }

    /// Visits the items listed, and returns the best that are up to date.
    pub(super) fn visit(&mut self, factor: &Factor<'_>, listed: &[usize], floor: Floor) -> Result<Leaders> {
        let mut scratch = Scratch::new(factor);
        let (mut leaders, mut best) = (Leaders::default(), floor.gain);
        for (index, &at) in listed.iter().enumerate() {
            if let Some(&ahead) = listed.get(index + AHEAD) {
                factor.kernel().prefetch(self.items[ahead] as usize);
            }
            let enough = match floor.update {
                Update::Every => f64::NEG_INFINITY,
                Update::Needed if self.gain_within(at, floor.noise) < best => continue,
                Update::Needed => {
                    best.min(PATIENCE * best) / self.scales[at] - floor.noise * self.diagonal[at]
                }
            };
            if self.apply(at, factor, enough, &mut scratch)? {
                let gain = self.gain_within(at, 0.0);
                leaders.offer(Top { position: at, gain });
                best = best.max(gain);
            }
        }
        Ok(leaders)
    }

    /// Applies picks that an item has missed until its bound is below `enough`; returns whether it is up to date.
    ///
    /// ```text
    /// c_t = (K_jt − Σ_{u<t} L_tu c_u) / L_tt,   d_j ← d_j − c_t²
    /// ```
    ///
    /// Coefficients are rounded when they are stored, and count as rounded from then on: each is then the exact one of an
    /// entry of K that is off by at most one rounding of the coefficient times L_tt.
    fn apply(&mut self, at: usize, factor: &Factor<'_>, enough: f64, scratch: &mut Scratch) -> Result<bool> {
        let picks = factor.len();
        let mut applied = self.applied[at] as usize;
        if applied == picks {
            return Ok(true);
        }
        let stride = self.coefficients.len() / self.items.len();
        let stored = &mut self.coefficients[at * stride..(at + 1) * stride];
        let Scratch { row, known } = scratch;
        known.iter_mut().zip(&stored[..applied]).for_each(|(known, value)| *known = value.wide());
        let item = self.items[at] as usize;
        let mut bound = self.bounds[at];
        let (mut values, mut products) = ([0.0; AT_ONCE], [0.0; AT_ONCE]);
        while applied < picks && bound >= enough {
            let count = AT_ONCE.min(picks - applied);
            let chunked = applied.next_multiple_of(CHUNK);
            known[applied..chunked].fill(0.0);
            factor.entries(item, applied, row, &mut values[..count])?;
            factor.products(known[..chunked].as_chunks().0, applied, &mut products[..count]);
            for next in 0..count {
                let within =
                    (0..next).map(|u| factor.entry(applied + next, applied + u) * known[applied + u]);
                let rest = values[next] - products[next] - within.sum::<f64>();
                let exact = rest / factor.entry(applied + next, applied + next);
                bound -= exact * exact;
                let rounded = T::nearest(exact);
                stored[applied + next] = rounded;
                known[applied + next] = rounded.wide();
            }
            applied += count;
        }
        self.bounds[at] = bound;
        #[expect(clippy::cast_possible_truncation, reason = "picks are items, counted in 32 bits")]
        let count = applied as u32;
        self.applied[at] = count;
        Ok(applied == picks)
    }
}
