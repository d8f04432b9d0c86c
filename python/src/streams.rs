//! Samples of rows that lie elsewhere: what is computed where the rows are, and what the driver makes of it.

use numpy::PyArray1;
use partition_dpp::{
    CountRange,
    engine::{Cpu, Watched},
    stream,
};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict, PyType},
};

use crate::{
    errors::{OrRaise, refused},
    features,
    interruptible::interruptible,
    labels,
    quota::count_range,
};

/// A batch of rows with their labels, and its number.
#[pyclass(frozen, module = "partition_dpp.streams")]
pub(crate) struct Batch(pub(crate) stream::Batch<'static>);

#[pymethods]
impl Batch {
    #[new]
    #[pyo3(signature = (number, features, labels = None))]
    fn new(number: u64, features: &Bound<'_, PyAny>, labels: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let rows = features::of(features)?;
        let partition = match labels {
            Some(labels) => labels::partition(labels)?,
            None => partition_dpp::Partition::of(std::iter::repeat_n(ALL, rows.items())).or_raise()?,
        };
        stream::Batch::new(number, &rows, &partition).or_raise().map(Self)
    }

    /// A batch without rows.
    #[staticmethod]
    fn empty(number: u64) -> Self {
        Self(stream::Batch::empty(number))
    }

    #[getter]
    fn number(&self) -> u64 {
        self.0.number()
    }

    fn __len__(&self) -> usize {
        self.0.rows()
    }
}

/// The name of the part of rows without labels.
const ALL: &str = "all items";

/// Sums over the rows of every part.
#[pyclass(frozen, module = "partition_dpp.streams")]
pub(crate) struct Grams(stream::Grams);

#[pymethods]
impl Grams {
    /// Sums over no rows.
    #[new]
    fn new() -> Self {
        Self(stream::Grams::default())
    }

    /// The sums of one batch; in a frame, more accurate.
    #[staticmethod]
    #[pyo3(signature = (batch, frame = None))]
    fn of_batch(py: Python<'_>, batch: &Batch, frame: Option<&Frame>) -> PyResult<Self> {
        let made = interruptible(py, None, |watch| {
            let engine = Watched::new(&Cpu, watch);
            match frame {
                Some(frame) => stream::Grams::in_frame(&batch.0, &frame.0, &engine),
                None => stream::Grams::of_batch(&batch.0, &engine),
            }
        })?;
        made.or_raise().map(Self)
    }

    /// The sums of both.
    fn merge(&self, other: &Self) -> PyResult<Self> {
        self.0.clone().merge(other.0.clone()).or_raise().map(Self)
    }

    /// A frame in which sums are more accurate.
    fn frame(&self) -> PyResult<Frame> {
        self.0.frame().or_raise().map(Frame)
    }

    #[getter]
    fn rows(&self) -> u64 {
        self.0.rows()
    }

    #[getter]
    fn dims(&self) -> usize {
        self.0.dims()
    }

    /// How many rows every part has.
    #[getter]
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let parts = PyDict::new(py);
        self.0.parts().try_for_each(|part| parts.set_item(part.name, part.rows))?;
        Ok(parts)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        stream::Grams::from_bytes(bytes).or_raise().map(Self)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        pickled(slf.get_type(), slf.get().to_bytes(slf.py()))
    }
}

/// Where sums are more accurate.
#[pyclass(frozen, module = "partition_dpp.streams")]
pub(crate) struct Frame(stream::Frame);

#[pymethods]
impl Frame {
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        stream::Frame::from_bytes(bytes).or_raise().map(Self)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        pickled(slf.get_type(), slf.get().to_bytes(slf.py()))
    }
}

/// What the driver tells the batches of a law.
#[pyclass(frozen, module = "partition_dpp.streams")]
pub(crate) struct Plan(stream::Plan);

#[pymethods]
impl Plan {
    /// The plan of a quota by part, of k items, or of sets of any size.
    #[new]
    #[pyo3(signature = (grams, quota = None, k = None))]
    fn new(
        py: Python<'_>,
        grams: &Grams,
        quota: Option<&Bound<'_, PyAny>>,
        k: Option<usize>,
    ) -> PyResult<Self> {
        let grams = &grams.0;
        let quota = quota.map(|quota| resolve(grams, quota, k)).transpose()?;
        let made = interruptible(py, None, |_| match (&quota, k) {
            (Some(quota), _) => stream::Plan::partition_dpp(grams, quota),
            (None, Some(k)) => stream::Plan::k_dpp(grams, k),
            (None, None) => stream::Plan::dpp(grams),
        })?;
        made.or_raise().map(Self)
    }

    /// The sum of the leverages of a batch.
    fn total_leverage(&self, py: Python<'_>, batch: &Batch) -> PyResult<f64> {
        interruptible(py, None, |watch| self.0.total_leverage(&batch.0, &Watched::new(&Cpu, watch)))?
            .or_raise()
    }

    /// How many of `count` trials every batch draws, given the totals of all.
    fn split(&self, totals: Vec<f64>, count: u64, seed: u64) -> PyResult<Vec<u64>> {
        self.0.split(&totals, count, seed).or_raise()
    }

    /// Independent draws of rows of a batch.
    fn trials(&self, py: Python<'_>, batch: &Batch, count: u64, seed: u64) -> PyResult<Trials> {
        let made = interruptible(py, None, |watch| {
            self.0.trials(&batch.0, count, seed, &Watched::new(&Cpu, watch))
        })?;
        made.or_raise().map(Trials)
    }

    /// The parts, in the order of their numbers in draws.
    #[getter]
    fn parts(&self) -> Vec<String> {
        self.0.parts().map(ToOwned::to_owned).collect()
    }

    #[getter]
    fn rows(&self) -> u64 {
        self.0.rows()
    }

