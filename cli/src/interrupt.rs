//! Ctrl-C.

use std::{
    process,
    sync::atomic::{AtomicBool, Ordering},
};

use crate::{
    failure::{Failure, INTERRUPTED},
    output,
};

/// Set by the first Ctrl-C.
static FLAG: AtomicBool = AtomicBool::new(false);
/// Whether somebody looks at the flag.
static WATCHED: AtomicBool = AtomicBool::new(false);

/// Catches Ctrl-C: the program ends at once with a sentence and the status of an interrupted program.
pub(crate) fn catch() -> Result<(), Failure> {
    let handler = || {
        let again = FLAG.swap(true, Ordering::Relaxed);
        if again || !WATCHED.load(Ordering::Relaxed) {
            output::report_failure(&Failure::Abandoned);
            process::exit(INTERRUPTED.into());
        }
    };
    ctrlc::set_handler(handler).map_err(Failure::Signal)
}

/// From now on the first Ctrl-C sets this flag, and only the second ends the program at once.
pub(crate) fn flag() -> &'static AtomicBool {
    WATCHED.store(true, Ordering::Relaxed);
    &FLAG
}

/// Whether somebody has pressed Ctrl-C.
pub(crate) fn raised() -> bool {
    FLAG.load(Ordering::Relaxed)
}
