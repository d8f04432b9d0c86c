//! The rate at which the device reads rows.

use super::{
    buffers::Lease,
    context::Context,
    pace::Load,
    parameters::parameters,
    range::QUAD,
    resident::TILE,
    shaders::{RowType, Shader},
    stored::rows_per_binding,
    words,
};
use crate::{Result, clock::Instant};

/// Values per row in groups of four, and bytes per row.
const QUADS: usize = 16;
const ROW: usize = 4 * QUAD * QUADS;
/// Rows per pass: more than fit into caches, unless fewer take long enough to be timed.
const LEAST: usize = 1 << 16;
const MOST: usize = 1 << 20;
const LONG_ENOUGH: f64 = 1e-2;
/// The number of consecutive passes. The rate follows from the extra time compared with one pass.
const PASSES: usize = 9;
/// The number of measurements of each. The shortest time counts.
const TIMES: usize = 3;

/// Measures the bytes per second that the device reads when it computes the lengths of rows of 64 values in single
/// precision. This rate limits passes that compute little.
pub(super) fn read_rate(context: &Context) -> Result<f64> {
    context.checked("row_norms", || {
        let (mut rows, most) = (LEAST, MOST.min(rows_per_binding(context, ROW)).max(TILE));
        loop {
            let passes = Passes::new(context, rows.min(most))?;
            // The first run compiles the shader.
            passes.seconds(1)?;
            if rows >= most || passes.seconds(PASSES)? >= LONG_ENOUGH {
                return passes.rate();
            }
            rows *= 4;
        }
    })
}

/// Passes over memory with arbitrary contents.
struct Passes<'c> {
    context: &'c Context,
    tiles: usize,
    /// Rows, table, factors, and lengths.
    buffers: [Lease; 4],
}

impl<'c> Passes<'c> {
    fn new(context: &'c Context, rows: usize) -> Result<Self> {
        let tiles = rows / TILE;
        let table: Vec<u32> =
            (0..tiles).flat_map(|tile| [0, words(tile * TILE), words(TILE), words(tile * TILE)]).collect();
        let buffers = [
            context.storage((rows * ROW) as u64).for_one_use(),
            context.uploaded_words(&table),
            context.uploaded(&[1.0])?,
            context.reals(rows),
        ];
        Ok(Self { context, tiles, buffers })
    }

    fn seconds(&self, passes: usize) -> Result<f64> {
        let Self { context, tiles, buffers } = self;
        let load = Load {
            groups: *tiles,
            flops: (2 * TILE * QUADS * QUAD) as f64,
            bytes: (TILE * (ROW + 8)) as f64,
        };
        let buffers: Vec<&wgpu::Buffer> = buffers.iter().map(|buffer| &**buffer).collect();
        let start = Instant::now();
        let mut work = context.work("row_norms");
        for _ in 0..passes {
            let parameters = parameters! { tiles: *tiles, quads: QUADS, reading: 0_u32 };
            context.dispatch(&mut work, Shader::RowNorms.on(RowType::F32), &parameters, &buffers, load)?;
        }
        context.download(work, &[(buffers[3], 0, 4)])?;
        Ok(start.elapsed().as_secs_f64())
    }

    fn rate(&self) -> Result<f64> {
        // The difference of two interrupted times is no bound, so the shortest time of each is taken.
        let (mut one, mut many) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..TIMES {
            (one, many) = (one.min(self.seconds(1)?), many.min(self.seconds(PASSES)?));
        }
        let bytes = (self.tiles * TILE * ROW * (PASSES - 1)) as f64;
        // If the difference is lost in noise, it is taken to be a tenth of the time.
        Ok(bytes / (many - one).max(0.1 * many))
    }
}
