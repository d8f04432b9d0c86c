//! `project_rows`: B ← B − (Bq)qᵀ, with the norms of the new rows. B comes from the host and goes back.

use super::{
    Gpu,
    buffers::size_of,
    kernels::Kernel,
    resident::{QUAD, TILE, padded, rows_per_binding},
    words,
};
use crate::Result;

pub(super) fn project_rows(gpu: &Gpu, rows: &mut [f64], direction: &[f64]) -> Result<Vec<f64>> {
    let context = gpu.context();
    let dims = direction.len();
    let (pitch, count) = (dims.next_multiple_of(QUAD), rows.len() / dims.max(1));
    let width = size_of(context.precision);
    let most = rows_per_binding(context, pitch * width);
    gpu.with_room("project_rows", || {
        let direction = context.uploaded(&padded(direction));
        let (mut projected, mut norms) = (Vec::with_capacity(rows.len()), Vec::with_capacity(count));
        for chunk in rows.chunks(most * dims) {
            let len = chunk.len() / dims;
            let mut values = vec![0.0; len * pitch];
            for (out, row) in values.chunks_exact_mut(pitch).zip(chunk.chunks_exact(dims)) {
                out[..dims].copy_from_slice(row);
            }
            let (device, out) = (context.uploaded(&values), context.reals(len));
            let mut work = context.work();
            context.dispatch(
                &mut work,
                Kernel::ProjectRows,
                &[words(len), words(pitch / QUAD)],
                &[device.as_entire_binding(), direction.as_entire_binding(), out.as_entire_binding()],
                len.div_ceil(TILE),
            )?;
            let parts = [(&*device, 0, (len * pitch * width) as u64), (&*out, 0, (len * width) as u64)];
            let found = context.download(work, "project_rows", &parts)?;
            let found_rows = context.values(&found[0]);
            projected.extend(found_rows.chunks_exact(pitch).flat_map(|row| row[..dims].to_vec()));
            norms.extend(context.values(&found[1]));
        }
        Ok((projected, norms))
    })
    .map(|(projected, norms)| {
        rows.copy_from_slice(&projected);
        norms
    })
}
