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

    use super::{PyModule, PyResult, Python};
    use pyo3::{Bound, pyfunction, types::PyModuleMethods};

    /// Runs the command line; the first argument is the name of the program. Returns the exit status.
    #[pyfunction]
    fn _command_line(py: Python<'_>, arguments: Vec<String>) -> u8 {
        py.detach(|| pdpp::process(arguments))
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
