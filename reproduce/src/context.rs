//! What all parts share: the data, the GPU, the progress.

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
    /// Replace missing images.
    pub digits: Digits<'a>,
    /// A GPU to time beside the CPU.
    pub device: Option<&'a Engine>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Number of random instances of each synthetic set.
    pub instances: u64,
    /// Ends the work; the report has the parts that are finished.
    pub watch: Watch,
    /// Called at every step, with the number of steps before it and its name.
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

/// Handwritten digits of 8×8 pixels from 0 (white) to 16, one row each.
#[derive(Clone, Copy, Debug)]
pub struct Digits<'a> {
    /// The pixels.
    pub features: &'a Features,
    /// The digits as parts 0 to 9.
    pub partition: &'a Partition,
}

/// What all parts share.
pub(crate) struct Context<'a> {
    pub(crate) setup: Setup<'a>,
    /// Number of steps begun.
    begun: Cell<u64>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(setup: Setup<'a>) -> Self {
        Self { setup, begun: Cell::new(0) }
    }

    /// The folder of a data set, if it exists.
    pub(crate) fn folder(&self, name: &str) -> Option<PathBuf> {
        self.setup.data.map(|data| data.join(name)).filter(|folder| folder.is_dir())
    }

    /// Begins a step, unless the watch has ended.
    pub(crate) fn step(&self, what: &str) -> Result<(), Failure> {
        if self.setup.watch.ended().is_some() {
            return Err(Failure::Interrupted);
        }
        (self.setup.on_step)(self.begun.get(), what);
        self.begun.set(self.begun.get() + 1);
        Ok(())
    }

    /// Uniform numbers in [0, 1), m·n of them: the same for the same name and number.
    pub(crate) fn uniform(&self, name: &str, number: u64, count: usize) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.setup.seed);
        // Every name and number has its own stream.
        let name = name.bytes().fold(0_u64, |hash, byte| hash.wrapping_mul(257) + u64::from(byte));
        rng.set_stream(name.wrapping_mul(1 << 20).wrapping_add(number));
        (0..count).map(|_| rng.random::<f64>()).collect()
    }
}

/// The median of some runs: more of them the faster they are, at least one.
pub(crate) fn median_seconds(mut work: impl FnMut() -> Result<(), Failure>) -> Result<f64, Failure> {
    const RUNS: usize = 9;
    const ENOUGH: f64 = 0.4;
    let mut times = Vec::new();
    while times.is_empty() || times.len() < RUNS && times.iter().sum::<f64>() < ENOUGH {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed().as_secs_f64());
    }
    // The first run may meet cold caches.
    times.sort_by(f64::total_cmp);
    Ok(times[(times.len() - 1) / 2])
}
