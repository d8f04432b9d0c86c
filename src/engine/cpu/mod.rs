//! The CPU engine: blocked f64 on all threads of the current rayon pool.

mod blocks;
mod part_grams;
mod row_forms;
mod whiten_rows;

use faer::{Mat, MatRef};

use super::{Engine, EngineInfo, Precision, RowMap, Rows};
use crate::Result;

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
}
