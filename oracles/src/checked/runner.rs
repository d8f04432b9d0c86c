//! Runs many problems on all cores, each in its own thread with a time limit.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    panic::{self, AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex, Once,
        atomic::{AtomicU64, Ordering},
        mpsc::{RecvTimeoutError, channel},
    },
    thread,
    time::{Duration, Instant},
};

use super::{Kind, Problem, Refused, Report};

/// The time after which a case is said to hang.
pub const DEADLINE: Duration = Duration::from_secs(120);

/// How a case ended.
#[derive(Debug)]
pub enum Outcome<T> {
    Answered(T),
    Panicked(String),
    /// The case is still running in its thread.
    Hangs,
}

impl Outcome<Report> {
    /// Returns the report, with panics and hangs as faults.
    pub fn into_report(self) -> Report {
        let failed = |kind, what: &str| {
            let mut report = Report::default();
            report.fault(kind, "the case", what);
            report
        };
        match self {
            Self::Answered(report) => report,
            Self::Panicked(text) => failed(Kind::Panic, &text),
            Self::Hangs => failed(Kind::Hang, &format!("no answer in {DEADLINE:?}")),
        }
    }
}

/// Runs `work` with a time limit.
///
/// Parallel code in it gets a single thread, so a case that hangs takes no thread from the others.
pub fn with_deadline<T: Send + 'static>(
    deadline: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Outcome<T> {
    let (sender, receiver) = channel();
    remember_panics();
    thread::spawn(move || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let outcome = pool.install(|| {
            PANIC.set(Some(String::new()));
            catch_unwind(AssertUnwindSafe(work)).map_err(|_| PANIC.take().unwrap_or_default())
        });
        // Nobody is listening after the deadline.
        let _ = sender.send(outcome);
    });
    match receiver.recv_timeout(deadline) {
        Ok(Ok(answer)) => Outcome::Answered(answer),
        Ok(Err(text)) => Outcome::Panicked(text),
        Err(RecvTimeoutError::Timeout) => Outcome::Hangs,
        Err(RecvTimeoutError::Disconnected) => Outcome::Panicked("the thread ended".to_owned()),
    }
}

thread_local! {
    /// The panic message of the case that runs in this thread, empty until it panics. `None` in other threads.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Keeps the message and place of panics in cases instead of printing them. Other panics are handled as before.
fn remember_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let otherwise = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let of_a_case = PANIC.with_borrow_mut(|kept| kept.as_mut().map(|text| *text = info.to_string()));
            if of_a_case.is_none() {
                otherwise(info);
            }
        }));
    });
}

/// The findings of a search.
#[derive(Debug, Default)]
pub struct Summary {
    pub cases: u64,
    pub well_conditioned: u64,
    /// Seeds with faults, or with refusals of well-conditioned input.
    pub wrong: BTreeMap<u64, (Problem, Report)>,
    pub p_values: Vec<f64>,
    pub compared: BTreeMap<Kind, usize>,
    /// The number of cases with a refusal, by reason: among all cases, and among the well-conditioned ones.
    pub refused: BTreeMap<Refused, (u64, u64)>,
    pub slowest: (Duration, u64),
}

impl Summary {
    fn add(&mut self, seed: u64, problem: Problem, report: Report, took: Duration) {
        self.cases += 1;
        self.well_conditioned += u64::from(report.well_conditioned);
        self.slowest = self.slowest.max((took, seed));
        for (kind, count) in &report.compared {
            *self.compared.entry(*kind).or_default() += count;
        }
        let mut kinds: Vec<Refused> = report.refusals.iter().map(|refusal| refusal.why).collect();
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            let counts = self.refused.entry(kind).or_default();
            counts.0 += 1;
            counts.1 += u64::from(report.well_conditioned);
        }
        self.p_values.extend(&report.p_values);
        if let Some(first) = report.wrong().first() {
            // Printed at once, in case the search does not end.
            println!("seed {seed} ({}): {first}", problem.law_name());
            self.wrong.insert(seed, (problem, report));
        }
    }

    /// Returns the seeds that are wrong, by class.
    pub fn classes(&self) -> BTreeMap<String, Vec<u64>> {
        let mut classes: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for (&seed, (problem, report)) in &self.wrong {
            let mut names = report.classes();
            names.dedup();
            for name in names {
                classes.entry(format!("{} under {}", name, problem.law_name())).or_default().push(seed);
            }
        }
        classes
    }

    /// Returns the seed of the smallest problem of every class.
    pub fn examples(&self) -> Vec<u64> {
        let size = |seed: &u64| {
            let problem = &self.wrong[seed].0;
            (problem.items() * problem.rows[0].len(), problem.include.len() + problem.exclude.len(), *seed)
        };
        let smallest = |seeds: Vec<u64>| seeds.into_iter().min_by_key(size);
        let mut seeds: Vec<u64> = self.classes().into_values().filter_map(smallest).collect();
        seeds.sort_unstable();
        seeds.dedup();
        seeds
    }

    /// Prints what was compared, what was refused and what is wrong.
    pub fn print(&self) {
        println!(
            "{} cases, {} of them well-conditioned; compared: {:?}",
            self.cases, self.well_conditioned, self.compared
        );
        for (kind, (all, well)) in &self.refused {
            let share = |count: u64, of: u64| 100.0 * count as f64 / of.max(1) as f64;
            println!(
                "refused ({kind:?}): {all} ({:.2} %), of the well-conditioned {well} ({:.2} %)",
                share(*all, self.cases),
                share(*well, self.well_conditioned)
            );
        }
        println!("slowest: seed {} in {:?}", self.slowest.1, self.slowest.0);
        for (class, seeds) in self.classes() {
            println!("WRONG: {class}: {} seeds, {:?}", seeds.len(), &seeds[..seeds.len().min(8)]);
        }
    }
}

/// Examines the problems of these seeds on as many threads as the machine has cores.
pub fn search(
    seeds: std::ops::Range<u64>,
    problem_of: impl Fn(u64) -> Problem + Sync,
    look: impl Fn(&Problem, u64) -> Report + Send + Sync + Copy + 'static,
) -> Summary {
    let (next, summary) = (AtomicU64::new(seeds.start), Mutex::new(Summary::default()));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return;
            }
            let (start, problem) = (Instant::now(), problem_of(seed));
            let asked = problem.clone();
            let report = with_deadline(DEADLINE, move || look(&asked, seed)).into_report();
            summary.lock().unwrap().add(seed, problem, report, start.elapsed());
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    summary.into_inner().unwrap()
}
