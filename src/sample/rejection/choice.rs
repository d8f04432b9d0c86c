//! The choice of a bound and of B.

use super::{
    Bound, RejectionSetup,
    candidate::{Tables, typical},
    part_picks::Prediction,
    rows::{self, Reading},
    whitening::{self, Family, Whitening, scale_of_size},
};
use crate::{
    Result,
    engine::{Engine, Rows},
    model::Counts,
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

/// A bound with its coordinates, and the predicted cost of a proposal.
#[derive(Clone, Debug)]
pub(in crate::sample) struct Chosen {
    pub(in crate::sample) bound: Bound,
    pub(super) whitening: Whitening,
    pub(super) reading: Reading,
    /// ln W.
    pub(in crate::sample) log_bound: f64,
    /// Average operations of a proposal.
    pub(in crate::sample) operations: f64,
}

impl Chosen {
    /// ln of W times the cost of a proposal.
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
    let RejectionSetup { dpp, rows, .. } = setup;
    let counts = dpp.counts();
    let mut best: Vec<Chosen> = Vec::new();
    let beyond = dpp.ground().beyond().is_some();
    let all = tried(setup, asked, engine)?;
    let least = all.iter().map(|(_, _, log)| *log).fold(f64::INFINITY, f64::min);
    for (bound, whitening, log_bound) in all {
        let reading = Reading::of(rows, beyond, &whitening);
        let operations = Work::new(rows, &whitening, reading, &counts).of(bound, log_bound - least);
        let candidate = Chosen { bound, whitening, reading, log_bound, operations };
        match best.iter_mut().find(|other| other.bound == bound) {
            Some(other) if other.log_cost() <= candidate.log_cost() => {}
            Some(other) => *other = candidate,
            None => best.push(candidate),
        }
    }
    Ok(best)
}

/// ln of the lowest bound of the normaliser; infinite if none is finite.
pub(in crate::sample) fn least_log_bound(setup: &RejectionSetup<'_>, engine: &Engine) -> Result<f64> {
    let all = tried(setup, Bound::Auto, engine)?;
    Ok(all.into_iter().map(|(_, _, log)| log).fold(f64::INFINITY, f64::min))
}

/// Every finite bound asked for under every B, and its logarithm.
fn tried(setup: &RejectionSetup<'_>, asked: Bound, engine: &Engine) -> Result<Vec<(Bound, Whitening, f64)>> {
    let RejectionSetup { dpp, found, correction, .. } = setup;
    let (counts, shares, scale) = (dpp.counts(), whitening::shares(found), scale(setup));
    let asked: Vec<Bound> = Bound::ALL
        .into_iter()
        .filter(|&bound| bound != Bound::Tilted && (asked == Bound::Auto || bound == asked))
        .collect();
    let mut all = Vec::new();
    for family in FAMILIES {
        engine.proceed()?;
        let whitening = Whitening::new(found, &shares, (scale, family), engine)?;
        let tables = Tables::new(&whitening, &counts);
        for &bound in &asked {
            engine.proceed()?;
            let log_bound = tables.count_law(bound, &counts, correction, &whitening.traces).log_bound();
            if log_bound.is_finite() {
                all.push((bound, whitening.clone(), log_bound));
            }
        }
    }
    Ok(all)
}

/// The multiple of the tilted kernel under which a DPP expects sets of the size wanted.
fn scale(setup: &RejectionSetup<'_>) -> f64 {
    let values = &setup.found.spectrum.values;
    setup.dpp.counts().total().map_or(1.0, |k| scale_of_size(values, k))
}

/// The coordinates in which weights of sequential draws vary least: the picks of an item are then those of the tilted DPP,
/// given the items before. And the multiple of the kernel of which that is the DPP.
pub(super) fn for_weights(setup: &RejectionSetup<'_>, engine: &Engine) -> Result<(Chosen, f64)> {
    let (scale, shares) = (scale(setup), whitening::shares(&setup.found));
    let whitening = Whitening::new(&setup.found, &shares, (scale, Family::Smooth(1.0)), engine)?;
    let stored = rows::stored_bytes(setup.rows.len(), whitening.rank()).is_some();
    let reading = if stored { Reading::Stored } else { Reading::Mapped };
    let counts = setup.dpp.counts();
    let operations = Work::new(&setup.rows, &whitening, reading, &counts).whole(Bound::Sequential);
    let (bound, log_bound) = (Bound::Sequential, f64::INFINITY);
    Ok((Chosen { bound, whitening, reading, log_bound, operations }, scale))
}

/// What the operations of a proposal depend on.
#[derive(Debug)]
struct Work<'c> {
    counts: &'c Counts,
    whitening: &'c Whitening,
    items: Vec<f64>,
    dims: f64,
    /// Reading a row.
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
        // A row against the span of half the items, twice.
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

    /// Average operations of a proposal, if `excess` nats more than by the best bound are lost in rejections.
    fn of(&self, bound: Bound, excess: f64) -> f64 {
        let (size, rank) = (self.size(), self.whitening.rank() as f64);
        let all = self.whole(bound);
        // Proposals are rejected sooner the lower the acceptance.
        let lost = excess + 0.1 * size;
        let survival = if lost > 0.8 { (0.886 / lost.sqrt()).max(1.0 / size.max(1.0)) } else { 1.0 };
        let heavy = (self.whitening.heavy() as f64).min(size);
        let last = heavy * size * (2.0 * rank + size) * (-0.5 * lost).exp();
        500.0 + all * survival + last
    }

    /// A draw of a part's k-DPP.
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

/// Operations of a weighted draw of so many items in so many dimensions, with those of reading a row.
pub(in crate::sample) fn weighted_operations(size: f64, rank: f64, read: f64) -> f64 {
    size * (read + rank * size) * (1.0 + size / rank) + size * 5.0 * rank * rank
}

/// A bound under a given B.
#[cfg(test)]
pub(super) fn of_family(
    setup: &RejectionSetup<'_>,
    bound: Bound,
    (family, reading): (Family, Reading),
) -> Result<Chosen> {
    let RejectionSetup { dpp, found, correction, .. } = setup;
    let counts = dpp.counts();
    let shares = whitening::shares(found);
    let whitening = Whitening::new(found, &shares, (scale(setup), family), Engine::host())?;
    let tables = Tables::new(&whitening, &counts);
    let law = tables.count_law(bound, &counts, correction, &whitening.traces);
    Ok(Chosen { bound, whitening, reading, log_bound: law.log_bound(), operations: 0.0 })
}
