//! `swap_table`: C = WᵀAᵀ, with 256 coefficients per slot and tile.

use std::{ops::Range, sync::Arc};

use faer::{ColRef, Mat, MatRef};

use super::{
    Gpu,
    buffers::{Lease, size_of},
    context::Context,
    device_rows::{DeviceRows, RowChunk},
    gain_update::longest_rows,
    leaders::Leaders,
    map_rows::PerRow,
    parameters::parameters,
    range::{QUAD, push_factor, unit_of},
    resident::{BLOCK, TILE},
    row_forms::Forms,
    shaders::Shader,
    stored::rows_per_binding,
    words,
};
use crate::{
    Result,
    engine::{Beyond, Precision, Rows, SwapNumbers},
    error::DeviceProblem,
};

/// A table on the device.
#[derive(Debug)]
pub(super) struct DeviceSwaps<'e> {
    pub(super) gpu: Gpu,
    pub(super) rows: Arc<DeviceRows>,
    /// The rows on the host, for chunks that do not stay on the device.
    pub(super) source: Rows<'e>,
    /// The divisors of the duals of every slot of every group.
    pub(super) slots: Vec<Vec<f64>>,
    pub(super) pieces: Vec<Piece>,
    /// The residuals of every chunk.
    pub(super) residuals: Vec<Lease>,
    pub(super) leaders: Leaders,
    /// The largest ‖a_j‖² of every group in single precision; empty in f64.
    pub(super) longest: Vec<f64>,
    /// The number of swaps so far.
    pub(super) updates: usize,
    /// The number of terms that the rounding of dual vectors adds to a product, for swaps that the device made on its
    /// own.
    pub(super) amplified: f64,
}

/// The coefficients of some tiles of a chunk, as many as can be bound.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) chunk: usize,
    /// The tiles, by number in the chunk.
    pub(super) tiles: Range<usize>,
    /// The number of the first tile in the whole table.
    pub(super) first: usize,
    /// The offset of the coefficients of every tile, then the number of slots of every group.
    pub(super) places: Lease,
    pub(super) bases: Vec<usize>,
    pub(super) coefficients: Lease,
}

/// The source of a table's residuals.
#[derive(Clone, Copy, Debug)]
pub(super) enum Residuals<'a> {
    /// The host provides them.
    Known(&'a [f64]),
    /// The device computes them. They do not leave it.
    Beyond(&'a Beyond<'a>),
}

pub(super) fn swap_table<'e>(
    gpu: &Gpu,
    source: &Rows<'e>,
    duals: &[MatRef<'_, f64>],
    residuals: Residuals<'_>,
) -> Result<DeviceSwaps<'e>> {
    let context = gpu.context();
    let longest = match context.precision {
        Precision::F32 => longest_rows(gpu, source)?,
        // In f64, rounding is not bounded, so the lengths are not needed.
        Precision::F64 => Vec::new(),
    };
    gpu.with_room("swap_table", || {
        let rows = gpu.resident().rows(context, source)?;
        rows.stay(context, source.features())?;
        let slots: Vec<Vec<f64>> = duals.iter().map(|duals| units(context.precision, *duals)).collect();
        let table = DeviceSwaps {
            gpu: gpu.clone(),
            pieces: pieces(context, &rows, &slots),
            residuals: match residuals {
                Residuals::Known(squares) => rows.upload_squares(context, squares)?,
                Residuals::Beyond(beyond) => residuals_beyond(context, &rows, source, beyond)?,
            },
            leaders: Leaders::new(context, &rows, "swap_gains"),
            longest: longest.clone(),
            source: source.clone(),
            slots,
            rows,
            updates: 0,
            amplified: 0.0,
        };
        table.fill(context, duals)?;
        Ok(table)
    })
}

/// Computes ‖Fᵀ a_j‖² per row of every chunk, and −∞ for chosen rows.
fn residuals_beyond(
    context: &Context,
    rows: &DeviceRows,
    source: &Rows<'_>,
    beyond: &Beyond<'_>,
) -> Result<Vec<Lease>> {
    let forms = Forms::of_orthonormal(context, &vec![beyond.complement; rows.lens.len()])?;
    let mut work = context.work("swap_table");
    let mut residuals = Vec::with_capacity(rows.chunks.len());
    for chunk in &rows.chunks {
        let own = context.reals(chunk.len);
        let loaded = rows.load(context, source.features(), &mut work, chunk)?;
        forms.record(&mut work, &loaded, &own)?;
        rows.let_go(context, &mut work)?;
        residuals.push(own);
    }
    // Later writes come after the forms.
    context.submit(work)?;
    for (group, chosen) in beyond.chosen.iter().enumerate() {
        for (chunk, row) in chosen.iter().filter_map(|&position| rows.place(group, position)) {
            context.write(&residuals[chunk], row, &[f64::NEG_INFINITY])?;
        }
    }
    Ok(residuals)
}

