//! The second phase of every spectral sampler: a draw from the projection DPP on the chosen eigenvectors.

mod elementary;
mod leverage;
mod remaining_basis;

use faer::{Mat, MatRef};
use rand::Rng;

pub(super) use leverage::LeverageTrials;
pub(crate) use remaining_basis::RemainingBasis;

use super::pool::Reused;
use crate::{
    Features, Result,
    engine::{Engine, RowMap, Rows, bounded_forms, in_double},
    linalg::square_root,
    polynomial::spectrum::Spectrum,
};

/// How items are picked once the eigenvectors are chosen. The distribution is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Projection {
    /// The one with the lower predicted cost.
    #[default]
    Cheaper,
    /// Trials drawn by leverage score: O(n·r) per pick, for any number of items. Barthelmé, Tremblay and Amblard, *A
    /// faster sampler for discrete DPPs* (2022).
    Leverage,
    /// A scan of all items per pick: O(m·k) per pick, 8·m·r bytes.
    /// Hough et al. (2006); Kulesza and Taskar (2012), algorithm 1.
    Elementary,
}

/// The most bytes that the tables of [`Projection::Elementary`] may take under [`Projection::Cheaper`].
const ELEMENTARY_BYTES: usize = 64 << 20;
/// The factor by which bounds of leverages in single precision may increase the number of trials.
const LOOSE: f64 = 2.0;
/// The factor by which bounds known without a pass over the rows may increase it.
const KNOWN: f64 = 16.0;
/// The overhead of a leverage trial beyond its arithmetic, in floating-point operations.
const TRIAL_OVERHEAD: f64 = 150.0;

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a sampler has one")]
pub(crate) enum ProjectionDpp {
    Leverage(LeverageTrials),
    Elementary(elementary::ElementaryScan),
}

/// Buffers of one draw, reused over its proposals.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(super) chosen: Vec<usize>,
    picks: Vec<u32>,
    leverage: leverage::LeverageScratch,
    elementary: elementary::ElementaryScratch,
}

impl Reused for Scratch {
    fn forget(&mut self) {
        self.leverage.forget();
    }
}

impl ProjectionDpp {
    /// Sets up draws for the eigenvectors of a spectrum; `size` is the expected number of picks.
    pub(super) fn new(
        engine: &Engine,
        features: &Features,
        rows: &Rows<'_>,
        weights: &[f64],
        spectrum: &Spectrum,
        size: f64,
        way: Projection,
    ) -> Result<Self> {
        Self::of_whitener(engine, features, rows, weights, spectrum.whitener(), size, way)
    }

    /// Sets up draws for an n×r whitener, which maps weighted rows to the rows of an orthonormal m×r matrix.
    pub(super) fn of_whitener(
        engine: &Engine,
        features: &Features,
        rows: &Rows<'_>,
        weights: &[f64],
        whitener: Mat<f64>,
        size: f64,
        way: Projection,
    ) -> Result<Self> {
        let rank = whitener.ncols() as f64;
        let cheaper = || cheaper(rows.len() as f64, rows.features().dims() as f64, rank, size);
        let way = if way == Projection::Cheaper { cheaper() } else { way };
        if way == Projection::Elementary {
            let map = RowMap { weights, factor: whitener.as_ref() };
            let whitened = in_double(engine).whiten_rows(rows, &map)?;
            return Ok(Self::Elementary(elementary::ElementaryScan::new(rows, &whitened, whitener.ncols())));
        }
        let root = square_root(whitener.clone());
        let factors: Vec<_> = weights.iter().map(|&weight| &root * faer::Scale(weight)).collect();
        let factors: Vec<MatRef<'_, f64>> = factors.iter().map(Mat::as_ref).collect();
        // The law follows the whitener if no leverage is too low.
        let few = |bounds: &Vec<f64>| bounds.iter().sum::<f64>() <= KNOWN * rank;
        if let Some(known) = engine.known_bounds(rows, &factors).filter(few) {
            return Ok(Self::Leverage(LeverageTrials::new(features, rows, weights, whitener, &known)));
        }
        let (leverages, above) = bounded_forms(engine, rows, &factors)?;
        let leverages = match above {
            None => leverages,
            // Leverages sum to the rank. With bounds far above it, nearly every trial would be rejected.
            Some(above) if above.iter().sum::<f64>() <= LOOSE * rank => above,
            Some(_) => in_double(engine).row_forms(rows, &factors)?,
        };
        Ok(Self::Leverage(LeverageTrials::new(features, rows, weights, whitener, &leverages)))
    }

    /// The trials by leverage score, if items are picked that way.
    pub(super) fn trials(&self) -> Option<&LeverageTrials> {
        if let Self::Leverage(trials) = self { Some(trials) } else { None }
    }

    /// Draws items for the eigenvectors in `scratch.chosen`. It stops and returns `None` as soon as `keep` rejects an
    /// item, or if rounding leaves nothing to pick.
    pub(super) fn draw<'s, R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        scratch: &'s mut Scratch,
        keep: impl FnMut(u32) -> bool,
    ) -> Option<&'s [u32]> {
        let Scratch { chosen, picks, leverage, elementary } = scratch;
        picks.clear();
        let complete = match self {
            Self::Leverage(trials) => trials.draw(chosen, rng, leverage, picks, keep),
            Self::Elementary(scan) => scan.draw(chosen, rng, elementary, picks, keep),
        };
        complete.then_some(&**picks)
    }
}

/// Bytes of the tables of items and of their inputs.
pub(super) fn table_bytes(way: Projection, items: f64, dims: f64, rank: f64, size: f64) -> u64 {
    let way = if way == Projection::Cheaper { cheaper(items, dims, rank, size) } else { way };
    // A scan needs the eigenvectors twice and an index. Trials need a leverage, an entry of the alias table and,
    // while the table is filled, its shares.
    let each = if way == Projection::Elementary { 16.0 * rank + 4.0 } else { 32.0 };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "far below 2⁶⁴")]
    let bytes = (items * each) as u64;
    bytes
}

/// The way with fewer floating-point operations per draw, within a memory limit.
fn cheaper(items: f64, dims: f64, rank: f64, size: f64) -> Projection {
    let fits = 8.0 * items * rank <= ELEMENTARY_BYTES as f64;
    let by_scan = elementary_operations(items, size) < leverage_operations(dims, rank, size);
    if by_scan && fits { Projection::Elementary } else { Projection::Leverage }
}

/// Floating-point operations of one draw.
pub(super) fn operations(items: f64, dims: f64, rank: f64, size: f64) -> f64 {
    match cheaper(items, dims, rank, size) {
        Projection::Elementary => elementary_operations(items, size),
        _ => leverage_operations(dims, rank, size),
    }
}

fn elementary_operations(items: f64, size: f64) -> f64 {
    items * size * (2.0 * size + 6.0)
}

fn leverage_operations(dims: f64, rank: f64, size: f64) -> f64 {
    let trials = rank * (1.0 + (1.0 + size).ln());
    2.0 * dims * rank * size + 2.0 * dims * size * size + TRIAL_OVERHEAD * trials
}
