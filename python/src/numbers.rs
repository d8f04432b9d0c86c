//! Numbers that Python hands over.

use pyo3::{prelude::*, types::PyBool};

use crate::errors::refused;

/// A number of items or samples, an item, or a seed: a whole number from 0 to 2⁶⁴ − 1.
pub(crate) fn whole<T: TryFrom<u64>>(value: &Bound<'_, PyAny>) -> PyResult<T> {
    let number = if value.is_instance_of::<PyBool>() { None } else { value.extract::<u64>().ok() };
    let wrong = || {
        let value = value.repr().map_or_else(|_| "?".into(), |text| text.to_string());
        refused(format!("{value} is not a whole number from 0 to 2**64 - 1"))
    };
    T::try_from(number.ok_or_else(wrong)?).map_err(|_| wrong())
}

/// The same, or none.
pub(crate) fn optional<T: TryFrom<u64>>(value: &Bound<'_, PyAny>) -> PyResult<Option<T>> {
    if value.is_none() { Ok(None) } else { whole(value).map(Some) }
}
