//! Runs every computation of the library on small models of every kind.

use std::time::{Duration, Instant};

use arbitrary::{Arbitrary, Result as Made, Unstructured};
use partition_dpp::{
    Dpp, Engine, Error, Features, IndependentKDpps, Inference, KDpp, Method, PartCounts, Partition,
    PartitionDpp, Quota, Result, Sampler, SamplerOptions, Subset, Watch,
    map::{
        BranchAndBound, Greedy, LocalSearch, Objective, Softmax, Solution, Solver, SymmetricGreedy,
        UpperBound,
    },
    mcmc::{McmcOptions, Thinning},
};

use crate::{
    common::{check_sentence, in_one_thread},
    values::Values,
};

/// The time limit of a run.
const BRIEFLY: Duration = Duration::from_millis(20);
/// The largest error of logarithms and probabilities. Other tests are stricter.
const ROUNDING: f64 = 1e-6;

/// A model and a task.
#[derive(Debug)]
pub struct Case {
    rows: Vec<Vec<f64>>,
    labels: Vec<u8>,
    kind: ModelKind,
    include: Vec<usize>,
    exclude: Vec<usize>,
    task: Task,
    seed: u64,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Task {
    Infer,
    Sample,
    SampleByInterpolation,
    SamplePerCandidate,
    Chains,
    Counts,
    Greedy,
    LocalSearch,
    AnySize,
    Exact,
    Bound,
}

#[derive(Debug)]
enum ModelKind {
    Plain,
    Size(usize),
    Counts(Vec<usize>),
    Independent(Vec<usize>),
    Ranges(Vec<(usize, usize)>, Option<usize>),
}

impl<'a> Arbitrary<'a> for Case {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Made<Self> {
        let task = bytes.arbitrary()?;
        let (items, dims) = (bytes.int_in_range(1..=9)?, bytes.int_in_range(1..=6)?);
        let parts = bytes.int_in_range(1..=4)?;
        let kind = match bytes.int_in_range(0..=7)? {
            0 => ModelKind::Plain,
            1 => ModelKind::Size(bytes.int_in_range(0..=items + 1)?),
            2 => ModelKind::Independent(list(bytes, parts, 3)?),
            3 | 4 => {
                let ends = list(bytes, 2 * parts, 3)?;
                let total = bytes.ratio(1, 2)?.then(|| bytes.int_in_range(0..=items)).transpose()?;
                ModelKind::Ranges(ends.chunks_exact(2).map(|ends| (ends[0], ends[1])).collect(), total)
            }
            _ => ModelKind::Counts(list(bytes, parts, 3)?),
        };
        let mut some = |odds| if bytes.ratio(1, odds)? { list(bytes, 2, items) } else { Ok(Vec::new()) };
        let (include, exclude) = (some(6)?, some(6)?);
        let seed = bytes.arbitrary::<u8>()?.into();
        // Every part has an item if there are enough items.
        let label = |at: usize| bytes.int_in_range(0..=parts - 1).map(|more| ((at + more) % parts) as u8);
        let labels = (0..items).map(label).collect::<Made<_>>()?;
        let rows = Values::of(bytes)?.matrix(bytes, items, dims)?;
        Ok(Self { rows, labels, kind, include, exclude, task, seed })
    }
}

fn list(bytes: &mut Unstructured<'_>, length: usize, most: usize) -> Made<Vec<usize>> {
    (0..length).map(|_| bytes.int_in_range(0..=most)).collect()
}

pub fn run(case: &Case) {
    in_one_thread();
    if let Err(error) = case.run() {
        check_sentence(&error.to_string());
        // Exceeded budgets and infeasible models are expected errors; device errors are not.
        assert!(!matches!(error, Error::Device(_)), "{error}");
    }
}

impl Case {
    fn run(&self) -> Result<()> {
        let dims = self.rows[0].len();
        let features = Features::from_rows(self.rows.len(), dims, self.rows.concat())?;
        let partition = Partition::from_labels(&self.labels)?;
        let watch = Watch::default().until(Instant::now() + BRIEFLY);
        let engine = Engine::cpu().watched(&watch);
        let (include, exclude) = (&self.include, &self.exclude);
        match &self.kind {
            ModelKind::Plain => {
                let dpp = Dpp::new(&features)?.including(include)?.excluding(exclude)?;
                match self.task {
                    Task::Infer => self.check_inference(&dpp.inference(&engine)?),
                    Task::Counts => check_counts(dpp.part_counts(&partition, &engine)),
                    Task::AnySize => {
                        self.check(&SymmetricGreedy::default().solve(&dpp, &engine.watched(&watch))?);
                        self.check(&Softmax::default().solve(&dpp, &engine.watched(&watch))?);
                        Ok(())
                    }
                    _ if self.task.is_search() => self.search(&dpp, &watch),
                    _ => self.draw(&dpp.sampler(SamplerOptions::default(), &engine)?, &watch),
                }
            }
            ModelKind::Size(k) => {
                let dpp = KDpp::new(&features, *k)?.including(include)?.excluding(exclude)?;
                match self.task {
                    Task::Infer => self.check_inference(&dpp.inference(&engine)?),
                    Task::Counts => check_counts(dpp.part_counts(&partition, &engine)),
                    _ if self.task.is_search() => self.search(&dpp, &watch),
                    _ => self.draw(&dpp.sampler(SamplerOptions::default(), &engine)?, &watch),
                }
            }
            ModelKind::Counts(counts) => {
                let quota = Quota::new(&partition, of_parts(counts, &partition))?;
                self.run_under_quota(&features, &partition, &quota, &watch)
            }
            ModelKind::Independent(counts) => {
                let quota = Quota::new(&partition, of_parts(counts, &partition))?;
                let dpps = IndependentKDpps::new(&features, &partition, &quota)?;
                let dpps = dpps.including(include)?.excluding(exclude)?;
                self.draw(&dpps.sampler(SamplerOptions::default(), &engine)?, &watch)
            }
            ModelKind::Ranges(ranges, total) => {
                let ranges: Vec<_> = ranges.iter().map(|&(low, high)| low..=high).collect();
                let quota = Quota::new(&partition, of_parts(&ranges, &partition))?;
                let quota = total.map_or(Ok(quota.clone()), |total| quota.with_total(total))?;
                self.run_under_quota(&features, &partition, &quota, &watch)
            }
        }
    }

