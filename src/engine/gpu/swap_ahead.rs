//! Swaps of a local search on the device: the best swap, then the new dual basis and table, without the host in
//! between.
//!
//! Rows of a group are divided by its unit u, so dual vectors are multiplied by it. Ratios are therefore the same in
//! all groups. In single precision, a rounding error of a dual vector, relative to its length, grows by a factor of
//! √Σ ‖w_l‖² ‖b_l‖² in the next vectors. The bound on the error of ratios includes this growth.

use super::{
    buffers::{Lease, size_of},
    context::Context,
    leaders::whole,
    pace::Load,
    parameters::parameters,
    range::QUAD,
    recording::Work,
    resident::TILE,
    shaders::Shader,
    swap_gains::{Numbers, Pass},
    swap_table::DeviceSwaps,
    words,
};
use crate::{
    Result,
    engine::{AheadSwap, BestSwap, Precision, SwapAhead, SwapsAhead, SwapsEnd},
    linalg::{column, kernels::dot},
};

/// The number of values per swap on the device.
const SWAP: usize = 8;
/// The most tiles whose numbers are exact in single precision.
const MOST_TILES: usize = 1 << 24;
/// The range of ‖w‖² in which single precision holds dual vectors and their changes by swaps.
const RANGE: std::ops::RangeInclusive<f64> = 1e-28..=1e28;
/// Stands for a column's place among the factors. Items that never leave have no place.
const NOWHERE: u32 = u32::MAX;

/// A column of the chosen rows.
struct Column {
    /// The group, slot and position of its item; `None` if the item never leaves.
    item: Option<(usize, usize, usize)>,
    /// The unit of its group.
    unit: f64,
    /// ‖w‖² for the dual vector of the row divided by that unit.
    weight: f64,
}

/// The device's input for some swaps, and its answers.
struct Loop {
    columns: usize,
    /// The number of slots that every group has places for.
    most: usize,
    numbers: Lease,
    swap: Lease,
    swaps: Lease,
    places: Lease,
    scales: Lease,
    vectors: Lease,
}

