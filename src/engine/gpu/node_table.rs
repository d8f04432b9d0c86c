//! `node_table`: the nodes of a torus on the device, and the choice of rows with them.

use std::sync::Arc;

use faer::c64;

use super::{
    Gpu,
    buffers::{Lease, size_of},
    context::Context,
    device_rows::DeviceRows,
    grid_determinants::{are_taken, upload_phases, upload_shares},
    node_table_passes::Scratch,
    range::{QUAD, unit_of},
    recording::Work,
    resident::TILE,
};
use crate::{
    Error, Result,
    engine::{NodeChoice, NodeFactors, NodeTable, PhaseGrid, RowMap, Rows, Soundness, sealed::Sealed},
    error::DeviceProblem,
};

/// Stands for no tile or no row in shaders.
const NONE: u32 = u32::MAX;
/// Marks set by shaders.
const NEAR_SINGULAR: u32 = 1;
const SINGULAR: u32 = 2;
const BROKEN: u32 = 4;

/// A table on the device. Data that copies share is copied before it changes.
#[derive(Clone, Debug)]
pub(super) struct DeviceNodes {
    gpu: Gpu,
    pub(super) plan: Arc<Plan>,
    pub(super) nodes: Arc<Vec<NodeChunk>>,
    pub(super) weights: Arc<Weights>,
    /// x and y of every node, four numbers each.
    pub(super) factors: Arc<Vec<f64>>,
    /// The steps that the next choice computes first, in order.
    pending: Vec<Step>,
    /// The coefficient and the soundness at the last choice. Nodes that are not sound remain so.
    known: (f64, Soundness),
}

/// The part of a table that does not change.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) rows: Arc<DeviceRows>,
    /// The rows of every chunk as they are stored.
    pub(super) stored: Vec<wgpu::Buffer>,
    /// The number of rows and columns of P.
    pub(super) size: usize,
    /// w Fᵀ, divided by its unit, with one row per row of P.
    pub(super) map: Lease,
    /// The factor of weights.
    unit: f64,
    /// The largest pivot of W that counts as rounding.
    pub(super) least: f64,
}

/// Some nodes.
#[derive(Debug)]
pub(super) struct NodeChunk {
    pub(super) first: usize,
    pub(super) count: usize,
    /// P⁻¹.
    pub(super) matrices: Lease,
    /// φ.
    pub(super) values: Lease,
}

/// The weights of all rows, by chunk, and the sum of every tile of 256 weights.
#[derive(Debug)]
pub(super) struct Weights {
    pub(super) chunks: Vec<Lease>,
    pub(super) sums: Lease,
}

/// N_l, and the phases of every chunk of nodes.
#[derive(Debug)]
pub(super) struct Grid {
    pub(super) parts: usize,
    pub(super) shares: Lease,
    pub(super) phases: Vec<Lease>,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Computes the matrices.
    Grid(Arc<Grid>),
    /// Conditions the matrices on a pick.
    Pick(Vec<f64>),
    /// Adds up the weights again.
    Excluded,
}

pub(super) fn node_table(
    gpu: &Gpu,
    rows: &Rows<'_>,
    map: &RowMap<'_>,
    grid: &PhaseGrid<'_>,
    factors: &NodeFactors<'_>,
) -> Result<Option<DeviceNodes>> {
    let context = gpu.context();
    let size = grid.shares[0].nrows();
    if !are_taken(size, grid.shares.len()) {
        return Ok(None);
    }
    let most = nodes_per_binding(context, size)?;
    gpu.with_room("node_table", || {
        let Some(plan) = Plan::new(gpu, rows, map, grid)?.map(Arc::new) else { return Ok(None) };
        let starts = || (0..grid.nodes()).step_by(most);
        let chunk = |first: usize| NodeChunk::new(context, first, most.min(grid.nodes() - first), size);
        let phases = |first: usize| upload_phases(context, grid, first, most.min(grid.nodes() - first));
        let grid = Grid {
            parts: grid.shares.len(),
            shares: upload_shares(context, grid.shares)?,
            phases: starts().map(phases).collect::<Result<_>>()?,
        };
        Ok(Some(DeviceNodes {
            gpu: gpu.clone(),
            nodes: Arc::new(starts().map(chunk).collect()),
            weights: Arc::new(Weights::new(context, &plan.rows)),
            plan,
            factors: Arc::new(flat(factors)),
            pending: vec![Step::Grid(Arc::new(grid))],
            known: (0.0, Soundness::Sound),
        }))
    })
}

