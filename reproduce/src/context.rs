//! The context of all parts: the data, the GPU, and the progress.

use std::{
    cell::Cell,
    fmt,
    path::{Path, PathBuf},
    time::Instant,
};

use partition_dpp::{Engine, Features, Partition, Watch};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::failure::Failure;

/// The data and settings of a report.
#[derive(Clone)]
pub struct Setup<'a> {
    /// The folder of the data sets: yaleb, corel16k, corel5k, debates2012. A missing data set is skipped with a
    /// reason, or replaced by digits.
    pub data: Option<&'a Path>,
    /// Digits that replace missing images.
    pub digits: Digits<'a>,
    /// A GPU to time in addition to the CPU.
    pub device: Option<&'a Engine>,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The number of random instances of each synthetic set.
    pub instances: u64,
    /// Ends the work. The report then has the parts that are finished.
    pub watch: Watch,
    /// Called at every step, with the number of earlier steps and the name of the step.
    pub on_step: &'a dyn Fn(u64, &str),
}

impl fmt::Debug for Setup<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { data, digits, device, seed, instances, watch, on_step: _ } = self;
        let mut setup = f.debug_struct("Setup");
        setup.field("data", data).field("digits", digits).field("device", device).field("seed", seed);
        setup.field("instances", instances).field("watch", watch).finish_non_exhaustive()
    }
}

/// Handwritten digits of 8×8 pixels from 0 (white) to 16, one digit per row.
#[derive(Clone, Copy, Debug)]
pub struct Digits<'a> {
    /// The pixels.
    pub features: &'a Features,
    /// The digits as parts 0 to 9.
    pub partition: &'a Partition,
}

/// The set-up and the progress of a run.
pub(crate) struct Context<'a> {
    pub(crate) setup: Setup<'a>,
    /// The number of steps begun.
    begun: Cell<u64>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(setup: Setup<'a>) -> Self {
        Self { setup, begun: Cell::new(0) }
    }

    /// Returns the folder of a data set, if it exists.
    pub(crate) fn folder(&self, name: &str) -> Option<PathBuf> {
        self.setup.data.map(|data| data.join(name)).filter(|folder| folder.is_dir())
    }

    /// Begins a step. Returns an error if the watch has ended.
    pub(crate) fn step(&self, what: &str) -> Result<(), Failure> {
        if self.setup.watch.ended().is_some() {
            return Err(Failure::Interrupted);
        }
        (self.setup.on_step)(self.begun.get(), what);
        self.begun.set(self.begun.get() + 1);
        Ok(())
    }

    /// Returns `count` uniform numbers in [0, 1), which are always the same for the same name and number.
    pub(crate) fn uniform(&self, name: &str, number: u64, count: usize) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.setup.seed);
        // Every name and number has its own stream.
        let name = name.bytes().fold(0_u64, |hash, byte| hash.wrapping_mul(257) + u64::from(byte));
        rng.set_stream(name.wrapping_mul(1 << 20).wrapping_add(number));
        (0..count).map(|_| rng.random::<f64>()).collect()
    }
}

/// Returns the median time of several runs. Faster work is run more often, and all work at least once.
pub(crate) fn median_seconds(mut work: impl FnMut() -> Result<(), Failure>) -> Result<f64, Failure> {
    const RUNS: usize = 9;
    const ENOUGH: f64 = 0.4;
    let mut times = Vec::new();
    while times.is_empty() || times.len() < RUNS && times.iter().sum::<f64>() < ENOUGH {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed().as_secs_f64());
    }
    // The first run may have cold caches.
    times.sort_by(f64::total_cmp);
    Ok(times[(times.len() - 1) / 2])
}
