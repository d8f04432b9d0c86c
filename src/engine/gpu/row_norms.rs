//! `row_norms`: ‖a_i‖² for every row.

use super::{
    Gpu, buffers::Lease, device_rows::LoadedChunk, map_rows::PerRow, recording::Work, shaders::Shader,
};
use crate::{Result, engine::Rows};

/// ‖a_i‖².
pub(super) struct Norms;

impl PerRow for Norms {
    fn width(&self) -> usize {
        1
    }

    fn unit(&self, _: usize, unit: f64) -> f64 {
        unit * unit
    }

    fn record(&self, work: &mut Work, loaded: &LoadedChunk<'_>, out: &Lease) -> Result<()> {
        let load = loaded.rows.tile_load(loaded.chunk.tiles.len());
        loaded.dispatch(work, Shader::RowNorms, &[], &[out], load)
    }
}

pub(super) fn row_norms(gpu: &Gpu, rows: &Rows<'_>) -> Result<Vec<f64>> {
    gpu.map_rows("row_norms", rows, |_| Ok(Norms))
}
