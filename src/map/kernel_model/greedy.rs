//! The greedy algorithm on the columns of a kernel.

use super::{
    super::{
        Greedy, Place, Solution, Solver, Stats, Termination,
        greedy_loop::{self, FillStep, Picks, Source, Step},
        watch::Clock,
    },
    KernelModel, NOTHING,
    gains::{Gains, Leader},
};
use crate::{
    Result, Subset,
    engine::{Demand, Engine},
    similarity::{Factor, FeatureScalar, NextRow},
};

/// The most bytes of coefficients that are kept in f64 from the start.
const SMALL: usize = 256 << 20;
/// The most items that are computed in f64 before a pick, because rounding cannot distinguish their gains from the
/// largest.
const MOST_CHECKED: usize = 16;
/// Gains below this many times the error of the coefficients are computed with coefficients in f64.
const CLEAR: f64 = 64.0;
/// The gain, in units, below which the unit is too large.
const FAINT: f64 = 1e-150;

/// Picks on the columns of a kernel by pivoted Cholesky decomposition of K, K_S = L Lᵀ.
///
/// ```text
/// c_j = L⁻¹ K_{S,j},   d_j = K_jj − ‖c_j‖²,   i* = argmax d_j
/// ```
///
/// Gains are upper bounds: an item applies the picks that it has missed, many at a time, when its last known gain is
/// among the largest.
///
/// # Cost
/// At most 2mnk + mk² operations, and 4mk bytes for the coefficients c (8mk up to 256 MiB, or if f32 is not accurate
/// enough). Every pick takes 2nk + k² more operations for each item that is nearly as good.
///
/// # Numerics
/// Before a pick, the gains of the best 16 items that rounding cannot distinguish are computed in f64 from entries of
/// K. The pick is the best of these, and its gain is accurate. The same items give the measured error of gains from
/// coefficients in f32. Once the largest gain is below 64 times this error, coefficients are computed again in f64.
impl Solver<KernelModel<'_>> for Greedy {
    /// Returns the greedy set of a kernel function.
    ///
    /// A stopped run fills the quota with the items whose last known gains are largest, as long as they are
    /// independent. If the picks exhaust the rank that a part needs, the set stays short of the quota.
    ///
    /// # Errors
    /// [`Error::Kernel`](crate::Error::Kernel) if entries are not finite.
    fn solve(&self, model: &KernelModel<'_>, engine: &Engine) -> Result<Solution> {
        Ok(pick(model, &engine.apart().1.start())?.solution(model))
    }
}

/// A greedy set, with the included items in its factor.
#[derive(Debug)]
pub(super) struct Factored<'k> {
    pub(super) factor: Factor<'k>,
    pub(super) picked: greedy_loop::Picked,
}

impl Factored<'_> {
    pub(super) fn solution(self, model: &KernelModel<'_>) -> Solution {
        let greedy_loop::Picked { places, gains, termination } = self.picked;
        let stats = Stats { gains, ..Stats::default() };
        model.solution(&places, model.log_det(&self.factor), termination, stats)
    }
}

impl KernelModel<'_> {
    fn no_picks(&self) -> Picks<'_> {
        Picks::new(&self.counts, vec![0; self.groups.len()])
    }

    pub(super) fn item(&self, place: Place) -> usize {
        self.groups[place.group][place.position] as usize
    }

    /// The logarithm of the gain, ln q_j² d_j.
    fn log_gain(&self, item: usize, residual: f64) -> f64 {
        residual.ln() + self.log_square(item)
    }

    /// The number of these items in each group.
    pub(super) fn counts_of(&self, places: &[Place]) -> Vec<usize> {
        let mut counts = vec![0; self.groups.len()];
        places.iter().for_each(|place| counts[place.group] += 1);
        counts
    }

    /// The solution with the included items and the items at these places.
    pub(super) fn solution(
        &self,
        places: &[Place],
        log_det: f64,
        termination: Termination,
        stats: Stats,
    ) -> Solution {
        Solution {
            subset: Subset::from_distinct(self.chosen(places).collect()),
            log_det,
            covered: None,
            missing: self.counts.missing(&self.counts_of(places)),
            upper_bound: None,
            termination,
            stats,
            engine: Engine::host().info(),
        }
    }
}

/// Computes the greedy set of a model.
pub(super) fn pick<'k>(model: &KernelModel<'k>, clock: &Clock) -> Result<Factored<'k>> {
    let items: usize = model.groups.iter().map(Vec::len).sum();
    let bytes =
        items.saturating_mul(model.included().len() + model.counts.most).saturating_mul(size_of::<f64>());
    if bytes > SMALL { in_single(model, clock) } else { in_double(model, clock) }
}

