//! The verbs of an engine: coarse operations over the rows of A.

use std::{fmt, sync::Arc};

use faer::{Mat, MatRef};

use super::{
    Beyond, CandidateGrid, CandidateSums, Engine, EngineInfo, FormGrid, GainTable, GridForms, GridPoint,
    GridRequest, PhaseGrid, Rows, SwapTable, proposals, sealed, slates,
};
use crate::{
    Result,
    watch::{Step, Watch},
};

/// The verbs of an engine.
///
/// | verb | computes | cost |
/// |---|---|---|
/// | [`part_grams`](Verbs::part_grams) | G_l = Σ b_i b_iᵀ for every group, in one pass | 2mn² |
/// | [`row_forms`](Verbs::row_forms) | ‖F_lᵀ a_i‖² for every row | 2mnr |
/// | [`whiten_rows`](Verbs::whiten_rows) | w_l Fᵀ a_i for every row | 2mnr |
/// | [`grid_determinants`](Verbs::grid_determinants) | det P(θ), and P(θ)⁻¹ on request, for every node | (8/3 … 8)r³ per node |
/// | [`grid_forms`](Verbs::grid_forms) | det P(θ) for every node, Re Σ x_l(θ) det P(θ) P(θ)⁻¹ for every part | (8 + 4p/r)r³ per node |
/// | [`candidate_determinants`](Verbs::candidate_determinants) | one determinant per candidate and node, summed over nodes | 8/3·r³ per candidate and node |
/// | [`row_norms`](Verbs::row_norms) | ‖a_i‖² for every row | 2mn |
/// | [`GainTable::update`] | c = A q, d ← d − c∘c, the largest d of every group | 2mn |
/// | [`swap_table`](Verbs::swap_table) | C = WᵀAᵀ in tiles | 2mnk |
/// | [`fresh_swap_table`](Verbs::fresh_swap_table) | C as above, and d = ‖Fᵀa‖² | 2mn² |
/// | [`SwapTable::entrants`] | on a device: candidates for exchanges between two groups | 2mnk + 14mk² |
/// | [`SwapTable::gains`] | rank-two update of C and d, the largest M_ii d_j + C_ij² of every group | 4mn + 7mk |
///
/// The order of summation depends only on the sizes, so results do not depend on the number of threads. Verbs that an
/// engine does not implement are computed on the CPU, in f64.
///
/// The trait is sealed because verbs will be added.
pub trait Verbs: sealed::Sealed + fmt::Debug + Send + Sync {
    /// Name, adapter and precision of the engine.
    fn info(&self) -> EngineInfo;

    /// Checks whether the work may continue. Long loops on the host call this between verbs.
    ///
    /// # Errors
    /// [`Error::Ended`](crate::Error::Ended) from an engine under a watch that has ended the work.
    fn proceed(&self) -> Result<()> {
        Ok(())
    }

    /// Like [`proceed`](Verbs::proceed), after a pass over `rows` rows that is not one of the verbs.
    ///
    /// # Errors
    /// Errors of [`proceed`](Verbs::proceed).
    fn proceed_after(&self, rows: usize) -> Result<()> {
        let _ = rows;
        self.proceed()
    }

    /// Like [`proceed`](Verbs::proceed), after `steps` steps of another kind.
    ///
    /// # Errors
    /// Errors of [`proceed`](Verbs::proceed).
    fn proceed_after_steps(&self, step: Step, steps: usize) -> Result<()> {
        let _ = (step, steps);
        self.proceed()
    }

    /// Adds `steps` to the expected number of steps of this kind.
    fn expect(&self, step: Step, steps: usize) {
        let _ = (step, steps);
    }

    /// The engine without its watch, and the watch; `None` if the engine has no watch.
    fn apart(&self) -> Option<(&Engine, &Watch)> {
        None
    }

    /// The engine that computes in f64 in place of this one; `None` stands for the plain CPU.
    fn stand_in(&self) -> Option<&Engine> {
        None
    }

    /// The device that makes batches of proposals, if the engine has one. Otherwise the host makes draws one at a
    /// time.
    fn proposal_device(&self) -> Option<Arc<dyn proposals::ProposalDevice>> {
        None
    }

    /// The device that finds greedy sets for many requests at once, if the engine has one.
    fn slate_device(&self) -> Option<Arc<dyn slates::SlateDevice>> {
        None
    }

