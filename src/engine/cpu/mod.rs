//! The CPU engine: blocked f64 on all threads of the current rayon pool.

mod blocks;
mod candidate_determinants;
mod gain_update;
mod grid_determinants;
mod grid_forms;
mod part_grams;
mod row_forms;
mod swap_gains;
mod swap_table;
mod whiten_rows;

use faer::{Mat, MatRef};

use super::{
    CandidateGrid, CandidateSums, EngineInfo, FormGrid, GainTable, GridForms, GridPoint, GridRequest,
    PhaseGrid, Precision, RowMap, Rows, SwapTable, Verbs,
};
use crate::Result;

/// Peak memory in bytes of a pass that computes the Gram matrices of these groups: sums, partial sums, blocks of
/// rows.
pub(crate) fn pass_bytes(dims: usize, groups: usize, threads: usize) -> u64 {
    let matrix = 8 * dims * dims;
    // Sums, their images in whitened coordinates, and their tilted copies.
    (matrix * (4 * groups + part_grams::WAVE) + 2 * threads * 8 * dims * blocks::BLOCK) as u64
}

/// The CPU, in f64.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu;

impl Verbs for Cpu {
    fn info(&self) -> EngineInfo {
        EngineInfo { name: "cpu".into(), adapter: None, precision: Precision::F64 }
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

    fn grid_forms(&self, of: &FormGrid<'_>, passed: &dyn Fn(usize) -> Result<()>) -> Result<GridForms> {
        grid_forms::grid_forms(of, passed)
    }

    fn candidate_determinants(&self, candidates: &CandidateGrid<'_>) -> Result<CandidateSums> {
        Ok(candidate_determinants::candidate_determinants(candidates))
    }

    fn row_norms(&self, rows: &Rows<'_>) -> Result<Vec<f64>> {
        Ok(gain_update::row_norms(rows))
    }

    fn gain_table<'e>(&'e self, rows: &Rows<'e>, gains: &[f64]) -> Result<Box<dyn GainTable + 'e>> {
        Ok(Box::new(gain_update::CpuGains::new(rows, gains)))
    }

    fn swap_table<'e>(
        &'e self,
        rows: &Rows<'e>,
        duals: &[MatRef<'_, f64>],
        residuals: &[f64],
    ) -> Result<Box<dyn SwapTable + 'e>> {
        Ok(Box::new(swap_table::swap_table(rows, duals, residuals)))
    }
}