impl DeviceSwaps<'_> {
    /// Swaps until no swap improves the determinant, the submission is long enough, or a choice is in doubt. Returns
    /// `None` if the device cannot hold or compare the numbers.
    pub(super) fn swaps_ahead(&mut self, request: &SwapAhead<'_>) -> Result<Option<SwapsAhead>> {
        let gpu = self.gpu.clone();
        let context = gpu.context();
        let bytes = 8 * self.len_of_vectors(request.rows.ncols());
        let fits = bytes as u64 <= context.device.limits().max_storage_buffer_binding_size;
        let can = request.most > 0 && fits && self.rows.stays() && self.rows.tiles() < MOST_TILES;
        let columns = can.then(|| self.columns(request)).flatten();
        let Some(columns) = columns.filter(|columns| self.in_range(columns)) else { return Ok(None) };
        let found = context.checked("swap_gains", || {
            if let Some(update) = request.update {
                self.begin(context, update)?;
            }
            let count = request.most.min(self.fit(context, columns.len()));
            let state = self.upload(context, request, &columns, count)?;
            let mut work = context.work("swap_gains");
            for step in 0..count {
                let pass = if step > 0 { Pass::Update } else { Pass::of(request.update) };
                self.record_choice(context, &mut work, &state, step, pass)?;
                if step + 1 < count {
                    self.record_swap(context, &mut work, &state, step)?;
                }
            }
            let len = (SWAP * count * size_of(context.precision)) as u64;
            let found = context.download(work, &[(&state.swaps, 0, len)])?;
            context.values_or_lowest("swap_gains", &found[0])
        })?;
        Ok(Some(self.made(&found)))
    }

    /// The columns of the chosen rows; `None` if the table has other slots.
    fn columns(&self, request: &SwapAhead<'_>) -> Option<Vec<Column>> {
        let groups = request.chosen.iter().enumerate();
        let slots = groups.flat_map(|(group, slots)| {
            slots.iter().enumerate().map(move |(slot, &position)| (group, slot, position))
        });
        let items = std::iter::repeat_n(None, request.kept).chain(slots.map(Some));
        let of = |(at, item): (usize, Option<(usize, usize, usize)>)| {
            let unit = item.map_or(1.0, |(group, ..)| self.rows.units[group]);
            let dual = column(request.duals, at);
            Column { item, unit, weight: dot(dual, dual) * unit * unit }
        };
        let columns: Vec<Column> = items.enumerate().map(of).collect();
        let same = request.chosen.iter().zip(&self.slots).all(|(chosen, slots)| chosen.len() == slots.len());
        (same && columns.len() == request.duals.ncols()).then_some(columns)
    }

    /// Whether the device's precision can hold the numbers.
    fn in_range(&self, columns: &[Column]) -> bool {
        let unit = |column: &Column| {
            column.item.map_or(1.0, |(group, slot, _)| self.slots[group][slot] * column.unit)
        };
        match self.gpu.context().precision {
            Precision::F32 => columns.iter().all(|column| {
                let unit = unit(column);
                RANGE.contains(&column.weight) && RANGE.contains(&(unit * unit))
            }),
            Precision::F64 => columns.iter().all(|column| column.weight.is_normal()),
        }
    }

    /// The number of swaps that fit into the longest submission; at least one.
    fn fit(&self, context: &Context, columns: usize) -> usize {
        let most = self.slots.iter().map(Vec::len).max().unwrap_or(0);
        let pass = self.load(self.rows.tiles(), most);
        let seconds = context.pace.seconds(pass) + 2.0 * context.pace.seconds(self.state_load(columns));
        context.pace.times_in_a_submission(seconds)
    }

    /// Half the load of updating the dual basis after a swap.
    fn state_load(&self, columns: usize) -> Load {
        let values = 5.0 * (self.rows.quads() * QUAD * columns) as f64;
        let bytes = values * size_of(self.gpu.context().precision) as f64;
        Load { groups: 1, flops: 2.0 * values, bytes }
    }

    fn upload(
        &self,
        context: &Context,
        request: &SwapAhead<'_>,
        columns: &[Column],
        count: usize,
    ) -> Result<Loop> {
        let mut weights: Vec<Vec<f64>> = vec![Vec::new(); self.slots.len()];
        for column in columns {
            if let Some((group, ..)) = column.item {
                weights[group].push(column.weight / (column.unit * column.unit));
            }
        }
        let units = self.rows.units.iter().map(|unit| (unit * unit).recip()).collect();
        let of_swap = Numbers::new(self, context.precision, request.update, &weights, units);
        let scale = |column: &Column| {
            column.item.map_or(0.0, |(group, slot, _)| (self.slots[group][slot] * column.unit).recip())
        };
        let scales: Vec<f64> = columns.iter().map(scale).collect();
        Ok(Loop {
            columns: columns.len(),
            most: of_swap.most,
            numbers: context.uploaded(&self.rounding_numbers(context.precision, request))?,
            swap: context.uploaded(&of_swap.values)?,
            swaps: context.reals(SWAP * count),
            places: context.uploaded_words(&self.places(request, columns, of_swap.most)),
            scales: context.uploaded(&scales)?,
            vectors: context.uploaded(&self.vectors(request, columns))?,
        })
    }

    /// The length of [`vectors`](Self::vectors).
    fn len_of_vectors(&self, columns: usize) -> usize {
        (2 * columns + 3) * self.rows.quads() * QUAD + 4 * columns + 1
    }

    /// W row by row, the chosen rows, zeros for the device's results, and the squared lengths of rows.
    fn vectors(&self, request: &SwapAhead<'_>, columns: &[Column]) -> Vec<f64> {
        let (pitch, count) = (self.rows.quads() * QUAD, columns.len());
        let mut values = vec![0.0; self.len_of_vectors(count)];
        let squares = values.len() - count - 1;
        for (l, of) in columns.iter().enumerate() {
            for j in 0..request.rows.nrows() {
                values[j * count + l] = request.duals[(j, l)] * of.unit;
                values[(count + l) * pitch + j] = request.rows[(j, l)] / of.unit;
            }
            let row = column(request.rows, l);
            values[squares + l] = dot(row, row) / (of.unit * of.unit);
        }
        values
    }

    /// The first column of every group and the number of all columns, the tile and row of every column, and its place
    /// among the factors.
    fn places(&self, request: &SwapAhead<'_>, columns: &[Column], most: usize) -> Vec<u32> {
        let mut places = vec![words(request.kept)];
        for slots in request.chosen {
            places.push(places[places.len() - 1] + words(slots.len()));
        }
        for column in columns {
            let place = column.item.and_then(|(group, _, position)| self.rows.tile_place(group, position));
            let (tile, row) = place.unwrap_or_default();
            places.extend([words(tile), words(row)]);
        }
        let first = 2 * self.rows.quads();
        let factor = |(group, slot, _)| words(first + group * (most + 1) + slot);
        places.extend(columns.iter().map(|column| column.item.map_or(NOWHERE, factor)));
        places
    }

    /// The rounding error of the ratios of every group, then the numbers of updates and terms, the terms added by
    /// amplification, and the least improvement.
    fn rounding_numbers(&self, precision: Precision, request: &SwapAhead<'_>) -> Vec<f64> {
        let mut numbers = Vec::with_capacity(QUAD * (self.slots.len() + 1));
        for (group, unit) in self.rows.units.iter().enumerate() {
            let rounding = match precision {
                Precision::F32 => f64::from(f32::EPSILON) * self.longest[group] / (unit * unit),
                Precision::F64 => 0.0,
            };
            numbers.extend([rounding, 0.0, 0.0, 0.0]);
        }
        let terms = (self.rows.quads() * QUAD) as f64;
        numbers.extend([(self.updates + 1) as f64, terms, self.amplified, request.least]);
        numbers
    }

    /// Records a pass over the table, and the choice of the best swap.
    fn record_choice(
        &self,
        context: &Context,
        work: &mut Work,
        state: &Loop,
        step: usize,
        pass: Pass,
    ) -> Result<()> {
        self.record_gains(context, work, pass, &state.swap, state.most)?;
        self.leaders.record(context, work)?;
        let spans = self.leaders.spans();
        let (leaders, span_groups) = self.leaders.of_spans();
        let bytes = (spans.max(TILE) * size_of(context.precision) * 2 * QUAD) as f64;
        context.dispatch(
            work,
            Shader::ChooseSwap,
            &parameters! {
                spans,
                groups: self.slots.len(),
                step,
                quads: self.rows.quads(),
                most: state.most,
            },
            &[leaders, span_groups, &state.numbers, &state.swap, &state.swaps],
            Load { groups: 1, flops: bytes, bytes },
        )
    }

    /// Records the update of the dual basis by the chosen swap, and the numbers for the table.
    fn record_swap(&self, context: &Context, work: &mut Work, state: &Loop, step: usize) -> Result<()> {
        let (quads, columns, groups) = (self.rows.quads(), state.columns, self.slots.len());
        let to = 2 * columns * quads * QUAD;
        let mut first = 0;
        for (chunk, residuals) in self.rows.chunks.iter().zip(&self.residuals) {
            self.rows.load(context, self.source.features(), work, chunk)?.dispatch(
                work,
                Shader::SwapRow,
                &parameters! { step, first, groups, to },
                &[&state.swaps, &state.places, residuals, &state.vectors],
                Load { groups: 1, flops: (quads * QUAD) as f64, bytes: (16 * quads * QUAD) as f64 },
            )?;
            first += chunk.tiles.len();
        }
        let load = self.state_load(columns);
        context.dispatch(
            work,
            Shader::SwapVectors,
            &parameters! { step, quads, columns },
            &[&state.swaps, &state.places, &state.swap, &state.vectors],
            load,
        )?;
        context.dispatch(
            work,
            Shader::SwapDuals,
            &parameters! { step, quads, columns, groups, most: state.most },
            &[&state.swaps, &state.places, &state.scales, &state.swap, &state.vectors],
            load,
        )
    }

    /// Returns the swaps that the device reports.
    fn made(&mut self, found: &[f64]) -> SwapsAhead {
        let mut ahead = SwapsAhead { swaps: Vec::new(), end: SwapsEnd::LongEnough };
        for swap in found.as_chunks::<SWAP>().0 {
            ahead.end = match whole(swap[4]) {
                1 => SwapsEnd::LongEnough,
                2 => SwapsEnd::NoneLeft,
                3 => SwapsEnd::Broken,
                _ => SwapsEnd::InDoubt,
            };
            if ahead.end != SwapsEnd::LongEnough {
                break;
            }
            let (_, tile) = self.rows.tile(whole(swap[1]));
            let position = tile.position + whole(swap[2]);
            let best = BestSwap { slot: whole(swap[3]), position, ratio: swap[0] };
            ahead.swaps.push(AheadSwap { group: tile.group, swap: best, error: swap[6] });
            self.amplified = self.amplified.max(swap[7]);
        }
        // The next update applies the last swap.
        self.updates += ahead.swaps.len() - usize::from(ahead.end == SwapsEnd::LongEnough);
        ahead
    }
}
