//! `grid_forms`: det P(θ) at every node, and Re Σ x_l(θ) det P(θ) P(θ)⁻¹ for every part. Inverses stay on the device,
//! for some nodes at a time. The host waits once for each such set of nodes, with at most two sets in flight.

use std::{cell::Cell, collections::VecDeque, ops::Range};

use faer::{Mat, c64};

use super::{
    Gpu,
    buffers::{Lease, size_of},
    context::Context,
    grid_determinants::{DeviceGrid, Found, are_taken, matrices_per_binding, per_node},
    pace::Load,
    parameters::parameters,
    range::{QUAD, unit_of},
    recording::Work,
    shaders::Shader,
    words,
};
use crate::{
    Result,
    engine::{Engine, FormGrid, GridForms, GridRequest, PhaseGrid, Precision},
    linalg::Determinant,
};

/// The most bytes of inverses.
const MOST_BYTES: usize = 1 << 28;
/// The fewest nodes between two checks of a watch. Each check waits for the device.
const FEWEST: usize = 64;
/// The number of workgroups that the sums are spread over, if there are enough nodes.
const GROUPS: usize = 256;
/// Threads of a workgroup, and the parts for which each thread sums an entry.
const THREADS: usize = 256;
const PARTS: usize = 4;
/// Operations of a thread per node.
const FLOPS: usize = 10 * PARTS;
/// The most iterations of a thread's loops; some drivers stop at 2¹⁶.
const TURNS: usize = 20_000;

pub(super) fn grid_forms(
    gpu: &Gpu,
    of: &FormGrid<'_>,
    passed: &dyn Fn(usize) -> Result<()>,
) -> Result<GridForms> {
    let context = gpu.context();
    let (size, parts) = (of.grid.shares[0].nrows(), of.grid.shares.len());
    if of.grid.nodes() == 0 || size == 0 || !are_taken(size, parts) {
        return Engine::host().grid_forms(of, passed);
    }
    let plan = Plan::new(context, &of.grid)?;
    // If the device had no room and the run is repeated, nodes that have passed do not pass again.
    let most = Cell::new(0);
    let reached = |nodes: usize| passed(nodes.saturating_sub(most.replace(nodes.max(most.get()))));
    let found = gpu.with_room("grid_forms", || plan.run(of, &reached))?;
    with_singular(of, found, passed)
}

/// The results of the device.
struct OnDevice {
    /// `None` for nodes whose matrix is nearly singular.
    determinants: Vec<Option<Determinant>>,
    /// The sums over the other nodes.
    forms: Vec<Mat<f64>>,
}

/// Adds the nodes whose matrices are too nearly singular for the device.
fn with_singular(
    of: &FormGrid<'_>,
    found: OnDevice,
    passed: &dyn Fn(usize) -> Result<()>,
) -> Result<GridForms> {
    let OnDevice { determinants, mut forms } = found;
    let parts = of.grid.shares.len();
    let left: Vec<usize> = (0..determinants.len()).filter(|&node| determinants[node].is_none()).collect();
    let mut others = Vec::new();
    if !left.is_empty() {
        let own = |values: &[c64]| -> Vec<c64> {
            left.iter().flat_map(|node| &values[node * parts..][..parts]).copied().collect()
        };
        let (phases, coefficients) = (own(of.grid.phases), own(of.coefficients));
        let grid = PhaseGrid { shares: of.grid.shares, phases: &phases };
        // These nodes have passed.
        let found =
            Engine::host().grid_forms(&FormGrid { grid, coefficients: &coefficients }, &|_| passed(0))?;
        forms.iter_mut().zip(found.forms).for_each(|(form, more)| *form += more);
        others = found.determinants;
    }
    let mut others = others.into_iter();
    let determinants = determinants.into_iter().filter_map(|known| known.or_else(|| others.next())).collect();
    Ok(GridForms { determinants, forms })
}

