//! Pivoted Cholesky decomposition of K = A Aᵀ under quotas, from the rows.

use super::{
    Candidates, Place, Termination,
    greedy_loop::{FillStep, Picked, Picks, Source, Step},
};
use crate::{
    Result,
    engine::{Ahead, AheadEnd, Demand, Engine, Precision, RemainingCounts, Rows, Top},
    linalg::{INDEPENDENCE_TOLERANCE, OrthonormalBasis, complement, kernels::dot},
};

/// The gains d_i = ‖a_i − π(a_i)‖² of all free items.
pub(super) trait Gains {
    /// The largest gain of a group, the first among ties, and all gains that rounding cannot distinguish from it;
    /// empty if no item is left.
    fn top(&mut self, group: usize) -> Result<Vec<Top>>;
    /// Removes this item.
    fn remove(&mut self, place: Place);
    /// Removes a whole group.
    fn close(&mut self, group: usize);
    /// d ← d − (A q)².
    fn apply(&mut self, direction: &[f64]) -> Result<()>;
    /// Replaces all gains, group by group.
    fn reset(&mut self, gains: Vec<f64>) -> Result<()>;
    /// Replaces all gains by ‖a_i‖².
    fn reset_to_norms(&mut self) -> Result<()>;
    /// The next picks, if the engine makes them without the host, for a set with these remaining counts.
    ///
    /// They end when gains fall below `least`.
    fn pick_ahead(
        &mut self,
        basis: &OrthonormalBasis,
        remaining: &RemainingCounts,
        least: &[f64],
    ) -> Result<Option<Ahead>> {
        let _ = (basis, remaining, least);
        Ok(None)
    }
}

/// A candidate for the next pick.
struct NextPick {
    place: Place,
    gain: f64,
    /// Whether the quota needs it, or it multiplies the determinant by more than 1.
    is_worthwhile: bool,
}

/// The picks so far, and the gains of the other items.
pub(super) struct Pivots<'c, G> {
    candidates: &'c Candidates<'c>,
    engine: &'c Engine,
    precision: Precision,
    rows: &'c Rows<'c>,
    gains: G,
    basis: OrthonormalBasis,
    /// The largest gain of each group when gains were last recomputed.
    reference: Vec<f64>,
    /// Whether gains have been updated since then.
    updated: bool,
    /// Items that can no longer be picked.
    gone: Vec<Place>,
}

impl<'c, G: Gains> Pivots<'c, G> {
    /// Starts from the included items and `start`, and picks until the loop ends. Never picks `barred` items.
    pub(super) fn pick(
        candidates: &'c Candidates<'c>,
        engine: &'c Engine,
        rows: &'c Rows<'c>,
        gains: G,
        start: &[Place],
        barred: &[Place],
        ended: &dyn Fn(&Picked) -> Option<Termination>,
    ) -> Result<Picked> {
        let features = candidates.features();
        let mut basis = OrthonormalBasis::new(features.dims());
        let included = candidates.ground.included().iter().map(|&item| item as usize);
        for item in included.chain(start.iter().map(|&place| candidates.item(place))) {
            let mut row = features.row(item);
            if OrthonormalBasis::normalise(&mut row).is_some() {
                basis.extend(&row);
            }
        }
        let mut picks = Picks::new(&candidates.counts, candidates.counts_of(start));
        let reference = vec![0.0; candidates.groups.len()];
        let gone = [start, barred].concat();
        let (precision, updated) = (engine.info().precision, false);
        let mut pivots = Self { candidates, engine, precision, rows, gains, basis, reference, updated, gone };
        pivots.recompute(&picks)?;
        picks.run(&mut pivots, ended)?;
        Ok(picks.into_picked())
    }

    /// Takes the picks that the engine makes ahead, and returns why it stopped; `None` if it makes none.
    fn take_ahead(&mut self, picks: &mut Picks<'_>) -> Result<Option<AheadEnd>> {
        let least: Vec<f64> = self.reference.iter().map(|reference| self.cancelled() * reference).collect();
        let ahead = self.gains.pick_ahead(&self.basis, &picks.remaining(), &least)?;
        let Some(ahead) = ahead else { return Ok(None) };
        for &(group, position) in &ahead.places {
            if !self.take(picks, Place { group, position }) {
                // The engine considered the item independent, so its gains are worthless.
                self.recompute(picks)?;
                return Ok(Some(AheadEnd::InDoubt));
            }
            self.updated = true;
        }
        if ahead.end == AheadEnd::LongEnough && picks.is_open() {
            self.gains.apply(self.basis.last())?;
        }
        let is_progress = !ahead.places.is_empty() || ahead.end == AheadEnd::NothingWorthwhile;
        Ok(is_progress.then_some(ahead.end))
    }

    /// The fraction of a group's largest gain, when last recomputed, below which cancellation has cost too many
    /// digits.
    fn cancelled(&self) -> f64 {
        self.precision.epsilon().sqrt()
    }

