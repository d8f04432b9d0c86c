//! Absurd requests are refused, and watches end steps and set-up.

use std::sync::{Arc, atomic::AtomicBool};

use oracles::assert_error;
use partition_dpp::{
    Engine, Error, Watch,
    error::StreamProblem,
    stream::{Marginals, Plan, Step, StreamSampler, TrialSource},
};

use crate::{
    driver::{plan, world},
    world::named,
};

/// A number by itself takes no memory.
#[test]
fn too_many_trials_are_refused() {
    let world = world(60, 5, 3);
    let plan = plan(&world, [1, 1, 1]);
    let batch = &world.batches.batches()[0];
    let totals: Vec<f64> = world
        .batches
        .batches()
        .iter()
        .map(|batch| plan.total_leverage(batch, &Engine::cpu()).unwrap())
        .collect();
    let most = plan.most_trials();
    for count in [most + 1, 1 << 40, u64::MAX] {
        for refused in [
            plan.trials(batch, count, 0, &Engine::cpu()).map(drop),
            plan.leverages(batch, &Engine::cpu()).unwrap().trials(&plan, batch, count, 0).map(drop),
            plan.split(&totals, count, 0).map(drop),
        ] {
            assert_error!(
                refused,
                Error::Stream(StreamProblem::TooManyTrials { .. }),
                [&count.to_string(), "fewer at a time"]
            );
        }
        let mut sampler = StreamSampler::new(&plan, 0).unwrap().with_request(count);
        let Step::Needs(request) = sampler.step().unwrap() else { panic!("there are no trials yet") };
        assert_eq!(request.count, most);
    }
}

/// A step that a watch ends is resumed, and gives the same draws.
#[test]
fn steps_are_resumed() {
    let world = world(60, 5, 3);
    let plan = plan(&world, [1, 1, 1]);
    let mut source = world.batches.trials(&plan).unwrap();
    let expected = world.draws(&plan, 20, Some(500), 3);
    let mut sampler = StreamSampler::new(&plan, 3).unwrap().with_request(500);
    let late = Watch::default().until(std::time::Instant::now());
    let mut draws = Vec::new();
    while draws.len() < 20 {
        assert_error!(
            sampler.step_watched(&late),
            Error::Ended(partition_dpp::watch::Ended::TimeLimit),
            ["time limit"]
        );
        match sampler.step_watched(&Watch::default()).unwrap() {
            Step::Drawn(draw) => draws.push(draw),
            Step::Needs(request) => sampler.feed(source.more(request).unwrap()).unwrap(),
        }
    }
    assert_eq!(draws, expected);
}

/// A watch ends plans and marginals.
#[test]
fn set_up_is_watched() {
    let world = world(60, 5, 3);
    let grams = world.batches.grams().unwrap();
    let quota = grams.quota(named(&[1, 2, 1])).unwrap();
    let stop = Arc::new(AtomicBool::new(true));
    let engine = Engine::cpu().watched(&Watch::default().stopped_by(&stop));
    for outcome in [
        Plan::dpp(&grams, &engine).map(drop),
        Plan::k_dpp(&grams, 3, &engine).map(drop),
        Plan::partition_dpp(&grams, &quota, &engine).map(drop),
        Marginals::dpp(&grams, &engine).map(drop),
        Marginals::k_dpp(&grams, 3, &engine).map(drop),
        Marginals::partition_dpp(&grams, &quota, &engine).map(drop),
    ] {
        assert_error!(outcome, Error::Ended(_), ["interrupted"]);
    }
}
