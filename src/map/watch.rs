//! Long runs: when to stop, and whom to tell.

use std::{
    fmt,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use super::Termination;

/// What a long run has so far.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// ln det of the best set so far.
    pub log_det: f64,
    /// No set has a larger ln det, where that is known.
    pub upper_bound: Option<f64>,
    /// Picks made, sets compared, steps of a relaxation, or nodes of a tree searched.
    pub steps: u64,
    /// Since the start.
    pub elapsed: Duration,
}

/// A flag that ends a run early, and somebody to tell how far it is. A solver that is stopped returns the best
/// set it has.
///
/// # Examples
/// ```
/// use std::sync::atomic::AtomicBool;
/// use partition_dpp::Watch;
/// let stop = AtomicBool::new(false);
/// let report = |progress: partition_dpp::Progress| println!("{:.3}", progress.log_det);
/// let watch = Watch::default().stopped_by(&stop).reporting_to(&report);
/// # let _ = watch;
/// ```
#[derive(Clone, Copy, Default)]
pub struct Watch<'a> {
    stop: Option<&'a AtomicBool>,
    report: Option<&'a (dyn Fn(Progress) + Sync)>,
}

impl fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stop, report } = self;
        f.debug_struct("Watch").field("stop", stop).field("reports", &report.is_some()).finish()
    }
}

impl<'a> Watch<'a> {
    /// Ends the run soon after the flag is set.
    #[must_use]
    pub fn stopped_by(self, stop: &'a AtomicBool) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// Calls `report` now and then, from any thread.
    #[must_use]
    pub fn reporting_to(self, report: &'a (dyn Fn(Progress) + Sync)) -> Self {
        Self { report: Some(report), ..self }
    }

    /// Starts the clock of a run that may take `limit`.
    pub(super) fn start(&self, limit: Option<Duration>) -> Clock<'a> {
        let start = Instant::now();
        Clock { watch: *self, start, deadline: limit.and_then(|limit| start.checked_add(limit)) }
    }
}

/// The clock of one run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock<'a> {
    watch: Watch<'a>,
    start: Instant,
    deadline: Option<Instant>,
}

impl Clock<'_> {
    /// Why the run has to end now, if it has to.
    pub(super) fn ended(&self) -> Option<Termination> {
        if self.watch.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Some(Termination::Interrupted);
        }
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline).then_some(Termination::TimeLimit)
    }

    pub(super) fn report(&self, log_det: f64, upper_bound: Option<f64>, steps: u64) {
        if let Some(report) = self.watch.report {
            report(Progress { log_det, upper_bound, steps, elapsed: self.start.elapsed() });
        }
    }
}
