//! The native module of the Python package `partition_dpp`: classes that mirror the library. Their arguments and results are
//! documented in `python/partition_dpp/_native.pyi`.

mod arrays;
mod arrow;
mod design;
mod engines;
mod errors;
mod features;
mod inference;
mod interruptible;
mod kernel_model;
mod labels;
mod models;
mod numbers;
mod ordered;
mod quota;
mod recipe;
mod rows;
mod sampler;
mod solution;
mod solvers;
mod streams;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::{
        design::Design,
        errors::IllConditioned,
        features::Features,
        inference::Inference,
        kernel_model::KernelModel,
        labels::Partition,
        models::{Dpp, KDpp, Model, PartitionDpp},
        quota::Quota,
        sampler::Sampler,
        solution::Solution,
        streams::{
            Batch, CoreSet, CoreSetUnion, Frame, Grams, Marginals, Plan, Representation, StreamSampler,
            Trials,
        },
    };

    use std::{
        ffi::OsString,
        sync::atomic::{AtomicBool, Ordering},
    };

    use super::{PyModule, PyResult, Python};
    use pyo3::{Bound, exceptions::PyRuntimeError, pyfunction, types::PyModuleMethods};

    /// Runs the command line; the first argument is the name of the program. Returns the exit status.
    ///
    /// It catches signals for good, so that a process can run it once.
    #[pyfunction]
    fn _command_line(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<u8> {
        static HAS_RUN: AtomicBool = AtomicBool::new(false);
        if HAS_RUN.swap(true, Ordering::Relaxed) {
            return Err(PyRuntimeError::new_err("a process runs the command line once"));
        }
        Ok(py.detach(|| pdpp::process(arguments)))
    }

    /// Says that there is no standard output. Returns the exit status.
    #[pyfunction]
    fn _refuse_closed_output() -> u8 {
        pdpp::refuse_closed_output()
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
