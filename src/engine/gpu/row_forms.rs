//! `row_forms`: ‖F_lᵀ a_i‖² for every row.

use faer::MatRef;

use super::{
    Gpu,
    buffers::{Lease, size_of},
    context::Context,
    device_rows::LoadedChunk,
    map_rows::PerRow,
    pace::Load,
    parameters::parameters,
    range::{QUAD, push_factor, unit_of_matrix},
    recording::Work,
    resident::BLOCK,
    shaders::Shader,
};
use crate::{Result, engine::Rows};

/// The factors of all groups.
pub(super) struct Forms {
    /// The number of columns of the widest factor.
    columns: usize,
    units: Vec<f64>,
    /// The factors of consecutive groups, as many as can be bound, with the range of groups.
    batches: Vec<(std::ops::Range<usize>, Lease)>,
}

impl Forms {
    fn upload(context: &Context, factors: &[MatRef<'_, f64>]) -> Result<Self> {
        let units = factors.iter().map(|factor| unit_of_matrix(context.precision, *factor)).collect();
        Self::divided(context, factors, units)
    }

    /// Uploads factors with orthonormal columns, which need no divisors.
    pub(super) fn of_orthonormal(context: &Context, factors: &[MatRef<'_, f64>]) -> Result<Self> {
        Self::divided(context, factors, vec![1.0; factors.len()])
    }

    fn divided(context: &Context, factors: &[MatRef<'_, f64>], units: Vec<f64>) -> Result<Self> {
        let columns = factors.iter().map(MatRef::ncols).max().unwrap_or(0);
        let pitch = columns.next_multiple_of(QUAD);
        let rows = factors.first().map_or(0, |factor| factor.nrows().next_multiple_of(QUAD));
        let bytes = (rows * pitch * size_of(context.precision)).max(1) as u64;
        let most = usize::try_from(context.largest_binding / bytes).unwrap_or(usize::MAX).max(1);
        let batch = |first: usize| {
            let groups = first..factors.len().min(first + most);
            let mut values = Vec::with_capacity(groups.len() * rows * pitch);
            groups.clone().for_each(|l| push_factor(&mut values, factors[l], pitch, units[l]));
            Ok((groups, context.uploaded(&values)?))
        };
        let batches = (0..factors.len()).step_by(most).map(batch).collect::<Result<_>>()?;
        Ok(Self { columns, units, batches })
    }
}

impl PerRow for Forms {
    fn width(&self) -> usize {
        1
    }

    fn unit(&self, group: usize, unit: f64) -> f64 {
        (unit * self.units[group]).powi(2)
    }

    fn record(&self, work: &mut Work, loaded: &LoadedChunk<'_>, out: &Lease) -> Result<()> {
        let block = loaded.rows.block_load(loaded.chunk.tiles.len(), BLOCK);
        // The columns are few enough at a time for one workgroup.
        let wide = BLOCK * loaded.context.pace.units_of_a_group(block.flops, block.bytes);
        for (groups, factors) in &self.batches {
            for first in (0..self.columns.max(1)).step_by(wide) {
                let last = self.columns.min(first + wide);
                let times = (last - first).div_ceil(BLOCK) as f64;
                loaded.dispatch(
                    work,
                    Shader::RowForms,
                    &parameters! {
                        column_quads: self.columns.div_ceil(QUAD),
                        first_quad: first / QUAD,
                        last_quad: last.div_ceil(QUAD),
                        first_group: groups.start,
                        last_group: groups.end,
                    },
                    &[factors, out],
                    Load { flops: times * block.flops, bytes: times * block.bytes, ..block },
                )?;
            }
        }
        Ok(())
    }
}

pub(super) fn row_forms(gpu: &Gpu, rows: &Rows<'_>, factors: &[MatRef<'_, f64>]) -> Result<Vec<f64>> {
    gpu.map_rows("row_forms", rows, |context| Forms::upload(context, factors))
}
