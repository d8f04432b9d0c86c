//! Long work: ending it early, and reporting its progress.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crate::{Result, clock::Instant};

/// The progress of long work.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// The kind of steps.
    pub step: Step,
    /// Number of steps done.
    pub steps: u64,
    /// Total number of steps, if it is known: for draws, requests and weighted draws. The total of weighted draws may
    /// grow.
    pub total: Option<u64>,
    /// ln det of the best set so far, or the objective of [`Coverage`](crate::map::Coverage); −∞ if the work does not
    /// search for a set.
    pub log_det: f64,
    /// Upper bound on ln det of every set, if known.
    pub upper_bound: Option<f64>,
    /// Progress of the search tree, if the work has one.
    pub tree: Option<Tree>,
    /// Time since the start.
    pub elapsed: Duration,
}

/// Progress of a search tree.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Tree {
    /// Number of open nodes, which may hold a better set according to the search so far.
    pub open: u64,
    /// Fraction of the tree that has been searched, from 0 to 1, assuming that the children of every node are alike.
    /// It is a forecast and grows unevenly.
    pub done: f64,
}

impl Tree {
    pub(crate) fn new(open: u64, done: f64) -> Self {
        Self { open, done }
    }
}

/// The kind of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Step {
    /// Picks made, sets compared, bounds tried, steps of a relaxation, or nodes of a search tree.
    Search,
    /// Rows of the feature matrix read by passes over it.
    Row,
    /// Nodes of a torus evaluated.
    Node,
    /// Subsets drawn.
    Draw,
    /// Weighted draws during set-up, used only for measurements.
    Pilot,
}

/// The reason why work ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Ended {
    /// The stop flag of the [`Watch`] was set.
    #[error("interrupted")]
    Interrupted,
    /// The time limit passed.
    #[error("the time limit passed")]
    TimeLimit,
}

/// A stop flag and a deadline for long work, and a callback for its progress. Cheap to clone.
///
/// If a solver is stopped, it returns the best set so far; a [`Sampler`](crate::Sampler) returns the subsets drawn so
/// far. Set-up and inference return [`Error::Ended`](crate::Error::Ended) if their engine is under a watch
/// ([`Engine::watched`](crate::Engine::watched)).
///
/// Only deadlines and reports read a clock. On wasm32-unknown-unknown they need the feature `web` or `gpu`, with which the
/// clock is JavaScript's, and its moments are those of the crate `web-time`. Without them, reading the clock panics there.
///
/// # Examples
/// ```
/// use std::{sync::{Arc, atomic::AtomicBool}, time::Duration};
/// use partition_dpp::Watch;
/// let stop = Arc::new(AtomicBool::new(false));
/// let report = |progress: partition_dpp::watch::Progress| println!("{:?} {}", progress.step, progress.steps);
/// let watch = Watch::default().stopped_by(&stop).within(Duration::from_secs(5)).reporting_to(report);
/// assert_eq!(watch.ended(), None);
/// ```
#[derive(Clone, Default)]
pub struct Watch {
    stop: Option<Arc<AtomicBool>>,
    deadline: Option<Instant>,
    report: Option<Report>,
}

/// A watch that never ends the work.
pub(crate) static UNWATCHED: Watch = Watch { stop: None, deadline: None, report: None };

type Report = Arc<dyn Fn(Progress) + Send + Sync>;

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stop, deadline, report } = self;
        let mut watch = f.debug_struct("Watch");
        watch.field("stop", stop).field("deadline", deadline).field("reports", &report.is_some()).finish()
    }
}

impl Watch {
    /// Ends the work soon after the flag is set.
    #[must_use]
    pub fn stopped_by(self, stop: &Arc<AtomicBool>) -> Self {
        Self { stop: Some(Arc::clone(stop)), ..self }
    }

    /// Ends the work soon after this moment, or after the deadline of an earlier call if that is sooner.
    #[must_use]
    pub fn until(self, deadline: Instant) -> Self {
        let deadline = self.deadline.map_or(deadline, |earlier| earlier.min(deadline));
        Self { deadline: Some(deadline), ..self }
    }

