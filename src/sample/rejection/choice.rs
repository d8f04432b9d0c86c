//! The choice of a bound and of B.

use super::{
    Bound, RejectionSetup,
    candidate::{Tables, typical},
    part_picks::Prediction,
    rows::{self, Reading, STORED_BYTES, WEIGHTED_BYTES},
    whitening::{self, Family, Whitening, scale_of_size},
};
use crate::{
    Result,
    engine::{Engine, Rows},
    model::Counts,
    polynomial::tilt::are_many,
    sample::projection,
};

/// The matrices B that are tried.
const FAMILIES: [Family; 12] = [
    Family::Clipped(0),
    Family::Clipped(1),
    Family::Clipped(2),
    Family::Clipped(3),
    Family::Clipped(5),
    Family::Clipped(8),
    Family::Smooth(0.01),
    Family::Smooth(0.03),
    Family::Smooth(0.1),
    Family::Smooth(0.3),
    Family::Smooth(1.0),
    Family::Smooth(10.0),
];

/// The matrices B that predict bounds which take long to evaluate, and the number of groups evaluated for this.
const PREDICTED: [Family; 5] =
    [Family::Clipped(0), Family::Clipped(2), Family::Smooth(0.03), Family::Smooth(0.3), Family::Smooth(1.0)];
const FEW: usize = 4;
/// The possible error of such a prediction, in nats.
const MARGIN: f64 = 2.0;

/// A bound with its coordinates, and the predicted cost per proposal.
#[derive(Clone, Debug)]
pub(in crate::sample) struct Chosen {
    pub(in crate::sample) bound: Bound,
    pub(super) whitening: Whitening,
    pub(super) reading: Reading,
    /// ln W.
    pub(in crate::sample) log_bound: f64,
    /// Average operations per proposal.
    pub(in crate::sample) operations: f64,
}

impl Chosen {
    /// ln of W times the cost per proposal.
    pub(in crate::sample) fn log_cost(&self) -> f64 {
        self.log_bound + self.operations.ln()
    }
}

/// The best coordinates for every bound asked for.
pub(in crate::sample) fn choose(
    setup: &RejectionSetup<'_>,
    asked: Bound,
    engine: &Engine,
) -> Result<Vec<Chosen>> {
    let mut best: Vec<Chosen> = Vec::new();
    for candidate in costed(setup, tried(setup, asked, engine)?) {
        match best.iter_mut().find(|other| other.bound == candidate.bound) {
            Some(other) if other.log_cost() <= candidate.log_cost() => {}
            Some(other) => *other = candidate,
            None => best.push(candidate),
        }
    }
    Ok(best)
}

/// The tried bounds with the predicted costs of their proposals.
fn costed(setup: &RejectionSetup<'_>, all: Vec<Tried>) -> Vec<Chosen> {
    let RejectionSetup { dpp, rows, .. } = setup;
    let (counts, beyond) = (dpp.counts(), dpp.ground().beyond().is_some());
    let least = all.iter().map(|(_, _, log)| *log).fold(f64::INFINITY, f64::min);
    let costed = |(bound, whitening, log_bound): Tried| {
        let reading = Reading::of(rows, beyond, &whitening);
        let operations = Work::new(rows, &whitening, reading, &counts).of(bound, log_bound - least);
        Chosen { bound, whitening, reading, log_bound, operations }
    };
    all.into_iter().map(costed).collect()
}

/// ln of the lowest bound of the normaliser, with many groups of Hadamard's bounds only; infinite if none is finite.
pub(in crate::sample) fn least_log_bound(setup: &RejectionSetup<'_>, engine: &Engine) -> Result<f64> {
    let asked = if has_many(setup) { Bound::Hadamard } else { Bound::Auto };
    let all = tried(setup, asked, engine)?;
    Ok(all.into_iter().map(|(_, _, log)| log).fold(f64::INFINITY, f64::min))
}

/// A bound under some B, and the logarithm of its value.
type Tried = (Bound, Whitening, f64);

/// Every finite bound requested under every B, except for bounds predicted to be not worth their set-up.
fn tried(setup: &RejectionSetup<'_>, asked: Bound, engine: &Engine) -> Result<Vec<Tried>> {
    // Halves consist of independent items.
    let asked = if asked == Bound::Halves { Bound::Hadamard } else { asked };
    let asked: Vec<Bound> = Bound::ALL
        .into_iter()
        .filter(|bound| !matches!(bound, Bound::Tilted | Bound::Halves))
        .filter(|&bound| asked == Bound::Auto || bound == asked)
        .collect();
    let of = |family| Whitening::of(&setup.found, (scale(setup), family));
    let mut all = Vec::new();
    if !has_many(setup) {
        let shares = whitening::shares(&setup.found);
        for family in FAMILIES {
            engine.proceed()?;
            let whitening = of(family).with_spectra(&setup.found, &shares, engine)?;
            all.extend(evaluated(setup, &asked, &whitening, engine)?);
        }
        return Ok(all);
    }
    let (cheap, dear): (Vec<Bound>, Vec<Bound>) =
        asked.into_iter().partition(|&bound| !needs_spectra(bound, &setup.dpp.counts()));
    for family in FAMILIES {
        engine.proceed()?;
        all.extend(evaluated(setup, &cheap, &of(family).with_traces(&setup.found), engine)?);
    }
    let worthwhile = worthwhile(setup, &dear, &all, engine)?;
    if worthwhile.is_empty() {
        return Ok(all);
    }
    let shares = whitening::shares(&setup.found);
    for family in PREDICTED {
        let bounds = worthwhile.iter().filter(|(_, best)| *best == family).map(|(bound, _)| *bound);
        let bounds: Vec<Bound> = bounds.collect();
        if !bounds.is_empty() {
            engine.proceed()?;
            let whitening = of(family).with_spectra(&setup.found, &shares, engine)?;
            all.extend(evaluated(setup, &bounds, &whitening, engine)?);
        }
    }
    Ok(all)
}

