//! Batches of coin-flip proposals, on the host and on a device that leaves all of them undecided.

use std::sync::{Arc, atomic::AtomicU32};

use super::*;
use crate::{
    engine::proposals::{Coin, ItemTables, ProposalShape, ProposalTables, SequentialTables},
    error::DeviceProblem,
};

const STREAM: Stream = Stream { seed: 3, block: 5 };

/// A device for waves of at most this many proposals, which it leaves to the host; `None` refuses tables.
#[derive(Clone, Copy, Debug)]
struct Idle(Option<u32>);

impl ProposalDevice for Idle {
    fn takes(&self, _: &ProposalShape) -> bool {
        true
    }

    fn prepare(&self, _: &ProposalTables<'_>) -> Result<Box<dyn Proposer>> {
        unreachable!("coins have no tables")
    }

    fn takes_sequential(&self, _: &ProposalShape) -> bool {
        true
    }

    fn prepare_sequential(&self, _: &SequentialTables<'_>) -> Result<Box<dyn Proposer>> {
        unreachable!("coins have no tables")
    }

    fn takes_items(&self, _: &ProposalShape) -> bool {
        true
    }

    fn prepare_items(&self, _: &ItemTables<'_>) -> Result<Box<dyn Proposer>> {
        unreachable!("coins have no tables")
    }
}

impl Proposer for Idle {
    fn propose(&self, wave: &Wave) -> Result<Found> {
        assert!(wave.count <= self.most().max(DEVICE_WAVE));
        Ok(Batched::on_host(*wave).1)
    }

    fn most(&self) -> u32 {
        self.0.unwrap_or(0)
    }
}

/// Proposals of `operations` multiply-adds each, with an acceptance of one half.
#[derive(Debug)]
struct Coins<'s> {
    device: Idle,
    operations: f64,
    replays: &'s AtomicU32,
    /// Replays after which the flag is set.
    stop: Option<(u32, &'s AtomicBool)>,
}

impl Proposals for Coins<'_> {
    fn fit(&self, _: &dyn ProposalDevice) -> bool {
        true
    }

    fn prepare(&self, _: &dyn ProposalDevice) -> Result<Box<dyn Proposer>> {
        let error = DeviceProblem::Refused { what: "coins", message: String::new() };
        if self.device.0.is_some() { Ok(Box::new(self.device)) } else { Err(error.into()) }
    }

    fn replayed(&self, stream: Stream, number: u32, watch: &Watch) -> Result<Option<Vec<u32>>> {
        Attempts::under(watch, 1.0).another()?;
        let before = self.replays.fetch_add(1, Ordering::Relaxed);
        if let Some((_, stop)) = self.stop.filter(|(after, _)| before + 1 >= *after) {
            stop.store(true, Ordering::Relaxed);
        }
        let Coin(coin) = stream.coin(number, 0);
        Ok((coin < 0.5).then(|| vec![number]))
    }

    fn name(&self, _: &mut [u32]) {}

    fn operations(&self) -> f64 {
        self.operations
    }

    fn operations_of_tables(&self) -> f64 {
        0.0
    }

    fn error(&self) -> f64 {
        0.0
    }
}

/// Draws with their numbers of proposals, and why they ended.
type Drawn = (Vec<(Vec<u32>, u64)>, Option<Ended>);

fn drawn(coins: Coins<'_>, draws: usize, watch: &Watch) -> Drawn {
    let batches = Batches::on_device(Arc::new(coins.device));
    let law = Batched { batches: &batches, proposals: Box::new(coins), acceptance_bound: 0.4 };
    let mut block = Block::new(STREAM);
    let ended = law.extend(&mut block, draws, watch, |_| ()).unwrap();
    (block.take(0..draws), ended)
}

#[test]
fn draws_do_not_depend_on_the_sizes_of_waves() {
    let replays = AtomicU32::new(0);
    let with = |device, operations| {
        let coins = Coins { device: Idle(device), operations, replays: &replays, stop: None };
        drawn(coins, 500, &Watch::default())
    };
    let (draws, ended) = with(None, 1.0);
    assert_eq!((draws.len(), ended), (500, None));
    for (device, operations) in
        [(None, 1e7), (None, 1e15), (Some(1), 1.0), (Some(100), 1.0), (Some(4000), 1e9)]
    {
        assert!(with(device, operations).0 == draws, "{device:?}, {operations:e}");
    }
}

#[test]
fn a_watch_ends_a_wave() {
    let idle = AtomicU32::new(0);
    let all = |device| {
        let coins = Coins { device: Idle(device), operations: 1.0, replays: &idle, stop: None };
        drawn(coins, 1000, &Watch::default()).0
    };
    for device in [None, Some(1 << 16)] {
        let (replays, stop) = (AtomicU32::new(0), Arc::new(AtomicBool::new(false)));
        let coins =
            Coins { device: Idle(device), operations: 1.0, replays: &replays, stop: Some((700, &*stop)) };
        let (draws, ended) = drawn(coins, 1000, &Watch::default().stopped_by(&stop));
        assert_eq!(ended, Some(Ended::Interrupted));
        // Replays that other threads have begun are finished.
        let most = 700 + u32::try_from(threads()).unwrap();
        assert!(replays.load(Ordering::Relaxed) <= most, "{replays:?} replays");
        assert!(draws.len() < 1000 && all(device).starts_with(&draws), "{} draws", draws.len());
    }
}

#[test]
fn one_long_draw_takes_few_proposals() {
    let replays = AtomicU32::new(0);
    let coins = Coins { device: Idle(None), operations: 1e9, replays: &replays, stop: None };
    let (draws, _) = drawn(coins, 1, &Watch::default());
    let made = replays.load(Ordering::Relaxed) as usize;
    let most = usize::try_from(draws[0].1).unwrap().next_multiple_of(threads());
    assert!(draws.len() == 1 && made <= most, "{made} replays");
}
