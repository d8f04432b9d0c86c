//! Engines: a few coarse operations (verbs) over the rows of A, on the CPU or a GPU.
//!
//! Algorithms are written once over [`Engine`]. An engine only computes; it does not know what groups of rows mean.

pub mod cost;
mod cpu;
mod double;
mod gains;
#[cfg(feature = "gpu")]
pub mod gpu;
mod grid;
mod nodes;
mod prepared;
#[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "only devices read tables"))]
pub(crate) mod proposals;
pub(crate) mod row_kernels;
mod rows;
mod shard;
mod sharded;
#[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "only devices read batches"))]
pub(crate) mod slates;
mod swaps;
mod watched;

use std::{fmt, sync::Arc};

use faer::{Mat, MatRef};

use cost::{EngineReason, Job, Task};
pub use cpu::Cpu;
pub(crate) use cpu::node_table::{choose, condition};
pub(crate) use cpu::pass_bytes as cpu_pass_bytes;
pub(crate) use double::{bounded_forms, forms_above, in_double};
/// Complex numbers.
pub use faer::c64;
#[doc(hidden)]
pub use gains::{Ahead, AheadEnd, PickAhead, Remaining};
pub use gains::{GainTable, Top};
pub(crate) use grid::inverses_at_a_time;
pub use grid::{
    CandidateGrid, CandidateSums, Determinant, FormGrid, GridForms, GridPoint, GridRequest, PhaseGrid,
};
pub use nodes::{NodeChoice, NodeFactors, NodeTable, Soundness};
pub use prepared::Prepared;
pub use rows::{Group, Items, Rows};
pub use shard::{LocalShard, Shard, ShardFactor, ShardMap, ShardRows};
pub use sharded::Sharded;
#[doc(hidden)]
pub use swaps::{AheadSwap, SwapAhead, SwapsAhead, SwapsEnd};
pub use swaps::{BestSwap, Beyond, LeavingPairs, SwapNumbers, SwapTable, SwapUpdate};
pub use watched::Watched;

use crate::{Features, Result, watch::Step};

/// The verbs.
///
/// | verb | computes | cost |
/// |---|---|---|
/// | [`part_grams`](Engine::part_grams) | G_l = Σ b_i b_iᵀ for every group, in one pass | 2mn² |
/// | [`row_forms`](Engine::row_forms) | ‖F_lᵀ a_i‖² for every row | 2mnr |
/// | [`whiten_rows`](Engine::whiten_rows) | w_l Fᵀ a_i for every row | 2mnr |
/// | [`grid_determinants`](Engine::grid_determinants) | det P(θ), and P(θ)⁻¹ on request, for every node | (8/3 … 8)r³ per node |
/// | [`grid_forms`](Engine::grid_forms) | det P(θ) for every node, Re Σ x_l(θ) det P(θ) P(θ)⁻¹ for every part | (8 + 4p/r)r³ per node |
/// | [`grid_blocks`](Engine::grid_blocks) | det P(θ) and U P(θ)⁻¹ Uᵀ for some rows U, for every node | (8 + 4m/r)r³ per node |
/// | [`candidate_determinants`](Engine::candidate_determinants) | one determinant per candidate and node, summed over nodes | 8/3·r³ per candidate and node |
/// | [`project_rows`](Engine::project_rows) | B ← B − (Bq)qᵀ, with the new ‖b_i‖² | 4mr |
/// | [`row_norms`](Engine::row_norms) | ‖a_i‖² for every row | 2mn |
/// | [`NodeTable::choose`] | a pick's condition on every node, and the next choice | 16r² per node, 2mnr |
/// | [`GainTable::update`] | c = A q, d ← d − c∘c, the largest d of every group | 2mn |
/// | [`swap_table`](Engine::swap_table) | C = WᵀAᵀ in tiles | 2mnk |
/// | [`fresh_swap_table`](Engine::fresh_swap_table) | the same, and d = ‖Fᵀa‖² | 2mn² |
/// | [`SwapTable::entrants`] | on a device: which items can take part in exchanges between two groups | 2mnk + 14mk² |
/// | [`SwapTable::gains`] | rank-two update of C and d, the largest M_ii d_j + C_ij² of every group | 4mn + 7mk |
///
/// The order of sums depends on the sizes only, so results do not depend on the number of threads. The CPU computes, in
/// f64, what an engine does not implement.
///
/// The trait is sealed, since verbs will be added.
pub trait Engine: sealed::Sealed + fmt::Debug + Send + Sync {
    /// Name, adapter and precision of the engine.
    fn info(&self) -> EngineInfo;

