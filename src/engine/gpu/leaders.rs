//! The leading value of every group, from the leading values of its tiles. The host reads them after an update of a
//! table.

use super::{
    buffers::{Lease, size_of},
    context::Context,
    device_rows::DeviceRows,
    pace::Load,
    parameters::parameters,
    recording::Work,
    resident::TILE,
    shaders::Shader,
    words,
};
use crate::Result;

/// The size of a tile's leading value: the value, the second largest value, and the row and slot of the largest.
const TOP: usize = 4;
/// The size of a span's leading value: the numbers of the tile's leading value, then the number of the tile.
const LEADER: usize = 8;

/// The leading values of the tiles of a table, and of spans of tiles.
#[derive(Debug)]
pub(super) struct Leaders {
    /// The verb that reads them.
    what: &'static str,
    pub(super) tops: Lease,
    spans: Vec<Span>,
    /// The first tile and the end of every span.
    device_spans: Lease,
    /// The group of every span.
    groups: Lease,
    of_spans: Lease,
}

/// A row of a group, with the slot that it is chosen for, if there are slots.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) position: usize,
    pub(super) slot: usize,
    pub(super) value: f64,
}

/// Consecutive tiles of one group.
#[derive(Debug)]
struct Span {
    group: usize,
    /// Their numbers in the whole table.
    tiles: std::ops::Range<usize>,
}

/// The leading value of some rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leading {
    pub(super) group: usize,
    /// The number of the span.
    span: usize,
    /// The number of the tile in the whole table.
    pub(super) tile: usize,
    /// The row in the tile.
    pub(super) row: usize,
    pub(super) slot: usize,
    pub(super) value: f64,
    /// The second largest value.
    pub(super) second: f64,
}

impl Leaders {
    /// Prepares the search in the tiles of these rows, chunk after chunk.
    pub(super) fn new(context: &Context, rows: &DeviceRows, what: &'static str) -> Self {
        let (mut spans, mut tiles) = (Vec::new(), 0);
        for chunk in &rows.chunks {
            let own = chunk.spans();
            spans
                .extend(own.map(|(group, span)| Span { group, tiles: tiles + span.start..tiles + span.end }));
            tiles += chunk.tiles.len();
        }
        let table: Vec<[u32; 2]> =
            spans.iter().map(|span| [words(span.tiles.start), words(span.tiles.end)]).collect();
        Self {
            what,
            tops: context.reals(TOP * tiles),
            device_spans: context.uploaded_words(table.as_flattened()),
            groups: context.uploaded_words(&spans.iter().map(|span| words(span.group)).collect::<Vec<_>>()),
            of_spans: context.reals(LEADER * spans.len()),
            spans,
        }
    }

    /// The number of spans.
    pub(super) fn spans(&self) -> usize {
        self.spans.len()
    }

    /// The leading values of spans on the device, and the groups of the spans.
    pub(super) fn of_spans(&self) -> (&Lease, &Lease) {
        (&self.of_spans, &self.groups)
    }

    /// Records the search for the leading value of every span.
    pub(super) fn record(&self, context: &Context, work: &mut Work) -> Result<()> {
        let spans = self.spans.len();
        let longest = self.spans.iter().map(|span| span.tiles.len()).max().unwrap_or(0);
        let bytes = longest.max(TILE) as f64 * (TOP * size_of(context.precision)) as f64;
        context.dispatch(
            work,
            Shader::Leaders,
            &parameters! { groups: spans },
            &[&self.device_spans, &self.tops, &self.of_spans],
            Load { groups: spans, flops: bytes, bytes },
        )
    }

    /// Reads the leading value of every span, after the recorded commands.
    ///
    /// # Errors
    /// Errors of the device.
    pub(super) fn read(&self, context: &Context, mut work: Work) -> Result<Vec<Leading>> {
        let (what, spans) = (work.what, self.spans.len());
        self.record(context, &mut work)?;
        let len = (LEADER * spans * size_of(context.precision)) as u64;
        let found = context.download(work, &[(&self.of_spans, 0, len)])?;
        let values = context.values_or_lowest(what, &found[0])?;
        let leading = |(span, numbers): (usize, &[f64; LEADER])| {
            Leading::of(numbers, self.spans[span].group, span, whole(numbers[TOP]))
        };
        Ok(values.as_chunks().0.iter().enumerate().map(leading).collect())
    }

    /// Returns the best choice of a group, the first of equals. With a `slack`, it also returns all choices that are
    /// worse by no more than that. `found` are the leading values of the group, which are multiplied by `unit`. `all`
    /// reads all choices of this number of tiles at a time.
    ///
    /// # Errors
    /// Errors of the device.
    pub(super) fn best(
        &self,
        context: &Context,
        rows: &DeviceRows,
        (found, unit): (&[&Leading], f64),
        slack: Option<f64>,
        (at_a_time, all): (usize, impl Fn(&[Leading]) -> Result<Vec<Choice>>),
    ) -> Result<Vec<Choice>> {
        let choice = |leading: &Leading| {
            let position = rows.tile(leading.tile).1.position + leading.row;
            Choice { position, slot: leading.slot, value: leading.value * unit }
        };
        let first = |one: Choice, other: Choice| {
            let wins = other.value > one.value || other.value >= one.value && other.position < one.position;
            if wins { other } else { one }
        };
        let best = found.iter().map(|leading| choice(leading)).reduce(first);
        let Some(best) = best.filter(|best| best.value > f64::NEG_INFINITY) else { return Ok(Vec::new()) };
        let mut choices = vec![best];
        let Some(slack) = slack else { return Ok(choices) };
        let floor = best.value - slack;
        let is_rival = |choice: &Choice| {
            choice.value >= floor && (choice.position, choice.slot) != (best.position, best.slot)
        };
        for &leading in found {
            if leading.second * unit < floor {
                choices.extend(Some(choice(leading)).filter(is_rival));
                continue;
            }
            let (several, single): (Vec<Leading>, Vec<_>) =
                self.read_tiles(context, leading)?.into_iter().partition(|tile| tile.second * unit >= floor);
            choices.extend(single.iter().map(choice).filter(is_rival));
            for tiles in several.chunks(at_a_time) {
                choices.extend(all(tiles)?.into_iter().filter(is_rival));
            }
        }
        Ok(choices)
    }

    /// Reads the leading value of every tile in the span of a leading value.
    fn read_tiles(&self, context: &Context, leading: &Leading) -> Result<Vec<Leading>> {
        let span = &self.spans[leading.span];
        let width = (TOP * size_of(context.precision)) as u64;
        let part = (&*self.tops, width * span.tiles.start as u64, width * span.tiles.len() as u64);
        let found = context.download(context.work(self.what), &[part])?;
        let values = context.values_or_lowest(self.what, &found[0])?;
        let tiles = span.tiles.clone().zip(values.as_chunks::<TOP>().0);
        Ok(tiles.map(|(tile, numbers)| Leading::of(numbers, span.group, leading.span, tile)).collect())
    }
}

impl Leading {
    fn of(numbers: &[f64], group: usize, span: usize, tile: usize) -> Self {
        let [value, second, row, slot] = [numbers[0], numbers[1], numbers[2], numbers[3]];
        Self { group, span, tile, row: whole(row), slot: whole(slot), value, second }
    }
}

/// Converts an index that the device counted.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small whole numbers")]
pub(super) fn whole(number: f64) -> usize {
    number as usize
}
