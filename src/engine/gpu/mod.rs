//! The GPU engine: WGSL compute shaders through wgpu, in f32 or f64.

mod arithmetic;
mod auto;
mod buffers;
mod candidate_determinants;
mod context;
mod device_rows;
mod entrants;
mod exponents;
mod filling;
mod gain_update;
mod grid_determinants;
mod grid_forms;
mod item_proposals;
mod leaders;
mod map_rows;
mod options;
mod pace;
mod parameters;
mod part_grams;
mod part_trials;
mod pick_ahead;
mod proposals;
mod range;
mod rates;
mod read_rate;
mod recording;
mod resident;
mod row_factors;
mod row_forms;
mod row_norms;
mod sequential_draws;
mod shaders;
mod slates;
mod stamps;
mod stored;
mod submissions;
mod swap_ahead;
mod swap_gains;
mod swap_table;
mod tiling;
mod traffic;
mod trusted;
mod unit_rows;
#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
mod waiting;
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
#[path = "waiting_in_browsers.rs"]
mod waiting;
mod whiten_rows;
mod witness;

use std::{
    fmt,
    sync::{Arc, PoisonError},
    time::Duration,
};

use faer::{Mat, MatRef};

pub(in crate::engine) use auto::worthwhile;
pub use options::{AdapterSummary, GpuOptions, summaries};
#[doc(hidden)]
pub use submissions::Fault;
pub use traffic::Traffic;

use self::{
    context::Context,
    resident::Resident,
    shaders::{Shader, Variant},
    swap_table::Residuals,
};
use super::{
    Beyond, CandidateGrid, CandidateSums, Engine, EngineInfo, FormGrid, GainTable, GridForms, GridPoint,
    GridRequest, PhaseGrid, Precision, RowMap, Rows, SwapTable, Verbs, cost::Rates,
    proposals::ProposalDevice, slates::SlateDevice,
};
use crate::{Error, Result, error::DeviceProblem};

/// A GPU.
///
/// Rows of features are uploaded once, as they are stored, and stay on the device as long as the features live.
/// Tables of gains and swaps stay there, too. Rows beyond the device's memory are uploaded chunk by chunk.
/// Small and delicate work stays on the host in f64: eigen-decompositions, sums over groups, logarithms, most random
/// numbers.
///
/// # Numerics
/// f64 needs a Vulkan adapter that supports it and passes an arithmetic test when it is opened. It is then as
/// accurate as the CPU. In f32, the error of every verb is about 1e-7 times the square root of the number of terms of
/// its sums. Gram matrices are summed over runs of rows, together with their rounding errors. Single precision
/// changes the law of samplers, which state the error. Greedy and local search decide in f64 between items that
/// single precision cannot distinguish, and they compute determinants from the data in f64.
///
/// # Browsers
/// On wasm32-unknown-unknown the device is the browser's, through WebGPU. A browser may not be blocked, so whatever uses
/// the device must be called through an export marked `#[wasm_bindgen(jspi)]`: the browser suspends it during waits
/// (JavaScript Promise Integration). Submissions have no time limit there.
///
/// # Errors
/// A lost device, a time limit, lack of memory, an exceeded limit, a refused command, results that are not finite,
/// and numbers beyond single precision are errors of the verb ([`DeviceProblem`]), not panics.
///
/// # Examples
/// ```
/// use partition_dpp::{Error, engine::gpu::{Gpu, GpuOptions}, error::DeviceProblem};
/// match Gpu::new(&GpuOptions::default()) {
///     Ok(gpu) => println!("{}", gpu.engine().info()),
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
    /// - [`DeviceProblem::NoAdapter`] if no adapter exists, or none with the requested name;
    /// - [`DeviceProblem::NoDoublePrecision`] if f64 was requested but is missing;
    /// - [`DeviceProblem::Inaccurate`] if a test of the arithmetic fails, in f64 if it was requested, otherwise in
    ///   f32.
    pub fn new(options: &GpuOptions) -> Result<Self> {
        Ok(Self::of(Context::open(options)?))
    }

    /// Uses a device that the application has opened.
    ///
    /// f64 needs the device's feature `SHADER_F64`, and arrays are cut to its limits. The application keeps the
    /// callbacks of the device.
    ///
    /// # Errors
    /// - [`DeviceProblem::NoDoublePrecision`] if f64 was requested but is missing;
    /// - [`DeviceProblem::Inaccurate`] if a test of the arithmetic fails, in f64 if it was requested, otherwise in
    ///   f32.
    pub fn from_device(device: wgpu::Device, queue: wgpu::Queue, options: &GpuOptions) -> Result<Self> {
        Ok(Self::of(Context::on(device, queue, options)?))
    }

    /// The handle that models, samplers and solvers take.
    #[must_use]
    pub fn engine(&self) -> Engine {
        self.clone().into()
    }

    fn of(context: Context) -> Self {
        Self { inner: Arc::new(Inner { context, resident: Resident::default() }) }
    }

    /// The number of shader runs per verb.
    #[must_use]
    pub fn dispatches(&self) -> Vec<(&'static str, u64)> {
        Shader::ALL.iter().map(|&shader| (shader.stem(), self.context().dispatches(shader))).collect()
    }

    /// The traffic between the host and the device so far.
    #[must_use]
    pub fn traffic(&self) -> Traffic {
        self.context().traffic()
    }

    /// The time that the host spent copying rows into memory that the device reads, for benches.
    #[doc(hidden)]
    #[must_use]
    pub fn filling(&self) -> Duration {
        self.context().counters.filling()
    }

    /// Measures the bytes per second that the device reads.
    ///
    /// The device computes the lengths of rows of 64 values in single precision. The rate limits passes that compute
    /// little.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn read_rate(&self) -> Result<f64> {
        read_rate::read_rate(self.context())
    }

    /// Measures the rates of the device, on any adapter, for tests.
    #[doc(hidden)]
    pub fn measured_rates(&self) -> Result<Rates> {
        rates::measured(self)
    }

    /// The complete shaders in a precision, by name and source.
    ///
    /// A name is the verb, followed by the type of the feature rows that the shader reads or by the largest matrix
    /// that it holds.
    #[must_use]
    pub fn shaders(precision: Precision) -> Vec<(&'static str, String)> {
        let variants = Shader::ALL.iter().flat_map(|shader| shader.variants(precision));
        variants.map(|variant: Variant| (variant.name(), variant.source(precision))).collect()
    }

    /// Bytes of workgroup memory per shader.
    #[doc(hidden)]
    #[must_use]
    pub fn workgroup_memory(precision: Precision) -> Vec<(&'static str, u64)> {
        let variants = Shader::ALL.iter().flat_map(|shader| shader.variants(precision));
        variants.map(|variant| (variant.name(), variant.workgroup_memory(precision))).collect()
    }

    /// Fakes a failure of the device from now on, for tests.
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

    /// Runs work on the device. If its memory is full, runs it again after freeing everything else, and then with
    /// rows that do not stay on the device.
    fn with_room<T>(&self, what: &'static str, work: impl Fn() -> Result<T>) -> Result<T> {
        let is_full =
            |outcome: &Result<T>| matches!(outcome, Err(Error::Device(DeviceProblem::Memory { .. })));
        let again = || {
            self.resident().clear();
            self.context().pool.clear();
            self.context().checked(what, &work)
        };
        let mut outcome = self.context().checked(what, &work);
        if is_full(&outcome) {
            outcome = again();
        }
        if is_full(&outcome) {
            self.resident().stream();
            outcome = again();
        }
        outcome
    }
}

