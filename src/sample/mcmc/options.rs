//! Options of chains.

use crate::{Error, Result, error::EstimateProblem};

/// The most chains, because each keeps its own state.
const MOST_CHAINS: usize = 1 << 16;

/// The length of the burn-in, the distance between draws, and the number of chains.
///
/// Lengths are in sweeps: one proposal per item of the set, and the [blocks](McmcOptions::with_blocks).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct McmcOptions {
    pub(super) burn_in: usize,
    pub(super) thinning: Thinning,
    pub(super) chains: usize,
    pub(super) blocks: Option<usize>,
    pub(super) other_sets: OtherSetMoves,
}

/// The number of sweeps between draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Thinning {
    /// The longest autocorrelation time of all diagnosed quantities, measured on 256 sweeps of every chain after the
    /// burn-in; at most 64.
    #[default]
    Automatic,
    /// This many.
    Sweeps(usize),
}

/// How often a chain proposes a set that does not depend on the present one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum OtherSetMoves {
    /// Such moves take about a fifth of the time. They are never made if weighted draws at set-up show that fewer
    /// than one in a hundred would be accepted, or that rounding makes their weights inaccurate.
    #[default]
    Automatic,
    /// Once per this many sweeps, before the first of them.
    Every(usize),
    /// Never.
    Never,
}

impl Default for McmcOptions {
    /// 100 sweeps of burn-in, automatic thinning, four chains.
    fn default() -> Self {
        Self {
            burn_in: 100,
            thinning: Thinning::Automatic,
            chains: 4,
            blocks: None,
            other_sets: OtherSetMoves::Automatic,
        }
    }
}

impl McmcOptions {
    /// Sets the number of sweeps before the first draw; 100 by default.
    #[must_use]
    pub fn with_burn_in(self, sweeps: usize) -> Self {
        Self { burn_in: sweeps, ..self }
    }

    /// Sets the number of sweeps between draws.
    #[must_use]
    pub fn with_thin(self, thinning: Thinning) -> Self {
        Self { thinning, ..self }
    }

    /// Sets the number of chains, each from its own start; 4 by default, at most 65 536. The draws depend on it.
    #[must_use]
    pub fn with_chains(self, chains: usize) -> Self {
        Self { chains, ..self }
    }

    /// Sets the number of moves per sweep that replace two or more items at once; by default an eighth of the set's
    /// size, rounded up. Without them, chains may be unable to reach some sets.
    #[must_use]
    pub fn with_blocks(self, blocks: usize) -> Self {
        Self { blocks: Some(blocks), ..self }
    }

    /// Sets how often chains propose another set, drawn like the sets of
    /// [`ImportanceSampler`](crate::ImportanceSampler). Such moves lead out of regions that swaps cannot leave.
    #[must_use]
    pub fn with_other_sets(self, moves: OtherSetMoves) -> Self {
        Self { other_sets: moves, ..self }
    }

    /// Sweeps before the first draw.
    #[must_use]
    pub fn burn_in(&self) -> usize {
        self.burn_in
    }

    /// Number of chains.
    #[must_use]
    pub fn chains(&self) -> usize {
        self.chains
    }

    /// The number of block moves in a sweep over this many items.
    pub(super) fn blocks_of(&self, slots: usize) -> usize {
        self.blocks.unwrap_or(slots.div_ceil(8))
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.chains == 0 {
            return Err(Error::NotPositive { what: "the number of chains", value: 0.0 });
        }
        if self.chains > MOST_CHAINS {
            return Err(EstimateProblem::TooManyChains { chains: self.chains, limit: MOST_CHAINS }.into());
        }
        let positive =
            |what, holds| if holds { Ok(()) } else { Err(Error::NotPositive { what, value: 0.0 }) };
        positive("the number of sweeps between draws", self.thinning != Thinning::Sweeps(0))?;
        positive("the number of sweeps between other sets", self.other_sets != OtherSetMoves::Every(0))?;
        Ok(())
    }
}
