//! How objects pickle: as their bytes, or as the call that made them, so that what they were given is read again and set-ups
//! are computed again.

use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict, PyTuple},
};

use crate::errors::refused;

/// The call that made an object. It keeps what the object was given.
pub(crate) struct Recipe {
    call: Py<PyAny>,
    arguments: Py<PyTuple>,
    keywords: Py<PyDict>,
}

/// A callable and its arguments, as `__reduce__` returns them.
pub(crate) type Pickled<'py> = (Bound<'py, PyAny>, Bound<'py, PyTuple>);

impl Recipe {
    /// A call of a class, or of a method of an object that pickles, too.
    pub(crate) fn new(
        call: &Bound<'_, PyAny>,
        arguments: Bound<'_, PyTuple>,
        keywords: Bound<'_, PyDict>,
    ) -> Self {
        let call = call.clone().unbind();
        Self { call, arguments: arguments.unbind(), keywords: keywords.unbind() }
    }

    /// A call without keywords.
    pub(crate) fn plain(call: &Bound<'_, PyAny>, arguments: Bound<'_, PyTuple>) -> Self {
        Self::new(call, arguments, PyDict::new(call.py()))
    }

    /// The call, with its keywords bound.
    pub(crate) fn pickled<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        let partial = py.import("functools")?.getattr("partial")?;
        let call = partial.call((self.call.bind(py),), Some(self.keywords.bind(py)))?;
        Ok((call, self.arguments.bind(py).clone()))
    }
}

/// An object that another function reads from bytes.
pub(crate) fn of_bytes<'py>(read: Bound<'py, PyAny>, bytes: Bound<'py, PyBytes>) -> PyResult<Pickled<'py>> {
    let arguments = (bytes,).into_pyobject(read.py())?;
    Ok((read, arguments))
}

/// The call of an object that core-sets may have made instead.
pub(crate) fn pickled<'py>(known: Option<&Recipe>, py: Python<'py>) -> PyResult<Pickled<'py>> {
    known.ok_or_else(|| refused("what core-sets hold cannot be pickled: pickle the core-sets"))?.pickled(py)
}
