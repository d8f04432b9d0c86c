//! The findings about a problem.

use std::{collections::BTreeMap, fmt};

use partition_dpp::{Error, error::DeviceProblem};

/// Single precision must hold ratios up to this, and down to its reciprocal.
const RANGE: f64 = 1e18;

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    LogZ,
    /// ln Z estimated from weighted draws.
    Estimates,
    Marginals,
    LogProbabilities,
    Counts,
    Chance,
    Conditionals,
    Draws,
    Map,
    Bound,
    /// An answer although no set is possible.
    Impossible,
    /// An error that only a programming error explains.
    Error,
    Panic,
    Hang,
}

/// The reason for a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refused {
    /// The data are too badly conditioned.
    Conditioning,
    /// The rank is said to be too small.
    Rank,
    /// The request takes more nodes or proposals than the budget.
    Budget,
    /// An iteration did not converge.
    Convergence,
    /// A solver ended short of the quota.
    Short,
    /// A draw from interpolation lost its digits.
    Pick,
    /// The weights span too many decades.
    Weights,
    /// Rows differ by more than single precision holds, as those of well-conditioned problems may.
    SinglePrecision,
}

#[derive(Clone, Debug)]
pub struct Fault {
    pub kind: Kind,
    pub by: String,
    pub what: String,
}

#[derive(Clone, Debug)]
pub struct Refusal {
    pub why: Refused,
    pub by: String,
    pub what: String,
}

#[derive(Clone, Debug, Default)]
pub struct Report {
    pub faults: Vec<Fault>,
    pub refusals: Vec<Refusal>,
    /// The p-values of χ² tests of draws.
    pub p_values: Vec<f64>,
    /// The number of comparisons, by kind.
    pub compared: BTreeMap<Kind, usize>,
    pub well_conditioned: bool,
}

impl Report {
    pub fn fault(&mut self, kind: Kind, by: &str, what: &str) {
        self.faults.push(Fault { kind, by: by.to_owned(), what: what.to_owned() });
    }

    pub fn compared(&mut self, kind: Kind) {
        *self.compared.entry(kind).or_default() += 1;
    }

    /// Notes a typed error about a problem with a possible set.
    pub fn refuse(&mut self, by: &str, error: &Error) {
        let why = match error {
            // Only rows that are badly conditioned overflow in f64.
            Error::IllConditioned { .. }
            | Error::Estimate(_)
            | Error::Device(DeviceProblem::NotFinite { .. }) => Refused::Conditioning,
            Error::SizeAboveRank { .. }
            | Error::Infeasible { .. }
            | Error::InfeasibleBeyondIncluded { .. }
            | Error::DependentItems { .. }
            | Error::ZeroKernel => Refused::Rank,
            Error::ProposalBudget { .. } | Error::RangeProposalBudget { .. } | Error::NodeBudget { .. } => {
                Refused::Budget
            }
            Error::Eigen { .. } => Refused::Convergence,
            Error::Weights(_) => Refused::Weights,
            Error::Device(DeviceProblem::SinglePrecision { value, .. })
                if !(1.0 / RANGE..RANGE).contains(&value.abs()) =>
            {
                Refused::SinglePrecision
            }
            Error::ImpossiblePick { .. } | Error::LostDraw { .. } | Error::DrawGivenUp { .. } => {
                Refused::Pick
            }
            error => return self.fault(Kind::Error, by, &format!("{error:?}")),
        };
        self.refused(why, by, &error.to_string());
    }

    pub fn refused(&mut self, why: Refused, by: &str, what: &str) {
        self.refusals.push(Refusal { why, by: by.to_owned(), what: what.to_owned() });
    }

    /// Returns the classes of all faults, and of refusals of well-conditioned input.
    pub fn classes(&self) -> Vec<String> {
        let faults = self.faults.iter().map(|fault| format!("{:?} by {}", fault.kind, fault.by));
        let refusals = self
            .unjust()
            .map(|refusal| format!("well-conditioned, refused ({:?}) by {}", refusal.why, refusal.by));
        let mut names: Vec<String> = faults.chain(refusals).collect();
        names.sort_unstable();
        names
    }

    /// Returns everything that is wrong: faults, and refusals of well-conditioned input.
    pub fn wrong(&self) -> Vec<String> {
        let faults = self.faults.iter().map(ToString::to_string);
        faults.chain(self.unjust().map(|refusal| format!("well-conditioned, but {refusal}"))).collect()
    }

    /// The refusals of well-conditioned input.
    fn unjust(&self) -> impl Iterator<Item = &Refusal> {
        let of_data = self.refusals.iter().filter(|refusal| refusal.why != Refused::SinglePrecision);
        of_data.filter(|_| self.well_conditioned)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} by {}: {}", self.kind, self.by, self.what)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "refused ({:?}) by {}: {}", self.why, self.by, self.what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is wrong if a device refuses a well-conditioned problem like this.
    fn wrong(problem: DeviceProblem) -> usize {
        let mut report = Report { well_conditioned: true, ..Report::default() };
        report.refuse("greedy", &problem.into());
        report.wrong().len()
    }

    #[test]
    fn devices_may_refuse_only_what_single_precision_cannot_hold() {
        let single = |value| DeviceProblem::SinglePrecision { what: "a row", value };
        assert_eq!([1e-30, -1e30].map(|value| wrong(single(value))), [0, 0]);
        assert_eq!([1e-10, 1.0, -1e10].map(|value| wrong(single(value))), [1, 1, 1]);
        assert_eq!(wrong(DeviceProblem::NotFinite { what: "part_grams", bits: 64 }), 1);
        assert_eq!(wrong(DeviceProblem::Lost { reason: "unplugged".to_owned() }), 1);
    }
}
