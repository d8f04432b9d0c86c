//! Greedy picks on the device: gains, the choice under quotas and the next direction, without the host in between.

use super::{
    buffers::{Lease, size_of},
    context::Context,
    gain_update::DeviceGains,
    map_rows::LoadedChunk,
    pace::Load,
    range::QUAD,
    resident::TILE,
    shaders::Shader,
    submissions::Work,
    words,
};
use crate::{
    Result,
    engine::{Ahead, AheadEnd, PickAhead, Precision},
};

/// Numbers of a pick on the device.
const PICK: usize = 8;
/// The most tiles whose numbers are exact in single precision.
const MOST_TILES: usize = 1 << 24;
/// Gains of groups whose factors differ by more than this are not compared on a device.
const FARTHEST: f64 = 1e20;

/// What the device needs for some picks, and what it answers.
struct Loop {
    numbers: Lease,
    remaining: Lease,
    directions: Lease,
    picks: Lease,
    /// Directions known at the start.
    known: usize,
}

impl DeviceGains<'_> {
    /// Picks until the quotas are met, the submission is long enough, or a choice is in doubt. `None` if the device
    /// cannot compare the gains of the groups.
    pub(super) fn picks_ahead(&mut self, request: &PickAhead<'_>) -> Result<Option<Ahead>> {
        let gpu = self.gpu.clone();
        let context = gpu.context();
        let asked: usize = request.remaining.iter().sum();
        let can =
            asked > 0 && self.references.is_some() && self.rows.stays() && self.rows.tiles() < MOST_TILES;
        let Some(factors) = self.comparable(request).filter(|_| can) else { return Ok(None) };
        let (numbers, picks) = context.checked("gain_update", || {
            self.begin(context)?;
            let pass = self.pass_seconds(context);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate")]
            let fit = (context.pace.longest_submission() / pass) as usize;
            let count = asked.min(fit.max(1));
            let numbers = self.numbers(context.precision, request, &factors);
            let state = Loop::upload(context, self, request, &numbers, count)?;
            let mut work = context.work("gain_update");
            for pick in 0..count {
                self.record_pick(context, &mut work, request, &state, pick)?;
            }
            let len = (PICK * count * size_of(context.precision)) as u64;
            let found = context.download(work, &[(&state.picks, 0, len)])?;
            Ok((numbers, context.values_or_lowest("gain_update", &found[0])?))
        })?;
        let mut ahead = Ahead { places: Vec::new(), end: AheadEnd::LongEnough };
        let mut rounding = numbers[numbers.len() - QUAD];
        for pick in picks.as_chunks::<PICK>().0 {
            if pick[3] == 0.0 {
                ahead.end = AheadEnd::InDoubt;
                break;
            }
            let (_, tile) = self.rows.tile(super::leaders::whole(pick[1]));
            ahead.places.push((tile.group, tile.position + super::leaders::whole(pick[2])));
            rounding = pick[4];
        }
        // The last direction is applied by the next update.
        let applied = request.basis.ncols() - request.applied + ahead.places.len();
        self.updates += applied - usize::from(ahead.end == AheadEnd::LongEnough);
        self.rounding = rounding;
        Ok(Some(ahead))
    }

    /// What makes the gains of the groups comparable, at most 1.
    fn comparable(&self, request: &PickAhead<'_>) -> Option<Vec<f64>> {
        let groups = self.source.groups().iter().zip(&self.rows.units);
        let factors: Vec<f64> = groups.map(|(group, unit)| (unit / group.scale).powi(2)).collect();
        let wanted = || factors.iter().zip(request.remaining).filter(|(_, left)| **left > 0).map(|(x, _)| *x);
        let (largest, smallest) = (wanted().fold(0.0, f64::max), wanted().fold(f64::INFINITY, f64::min));
        // False for NaN.
        let close = largest < smallest * FARTHEST && largest.is_normal() && smallest.is_normal();
        close.then(|| factors.iter().map(|factor| (factor / largest).min(1.0)).collect())
    }

    /// The numbers of every group, then those of all.
    fn numbers(&self, precision: Precision, request: &PickAhead<'_>, factors: &[f64]) -> Vec<f64> {
        let mut numbers = Vec::with_capacity(QUAD * (factors.len() + 1));
        let groups = factors.iter().zip(&self.rows.units);
        for ((factor, unit), (least, rounding)) in groups.zip(request.least.iter().zip(self.rounding_units()))
        {
            let square = unit * unit;
            let rounding = if precision == Precision::F32 { rounding / square * factor } else { 0.0 };
            numbers.extend([*factor, least / square, rounding, 0.0]);
        }
        let terms = (self.rows.quads() * QUAD) as f64;
        let pending = (request.basis.ncols() - request.applied) as f64;
        numbers.extend([self.rounding + pending, 16.0 * terms, 0.0, 0.0]);
        numbers
    }

    /// Seconds of one pick on the slowest card considered.
    fn pass_seconds(&self, context: &Context) -> f64 {
        context.pace.seconds(self.rows.tile_load(self.rows.tiles())).max(f64::MIN_POSITIVE)
    }

    fn record_pick(
        &self,
        context: &Context,
        work: &mut Work,
        request: &PickAhead<'_>,
        state: &Loop,
        pick: usize,
    ) -> Result<()> {
        let count = state.known + pick;
        let direction = (pick > 0 || request.applied < state.known).then(|| count - 1);
        self.record_update(context, work, direction, (&state.directions, &state.remaining))?;
        self.leaders.record(context, work)?;
        let spans = self.leaders.spans();
        let groups = words(self.open.len());
        let bytes = (spans.max(TILE) * size_of(context.precision) * 2 * QUAD) as f64;
        let (leaders, span_groups) = self.leaders.of_spans();
        context.dispatch(
            work,
            Shader::ChoosePick,
            &[words(spans), groups, words(pick)],
            &[leaders, span_groups, &state.numbers, &state.remaining, &state.picks]
                .map(|buffer| buffer.as_entire_binding()),
            Load { groups: 1, flops: bytes, bytes },
        )?;
        let mut first = 0;
        for (chunk, gains) in self.rows.chunks.iter().zip(&self.gains) {
            let stored = self.rows.load(context, self.source.features(), work, chunk)?;
            let values = (self.rows.quads() * QUAD * (count + 1)) as f64;
            LoadedChunk { rows: &self.rows, chunk, stored: &stored }.dispatch(
                context,
                work,
                Shader::PickDirection,
                &[words(pick), words(first), words(count), groups],
                &[&state.directions, &state.picks, gains, &state.numbers],
                Load {
                    groups: 1,
                    flops: 8.0 * values,
                    bytes: 4.0 * values * size_of(context.precision) as f64,
                },
            )?;
            first += chunk.tiles.len();
        }
        Ok(())
    }
}

impl Loop {
    fn upload(
        context: &Context,
        table: &DeviceGains<'_>,
        request: &PickAhead<'_>,
        numbers: &[f64],
        count: usize,
    ) -> Result<Self> {
        let (known, pitch) = (request.basis.ncols(), table.rows.quads() * QUAD);
        let directions = context.reals((known + count) * pitch);
        let mut values = vec![0.0; known * pitch];
        for (own, direction) in values.chunks_exact_mut(pitch).zip(request.basis.col_iter()) {
            own.iter_mut().zip(direction.iter()).for_each(|(own, x)| *own = *x);
        }
        context.write(&directions, 0, &values)?;
        let remaining: Vec<u32> = request.remaining.iter().map(|&left| words(left)).collect();
        Ok(Self {
            numbers: context.uploaded(numbers)?,
            remaining: context.uploaded_words(&remaining),
            directions,
            picks: context.reals(PICK * count),
            known,
        })
    }
}