    /// Checks between verbs whether the work may continue. Long loops on the host call it.
    ///
    /// # Errors
    /// [`Error::Ended`](crate::Error::Ended) if the engine is [`Watched`] and the watch has ended the work.
    fn proceed(&self) -> Result<()> {
        Ok(())
    }

    /// The same after a pass over so many rows that is not one of the verbs.
    ///
    /// # Errors
    /// Those of [`proceed`](Engine::proceed).
    #[doc(hidden)]
    fn proceed_after(&self, rows: usize) -> Result<()> {
        let _ = rows;
        self.proceed()
    }

    /// The same after so many steps of another kind.
    ///
    /// # Errors
    /// Those of [`proceed`](Engine::proceed).
    #[doc(hidden)]
    fn proceed_after_steps(&self, step: Step, steps: usize) -> Result<()> {
        let _ = (step, steps);
        self.proceed()
    }

    /// The engine that computes in f64 instead of one that does not; by default the CPU.
    #[doc(hidden)]
    fn stand_in(&self) -> &dyn Engine {
        &Cpu
    }

    /// The device that makes batches of proposals, if the engine has one; by default draws are made one by one on the host.
    #[doc(hidden)]
    fn proposal_device(&self) -> Option<Arc<dyn proposals::ProposalDevice>> {
        None
    }

    /// The device that finds the greedy sets of many requests, if the engine has one.
    #[doc(hidden)]
    fn slate_device(&self) -> Option<Arc<dyn slates::SlateDevice>> {
        None
    }

    /// Gram matrix of every group, Σ b_i b_iᵀ over its rows.
    ///
    /// b_i is the scaled row s_l a_i, or its image w_l Fᵀ s_l a_i if there is a `map`.
    ///
    /// # Errors
    /// Those of the device; the CPU has none.
    fn part_grams(&self, rows: &Rows<'_>, map: Option<&RowMap<'_>>) -> Result<Vec<Mat<f64>>>;

