//! Categories of errors.

use super::{Error, EstimateProblem};

/// The category of an error, which suggests a remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input breaks a rule.
    Input,
    /// The request is well-formed, but no set satisfies it.
    Infeasible,
    /// The computation would cost more than a budget allows.
    Budget,
    /// Rounding leaves too few digits.
    Numerics,
    /// A watch ended the work.
    Ended,
    /// A GPU failed, or there is none.
    Device,
    /// A file or a stream cannot be read.
    Io,
}

impl Error {
    /// The category of the error.
    ///
    /// ```
    /// use partition_dpp::{Features, KDpp, error::ErrorKind};
    /// let features = Features::from_rows(3, 1, vec![1.0, 2.0, 3.0]).unwrap();
    /// assert_eq!(KDpp::new(&features, 2).unwrap_err().kind(), ErrorKind::Infeasible);
    /// ```
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Infeasible { .. }
            | Self::InfeasibleBeyondIncluded { .. }
            | Self::SizeAboveRank { .. }
            | Self::DesignRank { .. }
            | Self::SizeAboveItems { .. }
            | Self::SizeBelowIncluded { .. }
            | Self::QuotaAbovePartSize { .. }
            | Self::QuotaBelowIncluded { .. }
            | Self::TotalOutsideRanges { .. }
            | Self::DependentItems { .. } => ErrorKind::Infeasible,
            // The request is at fault here, not the cost of draws.
            Self::Estimate(EstimateProblem::TooFewDraws { .. } | EstimateProblem::Confidence { .. }) => {
                ErrorKind::Input
            }
            Self::ProposalBudget { .. }
            | Self::RangeProposalBudget { .. }
            | Self::NodeBudget { .. }
            | Self::DrawGivenUp { .. }
            | Self::Estimate(_) => ErrorKind::Budget,
            Self::IllConditioned { .. } | Self::Eigen { .. } | Self::LostDraw { .. } => ErrorKind::Numerics,
            Self::Ended(_) => ErrorKind::Ended,
            Self::Device(_) => ErrorKind::Device,
            Self::Io { .. } => ErrorKind::Io,
            _ => ErrorKind::Input,
        }
    }
}
