//! The questions to the library on wasm32 and, from `tests/sample/wasm_answers.rs`, on the host machine.
//!
//! Features are small integers times powers of ten, which are the same numbers on every machine, unlike `sin`.

use std::sync::{Arc, atomic::AtomicBool};

use partition_dpp::{
    Dpp, Engine, Features, Inference, KDpp, Method, Partition, PartitionDpp, Projection, Quota, Result,
    Sampler, SamplerOptions, Samples, Subset, Watch,
    map::{BranchAndBound, Greedy, LocalSearch, Objective, Solution, Solver, UpperBound},
    mcmc::McmcOptions,
};

const SEED: u64 = 42;
const ITEMS: usize = 24;

pub(crate) type Question = (&'static str, fn(&Data) -> Result<String>);

/// The questions, each with a name and a function that answers it. None may read a clock.
pub(crate) const QUESTIONS: &[Question] = &[
    ("dpp", |data| draws(&Dpp::new(&data.features)?.sampler(SamplerOptions::default(), &Engine::cpu())?)),
    ("k-dpp", |data| {
        draws(&KDpp::new(&data.features, 4)?.sampler(SamplerOptions::default(), &Engine::cpu())?)
    }),
    ("rejection, leverage trials", |data| by_rejection(data, Projection::Leverage)),
    ("rejection, elementary picks", |data| by_rejection(data, Projection::Elementary)),
    ("interpolation", |data| draws(&data.model()?.sampler(Method::Interpolation, &Engine::cpu())?)),
    ("per candidate", |data| draws(&data.model()?.sampler(Method::PerCandidate, &Engine::cpu())?)),
    ("exchange chains", chained),
    ("ranges", |data| draws(&data.range_model()?.sampler(SamplerOptions::default(), &Engine::cpu())?)),
    ("watched", watched),
    ("law of a quota", |data| law(&data.model()?.inference(&Engine::cpu())?, &[0, 1, 2, 3, 4])),
    ("law of ranges", |data| law(&data.range_model()?.inference(&Engine::cpu())?, &[0, 1, 2, 4])),
    ("greedy", |data| Ok(found(&Greedy::default().solve(&data.model()?, &Engine::cpu())?))),
    ("lazy greedy, ranges", |data| {
        Ok(found(&Greedy::default().solve(&data.range_model()?, &Engine::cpu())?))
    }),
    ("local search", |data| Ok(found(&LocalSearch::default().solve(&data.model()?, &Engine::cpu())?))),
    ("branch and bound", |data| best(&data.model()?)),
    ("branch and bound, ranges", |data| best(&data.range_model()?)),
    // The rest is computed in fixed point.
    ("outliers of 120 decades", |_| hard(|item, _| if item < 2 { 1e60 } else { 1e-60 })),
    ("parts 300 decades apart, columns 10", |_| {
        hard(|item, column| [1e200, 1.0, 1e-100][item % 3] * [1e5, 1.0, 1e-5][column % 3])
    }),
    ("columns 10 decades apart", |_| hard(|_, column| [1e5, 1.0, 1e-5][column % 3])),
];

/// Returns a line with the name of a question and the answer.
pub(crate) fn answered((name, answer): Question) -> String {
    let answer = Data::scaled(|_, _| 1.0).and_then(|data| answer(&data));
    answer.map_or_else(|error| format!("{name}: failed: {error}"), |answer| format!("{name}: {answer}"))
}

pub(crate) struct Data {
    features: Features,
    partition: Partition,
    quota: Quota,
    ranges: Quota,
}

impl Data {
    /// Makes items in three parts, with the number requested from each.
    fn scaled(scale: impl Fn(usize, usize) -> f64) -> Result<Self> {
        let dims = 6;
        let mut state = 1_u32;
        let mut values = Vec::new();
        for item in 0..ITEMS {
            for column in 0..dims {
                // The generator of Numerical Recipes, whose leading bits are random enough.
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let small = f64::from(state >> 28) - 7.0;
                values.push(small * scale(item, column));
            }
        }
        let labels: Vec<usize> = (0..ITEMS).map(|item| item % 3).collect();
        let partition = Partition::from_labels(&labels)?;
        let quota = Quota::new(&partition, [2, 2, 1])?;
        let ranges = Quota::new(&partition, &[1..=2, 0..=3, 1..=1])?.with_total(4)?;
        Ok(Self { features: Features::from_rows(ITEMS, dims, values)?, partition, quota, ranges })
    }

    fn model(&self) -> Result<PartitionDpp> {
        PartitionDpp::new(&self.features, &self.partition, &self.quota)
    }

    fn range_model(&self) -> Result<PartitionDpp> {
        PartitionDpp::new(&self.features, &self.partition, &self.ranges)
    }
}

fn by_rejection(data: &Data, projection: Projection) -> Result<String> {
    draws(
        &data
            .model()?
            .sampler(SamplerOptions::from(Method::Rejection).with_projection(projection), &Engine::cpu())?,
    )
}

/// Returns draws with one seed, and the proposals that they took.
fn draws(sampler: &Sampler) -> Result<String> {
    Ok(listed(&sampler.sample_watched(0..12, SEED, &Watch::default())?))
}

/// Returns the same for chains.
fn chained(data: &Data) -> Result<String> {
    let samples = data.model()?.chains(&McmcOptions::default(), &Engine::cpu())?.run(12, SEED);
    let sets: Vec<String> = samples.subsets().iter().map(ToString::to_string).collect();
    Ok(format!("{}; {} proposals", sets.join(", "), samples.proposals()))
}

fn listed(samples: &Samples) -> String {
    let sets: Vec<String> = samples.subsets().iter().map(ToString::to_string).collect();
    format!("{}; {} proposals", sets.join(", "), samples.proposals())
}

/// A flag that is never set stops nothing.
fn watched(data: &Data) -> Result<String> {
    let stop = Arc::new(AtomicBool::new(false));
    let watch = Watch::default().stopped_by(&stop);
    let engine = Engine::cpu().watched(&watch);
    let sampler = data.range_model()?.sampler(SamplerOptions::default(), &engine)?;
    let drawn = listed(&sampler.sample_watched(0..4, SEED, &watch)?);
    let best = BranchAndBound::default().solve(&data.model()?, &engine)?;
    Ok(format!("{drawn}; {}", found(&best)))
}

fn law(inference: &Inference, set: &[usize]) -> Result<String> {
    let log_z = inference.log_partition_function();
    let log_probability = inference.log_probability(&Subset::new(set.to_vec(), ITEMS)?)?;
    let inclusion = inference.inclusion_probabilities()?;
    let close = log_z.error < 1e-9 && log_probability.error < 1e-9 && inclusion.error < 1e-9;
    let few: Vec<String> = inclusion.value.iter().step_by(5).map(|&p| number(p)).collect();
    Ok(format!(
        "ln Z {}, of a set {}, of items {}; within 1e-9: {close}",
        number(log_z.value),
        number(log_probability.value),
        few.join(", "),
    ))
}

fn found(solution: &Solution) -> String {
    format!("{}, ln det {}, {}", solution.subset, number(solution.log_det), solution.termination)
}

/// Returns the best set with its proof, and the bound that needs no search.
fn best(model: &impl Objective) -> Result<String> {
    let solution = BranchAndBound::default().solve(model, &Engine::cpu())?;
    let bound = UpperBound::default().certify(model, &Engine::cpu())?;
    let holds = bound.upper_bound >= solution.log_det;
    Ok(format!("{}; bounded: {holds}", found(&solution)))
}

/// Returns draws, law and set for rows scaled like this.
fn hard(scale: impl Fn(usize, usize) -> f64) -> Result<String> {
    let data = Data::scaled(scale)?;
    let drawn = by_rejection(&data, Projection::Elementary)?;
    let law = law(&data.model()?.inference(&Engine::cpu())?, &[0, 1, 2, 3, 4])?;
    let greedy = Greedy::default().solve(&data.model()?, &Engine::cpu())?;
    Ok(format!("{drawn}; {law}; {}", found(&greedy)))
}

/// Formats a number with a point or an exponent, to distinguish rounded numbers from counts.
fn number(x: f64) -> String {
    format!("{x:.12e}")
}