/// Evaluates these bounds under one B.
fn evaluated(
    setup: &RejectionSetup<'_>,
    bounds: &[Bound],
    whitening: &Whitening,
    engine: &Engine,
) -> Result<Vec<Tried>> {
    let counts = setup.dpp.counts();
    let (tables, mut all) = (Tables::new(whitening, &counts), Vec::new());
    for &bound in bounds {
        engine.proceed()?;
        let law = tables.count_law(bound, &counts, &setup.correction, &whitening.traces);
        if law.log_bound().is_finite() {
            all.push((bound, whitening.clone(), law.log_bound()));
        }
    }
    Ok(all)
}

/// Whether a bound depends on more than traces.
fn needs_spectra(bound: Bound, counts: &Counts) -> bool {
    match bound {
        Bound::Hadamard => false,
        Bound::Fischer => counts.high.iter().any(|&high| high > 1),
        _ => true,
    }
}

/// Whether the eigenvalues of all groups under all B cost more than the choice is worth.
fn has_many(setup: &RejectionSetup<'_>) -> bool {
    are_many(setup.rows.groups().len(), setup.found.spectrum.values.len())
}

/// The bounds that may cost less than all others, each under its best B, as if every group were like one of a few.
fn worthwhile(
    setup: &RejectionSetup<'_>,
    bounds: &[Bound],
    others: &[Tried],
    engine: &Engine,
) -> Result<Vec<(Bound, Family)>> {
    if bounds.is_empty() {
        return Ok(Vec::new());
    }
    let few = whitening::shares_of_few(&setup.found, FEW);
    let (mut all, mut families) = (others.to_vec(), Vec::new());
    for family in PREDICTED {
        engine.proceed()?;
        let whitening = Whitening::of(&setup.found, (scale(setup), family));
        all.extend(evaluated(setup, bounds, &whitening.with_spectra_of_few(&setup.found, &few)?, engine)?);
        families.resize(all.len() - others.len(), family);
    }
    let costs = costed(setup, all);
    let (known, predicted) = costs.split_at(others.len());
    let most = known.iter().map(Chosen::log_cost).fold(f64::INFINITY, f64::min) + MARGIN;
    let best = |&bound: &Bound| {
        let own = predicted.iter().zip(&families).filter(|(chosen, _)| chosen.bound == bound);
        let least = own.min_by(|(a, _), (b, _)| a.log_cost().total_cmp(&b.log_cost()))?;
        (least.0.log_cost() < most).then_some((bound, *least.1))
    };
    Ok(bounds.iter().filter_map(best).collect())
}

/// The multiple of the tilted kernel whose DPP has the expected size wanted.
fn scale(setup: &RejectionSetup<'_>) -> f64 {
    let values = &setup.found.spectrum.values;
    setup.dpp.counts().total().map_or(1.0, |k| scale_of_size(values, k))
}

/// The coordinates in which the weights of sequential draws vary least, and a multiple of the kernel. In these
/// coordinates, items are picked as in the tilted DPP with that kernel, given the items before.
pub(super) fn for_weights(setup: &RejectionSetup<'_>, engine: &Engine) -> Result<(Chosen, f64)> {
    let (scale, counts) = (scale(setup), setup.dpp.counts());
    let whitening = Whitening::of(&setup.found, (scale, Family::Smooth(1.0)));
    let items = setup.rows.len();
    let chosen = |bound, whitening: Whitening, reading| {
        let operations = Work::new(&setup.rows, &whitening, reading, &counts).whole(Bound::Sequential);
        Chosen { bound, whitening, reading, log_bound: f64::INFINITY, operations }
    };
    if has_many(setup) && counts.exact().is_some() {
        // The same limit as in the memory plan.
        let stored = rows::stored_bytes(items, setup.dpp.ground().dims_left(), WEIGHTED_BYTES).is_some();
        let reading = if stored { Reading::Stored } else { Reading::Mapped };
        // Parts come in any order.
        return Ok((chosen(Bound::Hadamard, whitening.with_traces(&setup.found), reading), scale));
    }
    let shares = whitening::shares(&setup.found);
    let whitening = whitening.with_spectra(&setup.found, &shares, engine)?;
    let stored = rows::stored_bytes(items, whitening.rank(), STORED_BYTES).is_some();
    let reading = if stored { Reading::Stored } else { Reading::Mapped };
    Ok((chosen(Bound::Sequential, whitening, reading), scale))
}

