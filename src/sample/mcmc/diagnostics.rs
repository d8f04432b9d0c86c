//! Diagnostics of a run.

use super::{ChainSamples, Convergence, MoveCount};
use crate::{Result, parallel::map_ordered};

/// How well chains have mixed, as far as that can be diagnosed.
///
/// Draws are as good as independent ones if [`worst_r_hat`](ChainDiagnostics::worst_r_hat) is below 1.01 and
/// [`fewest_effective_draws`](ChainDiagnostics::fewest_effective_draws) is in the hundreds. Both can look good while all
/// chains miss the same sets: they prove nothing.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ChainDiagnostics {
    /// Convergence of ln det K_S.
    pub log_det: Convergence,
    /// Convergence of two quantities of each part with something left to choose.
    pub parts: Vec<PartConvergence>,
    /// Moves of all chains by the number of items replaced at once, including the burn-in.
    pub moves: Vec<MoveCount>,
    /// Moves of all chains to sets that do not depend on the present one.
    pub other_sets: MoveCount,
    /// Sweeps from each draw of a chain to the next.
    pub thin: usize,
    /// The largest |error| of ln det seen when the dual basis was recomputed from the rows.
    pub drift: f64,
    /// The number of times that all chains recomputed it.
    pub refactorisations: u64,
}

/// How well the choice from one part has mixed.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PartConvergence {
    /// Position of the part in the partition.
    pub part: usize,
    /// Convergence of the part's contribution to ln det beyond all other parts: ln det K_S − ln det K_{S∖P_l}.
    pub log_volume: Convergence,
    /// Convergence of the mean of (a_i·g)²/‖a_i‖² over the part's chosen items, for one random direction g. It
    /// distinguishes chains that are confined to different directions with equal volumes.
    pub direction: Convergence,
}

impl ChainDiagnostics {
    /// All quantities that were diagnosed.
    fn all(&self) -> impl Iterator<Item = &Convergence> {
        let of_parts = self.parts.iter().flat_map(|part| [&part.log_volume, &part.direction]);
        std::iter::once(&self.log_det).chain(of_parts)
    }

    /// The largest split-R̂ of all quantities.
    #[must_use]
    pub fn worst_r_hat(&self) -> f64 {
        self.all().map(|found| found.r_hat).fold(1.0, f64::max)
    }

    /// The smallest number of effective draws of all quantities.
    #[must_use]
    pub fn fewest_effective_draws(&self) -> f64 {
        self.all().map(|found| found.effective_draws).fold(f64::INFINITY, f64::min)
    }

    /// The longest autocorrelation time of all quantities, in draws.
    #[must_use]
    pub fn longest_autocorrelation_time(&self) -> f64 {
        self.all().map(|found| found.autocorrelation_time).fold(0.0, f64::max)
    }
}

impl ChainSamples {
    /// Returns acceptance, autocorrelation times, split-R̂ and effective draws; see [`Convergence`].
    ///
    /// # Cost
    /// O(pN) for every lag that is correlated, where N is the number of draws.
    ///
    /// # Errors
    /// [`EstimateProblem::TooFewDraws`](crate::error::EstimateProblem::TooFewDraws) if a chain has fewer than eight
    /// draws.
    pub fn diagnostics(&self) -> Result<ChainDiagnostics> {
        let of_observable = |at: usize| {
            let series: Vec<Vec<f64>> = (0..self.chains()).map(|chain| self.series(chain, at)).collect();
            Convergence::of(&series)
        };
        let found: Vec<Convergence> =
            map_ordered(self.width, of_observable).into_iter().collect::<Result<_>>()?;
        let parts = self.parts.iter().zip(found[1..].chunks_exact(2));
        let parts = parts.map(|(&part, of_part)| PartConvergence {
            part,
            log_volume: of_part[0],
            direction: of_part[1],
        });
        Ok(ChainDiagnostics {
            log_det: found[0],
            parts: parts.collect(),
            moves: self.moves.clone(),
            other_sets: self.other_sets,
            thin: self.thin,
            drift: self.drift,
            refactorisations: self.refreshes,
        })
    }
}
