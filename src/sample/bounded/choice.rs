//! The choice of a bound and of B.

use super::{
    Bound,
    candidate::{Tables, traces},
    rows,
    whitening::{Whitening, scale_of_size},
};
use crate::{
    PartitionDpp, Result,
    engine::{Engine, Rows},
    model::Counts,
    polynomial::{correction::Correction, spectrum::TiltedSpectrum},
    sample::projection,
};

/// Values of s in B = I + s Σ y_l G_l that are tried.
const STRENGTHS: [f64; 7] = [0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 10.0];
/// Operations of looking up an item and its row, in a small table and in a large one.
const LOOK_UP: [f64; 2] = [400.0, 1500.0];
/// Bytes of rows above which memory is slow.
const CACHED: usize = 8 << 20;

/// A bound with its coordinates, and the predicted cost of a proposal.
#[derive(Clone, Debug)]
pub(in crate::sample) struct Chosen {
    pub(super) bound: Bound,
    pub(super) whitening: Whitening,
    /// ln W.
    pub(in crate::sample) log_bound: f64,
    /// Average operations of a proposal.
    pub(in crate::sample) operations: f64,
}

impl Chosen {
    pub(in crate::sample) fn bound(&self) -> Bound {
        self.bound
    }

    /// ln of W times the cost of a proposal.
    pub(in crate::sample) fn log_cost(&self) -> f64 {
        self.log_bound + self.operations.ln()
    }
}

/// The best coordinates for every bound asked for.
pub(in crate::sample) fn choose(
    dpp: &PartitionDpp<'_>,
    rows: &Rows<'_>,
    found: &TiltedSpectrum,
    correction: &Correction,
    asked: Bound,
    engine: &dyn Engine,
) -> Result<Vec<Chosen>> {
    let (counts, values) = (dpp.counts(), &found.spectrum.values);
    let shares = found.shares();
    let scale = counts.total().map_or(1.0, |k| scale_of_size(values, k));
    let asked: Vec<Bound> = Bound::ALL
        .into_iter()
        .filter(|&bound| bound != Bound::Tilted && (asked == Bound::Auto || bound == asked))
        .collect();
    let mut best: Vec<Chosen> = Vec::new();
    let beyond = dpp.ground().beyond().is_some();
    let mut all = Vec::new();
    for strength in STRENGTHS {
        engine.proceed()?;
        let whitening = Whitening::new(found, &shares, scale, strength)?;
        let tables = Tables::new(&whitening, &counts);
        let totals = traces(&whitening.grams);
        for &bound in &asked {
            let log_bound = tables.count_law(bound, &counts, correction, &totals).log_bound();
            if log_bound.is_finite() {
                all.push((bound, whitening.clone(), log_bound));
            }
        }
    }
    let least = all.iter().map(|(_, _, log)| *log).fold(f64::INFINITY, f64::min);
    for (bound, whitening, log_bound) in all {
        let work = Work::new(rows, rows::are_plain(rows, beyond, &whitening), &counts, whitening.rank());
        let operations = work.of(bound, log_bound - least);
        let candidate = Chosen { bound, whitening, log_bound, operations };
        match best.iter_mut().find(|other| other.bound == bound) {
            Some(other) if other.log_cost() <= candidate.log_cost() => {}
            Some(other) => *other = candidate,
            None => best.push(candidate),
        }
    }
    Ok(best)
}

/// What the operations of a proposal depend on.
#[derive(Debug)]
struct Work<'c> {
    counts: &'c Counts,
    rank: f64,
    dims: f64,
    /// Reading a row.
    read: f64,
    whitened: bool,
}

impl<'c> Work<'c> {
    fn new(rows: &Rows<'_>, plain: bool, counts: &'c Counts, rank: usize) -> Self {
        let dims = rows.features().dims();
        let stored = rows::are_stored(rows, rank);
        let bytes = if stored { 8 * rank } else { rows.features().row_bytes() };
        let look_up = LOOK_UP[usize::from(rows.len() * bytes > CACHED)];
        let (rank, dims) = (rank as f64, dims as f64);
        let map = if stored || plain { 2.0 * dims } else { 2.0 * dims * (rank + 1.0) };
        Self { counts, rank, dims, read: look_up + map, whitened: !plain }
    }

    /// Average operations of a proposal, if `excess` nats more than by the best bound are lost in rejections.
    fn of(&self, bound: Bound, excess: f64) -> f64 {
        let (low, high) = (&self.counts.low, &self.counts.high);
        let size = self.counts.total().map_or_else(
            || low.iter().zip(high).map(|(&low, &high)| 0.5 * (low + high) as f64).sum::<f64>(),
            |k| k as f64,
        );
        let typical = low.iter().zip(high).map(|(&low, &high)| 0.5 * (low + high) as f64);
        let rank = self.rank;
        // A row against the span of half the items, twice.
        let pick = self.read + 4.0 * rank * size;
        let picks = size * pick;
        let all = match bound {
            Bound::Hadamard => picks,
            Bound::Sequential => picks * (1.0 + size / rank) + size * 8.0 * rank * rank,
            _ => {
                let draws = typical.map(|count| match count {
                    count if count <= 1.0 => 0.0,
                    count => projection::leverage_operations(self.dims, rank, count),
                });
                let draws: f64 = draws.sum();
                let outside = if bound == Bound::Block {
                    20.0 * rank.powi(3) * (high.len() - 1) as f64 + draws
                } else {
                    0.0
                };
                picks + draws + outside
            }
        };
        // Proposals are rejected sooner the lower the acceptance.
        let survival = if excess > 0.8 { (0.886 / excess.sqrt()).max(1.0 / size.max(1.0)) } else { 1.0 };
        let last = if self.whitened { size * size * (2.0 * rank + size) * (-0.5 * excess).exp() } else { 0.0 };
        500.0 + all * survival + last
    }
}

/// A bound under a given whitening.
#[cfg(test)]
pub(super) fn at_strength(
    dpp: &PartitionDpp<'_>,
    found: &TiltedSpectrum,
    correction: &Correction,
    bound: Bound,
    strength: f64,
) -> Result<Chosen> {
    let counts = dpp.counts();
    let scale = counts.total().map_or(1.0, |k| scale_of_size(&found.spectrum.values, k));
    let whitening = Whitening::new(found, &found.shares(), scale, strength)?;
    let totals = traces(&whitening.grams);
    let law = Tables::new(&whitening, &counts).count_law(bound, &counts, correction, &totals);
    Ok(Chosen { bound, whitening, log_bound: law.log_bound(), operations: 0.0 })
}