    /// The largest positive gain of all groups with at least this demand, worthwhile ones first; ties go to the
    /// lowest item.
    fn best(&mut self, picks: &Picks<'_>, least: Demand) -> Result<Option<NextPick>> {
        let mut best: Option<((bool, Magnitude), NextPick)> = None;
        for group in picks.groups(least) {
            let scale = self.rows.groups()[group].scale;
            for Top { position, gain } in self.gains.top(group)? {
                let place = Place { group, position };
                let gain = if self.precision == Precision::F64 { gain } else { self.gain(place) };
                if gain <= 0.0 {
                    continue;
                }
                let is_worthwhile = picks.demands()[group] == Demand::Needed || gain > scale * scale;
                let worth = (is_worthwhile, Magnitude::of(gain, scale));
                let better = |(known, at): &((bool, Magnitude), NextPick)| {
                    worth > *known
                        || worth == *known && self.candidates.item(place) < self.candidates.item(at.place)
                };
                if best.as_ref().is_none_or(better) {
                    best = Some((worth, NextPick { place, gain, is_worthwhile }));
                }
            }
        }
        Ok(best.map(|(_, best)| best))
    }

    /// The gain of an item from its row and the directions, in f64.
    fn gain(&self, place: Place) -> f64 {
        let features = self.candidates.features();
        let mut row = vec![0.0; features.dims()];
        features.read_row(self.candidates.item(place), self.rows.groups()[place.group].scale, &mut row);
        let squared = dot(&row, &row);
        OrthonormalBasis::normalise(&mut row);
        self.basis.remove_from(&mut row).map_or(0.0, |residual| squared * residual * residual)
    }

    /// Adds an item, unless its row turns out to depend on the rows before it.
    fn take(&mut self, picks: &mut Picks<'_>, place: Place) -> bool {
        self.gone.push(place);
        self.gains.remove(place);
        let (features, item) = (self.candidates.features(), self.candidates.item(place));
        let mut row = features.row(item);
        let log_norm = OrthonormalBasis::normalise(&mut row);
        let Some((log_norm, residual)) = log_norm.and_then(|log| Some((log, self.basis.extend(&row)?)))
        else {
            return false;
        };
        let log_gain = 2.0 * (log_norm + features.log_weight(item) + residual.ln());
        picks.add(place, log_gain).into_iter().for_each(|group| self.gains.close(group));
        true
    }

    /// Recomputes gains from the rows and the directions, without cancellation.
    fn recompute(&mut self, picks: &Picks<'_>) -> Result<()> {
        if self.basis.len() == 0 {
            self.gains.reset_to_norms()?;
        } else {
            // Single precision would lose the residuals of rows that are nearly in the span.
            let engine = if self.precision == Precision::F64 { self.engine } else { Engine::host() };
            let mut gains = residuals(engine, self.rows, &self.basis)?;
            // The residuals of rows in the span are rounding errors.
            let norms = engine.row_norms(self.rows)?;
            let nothing = INDEPENDENCE_TOLERANCE * INDEPENDENCE_TOLERANCE;
            let spanned = gains.iter_mut().zip(norms).filter(|(gain, norm)| **gain <= nothing * norm);
            spanned.for_each(|(gain, _)| *gain = f64::NEG_INFINITY);
            self.gains.reset(gains)?;
        }
        self.updated = false;
        picks.full_groups().for_each(|group| self.gains.close(group));
        self.gone.iter().for_each(|&place| self.gains.remove(place));
        for group in picks.groups(Demand::Optional) {
            self.reference[group] = self.gains.top(group)?.first().map_or(0.0, |top| top.gain);
        }
        Ok(())
    }
}

impl<G: Gains> Source for Pivots<'_, G> {
    fn step(&mut self, picks: &mut Picks<'_>) -> Result<Step> {
        match self.take_ahead(picks)? {
            Some(AheadEnd::NothingWorthwhile) => return Ok(Step::Nothing),
            Some(_) => return Ok(Step::Made),
            None => {}
        }
        let best = self.best(picks, Demand::Optional)?;
        let is_doubtful = |best: &NextPick| best.gain < self.cancelled() * self.reference[best.place.group];
        if self.updated && best.as_ref().is_none_or(is_doubtful) {
            self.recompute(picks)?;
            return Ok(Step::Made);
        }
        let Some(NextPick { place, is_worthwhile: true, .. }) = best else { return Ok(Step::Nothing) };
        if self.take(picks, place) && picks.is_open() {
            self.gains.apply(self.basis.last())?;
            self.updated = true;
        }
        Ok(Step::Made)
    }

    fn fill_one(&mut self, picks: &mut Picks<'_>) -> Result<FillStep> {
        let Some(NextPick { place, .. }) = self.best(picks, Demand::Needed)? else {
            return Ok(FillStep::Nothing);
        };
        Ok(if self.take(picks, place) { FillStep::Picked } else { FillStep::Dependent })
    }
}

/// The squared residual of every scaled row beyond a basis, group by group.
pub(super) fn residuals(engine: &Engine, rows: &Rows<'_>, basis: &OrthonormalBasis) -> Result<Vec<f64>> {
    if basis.len() == 0 {
        return engine.row_norms(rows);
    }
    if basis.len() >= rows.features().dims() {
        return Ok(vec![0.0; rows.len()]);
    }
    let complement = complement(basis.as_matrix());
    engine.row_forms(rows, &vec![complement.as_ref(); rows.groups().len()])
}

/// gain / scale² as an exponent and a mantissa: exact, without overflow or underflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Magnitude(i64, u64);

impl Magnitude {
    /// Creates it from a positive gain and a power of two.
    fn of(gain: f64, scale: f64) -> Self {
        const MANTISSA: u32 = 52;
        let exponent = |x: f64| (x.to_bits() >> MANTISSA).cast_signed();
        let (gain_exponent, scale_exponent) = (exponent(gain), exponent(scale));
        Self(gain_exponent - 2 * scale_exponent, gain.to_bits() & ((1 << MANTISSA) - 1))
    }
}