    /// Ends the work soon after this much time from now. A limit beyond the range of the clock has no effect.
    #[must_use]
    pub fn within(self, limit: Duration) -> Self {
        match Instant::now().checked_add(limit) {
            Some(deadline) => self.until(deadline),
            None => self,
        }
    }

    /// Whether there is a deadline.
    pub(crate) fn has_deadline(&self) -> bool {
        self.deadline.is_some()
    }

    /// Whether the first half of the time left, counted from this call, is still running; always true without a
    /// deadline.
    pub(crate) fn first_half(&self) -> impl Fn() -> bool + Copy + Send + Sync + use<> {
        let half = |deadline: Instant| {
            let now = Instant::now();
            now + deadline.saturating_duration_since(now) / 2
        };
        let end = self.deadline.map(half);
        move || end.is_none_or(|end| Instant::now() < end)
    }

    /// Calls `report` occasionally, from any thread.
    #[must_use]
    pub fn reporting_to(self, report: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self { report: Some(Arc::new(report)), ..self }
    }

    /// The same watch without reports.
    pub(crate) fn without_reports(&self) -> Self {
        Self { report: None, ..self.clone() }
    }

    /// The reason to end the work now, if any.
    ///
    /// Takes a few nanoseconds, plus the time to read the clock if there is a deadline.
    #[must_use]
    pub fn ended(&self) -> Option<Ended> {
        let late = || self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        self.stopped().or_else(|| late().then_some(Ended::TimeLimit))
    }

    /// [`Ended::Interrupted`] if the flag is set.
    pub(crate) fn stopped(&self) -> Option<Ended> {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)).then_some(Ended::Interrupted)
    }

    /// Returns [`ended`](Self::ended) as an error.
    ///
    /// # Errors
    /// [`Error::Ended`](crate::Error::Ended).
    pub fn check(&self) -> Result<()> {
        self.ended().map_or(Ok(()), |ended| Err(ended.into()))
    }

    /// The start time of the work, if its progress is reported; otherwise `None`, without reading the clock.
    pub(crate) fn begin(&self) -> Option<Instant> {
        self.report.as_ref().map(|_| Instant::now())
    }

    /// Reports the progress of work that began at `start`.
    pub(crate) fn report(&self, start: Option<Instant>, step: Step, steps: u64, total: Option<u64>) {
        self.tell(start, |elapsed| Progress {
            step,
            steps,
            total,
            log_det: f64::NEG_INFINITY,
            upper_bound: None,
            tree: None,
            elapsed,
        });
    }

    /// Reports the progress of a search, with ln det of its best set and an upper bound.
    pub(crate) fn report_search(
        &self,
        start: Option<Instant>,
        steps: u64,
        log_det: f64,
        upper_bound: Option<f64>,
        tree: Option<Tree>,
    ) {
        let step = Step::Search;
        self.tell(start, |elapsed| Progress {
            step,
            steps,
            total: None,
            log_det,
            upper_bound,
            tree,
            elapsed,
        });
    }

    fn tell(&self, start: Option<Instant>, progress: impl FnOnce(Duration) -> Progress) {
        if let Some((report, start)) = self.report.as_ref().zip(start) {
            report(progress(start.elapsed()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_ends_it() {
        let (stop, now) = (Arc::new(AtomicBool::new(false)), Instant::now());
        let later = now + Duration::from_secs(3600);
        assert_eq!(Watch::default().ended(), None);
        let watch = Watch::default().stopped_by(&stop).until(later);
        assert_eq!(watch.ended(), None);
        assert_eq!(watch.clone().until(now).ended(), Some(Ended::TimeLimit));
        assert_eq!(watch.clone().until(now).until(later).ended(), Some(Ended::TimeLimit));
        assert_eq!(watch.clone().within(Duration::ZERO).ended(), Some(Ended::TimeLimit));
        assert_eq!(watch.clone().within(Duration::MAX).ended(), None);
        stop.store(true, Ordering::Relaxed);
        assert_eq!(watch.clone().until(now).ended(), Some(Ended::Interrupted));
        assert!(matches!(watch.check(), Err(crate::Error::Ended(Ended::Interrupted))));
    }

    #[test]
    fn no_clock_is_read_without_a_report() {
        assert_eq!(Watch::default().begin(), None);
        assert!(Watch::default().reporting_to(|_| ()).begin().is_some());
    }
}
