//! An engine that ends its work when a watch says so.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64, Ordering},
};

use faer::{Mat, MatRef};

use super::{
    Ahead, BestSwap, Beyond, CandidateGrid, CandidateSums, Engine, EngineInfo, FormGrid, GainTable,
    GridForms, GridPoint, GridRequest, LeavingPairs, PhaseGrid, PickAhead, Precision, RowMap, Rows,
    SwapAhead, SwapNumbers, SwapTable, SwapUpdate, SwapsAhead, Top, Verbs, proposals::ProposalDevice,
    sealed::Sealed, slates::SlateDevice,
};
use crate::{
    Result,
    clock::Instant,
    parallel::threads,
    watch::{Ended, Step, Watch},
};

/// Approximate floating-point operations per thread between two checks of the watch: a few tenths of a second.
const OPERATIONS: f64 = 2.5e8;

/// An engine under a [`Watch`].
#[derive(Debug)]
pub(super) struct Watched {
    engine: Engine,
    latch: Latch,
    start: Option<Instant>,
    steps: [Steps; STEPS],
    /// The CPU under the same watch, if the engine computes in single precision.
    stand_in: Option<Engine>,
}

/// The number of kinds of steps.
const STEPS: usize = Step::Pilot as usize + 1;

/// Steps of one kind: the number done, and the number expected in total, 0 if unknown.
#[derive(Debug, Default)]
struct Steps {
    done: AtomicU64,
    expected: AtomicU64,
}

/// Whether the watch has ended work. A pass that skipped rows remains invalid even if the caller clears the flag.
#[derive(Debug)]
pub(super) struct Latch {
    watch: Watch,
    ended: OnceLock<Ended>,
}

impl Latch {
    pub(super) fn ended(&self) -> Option<Ended> {
        let latched = self.ended.get().copied();
        latched.or_else(|| self.watch.ended().map(|ended| *self.ended.get_or_init(|| ended)))
    }

    fn check(&self) -> Result<()> {
        self.ended().map_or(Ok(()), |ended| Err(ended.into()))
    }
}

impl Watched {
    /// Puts an engine under a watch.
    pub(super) fn new(engine: Engine, watch: Watch) -> Self {
        let single = engine.info().precision == Precision::F32;
        let stand_in = single.then(|| engine.stand_in().unwrap_or(Engine::host()).watched(&watch));
        let start = watch.begin();
        let latch = Latch { watch, ended: OnceLock::new() };
        Self { engine, latch, start, steps: Default::default(), stand_in }
    }

    /// Runs a pass over rows.
    fn pass<'e, T>(&'e self, rows: &Rows<'e>, verb: impl FnOnce(&Rows<'e>) -> Result<T>) -> Result<T> {
        self.pass_over(rows.len(), || verb(&rows.under(&self.latch)))
    }

    /// Runs a pass over this number of rows.
    fn pass_over<T>(&self, rows: usize, verb: impl FnOnce() -> Result<T>) -> Result<T> {
        self.latch.check()?;
        let found = verb()?;
        self.passed(Step::Row, rows)?;
        Ok(found)
    }

    /// Runs a verb on a few nodes at a time.
    fn in_pieces(
        &self,
        grid: &PhaseGrid<'_>,
        mut verb: impl FnMut(&PhaseGrid<'_>) -> Result<()>,
    ) -> Result<()> {
        let size = grid.shares[0].nrows() as f64;
        let nodes = at_a_time(grid.nodes(), 8.0 * size.powi(3));
        self.latch.check()?;
        for phases in grid.phases.chunks(nodes * grid.shares.len()) {
            let part = PhaseGrid { shares: grid.shares, phases };
            verb(&part)?;
            self.passed(Step::Node, part.nodes())?;
        }
        Ok(())
    }

    /// Counts `more` steps as done, unless the watch has ended the work.
    fn passed(&self, step: Step, more: usize) -> Result<()> {
        self.latch.check()?;
        let Steps { done, expected } = &self.steps[step as usize];
        let steps = done.fetch_add(more as u64, Ordering::Relaxed) + more as u64;
        let expected = expected.load(Ordering::Relaxed);
        self.latch.watch.report(self.start, step, steps, (expected > 0).then_some(expected));
        Ok(())
    }
}

