//! Greedy sets for many requests, with one workgroup per request.

use super::{
    Gpu,
    buffers::{Lease, size_of},
    context::Context,
    device_rows::WEIGHTED,
    filling::Form,
    pace::{Load, Pace},
    parameters::parameters,
    proposals::TURNS,
    range::QUAD,
    recording::Work,
    resident::TILE,
    shaders::{RowType, Shader},
    stored::Stored,
    tiling::LISTED,
    words,
};
use crate::{
    Result,
    engine::{
        Precision,
        cost::SlateShape,
        slates::{SlateBatch, SlateDevice},
    },
};

/// The most parts whose counts fit in workgroup memory.
const MOST_PARTS: usize = 256;
/// The most bytes of a buffer.
const MOST_BYTES: usize = 1 << 28;
/// Stands for the first pick if a choice is in doubt.
const NONE: u32 = u32::MAX;
/// Threads that share a row, and directions removed at a time.
const LANES: usize = 8;
/// The turns of a search among 256 threads.
const HALVINGS: usize = 9;

const WHAT: &str = "slates";

/// The requests of one dispatch, whose candidates are rows of one chunk.
#[derive(Debug)]
struct Run {
    chunk: usize,
    requests: Vec<usize>,
    candidates: usize,
}

impl SlateDevice for Gpu {
    fn picks(&self, batch: &SlateBatch<'_>) -> Result<Vec<Option<Vec<u32>>>> {
        let context = self.context();
        self.with_room(WHAT, || {
            let mut picks = vec![None; batch.len()];
            if batch.size == 0 || batch.quota.len() > MOST_PARTS {
                return Ok(picks);
            }
            let stored = self.resident().all(context, batch.features)?;
            // In other forms, every row has its own unit.
            if stored.form != Form::Plain {
                return Ok(picks);
            }
            let runs = runs(context, &stored, batch);
            let (mut work, mut found) = (context.work(WHAT), Vec::new());
            for (number, run) in runs.iter().enumerate() {
                if number > 0 {
                    // The buffers of one run are free for the next.
                    context.submit_so_far(&mut work)?;
                }
                found.push(run.record(context, &mut work, &stored, batch)?);
            }
            let bytes = |run: &Run| 4 * (run.requests.len() * batch.size) as u64;
            let parts: Vec<_> =
                runs.iter().zip(&found).map(|(run, found)| (&**found, 0, bytes(run))).collect();
            for (run, bytes) in runs.iter().zip(context.download(work, &parts)?) {
                let words: Vec<u32> = bytemuck::pod_collect_to_vec(&bytes);
                for (&request, own) in run.requests.iter().zip(words.chunks_exact(batch.size)) {
                    picks[request] = (own[0] != NONE).then(|| own.to_vec());
                }
            }
            Ok(picks)
        })
    }
}

/// The runs of a batch, without the requests that the device leaves to the host.
fn runs(context: &Context, stored: &Stored, batch: &SlateBatch<'_>) -> Vec<Run> {
    let binding = usize::try_from(context.largest_binding).map_or(MOST_BYTES, |most| most.min(MOST_BYTES));
    let width = size_of(context.precision);
    // The bindings limit the tiles and rows of candidates, squared lengths and gains, and directions.
    let candidates = binding / (2 * width);
    let requests = (binding / 32).min(binding / (batch.size * stored.quads * QUAD * width));
    let mut runs: Vec<Run> = Vec::new();
    for request in 0..batch.len() {
        let own = batch.starts[request]..batch.starts[request + 1];
        let Some(chunk) = chunk_of(&batch.items[own.clone()], stored) else { continue };
        let takes = requests > 0
            && own.len() <= candidates
            && Row::of(stored).is_short(&context.pace, batch.size, own.len());
        if !takes {
            continue;
        }
        let has_room = |run: &&mut Run| {
            run.chunk == chunk && run.requests.len() < requests && run.candidates + own.len() <= candidates
        };
        match runs.iter_mut().rev().find(has_room) {
            Some(run) => {
                run.requests.push(request);
                run.candidates += own.len();
            }
            None => runs.push(Run { chunk, requests: vec![request], candidates: own.len() }),
        }
    }
    runs
}

/// The chunk that contains all these rows, if any.
fn chunk_of(items: &[u32], stored: &Stored) -> Option<usize> {
    let (_, chunk_rows) = stored.chunks();
    let chunk = |item: &u32| *item as usize / chunk_rows;
    let first = items.first().map(chunk)?;
    items.iter().all(|item| chunk(item) == first).then_some(first)
}

/// Whether a device of this pace makes such slates itself.
pub(super) fn are_taken(pace: &Pace, of: &SlateShape) -> bool {
    let row = Row { quads: of.dims.div_ceil(QUAD), width: of.value_bytes };
    of.parts <= MOST_PARTS && row.is_short(pace, of.picks, of.candidates)
}

