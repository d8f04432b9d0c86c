//! Samples from a stream of trials.

use std::time::Instant;

use numpy::PyArray1;
use partition_dpp::{Error, Watch, stream};
use pyo3::{exceptions::PyTypeError, prelude::*};

use super::{Plan, Trials};
use crate::{errors::OrRaise, interruptible::INTERVAL, numbers, recipe::Pickled};

/// Draws exact samples from a stream of trials.
#[pyclass(module = "partition_dpp.streams")]
pub(crate) struct StreamSampler(pub(super) stream::StreamSampler);

#[pymethods]
impl StreamSampler {
    #[new]
    #[pyo3(signature = (plan, seed, request = None))]
    fn new(
        plan: &Plan,
        #[pyo3(from_py_with = numbers::whole)] seed: u64,
        #[pyo3(from_py_with = numbers::optional)] request: Option<u64>,
    ) -> PyResult<Self> {
        let sampler = stream::StreamSampler::new(&plan.0, seed).or_raise()?;
        Ok(Self(match request {
            Some(request) => sampler.with_request(request),
            None => sampler,
        }))
    }

    /// The next sample, as arrays of batches, rows and parts; or, for want of trials, how many to bring and with what seed.
    fn step<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        let found = loop {
            // A step that ends is resumed: signals are looked for meanwhile.
            let watch = Watch::default().until(Instant::now() + INTERVAL);
            match py.detach(|| self.0.step_watched(&watch)) {
                Err(Error::Ended(_)) => py.check_signals()?,
                found => break found.or_raise()?,
            }
        };
        match found {
            stream::Step::Drawn(draw) => {
                let of = |number: fn(&stream::Place) -> u64| {
                    PyArray1::from_iter(py, draw.items.iter().map(number))
                };
                let numbers =
                    [of(|place| place.batch), of(|place| place.row.into()), of(|place| place.part.into())];
                Ok((Some(numbers), None))
            }
            stream::Step::Needs(request) => Ok((None, Some((request.count, request.seed)))),
        }
    }

    /// Takes the trials that were asked for.
    fn feed(&mut self, trials: &Trials) -> PyResult<()> {
        self.0.feed(trials.0.clone()).or_raise()
    }

    #[expect(clippy::unused_self, reason = "Python calls it as a method")]
    fn __reduce__(&self) -> PyResult<Pickled<'_>> {
        Err(PyTypeError::new_err(
            "a StreamSampler cannot be pickled between draws: pickle the plan and create a new sampler from it",
        ))
    }

    /// Proposals so far.
    #[getter]
    fn proposals(&self) -> u64 {
        self.0.proposals()
    }

    /// Trials used so far.
    #[getter]
    fn trials(&self) -> u64 {
        self.0.trials()
    }
}

/// One sample, or a request for trials.
type Next<'py> = (Option<[Bound<'py, PyArray1<u64>>; 3]>, Option<(u64, u64)>);
