//! `grid_determinants`: det P(θ), and P(θ)⁻¹ on request, at every node.

use std::ops::Range;

use faer::{Mat, c64};

use super::{
    Gpu,
    buffers::{Lease, size_of},
    context::Context,
    pace::Load,
    parameters::{Parameter, parameters},
    recording::Work,
    shaders::{Shader, Variant, WIDTH},
};
use crate::{
    Result,
    engine::{Engine, GridPoint, GridRequest, PhaseGrid},
    error::DeviceProblem,
    linalg::Determinant,
    parallel::map_ordered,
};

/// The exponent that shaders return for matrices that they cannot eliminate.
const SINGULAR_EXPONENT: i32 = -i32::MAX;
/// The exponent that shaders return for values that are not finite.
const BROKEN_EXPONENT: i32 = SINGULAR_EXPONENT + 1;
/// The most iterations of a thread's loops while it fills a matrix, and while it eliminates panels. Some drivers stop at
/// 2¹⁶.
const TURNS: usize = 30_000;

pub(super) fn grid_determinants(
    gpu: &Gpu,
    grid: &PhaseGrid<'_>,
    request: GridRequest,
) -> Result<Vec<GridPoint>> {
    let context = gpu.context();
    let size = grid.shares[0].nrows();
    if !are_taken(size, grid.shares.len()) {
        return Engine::host().grid_determinants(grid, request);
    }
    let shader = Shader::GridDeterminants.of_order(size);
    let inverse = 2 * size * size * size_of(context.precision);
    let wanted = if request == GridRequest::Inverses { inverse } else { 0 };
    let matrix = if shader.largest_matrix().is_none() { inverse } else { wanted };
    let most = matrices_per_binding(context, matrix.max(per_node(context, grid.shares)))?;
    gpu.with_room("grid_determinants", || {
        let on_device = DeviceGrid::upload(context, grid)?;
        let mut points = Vec::with_capacity(grid.nodes());
        for first in (0..grid.nodes()).step_by(most) {
            let nodes = first..grid.nodes().min(first + most);
            let matrices = context.storage((nodes.len() * matrix).max(16) as u64);
            let mut work = context.work("grid_determinants");
            let found = on_device.eliminate(&mut work, nodes.clone(), &matrices, request)?;
            let [mantissas, exponents] = found.places(context);
            let places = [mantissas, exponents, (&*matrices, 0, (nodes.len() * wanted) as u64)];
            let found = context.downloaded(work, &places, |bytes| {
                let determinants = Found::determinants(context, "grid_determinants", bytes[0], bytes[1])?;
                let point = |node: usize| {
                    let Some(determinant) = determinants[node] else { return Ok(None) };
                    let own = (wanted > 0).then(|| &bytes[2][node * wanted..][..wanted]);
                    let inverse = own.map(|own| complex_matrix(context, own, size)).transpose()?;
                    Ok(Some(GridPoint { determinant, inverse }))
                };
                map_ordered(determinants.len(), point).into_iter().collect::<Result<Vec<_>>>()
            })??;
            for (node, point) in nodes.zip(found) {
                points.push(point.map_or_else(|| on_host(grid, node, request), Ok)?);
            }
        }
        Ok(points)
    })
}

/// A generating function on the device, whose nodes are uploaded when they are needed.
pub(super) struct DeviceGrid<'g> {
    context: &'g Context,
    grid: PhaseGrid<'g>,
    /// All N_l.
    shares: Lease,
}

impl<'g> DeviceGrid<'g> {
    pub(super) fn upload(context: &'g Context, grid: &PhaseGrid<'g>) -> Result<Self> {
        let size = grid.shares[0].nrows();
        let entries =
            grid.shares.iter().flat_map(|share| (0..size * size).map(|at| share[(at / size, at % size)]));
        Ok(Self { context, grid: *grid, shares: context.uploaded(&entries.collect::<Vec<f64>>())? })
    }

