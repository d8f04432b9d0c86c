//! The rates of an engine, and the times predicted from them.

use std::fmt;

use super::job::{Job, On};

/// The rates of an engine, per second.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Bytes that passes over rows read and write.
    pub read: f64,
    /// Floating-point operations of products of matrices.
    pub multiply: f64,
    /// Floating-point operations of determinants of complex matrices with [`ORDERS`] rows.
    pub eliminate: [f64; 2],
    /// Additional costs, if the engine is a GPU.
    pub gpu: Option<GpuRates>,
}

/// Costs that a GPU has and the CPU does not.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GpuRates {
    /// Bytes uploaded per second. If memory is shared, this is the speed of a copy.
    pub upload: f64,
    /// Seconds for an empty submission, including the wait for it.
    pub latency: f64,
    /// Seconds to open the GPU and compile its shaders; 0 if it is open.
    pub opening: f64,
}

/// Rows of the matrices whose determinants are measured. A device keeps small matrices in registers, and large ones in
/// its main memory.
pub(in crate::engine) const ORDERS: [usize; 2] = [32, 96];
/// Maximum number of rows of a small matrix.
const SMALL: f64 = 64.0;

/// Seconds to open a GPU and compile its shaders.
pub(in crate::engine) const OPENING: f64 = 0.3;

impl Rates {
    /// Rates of one thread of the slowest computer considered. A job that it finishes before a GPU is open needs no
    /// measurement.
    pub(in crate::engine) fn slowest_cpu() -> Self {
        Self { read: 2e9, multiply: 1e9, eliminate: [2e8; 2], gpu: None }
    }

    /// Rates that a good GPU of its kind reaches in f64. They show whether a GPU is worth opening, after which it is
    /// measured. An H200 was measured at 6.6e9 (upload), 1.4e12 (read) and 7.8e12 (multiply).
    pub(in crate::engine) fn of_good_gpu(is_discrete: bool) -> Self {
        // By their instructions, large matrices take no longer per operation than small ones.
        let [upload, read, multiply, eliminate] =
            if is_discrete { [12e9, 1.5e12, 8e12, 1.5e12] } else { [15e9, 1e11, 2e11, 4e10] };
        Self {
            read,
            multiply,
            eliminate: [eliminate; 2],
            gpu: Some(GpuRates { upload, latency: 5e-5, opening: OPENING }),
        }
    }

    /// The same rates for a GPU that is already open.
    pub(in crate::engine) fn open(self) -> Self {
        Self { gpu: self.gpu.map(|gpu| GpuRates { opening: 0.0, ..gpu }), ..self }
    }

    /// The predicted seconds of a job whose rows are already uploaded, for benches.
    #[doc(hidden)]
    #[must_use]
    pub fn seconds_of(&self, job: &Job) -> f64 {
        self.time_of(job).computing
    }

    /// The predicted time of a job. Reading and products overlap.
    pub(in crate::engine) fn time_of(&self, job: &Job) -> Time {
        let work = job.work(if self.gpu.is_some() { On::Gpu } else { On::Cpu });
        let [small, large] = self.eliminate;
        let eliminate = if work.order <= SMALL { small } else { large };
        let computing =
            (work.bytes / self.read).max(work.operations / self.multiply) + work.eliminations / eliminate;
        let Some(gpu) = self.gpu else { return Time { computing, ..Time::default() } };
        Time {
            opening: gpu.opening,
            upload: job.bytes / gpu.upload,
            uploaded_bytes: job.bytes,
            // Both directions are taken to be equally fast.
            computing: computing + work.waits * gpu.latency + work.downloaded / gpu.upload,
        }
    }
}

/// A predicted time, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::engine) struct Time {
    pub(super) opening: f64,
    /// Seconds to upload the rows.
    pub(super) upload: f64,
    pub(super) uploaded_bytes: f64,
    pub(super) computing: f64,
}

impl Time {
    pub(in crate::engine) fn seconds(&self) -> f64 {
        self.opening + self.upload + self.computing
    }
}

/// The predicted times of a GPU and of the CPU, displayed as part of a sentence.
pub(in crate::engine) struct Compared {
    pub(in crate::engine) gpu: Time,
    pub(in crate::engine) cpu: Time,
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Time { opening, upload, uploaded_bytes, .. } = self.gpu;
        let mut of_it = Vec::new();
        if opening > 0.0 {
            of_it.push(format!("{} of it to open it", Seconds(opening)));
        }
        if upload > 0.0 {
            of_it.push(format!("{} of it to bring {} there", Seconds(upload), Bytes(uploaded_bytes)));
        }
        let of_it = if of_it.is_empty() { String::new() } else { format!(" ({})", of_it.join(", ")) };
        let (gpu, cpu) = (Seconds(self.gpu.seconds()), Seconds(self.cpu.seconds()));
        write!(f, "the GPU would take {gpu}{of_it}, the CPU {cpu}")
    }
}

/// A time, displayed with two digits.
pub(in crate::engine) struct Seconds(pub(in crate::engine) f64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            x if x >= 9.95 => write!(f, "{x:.0} s"),
            x if x >= 0.0995 => write!(f, "{x:.1} s"),
            x if x >= 0.000_995 => write!(f, "{:.0} ms", 1e3 * x),
            _ => f.write_str("1 ms"),
        }
    }
}

/// A size, displayed in decimal units.
pub(in crate::engine) struct Bytes(pub(in crate::engine) f64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            x if x >= 9.95e9 => write!(f, "{:.0} GB", x / 1e9),
            x if x >= 0.995e9 => write!(f, "{:.1} GB", x / 1e9),
            x => write!(f, "{:.0} MB", (x / 1e6).max(1.0)),
        }
    }
}
