//! Sources of trials.

use std::{collections::BTreeSet, fmt};

use super::{Batch, Grams, Leverages, Marginals, Plan, Request, Trials};
use crate::{
    Error, Result,
    engine::Engine,
    error::{StreamProblem, WeightProblem},
    parallel::map_ordered,
};

/// The number of trials below which one thread draws all of them.
const FEW: u64 = 256;

/// A store of batches that supplies trials; applications implement it for their own storage.
///
/// To answer a request, split the count among the batches ([`Plan::split`]). Let each batch draw its share where its
/// rows are ([`Plan::trials`] or [`Leverages::trials`], with the seed of the request). Then join the answers
/// ([`Trials::concatenate`]). `examples/own_store.rs` shows such a store.
///
/// Every batch needs its own number. Batches that share a number would use the same random numbers, so their sums and
/// trials are not merged.
pub trait TrialSource {
    /// Returns the requested number of trials, in any order.
    ///
    /// # Errors
    /// The errors of the implementation. If the sampler is then asked for the same draw, it repeats the request.
    fn more(&mut self, request: Request) -> Result<Trials>;
}

impl<S: TrialSource + ?Sized> TrialSource for &mut S {
    fn more(&mut self, request: Request) -> Result<Trials> {
        (**self).more(request)
    }
}

/// Batches in this process: the three maps and the reduction that an engine would otherwise run elsewhere.
///
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, Partition, stream::{Batch, Batches, Plan, StreamSampler}};
/// let values: Vec<f64> = (0..600).map(|i| f64::from(i * i % 97)).collect();
/// let labels: Vec<&str> = (0..100).map(|i| if i % 3 == 0 { "cat" } else { "dog" }).collect();
/// let batch = |number: usize| {
///     let features = Features::from_rows(100, 3, values[300 * number..][..300].to_vec())?;
///     Batch::new(number as u64, &features, &Partition::from_labels(&labels)?)
/// };
/// let batches = Batches::new(vec![batch(0)?, batch(1)?], &Engine::cpu());
/// let plan = batches.plan(|grams| Plan::partition_dpp(grams, &grams.quota([("cat", 1), ("dog", 2)])?, &Engine::cpu()))?;
/// let draws = StreamSampler::new(&plan, 42)?.draw_many(10, &mut batches.trials(&plan)?)?;
/// assert_eq!(draws.len(), 10);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Batches {
    batches: Vec<Batch>,
    engine: Engine,
}

impl Batches {
    /// Takes batches with different numbers; every pass over them rejects repeated numbers.
    #[must_use]
    pub fn new(batches: Vec<Batch>, engine: &Engine) -> Self {
        Self { batches, engine: engine.clone() }
    }

    /// The batches.
    #[must_use]
    pub fn batches(&self) -> &[Batch] {
        &self.batches
    }

    /// The merged sums over the rows of all batches.
    ///
    /// # Errors
    /// [`StreamProblem::RepeatedBatch`]; the errors of [`Grams::of_batch`] and [`Grams::merge`].
    pub fn grams(&self) -> Result<Grams> {
        self.merged(|batch| Grams::of_batch(batch, &self.engine))
    }

    fn merged(&self, of_batch: impl Fn(&Batch) -> Result<Grams>) -> Result<Grams> {
        self.check_numbers()?;
        self.batches.iter().try_fold(Grams::default(), |all, batch| all.merge(of_batch(batch)?))
    }

    /// Rejects batches with the same number, which would draw with the same random numbers.
    fn check_numbers(&self) -> Result<()> {
        let mut numbers = BTreeSet::new();
        match self.batches.iter().map(Batch::number).find(|&number| !numbers.insert(number)) {
            Some(number) => Err(StreamProblem::RepeatedBatch { number }.into()),
            None => Ok(()),
        }
    }

