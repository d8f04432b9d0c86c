//! The arguments that choose the law.

use clap::Args;

use crate::quota::TypedQuota;

/// The number of items, per part and in all.
#[derive(Args, Debug)]
pub(crate) struct LawArguments {
    /// Number of items per part: 2,1,2 or dark=2,light=1 or dark=1..3
    ///
    /// One entry per part, in the order of the parts, or entries by name. Parts that are not named get no items. An
    /// entry may be a range that includes both ends: 2..4, ..3, 1.., or .. for any number. Together with --k, the quota
    /// may also be equal, for the same number per part, or proportional, for numbers proportional to the sizes of the
    /// parts.
    #[arg(long, value_name = "QUOTA", allow_hyphen_values = true, help_heading = "Selection")]
    pub(crate) quota: Option<TypedQuota>,
    /// Number of items per set
    ///
    /// With --quota it fixes the total of ranges, or must equal the sum of the counts. Without --k and --quota, sets
    /// may have any size.
    #[arg(long, value_name = "K", help_heading = "Selection")]
    pub(crate) k: Option<usize>,
}