/// The division of the sums over all nodes.
struct Plan<'c> {
    context: &'c Context,
    /// The number of rows of a matrix.
    size: usize,
    /// The number of sums that every entry is spread over. Nodes go to them in turn.
    lanes: usize,
    /// The number of parts whose sums fit into a binding together.
    together: usize,
    parts: usize,
    /// The number of nodes whose inverses are on the device at a time.
    nodes: usize,
}

/// The sums of some parts.
struct Sums {
    parts: Range<usize>,
    /// The number of values per lane.
    pitch: usize,
    /// The sums of every lane, then the parts lost to rounding.
    partials: Lease,
    /// The totals of all lanes: sums, then losses.
    totals: Lease,
}

impl<'c> Plan<'c> {
    fn new(context: &'c Context, grid: &PhaseGrid<'_>) -> Result<Self> {
        let (size, parts) = (grid.shares[0].nrows(), grid.shares.len());
        let (entries, width) = (size * size, size_of(context.precision));
        let matrix = 2 * entries * width;
        let fit = matrices_per_binding(context, matrix.max(per_node(context, grid.shares)))?;
        // The sums and losses of one part.
        let limit = usize::try_from(context.largest_binding).unwrap_or(usize::MAX);
        let most = (limit / (2 * entries.next_multiple_of(QUAD) * width)).max(1);
        let groups = entries.div_ceil(THREADS) * parts.div_ceil(PARTS);
        let lanes = (GROUPS / groups).clamp(1, grid.nodes().min(most));
        let (flops, bytes) = Self::of_a_node(context);
        let elimination = Load { groups: 1, flops: 8.0 * (size as f64).powi(3), bytes: 0.0 };
        let of_a_lane = TURNS.min(context.pace.units_of_a_group(flops, bytes));
        Ok(Self {
            context,
            size,
            lanes,
            together: (most / lanes).min(parts),
            parts,
            nodes: (fit.min(MOST_BYTES / matrix).min(lanes * of_a_lane))
                .min(context.pace.groups_of_a_submission(elimination).max(FEWEST))
                .clamp(1, grid.nodes()),
        })
    }

    /// Operations and bytes of a workgroup per node.
    fn of_a_node(context: &Context) -> (f64, f64) {
        ((THREADS * FLOPS) as f64, (2 * THREADS * size_of(context.precision)) as f64)
    }

    fn entries(&self) -> usize {
        self.size * self.size
    }

    /// Runs the plan. `reached` gets the number of nodes done so far.
    fn run(&self, of: &FormGrid<'_>, reached: &dyn Fn(usize) -> Result<()>) -> Result<OnDevice> {
        let (context, parts) = (self.context, self.parts);
        let unit = unit_of(context.precision, of.coefficients.iter().flat_map(|x| [x.re, x.im]));
        let on_device = DeviceGrid::upload(context, &of.grid)?;
        let matrices = context.reals(2 * self.nodes * self.entries());
        let sums: Vec<Sums> = (0..parts).step_by(self.together).map(|first| self.sums(first)).collect();
        let mut work = context.work("grid_forms");
        let (mut found, mut pending) = (Vec::new(), VecDeque::new());
        reached(0)?;
        for first in (0..of.grid.nodes()).step_by(self.nodes) {
            if pending.len() > 1
                && let Some((number, nodes)) = pending.pop_front()
            {
                context.wait(work.what, number)?;
                reached(nodes)?;
            }
            let nodes = first..of.grid.nodes().min(first + self.nodes);
            let own = on_device.eliminate(&mut work, nodes.clone(), &matrices, GridRequest::Inverses)?;
            let coefficients = &of.coefficients[nodes.start * parts..nodes.end * parts];
            let coefficients: Vec<f64> =
                coefficients.iter().flat_map(|x| [x.re / unit, x.im / unit]).collect();
            let coefficients = work.hold(context.uploaded(&coefficients)?);
            for sums in &sums {
                self.record(&mut work, first, &own, [&coefficients, &matrices], sums)?;
            }
            found.push(own);
            if nodes.end < of.grid.nodes() {
                pending.push_back((context.submit_so_far(&mut work)?, nodes.end));
            }
        }
        self.record_totals(&mut work, &sums)?;
        let found = self.read(work, &found, &sums, unit)?;
        reached(of.grid.nodes())?;
        Ok(found)
    }

