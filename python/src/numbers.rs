//! Numbers and words that Python hands over.

use pyo3::{
    exceptions::{PyOverflowError, PyTypeError, PyValueError},
    prelude::*,
    types::{PyBool, PyString},
};

use crate::errors::refused;

/// The most characters of a value in a message.
const SHOWN: usize = 80;

/// A number of items or samples, an item, or a seed: a whole number from 0 to 2⁶⁴ − 1.
pub(crate) fn whole<T: TryFrom<u64>>(value: &Bound<'_, PyAny>) -> PyResult<T> {
    let wrong = || refused(format!("{} is not a whole number from 0 to 2**64 - 1", shown(value)));
    if value.is_instance_of::<PyBool>() {
        return Err(wrong());
    }
    let number = value.extract::<u64>().map_err(|error| of_mistake(value, error, wrong))?;
    T::try_from(number).map_err(|_| wrong())
}

/// The same, or none.
pub(crate) fn optional<T: TryFrom<u64>>(value: &Bound<'_, PyAny>) -> PyResult<Option<T>> {
    if value.is_none() { Ok(None) } else { whole(value).map(Some) }
}

/// An argument that is a number, or none.
fn real(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
    if value.is_none() {
        return Ok(None);
    }
    let wrong = || refused(format!("{name} is {}; it must be a number", shown(value)));
    if value.is_instance_of::<PyBool>() {
        return Err(wrong());
    }
    value.extract::<f64>().map(Some).map_err(|error| of_mistake(value, error, wrong))
}

macro_rules! reals {
    ($($name:ident),*) => {$(
        /// The argument of this name.
        pub(crate) fn $name(value: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
            real(stringify!($name), value)
        }
    )*};
}

reals!(bandwidth, diversity, law_error, representation, ridge, time_limit);

/// Whether a certificate is wanted.
pub(crate) fn certify(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let wrong = || refused(format!("certify is {}; it must be True or False", shown(value)));
    value.extract::<bool>().map_err(|error| of_mistake(value, error, wrong))
}

/// One of some words: anything else is shown in the message that refuses it.
pub(crate) fn word(value: &Bound<'_, PyAny>) -> String {
    match value.cast::<PyString>().map(PyStringMethods::to_cow) {
        Ok(Ok(text)) => text.into_owned(),
        _ => shown(value),
    }
}

/// A value as Python shows it, in one line and in short.
pub(crate) fn shown(value: &Bound<'_, PyAny>) -> String {
    // Integers of thousands of digits are not shown at all.
    let kind = || value.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string());
    let text = value.repr().map_or_else(|_| kind(), |text| text.to_string());
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

/// The exception to raise if a value has another type or size; exceptions of the value itself pass through.
pub(crate) fn of_mistake(value: &Bound<'_, PyAny>, error: PyErr, wrong: impl Fn() -> PyErr) -> PyErr {
    let py = value.py();
    let is_mistake = error.is_instance_of::<PyTypeError>(py)
        || error.is_instance_of::<PyOverflowError>(py)
        || error.is_instance_of::<PyValueError>(py);
    if is_mistake { wrong() } else { error }
}
