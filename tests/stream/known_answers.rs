//! Laws through the stream against enumeration, on every enumerable case: for any batches, and however often the
//! stream
//! runs out in the middle of a proposal.

use oracles::{
    enumerable_cases,
    oracle::{self, Law},
    ranges::{Shape, shapes},
    stats,
};
use partition_dpp::{CountRange, Engine, Error, Partition, stream::Plan};

use crate::world::{World, named};

const DRAWS: usize = 4_000;
/// The number of batches and of trials per request: `None` for as many as several draws need.
const WAYS: [(usize, Option<u64>); 4] = [(1, None), (3, Some(1)), (7, Some(5)), (7, None)];
/// An upper limit on the number of χ² tests in any one function here.
const CHECKS: f64 = 1000.0;

/// The findings of all checks of a function.
struct Found {
    checks: usize,
    least_p: f64,
    error: f64,
    /// Trials per sample relative to the prediction.
    ratios: Vec<f64>,
}

impl Found {
    fn new() -> Self {
        Self { checks: 0, least_p: 1.0, error: 0.0, ratios: Vec::new() }
    }

    fn check(&mut self, what: &str, world: &World, plan: &Plan, law: &Law, request: Option<u64>) {
        let draws = world.draws(plan, DRAWS, request, 2016);
        let sets = world.sets(&draws);
        let p = stats::chi_square_p(sets.iter().map(|set| &set[..]), law);
        assert!(p > stats::ALPHA / CHECKS, "{what}, {} batches, {request:?}: p = {p:e}", world.shards);
        assert!(plan.law_error() < 1e-8, "{what}: {:e}", plan.law_error());
        let trials = draws.iter().map(|draw| draw.trials).sum::<u64>() as f64 / DRAWS as f64;
        if plan.expected_trials() > 0.0 {
            self.ratios.push(trials / plan.expected_trials());
        }
        let proposals = draws.iter().map(|draw| draw.proposals).sum::<u64>() as f64 / DRAWS as f64;
        assert!(proposals * plan.acceptance_bound() < 1.1, "{what}: {proposals}");
        self.checks += 1;
        self.least_p = self.least_p.min(p);
        self.error = self.error.max(plan.law_error());
    }

    /// Checks that predicted and used trials agree, up to the noise of a pilot.
    fn report(mut self, what: &str) {
        self.ratios.sort_by(f64::total_cmp);
        let (first, last) = (self.ratios[0], self.ratios[self.ratios.len() - 1]);
        println!(
            "{what}: {} laws, p at least {:.1e}, law error at most {:.1e}, trials {first:.3} to {last:.3} times predicted",
            self.checks, self.least_p, self.error
        );
        assert!(0.8 < first && last < 1.25, "{what}: {first} {last}");
    }
}

#[test]
fn partition_dpp() {
    let mut found = Found::new();
    for case in enumerable_cases() {
        let (law, _) = case.oracle().partition_dpp(&case.labels, &case.quota);
        for (shards, request) in WAYS {
            let world = World::of_case(&case, shards);
            let plan = world
                .plan(|grams| Plan::partition_dpp(grams, &grams.quota(named(&case.quota))?, &Engine::cpu()));
            found.check(&case.name, &world, &plan, &law, request);
        }
    }
    found.report("Partition-DPP");
}

#[test]
fn k_dpp() {
    let mut found = Found::new();
    for case in enumerable_cases() {
        let k = case.quota.iter().sum();
        let law = case.oracle().k_dpp(k);
        for (shards, request) in WAYS {
            let world = World::of_case(&case, shards);
            let plan = world.plan(|grams| Plan::k_dpp(grams, k, &Engine::cpu()));
            found.check(&case.name, &world, &plan, &law, request);
        }
    }
    found.report("k-DPP");
}

#[test]
fn dpp() {
    let mut found = Found::new();
    for case in enumerable_cases() {
        let law = case.oracle().dpp();
        for (shards, request) in WAYS {
            let world = World::of_case(&case, shards);
            let plan = world.plan(|grams| Plan::dpp(grams, &Engine::cpu()));
            found.check(&case.name, &world, &plan, &law, request);
        }
    }
    found.report("DPP");
}

#[test]
fn ranges() {
    let (mut found, mut refused) = (Found::new(), Vec::new());
    for (at, case) in enumerable_cases().iter().enumerate() {
        let partition = Partition::from_labels(&case.labels).unwrap();
        let oracle = case.oracle();
        for (number, Shape { name, quota }) in shapes(case, &partition).into_iter().enumerate() {
            let allowed = |set: &[usize]| quota.allows(&oracle::counts(set, &case.labels, partition.parts()));
            let (law, _) = oracle.law(|_| 1.0, allowed);
            let (shards, request) = WAYS[(at + number) % WAYS.len()];
            let world = World::of_case(case, shards);
            let range = |(&low, &high): (&usize, &usize)| CountRange::from(low..=high);
            let ranges: Vec<CountRange> = quota.low().iter().zip(quota.high()).map(range).collect();
            let plan = world.batches.plan(|grams| {
                let own = grams.quota(named(&ranges))?;
                let own = match quota.total() {
                    Some(total) => own.with_total(total)?,
                    None => own,
                };
                assert_eq!(own.total(), quota.total());
                Plan::partition_dpp(grams, &own, &Engine::cpu())
            });
            let what = format!("{}, {name}", case.name);
            match plan {
                Ok(plan) => found.check(&what, &world, &plan, &law, request),
                // Rows of one part are 10¹² times longer than rows of another, and the quota does not need the short
                // ones.
                Err(error) => {
                    assert!(matches!(error, Error::IllConditioned { .. }), "{what}: {error:?}");
                    refused.push(what);
                }
            }
        }
    }
    assert!(found.checks >= 170);
    assert_eq!(refused, ["badly-scaled-parts, anything"]);
    found.report("ranges");
}
