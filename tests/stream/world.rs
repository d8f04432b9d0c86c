//! A ground set in batches, and draws by item number.
#![allow(unreachable_pub, reason = "a module of a test binary")]

use oracles::Case;
use partition_dpp::{
    Engine, Features, Partition, Result,
    stream::{Batch, Batches, Draw, Grams, Plan, StreamSampler},
};

/// Items in batches: item i is in batch i mod `shards`, so batches lack parts, and some are empty.
pub struct World {
    pub shards: usize,
    pub batches: Batches,
}

impl World {
    pub fn of_rows(rows: &[Vec<f64>], labels: &[usize], shards: usize) -> Self {
        let batch = |shard: usize| {
            let own: Vec<usize> = (shard..rows.len()).step_by(shards).collect();
            if own.is_empty() {
                return Batch::empty(shard as u64);
            }
            let values: Vec<f64> = own.iter().flat_map(|&item| rows[item].clone()).collect();
            let features = Features::from_rows(own.len(), rows[0].len(), values).unwrap();
            let labels: Vec<usize> = own.iter().map(|&item| labels[item]).collect();
            Batch::new(shard as u64, &features, &Partition::from_labels(&labels).unwrap()).unwrap()
        };
        Self { shards, batches: Batches::new((0..shards).map(batch).collect(), &Engine::cpu()) }
    }

    pub fn of_case(case: &Case, shards: usize) -> Self {
        let features = case.features();
        let rows: Vec<Vec<f64>> = (0..case.items()).map(|item| features.row(item)).collect();
        Self::of_rows(&rows, &case.labels, shards)
    }

    /// Returns a plan, after a second pass if that is worth it.
    pub fn plan(&self, make: impl Fn(&Grams) -> Result<Plan>) -> Plan {
        self.batches.plan(make).unwrap()
    }

    pub fn draws(&self, plan: &Plan, count: usize, request: Option<u64>, seed: u64) -> Vec<Draw> {
        let sampler = StreamSampler::new(plan, seed).unwrap();
        let mut sampler = match request {
            Some(count) => sampler.with_request(count),
            None => sampler,
        };
        sampler.draw_many(count, &mut self.batches.trials(plan).unwrap()).unwrap()
    }

    /// Returns the items of every draw.
    pub fn sets(&self, draws: &[Draw]) -> Vec<Vec<usize>> {
        draws.iter().map(|draw| self.set(draw)).collect()
    }

    pub fn set(&self, draw: &Draw) -> Vec<usize> {
        let item = |batch: u64, row: u32| row as usize * self.shards + batch as usize;
        let mut set: Vec<usize> = draw.items.iter().map(|place| item(place.batch, place.row)).collect();
        set.sort_unstable();
        set
    }
}

/// Returns a quota by names, with counts or ranges in the order of labels.
pub fn named<C: Copy>(counts: &[C]) -> Vec<(String, C)> {
    counts.iter().enumerate().map(|(label, &count)| (label.to_string(), count)).collect()
}
