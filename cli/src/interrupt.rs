//! Ctrl-C, and time limits.

use std::{
    io, process,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use partition_dpp::{Watch, watch::Ended};

use crate::{failure::Failure, output};

/// Set by the first Ctrl-C.
static FLAG: AtomicBool = AtomicBool::new(false);
/// Whether the work looks at the flag and at the clock itself.
static WATCHED: AtomicBool = AtomicBool::new(false);
/// Whether the process is this program's own, to be ended.
static OWN: AtomicBool = AtomicBool::new(false);

/// Catches Ctrl-C: the program ends at once with a sentence and the status of an interrupted program.
pub(crate) fn catch() -> Result<(), Failure> {
    OWN.store(true, Ordering::Relaxed);
    let handler = || {
        let again = FLAG.swap(true, Ordering::Relaxed);
        if again || !WATCHED.load(Ordering::Relaxed) {
            end(Ended::Interrupted);
        }
    };
    ctrlc::set_handler(handler).map_err(|error| Failure::Signal(error.to_string()))
}

/// What Ctrl-C ends, and a limit that begins now: the program ends at once when it passes, as by Ctrl-C, until somebody
/// [looks](flag). In the process of another program only those who watch end.
pub(crate) fn within(limit: Option<Duration>) -> Watch<'static> {
    let watch = Watch::default().stopped_by(&FLAG);
    // A limit that no clock reaches is none.
    let Some(deadline) = limit.and_then(|limit| Instant::now().checked_add(limit)) else { return watch };
    if OWN.load(Ordering::Relaxed) {
        thread::spawn(move || {
            thread::sleep(deadline.saturating_duration_since(Instant::now()));
            if !WATCHED.load(Ordering::Relaxed) {
                end(Ended::TimeLimit);
            }
        });
    }
    watch.until(deadline)
}

/// Ends the program before there is anything to print.
fn end(ended: Ended) {
    let failure = Failure::Abandoned(ended);
    output::report_failure(&failure, &mut io::stderr());
    process::exit(failure.status().into());
}

/// From now on the first Ctrl-C sets this flag, and only the second ends the program at once; time limits end nothing by
/// themselves.
pub(crate) fn flag() -> &'static AtomicBool {
    WATCHED.store(true, Ordering::Relaxed);
    &FLAG
}

/// Whether Ctrl-C has been pressed.
pub(crate) fn raised() -> bool {
    FLAG.load(Ordering::Relaxed)
}