/// The number of nodes that fit in the bindings of one dispatch; an error if no node fits.
fn nodes_per_binding(context: &Context, size: usize) -> Result<usize> {
    let most = usize::try_from(context.largest_binding).unwrap_or(usize::MAX) / size_of(context.precision);
    let fit = (most / (2 * size * size)).min(most.saturating_sub(size) / 4);
    if fit == 0 {
        let needed = ((2 * size * size).max(size + 4) * size_of(context.precision)) as u64;
        let limit = context.largest_binding;
        return Err(DeviceProblem::Limit { what: "a matrix of a node, in bytes,", needed, limit }.into());
    }
    Ok(fit)
}

fn flat(factors: &NodeFactors<'_>) -> Vec<f64> {
    let pairs = factors.form.iter().zip(factors.coefficient);
    pairs.flat_map(|(x, y): (&c64, &c64)| [x.re, x.im, y.re, y.im]).collect()
}

impl Plan {
    /// Creates a plan; `None` if the device has no room for the rows.
    fn new(gpu: &Gpu, rows: &Rows<'_>, map: &RowMap<'_>, grid: &PhaseGrid<'_>) -> Result<Option<Self>> {
        let context = gpu.context();
        let features = rows.features();
        let (factor, weight) = (map.factor, map.weights[0]);
        let rows = gpu.resident().rows(context, rows)?;
        let Some(stored) = rows.stay(context, features)? else { return Ok(None) };
        let pitch = rows.quads() * QUAD;
        let unit = unit_of(
            context.precision,
            (0..factor.ncols()).flat_map(|j| factor.col(j).iter()).map(|x| weight * x),
        );
        let mut values = vec![0.0; factor.ncols() * pitch];
        for (j, row) in values.chunks_exact_mut(pitch).enumerate() {
            for (value, x) in row.iter_mut().zip(factor.col(j).iter()) {
                *value = weight * x / unit;
            }
        }
        let size = grid.shares[0].nrows();
        Ok(Some(Self {
            stored,
            size,
            map: context.uploaded(&values)?,
            unit: (unit * rows.units[0]).powi(2),
            // Entries of W are means of numbers of size 1.
            least: (size + 4) as f64 * context.precision.epsilon(),
            rows,
        }))
    }
}

impl NodeChunk {
    fn new(context: &Context, first: usize, count: usize, size: usize) -> Self {
        let (matrices, values) = (context.reals(2 * count * size * size), context.reals(2 * count));
        Self { first, count, matrices, values }
    }
}

impl Weights {
    fn new(context: &Context, rows: &DeviceRows) -> Self {
        let tiles = rows.chunks.iter().map(|chunk| chunk.len.div_ceil(TILE)).sum();
        Self {
            chunks: rows.chunks.iter().map(|chunk| context.reals(chunk.len)).collect(),
            sums: context.reals(tiles),
        }
    }
}

impl Sealed for DeviceNodes {}

impl NodeTable for DeviceNodes {
    fn condition(&mut self, direction: &[f64], factors: &NodeFactors<'_>) {
        self.pending.push(Step::Pick(direction.to_vec()));
        self.factors = Arc::new(flat(factors));
    }

    fn choose(&mut self, uniform: f64) -> Result<NodeChoice> {
        let gpu = self.gpu.clone();
        let context = gpu.context();
        // Memory can be freed only while nothing is recorded yet.
        let shared = self.own(&gpu)?;
        let outcome = context.checked("node_table", || self.run(context, uniform, shared.as_deref()));
        self.spoilt_by(outcome)
    }