impl DeviceSwaps<'_> {
    /// Computes all coefficients.
    fn fill(&self, context: &Context, duals: &[MatRef<'_, f64>]) -> Result<()> {
        let most = self.slots.iter().map(Vec::len).max().unwrap_or(0);
        let pitch = most.next_multiple_of(QUAD);
        let mut values = Vec::new();
        for (duals, units) in duals.iter().zip(&self.slots) {
            let scaled = Mat::from_fn(duals.nrows(), units.len(), |i, slot| duals[(i, slot)] / units[slot]);
            push_factor(&mut values, scaled.as_ref(), pitch, 1.0);
        }
        let needed = (values.len() * size_of(context.precision)) as u64;
        let limit = context.device.limits().max_storage_buffer_binding_size;
        if needed > limit {
            return Err(DeviceProblem::Limit { what: "dual vectors, in bytes,", needed, limit }.into());
        }
        let factor = context.uploaded(&values)?;
        for piece in &self.pieces {
            let chunk = &self.rows.chunks[piece.chunk];
            let mut work = context.work("swap_table");
            self.rows.load(context, self.source.features(), &mut work, chunk)?.dispatch(
                &mut work,
                Shader::SwapTable,
                &parameters! {
                    column_quads: pitch / QUAD,
                    column_blocks: most.div_ceil(BLOCK),
                    first: piece.tiles.start,
                    count: piece.tiles.len(),
                },
                &[&factor, &piece.places, &piece.coefficients],
                self.rows.block_load(piece.tiles.len(), most),
            )?;
            context.submit(work)?;
        }
        Ok(())
    }

    /// Reads the whole table, by group.
    pub(super) fn numbers(&self) -> Result<Vec<SwapNumbers>> {
        let context = self.gpu.context();
        context.checked("swap_gains", || {
            let empty = |(slots, &len): (&Vec<f64>, &usize)| SwapNumbers {
                coefficients: Mat::zeros(slots.len(), len),
                residuals: vec![f64::NEG_INFINITY; len],
            };
            let mut all: Vec<SwapNumbers> = self.slots.iter().zip(&self.rows.lens).map(empty).collect();
            for piece in &self.pieces {
                self.read_piece(context, piece, &mut all)?;
            }
            Ok(all)
        })
    }

    fn read_piece(&self, context: &Context, piece: &Piece, all: &mut [SwapNumbers]) -> Result<()> {
        let width = size_of(context.precision) as u64;
        let chunk = &self.rows.chunks[piece.chunk];
        let parts = [
            (&*self.residuals[piece.chunk], 0, width * chunk.len as u64),
            (&*piece.coefficients, 0, width * piece.len(chunk, &self.slots) as u64),
        ];
        let found = context.download(context.work("swap_gains"), &parts)?;
        let residuals = context.values_or_lowest("swap_gains", &found[0])?;
        let values = context.widened(&found[1]);
        for (tile, base) in chunk.tiles[piece.tiles.clone()].iter().zip(&piece.bases) {
            let (unit, numbers) = (self.rows.units[tile.group], &mut all[tile.group]);
            for at in 0..tile.len {
                numbers.residuals[tile.position + at] = residuals[tile.start + at] * (unit * unit);
                for (slot, own) in self.slots[tile.group].iter().enumerate() {
                    let value = values[base + slot * TILE + at];
                    if !value.is_finite() {
                        return Err(context.not_finite("swap_gains").into());
                    }
                    numbers.coefficients[(slot, tile.position + at)] = value * (own * unit);
                }
            }
        }
        Ok(())
    }
}

impl Piece {
    /// The number of coefficients.
    fn len(&self, chunk: &RowChunk, slots: &[Vec<f64>]) -> usize {
        chunk.tiles[self.tiles.clone()].iter().map(|tile| slots[tile.group].len() * TILE).sum()
    }
}

/// The divisor of the duals of every slot. A slot of zeros, which is for additions, takes the smallest divisor.
fn units(precision: Precision, duals: MatRef<'_, f64>) -> Vec<f64> {
    let unit = |dual: ColRef<'_, f64>| {
        let is_zero = dual.iter().all(|&x| x == 0.0);
        (!is_zero).then(|| unit_of(precision, dual.iter().copied()))
    };
    let units: Vec<Option<f64>> = duals.col_iter().map(unit).collect();
    let smallest = units.iter().flatten().copied().reduce(f64::min).unwrap_or(1.0);
    units.into_iter().map(|unit| unit.unwrap_or(smallest)).collect()
}

/// Cuts the tiles of all chunks into pieces.
fn pieces(context: &Context, rows: &DeviceRows, slots: &[Vec<f64>]) -> Vec<Piece> {
    // The number of values per binding. A piece has at least one tile.
    let most = rows_per_binding(context, size_of(context.precision));
    let mut pieces = Vec::new();
    let mut first = 0;
    for (number, chunk) in rows.chunks.iter().enumerate() {
        let mut start = 0;
        while start < chunk.tiles.len() {
            let (mut bases, mut len) = (Vec::new(), 0);
            for tile in &chunk.tiles[start..] {
                let own = slots[tile.group].len() * TILE;
                if len + own > most && !bases.is_empty() {
                    break;
                }
                bases.push(len);
                len += own;
            }
            let counts = slots.iter().map(|slots| words(slots.len()));
            let places: Vec<u32> = bases.iter().map(|&base| words(base)).chain(counts).collect();
            let tiles = start..start + bases.len();
            pieces.push(Piece {
                chunk: number,
                first: first + start,
                places: context.uploaded_words(&places),
                coefficients: context.reals(len),
                tiles,
                bases,
            });
            start = pieces[pieces.len() - 1].tiles.end;
        }
        first += chunk.tiles.len();
    }
    pieces
}
