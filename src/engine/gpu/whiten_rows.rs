//! `whiten_rows`: w_l Fᵀ a_i for every row.

use super::{
    Gpu,
    buffers::Lease,
    context::Context,
    device_rows::LoadedChunk,
    map_rows::PerRow,
    parameters::parameters,
    range::{Padded, QUAD},
    recording::Work,
    resident::BLOCK,
    shaders::Shader,
};
use crate::{
    Result,
    engine::{RowMap, Rows},
};

/// A linear map on the device.
pub(super) struct Images {
    /// w_l times the divisor of the factor.
    units: Vec<f64>,
    factor: Lease,
    columns: usize,
    /// The number of values per image; zeros follow the columns.
    width: usize,
}

impl Images {
    pub(super) fn upload(context: &Context, map: &RowMap<'_>, width: usize) -> Result<Self> {
        let factor = Padded::factor(context.precision, map.factor);
        Ok(Self {
            units: map.weights.iter().map(|weight| weight * factor.unit).collect(),
            factor: context.uploaded(&factor.values)?,
            columns: map.factor.ncols(),
            width,
        })
    }
}

impl PerRow for Images {
    fn width(&self) -> usize {
        self.width
    }

    fn unit(&self, group: usize, unit: f64) -> f64 {
        unit * self.units[group]
    }

    fn record(&self, work: &mut Work, loaded: &LoadedChunk<'_>, out: &Lease) -> Result<()> {
        loaded.dispatch(
            work,
            Shader::WhitenRows,
            &parameters! {
                column_quads: self.columns.div_ceil(QUAD),
                width: self.width,
                column_blocks: self.width.div_ceil(BLOCK),
            },
            &[&self.factor, out],
            loaded.rows.block_load(loaded.chunk.tiles.len(), self.width),
        )
    }
}

pub(super) fn whiten_rows(gpu: &Gpu, rows: &Rows<'_>, map: &RowMap<'_>) -> Result<Vec<f64>> {
    gpu.map_rows("whiten_rows", rows, |context| Images::upload(context, map, map.factor.ncols()))
}
