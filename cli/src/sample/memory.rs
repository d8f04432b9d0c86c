//! The memory of samples.

use partition_dpp::{
    Law, SamplerOptions,
    sample::{Bound, MemoryPlan},
};

use super::{
    arguments::{MethodChoice, SampleArguments},
    method::WAYS,
};
use crate::{
    failure::Failure,
    memory::{ALLOWED, Limit},
};

/// Memory needed, and its limit.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    pub(crate) plan: MemoryPlan,
    /// In bytes.
    pub(crate) limit: u64,
    /// The origin of the limit.
    pub(crate) rule: &'static str,
}

/// Bytes of a draw without its items: two list headers as it is kept, since lists grow by doubling, and one as it is
/// printed.
const DRAW: u64 = 64;

impl Memory {
    /// The memory of samples of a law.
    pub(crate) fn of(
        law: &Law,
        arguments: &SampleArguments,
        least: usize,
        limit: Limit,
    ) -> Result<Self, Failure> {
        let plan = match law {
            Law::Quota(dpp) => match arguments.options() {
                Some(options) => dpp.memory_plan(options).map_err(Failure::advise(WAYS))?,
                None if arguments.method == MethodChoice::Estimated => {
                    let like = SamplerOptions::default().with_bound(Bound::Sequential);
                    dpp.memory_plan(like).map_err(Failure::advise(WAYS))?
                }
                None => dpp.chains_memory_plan(),
            },
            _ => law.memory_plan(SamplerOptions::default())?,
        };
        let plan = plan.with_draws(arguments.samples, DRAW + 8 * least as u64);
        Ok(Self { plan, limit: limit.bytes, rule: limit.rule })
    }

    /// Refuses a plan that exceeds the limit.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let limit = Limit { bytes: self.limit, rule: self.rule };
        let draws: u64 =
            self.plan.uses.iter().filter(|part| part.what == "draws").map(|part| part.bytes).sum();
        let checked = limit.check(self.plan.total(), || self.plan.to_string());
        let more = format!("--memory {}MB allows that much", self.plan.total().div_ceil(1_000_000));
        let fewer = "--samples N with fewer samples";
        let helps = [self.rule == ALLOWED, self.plan.total() - draws <= self.limit];
        let ways = [&*more, fewer].into_iter().zip(helps).filter(|(_, helps)| *helps).map(|(way, _)| way);
        checked.map_err(|failure| failure.with_ways(&ways.collect::<Vec<_>>()))
    }
}