    /// Uploads e^{iθ_l} − 1 of some nodes, subtracted in f64.
    fn upload_phases(&self, nodes: Range<usize>) -> Result<Lease> {
        let parts = self.grid.shares.len();
        let phases = &self.grid.phases[nodes.start * parts..nodes.end * parts];
        let factors = phases.iter().flat_map(|phase| [phase.re - 1.0, phase.im]);
        self.context.uploaded(&factors.collect::<Vec<f64>>())
    }

    /// Records the determinants and, on request, the inverses of some nodes.
    pub(super) fn eliminate(
        &self,
        work: &mut Work,
        nodes: Range<usize>,
        matrices: &wgpu::Buffer,
        request: GridRequest,
    ) -> Result<Found> {
        let (size, parts) = (self.grid.shares[0].nrows(), self.grid.shares.len());
        let pivots = work.hold(self.context.storage(4 * (nodes.len() * size) as u64));
        let inverses = request == GridRequest::Inverses;
        let own = parameters! { nodes: nodes.len(), n: size, parts, inverses };
        self.record(work, Shader::GridDeterminants, nodes, 1, &own, &[matrices, &pivots])
    }

    /// Records a shader that eliminates a matrix per node and candidate, in as many dispatches as its steps need. The
    /// shader's own parameters precede the steps. Its own buffers lie between the phases and the determinants.
    pub(super) fn record(
        &self,
        work: &mut Work,
        shader: Shader,
        nodes: Range<usize>,
        candidates: usize,
        own: &[Parameter],
        buffers: &[&wgpu::Buffer],
    ) -> Result<Found> {
        let (context, size) = (self.context, self.grid.shares[0].nrows());
        let (shader, count) = (shader.of_order(size), candidates * nodes.len());
        let phases = work.hold(self.upload_phases(nodes)?);
        let found = Found::new(context, count);
        let inputs: [&wgpu::Buffer; 2] = [&self.shares, &phases];
        let outputs: [&wgpu::Buffer; 2] = [&found.mantissas, &found.exponents];
        for steps in steps(context, shader, size) {
            context.dispatch(
                work,
                shader,
                &[own, &parameters! { first: steps.start, last: steps.end }].concat(),
                &[&inputs, buffers, &outputs].concat(),
                elimination(context, shader, count, size, self.grid.shares.len(), &steps),
            )?;
        }
        Ok(found)
    }
}

/// Computes on the host a node whose matrix is too nearly singular for the device.
fn on_host(grid: &PhaseGrid<'_>, node: usize, request: GridRequest) -> Result<GridPoint> {
    let one = PhaseGrid { shares: grid.shares, phases: grid.node(node) };
    Ok(Engine::host().grid_determinants(&one, request)?.swap_remove(0))
}

/// Bytes per node in the largest array other than the matrices.
pub(super) fn per_node(context: &Context, shares: &[Mat<f64>]) -> usize {
    (2 * shares.len() * size_of(context.precision)).max(4 * shares[0].nrows())
}

/// Whether the shaders eliminate matrices of this size, which are sums over some parts. The host does so if loops would
/// be too long: for two parts, above 1600 rows.
pub(super) fn are_taken(size: usize, parts: usize) -> bool {
    (size * size).div_ceil(256) * (parts + 1) <= TURNS && turns_of_a_panel(size) <= TURNS
}

/// The iterations of a thread's loops for a panel of a stored matrix: for its steps, and for the other columns.
fn turns_of_a_panel(size: usize) -> usize {
    WIDTH * (size.div_ceil(16) + 4 * size.div_ceil(256)) + size.div_ceil(64) * size.div_ceil(4)
}

/// The steps of an elimination, in runs that keep dispatches short: whole panels of a stored matrix, or all steps of a
/// matrix in registers.
fn steps(context: &Context, shader: Variant, size: usize) -> impl Iterator<Item = Range<usize>> + use<> {
    let Load { flops, bytes, .. } = elimination(context, shader, 1, size, 0, &(0..WIDTH));
    let panels = (TURNS / turns_of_a_panel(size)).min(context.pace.units_of_a_group(flops, bytes)).max(1);
    let run = if shader.largest_matrix().is_some() { size } else { WIDTH * panels };
    (0..size).step_by(run).map(move |first| first..size.min(first + run))
}