    fn run_under_quota(
        &self,
        features: &Features,
        partition: &Partition,
        quota: &Quota,
        watch: &Watch,
    ) -> Result<()> {
        let engine = Engine::cpu().watched(watch);
        let dpp = PartitionDpp::new(features, partition, quota)?;
        let dpp = dpp.including(&self.include)?.excluding(&self.exclude)?;
        let is_exact = matches!(self.kind, ModelKind::Counts(_));
        match self.task {
            Task::Infer => self.check_inference(&dpp.inference(&engine)?),
            Task::Chains if is_exact => {
                let options = McmcOptions::default().with_burn_in(3).with_chains(2);
                let options = options.with_thin(Thinning::Sweeps(1));
                let samples = dpp.chains(&options, &engine)?.run(20, self.seed);
                self.check_draws(samples.subsets());
                samples.diagnostics().map(|_| ())
            }
            _ if self.task.is_search() => self.search(&dpp, watch),
            _ if is_exact => self.draw(&dpp.sampler(self.task.method(), &engine)?, watch),
            _ => self.draw(&dpp.sampler(SamplerOptions::default(), &engine)?, watch),
        }
    }

    fn draw(&self, sampler: &Sampler, watch: &Watch) -> Result<()> {
        let bound = sampler.acceptance_bound();
        assert!(bound > 0.0 && bound <= 1.0 + ROUNDING, "acceptance of {bound}");
        let error = sampler.law_error();
        assert!(error >= 0.0, "a law error of {error}");
        self.check_draws(sampler.sample_watched(0..20, self.seed, watch)?.subsets());
        Ok(())
    }

    fn check_draws(&self, subsets: &[Subset]) {
        subsets.iter().for_each(|subset| self.check_set(subset, &self.labels));
    }

