//! Watches that keep the progress that is reported to them.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use partition_dpp::{Engine, Watch, watch::Progress};

/// Returns the CPU engine with a time limit from now.
pub fn within(limit: Duration) -> Engine {
    Engine::cpu().watched(&Watch::default().within(limit))
}

/// The reports so far.
pub type Reports = Arc<Mutex<Vec<Progress>>>;

/// Returns a watch that keeps its reports.
pub fn reported() -> (Watch, Reports) {
    stopped_when(|_| false)
}

/// Returns a watch that keeps its reports, and stops the work when `stops` accepts the list of reports so far.
pub fn stopped_when(stops: impl Fn(&[Progress]) -> bool + Send + Sync + 'static) -> (Watch, Reports) {
    let (stop, reports) = (Arc::new(AtomicBool::new(false)), Reports::default());
    let watch = Watch::default().stopped_by(&stop);
    let kept = Arc::clone(&reports);
    let report = move |progress: Progress| {
        let mut kept = kept.lock().unwrap();
        kept.push(progress);
        stop.fetch_or(stops(&kept), Ordering::SeqCst);
    };
    (watch.reporting_to(report), reports)
}
