//! Progress on standard error: shown on a terminal, unless quiet.

use std::{
    io::{IsTerminal, stderr},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use partition_dpp::watch::{Progress as Reached, Step};

/// A spinner, then a bar; or nothing at all.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Hidden if `quiet`, or if standard error is not a terminal.
    pub(crate) fn new(quiet: bool) -> Self {
        let hidden = quiet || !stderr().is_terminal();
        Self { bar: if hidden { ProgressBar::hidden() } else { ProgressBar::new_spinner() } }
    }

    /// Work of unknown length begins.
    pub(crate) fn stage(&self, message: &'static str) {
        // A ticker is a thread.
        if self.bar.is_hidden() {
            return;
        }
        self.bar.set_message(message);
        self.bar.enable_steady_tick(Duration::from_millis(100));
    }

    /// `total` steps begin.
    pub(crate) fn steps(&self, total: u64) {
        self.bar.disable_steady_tick();
        self.bar.set_message("sampling");
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} (about {eta} left)") {
            self.bar.set_style(style);
        }
        self.bar.set_length(total);
    }

    /// `total` steps with names begin.
    pub(crate) fn work(&self, total: u64) {
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} {elapsed} {msg}") {
            self.bar.set_style(style);
        }
        self.bar.set_length(total);
        self.bar.enable_steady_tick(Duration::from_millis(250));
    }

    /// The step after `done` others begins.
    pub(crate) fn at(&self, done: u64, what: &str) {
        self.bar.set_position(done);
        self.bar.set_message(what.to_owned());
    }

    /// A search has come so far.
    pub(crate) fn searched(&self, step: &Reached) {
        let gap =
            step.upper_bound.map_or(String::new(), |bound| format!(", gap {:.4}", bound - step.log_det));
        let (log_det, steps, seconds) = (step.log_det, step.steps, step.elapsed.as_secs());
        self.bar
            .set_message(format!("log det {log_det:.6}{gap}; {steps} steps, {seconds} s (Ctrl-C: take it)"));
    }

    /// Set-up or inference has come so far.
    pub(crate) fn computed(&self, reached: &Reached) {
        let what = match reached.step {
            Step::Row => "rows read",
            Step::Node => "nodes",
            _ => "steps",
        };
        self.bar.set_message(format!("computing: {} {what}, {} s", reached.steps, reached.elapsed.as_secs()));
    }

    /// No set has a larger ln det than the bound of a step, and one has this.
    pub(crate) fn bounded(&self, step: &Reached, log_det: f64) {
        let Some(bound) = step.upper_bound else { return };
        let (gap, seconds) = (bound - log_det, step.elapsed.as_secs());
        self.bar.set_message(format!("at most {bound:.6}, gap {gap:.4}; {seconds} s (Ctrl-C: take it)"));
    }

    /// `done` steps are done.
    pub(crate) fn reached(&self, done: u64) {
        self.bar.set_position(done);
    }

    /// Wipes the bar off the terminal.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