fn in_double<'k>(model: &KernelModel<'k>, clock: &Clock) -> Result<Factored<'k>> {
    let mut picks = model.no_picks();
    let factor = model.included_factor(model.counts.most)?;
    let factor = ColumnPivots::<f64>::new(model, factor, &picks).run(&mut picks, clock)?.0;
    Ok(Factored { factor, picked: picks.into_picked() })
}

/// Picks with coefficients in f32 as long as they are accurate enough.
fn in_single<'k>(model: &KernelModel<'k>, clock: &Clock) -> Result<Factored<'k>> {
    let mut picks = model.no_picks();
    let factor = model.included_factor(model.counts.most)?;
    let (mut factor, is_done) = ColumnPivots::<f32>::new(model, factor, &picks).run(&mut picks, clock)?;
    if !is_done {
        // All coefficients are computed again, as items are visited.
        factor = ColumnPivots::<f64>::new(model, factor, &picks).run(&mut picks, clock)?.0;
    }
    Ok(Factored { factor, picked: picks.into_picked() })
}

/// The item to pick.
#[derive(Clone, Copy, Debug)]
struct Best {
    place: Place,
    /// The residual d_j.
    residual: f64,
    /// The gain q_j² d_j, in the unit of gains.
    gain: f64,
}

/// The items that can be picked, with the factor of the picked ones.
struct ColumnPivots<'m, 'k, T> {
    model: &'m KernelModel<'k>,
    factor: Factor<'k>,
    gains: Gains<'m, 'k, T>,
    /// The largest observed error of a gain, as a fraction of K_jj.
    noise: f64,
    next: NextRow,
}

impl<'m, 'k, T: FeatureScalar> ColumnPivots<'m, 'k, T> {
    fn new(model: &'m KernelModel<'k>, factor: Factor<'k>, picks: &Picks<'_>) -> Self {
        let mut gains = Gains::new(model, model.included().len() + model.counts.most);
        picks.picked().places.iter().for_each(|&place| gains.remove(place));
        picks.full_groups().for_each(|group| gains.close(group));
        Self { model, factor, gains, noise: T::EPSILON, next: NextRow::default() }
    }

    /// Picks until the loop ends. Returns the factor, and whether the loop ended before gains became unclear.
    fn run(mut self, picks: &mut Picks<'_>, clock: &Clock) -> Result<(Factor<'k>, bool)> {
        let included = self.model.log_det(&self.factor) - picks.picked().gains.iter().sum::<f64>();
        let is_done = picks.run(&mut self, &|picked| {
            let log_det = included + picked.gains.iter().sum::<f64>();
            clock.report(log_det, None, picked.places.len() as u64);
            clock.ended()
        })?;
        Ok((self.factor, is_done))
    }

    /// Sets the unit of gains to the largest gain that could be picked. Returns whether the unit changes.
    fn rescale(&mut self, picks: &Picks<'_>) -> bool {
        let demands = picks.demands();
        self.gains.rescale(|group| match demands[group] {
            Demand::Full => None,
            // A power of two below 1/2 belongs to gains below 1.
            Demand::Optional => Some(-1.0),
            Demand::Needed => Some(f64::NEG_INFINITY),
        })
    }

    /// Finds the item with the largest gain that the quota needs or that multiplies the determinant by more than 1.
    ///
    /// Its residual is computed from K, and its row of the factor is in `next`. Also returns whether dependent items
    /// were removed.
    fn best(&mut self, demands: &[Demand]) -> Result<(Option<Best>, bool)> {
        let one = self.gains.one();
        let least = |demand: &Demand| match demand {
            Demand::Full => None,
            Demand::Optional => Some(one),
            Demand::Needed => Some(f64::MIN_POSITIVE),
        };
        let least: Vec<Option<f64>> = demands.iter().map(least).collect();
        let leaders = self.gains.best(&self.factor, &least, self.noise)?;
        let (mut best, mut removed): (Option<Best>, bool) = (None, false);
        let mut other = NextRow::default();
        let mut checked = 0;
        for Leader { place, residual: stored, scale } in leaders {
            let item = self.model.item(place);
            let diagonal = self.model.diagonal[item];
            let at_most = stored + self.noise * diagonal;
            if at_most <= NOTHING * diagonal {
                // The item depends on the chosen ones, and always will.
                self.gains.remove(place);
                removed = true;
                continue;
            }
            let enough = |residual: f64| {
                demands[place.group] == Demand::Needed || self.model.log_gain(item, residual) > 0.0
            };
            let is_behind = best.is_some_and(|best: Best| at_most * scale < best.gain);
            if checked == MOST_CHECKED || is_behind || !enough(at_most) {
                continue;
            }
            checked += 1;
            let residual = self.factor.residual(item, diagonal, &mut other)?;
            if diagonal > 0.0 {
                self.noise = self.noise.max((stored - residual).abs() / diagonal);
            }
            let found = Best { place, residual, gain: residual * scale };
            if enough(residual) && best.is_none_or(|known| self.is_better(found, known)) {
                best = Some(found);
                std::mem::swap(&mut self.next, &mut other);
            }
        }
        Ok((best, removed))
    }