/// The quantities that determine the operations of proposals.
#[derive(Debug)]
struct Work<'c> {
    counts: &'c Counts,
    whitening: &'c Whitening,
    items: Vec<f64>,
    dims: f64,
    /// Operations to read one row.
    read: f64,
}

impl<'c> Work<'c> {
    fn new(rows: &Rows<'_>, whitening: &'c Whitening, reading: Reading, counts: &'c Counts) -> Self {
        let (dims, rank) = (rows.features().dims(), whitening.rank());
        let look_up = rows::look_up(rows.len(), rows.features().row_bytes());
        let read = match reading {
            Reading::Stored => rows::look_up(rows.len(), 8 * rank),
            Reading::Thinned => look_up + (2 * dims + 4 * dims * whitening.heavy()) as f64,
            Reading::Mapped => look_up + (2 * dims + 2 * dims * rank) as f64,
        };
        let items = rows.groups().iter().map(|group| group.items.len() as f64).collect();
        Self { counts, whitening, items, dims: dims as f64, read }
    }

    /// Operations of a proposal that is not rejected early.
    fn whole(&self, bound: Bound) -> f64 {
        let typical = typical(self.counts);
        let (size, rank) = (self.size(), self.whitening.rank() as f64);
        // Each row is projected on the span of half the items on average, twice.
        let picks = size * (self.read + rank * size);
        match bound {
            Bound::Hadamard => picks,
            Bound::Sequential => weighted_operations(size, rank, self.read),
            _ => {
                let draws: f64 =
                    typical.iter().enumerate().map(|(group, &count)| self.draw(group, count)).sum();
                let outside = if bound == Bound::Block {
                    8.0 * rank.powi(3) * (typical.len() - 1) as f64 + draws
                } else {
                    0.0
                };
                picks + draws + outside
            }
        }
    }

    /// The typical number of items.
    fn size(&self) -> f64 {
        self.counts.total().unwrap_or_else(|| typical(self.counts).iter().sum()) as f64
    }

    /// Average operations per proposal, if rejections lose `excess` nats more than under the best bound.
    fn of(&self, bound: Bound, excess: f64) -> f64 {
        let (size, rank) = (self.size(), self.whitening.rank() as f64);
        let all = self.whole(bound);
        // The lower the acceptance, the sooner proposals are rejected.
        let lost = excess + 0.1 * size;
        let survival = if lost > 0.8 { (0.886 / lost.sqrt()).max(1.0 / size.max(1.0)) } else { 1.0 };
        let heavy = (self.whitening.heavy() as f64).min(size);
        let last = heavy * size * (2.0 * rank + size) * (-0.5 * lost).exp();
        500.0 + all * survival + last
    }

    /// Operations per draw from a part's k-DPP.
    fn draw(&self, group: usize, count: usize) -> f64 {
        if count <= 1 {
            return 0.0;
        }
        let rank = self.whitening.rank() as f64;
        let mixture = projection::operations(self.items[group], self.dims, rank, count as f64);
        if self.counts.low[group] < self.counts.high[group] {
            return mixture;
        }
        Prediction::best(&self.whitening.spectra[group], count, self.read).operations.min(mixture)
    }
}

/// Operations per weighted draw of `size` items in `rank` dimensions, with `read` operations per row read and exact
/// traces.
pub(in crate::sample) fn weighted_operations(size: f64, rank: f64, read: f64) -> f64 {
    size * (read + rank * size) * (1.0 + size / rank) + size * 5.0 * rank * rank
}

/// Operations per weighted draw if traces are estimated with this many candidates per pick.
pub(in crate::sample) fn operations_with_candidates(size: f64, rank: f64, read: f64, candidates: f64) -> f64 {
    size * (candidates * (read + rank * size) + 2.0 * rank * size)
}

/// A bound under a given B.
#[cfg(test)]
pub(super) fn of_family(
    setup: &RejectionSetup<'_>,
    bound: Bound,
    (family, reading): (Family, Reading),
) -> Result<Chosen> {
    let RejectionSetup { dpp, found, correction, .. } = setup;
    // Halves consist of independent items.
    let bound = if bound == Bound::Halves { Bound::Hadamard } else { bound };
    let counts = dpp.counts();
    let shares = whitening::shares(found);
    let whitening =
        Whitening::of(found, (scale(setup), family)).with_spectra(found, &shares, Engine::host())?;
    let tables = Tables::new(&whitening, &counts);
    let law = tables.count_law(bound, &counts, correction, &whitening.traces);
    Ok(Chosen { bound, whitening, reading, log_bound: law.log_bound(), operations: 0.0 })
}
