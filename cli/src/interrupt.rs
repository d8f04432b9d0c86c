//! Ctrl-C, and time limits.

use std::{
    io, process,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use partition_dpp::{Watch, watch::Ended};

use crate::{failure::Failure, output};

/// Set by the first Ctrl-C.
static FLAG: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
/// Whether the work checks the flag and the clock itself.
static WATCHED: AtomicBool = AtomicBool::new(false);
/// Whether this program owns the process and may end it.
static OWN: AtomicBool = AtomicBool::new(false);
/// Whether a thread has begun to say how the program ended.
static CONCLUDED: AtomicBool = AtomicBool::new(false);

/// Catches Ctrl-C: unless the work checks the [`flag`], the program ends at once with a message and exit status 130.
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

/// A watch that ends at Ctrl-C and after a limit that begins now. Until the work checks the [`flag`], the limit ends
/// the program at once, as Ctrl-C does; in the process of another program it ends only watched work.
pub(crate) fn within(limit: Option<Duration>) -> Watch {
    let watch = Watch::default().stopped_by(&FLAG);
    // A deadline that the clock cannot represent is no limit.
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

/// Lets one thread say how the program ended; others wait for it to end the process.
pub(crate) fn conclude() {
    if CONCLUDED.swap(true, Ordering::Relaxed) {
        loop {
            thread::park();
        }
    }
}

/// Ends the program without an answer.
fn end(ended: Ended) {
    conclude();
    let failure = Failure::Abandoned(ended);
    output::report_failure(&failure, &mut io::stderr());
    process::exit(failure.status().into());
}

/// From now on the first Ctrl-C only sets this flag, the second ends the program at once, and time limits end watched
/// work only.
pub(crate) fn flag() -> &'static Arc<AtomicBool> {
    WATCHED.store(true, Ordering::Relaxed);
    &FLAG
}

/// Does work that checks a [watch](within) itself. After it, Ctrl-C ends the program at once again, unless others check
/// the flag.
pub(crate) fn while_watched<T>(work: impl FnOnce() -> T) -> T {
    let before = WATCHED.swap(true, Ordering::Relaxed);
    let done = work();
    WATCHED.store(before, Ordering::Relaxed);
    done
}

/// Whether Ctrl-C has been pressed.
pub(crate) fn raised() -> bool {
    FLAG.load(Ordering::Relaxed)
}
