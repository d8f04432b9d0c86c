//! Input and output: features, dense kernels, partitions, quotas, subsets.

use crate::{Error, Result};

mod apportionment;
#[cfg(feature = "arrow")]
mod arrow_labels;
mod features;
#[cfg(feature = "arrow")]
mod from_arrow;
mod from_faer;
#[cfg(feature = "nalgebra")]
mod from_nalgebra;
#[cfg(feature = "ndarray")]
mod from_ndarray;
#[cfg(feature = "npy")]
mod half;
mod kernel;
mod label_copies;
#[cfg(feature = "npy")]
mod mapped;
#[cfg(feature = "npy")]
mod npy;
#[cfg(feature = "npy")]
mod npy_writer;
mod partition;
mod quota;
mod quota_request;
mod restricted;
mod ridge;
#[cfg(feature = "serde")]
pub(crate) mod serialized;
mod shared;
pub(crate) mod stored_rows;
mod subset;
pub(crate) mod values;
mod weights;
mod wide;

pub use features::Features;
pub use kernel::Kernel;
pub(crate) use kernel::Residual;
pub use label_copies::LabelCopies;
#[cfg(feature = "npy")]
pub use npy::NpyArray;
#[cfg(feature = "npy")]
pub(crate) use npy_writer::write_npy;
pub use partition::Partition;
pub(crate) use partition::check_item_count;
pub use quota::{CountRange, Quota};
pub use quota_request::QuotaRequest;
pub(crate) use ridge::check_ridge;
pub(crate) use stored_rows::StoredRows;
pub use subset::Subset;
pub(crate) use values::with_rows;
pub use values::{Scalar, Storage};
pub(crate) use weights::{LARGEST_LOG, check_finite, check_log_quality, log_quality_of_scores};
pub(crate) use wide::{compress_if_wide, compression_rounding};

/// Checks that the features, partition and quota agree on items and parts.
pub(crate) fn check_labels(features: &Features, partition: &Partition, quota: &Quota) -> Result<()> {
    check_partition(features, partition)?;
    quota.check(partition)
}

/// Checks that the features and partition have the same number of items.
pub(crate) fn check_partition(features: &Features, partition: &Partition) -> Result<()> {
    let (items, labels) = (features.items(), partition.items());
    if items == labels { Ok(()) } else { Err(Error::LabelCount { items, labels }) }
}

/// The common kind of two labels with the same text: whether they are text, if that is known.
///
/// # Errors
/// [`StreamProblem::MixedLabels`].
pub(crate) fn common_kind(label: &str, kinds: [Option<bool>; 2]) -> Result<Option<bool>> {
    match kinds {
        [Some(own), Some(other)] if own != other => {
            Err(crate::error::StreamProblem::MixedLabels { label: label.to_owned() }.into())
        }
        [own, other] => Ok(own.or(other)),
    }
}
