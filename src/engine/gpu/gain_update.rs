//! `gain_update`: d ← d − (A q)², and the largest d of every group.

use std::sync::Arc;

use super::{
    Gpu,
    buffers::{Lease, size_of},
    context::Context,
    device_rows::DeviceRows,
    leaders::{Choice, Leaders, Leading},
    map_rows::PerRow,
    parameters::parameters,
    range::{Padded, QUAD},
    recording::Work,
    row_norms::Norms,
    shaders::Shader,
    tiling::Tile,
    words,
};
use crate::{
    Result,
    engine::{Ahead, GainTable, PickAhead, Precision, Rows, Top, sealed::Sealed},
};

/// The number of tiles whose gains are read together if rounding cannot distinguish them.
const TILES_TOGETHER: usize = 1024;
/// Stands for no direction: gains are only searched.
const NO_DIRECTION: u32 = u32::MAX;

/// A table on the device.
#[derive(Debug)]
pub(super) struct DeviceGains<'e> {
    pub(super) gpu: Gpu,
    pub(super) rows: Arc<DeviceRows>,
    /// The rows on the host, for chunks that do not stay on the device.
    pub(super) source: Rows<'e>,
    /// The gains of every chunk.
    pub(super) gains: Vec<Lease>,
    pub(super) leaders: Leaders,
    /// The largest gain of every group at the start. If the device computes the gains, `None` until they are
    /// searched.
    pub(super) references: Option<Vec<f64>>,
    /// The largest ‖a_i‖² of every group, if it differs from the largest gain.
    longest: Option<Vec<f64>>,
    /// Whether each group is open.
    pub(super) open: Vec<bool>,
    /// The group and the position of the rows removed since the last update.
    removed: Vec<(usize, usize)>,
    /// The number of directions so far.
    pub(super) updates: usize,
    /// The rounding that directions add to gains: about one operation per direction, more for directions of nearly
    /// dependent rows.
    pub(super) rounding: f64,
    start: Start,
}

/// The source of the initial gains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// They are on the device.
    Known,
    /// The device computes the squared norms of rows before anything else.
    Norms,
}

/// A table of the squared norms of rows. The device computes the norms, so they are not uploaded.
pub(super) fn norm_table<'e>(gpu: &Gpu, source: &Rows<'e>) -> Result<DeviceGains<'e>> {
    let context = gpu.context();
    gpu.with_room("gain_table", || {
        let rows = gpu.resident().rows(context, source)?;
        rows.stay(context, source.features())?;
        let gains = rows.chunks.iter().map(|chunk| context.reals(chunk.len)).collect();
        Ok(DeviceGains::new(gpu, source, rows, gains, Start::Norms))
    })
}

/// Returns the largest ‖s·a_i‖² of every group.
///
/// # Errors
/// Errors of the device.
pub(super) fn longest_rows(gpu: &Gpu, source: &Rows<'_>) -> Result<Vec<f64>> {
    let rows = gpu.with_room("gain_table", || gpu.resident().rows(gpu.context(), source))?;
    if let Some(known) = rows.longest.get() {
        return Ok(known.clone());
    }
    let found = norm_table(gpu, source)?.longest()?;
    Ok(rows.longest.get_or_init(|| found).clone())
}

pub(super) fn gain_table<'e>(gpu: &Gpu, source: &Rows<'e>, gains: &[f64]) -> Result<DeviceGains<'e>> {
    let context = gpu.context();
    // In f64, gains are not compared within rounding.
    let longest = match context.precision {
        Precision::F32 => Some(longest_rows(gpu, source)?),
        Precision::F64 => None,
    };
    gpu.with_room("gain_table", || {
        let rows = gpu.resident().rows(context, source)?;
        rows.stay(context, source.features())?;
        let starts = rows.starts();
        let largest =
            |group: usize| gains[starts[group]..starts[group + 1]].iter().copied().fold(0.0, f64::max);
        let own = rows.upload_squares(context, gains)?;
        let references = (0..rows.lens.len()).map(largest).collect();
        let table = DeviceGains::new(gpu, source, rows, own, Start::Known);
        Ok(DeviceGains { references: Some(references), longest: longest.clone(), ..table })
    })
}

impl Sealed for DeviceGains<'_> {}