    /// Computes the Gram matrix of every group, Σ b_i b_iᵀ over its rows.
    ///
    /// b_i is the scaled row s_l a_i, or its image w_l Fᵀ s_l a_i if a `map` is given.
    ///
    /// # Errors
    /// Errors of the device; the CPU has none.
    fn part_grams(&self, rows: &Rows<'_>, map: Option<&RowMap<'_>>) -> Result<Vec<Mat<f64>>>;

    /// Computes ‖F_lᵀ s_l a_i‖² for every row, with one factor F_l per group. Results are listed group by group.
    ///
    /// # Errors
    /// Errors of the device; the CPU has none.
    fn row_forms(&self, rows: &Rows<'_>, factors: &[MatRef<'_, f64>]) -> Result<Vec<f64>>;

    /// Computes the rows w_l (s_l a_i)ᵀ F of r values each, row-major and group by group.
    ///
    /// # Errors
    /// Errors of the device; the CPU has none.
    fn whiten_rows(&self, rows: &Rows<'_>, map: &RowMap<'_>) -> Result<Vec<f64>> {
        Engine::host().whiten_rows(rows, map)
    }

    /// Computes det P(θ), and P(θ)⁻¹ on request, node by node.
    ///
    /// # Errors
    /// Errors of the device; the CPU has none.
    fn grid_determinants(&self, grid: &PhaseGrid<'_>, request: GridRequest) -> Result<Vec<GridPoint>> {
        Engine::host().grid_determinants(grid, request)
    }

    /// Computes det P(θ), node by node, and W_l = Re Σ_θ x_l(θ) · det P(θ) P(θ)⁻¹ for every part.
    ///
    /// Inverses stay in the memory of the engine. `passed` is called with the number of nodes after each batch; an
    /// error from it ends the work.
    ///
    /// # Errors
    /// Errors of the device and of `passed`; the CPU adds none.
    fn grid_forms(&self, of: &FormGrid<'_>, passed: &dyn Fn(usize) -> Result<()>) -> Result<GridForms> {
        Engine::host().grid_forms(of, passed)
    }

    /// Computes Re Σ_θ coefficient(θ) · det P_i(θ) for every candidate i, with one determinant per candidate and
    /// node.
    ///
    /// # Errors
    /// Errors of the device; the CPU has none.
    fn candidate_determinants(&self, candidates: &CandidateGrid<'_>) -> Result<CandidateSums> {
        Engine::host().candidate_determinants(candidates)
    }

    /// Computes ‖s_l a_i‖² for every row, group by group.
    ///
    /// # Errors
    /// Errors of the device; the CPU has none.
    fn row_norms(&self, rows: &Rows<'_>) -> Result<Vec<f64>> {
        Engine::host().row_norms(rows)
    }

    /// Returns a table that starts with these gains, which are listed group by group.
    ///
    /// # Errors
    /// Errors of the device; the CPU has none.
    fn gain_table<'e>(&'e self, rows: &Rows<'e>, gains: &[f64]) -> Result<Box<dyn GainTable + 'e>> {
        Engine::host().gain_table(rows, gains)
    }

    /// Whether gain tables can pick without the host ([`GainTable::pick_ahead`]).
    fn picks_ahead(&self) -> bool {
        false
    }

    /// Returns a gain table that starts with ‖s_l a_i‖².
    ///
    /// # Errors
    /// Errors of the device; the CPU has none.
    fn norm_table<'e>(&'e self, rows: &Rows<'e>) -> Result<Box<dyn GainTable + 'e>> {
        self.gain_table(rows, &self.row_norms(rows)?)
    }

    /// Returns a table of the coefficients C = W_lᵀ s_l a_i of every row, with these residuals d.
    ///
    /// # Errors
    /// Errors of the device; the CPU has none.
    fn swap_table<'e>(
        &'e self,
        rows: &Rows<'e>,
        duals: &[MatRef<'_, f64>],
        residuals: &[f64],
    ) -> Result<Box<dyn SwapTable + 'e>> {
        Engine::host().swap_table(rows, duals, residuals)
    }

    /// Like [`swap_table`](Verbs::swap_table), with residuals that the engine computes.
    ///
    /// # Errors
    /// Errors of the device; the CPU has none.
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
}

/// The linear map a_i ↦ w_l Fᵀ a_i: one weight per group, one factor for all.
#[derive(Clone, Copy, Debug)]
pub struct RowMap<'a> {
    /// w_l, one per group.
    pub weights: &'a [f64],
    /// F, n×r.
    pub factor: MatRef<'a, f64>,
}
