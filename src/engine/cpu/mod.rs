//! The CPU engine: blocked f64 on all threads of the current rayon pool.

mod blocks;
mod candidate_determinants;
mod gain_update;
mod grid_determinants;
mod part_grams;
mod project_rows;
mod row_forms;
mod swap_gains;
mod whiten_rows;

use faer::{Mat, MatRef};

use super::{
    BestSwap, CandidateGrid, CandidateSums, Engine, EngineInfo, GainTable, GridPoint, GridRequest, PhaseGrid,
    Precision, RowMap, Rows, SwapTable, SwapUpdate, Top,
};
use crate::Result;

/// Bytes that a pass for the Gram matrices of these groups holds at most: sums, partial sums, blocks of rows.
pub(crate) fn pass_bytes(dims: usize, groups: usize, threads: usize) -> u64 {
    let matrix = 8 * dims * dims;
    // Sums, their images in whitened coordinates and what the tilt makes of them.
    (matrix * (4 * groups + part_grams::WAVE) + 2 * threads * 8 * dims * blocks::BLOCK) as u64
}

/// The CPU, in f64.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu;

impl Engine for Cpu {
    fn info(&self) -> EngineInfo {
        EngineInfo { name: "cpu", adapter: None, precision: Precision::F64 }
    }

    fn part_grams(&self, rows: &Rows<'_>, map: Option<&RowMap<'_>>) -> Result<Vec<Mat<f64>>> {
        Ok(part_grams::part_grams(rows, map))
    }

    fn row_forms(&self, rows: &Rows<'_>, factors: &[MatRef<'_, f64>]) -> Result<Vec<f64>> {
        Ok(row_forms::row_forms(rows, factors))
    }

    fn whiten_rows(&self, rows: &Rows<'_>, map: &RowMap<'_>) -> Result<Vec<f64>> {
        Ok(whiten_rows::whiten_rows(rows, map))
    }

    fn grid_determinants(&self, grid: &PhaseGrid<'_>, request: GridRequest) -> Result<Vec<GridPoint>> {
        Ok(grid_determinants::grid_determinants(grid, request))
    }

    fn candidate_determinants(&self, candidates: &CandidateGrid<'_>) -> Result<CandidateSums> {
        Ok(candidate_determinants::candidate_determinants(candidates))
    }

    fn row_norms(&self, rows: &Rows<'_>) -> Result<Vec<f64>> {
        Ok(gain_update::row_norms(rows))
    }

    fn gain_table(&self, rows: &Rows<'_>, gains: &[f64]) -> Result<GainTable> {
        Ok(GainTable::on_host(rows, gains))
    }

    fn gain_update(
        &self,
        rows: &Rows<'_>,
        table: &mut GainTable,
        direction: Option<&[f64]>,
    ) -> Result<Vec<Vec<Top>>> {
        let tops = gain_update::gain_update(rows, table, direction);
        Ok(tops.into_iter().map(|top| top.into_iter().collect()).collect())
    }

    fn swap_table(&self, rows: &Rows<'_>, duals: &[MatRef<'_, f64>], residuals: &[f64]) -> Result<SwapTable> {
        Ok(swap_gains::swap_table(rows, duals, residuals))
    }

    fn swap_gains(
        &self,
        rows: &Rows<'_>,
        table: &mut SwapTable,
        update: Option<&SwapUpdate<'_>>,
        weights: &[Vec<f64>],
    ) -> Result<Vec<Vec<BestSwap>>> {
        let best = swap_gains::swap_gains(rows, table, update, weights);
        Ok(best.into_iter().map(|swap| swap.into_iter().collect()).collect())
    }

    fn project_rows(&self, rows: &mut [f64], direction: &[f64]) -> Result<Vec<f64>> {
        Ok(project_rows::project_rows(rows, direction))
    }
}