impl GainTable for DeviceGains<'_> {
    fn update(&mut self, direction: Option<&[f64]>) -> Result<Vec<Vec<Top>>> {
        let gpu = self.gpu.clone();
        let context = gpu.context();
        context.checked("gain_update", || {
            self.begin(context)?;
            self.updates += usize::from(direction.is_some());
            self.rounding += f64::from(u8::from(direction.is_some()));
            let found = self.run(context, direction)?;
            if self.references.is_none() {
                self.references = Some(self.largest_of(&found));
            }
            let mut tops = vec![Vec::new(); self.open.len()];
            for group in (0..tops.len()).filter(|&group| self.open[group]) {
                let own: Vec<&Leading> = found.iter().filter(|leading| leading.group == group).collect();
                tops[group] = self.leading(context, group, &own)?;
            }
            Ok(tops)
        })
    }

    fn pick_ahead(&mut self, request: &PickAhead<'_>) -> Result<Option<Ahead>> {
        self.picks_ahead(request)
    }

    fn remove(&mut self, group: usize, position: usize) {
        self.removed.push((group, position));
    }

    fn close(&mut self, group: usize) {
        self.open[group] = false;
    }

    fn read(&self) -> Result<Vec<Vec<f64>>> {
        let context = self.gpu.context();
        context.checked("gain_update", || {
            if self.start == Start::Norms {
                self.record_norms(context)?;
            }
            let width = size_of(context.precision) as u64;
            let mut all: Vec<Vec<f64>> = self.rows.lens.iter().map(|&len| vec![0.0; len]).collect();
            for (gains, chunk) in self.gains.iter().zip(&self.rows.chunks) {
                let part = (&**gains, 0, width * chunk.len as u64);
                let found = context.download(context.work("gain_update"), &[part])?;
                let gains = context.values_or_lowest("gain_update", &found[0])?;
                for tile in &chunk.tiles {
                    let square = self.rows.units[tile.group].powi(2);
                    let own = &mut all[tile.group][tile.position..tile.position + tile.len];
                    own.iter_mut().zip(&gains[tile.start..]).for_each(|(own, gain)| *own = gain * square);
                }
            }
            Ok(all)
        })
    }
}

