//! How the best set and the bound came together.

use std::sync::{Arc, Mutex, PoisonError};

use partition_dpp::watch::Progress;
use pdpp_plot::{Axis, Chart, Mark, Point, Series};
use serde::Serialize;

use crate::{failure::Failure, output::numbers::significant, plot::PlotFile};

/// More moments than this are thinned to half.
const MOST: usize = 256;

/// A moment of a search.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Moment {
    pub(super) seconds: f64,
    pub(super) log_det: f64,
    pub(super) upper_bound: f64,
    nodes: u64,
}

/// Moments of a search, in order. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct History(Arc<Mutex<Moments>>);

#[derive(Debug, Default)]
struct Moments {
    kept: Vec<Moment>,
    /// One moment out of this many is kept, a power of two.
    thinned: u32,
    seen: u64,
    last: Option<Moment>,
}

impl History {
    /// Keeps a moment at which there is a bound; of many, one of two, of four, and the last.
    pub(super) fn add(&self, progress: &Progress) {
        let Some(upper_bound) = progress.upper_bound.filter(|bound| bound.is_finite()) else { return };
        if !progress.log_det.is_finite() {
            return;
        }
        let (seconds, nodes) = (progress.elapsed.as_secs_f64(), progress.tree.map_or(0, |_| progress.steps));
        let moment = Moment { seconds, log_det: progress.log_det, upper_bound, nodes };
        let mut moments = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        moments.seen += 1;
        moments.last = Some(moment);
        if moments.seen.is_multiple_of(1 << moments.thinned) {
            moments.kept.push(moment);
        }
        if moments.kept.len() > MOST {
            let mut at = 0;
            moments.kept.retain(|_| {
                at += 1;
                at % 2 == 0
            });
            moments.thinned += 1;
        }
    }

    /// All that are kept.
    pub(super) fn moments(&self) -> Vec<Moment> {
        let moments = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_kept = moments.seen.is_multiple_of(1 << moments.thinned);
        moments.kept.iter().chain(moments.last.as_ref().filter(|_| !is_kept)).copied().collect()
    }
}

/// Plots set and bound over time, and writes the file.
pub(super) fn draw(file: &PlotFile, moments: &[Moment], what: &str) -> Result<(), Failure> {
    // Bounds before the tree are far off, except the last.
    let first = moments.iter().position(|moment| moment.nodes > 0).unwrap_or(moments.len());
    let shown = &moments[first.saturating_sub(1)..];
    let series = |name: &str, colour: usize, of: &dyn Fn(&Moment) -> f64| Series {
        name: Some(name.to_owned()),
        colour,
        mark: Mark::Line,
        points: steps(shown, of),
    };
    let end = |last: &Moment| {
        let gap = significant(last.upper_bound - last.log_det);
        format!("at the end a gap of {gap}, after {} nodes", last.nodes)
    };
    let subtitle = moments.last().map_or_else(|| "there was nothing to search".to_owned(), end);
    file.save(&Chart {
        title: what.to_owned(),
        subtitle,
        x: Axis::linear("seconds"),
        y: Axis::linear("log det"),
        series: vec![
            series("no set is above", 1, &|moment| moment.upper_bound),
            series("best set", 0, &|moment| moment.log_det),
        ],
    })
}

/// Values that stay until the next moment.
fn steps(moments: &[Moment], of: &dyn Fn(&Moment) -> f64) -> Vec<Point> {
    let kept = moments.windows(2).map(|pair| Point::new(pair[1].seconds, of(&pair[0])));
    let first = moments.first().map(|moment| Point::new(moment.seconds, of(moment)));
    let changed = moments.iter().skip(1).map(|moment| Point::new(moment.seconds, of(moment)));
    first.into_iter().chain(kept.zip(changed).flat_map(|(kept, changed)| [kept, changed])).collect()
}