    fn exclude(&mut self, position: usize) -> Result<()> {
        let gpu = self.gpu.clone();
        let context = gpu.context();
        let own = self.room_for_weights(&gpu)?;
        let outcome = context.checked("node_table", || {
            let mut work = context.work("node_table");
            if let Some(own) = own {
                let shared = std::mem::replace(&mut self.weights, own);
                let copies = shared.chunks.iter().zip(&self.weights.chunks).zip(&self.plan.rows.chunks);
                for ((from, to), rows) in copies {
                    let bytes = (rows.len * size_of(context.precision)) as u64;
                    work.encoder().copy_buffer_to_buffer(from, 0, to, 0, bytes);
                }
                context.submit(work)?;
            }
            self.pending.push(Step::Excluded);
            match self.plan.rows.place(0, position) {
                Some((chunk, row)) => context.write(&self.weights.chunks[chunk], row, &[0.0]),
                None => Ok(()),
            }
        });
        self.spoilt_by(outcome)
    }

    fn read(&self) -> Result<Vec<f64>> {
        let context = self.gpu.context();
        context.checked("node_table", || {
            let width = size_of(context.precision);
            let chunks = self.weights.chunks.iter().zip(&self.plan.rows.chunks);
            let parts: Vec<(&wgpu::Buffer, u64, u64)> =
                chunks.map(|(own, rows)| (&**own, 0, (rows.len * width) as u64)).collect();
            let found = context.download(context.work("node_table"), &parts)?;
            let mut weights = vec![0.0; self.plan.rows.lens[0]];
            for (bytes, chunk) in found.iter().zip(&self.plan.rows.chunks) {
                let values = context.values("node_table", bytes)?;
                for tile in &chunk.tiles {
                    let own = &mut weights[tile.position..tile.position + tile.len];
                    let values = values[tile.start..].iter();
                    own.iter_mut().zip(values).for_each(|(own, weight)| *own = weight * self.plan.unit);
                }
            }
            Ok(weights)
        })
    }

    fn copy(&self) -> Box<dyn NodeTable> {
        Box::new(self.clone())
    }
}

impl DeviceNodes {
    /// Marks the nodes as unusable after an error, since some steps may be done and others not.
    fn spoilt_by<T>(&mut self, outcome: Result<T>) -> Result<T> {
        if outcome.is_err() {
            self.known = (0.0, Soundness::Singular);
        }
        outcome
    }

    /// Gives this table its own copy of what pending steps change. Returns the shared nodes that must still be
    /// copied.
    fn own(&mut self, gpu: &Gpu) -> Result<Option<Arc<Vec<NodeChunk>>>> {
        if self.pending.iter().all(|step| matches!(step, Step::Excluded)) {
            return Ok(None);
        }
        let (nodes, weights) = (self.room_for_nodes(gpu)?, self.room_for_weights(gpu)?);
        if let Some(own) = weights {
            self.weights = own;
        }
        Ok(nodes.map(|own| std::mem::replace(&mut self.nodes, own)))
    }