    /// ‖F_lᵀ s_l a_i‖² for every row, one factor F_l per group; group after group.
    ///
    /// # Errors
    /// Those of the device; the CPU has none.
    fn row_forms(&self, rows: &Rows<'_>, factors: &[MatRef<'_, f64>]) -> Result<Vec<f64>>;

    /// Upper bounds of the [`row_forms`](Engine::row_forms) that are known without a pass over the rows.
    #[doc(hidden)]
    fn known_bounds(&self, rows: &Rows<'_>, factors: &[MatRef<'_, f64>]) -> Option<Vec<f64>> {
        let _ = (rows, factors);
        None
    }

    /// The rows w_l (s_l a_i)ᵀ F, row-major, r values each; group after group.
    ///
    /// # Errors
    /// Those of the device; the CPU has none.
    fn whiten_rows(&self, rows: &Rows<'_>, map: &RowMap<'_>) -> Result<Vec<f64>> {
        Cpu.whiten_rows(rows, map)
    }

    /// det P(θ), and P(θ)⁻¹ on request, node after node.
    ///
    /// # Errors
    /// Those of the device; the CPU has none.
    fn grid_determinants(&self, grid: &PhaseGrid<'_>, request: GridRequest) -> Result<Vec<GridPoint>> {
        Cpu.grid_determinants(grid, request)
    }

    /// det P(θ), node after node, and W_l = Re Σ_θ x_l(θ) · det P(θ) P(θ)⁻¹ for every part: inverses stay where they are
    /// computed.
    ///
    /// `passed` is told of some more nodes whenever they are done, and ends the work by an error.
    ///
    /// # Errors
    /// Those of the device, and that of `passed`; the CPU has none.
    fn grid_forms(&self, of: &FormGrid<'_>, passed: &dyn Fn(usize) -> Result<()>) -> Result<GridForms> {
        Cpu.grid_forms(of, passed)
    }

    /// det P(θ) and U P(θ)⁻¹ Uᵀ for some rows U of r values each, node after node: inverses stay where they are computed.
    ///
    /// # Errors
    /// Those of the device; the CPU has none.
    fn grid_blocks(
        &self,
        grid: &PhaseGrid<'_>,
        rows: MatRef<'_, f64>,
    ) -> Result<Vec<(Determinant, Mat<c64>)>> {
        Cpu.grid_blocks(grid, rows)
    }

    /// Re Σ_θ coefficient(θ) · det P_i(θ) for every candidate i, with one determinant per candidate and node.
    ///
    /// # Errors
    /// Those of the device; the CPU has none.
    fn candidate_determinants(&self, candidates: &CandidateGrid<'_>) -> Result<CandidateSums> {
        Cpu.candidate_determinants(candidates)
    }

    /// B ← B − (Bq)qᵀ for a unit vector q and a row-major B; returns the new ‖b_i‖².
    ///
    /// # Errors
    /// Those of the device; the CPU has none.
    fn project_rows(&self, rows: &mut [f64], direction: &[f64]) -> Result<Vec<f64>> {
        Cpu.project_rows(rows, direction)
    }

    /// ‖s_l a_i‖² for every row; group after group.
    ///
    /// # Errors
    /// Those of the device; the CPU has none.
    fn row_norms(&self, rows: &Rows<'_>) -> Result<Vec<f64>> {
        Cpu.row_norms(rows)
    }

    /// A table that starts with these gains, group after group.
    ///
    /// # Errors
    /// Those of the device; the CPU has none.
    fn gain_table<'e>(&'e self, rows: &Rows<'e>, gains: &[f64]) -> Result<Box<dyn GainTable + 'e>> {
        Cpu.gain_table(rows, gains)
    }

    /// Whether tables of gains pick on their own ([`GainTable::pick_ahead`]).
    #[doc(hidden)]
    fn picks_ahead(&self) -> bool {
        false
    }

    /// A table that starts with ‖s_l a_i‖².
    ///
    /// # Errors
    /// Those of the device; the CPU has none.
    #[doc(hidden)]
    fn norm_table<'e>(&'e self, rows: &Rows<'e>) -> Result<Box<dyn GainTable + 'e>> {
        self.gain_table(rows, &self.row_norms(rows)?)
    }

    /// A table of the coefficients C = W_lᵀ s_l a_i of every row, with these residuals d.
    ///
    /// # Errors
    /// Those of the device; the CPU has none.
    fn swap_table<'e>(
        &'e self,
        rows: &Rows<'e>,
        duals: &[MatRef<'_, f64>],
        residuals: &[f64],
    ) -> Result<Box<dyn SwapTable + 'e>> {
        Cpu.swap_table(rows, duals, residuals)
    }

    /// The same, with residuals that the engine computes.
    ///
    /// # Errors
    /// Those of the device; the CPU has none.
    fn fresh_swap_table<'e>(
        &'e self,
        rows: &Rows<'e>,
        duals: &[MatRef<'_, f64>],
        beyond: &Beyond<'_>,
    ) -> Result<Box<dyn SwapTable + 'e>> {
        let mut residuals = beyond.forms(self, rows)?;
        beyond.mark(rows, &mut residuals);
        self.swap_table(rows, duals, &residuals)
    }

    /// A table of the nodes of a grid, to choose rows of one group w Fᵀ s a_i by; `None` from an engine that has no
    /// memory of its own. The host then conditions nodes itself, which [`grid_determinants`](Engine::grid_determinants)
    /// returns, and weighs rows by [`row_forms`](Engine::row_forms).
    ///
    /// # Errors
    /// Those of the device.
    fn node_table(
        &self,
        rows: &Rows<'_>,
        map: &RowMap<'_>,
        grid: &PhaseGrid<'_>,
        factors: &NodeFactors<'_>,
    ) -> Result<Option<Box<dyn NodeTable>>> {
        let _ = (rows, map, grid, factors);
        Ok(None)
    }
}

