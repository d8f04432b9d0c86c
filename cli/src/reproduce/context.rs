//! What all parts share: the data, the device, the pace.

use std::{
    cell::Cell,
    path::{Path, PathBuf},
    time::Instant,
};

use partition_dpp::engine::Engine;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{arguments::ReproduceArguments, failure::Failure, interrupt, progress::Progress};

/// What all parts share.
#[derive(Debug)]
pub(super) struct Context<'a> {
    /// Where the data sets are.
    pub(super) data: Option<&'a Path>,
    /// A device to time beside the processor.
    pub(super) device: Option<Box<dyn Engine>>,
    /// Of everything that is random.
    pub(super) seed: u64,
    /// Random instances of each synthetic set.
    pub(super) instances: u64,
    progress: &'a Progress,
    done: Cell<u64>,
}

impl<'a> Context<'a> {
    pub(super) fn new(
        arguments: &'a ReproduceArguments,
        device: Option<Box<dyn Engine>>,
        progress: &'a Progress,
    ) -> Self {
        let ReproduceArguments { data, seed, instances, .. } = arguments;
        Self {
            data: data.as_deref(),
            device,
            seed: *seed,
            instances: *instances,
            progress,
            done: Cell::new(0),
        }
    }

    /// The folder of a data set, if it is there.
    pub(super) fn folder(&self, name: &str) -> Option<PathBuf> {
        self.data.map(|data| data.join(name)).filter(|folder| folder.is_dir())
    }

    /// Another step begins; the place to stop if somebody has pressed Ctrl-C.
    pub(super) fn step(&self, what: &str) -> Result<(), Failure> {
        if interrupt::raised() {
            return Err(Failure::Interrupted);
        }
        self.progress.at(self.done.get(), what);
        self.done.set(self.done.get() + 1);
        Ok(())
    }

    /// Uniform numbers in [0, 1), m·n of them: the same for the same name and number.
    pub(super) fn uniform(&self, name: &str, number: u64, count: usize) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        // A stream of its own for every name and number.
        let name = name.bytes().fold(0_u64, |hash, byte| hash.wrapping_mul(257) + u64::from(byte));
        rng.set_stream(name.wrapping_mul(1 << 20).wrapping_add(number));
        (0..count).map(|_| rng.random::<f64>()).collect()
    }
}

/// The median of some runs: at least one, more of what is fast.
pub(super) fn median_seconds(mut work: impl FnMut() -> Result<(), Failure>) -> Result<f64, Failure> {
    const RUNS: usize = 9;
    const ENOUGH: f64 = 0.4;
    let mut times = Vec::new();
    while times.is_empty() || times.len() < RUNS && times.iter().sum::<f64>() < ENOUGH {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed().as_secs_f64());
    }
    // The first run may have met cold caches.
    times.sort_by(f64::total_cmp);
    Ok(times[(times.len() - 1) / 2])
}
