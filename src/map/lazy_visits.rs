//! Visits to rows, in which items apply the directions that they have missed.

use pulp::{Arch, Simd, WithSimd};

use crate::{
    data::{Features, Scalar, StoredRows, with_rows},
    engine::{
        Group, Top,
        row_kernels::{CHUNK, ChunkedRow, chunks},
    },
};

/// The number of rows that are prefetched ahead.
const AHEAD: usize = 8;
/// The fraction of the best gain below which an item postpones its remaining directions, since it is unlikely to be
/// picked now.
///
/// A higher value reads rows more often; a lower one applies more directions.
const PATIENCE: f64 = 0.65;

/// The directions that items may have missed.
pub(super) struct Pending<'a> {
    pub(super) features: &'a Features,
    pub(super) members: Group<'a>,
    pub(super) directions: &'a [[f64; CHUNK]],
}

/// The best items that are up to date, best first; ties in item order.
#[derive(Clone, Copy, Default)]
pub(super) struct Leaders([Option<Top>; 2]);

impl Leaders {
    /// The leaders among these gains. The first gain belongs to position `start` of the group.
    pub(super) fn of(start: usize, gains: &[f64]) -> Self {
        let mut leaders = Self::default();
        for (at, &gain) in gains.iter().enumerate() {
            leaders.offer(Top { position: start + at, gain });
        }
        leaders
    }

    pub(super) fn top(&self) -> Option<Top> {
        self.0[0]
    }

    /// The positions of the leaders in the group.
    pub(super) fn positions(&self) -> impl Iterator<Item = usize> + use<> {
        self.all().map(|top| top.position)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = Top> + use<> {
        self.0.into_iter().flatten()
    }

    #[inline]
    pub(super) fn offer(&mut self, item: Top) {
        let after =
            |known: Top| known.gain > item.gain || known.gain >= item.gain && known.position < item.position;
        match self.0 {
            [first, second] if first.is_some_and(after) => {
                if !second.is_some_and(after) {
                    self.0[1] = Some(item);
                }
            }
            [first, _] => self.0 = [Some(item), first],
        }
    }
}

/// A run of items of a group, in the order in which they are visited.
pub(super) struct Visits<'a> {
    /// The position of the run in its group.
    pub(super) start: usize,
    pub(super) bounds: &'a mut [f64],
    /// The number of directions applied to every bound.
    pub(super) applied: &'a mut [u32],
    /// Positions in the run.
    pub(super) items: &'a [usize],
    /// Items with a bound below this are skipped.
    pub(super) floor: f64,
}

impl Visits<'_> {
    /// Visits all items that could be the best, and returns the best that are up to date.
    pub(super) fn run(self, pending: &Pending<'_>) -> Leaders {
        with_rows!(pending.features.values(), values => {
            Arch::new().dispatch(Run { visits: self, pending, values })
        })
    }
}

struct Run<'a, T: Scalar> {
    visits: Visits<'a>,
    pending: &'a Pending<'a>,
    values: &'a StoredRows<T>,
}

impl<T: Scalar> WithSimd for Run<'_, T> {
    type Output = Leaders;

    #[expect(clippy::inline_always, reason = "vectors exist only inside their dispatch")]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Leaders {
        let Self { visits: Visits { start, bounds, applied, items, floor }, pending, values } = self;
        let Pending { features, members, directions } = pending;
        let (dims, chunks) = (features.dims(), chunks(features.dims()));
        let mut buffer = vec![0.0; dims];
        let (mut leaders, mut best) = (Leaders::default(), floor);
        for (index, &at) in items.iter().enumerate() {
            if let Some(ahead) = items.get(index + AHEAD) {
                values.prefetch(members.items.at(start + ahead));
            }
            if bounds[at] < best {
                continue;
            }
            let mut missed = &directions[applied[at] as usize * chunks..];
            if !missed.is_empty() {
                let item = members.items.at(start + at);
                let row = T::widen(values.row(item), &mut buffer);
                let enough = best.min(PATIENCE * best);
                let (row, scale) = (ChunkedRow::new(row), members.scale * features.weight(item));
                let (bound, count) = apply(simd, row, scale, &mut missed, chunks, bounds[at], enough);
                (bounds[at], applied[at]) = (bound, applied[at] + count);
            }
            if missed.is_empty() {
                leaders.offer(Top { position: start + at, gain: bounds[at] });
                best = f64::max(best, bounds[at]);
            }
        }
        leaders
    }
}

/// Applies missed directions in order until the bound is below `enough`. Returns the bound and the number applied.
#[expect(clippy::inline_always, reason = "vectors exist only inside their dispatch")]
#[inline(always)]
fn apply<S: Simd>(
    simd: S,
    row: ChunkedRow<'_, f64>,
    scale: f64,
    missed: &mut &[[f64; CHUNK]],
    chunks: usize,
    mut bound: f64,
    enough: f64,
) -> (f64, u32) {
    let mut count = 0;
    while bound >= enough
        && let Some(four) = take::<4>(missed, chunks)
    {
        for dot in row.dots(simd, four) {
            let along = scale * dot;
            bound -= along * along;
        }
        count += 4;
    }
    while bound >= enough
        && let Some(one) = take::<1>(missed, chunks)
    {
        let [dot] = row.dots(simd, one);
        let along = scale * dot;
        bound -= along * along;
        count += 1;
    }
    (bound, count)
}

/// Takes the first D of the remaining directions, if there are at least D.
#[inline]
fn take<'a, const D: usize>(left: &mut &'a [[f64; CHUNK]], chunks: usize) -> Option<[&'a [[f64; CHUNK]]; D]> {
    let (taken, rest) = left.split_at_checked(D * chunks)?;
    *left = rest;
    Some(std::array::from_fn(|at| &taken[at * chunks..(at + 1) * chunks]))
}
