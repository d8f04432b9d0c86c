//! Whether what is asked for fits into memory; found out before the work begins.

use partition_dpp::MemoryPlan;
use sysinfo::System;

use crate::{arguments::SampleArguments, failure::Failure, law::Model, sample::ADVICE};

/// What a run needs, and what it may take.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    /// What it needs.
    pub(crate) plan: MemoryPlan,
    /// Bytes it may take.
    pub(crate) limit: u64,
    /// Who says so.
    pub(crate) rule: &'static str,
}

impl Memory {
    /// What samples of a model need, where so much was free before anything was read.
    pub(crate) fn of(model: &Model<'_>, arguments: &SampleArguments, free: u64) -> Result<Self, Failure> {
        let plan = match model {
            Model::PartitionDpp(dpp) => {
                dpp.memory_plan(arguments.method.into()).map_err(Failure::advise(ADVICE))?
            }
            Model::RangeDpp(dpp) => dpp.memory_plan(),
            Model::IndependentKDpps(dpps) => dpps.memory_plan(),
            Model::KDpp(dpp) => dpp.memory_plan(),
            Model::Dpp(dpp) => dpp.memory_plan(),
        };
        let (limit, rule) = match arguments.memory {
            Some(limit) => (limit.as_u64(), "allowed by --memory"),
            None => (free, "free"),
        };
        Ok(Self { plan, limit, rule })
    }

    /// Refuses what does not fit, with the plan.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let needed = self.plan.total();
        if needed <= self.limit {
            return Ok(());
        }
        let plan = self.plan.to_string();
        Err(Failure::Memory {
            needed: megabytes(needed),
            plan,
            limit: megabytes(self.limit),
            rule: self.rule,
        })
    }
}

/// Bytes that can be had without disturbing others; no limit where the system does not tell.
pub(crate) fn available() -> u64 {
    let mut system = System::new();
    system.refresh_memory();
    let free = match system.available_memory() {
        0 => u64::MAX,
        free => free,
    };
    // What a group's files have in the cache counts as used, but can be had.
    system.cgroup_limits().map_or(free, |group| free.min(group.total_memory.saturating_sub(group.rss)))
}

/// In megabytes of 10⁶ bytes.
pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
