//! Many draws, a few at a time: with a report about ten times a second, until somebody presses Ctrl-C.

use std::time::{Duration, Instant};

use crate::{interrupt, progress::Progress};

/// Instalments grow until they take so long.
const LONG: Duration = Duration::from_millis(50);

/// Calls `draw` with the end of every instalment, the last of which is `count`.
pub(super) fn in_instalments(count: u64, first: u64, progress: &Progress, mut draw: impl FnMut(u64)) {
    progress.steps(count);
    let (mut instalment, mut done) = (first, 0);
    while done < count && !interrupt::raised() {
        let started = Instant::now();
        done = instalment.saturating_add(done).min(count);
        draw(done);
        progress.reached(done);
        if started.elapsed() < LONG {
            instalment = instalment.saturating_mul(2);
        }
    }
}
