//! The verbs of an engine: coarse operations over the rows of A.

use std::{fmt, sync::Arc};

use faer::{Mat, MatRef, c64};

use super::{
    Beyond, CandidateGrid, CandidateSums, Determinant, Engine, EngineInfo, FormGrid, GainTable, GridForms,
    GridPoint, GridRequest, NodeFactors, NodeTable, PhaseGrid, Rows, SwapTable, proposals, sealed, slates,
};
use crate::{
    Result,
    watch::{Step, Watch},
};

/// The verbs.
///
/// | verb | computes | cost |
/// |---|---|---|
/// | [`part_grams`](Verbs::part_grams) | G_l = Σ b_i b_iᵀ for every group, in one pass | 2mn² |
/// | [`row_forms`](Verbs::row_forms) | ‖F_lᵀ a_i‖² for every row | 2mnr |
/// | [`whiten_rows`](Verbs::whiten_rows) | w_l Fᵀ a_i for every row | 2mnr |
/// | [`grid_determinants`](Verbs::grid_determinants) | det P(θ), and P(θ)⁻¹ on request, for every node | (8/3 … 8)r³ per node |
/// | [`grid_forms`](Verbs::grid_forms) | det P(θ) for every node, Re Σ x_l(θ) det P(θ) P(θ)⁻¹ for every part | (8 + 4p/r)r³ per node |
/// | [`grid_blocks`](Verbs::grid_blocks) | det P(θ) and U P(θ)⁻¹ Uᵀ for some rows U, for every node | (8 + 4m/r)r³ per node |
/// | [`candidate_determinants`](Verbs::candidate_determinants) | one determinant per candidate and node, summed over nodes | 8/3·r³ per candidate and node |
/// | [`project_rows`](Verbs::project_rows) | B ← B − (Bq)qᵀ, with the new ‖b_i‖² | 4mr |
/// | [`row_norms`](Verbs::row_norms) | ‖a_i‖² for every row | 2mn |
/// | [`NodeTable::choose`] | a pick's condition on every node, and the next choice | 16r² per node, 2mnr |
/// | [`GainTable::update`] | c = A q, d ← d − c∘c, the largest d of every group | 2mn |
/// | [`swap_table`](Verbs::swap_table) | C = WᵀAᵀ in tiles | 2mnk |
/// | [`fresh_swap_table`](Verbs::fresh_swap_table) | the same, and d = ‖Fᵀa‖² | 2mn² |
/// | [`SwapTable::entrants`] | on a device: which items can take part in exchanges between two groups | 2mnk + 14mk² |
/// | [`SwapTable::gains`] | rank-two update of C and d, the largest M_ii d_j + C_ij² of every group | 4mn + 7mk |
///
/// The order of sums depends on the sizes only, so results do not depend on the number of threads. The CPU computes, in
/// f64, what an engine does not implement.
///
/// The trait is sealed, since verbs will be added.
pub trait Verbs: sealed::Sealed + fmt::Debug + Send + Sync {
    /// Name, adapter and precision of the engine.
    fn info(&self) -> EngineInfo;

    /// Checks between verbs whether the work may continue. Long loops on the host call it.
    ///
    /// # Errors
    /// [`Error::Ended`](crate::Error::Ended) from an engine under a watch that has ended the work.
    fn proceed(&self) -> Result<()> {
        Ok(())
    }

    /// The same after a pass over so many rows that is not one of the verbs.
    ///
    /// # Errors
    /// Those of [`proceed`](Verbs::proceed).
    fn proceed_after(&self, rows: usize) -> Result<()> {
        let _ = rows;
        self.proceed()
    }

    /// The same after so many steps of another kind.
    ///
    /// # Errors
    /// Those of [`proceed`](Verbs::proceed).
    fn proceed_after_steps(&self, step: Step, steps: usize) -> Result<()> {
        let _ = (step, steps);
        self.proceed()
    }

