//! The library's errors as Python's exceptions, with the same sentences.

use partition_dpp::{Error, error::ErrorKind, watch::Ended};
use pyo3::{
    PyErr, PyResult,
    exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyTimeoutError, PyValueError},
};

pyo3::create_exception!(
    partition_dpp,
    IllConditioned,
    PyValueError,
    "Rounding makes the answer inaccurate: the rows are nearly dependent, or of very different lengths."
);

/// The exception of an error: `ValueError` unless it is about a file, a device, or time.
pub(crate) fn exception(error: &Error) -> PyErr {
    let sentence = error.to_string();
    match (error.kind(), error) {
        (ErrorKind::Io, _) => PyOSError::new_err(sentence),
        (ErrorKind::Device, _) => PyRuntimeError::new_err(sentence),
        (ErrorKind::Numerics, _) => IllConditioned::new_err(sentence),
        (_, Error::Ended(Ended::Interrupted)) => PyKeyboardInterrupt::new_err(()),
        (ErrorKind::Ended, _) => PyTimeoutError::new_err(sentence),
        _ => PyValueError::new_err(sentence),
    }
}

/// A refusal of the package's own.
pub(crate) fn refused(sentence: impl Into<String>) -> PyErr {
    PyValueError::new_err(sentence.into())
}

/// Results of the library in Python.
pub(crate) trait OrRaise<T> {
    /// The value, or the exception to raise.
    fn or_raise(self) -> PyResult<T>;
}

impl<T> OrRaise<T> for partition_dpp::Result<T> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| exception(&error))
    }
}