impl DeviceGains<'_> {
    fn new<'e>(
        gpu: &Gpu,
        source: &Rows<'e>,
        rows: Arc<DeviceRows>,
        gains: Vec<Lease>,
        start: Start,
    ) -> DeviceGains<'e> {
        DeviceGains {
            gpu: gpu.clone(),
            source: source.clone(),
            gains,
            leaders: Leaders::new(gpu.context(), &rows, "gain_update"),
            references: None,
            longest: None,
            open: vec![true; rows.lens.len()],
            removed: Vec::new(),
            updates: 0,
            rounding: 0.0,
            start,
            rows,
        }
    }

    /// Returns the largest ‖a_i‖² of every group, from a table of norms.
    fn longest(mut self) -> Result<Vec<f64>> {
        let gpu = self.gpu.clone();
        let context = gpu.context();
        context.checked("gain_update", || {
            self.begin(context)?;
            Ok(self.largest_of(&self.run(context, None)?))
        })
    }

    /// Computes the norms of rows on the device. Later writes come after them.
    fn record_norms(&self, context: &Context) -> Result<()> {
        let mut work = context.work("gain_update");
        for (chunk, gains) in self.rows.chunks.iter().zip(&self.gains) {
            let loaded = self.rows.load(context, self.source.features(), &mut work, chunk)?;
            Norms.record(&mut work, &loaded, gains)?;
            self.rows.let_go(context, &mut work)?;
        }
        context.submit(work).map(drop)
    }

    /// Prepares gains for an update: computes norms at the start, and sets removed rows to −∞.
    pub(super) fn begin(&mut self, context: &Context) -> Result<()> {
        if self.start == Start::Norms {
            self.record_norms(context)?;
            self.start = Start::Known;
        }
        for (group, position) in std::mem::take(&mut self.removed) {
            if let Some((chunk, row)) = self.rows.place(group, position) {
                context.write(&self.gains[chunk], row, &[f64::NEG_INFINITY])?;
            }
        }
        Ok(())
    }

    /// Returns the largest gain of every group.
    fn largest_of(&self, found: &[Leading]) -> Vec<f64> {
        let mut largest = vec![0.0; self.open.len()];
        for leading in found {
            let gain = leading.value * self.rows.units[leading.group].powi(2);
            largest[leading.group] = f64::max(largest[leading.group], gain);
        }
        largest
    }

    /// Updates all open groups and reads the leading gain of every span.
    fn run(&self, context: &Context, direction: Option<&[f64]>) -> Result<Vec<Leading>> {
        let number = direction.map(|_| 0);
        let direction = Padded::vector(Precision::F64, direction.unwrap_or(&[0.0]));
        let direction = context.uploaded(&direction.values)?;
        let open: Vec<u32> = self.open.iter().map(|&open| u32::from(open)).collect();
        let open = context.uploaded_words(&open);
        let mut work = context.work("gain_update");
        self.record_update(context, &mut work, number, (&direction, &open))?;
        self.leaders.read(context, work)
    }

    /// Records the update of all open groups with one of several directions.
    pub(super) fn record_update(
        &self,
        context: &Context,
        work: &mut Work,
        direction: Option<usize>,
        (directions, open): (&Lease, &Lease),
    ) -> Result<()> {
        let mut first = 0;
        for (chunk, gains) in self.rows.chunks.iter().zip(&self.gains) {
            self.rows.load(context, self.source.features(), work, chunk)?.dispatch(
                work,
                Shader::GainUpdate,
                &parameters! { direction: direction.map_or(NO_DIRECTION, words), first },
                &[directions, gains, open, &self.leaders.tops],
                self.rows.tile_load(chunk.tiles.len()),
            )?;
            self.rows.let_go(context, work)?;
            first += chunk.tiles.len();
        }
        Ok(())
    }

    /// The error that rounding to f32 adds to a gain per operation, by group. (a·q)² is off by ‖a‖ times a·q, which
    /// is at most the root of the first gain.
    pub(super) fn rounding_units(&self) -> Vec<f64> {
        let references = self.references.as_deref().unwrap_or_default();
        let longest = self.longest.as_deref().unwrap_or(references);
        let unit =
            |(reference, longest): (&f64, &f64)| f64::from(f32::EPSILON) * (reference * longest).sqrt();
        references.iter().zip(longest).map(unit).collect()
    }

    /// Returns the largest gain of a group and, in single precision, all gains that may be larger.
    fn leading(&self, context: &Context, group: usize, found: &[&Leading]) -> Result<Vec<Top>> {
        let slack = (context.precision == Precision::F32).then(|| self.tolerance(group));
        let found = (found, self.rows.units[group].powi(2));
        let all = (TILES_TOGETHER, |tiles: &[Leading]| self.read_tiles(context, tiles));
        let choices = self.leaders.best(context, &self.rows, found, slack, all)?;
        Ok(choices.into_iter().map(|Choice { position, value: gain, .. }| Top { position, gain }).collect())
    }

    /// A bound on the rounding error of a gain: every update adds the error of a product of n terms.
    fn tolerance(&self, group: usize) -> f64 {
        let (terms, updates) = ((self.rows.quads() * QUAD) as f64, self.updates as f64);
        let factor = 2.0 * (terms * (self.rounding + 1.0)).sqrt() + updates.sqrt() + 4.0;
        self.rounding_units()[group] * factor
    }

    /// Reads all gains of some tiles.
    fn read_tiles(&self, context: &Context, tiles: &[Leading]) -> Result<Vec<Choice>> {
        let width = size_of(context.precision);
        let tiles: Vec<(usize, &Tile)> = tiles.iter().map(|leading| self.rows.tile(leading.tile)).collect();
        let part = |(chunk, tile): &(usize, &Tile)| {
            (&*self.gains[*chunk], (tile.start * width) as u64, (tile.len * width) as u64)
        };
        let parts: Vec<_> = tiles.iter().map(part).collect();
        let found = context.download(context.work("gain_update"), &parts)?;
        let mut choices = Vec::new();
        for ((_, tile), bytes) in tiles.iter().zip(&found) {
            let square = self.rows.units[tile.group].powi(2);
            let gains = context.values_or_lowest("gain_update", bytes)?;
            let choice = |(at, gain)| Choice { position: tile.position + at, slot: 0, value: gain * square };
            choices.extend(gains.into_iter().enumerate().map(choice));
        }
        Ok(choices)
    }
}