/// The number of pieces of work between two checks of the watch, out of `count` pieces of `operations` operations
/// each.
pub(crate) fn at_a_time(count: usize, operations: f64) -> usize {
    let threads = threads();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounded down, saturating")]
    let each = (OPERATIONS / operations) as usize;
    each.max(1).saturating_mul(threads).clamp(1, count.max(1))
}

impl Verbs for Watched {
    fn info(&self) -> EngineInfo {
        self.engine.info()
    }

    fn proceed(&self) -> Result<()> {
        self.latch.check()
    }

    fn proceed_after(&self, rows: usize) -> Result<()> {
        self.passed(Step::Row, rows)
    }

    fn proceed_after_steps(&self, step: Step, steps: usize) -> Result<()> {
        self.passed(step, steps)
    }

    fn expect(&self, step: Step, steps: usize) {
        self.steps[step as usize].expected.fetch_add(steps as u64, Ordering::Relaxed);
    }

    fn apart(&self) -> Option<(&Engine, &Watch)> {
        Some((&self.engine, &self.latch.watch))
    }

    fn stand_in(&self) -> Option<&Engine> {
        self.stand_in.as_ref()
    }

    fn proposal_device(&self) -> Option<Arc<dyn ProposalDevice>> {
        self.engine.proposal_device()
    }

    fn slate_device(&self) -> Option<Arc<dyn SlateDevice>> {
        self.engine.slate_device()
    }

    fn part_grams(&self, rows: &Rows<'_>, map: Option<&RowMap<'_>>) -> Result<Vec<Mat<f64>>> {
        self.pass(rows, |rows| self.engine.part_grams(rows, map))
    }

    fn row_forms(&self, rows: &Rows<'_>, factors: &[MatRef<'_, f64>]) -> Result<Vec<f64>> {
        self.pass(rows, |rows| self.engine.row_forms(rows, factors))
    }

    fn whiten_rows(&self, rows: &Rows<'_>, map: &RowMap<'_>) -> Result<Vec<f64>> {
        self.pass(rows, |rows| self.engine.whiten_rows(rows, map))
    }

    fn grid_determinants(&self, grid: &PhaseGrid<'_>, request: GridRequest) -> Result<Vec<GridPoint>> {
        let mut points = Vec::with_capacity(grid.nodes());
        self.in_pieces(grid, |part| {
            points.extend(self.engine.grid_determinants(part, request)?);
            Ok(())
        })?;
        Ok(points)
    }

    fn grid_forms(&self, of: &FormGrid<'_>, passed: &dyn Fn(usize) -> Result<()>) -> Result<GridForms> {
        self.latch.check()?;
        self.engine.grid_forms(of, &|nodes| {
            self.passed(Step::Node, nodes)?;
            passed(nodes)
        })
    }

    fn candidate_determinants(&self, candidates: &CandidateGrid<'_>) -> Result<CandidateSums> {
        let size = candidates.grid.shares[0].nrows();
        let nodes = candidates.grid.nodes();
        let count = candidates.rows.len() / size.max(1);
        let chunk = at_a_time(count, nodes as f64 * 3.0 * (size as f64).powi(3));
        let mut sums = CandidateSums { sums: Vec::with_capacity(count), determinants: 0 };
        self.latch.check()?;
        for rows in candidates.rows.chunks(chunk * size.max(1)) {
            let found = self.engine.candidate_determinants(&CandidateGrid { rows, ..*candidates })?;
            sums.sums.extend(found.sums);
            sums.determinants += found.determinants;
            self.passed(Step::Node, rows.len() / size.max(1) * nodes)?;
        }
        Ok(sums)
    }

    fn row_norms(&self, rows: &Rows<'_>) -> Result<Vec<f64>> {
        self.pass(rows, |rows| self.engine.row_norms(rows))
    }

    fn gain_table<'e>(&'e self, rows: &Rows<'e>, gains: &[f64]) -> Result<Box<dyn GainTable + 'e>> {
        self.latch.check()?;
        let table = self.engine.gain_table(&rows.under(&self.latch), gains)?;
        Ok(Box::new(WatchedTable { watched: self, rows: rows.len(), table }))
    }

    fn picks_ahead(&self) -> bool {
        self.engine.picks_ahead()
    }

    fn norm_table<'e>(&'e self, rows: &Rows<'e>) -> Result<Box<dyn GainTable + 'e>> {
        let table = self.pass(rows, |rows| self.engine.norm_table(rows))?;
        Ok(Box::new(WatchedTable { watched: self, rows: rows.len(), table }))
    }

    fn swap_table<'e>(
        &'e self,
        rows: &Rows<'e>,
        duals: &[MatRef<'_, f64>],
        residuals: &[f64],
    ) -> Result<Box<dyn SwapTable + 'e>> {
        let table = self.pass(rows, |rows| self.engine.swap_table(rows, duals, residuals))?;
        Ok(Box::new(WatchedTable { watched: self, rows: rows.len(), table }))
    }

    fn fresh_swap_table<'e>(
        &'e self,
        rows: &Rows<'e>,
        duals: &[MatRef<'_, f64>],
        beyond: &Beyond<'_>,
    ) -> Result<Box<dyn SwapTable + 'e>> {
        let table = self.pass(rows, |rows| self.engine.fresh_swap_table(rows, duals, beyond))?;
        Ok(Box::new(WatchedTable { watched: self, rows: rows.len(), table }))
    }
}