    /// Runs the pending steps, and chooses.
    fn run(
        &mut self,
        context: &Context,
        uniform: f64,
        shared: Option<&Vec<NodeChunk>>,
    ) -> Result<NodeChoice> {
        let mut work = context.work("node_table");
        let scratch = Scratch::new(context, &self.plan, &self.nodes, uniform)?;
        scratch.clear(&mut work);
        let pending = std::mem::take(&mut self.pending);
        let is_new = pending.iter().any(|step| !matches!(step, Step::Excluded));
        let is_grid = pending.iter().any(|step| matches!(step, Step::Grid(_)));
        if let (Some(shared), false) = (shared, is_grid) {
            self.copy_nodes(context, &mut work, shared);
        }
        for step in &pending {
            if !matches!(step, Step::Excluded) {
                self.record_nodes(context, &mut work, &scratch, step)?;
            }
        }
        if is_new {
            self.record_weights(context, &mut work, &scratch)?;
        }
        if !pending.is_empty() {
            self.record_sums(context, &mut work)?;
        }
        self.record_choice(context, &mut work, &scratch)?;
        let width = size_of(context.precision) as u64;
        let found = context.download(work, &[(&scratch.found, 0, 4 * width), (&scratch.marks, 0, 12)])?;
        let marks = bytemuck::pod_collect_to_vec::<u8, u32>(&found[1]);
        if is_new {
            self.known = (0.0, worse(self.known.1, soundness(context, marks[0])?));
        }
        if self.known.1 != Soundness::Sound {
            let (coefficient, soundness) = self.known;
            return Ok(NodeChoice { soundness, coefficient, total: 0.0, chosen: None });
        }
        let values = context.values("node_table", &found[0])?;
        if is_new {
            self.known.0 = values[0];
        }
        let (coefficient, soundness) = self.known;
        let chosen = (marks[2] != NONE && marks[1] != NONE)
            .then(|| (self.position(marks[2] as usize), values[3] * self.plan.unit));
        Ok(NodeChoice { soundness, coefficient, total: values[1] * self.plan.unit, chosen })
    }

    /// Returns the position in the group, for the number of a row counted chunk after chunk.
    fn position(&self, row: usize) -> usize {
        let mut left = row;
        for chunk in &self.plan.rows.chunks {
            if left < chunk.len {
                let tile = &chunk.tiles[chunk.tiles.partition_point(|tile| tile.start <= left) - 1];
                return tile.position + left - tile.start;
            }
            left -= chunk.len;
        }
        unreachable!("there is no row {row}")
    }

    /// Creates nodes for this table alone, if copies share its nodes.
    fn room_for_nodes(&mut self, gpu: &Gpu) -> Result<Option<Arc<Vec<NodeChunk>>>> {
        if Arc::get_mut(&mut self.nodes).is_some() {
            return Ok(None);
        }
        let (context, size) = (gpu.context(), self.plan.size);
        let own = |chunk: &NodeChunk| NodeChunk::new(context, chunk.first, chunk.count, size);
        gpu.with_room("node_table", || Ok(Some(Arc::new(self.nodes.iter().map(own).collect()))))
    }

    /// Copies shared nodes to this table's own nodes.
    fn copy_nodes(&self, context: &Context, work: &mut Work, shared: &[NodeChunk]) {
        let (size, width) = (self.plan.size, 2 * size_of(context.precision));
        for (from, to) in shared.iter().zip(&*self.nodes) {
            let (matrices, values) = (from.count * size * size * width, from.count * width);
            work.encoder().copy_buffer_to_buffer(&from.matrices, 0, &to.matrices, 0, matrices as u64);
            work.encoder().copy_buffer_to_buffer(&from.values, 0, &to.values, 0, values as u64);
        }
    }

    /// Creates weights for this table alone, if copies share its weights.
    fn room_for_weights(&mut self, gpu: &Gpu) -> Result<Option<Arc<Weights>>> {
        if Arc::get_mut(&mut self.weights).is_some() {
            return Ok(None);
        }
        gpu.with_room("node_table", || Ok(Some(Arc::new(Weights::new(gpu.context(), &self.plan.rows)))))
    }
}

/// The worse of the two.
fn worse(a: Soundness, b: Soundness) -> Soundness {
    match (a, b) {
        (Soundness::Singular, _) | (_, Soundness::Singular) => Soundness::Singular,
        (Soundness::NearSingular, _) | (_, Soundness::NearSingular) => Soundness::NearSingular,
        (Soundness::Sound, Soundness::Sound) => Soundness::Sound,
    }
}

/// The soundness that the marks of shaders show.
fn soundness(context: &Context, marks: u32) -> Result<Soundness> {
    if marks & BROKEN != 0 {
        return Err(Error::Device(context.not_finite("node_table")));
    }
    Ok(match marks {
        marks if marks & SINGULAR != 0 => Soundness::Singular,
        marks if marks & NEAR_SINGULAR != 0 => Soundness::NearSingular,
        _ => Soundness::Sound,
    })
}