/// The number of quads per row, and the bytes per value as stored.
#[derive(Clone, Copy)]
struct Row {
    quads: usize,
    width: usize,
}

impl Row {
    fn of(stored: &Stored) -> Self {
        Self { quads: stored.quads, width: stored.row_type.width() }
    }

    /// Whether a workgroup quickly finds `size` picks among `candidates` rows.
    fn is_short(self, pace: &Pace, size: usize, candidates: usize) -> bool {
        let load = self.load(size, candidates as f64);
        pace.units_of_a_group(load.flops / size as f64, load.bytes / size as f64) >= size
            && self.turns(size, candidates) <= TURNS
    }

    /// The turns of a thread's loops.
    fn turns(self, size: usize, candidates: usize) -> usize {
        let quads = self.quads;
        let tiles = candidates.div_ceil(TILE);
        let (own_quads, of_lane) = (quads.div_ceil(TILE), quads.div_ceil(LANES) + 1);
        let pass = tiles * (LANES * of_lane + LANES + 2);
        // Copies are compared quad by quad.
        let choice = HALVINGS + tiles * (quads + 3);
        let removal = LANES * of_lane + LANES + own_quads * (size.min(TILE) + 1) + 1;
        let direction = 2 * size.div_ceil(TILE) * removal + 2 * HALVINGS + 4 * own_quads;
        pass + size * (pass + choice + direction + 1)
    }

    /// The load of one request.
    fn load(self, size: usize, candidates: f64) -> Load {
        let (size, row) = (size as f64, (self.quads * QUAD) as f64);
        let (rows, directions) = (size * candidates * row, size * size * row);
        Load {
            groups: 1,
            flops: 2.0 * rows + 8.0 * directions,
            bytes: rows * self.width as f64 + 16.0 * directions,
        }
    }
}

/// Whether all factors other than 0 are equal.
fn are_alike(factors: &[f64]) -> bool {
    let mut factors = factors.iter().filter(|factor| **factor > 0.0);
    let first = factors.next();
    factors.all(|factor| Some(factor) == first)
}

impl Run {
    /// Records the picks, and returns the buffer that they are written to.
    fn record(
        &self,
        context: &Context,
        work: &mut Work,
        stored: &Stored,
        batch: &SlateBatch<'_>,
    ) -> Result<Lease> {
        let rows = stored.chunk(context, batch.features, work, self.chunk)?;
        let requests = self.requests.len();
        let picks = context.storage(4 * (requests * batch.size) as u64);
        let own = [
            context.uploaded_words(&self.table(context, stored, batch)),
            context.uploaded(&self.listed(batch, batch.factors))?,
            context.uploaded_words(&self.listed(batch, batch.parts)),
            context.uploaded_words(batch.quota.as_flattened()),
            context.reals(2 * self.candidates),
            context.reals(requests * batch.size * stored.quads * QUAD),
        ]
        .map(|lease| work.hold(lease));
        let buffers: Vec<&wgpu::Buffer> = [&rows].into_iter().chain(&own).chain([&*picks]).collect();
        #[expect(clippy::cast_possible_truncation, reason = "a power of two")]
        let unit = context.precision.epsilon() as f32;
        let each = Row::of(stored).load(batch.size, self.candidates as f64 / requests as f64);
        context.dispatch(
            work,
            Shader::Slates.on(stored.row_type),
            &parameters! {
                tiles: requests,
                quads: stored.quads,
                reading: WEIGHTED,
                size: batch.size,
                lacking: batch.quota.iter().map(|[least, _]| least).sum::<u32>(),
                unit,
            },
            &buffers,
            Load { groups: requests, ..each },
        )?;
        Ok(picks)
    }

    /// One tile per request, then the rows of all candidates.
    fn table(&self, context: &Context, stored: &Stored, batch: &SlateBatch<'_>) -> Vec<u32> {
        let is_double = context.precision == Precision::F64;
        let is_narrowed = !is_double && batch.features.scalar() == RowType::F64.name();
        let first = words(self.chunk * stored.chunks().1);
        let mut table = Vec::with_capacity(4 * self.requests.len() + self.candidates);
        let mut start = 0;
        for &request in &self.requests {
            let own = batch.starts[request]..batch.starts[request + 1];
            let len = own.len();
            // Different weights may be equal in single precision.
            let is_kept = is_double || !is_narrowed && are_alike(&batch.factors[own]);
            let is_exact = is_kept && batch.are_distinct[request];
            table.extend([u32::from(is_exact), words(start), words(len), LISTED]);
            start += len;
        }
        table.extend(self.listed(batch, batch.items).iter().map(|item| item - first));
        table
    }

    /// The values of a list of the batch, for every candidate.
    fn listed<T: Copy>(&self, batch: &SlateBatch<'_>, values: &[T]) -> Vec<T> {
        let mut listed = Vec::with_capacity(self.candidates);
        for &request in &self.requests {
            listed.extend_from_slice(&values[batch.starts[request]..batch.starts[request + 1]]);
        }
        listed
    }
}