    /// Says that so many more steps of this kind are to come.
    fn expect(&self, step: Step, steps: usize) {
        let _ = (step, steps);
    }

    /// The engine without its watch, and the watch, if there is one.
    fn apart(&self) -> Option<(&Engine, &Watch)> {
        None
    }

    /// The engine that computes in f64 in place of this one; `None` if the plain CPU does.
    fn stand_in(&self) -> Option<&Engine> {
        None
    }

    /// The device that makes batches of proposals, if the engine has one; by default draws are made one by one on the host.
    fn proposal_device(&self) -> Option<Arc<dyn proposals::ProposalDevice>> {
        None
    }

    /// The device that finds the greedy sets of many requests, if the engine has one.
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

    /// The rows w_l (s_l a_i)ᵀ F, row-major, r values each; group after group.
    ///
    /// # Errors
    /// Those of the device; the CPU has none.
    fn whiten_rows(&self, rows: &Rows<'_>, map: &RowMap<'_>) -> Result<Vec<f64>> {
        Engine::host().whiten_rows(rows, map)
    }

    /// det P(θ), and P(θ)⁻¹ on request, node after node.
    ///
    /// # Errors
    /// Those of the device; the CPU has none.
    fn grid_determinants(&self, grid: &PhaseGrid<'_>, request: GridRequest) -> Result<Vec<GridPoint>> {
        Engine::host().grid_determinants(grid, request)
    }

    /// det P(θ), node after node, and W_l = Re Σ_θ x_l(θ) · det P(θ) P(θ)⁻¹ for every part: inverses stay where they are
    /// computed.
    ///
    /// `passed` is told of some more nodes whenever they are done, and ends the work by an error.
    ///
    /// # Errors
    /// Those of the device, and that of `passed`; the CPU has none.
    fn grid_forms(&self, of: &FormGrid<'_>, passed: &dyn Fn(usize) -> Result<()>) -> Result<GridForms> {
        Engine::host().grid_forms(of, passed)
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
        Engine::host().grid_blocks(grid, rows)
    }

    /// Re Σ_θ coefficient(θ) · det P_i(θ) for every candidate i, with one determinant per candidate and node.
    ///
    /// # Errors
    /// Those of the device; the CPU has none.
    fn candidate_determinants(&self, candidates: &CandidateGrid<'_>) -> Result<CandidateSums> {
        Engine::host().candidate_determinants(candidates)
    }

    /// B ← B − (Bq)qᵀ for a unit vector q and a row-major B; returns the new ‖b_i‖².
    ///
    /// # Errors
    /// Those of the device; the CPU has none.
    fn project_rows(&self, rows: &mut [f64], direction: &[f64]) -> Result<Vec<f64>> {
        Engine::host().project_rows(rows, direction)
    }

    /// ‖s_l a_i‖² for every row; group after group.
    ///
    /// # Errors
    /// Those of the device; the CPU has none.
    fn row_norms(&self, rows: &Rows<'_>) -> Result<Vec<f64>> {
        Engine::host().row_norms(rows)
    }

    /// A table that starts with these gains, group after group.
    ///
    /// # Errors
    /// Those of the device; the CPU has none.
    fn gain_table<'e>(&'e self, rows: &Rows<'e>, gains: &[f64]) -> Result<Box<dyn GainTable + 'e>> {
        Engine::host().gain_table(rows, gains)
    }

    /// Whether tables of gains pick on their own ([`GainTable::pick_ahead`]).
    fn picks_ahead(&self) -> bool {
        false
    }

    /// A table that starts with ‖s_l a_i‖².
    ///
    /// # Errors
    /// Those of the device; the CPU has none.
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
        Engine::host().swap_table(rows, duals, residuals)
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
    /// memory of its own. The host then conditions nodes itself, which [`grid_determinants`](Verbs::grid_determinants)
    /// returns, and weighs rows by [`row_forms`](Verbs::row_forms).
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
