//! `project_rows`: B ← B − (Bq)qᵀ, with the norms of the new rows. B is uploaded and downloaded.

use super::{
    Gpu,
    buffers::size_of,
    pace::Load,
    parameters::parameters,
    range::{Padded, QUAD, unit_of},
    resident::TILE,
    shaders::Shader,
    stored::rows_per_binding,
};
use crate::{Result, engine::Precision};

pub(super) fn project_rows(gpu: &Gpu, rows: &mut [f64], direction: &[f64]) -> Result<Vec<f64>> {
    let context = gpu.context();
    let dims = direction.len();
    let (pitch, count) = (dims.next_multiple_of(QUAD), rows.len() / dims.max(1));
    let width = size_of(context.precision);
    let most = rows_per_binding(context, pitch * width);
    let unit = unit_of(context.precision, rows.iter().copied());
    gpu.with_room("project_rows", || {
        let direction = context.uploaded(&Padded::vector(Precision::F64, direction).values)?;
        let (mut projected, mut norms) = (Vec::with_capacity(rows.len()), Vec::with_capacity(count));
        for chunk in rows.chunks(most * dims) {
            let len = chunk.len() / dims;
            let mut values = vec![0.0; len * pitch];
            for (out, row) in values.chunks_exact_mut(pitch).zip(chunk.chunks_exact(dims)) {
                out.iter_mut().zip(row).for_each(|(out, x)| *out = x / unit);
            }
            let (device, out) = (context.uploaded(&values)?, context.reals(len));
            let mut work = context.work("project_rows");
            let values = (TILE * pitch) as f64;
            context.dispatch(
                &mut work,
                Shader::ProjectRows,
                &parameters! { rows: len, quads: pitch / QUAD },
                &[device.as_entire_binding(), direction.as_entire_binding(), out.as_entire_binding()],
                // Rows are read twice and written once.
                Load { groups: len.div_ceil(TILE), flops: 6.0 * values, bytes: 3.0 * values * width as f64 },
            )?;
            let parts = [(&*device, 0, (len * pitch * width) as u64), (&*out, 0, (len * width) as u64)];
            let found = context.download(work, &parts)?;
            for row in context.values("project_rows", &found[0])?.chunks_exact(pitch) {
                projected.extend(row[..dims].iter().map(|x| x * unit));
            }
            norms.extend(context.values("project_rows", &found[1])?.iter().map(|x| x * unit * unit));
        }
        Ok((projected, norms))
    })
    .map(|(projected, norms)| {
        rows.copy_from_slice(&projected);
        norms
    })
}