/// The load of some steps of eliminations, with one matrix per workgroup. A sum over the parts precedes the first
/// step. An entry of Π N_l Π costs as much as four entries of N_l.
fn elimination(
    context: &Context,
    shader: Variant,
    matrices: usize,
    size: usize,
    parts: usize,
    steps: &Range<usize>,
) -> Load {
    let (entries, width) = ((size * size) as f64, size_of(context.precision) as f64);
    let terms = if shader.shader == Shader::CandidateDeterminants { 4 * parts } else { parts };
    let sums = if steps.start == 0 { terms as f64 } else { 0.0 };
    // A complex product and sum take eight operations per entry. Registers cost no bandwidth except for the inverse at
    // the end. A stored matrix is read and written once per panel, and its panel once per step. A sum over the parts
    // takes four operations and reads one share.
    let of_panels = steps.len().div_ceil(WIDTH) as f64 + (steps.len() * WIDTH) as f64 / size as f64;
    let passes = if shader.largest_matrix().is_some() { 1.0 } else { of_panels };
    Load {
        groups: matrices,
        flops: entries * (8.0 * steps.len() as f64 + 4.0 * sums),
        bytes: entries * width * (4.0 * passes + sums),
    }
}

/// The number of matrices that fit in a binding; an error if no matrix fits.
pub(super) fn matrices_per_binding(context: &Context, bytes: usize) -> Result<usize> {
    let limit = context.largest_binding;
    let fit = usize::try_from(limit).unwrap_or(usize::MAX) / bytes;
    if fit == 0 {
        return Err(DeviceProblem::Limit {
            what: "a matrix of a node, in bytes,",
            needed: bytes as u64,
            limit,
        }
        .into());
    }
    Ok(fit)
}

/// Reads a matrix of this size, row by row. All entries must be finite.
fn complex_matrix(context: &Context, bytes: &[u8], size: usize) -> Result<Mat<c64>> {
    let mut entries = vec![0.0; 2 * size * size];
    if !context.scaled(bytes, 1.0, &mut entries) {
        return Err(context.not_finite("grid_determinants").into());
    }
    Ok(Mat::from_fn(size, size, |i, j| {
        let at = 2 * (i * size + j);
        c64::new(entries[at], entries[at + 1])
    }))
}

/// Determinants as shaders return them.
pub(super) struct Found {
    pub(super) count: usize,
    pub(super) mantissas: Lease,
    pub(super) exponents: Lease,
}

impl Found {
    fn new(context: &Context, count: usize) -> Self {
        Self { count, mantissas: context.reals(2 * count), exponents: context.storage(4 * count as u64) }
    }

    /// Runs the recorded commands. Returns the determinants; `None` for nearly singular matrices.
    pub(super) fn read(&self, context: &Context, work: Work) -> Result<Vec<Option<Determinant>>> {
        let what = work.what;
        let found = context.download(work, &self.places(context))?;
        Self::determinants(context, what, &found[0], &found[1])
    }

    /// The ranges to download.
    pub(super) fn places(&self, context: &Context) -> [(&wgpu::Buffer, u64, u64); 2] {
        let width = 2 * size_of(context.precision);
        [(&*self.mantissas, 0, (self.count * width) as u64), (&*self.exponents, 0, 4 * self.count as u64)]
    }

    /// Reads the determinants from these bytes; `None` for nearly singular matrices.
    pub(super) fn determinants(
        context: &Context,
        what: &'static str,
        mantissas: &[u8],
        exponents: &[u8],
    ) -> Result<Vec<Option<Determinant>>> {
        let mantissas = context.values(what, mantissas)?;
        let exponents = bytemuck::pod_collect_to_vec::<u8, i32>(exponents);
        if exponents.contains(&BROKEN_EXPONENT) {
            return Err(context.not_finite(what).into());
        }
        let determinant = |(mantissa, exponent): (&[f64], i32)| {
            (exponent != SINGULAR_EXPONENT)
                .then(|| Determinant::scaled(c64::new(mantissa[0], mantissa[1]), exponent))
        };
        Ok(mantissas.chunks_exact(2).zip(exponents).map(determinant).collect())
    }
}