    fn sums(&self, first: usize) -> Sums {
        let parts = first..self.parts.min(first + self.together);
        let pitch = (parts.len() * self.entries()).next_multiple_of(QUAD);
        let [partials, totals] = [self.lanes, 1].map(|lanes| self.context.reals(2 * lanes * pitch));
        Sums { parts, pitch, partials, totals }
    }

    /// Records the addition of some nodes to the sums of their lanes.
    fn record(
        &self,
        work: &mut Work,
        first: usize,
        of: &Found,
        [coefficients, matrices]: [&wgpu::Buffer; 2],
        sums: &Sums,
    ) -> Result<()> {
        let (flops, bytes) = Self::of_a_node(self.context);
        let turns = of.count.div_ceil(self.lanes) as f64;
        let blocks = self.entries().div_ceil(THREADS) * sums.parts.len().div_ceil(PARTS);
        self.context.dispatch(
            work,
            Shader::GridForms,
            &parameters! {
                nodes: of.count,
                entries: self.entries(),
                parts: self.parts,
                first: sums.parts.start,
                last: sums.parts.end,
                lanes: self.lanes,
                pitch: sums.pitch,
                earlier: first > 0,
                zero: 0_u32,
            },
            &[coefficients, &of.mantissas, &of.exponents, matrices, &sums.partials],
            Load { groups: self.lanes * blocks, flops: turns * flops, bytes: turns * bytes },
        )
    }

    /// Records the addition of the lanes and, in single precision, of their losses.
    fn record_totals(&self, work: &mut Work, sums: &[Sums]) -> Result<()> {
        let context = self.context;
        let runs = if self.is_single() { 2 * self.lanes } else { self.lanes };
        let spans = work.hold(context.uploaded_words(&[0, words(runs), 1, 0]));
        for sums in sums {
            let quads = sums.pitch / QUAD;
            let blocks = quads.div_ceil(THREADS);
            let terms = (runs * THREADS * QUAD) as f64;
            context.dispatch(
                work,
                Shader::SumRuns,
                &parameters! { quads, first: 0_u32, last: runs, blocks, zero: 0_u32 },
                &[&*sums.partials, &spans, &*sums.totals],
                Load { groups: blocks, flops: 7.0 * terms, bytes: terms * size_of(context.precision) as f64 },
            )?;
        }
        Ok(())
    }

    fn is_single(&self) -> bool {
        self.context.precision == Precision::F32
    }

    fn read(&self, work: Work, found: &[Found], sums: &[Sums], unit: f64) -> Result<OnDevice> {
        let (context, what) = (self.context, work.what);
        let width = size_of(context.precision);
        let mut places: Vec<_> = found.iter().flat_map(|own| own.places(context)).collect();
        for sums in sums {
            let bytes = (sums.parts.len() * self.entries() * width) as u64;
            let lost = if self.is_single() { bytes } else { 0 };
            places.extend([(&*sums.totals, 0, bytes), (&*sums.totals, (sums.pitch * width) as u64, lost)]);
        }
        let bytes = context.download(work, &places)?;
        let (of_nodes, of_sums) = bytes.split_at(2 * found.len());
        let mut determinants = Vec::new();
        for pair in of_nodes.chunks_exact(2) {
            determinants.extend(Found::determinants(context, what, &pair[0], &pair[1])?);
        }
        let mut forms = Vec::with_capacity(self.parts);
        for pair in of_sums.chunks_exact(2) {
            let (sums, lost) = (context.values(what, &pair[0])?, context.values(what, &pair[1])?);
            for first in (0..sums.len()).step_by(self.entries()) {
                let entry = |i: usize, j: usize| {
                    let at = first + i * self.size + j;
                    (sums[at] + lost.get(at).unwrap_or(&0.0)) * unit
                };
                forms.push(Mat::from_fn(self.size, self.size, entry));
            }
        }
        Ok(OnDevice { determinants, forms })
    }
}
