//! Visits to items, in which they apply the picks that they have missed.

use super::super::lazy_visits::Leaders;
use crate::{
    Result,
    engine::{Top, row_kernels::CHUNK},
    similarity::{Factor, FeatureScalar},
};

/// The number of picks applied at a time: an item's row is read once for all of them.
const AT_ONCE: usize = 8;
/// The number of items ahead that are prefetched.
const AHEAD: usize = 4;
/// The fraction of the best gain below which an item postpones its remaining picks, since it is unlikely to be picked
/// now.
const PATIENCE: f64 = 0.65;

/// A run of items of a group, with their bounds.
pub(super) struct Run<'a, T> {
    pub(super) items: &'a [u32],
    /// The diagonal entries K_jj.
    pub(super) diagonal: &'a [f64],
    /// The factors from residuals to gains.
    pub(super) scales: &'a [f64],
    /// The residuals after `applied` picks, upper bounds of the current ones; −∞ for items that are out.
    pub(super) bounds: &'a mut [f64],
    pub(super) applied: &'a mut [u32],
    /// The first `applied` entries of L⁻¹ K_{S,j} for every item j.
    pub(super) coefficients: &'a mut [T],
}

/// The working memory of visits.
pub(super) struct Scratch {
    row: Vec<[f64; CHUNK]>,
    /// The coefficients of one item, padded with zeros to a whole chunk.
    known: Vec<f64>,
}

impl Scratch {
    pub(super) fn new(factor: &Factor<'_>) -> Self {
        Self { row: Vec::new(), known: vec![0.0; factor.len().next_multiple_of(CHUNK)] }
    }
}

/// The conditions that are known before a search for the best gain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Floor {
    /// Items with a lower gain are ignored.
    pub(super) gain: f64,
    /// The fraction of K_jj by which residuals may be off.
    pub(super) noise: f64,
}

impl<T: FeatureScalar> Run<'_, T> {
    /// The largest possible gain if the residual is off by this fraction of K_jj.
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
            if self.gain_within(at, floor.noise) < best {
                continue;
            }
            let enough = best.min(PATIENCE * best) / self.scales[at] - floor.noise * self.diagonal[at];
            if self.apply(at, factor, enough, &mut scratch)? {
                let gain = self.gain_within(at, 0.0);
                leaders.offer(Top { position: at, gain });
                best = best.max(gain);
            }
        }
        Ok(leaders)
    }

    /// Applies missed picks until the item's bound is below `enough`. Returns whether the item is up to date.
    ///
    /// ```text
    /// c_t = (K_jt − Σ_{u<t} L_tu c_u) / L_tt,   d_j ← d_j − c_t²
    /// ```
    ///
    /// Coefficients are rounded when stored, and are used as rounded from then on. Each is therefore the exact
    /// coefficient for an entry of K that is off by at most one rounding of the coefficient times L_tt.
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