    /// Checks that a set meets the model's constraints.
    fn check_set(&self, set: &Subset, labels: &[u8]) {
        assert!(self.include.iter().all(|&item| set.contains(item)), "{set} without an item");
        assert!(!self.exclude.iter().any(|&item| set.contains(item)), "{set} with an item");
        let partition = Partition::from_labels(labels).expect("a partition");
        let counts = set.part_counts(&partition);
        let fits = match &self.kind {
            ModelKind::Plain => true,
            ModelKind::Size(k) => set.len() == *k,
            ModelKind::Counts(wanted) | ModelKind::Independent(wanted) => {
                counts[..] == wanted[..counts.len()]
            }
            ModelKind::Ranges(ranges, total) => {
                counts.iter().zip(ranges).all(|(count, (low, high))| (low..=high).contains(&count))
                    && total.is_none_or(|total| set.len() == total)
            }
        };
        assert!(fits, "{set} has counts {counts:?}");
    }

    fn check_inference(&self, inference: &Inference) -> Result<()> {
        let log_z = inference.log_partition_function();
        assert!(log_z.value.is_finite() && log_z.error >= 0.0, "ln Z = {log_z:?}");
        let marginals = inference.inclusion_probabilities()?;
        let slack = marginals.error + ROUNDING;
        let in_range = |p: &f64| (-slack..=1.0 + slack).contains(p);
        assert!(marginals.value.iter().all(in_range), "{marginals:?}");
        let as_conditioned = |item: usize, p: f64| {
            let (is_in, is_out) = (self.include.contains(&item), self.exclude.contains(&item));
            (!is_in || p >= 1.0 - slack) && (!is_out || p <= slack)
        };
        assert!(
            marginals.value.iter().enumerate().all(|(item, &p)| as_conditioned(item, p)),
            "{marginals:?}"
        );
        let first = Subset::new(self.include.clone(), self.rows.len())?;
        let log_prob = inference.log_probability(&first)?;
        assert!(log_prob.value <= log_prob.error + ROUNDING, "{first} has probability exp({log_prob:?})");
        Ok(())
    }

    fn search(&self, model: &impl Objective, watch: &Watch) -> Result<()> {
        let engine = Engine::cpu().watched(watch);
        let found = match self.task {
            Task::LocalSearch => LocalSearch::default().solve(model, &engine.watched(watch))?,
            Task::Exact => BranchAndBound::default().solve(model, &engine.watched(watch))?,
            _ => Greedy::default().solve(model, &engine.watched(watch))?,
        };
        self.check(&found);
        if matches!(self.task, Task::Bound) {
            let bound = UpperBound::default().certify(model, &engine.watched(watch))?.upper_bound;
            let slack = ROUNDING * (1.0 + found.log_det.abs());
            let holds = found.missing > 0 || !found.log_det.is_finite() || bound >= found.log_det - slack;
            assert!(holds, "at most {bound}, but {found:?}");
        }
        Ok(())
    }

    fn check(&self, found: &Solution) {
        assert!(!found.log_det.is_nan() && found.log_det < f64::INFINITY, "{found:?}");
        if let Some(bound) = found.upper_bound {
            assert!(bound >= found.log_det, "{found:?}");
        }
        if found.missing == 0 {
            self.check_set(&found.subset, &self.labels);
        }
    }
}

/// Cuts a list to the number of parts that have items.
fn of_parts<'l, T>(list: &'l [T], partition: &Partition) -> &'l [T] {
    &list[..partition.parts().min(list.len())]
}

impl Task {
    fn is_search(self) -> bool {
        matches!(self, Task::Greedy | Task::LocalSearch | Task::Exact | Task::Bound)
    }

    fn method(self) -> Method {
        match self {
            Task::SampleByInterpolation => Method::Interpolation,
            Task::SamplePerCandidate => Method::PerCandidate,
            _ => Method::Auto,
        }
    }
}

fn check_counts(law: Result<PartCounts>) -> Result<()> {
    let law = law?;
    let total: f64 = law.entries().iter().map(|(_, prob)| prob).sum();
    assert!((1.0 - total).abs() < ROUNDING + law.error() * law.entries().len() as f64, "in all {total}");
    Ok(())
}