/// Converts a count to a parameter of a shader. Chunks keep all counts within 32 bits.
fn words(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl Verbs for Gpu {
    fn info(&self) -> EngineInfo {
        self.context().info()
    }

    fn proposal_device(&self) -> Option<Arc<dyn ProposalDevice>> {
        Some(Arc::new(self.clone()))
    }

    fn slate_device(&self) -> Option<Arc<dyn SlateDevice>> {
        Some(Arc::new(self.clone()))
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

    fn grid_forms(&self, of: &FormGrid<'_>, passed: &dyn Fn(usize) -> Result<()>) -> Result<GridForms> {
        grid_forms::grid_forms(self, of, passed)
    }

    fn candidate_determinants(&self, candidates: &CandidateGrid<'_>) -> Result<CandidateSums> {
        candidate_determinants::candidate_determinants(self, candidates)
    }

    fn row_norms(&self, rows: &Rows<'_>) -> Result<Vec<f64>> {
        row_norms::row_norms(self, rows)
    }

    fn gain_table<'e>(&'e self, rows: &Rows<'e>, gains: &[f64]) -> Result<Box<dyn GainTable + 'e>> {
        Ok(Box::new(gain_update::gain_table(self, rows, gains)?))
    }

    fn picks_ahead(&self) -> bool {
        true
    }

    fn norm_table<'e>(&'e self, rows: &Rows<'e>) -> Result<Box<dyn GainTable + 'e>> {
        Ok(Box::new(gain_update::norm_table(self, rows)?))
    }

    fn swap_table<'e>(
        &'e self,
        rows: &Rows<'e>,
        duals: &[MatRef<'_, f64>],
        residuals: &[f64],
    ) -> Result<Box<dyn SwapTable + 'e>> {
        Ok(Box::new(swap_table::swap_table(self, rows, duals, Residuals::Known(residuals))?))
    }

    fn fresh_swap_table<'e>(
        &'e self,
        rows: &Rows<'e>,
        duals: &[MatRef<'_, f64>],
        beyond: &Beyond<'_>,
    ) -> Result<Box<dyn SwapTable + 'e>> {
        Ok(Box::new(swap_table::swap_table(self, rows, duals, Residuals::Beyond(beyond))?))
    }
}
