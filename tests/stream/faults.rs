//! Faults that are noticed: streams that are not shuffled, and proposals that are not resumed.

use oracles::{
    oracle::{Determinants, Law},
    random::normals,
    stats,
};
use partition_dpp::{
    Engine, Result,
    stream::{Batch, Batches, Leverages, Plan, Request, Step, StreamSampler, TrialSource, Trials},
};

use crate::world::World;

const DRAWS: usize = 50_000;
/// The p-value below which a fault counts as noticed.
const REJECTED: f64 = 1e-12;

fn rows() -> Vec<Vec<f64>> {
    normals(8 * 4, 3).chunks(4).map(|row| row.iter().map(|x| 1.4 * x).collect()).collect()
}

const LABELS: [usize; 8] = [0, 0, 0, 0, 1, 1, 1, 1];

fn dpp() -> (World, Plan, Law) {
    let world = World::of_rows(&rows(), &LABELS, 2);
    let plan = world.plan(|grams| Plan::dpp(grams, &Engine::cpu()));
    let law = Determinants::of_features(rows()).dpp();
    (world, plan, law)
}

fn p_value(sets: &[Vec<usize>], law: &Law) -> f64 {
    stats::chi_square_p(sets.iter().map(|set| &set[..]), law)
}

fn mean_size(sets: &[Vec<usize>]) -> f64 {
    sets.iter().map(Vec::len).sum::<usize>() as f64 / sets.len() as f64
}

/// Draws with proposals that are resumed, or started again, whenever the stream runs out.
fn sizes(is_resumed: impl Fn() -> bool) -> (Vec<Vec<usize>>, Law) {
    let (world, plan, law) = dpp();
    let mut source = world.batches.trials(&plan).unwrap();
    let new = |seed: u64| StreamSampler::new(&plan, seed).unwrap().with_request(12);
    let (mut sampler, mut seed, mut sets) = (new(0), 0, Vec::new());
    while sets.len() < DRAWS {
        match sampler.step().unwrap() {
            Step::Drawn(draw) => sets.push(world.set(&draw)),
            Step::Needs(request) => {
                let mut request = request;
                if !is_resumed() {
                    seed += 1;
                    sampler = new(seed);
                    // Empty sets need no trials, and are drawn, too.
                    loop {
                        match sampler.step().unwrap() {
                            Step::Drawn(draw) => sets.push(world.set(&draw)),
                            Step::Needs(needed) => {
                                request = needed;
                                break;
                            }
                        }
                    }
                }
                sampler.feed(source.more(request).unwrap()).unwrap();
            }
        }
    }
    (sets, law)
}

#[test]
fn a_proposal_that_is_discarded_at_a_refill_makes_sets_too_small() {
    let (sets, law) = sizes(|| true);
    let expected: f64 = law.iter().map(|(set, p)| p * set.len() as f64).sum();
    let (resumed, p) = (mean_size(&sets), p_value(&sets, &law));
    assert!(p > stats::ALPHA, "{p:e}");
    let (sets, law) = sizes(|| false);
    let (discarded, p_of_fault) = (mean_size(&sets), p_value(&sets, &law));
    println!(
        "E|S| = {expected:.3}: resumed {resumed:.3} (p = {p:.2}), discarded {discarded:.3} (p = {p_of_fault:.1e})"
    );
    assert!(p_of_fault < REJECTED && discarded < expected - 0.05);
}

/// Answers each request from one batch, as an unshuffled stream does that uses up one batch after another.
struct OneAfterTheOther<'a> {
    batches: &'a Batches,
    plan: &'a Plan,
    leverages: Vec<Leverages>,
    waiting: Vec<(u64, u64)>,
    round: u64,
}

impl TrialSource for OneAfterTheOther<'_> {
    fn more(&mut self, request: Request) -> Result<Trials> {
        let batches = self.batches.batches();
        let totals: Vec<f64> = self.leverages.iter().map(Leverages::total).collect();
        // Each batch answers a number of requests in proportion to its share.
        while self.waiting.is_empty() {
            self.round += 1;
            let counts = self.plan.split(&totals, 200, self.round)?;
            for (batch, count) in (0..).zip(counts) {
                self.waiting.extend((0..count).map(|trial| (batch, self.round * 1000 + trial)));
            }
            self.waiting.reverse();
        }
        let (at, seed) = self.waiting.pop().unwrap();
        let batch: &Batch = &batches[at as usize];
        self.leverages[at as usize].trials(self.plan, batch, request.count, seed)
    }
}

#[test]
fn a_stream_that_is_not_shuffled_is_noticed() {
    let (world, plan, law) = dpp();
    let leverages =
        world.batches.batches().iter().map(|batch| plan.leverages(batch, &Engine::cpu()).unwrap());
    let mut source = OneAfterTheOther {
        batches: &world.batches,
        plan: &plan,
        leverages: leverages.collect(),
        waiting: Vec::new(),
        round: 0,
    };
    let mut sampler = StreamSampler::new(&plan, 1).unwrap().with_request(1);
    let draws = sampler.draw_many(DRAWS, &mut source).unwrap();
    let p = p_value(&world.sets(&draws), &law);
    println!("one batch after the other: p = {p:.1e}");
    assert!(p < REJECTED, "{p:e}");
    // The same trials in random order give the right law.
    let p = p_value(&world.sets(&world.draws(&plan, DRAWS, Some(1), 1)), &law);
    assert!(p > stats::ALPHA, "{p:e}");
}

/// A source that takes the same number of trials from every batch.
struct Even<'a>(&'a Batches, &'a Plan);

impl TrialSource for Even<'_> {
    fn more(&mut self, Request { count, seed }: Request) -> Result<Trials> {
        let [first, second] = self.0.batches() else { unreachable!() };
        let half = count / 2;
        Trials::concatenate([
            self.1.trials(first, half, seed, &Engine::cpu())?,
            self.1.trials(second, count - half, seed, &Engine::cpu())?,
        ])
    }
}

#[test]
fn wrong_shares_are_noticed() {
    let (world, plan, law) = dpp();
    let mut sampler = StreamSampler::new(&plan, 1).unwrap().with_request(100);
    let draws = sampler.draw_many(DRAWS, &mut Even(&world.batches, &plan)).unwrap();
    let p = p_value(&world.sets(&draws), &law);
    println!("as many trials of every batch: p = {p:.1e}");
    assert!(p < REJECTED, "{p:e}");
}
