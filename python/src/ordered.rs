//! Labels with an explicit order.

use partition_dpp::Sets;
use pyo3::{prelude::*, types::PyString};

use crate::{
    errors::refused,
    labels::{self, Partition, name_of},
    quota::{self, Quota},
    rows::column_of_pandas,
};

/// The quota of labels. A list goes by the order of labels, so it is refused for those that are in another.
pub(crate) fn quota(
    labels: &Bound<'_, PyAny>,
    partition: &partition_dpp::Partition,
    quota: &Bound<'_, PyAny>,
    k: Option<usize>,
) -> PyResult<partition_dpp::Quota> {
    let is_other = quota.is_instance_of::<PyString>() || quota.is_instance_of::<Quota>();
    if !is_other
        && quota::named(quota)?.is_none()
        && let Some(order) = order(labels)?
    {
        let known = partition.names();
        let mut own: Vec<&String> = Vec::new();
        for name in order.iter().filter(|name| known.contains(name)) {
            if !own.contains(&name) {
                own.push(name);
            }
        }
        if !own.iter().copied().eq(known) {
            return Err(refused(format!(
                "the labels have the order {own:?}, but a list of quotas uses {known:?}: write the quota as a dictionary by label"
            )));
        }
    }
    quota::resolve(partition, quota, k)
}

/// The parts of labels, if given, and the sets that a quota or a size allows.
pub(crate) fn sets(
    labels: Option<&Bound<'_, PyAny>>,
    quota: Option<&Bound<'_, PyAny>>,
    k: Option<usize>,
) -> PyResult<(Option<partition_dpp::Partition>, Sets)> {
    let partition = labels.map(labels::partition).transpose()?;
    let sets = match (labels.zip(partition.as_ref()), quota, k) {
        (Some((labels, partition)), Some(quota), k) => {
            Sets::Quota(partition.clone(), self::quota(labels, partition, quota, k)?)
        }
        (None, Some(_), _) => return Err(refused("a quota needs labels, the part of each item")),
        (_, None, Some(k)) => Sets::OfSize(k),
        (_, None, None) => Sets::OfAnySize,
    };
    Ok((partition, sets))
}

/// The categories of ordered labels: of pandas, of an enumeration of polars, or of a dictionary of Arrow.
pub(crate) fn order(labels: &Bound<'_, PyAny>) -> PyResult<Option<Vec<String>>> {
    if let Ok(known) = labels.cast::<Partition>() {
        return Ok(known.get().order.clone());
    }
    if let Some(column) = only_column(labels)? {
        return order(&column);
    }
    let is_ordered = |kind: &Bound<'_, PyAny>| {
        kind.getattr("ordered").is_ok_and(|ordered| ordered.is_truthy().unwrap_or(false))
    };
    let of_names = |names: Bound<'_, PyAny>| {
        names.try_iter()?.map(|name| name_of(&name?)).collect::<PyResult<Vec<_>>>().map(Some)
    };
    if let Ok(kind) = labels.getattr("dtype") {
        let is_enumeration = kind.get_type().name()?.to_cow()? == "Enum";
        if is_ordered(&kind) || is_enumeration {
            return of_names(kind.getattr("categories")?);
        }
        // A dictionary of Arrow in a series of pandas.
        if kind.getattr("pyarrow_dtype").is_ok_and(|kind| is_ordered(&kind)) {
            return order(&labels.py().import("pyarrow")?.call_method1("array", (labels,))?);
        }
    }
    match labels.getattr("type") {
        Ok(kind) if is_ordered(&kind) => {
            let whole = labels.call_method0("combine_chunks").unwrap_or_else(|_| labels.clone());
            of_names(whole.getattr("dictionary")?.call_method0("to_pylist")?)
        }
        _ => Ok(None),
    }
}

/// The only column of a table of pandas, polars or Arrow.
fn only_column<'py>(labels: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    if let Some(column) = column_of_pandas(labels)? {
        return Ok(Some(column));
    }
    let columns = match (labels.hasattr("get_columns")?, labels.hasattr("itercolumns")?) {
        (true, _) => labels.call_method0("get_columns")?,
        (_, true) => labels.getattr("columns")?,
        _ => return Ok(None),
    };
    if columns.len()? == 1 { columns.get_item(0).map(Some) } else { Ok(None) }
}
