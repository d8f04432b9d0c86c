//! The GPU engine: WGSL compute shaders through wgpu, in f32 or f64.

mod arithmetic;
mod auto;
mod buffers;
mod candidate_determinants;
mod context;
mod copy_rate;
mod gain_update;
mod grid_determinants;
mod kernels;
mod options;
mod pace;
mod part_grams;
mod project_rows;
mod range;
mod resident;
mod row_forms;
mod row_norms;
mod submissions;
mod swap_gains;
mod swap_table;
mod whiten_rows;

use std::{
    fmt,
    sync::{Arc, PoisonError},
};

use faer::{Mat, MatRef};

pub(in crate::engine) use auto::worthwhile;
pub use options::{AdapterSummary, GpuOptions, summaries};
#[doc(hidden)]
pub use submissions::Fault;

use self::{
    buffers::{Lease, size_of},
    context::Context,
    kernels::Kernel,
    resident::{Chunk, DeviceGroup, Resident},
    submissions::Work,
};
use super::{
    CandidateGrid, CandidateSums, Engine, EngineInfo, GainTable, GridPoint, GridRequest, PhaseGrid,
    Precision, RowMap, Rows, SwapTable,
};
use crate::Result;

/// A graphics device.
///
/// Rows of features go to the device once, scaled and in its precision, and stay there as long as the features
/// live; tables of gains and exchanges live there too. What is small and delicate stays on the host in f64:
/// eigen-decompositions, sums over groups, logarithms, random numbers.
///
/// # Numerics
/// In f64 (Vulkan adapters that have it, and whose arithmetic passes a test when they are opened) as the CPU. In f32 every verb is off by about 1e-7 times the square root of
/// the number of terms of its sums; Gram matrices are summed in f64 over runs of rows. Single precision changes the
/// law of samplers, who then say so; greedy and local search decide in f64 between what single precision cannot
/// tell apart, and their determinants are always computed from the data in f64.
///
/// # Errors
/// A device that is lost or does not finish in time, too little memory, a limit that is exceeded, commands that are
/// refused, results that are not finite, and numbers beyond single precision are errors of the verb at work
/// ([`DeviceProblem`](crate::error::DeviceProblem)), never panics.
///
/// # Examples
/// ```
/// use partition_dpp::{Error, engine::{Engine, gpu::{Gpu, GpuOptions}}, error::DeviceProblem};
/// match Gpu::new(&GpuOptions::default()) {
///     Ok(gpu) => println!("{:?}", gpu.info()),
///     Err(Error::Device(DeviceProblem::NoAdapter { reason })) => println!("the CPU, then: {reason}"),
///     Err(other) => panic!("{other}"),
/// }
/// ```
#[derive(Clone)]
pub struct Gpu {
    inner: Arc<Inner>,
}

struct Inner {
    context: Context,
    resident: Resident,
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gpu").field("info", &self.inner.context.info()).finish()
    }
}

impl Gpu {
    /// Opens an adapter.
    ///
    /// # Errors
    /// - [`DeviceProblem::NoAdapter`](crate::error::DeviceProblem::NoAdapter) if there is none, or none of that name;
    /// - [`DeviceProblem::NoDoublePrecision`](crate::error::DeviceProblem::NoDoublePrecision) and
    ///   [`DeviceProblem::InaccurateDoublePrecision`](crate::error::DeviceProblem::InaccurateDoublePrecision) if f64 was asked
    ///   for in vain.
    pub fn new(options: &GpuOptions) -> Result<Self> {
        Ok(Self::of(Context::open(options)?))
    }

    /// On a device that the application has opened. f64 needs its feature `SHADER_F64`, and arrays are cut to its
    /// limits. The callbacks of the device stay the application's.
    ///
    /// # Errors
    /// [`DeviceProblem::NoDoublePrecision`](crate::error::DeviceProblem::NoDoublePrecision) and
    /// [`DeviceProblem::InaccurateDoublePrecision`](crate::error::DeviceProblem::InaccurateDoublePrecision) if f64 was asked for
    /// in vain.
    pub fn from_device(device: wgpu::Device, queue: wgpu::Queue, options: &GpuOptions) -> Result<Self> {
        Ok(Self::of(Context::on(device, queue, options)?))
    }

    fn of(context: Context) -> Self {
        Self { inner: Arc::new(Inner { context, resident: Resident::default() }) }
    }

    /// How often each shader ran, by the name of its verb.
    #[must_use]
    pub fn dispatches(&self) -> Vec<(&'static str, u64)> {
        Kernel::ALL.iter().map(|&kernel| (kernel.stem(), self.context().dispatches(kernel))).collect()
    }

    /// Bytes that the device reads and writes in a second when it copies: the ceiling of what reads or writes much and
    /// computes little.
    ///
    /// # Errors
    /// Those of the device.
    pub fn copy_rate(&self) -> Result<f64> {
        copy_rate::copy_rate(self.context())
    }

    /// The shaders in a precision, whole: the verb's name, and the text.
    #[must_use]
    pub fn shaders(precision: Precision) -> Vec<(&'static str, String)> {
        Kernel::ALL.iter().map(|kernel| (kernel.stem(), kernel.source(precision))).collect()
    }

