//! The arguments that choose the law.

use clap::Args;

use crate::quota::QuotaRequest;

/// How many items, of which parts.
#[derive(Args, Debug)]
pub(crate) struct LawArguments {
    /// Items to choose of each part: 2,1,2 in the order of the parts, or dark=2,light=1 by name (0 for the others).
    /// An entry may be a range that includes its ends: 2..4, ..3, 1.., or .. for any number. With --k: equal, the same
    /// number of each part, or proportional to the sizes of the parts.
    #[arg(long, value_name = "QUOTA", allow_hyphen_values = true, help_heading = "Law")]
    pub(crate) quota: Option<QuotaRequest>,
    /// Number of items to choose in all. With --quota it fixes the total of ranges, or must agree with the counts.
    #[arg(long, value_name = "K", help_heading = "Law")]
    pub(crate) k: Option<usize>,
}