    /// Whether the gain is larger, or equal with a lower item.
    fn is_better(&self, found: Best, known: Best) -> bool {
        let (item, other) = (self.model.item(found.place), self.model.item(known.place));
        found.gain > known.gain || found.gain >= known.gain && item < other
    }

    /// Takes an item, whose row of the factor is in `next`, unless it depends on the items before it.
    fn take(&mut self, picks: &mut Picks<'_>, place: Place, residual: f64) -> bool {
        let item = self.model.item(place);
        self.gains.remove(place);
        let is_independent = residual > NOTHING * self.model.diagonal[item];
        if is_independent {
            self.factor.push(item, residual, &self.next);
            let filled = picks.add(place, self.model.log_gain(item, residual));
            filled.into_iter().for_each(|group| self.gains.close(group));
        }
        is_independent
    }
}

impl<T: FeatureScalar> Source for ColumnPivots<'_, '_, T> {
    fn step(&mut self, picks: &mut Picks<'_>) -> Result<Step> {
        if self.factor.len() >= self.factor.kernel().rank_at_most() {
            return Ok(Step::Nothing);
        }
        let (best, removed) = self.best(picks.demands())?;
        let Some(Best { place, residual, gain }) = best else {
            return Ok(if removed || self.rescale(picks) { Step::Made } else { Step::Nothing });
        };
        // Smaller gains might be lost.
        if gain < FAINT && self.rescale(picks) {
            return Ok(Step::Made);
        }
        // With coefficients in f64, dependent items are known by their residuals, and no other item is better.
        let diagonal = self.model.diagonal[self.model.item(place)];
        if size_of::<T>() < size_of::<f64>() && residual <= CLEAR * self.noise * diagonal {
            return Ok(Step::Unclear);
        }
        self.take(picks, place, residual);
        Ok(Step::Made)
    }

    fn fill_one(&mut self, picks: &mut Picks<'_>) -> Result<FillStep> {
        self.rescale(picks);
        let demands = picks.demands();
        let Some(place) = self.gains.last_known(|group| demands[group] == Demand::Needed) else {
            return Ok(FillStep::Nothing);
        };
        let item = self.model.item(place);
        let residual = self.factor.residual(item, self.model.diagonal[item], &mut self.next)?;
        Ok(if self.take(picks, place, residual) { FillStep::Picked } else { FillStep::Dependent })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Features, Watch,
        similarity::{Bandwidth, RbfKernel},
    };

    /// Points that fill a cube evenly but irregularly.
    fn points(items: u32, dims: u32) -> Features {
        let value =
            |i: u32, d: u32| (f64::from(i + 1) * f64::from([2, 3, 5, 7, 11][d as usize]).sqrt()).fract();
        let values: Vec<f64> = (0..items).flat_map(|i| (0..dims).map(move |d| value(i, d))).collect();
        Features::from_rows(items as usize, dims as usize, values).unwrap()
    }

    #[test]
    fn coefficients_in_single_precision_find_the_same_sets() {
        let clock = Watch::default().start();
        let mut handed_over = 0;
        for (dims, bandwidth, picks) in [(5, 0.4, 120), (3, 0.3, 150), (1, 0.2, 14), (2, 1.0, 40)] {
            let features = points(1500, dims);
            let kernel = RbfKernel::new(&features, Bandwidth::Exactly(bandwidth)).unwrap();
            let model = KernelModel::of_size(&kernel, picks).unwrap();
            let double = in_double(&model, &clock).unwrap();
            let mut single = model.no_picks();
            let factor = model.included_factor(picks).unwrap();
            let pivots = ColumnPivots::<f32>::new(&model, factor, &single);
            handed_over += usize::from(!pivots.run(&mut single, &clock).unwrap().1);
            let found = in_single(&model, &clock).unwrap();
            assert_eq!(found.picked.places.len(), picks, "{kernel:?}");
            // Near ties may be picked in another order, and gains near 1e-12 differ by rounding.
            let (own, other) = (found.factor.log_det(), double.factor.log_det());
            assert!((own - other).abs() < 1e-5 * other.abs(), "{kernel:?}: {own}, {other}");
        }
        assert!((1..4).contains(&handed_over), "{handed_over} of 4");
    }
}
