//! Samples of rows that lie elsewhere: the computations next to the rows, and the driver's work on their results.

mod batch;
mod core_sets;
mod grams;
mod marginals;
mod plan;
mod representation;
mod sampler;
mod trials;

pub(crate) use batch::Batch;
pub(crate) use core_sets::{CoreSet, CoreSetUnion};
pub(crate) use grams::{Frame, Grams};
pub(crate) use marginals::Marginals;
pub(crate) use plan::Plan;
pub(crate) use representation::Representation;
pub(crate) use sampler::StreamSampler;
pub(crate) use trials::Trials;

use partition_dpp::{CountRange, Engine, Quota, stream};
use pyo3::prelude::*;

use crate::{
    errors::{OrRaise, exception, refused},
    interruptible::interruptible,
    labels,
    quota::{count_range, named},
};

/// The quota of parts that the batches have: a dictionary by label, `"equal"` or `"proportional"`.
fn resolve(grams: &stream::Grams, quota: &Bound<'_, PyAny>, total: Option<usize>) -> PyResult<Quota> {
    let named = named(quota)?.ok_or_else(|| {
        refused(
            "a quota over batches must be a dictionary by label: the labels are known only after reading the batches",
        )
    })?;
    let entry = |(label, entry): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        Ok::<(String, CountRange), PyErr>((labels::name_of(&label)?, count_range(&entry)?.0))
    };
    let entries = named.into_iter().map(entry).collect::<PyResult<Vec<_>>>()?;
    let quota = grams.quota(entries).or_raise()?;
    match total {
        Some(total) => quota.with_total(total).or_raise(),
        None => Ok(quota),
    }
}

/// The results that sums allow: for a quota, for sets of `k` items, and for sets of any size.
struct Makers<T> {
    quota: fn(&stream::Grams, &Quota, &Engine) -> partition_dpp::Result<T>,
    size: fn(&stream::Grams, usize, &Engine) -> partition_dpp::Result<T>,
    any_size: fn(&stream::Grams, &Engine) -> partition_dpp::Result<T>,
}

/// Converts a result from sums. An exception has the attribute `wants_frame`: whether sums in a frame may succeed.
fn made<T: Send>(
    py: Python<'_>,
    grams: &stream::Grams,
    (quota, k): (Option<&Bound<'_, PyAny>>, Option<usize>),
    makers: &Makers<T>,
) -> PyResult<T> {
    let quota = quota.map(|quota| resolve(grams, quota, k)).transpose()?;
    let made = interruptible(py, None, |watch| {
        let engine = Engine::cpu().watched(&watch);
        match (&quota, k) {
            (Some(quota), _) => (makers.quota)(grams, quota, &engine),
            (None, Some(k)) => (makers.size)(grams, k, &engine),
            (None, None) => (makers.any_size)(grams, &engine),
        }
    })?;
    made.or_else(|error| {
        let raised = exception(&error);
        raised.value(py).setattr("wants_frame", grams.wants_frame_after(&error))?;
        Err(raised)
    })
}
