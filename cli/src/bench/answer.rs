//! Measured times; as JSON, a contract that scripts rely on.

use std::{borrow::Cow, time::Duration};

use partition_dpp::engine::{Precision, gpu::Traffic, low_level::Rates};
use serde::Serialize;

use super::{data::Size, tasks::Task};

/// An engine that is timed.
#[derive(Debug, Serialize)]
pub(crate) struct Timed {
    /// `cpu`, `gpu f64` or `gpu f32`.
    pub(crate) name: &'static str,
    /// The name of a GPU, the interface and the driver.
    pub(crate) adapter: Option<String>,
    pub(crate) backend: Option<Cow<'static, str>>,
    pub(crate) driver: Option<String>,
    #[serde(rename = "software")]
    pub(crate) is_software: bool,
    /// Bytes and operations per second; `None` for software adapters, where they mean nothing.
    pub(crate) peaks: Option<Peaks>,
}

/// The rates of an engine in passes over rows and in products.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Peaks {
    pub(crate) read_bytes_per_second: f64,
    pub(crate) operations_per_second: f64,
    #[serde(skip)]
    pub(crate) rates: Rates,
}

impl From<Rates> for Peaks {
    fn from(rates: Rates) -> Self {
        Self { read_bytes_per_second: rates.read, operations_per_second: rates.multiply, rates }
    }
}

/// One task at one size on one engine.
#[derive(Debug, Serialize)]
pub(crate) struct Measured {
    #[serde(flatten)]
    pub(crate) size: Size,
    pub(crate) task: Task,
    /// Index of the engine.
    pub(crate) engine: usize,
    #[serde(flatten)]
    pub(crate) outcome: Outcome,
}

/// Times, or why there are none.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Outcome {
    Done(Box<Times>),
    Refused { refused: String },
}

/// Times of a task, in seconds, with its rows already on the device.
#[derive(Debug, Serialize)]
pub(crate) struct Times {
    pub(crate) best_seconds: f64,
    pub(crate) mean_seconds: f64,
    pub(crate) deviation_seconds: f64,
    /// Of the first run, in which a GPU gets the rows.
    pub(crate) first_seconds: f64,
    /// Of the device alone, without the host and what goes between them, in one run with rows there.
    pub(crate) device_seconds: Option<f64>,
    /// The predicted time, with the rows on the device.
    pub(crate) predicted_seconds: Option<f64>,
    pub(crate) bytes_per_second: Option<f64>,
    pub(crate) operations_per_second: Option<f64>,
    /// The share of what passes over rows, or products, reach.
    pub(crate) share_of_peak: Option<f64>,
    /// Largest difference of an answer from the CPU's, relative to the largest answer.
    pub(crate) difference: f64,
    /// Whether it is no more than rounding explains.
    pub(crate) right: bool,
    pub(crate) traffic: Option<Exchanged>,
}

/// Traffic between host and device: with rows that are new to it, and with rows that it has.
#[derive(Debug, Serialize)]
pub(crate) struct Exchanged {
    pub(crate) submissions: u64,
    pub(crate) dispatches: u64,
    pub(crate) waits: u64,
    pub(crate) downloaded_bytes: u64,
    pub(crate) uploaded_first_bytes: u64,
    pub(crate) uploaded_again_bytes: u64,
}

impl Exchanged {
    pub(crate) fn of(first: Traffic, again: Traffic) -> Self {
        Self {
            submissions: again.submissions,
            dispatches: again.dispatches,
            waits: again.waits,
            downloaded_bytes: again.downloaded,
            uploaded_first_bytes: first.uploaded,
            uploaded_again_bytes: again.uploaded,
        }
    }
}

/// Seconds of several runs.
#[derive(Clone, Debug)]
pub(crate) struct Runs(pub(crate) Vec<f64>);

impl Runs {
    pub(crate) fn best(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }

    #[expect(clippy::cast_precision_loss, reason = "few runs")]
    pub(crate) fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    /// The standard deviation; 0 of one run.
    #[expect(clippy::cast_precision_loss, reason = "few runs")]
    pub(crate) fn deviation(&self) -> f64 {
        let (mean, others) = (self.mean(), self.0.len().saturating_sub(1).max(1));
        (self.0.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / others as f64).sqrt()
    }
}

/// All measurements.
#[derive(Debug, Serialize)]
pub(crate) struct Run {
    pub(crate) version: &'static str,
    /// The commit that it was built from, where the build says so.
    pub(crate) commit: Option<&'static str>,
    /// Name of the CPU.
    pub(crate) cpu: String,
    pub(crate) threads: usize,
    pub(crate) repeat: usize,
    pub(crate) engines: Vec<Timed>,
    /// Why no GPU was timed.
    pub(crate) no_device: Option<String>,
    pub(crate) measured: Vec<Measured>,
}

impl Run {
    /// The times of a task on the CPU.
    pub(crate) fn on_cpu(&self, of: &Measured) -> Option<&Times> {
        let same = |other: &&Measured| other.engine == 0 && other.size == of.size && other.task == of.task;
        self.measured.iter().find(same)?.times()
    }
}

impl Measured {
    pub(crate) fn times(&self) -> Option<&Times> {
        match &self.outcome {
            Outcome::Done(times) => Some(times),
            Outcome::Refused { .. } => None,
        }
    }
}

impl Times {
    /// The time that bringing the rows adds.
    pub(crate) fn upload(&self) -> Duration {
        Duration::from_secs_f64((self.first_seconds - self.best_seconds).max(0.0))
    }
}

/// The name of a precision on a GPU.
pub(crate) fn name_of(precision: Precision) -> &'static str {
    match precision {
        Precision::F64 => "gpu f64",
        _ => "gpu f32",
    }
}
