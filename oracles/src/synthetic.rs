//! The synthetic regimes of the paper's experiments on the most probable set.

use partition_dpp::Features;
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// A shape, a distribution, and the set sizes to try.
#[derive(Clone, Copy, Debug)]
pub struct Regime {
    pub name: &'static str,
    pub items: usize,
    pub dims: usize,
    /// Entries are uniform between 0 and this.
    pub largest: f64,
    pub sizes: &'static [usize],
}

/// The paper's table 3.
pub const SMALL: Regime = Regime {
    name: "50×40, 5·U(0,1)",
    items: 50,
    dims: 40,
    largest: 5.0,
    sizes: &[4, 10, 20, 25, 35, 39, 40],
};

/// The paper's table 4.
pub const LARGE: Regime = Regime {
    name: "200×200, U(0,1)",
    items: 200,
    dims: 200,
    largest: 1.0,
    sizes: &[5, 10, 20, 50, 100, 150],
};

/// Instances per regime.
pub const SEEDS: u64 = 20;

impl Regime {
    /// Returns the instance of a seed.
    pub fn features(&self, seed: u64) -> Features {
        let mut rng = StdRng::seed_from_u64(seed);
        let values = (0..self.items * self.dims).map(|_| self.largest * rng.random::<f64>());
        Features::from_rows(self.items, self.dims, values.collect::<Vec<f64>>()).unwrap()
    }
}

/// Returns the mean and its standard error.
pub fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, (variance / count).sqrt())
}