    /// Bytes that the threads of a workgroup share in each shader.
    #[doc(hidden)]
    #[must_use]
    pub fn workgroup_memory(precision: Precision) -> Vec<(&'static str, u64)> {
        Kernel::ALL.iter().map(|kernel| (kernel.stem(), kernel.workgroup_memory(precision))).collect()
    }

    /// Fakes a failure of the device from now on: for tests that want to see it noticed.
    #[doc(hidden)]
    pub fn fake(&self, fault: Fault) {
        *self.context().submissions.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault);
    }

    fn context(&self) -> &Context {
        &self.inner.context
    }

    fn resident(&self) -> &Resident {
        &self.inner.resident
    }

    /// Does something on the device; once more with nothing else there if its memory is full.
    fn with_room<T>(&self, what: &'static str, work: impl Fn() -> Result<T>) -> Result<T> {
        match self.context().checked(what, &work) {
            Err(crate::Error::Device(crate::error::DeviceProblem::Memory { .. })) => {
                self.resident().clear();
                self.context().pool.clear();
                self.context().checked(what, &work)
            }
            outcome => outcome,
        }
    }

    /// So many values for every row, group after group: `record` dispatches one chunk and says what its answers are to
    /// be multiplied by. The device works on the first chunks while others are on their way; answers are read together.
    fn map_rows(
        &self,
        what: &'static str,
        rows: &Rows<'_>,
        width: usize,
        record: impl Fn(&Context, &mut Work, usize, &DeviceGroup, &Chunk, &Lease) -> Result<f64>,
    ) -> Result<Vec<f64>> {
        /// Bytes of answers that may wait on the device.
        const MOST_WAITING: u64 = 1 << 28;
        let context = self.context();
        let read = |answers: &mut Vec<(Lease, u64, f64)>, values: &mut Vec<f64>| -> Result<()> {
            let parts: Vec<(&wgpu::Buffer, u64, u64)> =
                answers.iter().map(|(out, bytes, _)| (&**out, 0, *bytes)).collect();
            let found = context.download(context.work(what), &parts)?;
            for (bytes, (_, _, unit)) in found.iter().zip(answers.drain(..)) {
                values.extend(context.values(what, bytes)?.into_iter().map(|x| x * unit));
            }
            Ok(())
        };
        self.with_room(what, || {
            let (mut answers, mut values) = (Vec::new(), Vec::with_capacity(rows.len() * width));
            for number in 0..rows.groups().len() {
                let group = self.resident().group(context, rows, number)?;
                for chunk in &group.chunks {
                    let out = context.reals(chunk.len * width);
                    let mut work = context.work(what);
                    let unit = record(context, &mut work, number, &group, chunk, &out)?;
                    context.submit(work)?;
                    answers.push((out, (chunk.len * width * size_of(context.precision)) as u64, unit));
                    if answers.iter().map(|(_, bytes, _)| bytes).sum::<u64>() > MOST_WAITING {
                        read(&mut answers, &mut values)?;
                    }
                }
            }
            read(&mut answers, &mut values)?;
            Ok(values)
        })
    }
}

/// A count as a parameter of a shader. Chunks keep all counts within 32 bits.
fn words(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl Engine for Gpu {
    fn info(&self) -> EngineInfo {
        self.context().info()
    }

    fn part_grams(&self, rows: &Rows<'_>, map: Option<&RowMap<'_>>) -> Result<Vec<Mat<f64>>> {
        part_grams::part_grams(self, rows, map)
    }

    fn row_forms(&self, rows: &Rows<'_>, factors: &[MatRef<'_, f64>]) -> Result<Vec<f64>> {
        row_forms::row_forms(self, rows, factors)
    }

    fn whiten_rows(&self, rows: &Rows<'_>, map: &RowMap<'_>) -> Result<Vec<f64>> {
        whiten_rows::whiten_rows(self, rows, map)
    }

    fn grid_determinants(&self, grid: &PhaseGrid<'_>, request: GridRequest) -> Result<Vec<GridPoint>> {
        grid_determinants::grid_determinants(self, grid, request)
    }

    fn candidate_determinants(&self, candidates: &CandidateGrid<'_>) -> Result<CandidateSums> {
        candidate_determinants::candidate_determinants(self, candidates)
    }

    fn project_rows(&self, rows: &mut [f64], direction: &[f64]) -> Result<Vec<f64>> {
        project_rows::project_rows(self, rows, direction)
    }

    fn row_norms(&self, rows: &Rows<'_>) -> Result<Vec<f64>> {
        row_norms::row_norms(self, rows)
    }

    fn gain_table<'e>(&'e self, rows: &Rows<'e>, gains: &[f64]) -> Result<Box<dyn GainTable + 'e>> {
        Ok(Box::new(gain_update::gain_table(self, rows, gains)?))
    }

    fn swap_table<'e>(
        &'e self,
        rows: &Rows<'e>,
        duals: &[MatRef<'_, f64>],
        residuals: &[f64],
    ) -> Result<Box<dyn SwapTable + 'e>> {
        Ok(Box::new(swap_table::swap_table(self, rows, duals, residuals)?))
    }
}
