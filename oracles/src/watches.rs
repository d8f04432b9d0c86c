//! Watches that keep what is reported to them.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use partition_dpp::{Engine, Watch, watch::Progress};

/// The CPU, for so long from now.
pub fn within(limit: Duration) -> Engine {
    Engine::cpu().watched(&Watch::default().within(limit))
}

/// What was reported so far.
pub type Reports = Arc<Mutex<Vec<Progress>>>;

/// A watch that keeps its reports.
pub fn reported() -> (Watch, Reports) {
    stopped_when(|_| false)
}

/// A watch that keeps its reports, and ends the work when `stops` says so of all reports so far.
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
