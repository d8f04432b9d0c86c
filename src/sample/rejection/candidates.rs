//! Weighted draws whose traces are estimated, where there are too many Gram matrices to read.

use super::{BoundedLaw, chance::Picks, proposal::Buffers};
use crate::{Result, engine::Engine};

/// Candidates of all picks that are looked at together, and the most of such picks.
const TOGETHER: usize = 256;
const MOST_PICKS: usize = 32;
/// The share of a row outside the span below which the span is read again for the next pick.
const LITTLE: f64 = 0.01;

/// The least and the most candidates of a pick.
const FEWEST: usize = 4;
const MOST: usize = 64;
/// As many as two quotas of embeddings were found to want, rounded up, for predictions.
pub(in crate::sample) const MANY_CANDIDATES: f64 = 8.0;
/// What estimates may cost of the effective share of draws: about as much in ln w, in square.
const PRICE: f64 = 0.25;
/// An exact trace takes 5r² operations, and waits for memory about four times as long.
const EXACT: f64 = 20.0;
/// Draws that tell how many candidates are wanted, in tasks, and their candidates and seed.
const TASKS: usize = 4;
const EACH: usize = 2;
const FIRST: usize = 16;
const SEED: u64 = 0x66_65_77;

/// Candidates estimate the traces, and those of some picks are drawn before the first of these picks is made: the span is
/// read once for all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lookahead {
    /// Candidates of a pick.
    pub(super) candidates: usize,
    /// Picks whose candidates are drawn together.
    pub(super) picks: usize,
}

impl Lookahead {
    /// So many candidates for each of as many picks as suit caches.
    pub(super) fn of(candidates: usize) -> Self {
        Self { candidates, picks: (TOGETHER / candidates).clamp(1, MOST_PICKS) }
    }
}

impl BoundedLaw {
    /// The candidates of a pick, in proportion to the variance that they leave; `None` if exact traces take less, and may be
    /// had.
    pub(super) fn candidates_wanted(
        &mut self,
        size: f64,
        may_be_exact: bool,
        engine: &Engine,
    ) -> Result<Option<usize>> {
        self.lookahead = Some(Lookahead::of(FIRST));
        let drawn = self.weigh_many((0..TASKS, EACH), SEED, engine)?;
        let spread = drawn.iter().map(|weighed| weighed.spread).sum::<f64>() / drawn.len() as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturating")]
        let wanted = ((spread / PRICE).ceil() as usize).max(FEWEST);
        let rank = self.rows.rank() as f64;
        let exact = EXACT * rank * rank / (self.rows.read_operations() + rank * size);
        if !may_be_exact {
            return Ok(Some(wanted.min(MOST)));
        }
        Ok((wanted <= MOST && wanted as f64 <= exact).then_some(wanted))
    }

    /// Picks items one after another, each one of c candidates that are drawn in proportion to h_i ≥ ‖v_i‖²; returns the
    /// logarithm of
    ///
    /// ```text
    /// Π_t Σ_i h_i · f̄_t,   f̄_t = Σ_j f_tj / c,   f_tj = ‖P_t v_j‖² / h_j,   Pr(j) = f_tj / Σ_j f_tj
    /// ```
    ///
    /// An item comes to be picked with E f̄ 1{i} = ‖P v_i‖² / Σ h, so that f̄ takes the place of the exact trace, whose
    /// estimate it is: it enters the weight once, given the items before, and is never negative.
    ///
    /// # Source
    /// Fearnhead, Papaspiliopoulos and Roberts, *Particle filters for partially observed diffusions* (2008), for random weights.
    pub(super) fn among_candidates(
        &self,
        lookahead: Lookahead,
        chance: &mut impl Picks,
        buffers: &mut Buffers,
    ) -> f64 {
        let (mut groups, mut log) = (Vec::new(), 0.0);
        for place in 0..self.counts.order().len() {
            let (group, count) = self.choose_count(place, groups.len(), chance, &mut log);
            groups.extend(std::iter::repeat_n(group, count));
            buffers.counts.push((group, count));
        }
        let mut made = 0;
        while made < groups.len() && log > f64::NEG_INFINITY {
            let ahead = &groups[made..groups.len().min(made + lookahead.picks)];
            log += self.among_some(ahead, lookahead.candidates, chance, buffers);
            made = buffers.items.len();
        }
        log
    }

    /// One pick of each of these groups, up to one of which little is left: its rounding would reach those after it.
    fn among_some(
        &self,
        groups: &[usize],
        candidates: usize,
        chance: &mut impl Picks,
        buffers: &mut Buffers,
    ) -> f64 {
        let Buffers { items, span, positions, rows, outside_span, scratch, amplification, spread, .. } =
            buffers;
        let rank = self.rows.rank();
        positions.clear();
        rows.resize(groups.len() * candidates * rank, 0.0);
        for (&group, rows) in groups.iter().zip(rows.chunks_exact_mut(candidates * rank)) {
            if !chance.goes_on() {
                return f64::NEG_INFINITY;
            }
            let first = positions.len();
            chance.picks(self.rows.table(group), candidates, positions);
            self.rows.read_all(group, &positions[first..], scratch, rows);
        }
        outside_span.enter(span, rows, rank);
        let mut log = 0.0;
        for (&group, first) in groups.iter().zip((0..).step_by(candidates)) {
            let (table, own) = (self.rows.table(group), first..first + candidates);
            let shares = |(&left, &position): (&f64, &u32)| {
                // The residual of a picked row is a rounding error: its probability is zero.
                let is_picked = items.contains(&table.item(position));
                if is_picked { 0.0 } else { left / table.weight(position) }
            };
            let left = outside_span.squares()[own.clone()].iter().zip(&positions[own.clone()]);
            let left: Vec<f64> = left.map(shares).collect();
            let sum: f64 = left.iter().sum();
            if !sum.is_normal() {
                return f64::NEG_INFINITY;
            }
            let mean = sum / candidates as f64;
            let square =
                left.iter().map(|left| (left - mean).powi(2)).sum::<f64>() / (candidates - 1).max(1) as f64;
            *spread += square / (mean * mean);
            log += table.total().ln() + mean.ln();
            let chosen = chance.choose(left.iter().map(|left| left / sum).enumerate());
            if left[chosen] <= 0.0 {
                return f64::NEG_INFINITY;
            }
            *amplification += left[chosen].recip();
            items.push(table.item(positions[first + chosen]));
            outside_span.choose(rows, first + chosen, own.end);
            if left[chosen] < LITTLE {
                break;
            }
        }
        outside_span.extend(span, rows);
        log
    }
}