/// The linear map a_i ↦ w_l Fᵀ a_i: one weight per group, one factor for all.
#[derive(Clone, Copy, Debug)]
pub struct RowMap<'a> {
    /// w_l, one per group.
    pub weights: &'a [f64],
    /// F, n×r.
    pub factor: MatRef<'a, f64>,
}

/// The engine that produced a result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct EngineInfo {
    /// `cpu`, or the name of the GPU's backend.
    pub name: &'static str,
    /// The name of the adapter, if there is one.
    pub adapter: Option<String>,
    /// Precision of its arithmetic.
    pub precision: Precision,
}

impl fmt::Display for EngineInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.adapter {
            Some(adapter) => write!(f, "{adapter} ({}) in {}", self.name, self.precision),
            None => write!(f, "{} in {}", self.name, self.precision),
        }
    }
}

/// Precision of an engine's arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Precision {
    /// 32-bit: errors are about 1e-7 times the largest operands.
    F32,
    /// 64-bit.
    F64,
}

impl Precision {
    /// The machine epsilon: twice the relative rounding error of one operation.
    #[must_use]
    pub fn epsilon(self) -> f64 {
        match self {
            Precision::F32 => f32::EPSILON.into(),
            Precision::F64 => f64::EPSILON,
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Precision::F32 => f.write_str("f32"),
            Precision::F64 => f.write_str("f64"),
        }
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Cpu {}
    impl Sealed for super::Prepared<'_> {}
    impl Sealed for super::Watched<'_> {}
    #[cfg(feature = "gpu")]
    impl Sealed for super::gpu::Gpu {}
}

/// det P(θ) and P(θ)⁻¹, node after node.
pub(crate) fn grid_inverses(engine: &dyn Engine, grid: &PhaseGrid<'_>) -> Result<Vec<(c64, Mat<c64>)>> {
    let pair = |point: GridPoint| match point.inverse {
        Some(inverse) => (point.determinant.value(), inverse),
        None => unreachable!("inverses were requested"),
    };
    Ok(engine.grid_determinants(grid, GridRequest::Inverses)?.into_iter().map(pair).collect())
}

/// An engine, and why it was taken.
#[derive(Debug)]
#[non_exhaustive]
pub struct Chosen {
    /// The engine.
    pub engine: Box<dyn Engine>,
    /// Why.
    pub reason: EngineReason,
}

/// The engine that is predicted to be faster for sixteen passes over these features: a GPU that computes in f64, or the
/// CPU. [`auto_for`] knows more.
#[must_use]
pub fn auto(features: &Features) -> Box<dyn Engine> {
    /// Passes of a solver over the features, about one per item picked.
    const PASSES: usize = 16;
    auto_for(&Job::new(features, Task::Passes(PASSES))).engine
}

/// The engine that is predicted to be faster for a job: a GPU that computes in f64, or the CPU.
///
/// Nothing is measured for a job that any CPU finishes before a GPU is open. For others the rates of the CPU are measured
/// (some 50 ms, once per process); a GPU is opened if a good one of its kind would be faster, its rates are measured
/// (once per process and adapter), and it is used if it is faster by these. Software adapters and GPUs without f64 are
/// never taken; [`gpu::Gpu::new`] takes them.
#[must_use]
pub fn auto_for(job: &Job) -> Chosen {
    #[cfg(feature = "gpu")]
    match gpu::worthwhile(job) {
        (Some(gpu), reason) => Chosen { engine: Box::new(gpu), reason },
        (None, reason) => Chosen { engine: Box::new(Cpu), reason },
    }
    #[cfg(not(feature = "gpu"))]
    {
        let _ = job;
        Chosen { engine: Box::new(Cpu), reason: EngineReason::NotBuilt }
    }
}