/// A table of the wrapped engine, over rows under the watch.
#[derive(Debug)]
struct WatchedTable<'e, T: ?Sized> {
    watched: &'e Watched,
    rows: usize,
    table: Box<T>,
}

impl<T: ?Sized> Sealed for WatchedTable<'_, T> {}

impl<'e> GainTable for WatchedTable<'e, dyn GainTable + 'e> {
    fn update(&mut self, direction: Option<&[f64]>) -> Result<Vec<Vec<Top>>> {
        self.watched.pass_over(self.rows, || self.table.update(direction))
    }

    fn pick_ahead(&mut self, request: &PickAhead<'_>) -> Result<Option<Ahead>> {
        self.watched.pass_over(self.rows, || self.table.pick_ahead(request))
    }

    fn remove(&mut self, group: usize, position: usize) {
        self.table.remove(group, position);
    }

    fn close(&mut self, group: usize) {
        self.table.close(group);
    }

    fn read(&self) -> Result<Vec<Vec<f64>>> {
        self.table.read()
    }
}

impl<'e> SwapTable for WatchedTable<'e, dyn SwapTable + 'e> {
    fn gains(&mut self, update: Option<&SwapUpdate<'_>>, weights: &[Vec<f64>]) -> Result<Vec<Vec<BestSwap>>> {
        self.watched.pass_over(self.rows, || self.table.gains(update, weights))
    }

    fn swap_ahead(&mut self, request: &SwapAhead<'_>) -> Result<Option<SwapsAhead>> {
        self.watched.latch.check()?;
        let ahead = self.table.swap_ahead(request)?;
        let passes = ahead.as_ref().map_or(0, |ahead| ahead.swaps.len().max(1));
        self.watched.passed(Step::Row, passes * self.rows)?;
        Ok(ahead)
    }

    fn entrants(&self, leaving: &LeavingPairs<'_>) -> Result<Option<Vec<Vec<usize>>>> {
        self.watched.latch.check()?;
        self.table.entrants(leaving)
    }

    fn read(&self) -> Result<Vec<SwapNumbers>> {
        self.table.read()
    }
}
