//! Work without the interpreter's lock, which Ctrl-C ends.

use std::{
    process,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    time::Duration,
};

use partition_dpp::{
    Watch,
    watch::{Progress, Step},
};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::refused;

/// How often signals are looked for, and progress is reported.
pub(crate) const INTERVAL: Duration = Duration::from_millis(50);

/// Does work on the threads of the pool, without the interpreter's lock. Meanwhile the calling thread looks for signals
/// and hands progress to a callable, as `progress(step, steps, seconds)`; an exception in either ends the work by the
/// flag, and is returned.
///
/// Work gets a watch and the flag behind it.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(Watch) -> T + Send,
) -> PyResult<T> {
    let stop = Arc::new(AtomicBool::new(false));
    flagged(py, progress, &stop, work)
}

/// The same with a flag of the caller's.
pub(crate) fn flagged<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    stop: &Arc<AtomicBool>,
    work: impl FnOnce(Watch) -> T + Send,
) -> PyResult<T> {
    let pool = pool()?;
    let progress = progress.map(|progress| progress.clone().unbind());
    let latest: Arc<Mutex<Option<Progress>>> = Arc::default();
    let reached = Arc::clone(&latest);
    let report = move |progress| *reached.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
    let watch = Watch::default().stopped_by(stop).reporting_to(report);
    let attended = || {
        Python::attach(|py| {
            py.check_signals()?;
            let reached = latest.lock().unwrap_or_else(PoisonError::into_inner).take();
            match (&progress, reached) {
                (Some(progress), Some(reached)) => tell(py, progress, reached),
                _ => Ok(()),
            }
        })
    };
    py.detach(|| {
        pool.in_place_scope(|scope| {
            let (send, done) = mpsc::sync_channel(1);
            scope.spawn(move |_| {
                // Nobody waits for the result of work that panics.
                let _ = send.send(work(watch));
            });
            let mut raised = Ok(());
            loop {
                match done.recv_timeout(INTERVAL) {
                    Ok(result) => return raised.and_then(|()| attended()).map(|()| result),
                    // The scope hands the panic on.
                    Err(RecvTimeoutError::Disconnected) => return Err(refused("the work panicked")),
                    Err(RecvTimeoutError::Timeout) if raised.is_ok() => {
                        raised = attended();
                        if raised.is_err() {
                            stop.store(true, Ordering::Relaxed);
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
            }
        })
    })
}

fn tell(py: Python<'_>, progress: &Py<PyAny>, reached: Progress) -> PyResult<()> {
    let step = match reached.step {
        Step::Search => "search",
        Step::Row => "rows",
        Step::Node => "nodes",
        Step::Draw => "draws",
        Step::Pilot => "pilot",
        _ => "steps",
    };
    progress.call1(py, (step, reached.steps, reached.elapsed.as_secs_f64())).map(|_| ())
}

/// The threads of this process. A child made by `fork` has none of its parent's, so it starts its own.
fn pool() -> PyResult<Arc<ThreadPool>> {
    static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);
    let mut kept = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let own = process::id();
    if let Some((of, pool)) = &*kept
        && *of == own
    {
        return Ok(Arc::clone(pool));
    }
    let name = |number| format!("partition-dpp {number}");
    let pool = ThreadPoolBuilder::new().thread_name(name).build();
    let pool = Arc::new(pool.map_err(|error| refused(format!("no threads: {error}")))?);
    // The parent's threads do not exist here, so its pool can be neither used nor joined.
    if let Some(parents) = kept.replace((own, Arc::clone(&pool))) {
        std::mem::forget(parents);
    }
    Ok(pool)
}