    /// Makes a [`Plan`] or [`Marginals`], with a second pass in a frame if that may help.
    ///
    /// There is a second pass if the error of the first result is above 10⁻⁹, or if the first pass fails and a frame
    /// may help ([`Grams::wants_frame_after`]). If both passes fail and the first error is about ranks, that error is
    /// returned.
    ///
    /// # Errors
    /// The errors of `make` and of [`grams`](Batches::grams).
    pub fn plan<P: Planned>(&self, make: impl Fn(&Grams) -> Result<P>) -> Result<P> {
        let grams = self.grams()?;
        let first = make(&grams);
        let pays = match &first {
            Ok(plan) => plan.wants_frame(),
            Err(error) => grams.wants_frame_after(error),
        };
        if !pays {
            return first;
        }
        let frame = grams.frame()?;
        let second = make(&self.merged(|batch| Grams::in_frame(batch, &frame, &self.engine))?);
        match (first, second) {
            (Ok(first), Ok(second)) if second.law_error() < first.law_error() => Ok(second),
            (Ok(first), _) => Ok(first),
            (Err(_), Ok(second)) => Ok(second),
            // If the first error is about ranks, the rows lack rank. The error of the second pass could only report
            // that the additional directions are noise.
            (Err(first), Err(second)) => Err(if is_about_rank(&first) { first } else { second }),
        }
    }

    /// The source of a plan's trials.
    ///
    /// # Cost
    /// 8 bytes per row, and one pass over the rows.
    ///
    /// # Errors
    /// [`StreamProblem::RepeatedBatch`]; the errors of [`Plan::leverages`].
    pub fn trials<'s>(&'s self, plan: &'s Plan) -> Result<impl TrialSource + fmt::Debug + use<'s>> {
        self.check_numbers()?;
        let leverages = self.batches.iter().map(|batch| plan.leverages(batch, &self.engine));
        Ok(BatchTrials { batches: &self.batches, plan, leverages: leverages.collect::<Result<_>>()? })
    }
}

/// Whether directions lost in rounding errors could cause an error.
pub(super) fn is_about_rank(error: &Error) -> bool {
    matches!(
        error,
        Error::SizeAboveRank { .. } | Error::Infeasible { .. } | Error::Weights(WeightProblem::Spread)
    )
}

/// Results computed from Gram matrices, with an error that a frame may lower.
pub trait Planned: crate::sealed::Sealed {
    /// The estimated error of the law.
    fn law_error(&self) -> f64;

    /// Whether a second pass is worth it.
    fn wants_frame(&self) -> bool;
}

impl crate::sealed::Sealed for Plan {}
impl crate::sealed::Sealed for Marginals {}

impl Planned for Marginals {
    fn law_error(&self) -> f64 {
        self.error()
    }

    fn wants_frame(&self) -> bool {
        Marginals::wants_frame(self)
    }
}

impl Planned for Plan {
    fn law_error(&self) -> f64 {
        Plan::law_error(self)
    }

    fn wants_frame(&self) -> bool {
        Plan::wants_frame(self)
    }
}

/// The trials of batches in this process.
#[derive(Debug)]
struct BatchTrials<'s> {
    batches: &'s [Batch],
    plan: &'s Plan,
    leverages: Vec<Leverages>,
}

impl TrialSource for BatchTrials<'_> {
    fn more(&mut self, request: Request) -> Result<Trials> {
        let totals: Vec<f64> = self.leverages.iter().map(Leverages::total).collect();
        let counts = self.plan.split(&totals, request.count, request.seed)?;
        let asked: Vec<usize> = (0..counts.len()).filter(|&at| counts[at] > 0).collect();
        let of_batch = |at: usize| {
            let at = asked[at];
            self.leverages[at].trials(self.plan, &self.batches[at], counts[at], request.seed)
        };
        // For a few trials, other threads cost more than they save.
        let lists: Result<Vec<Trials>> = if request.count < FEW {
            (0..asked.len()).map(of_batch).collect()
        } else {
            map_ordered(asked.len(), of_batch).into_iter().collect()
        };
        Trials::concatenate(lists?)
    }
}
