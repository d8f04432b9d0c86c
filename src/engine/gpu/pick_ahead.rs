//! Greedy picks on the device: gains, the choice under quotas and the next direction, without the host in between.

use super::{
    buffers::{Lease, size_of},
    context::Context,
    gain_update::DeviceGains,
    pace::Load,
    parameters::parameters,
    range::QUAD,
    recording::Work,
    resident::TILE,
    shaders::Shader,
    words,
};
use crate::{
    Result,
    engine::{Ahead, AheadEnd, Demand, PickAhead, Precision},
};

/// The number of values per pick on the device.
const PICK: usize = 8;
/// The most tiles whose numbers are exact in single precision.
const MOST_TILES: usize = 1 << 24;
/// A device does not compare the gains of groups whose factors differ by more than this ratio.
const FARTHEST: f64 = 1e20;
/// A device does not compare gains with 1 in units larger than this or smaller than its inverse, in f32 and f64.
const UNITS: [f64; 2] = [1e30, 1e300];
/// Optional picks that are recorded together, unless more were made before. Dispatches after the last pick do
/// nothing.
const OPTIONAL: usize = 64;

/// Factors of at most 1 that make the gains of groups comparable, and the value that a gain of 1 then has.
struct Comparable {
    factors: Vec<f64>,
    one: f64,
}

/// The device's input for some picks, and its answers.
struct Loop {
    numbers: Lease,
    /// The demand of every group.
    demands: Lease,
    /// The items that every group needs and has room for, then the items that the set needs beyond them and has room
    /// for.
    counts: Lease,
    directions: Lease,
    picks: Lease,
    /// The number of directions known at the start.
    known: usize,
}

impl DeviceGains<'_> {
    /// Picks until no group takes more items, no gain is worthwhile, the submission is long enough, or a choice is in
    /// doubt. Returns `None` if the device cannot compare the gains of the groups.
    pub(super) fn picks_ahead(&mut self, request: &PickAhead<'_>) -> Result<Option<Ahead>> {
        let gpu = self.gpu.clone();
        let context = gpu.context();
        let (certain, most) = request.remaining.picks();
        let asked = most.min(certain + OPTIONAL.max(request.basis.ncols()));
        let can =
            asked > 0 && self.references.is_some() && self.rows.stays() && self.rows.tiles() < MOST_TILES;
        let Some(comparable) = self.comparable(context.precision, request).filter(|_| can) else {
            return Ok(None);
        };
        let (numbers, picks) = context.checked("gain_update", || {
            self.begin(context)?;
            let pass = context.pace.seconds(self.rows.tile_load(self.rows.tiles()));
            let count = asked.min(context.pace.times_in_a_submission(pass));
            let numbers = self.numbers(context.precision, request, &comparable);
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
                let is_doubt = pick[0] == 0.0;
                ahead.end = if is_doubt { AheadEnd::InDoubt } else { AheadEnd::NothingWorthwhile };
                break;
            }
            let (_, tile) = self.rows.tile(super::leaders::whole(pick[1]));
            ahead.places.push((tile.group, tile.position + super::leaders::whole(pick[2])));
            rounding = pick[4];
        }
        // The next update applies the last direction.
        let applied = request.basis.ncols() - request.applied + ahead.places.len();
        self.updates += applied - usize::from(ahead.end == AheadEnd::LongEnough);
        self.rounding = rounding;
        Ok(Some(ahead))
    }

    /// Returns factors that make the gains of the groups comparable with each other, and with 1 if the set's size is
    /// open.
    fn comparable(&self, precision: Precision, request: &PickAhead<'_>) -> Option<Comparable> {
        let groups = self.source.groups().iter().zip(&self.rows.units);
        let factors: Vec<f64> = groups.map(|(group, unit)| (unit / group.scale).powi(2)).collect();
        let is_open = |group: &usize| request.remaining.demand(*group) > Demand::Full;
        let wanted = || (0..factors.len()).filter(is_open).map(|group| factors[group]);
        let (largest, smallest) = (wanted().fold(0.0, f64::max), wanted().fold(f64::INFINITY, f64::min));
        // This is false for NaN.
        let close = largest < smallest * FARTHEST && largest.is_normal() && smallest.is_normal();
        let (certain, most) = request.remaining.picks();
        let one = if certain < most { largest.recip() } else { 1.0 };
        let widest = UNITS[usize::from(precision == Precision::F64)];
        let is_one_exact = (widest.recip()..widest).contains(&one);
        let factor = |factor: &f64| (factor / largest).min(1.0);
        (close && is_one_exact).then(|| Comparable { factors: factors.iter().map(factor).collect(), one })
    }

    /// The numbers of every group, then the numbers that all groups share.
    fn numbers(
        &self,
        precision: Precision,
        request: &PickAhead<'_>,
        Comparable { factors, one }: &Comparable,
    ) -> Vec<f64> {
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
        numbers.extend([self.rounding + pending, 16.0 * terms, *one, 0.0]);
        numbers
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
        self.record_update(context, work, direction, (&state.directions, &state.demands))?;
        self.leaders.record(context, work)?;
        let spans = self.leaders.spans();
        let groups = self.open.len();
        let bytes = (spans.max(TILE) * size_of(context.precision) * 2 * QUAD) as f64;
        let (leaders, span_groups) = self.leaders.of_spans();
        context.dispatch(
            work,
            Shader::ChoosePick,
            &parameters! { spans, groups, pick },
            &[leaders, span_groups, &state.numbers, &state.demands, &state.counts, &state.picks],
            Load { groups: 1, flops: bytes, bytes },
        )?;
        let mut first = 0;
        for (chunk, gains) in self.rows.chunks.iter().zip(&self.gains) {
            let values = (self.rows.quads() * QUAD * (count + 1)) as f64;
            self.rows.load(context, self.source.features(), work, chunk)?.dispatch(
                work,
                Shader::PickDirection,
                &parameters! { pick, first, count, groups },
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
        let remaining = request.remaining;
        let demands: Vec<u32> =
            (0..remaining.room.len()).map(|group| remaining.demand(group) as u32).collect();
        let groups = remaining.needed.iter().zip(&remaining.room);
        let counts: Vec<[u32; 2]> = groups
            .chain([(&remaining.least, &remaining.most)])
            .map(|(&least, &most)| [least, most].map(words))
            .collect();
        Ok(Self {
            numbers: context.uploaded(numbers)?,
            demands: context.uploaded_words(&demands),
            counts: context.uploaded_words(counts.as_flattened()),
            directions,
            picks: context.reals(PICK * count),
            known,
        })
    }
}
