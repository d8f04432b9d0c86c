//! Where trials come from.

use std::collections::BTreeSet;

use super::{Batch, Grams, Leverages, Marginals, Plan, Request, Trials};
use crate::{
    Error, Result,
    engine::Engine,
    error::{StreamProblem, WeightProblem},
    parallel::map_ordered,
};

/// Trials that one thread draws.
const FEW: u64 = 256;

/// A store of batches that is asked for trials, as an application implements it for its own.
///
/// To answer, split the count among the batches ([`Plan::split`]), let each draw its share where its rows are
/// ([`Plan::trials`] or [`Leverages::trials`], with the seed of the request), and join the answers
/// ([`Trials::concatenate`]). `examples/own_store.rs` shows one. Every batch needs a number of its own: batches that share
/// one would use the same random numbers, so their sums and their trials do not merge.
pub trait TrialSource {
    /// As many trials as are asked for, in any order.
    ///
    /// # Errors
    /// Those of the implementation. The same request comes again if the sampler is asked for the same draw again.
    fn more(&mut self, request: Request) -> Result<Trials>;
}

impl<S: TrialSource + ?Sized> TrialSource for &mut S {
    fn more(&mut self, request: Request) -> Result<Trials> {
        (**self).more(request)
    }
}

/// Batches in this process: the three maps and the reduction that an engine would run elsewhere.
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
/// let plan = batches.plan(|grams| Plan::partition_dpp(grams, &grams.quota([("cat", 1), ("dog", 2)])?))?;
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
    /// These batches, each with a number of its own: all passes over them refuse numbers that repeat.
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
    /// [`StreamProblem::RepeatedBatch`]; those of [`Grams::of_batch`] and [`Grams::merge`].
    pub fn grams(&self) -> Result<Grams> {
        self.merged(|batch| Grams::of_batch(batch, &self.engine))
    }

    fn merged(&self, of_batch: impl Fn(&Batch) -> Result<Grams>) -> Result<Grams> {
        self.check_numbers()?;
        self.batches.iter().try_fold(Grams::default(), |all, batch| all.merge(of_batch(batch)?))
    }

    /// Batches of one number would draw with the same random numbers.
    fn check_numbers(&self) -> Result<()> {
        let mut numbers = BTreeSet::new();
        match self.batches.iter().map(Batch::number).find(|&number| !numbers.insert(number)) {
            Some(number) => Err(StreamProblem::RepeatedBatch { number }.into()),
            None => Ok(()),
        }
    }

    /// A [`Plan`], or [`Marginals`], after a second pass in a frame if its error is above 10⁻⁹ without, or if there is none
    /// without ([`Grams::wants_frame_after`]). If the second pass fails, too, an error about ranks is that of the first.
    ///
    /// # Errors
    /// Those of `make` and of [`grams`](Batches::grams).
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
            // Rank is what the rows lack; the second pass can only say that what it made up for it is noise.
            (Err(first), Err(second)) => Err(if is_about_rank(&first) { first } else { second }),
        }
    }

    /// The source of a plan's trials.
    ///
    /// # Cost
    /// 8 bytes a row, and a pass over the rows.
    ///
    /// # Errors
    /// [`StreamProblem::RepeatedBatch`]; those of [`Plan::leverages`].
    pub fn trials<'s>(&'s self, plan: &'s Plan) -> Result<BatchTrials<'s>> {
        self.check_numbers()?;
        let leverages = self.batches.iter().map(|batch| plan.leverages(batch, &self.engine));
        Ok(BatchTrials { batches: &self.batches, plan, leverages: leverages.collect::<Result<_>>()? })
    }
}

/// Whether directions that are lost as rounding would explain an error.
pub(super) fn is_about_rank(error: &Error) -> bool {
    matches!(
        error,
        Error::SizeAboveRank { .. } | Error::Infeasible { .. } | Error::Weights(WeightProblem::Spread)
    )
}

/// What is worked out from Gram matrices with an error that a frame may lower.
pub trait Planned: crate::sealed::Sealed {
    /// Estimated error of the law.
    fn law_error(&self) -> f64;

    /// Whether it is worth a second pass.
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
pub struct BatchTrials<'s> {
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
        // Other threads cost more than a few trials.
        let lists: Result<Vec<Trials>> = if request.count < FEW {
            (0..asked.len()).map(of_batch).collect()
        } else {
            map_ordered(asked.len(), of_batch).into_iter().collect()
        };
        Trials::concatenate(lists?)
    }
}
