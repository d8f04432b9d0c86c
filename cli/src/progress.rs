//! Progress on standard error: shown on a terminal, unless quiet.

use std::{
    io::{IsTerminal, stderr},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use partition_dpp::{
    Watch,
    watch::{Progress as Reached, Step},
};

/// A spinner, then a bar; or nothing.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Hidden if `quiet`, or if standard error is not a terminal.
    pub(crate) fn new(quiet: bool) -> Self {
        let hidden = quiet || !stderr().is_terminal();
        Self { bar: if hidden { ProgressBar::hidden() } else { ProgressBar::new_spinner() } }
    }

    /// The same watch, which shows how far the work is.
    pub(crate) fn shown(
        &self,
        watch: &Watch,
        show: impl Fn(&Self, &Reached) + Send + Sync + 'static,
    ) -> Watch {
        let progress = self.clone();
        watch.clone().reporting_to(move |reached| show(&progress, &reached))
    }

    /// Starts work of unknown length.
    pub(crate) fn stage(&self, message: &'static str) {
        // A steady tick takes a thread.
        if self.bar.is_hidden() {
            return;
        }
        self.bar.set_message(message);
        self.bar.enable_steady_tick(Duration::from_millis(100));
    }

    /// Starts `total` draws.
    pub(crate) fn steps(&self, total: u64) {
        self.counted("sampling", total);
    }

    /// Starts `total` steps of some work.
    pub(crate) fn counted(&self, message: &'static str, total: u64) {
        // Redrawn while the first step takes long, too.
        self.stage(message);
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} (about {eta} left)") {
            self.bar.set_style(style);
        }
        self.bar.set_length(total);
    }

    /// Starts `total` steps with names.
    pub(crate) fn work(&self, total: u64) {
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} {elapsed} {msg}") {
            self.bar.set_style(style);
        }
        self.bar.set_length(total);
        self.bar.enable_steady_tick(Duration::from_millis(250));
    }

    /// Starts the step after `done` others.
    pub(crate) fn at(&self, done: u64, what: &str) {
        self.bar.set_position(done);
        self.bar.set_message(what.to_owned());
    }

    /// Shows how far a search is.
    pub(crate) fn searched(&self, step: &Reached) {
        let gap =
            step.upper_bound.map_or(String::new(), |bound| format!(", gap {:.4}", bound - step.log_det));
        let (log_det, steps, seconds) = (step.log_det, step.steps, step.elapsed.as_secs());
        let work = step.tree.map_or_else(
            || format!("{steps} steps"),
            |tree| {
                format!(
                    "{steps} nodes, {} open, {:.0} % of the tree{}",
                    tree.open,
                    100.0 * tree.done,
                    left(step, tree.done)
                )
            },
        );
        self.bar.set_message(format!("log det {log_det:.6}{gap}; {work}, {seconds} s (Ctrl-C stops here)"));
    }

    /// Shows how much is covered.
    pub(crate) fn covered(&self, step: &Reached) {
        let (covered, steps, seconds) = (step.log_det, step.steps, step.elapsed.as_secs());
        self.bar.set_message(format!("covers {covered:.6}; {steps} steps, {seconds} s (Ctrl-C stops here)"));
    }

    /// Shows how far set-up or inference is.
    pub(crate) fn computed(&self, reached: &Reached) {
        let what = match reached.step {
            Step::Row => "rows read",
            Step::Node => "nodes",
            Step::Pilot => "weighted draws",
            Step::Draw => "draws",
            _ => "steps",
        };
        let of = reached.total.map_or(String::new(), |total| format!(" of {total}"));
        let (steps, seconds) = (reached.steps, reached.elapsed.as_secs());
        self.bar.set_message(format!("computing: {steps}{of} {what}, {seconds} s"));
    }

    /// Shows an upper bound on ln det, for a set that has this ln det.
    pub(crate) fn bounded(&self, step: &Reached, log_det: f64) {
        let Some(bound) = step.upper_bound else { return };
        let (gap, seconds) = (bound - log_det, step.elapsed.as_secs());
        self.bar.set_message(format!("at most {bound:.6}, gap {gap:.4}; {seconds} s (Ctrl-C stops here)"));
    }

    /// Shows that `done` steps are done.
    pub(crate) fn reached(&self, done: u64) {
        self.bar.set_position(done);
    }

    /// Clears the bar.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// The remaining time of a search, if its finished share allows a prediction.
fn left(step: &Reached, done: f64) -> String {
    const LEAST: f64 = 0.01;
    if !(LEAST..1.0).contains(&done) {
        return String::new();
    }
    let seconds = step.elapsed.as_secs_f64() * (1.0 - done) / done;
    format!(", about {} left", indicatif::HumanDuration(Duration::from_secs_f64(seconds)))
}
