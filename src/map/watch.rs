//! The clock of a solver's run.

use super::Termination;
use crate::{
    clock::Instant,
    engine::Engine,
    watch::{Ended, Tree, Watch},
};

/// The clock of one run.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    watch: Watch,
    /// The start of the run, if progress is reported.
    start: Option<Instant>,
}

impl Watch {
    /// Starts the clock of a run.
    pub(super) fn start(&self) -> Clock {
        Clock { watch: self.clone(), start: self.begin() }
    }
}

impl Clock {
    /// Returns the reason if the run must end now.
    pub(super) fn ended(&self) -> Option<Termination> {
        self.watch.ended().map(Termination::from)
    }

    /// Returns the reason if the run must end now regardless of its time limit.
    pub(super) fn stopped(&self) -> Option<Termination> {
        self.watch.stopped().map(Termination::from)
    }

    /// The engine under the same watch, so that its passes over many rows also end.
    pub(super) fn over(&self, engine: &Engine) -> Engine {
        engine.watched(&self.watch.without_reports())
    }

    pub(super) fn has_deadline(&self) -> bool {
        self.watch.has_deadline()
    }

    pub(super) fn report(&self, log_det: f64, upper_bound: Option<f64>, steps: u64) {
        self.watch.report_search(self.start, steps, log_det, upper_bound, None);
    }

    pub(super) fn report_tree(&self, log_det: f64, upper_bound: f64, nodes: u64, tree: Tree) {
        self.watch.report_search(self.start, nodes, log_det, Some(upper_bound), Some(tree));
    }
}

impl From<Ended> for Termination {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Interrupted => Termination::Interrupted,
            Ended::TimeLimit => Termination::TimeLimit,
        }
    }
}