    #[getter]
    fn rank(&self) -> usize {
        self.0.rank()
    }

    #[getter]
    fn law_error(&self) -> f64 {
        self.0.law_error()
    }

    /// Whether sums in a frame would make the law more accurate.
    #[getter]
    fn wants_frame(&self) -> bool {
        self.0.wants_frame()
    }

    #[getter]
    fn expected_proposals(&self) -> f64 {
        self.0.expected_proposals()
    }

    /// Trials per sample on average, known before drawing.
    #[getter]
    fn expected_trials(&self) -> f64 {
        self.0.expected_trials()
    }

    /// Bytes of a trial.
    #[getter]
    fn trial_bytes(&self) -> usize {
        self.0.trial_bytes()
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        stream::Plan::from_bytes(bytes).or_raise().map(Self)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        pickled(slf.get_type(), slf.get().to_bytes(slf.py()))
    }
}

/// ln Z, and what inclusion probabilities are of rows.
#[pyclass(frozen, module = "partition_dpp.streams")]
pub(crate) struct Marginals(stream::Marginals);

#[pymethods]
impl Marginals {
    /// Those of a quota by part, of k items, or of sets of any size.
    #[new]
    #[pyo3(signature = (grams, quota = None, k = None))]
    fn new(
        py: Python<'_>,
        grams: &Grams,
        quota: Option<&Bound<'_, PyAny>>,
        k: Option<usize>,
    ) -> PyResult<Self> {
        let grams = &grams.0;
        let quota = quota.map(|quota| resolve(grams, quota, k)).transpose()?;
        let made = interruptible(py, None, |_| match (&quota, k) {
            (Some(quota), _) => stream::Marginals::partition_dpp(grams, quota),
            (None, Some(k)) => stream::Marginals::k_dpp(grams, k),
            (None, None) => stream::Marginals::dpp(grams),
        })?;
        made.or_raise().map(Self)
    }

    /// Pr(i ∈ S) for every row of a batch.
    fn of_batch<'py>(&self, py: Python<'py>, batch: &Batch) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let found = interruptible(py, None, |watch| self.0.of_batch(&batch.0, &Watched::new(&Cpu, watch)))?
            .or_raise()?;
        Ok(PyArray1::from_vec(py, found.value))
    }

    /// ln Z.
    #[getter]
    fn log_z(&self) -> f64 {
        self.0.log_partition_function().value
    }

    /// The estimated error of ln Z.
    #[getter]
    fn log_z_error(&self) -> f64 {
        self.0.log_partition_function().error
    }

    /// The estimated error of every inclusion probability.
    #[getter]
    fn error(&self) -> f64 {
        self.0.error()
    }

    /// Whether sums in a frame would make it more accurate.
    #[getter]
    fn wants_frame(&self) -> bool {
        self.0.wants_frame()
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        stream::Marginals::from_bytes(bytes).or_raise().map(Self)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        pickled(slf.get_type(), slf.get().to_bytes(slf.py()))
    }
}

/// Draws of rows.
#[pyclass(frozen, module = "partition_dpp.streams")]
pub(crate) struct Trials(stream::Trials);

#[pymethods]
impl Trials {
    #[staticmethod]
    fn concatenate(lists: Vec<PyRef<'_, Self>>) -> PyResult<Self> {
        stream::Trials::concatenate(lists.iter().map(|list| list.0.clone())).or_raise().map(Self)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        stream::Trials::from_bytes(bytes).or_raise().map(Self)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Pickled<'py>> {
        pickled(slf.get_type(), slf.get().to_bytes(slf.py()))
    }
}

/// Draws exact samples from a stream of trials.
#[pyclass(module = "partition_dpp.streams")]
pub(crate) struct StreamSampler(stream::StreamSampler);

#[pymethods]
impl StreamSampler {
    #[new]
    #[pyo3(signature = (plan, seed, request = None))]
    fn new(plan: &Plan, seed: u64, request: Option<u64>) -> PyResult<Self> {
        let sampler = stream::StreamSampler::new(&plan.0, seed).or_raise()?;
        Ok(Self(match request {
            Some(request) => sampler.with_request(request),
            None => sampler,
        }))
    }

    /// The next sample, as arrays of batches, rows and parts; or, for want of trials, how many to bring and with what seed.
    fn step<'py>(&mut self, py: Python<'py>) -> PyResult<Next<'py>> {
        match py.detach(|| self.0.step()).or_raise()? {
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

/// A sample, or a request.
type Next<'py> = (Option<[Bound<'py, PyArray1<u64>>; 3]>, Option<(u64, u64)>);

/// How an object is unpickled.
pub(crate) type Pickled<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>,));

pub(crate) fn pickled<'py>(class: Bound<'py, PyType>, bytes: Bound<'py, PyBytes>) -> PyResult<Pickled<'py>> {
    Ok((class.getattr("from_bytes")?, (bytes,)))
}

/// The quota of parts that the batches have: a dictionary by label, `"equal"` or `"proportional"`.
fn resolve(
    grams: &stream::Grams,
    quota: &Bound<'_, PyAny>,
    total: Option<usize>,
) -> PyResult<partition_dpp::Quota> {
    let named = quota.cast::<PyDict>().map_err(|_| {
        refused(
            "the quota of batches is a dictionary by label: which labels there are is known only afterwards",
        )
    })?;
    let entry = |(label, entry): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        Ok::<(String, CountRange), PyErr>((labels::name_of(&label)?, count_range(&entry)?.0))
    };
    let entries = named.iter().map(entry).collect::<PyResult<Vec<_>>>()?;
    let quota = grams.quota(entries).or_raise()?;
    match total {
        Some(total) => quota.with_total(total).or_raise(),
        None => Ok(quota),
    }
}
