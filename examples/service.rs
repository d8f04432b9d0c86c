//! A service that keeps one sampler per catalogue, answers from several threads, and reloads a catalogue while others
//! draw: `cargo run --release --example service`.

use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
    thread,
};

use partition_dpp::{Engine, Features, Method, Partition, PartitionDpp, Quota, Result, Sampler};

/// Samplers by catalogue. They own their data: the features and the parts may be dropped.
#[derive(Default)]
struct Service {
    samplers: RwLock<HashMap<String, Sampler>>,
}

impl Service {
    /// Sets up a catalogue, or replaces it with a new version. Draws continue meanwhile.
    fn load(&self, name: &str, version: u32) -> Result<()> {
        let (features, partition) = catalogue(version)?;
        let quota = Quota::each(&partition, 2)?;
        let sampler =
            PartitionDpp::new(&features, &partition, &quota)?.sampler(Method::Auto, &Engine::cpu())?;
        let old =
            self.samplers.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), sampler);
        // The lock is free again.
        drop(old);
        Ok(())
    }

    /// Draws two items from every part. The lock is held only for a clone, which is cheap, and not while drawing.
    fn answer(&self, name: &str, request: u64) -> Option<Result<String>> {
        let sampler = self.samplers.read().unwrap_or_else(PoisonError::into_inner).get(name)?.clone();
        let drawn = sampler.sample_watched(request..request + 1, 42, &partition_dpp::Watch::default());
        Some(drawn.map(|samples| samples.subsets()[0].to_string()))
    }
}

/// Stands in for a file that a service would open with `Features::open_npy`: 3000 items in three parts.
fn catalogue(version: u32) -> Result<(Features, Partition)> {
    let value = |i: u32| f64::from((i * 7919 + version * 104_729) % 1009) / 1009.0 - 0.5;
    let features = Features::from_rows(3000, 16, (0..3000 * 16).map(value).collect::<Vec<_>>())?;
    Ok((features, Partition::from_labels(&(0..3000).map(|i| i % 3).collect::<Vec<_>>())?))
}

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "an example reports to the terminal")]
fn main() -> Result<()> {
    let service = Service::default();
    service.load("images", 1)?;
    service.load("films", 2)?;
    thread::scope(|scope| {
        for (client, name) in ["images", "films", "images", "films"].into_iter().enumerate() {
            let service = &service;
            scope.spawn(move || {
                for request in 0..3 {
                    match service.answer(name, 3 * client as u64 + request) {
                        Some(Ok(set)) => println!("client {client}, {name}: {set}"),
                        Some(Err(error)) => eprintln!("client {client}, {name}: {error}"),
                        None => eprintln!("client {client}: no catalogue {name}"),
                    }
                }
            });
        }
        service.load("films", 3)
    })
}
