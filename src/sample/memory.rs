//! Predicted memory of sampling.

use std::{borrow::Cow, fmt};

use super::{Bound, Method, Projection, SamplerOptions, projection, rejection, ridge::FreeRidgeSampler};
use crate::{
    Dpp, Features, IndependentKDpps, KDpp, PartitionDpp, Result, RidgeDpp,
    engine::cpu_pass_bytes,
    model::{GroundSet, PartKDpp},
    parallel::threads,
    polynomial::{
        gram::{TASKS, keeps_rows},
        tilt::are_many,
    },
};

/// The most bytes that a sampler on the CPU holds, including set-up but not features that stay in their files.
///
/// An engine in single precision holds 16 bytes per item more during set-up. Neither device memory nor the subsets
/// are counted, unless [`with_draws`](MemoryPlan::with_draws) adds the subsets.
///
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Features, KDpp, SamplerOptions};
/// let features = Features::from_rows(1000, 4, (0..4000).map(|i| f64::from(i).sin()).collect::<Vec<_>>())?;
/// let plan = KDpp::new(&features, 2)?.memory_plan(SamplerOptions::default());
/// assert_eq!(plan.mapped, 0);
/// println!("{} bytes: {plan}", plan.total());
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct MemoryPlan {
    /// Bytes of features in memory-mapped files, which the system keeps in memory only while it has room.
    pub mapped: u64,
    /// The uses of memory.
    pub uses: Vec<MemoryUse>,
}

/// Bytes, and their purpose.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct MemoryUse {
    /// The purpose.
    pub what: Cow<'static, str>,
    /// The number of bytes.
    pub bytes: u64,
}

impl MemoryPlan {
    /// The sum of all uses.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.uses.iter().fold(0, |sum, held| sum.saturating_add(held.bytes))
    }

    /// Adds `count` draws of `bytes_each` bytes each, which are all kept.
    #[must_use]
    pub fn with_draws(mut self, count: u64, bytes_each: u64) -> Self {
        self.add("draws", count.saturating_mul(bytes_each));
        self
    }

    /// The plan for draws of `size` items by eigenvectors, from some items in some groups.
    fn spectral(
        features: &Features,
        [items, groups]: [usize; 2],
        rank: usize,
        size: usize,
        way: Projection,
    ) -> Self {
        let (held, mapped) = features.footprint();
        let tables =
            projection::table_bytes(way, items as f64, features.dims() as f64, rank as f64, size as f64);
        let mut plan = Self { mapped, uses: Vec::new() };
        plan.add("features", held);
        plan.add(SET_UP, cpu_pass_bytes(features.dims(), groups, threads()));
        plan.add(TABLES, tables);
        plan
    }

    /// The plan for draws from every part separately: tables of all parts, which are set up one after the other.
    fn of_parts(features: &Features, parts: &[Self]) -> Self {
        let (held, mapped) = features.footprint();
        let mut plan = Self { mapped, uses: Vec::new() };
        plan.add("features", held);
        let of = |what: &'static str| {
            let uses = parts.iter().flat_map(|part| &part.uses).filter(move |held| held.what == what);
            uses.map(|held| held.bytes)
        };
        plan.add(SET_UP, of(SET_UP).max().unwrap_or_default());
        plan.add(TABLES, of(TABLES).sum());
        plan.add(SUMS, of(SUMS).sum());
        plan.add("parts", (features.items() * PARTITION_BYTES) as u64);
        plan
    }

    /// Adds lists of the free items if some items are forced or excluded. There are two while a model is rebuilt, or
    /// if chains keep one.
    fn add_lists(&mut self, ground: &GroundSet, items: usize) {
        if !ground.conditions().is_empty() {
            self.add("lists of free items", 8 * items as u64);
        }
    }

    fn add(&mut self, what: &'static str, bytes: u64) {
        if bytes > 0 {
            self.uses.push(MemoryUse { what: what.into(), bytes });
        }
    }
}

impl fmt::Display for MemoryPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, MemoryUse { what, bytes }) in self.uses.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{what} {:.1} MB", *bytes as f64 / 1e6)?;
        }
        Ok(())
    }
}

const SET_UP: &str = "set-up";
const TABLES: &str = "tables of items";
const SUMS: &str = "sums of qualities";
/// Bytes of a partition per item: its part, and its entry in the list of the part.
const PARTITION_BYTES: usize = 8;

impl PartitionDpp {
    /// The most memory that a sampler holds.
    ///
    /// # Errors
    /// The errors of [`plan`](PartitionDpp::plan).
    pub fn memory_plan(&self, options: impl Into<SamplerOptions>) -> Result<MemoryPlan> {
        let options = options.into();
        let plan = self.plan(options)?;
        let mut memory = self.spectral_memory(options.projection);
        if plan.as_ref().is_none_or(|plan| plan.method == Method::Rejection) {
            self.add_bounded(&mut memory, options.bound);
        }
        let Some(plan) = plan else { return Ok(memory) };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "below 2⁶⁴: more are refused as such"
        )]
        let nodes = plan.nodes.min(self.interpolation_budget()) as u64;
        let (rank, items) = (self.ground().dims_left() as u64, self.rows().len() as u64);
        let draws = 1 + threads() as u64;
        let (what, bytes) = match plan.method {
            Method::Interpolation => ("nodes, for every thread", draws * nodes * 16 * rank * rank),
            Method::PerCandidate => ("rows, for every thread", draws * 8 * items * rank),
            _ => return Ok(memory),
        };
        // There is a weight per candidate.
        let tables = memory.uses.iter_mut().filter(|held| held.what == TABLES);
        tables.for_each(|held| held.bytes = 8 * items);
        memory.add(what, bytes);
        Ok(memory)
    }

    /// The most memory that [`chains`](PartitionDpp::chains) hold.
    #[must_use]
    pub fn chains_memory_plan(&self) -> MemoryPlan {
        let mut memory = self.spectral_memory(Projection::default());
        // If the set-up keeps rows in place of Gram matrices, weighted draws estimate traces without them.
        self.add_bounded(&mut memory, Bound::Hadamard);
        memory.add("what chains propose", 16 * self.rows().len() as u64);
        memory
    }

    /// Adds the memory that bounds other than the tilted one may need.
    fn add_bounded(&self, memory: &mut MemoryPlan, bound: Bound) {
        if bound == Bound::Tilted || self.open().is_empty() {
            return;
        }
        let (items, rank) = (self.rows().len(), self.ground().dims_left());
        let are_many = are_many(self.open().len(), rank) && self.counts().exact().is_some();
        let most_stored = if are_many { rejection::WEIGHTED_BYTES } else { rejection::STORED_BYTES };
        let stored = rejection::stored_bytes(items, rank, most_stored);
        memory.add("whitened rows", stored.unwrap_or_default() as u64);
        if matches!(bound, Bound::Auto | Bound::Halves) && self.counts().exact().is_some() {
            let stored = rejection::stored_bytes(items, rank, rejection::STORED_BYTES);
            memory.add("whitened rows in f32", stored.unwrap_or_default() as u64 / 2);
        }
        if matches!(bound, Bound::Fischer | Bound::Block | Bound::Sequential)
            && keeps_rows(items, self.open().len(), self.ground().features().dims())
        {
            memory.add("Gram matrices", (8 * self.open().len() * rank * rank) as u64);
        }
        let several = self.open().iter().any(|part| part.high > 1);
        if several && matches!(bound, Bound::Auto | Bound::Fischer | Bound::Block) {
            memory.add("tables of items of every part", 24 * items as u64);
        }
    }

    fn spectral_memory(&self, way: Projection) -> MemoryPlan {
        let (features, rank) = (self.ground().features(), self.ground().dims_left());
        let parts = (features.items() * PARTITION_BYTES) as u64;
        if self.open().is_empty() {
            let mut forced = MemoryPlan { mapped: features.footprint().1, uses: Vec::new() };
            forced.add("features", features.footprint().0);
            forced.add("parts", parts);
            return forced;
        }
        let (items, groups) = (self.rows().len(), self.open().len());
        let size = self.counts().total().unwrap_or(rank);
        let mut memory = MemoryPlan::spectral(features, [items, groups], rank, size, way);
        if keeps_rows(items, groups, features.dims()) && self.counts().exact().is_some() {
            // In place of Gram matrices, the rows and their images are held, and partial sums.
            let rows =
                cpu_pass_bytes(features.dims(), TASKS, threads()) + (16 * items * features.dims()) as u64;
            memory.uses.iter_mut().filter(|held| held.what == SET_UP).for_each(|held| held.bytes = rows);
        }
        memory.add("parts", parts);
        memory.add_lists(self.ground(), items);
        memory
    }
}

impl RidgeDpp {
    /// The most memory that a sampler holds.
    ///
    /// # Errors
    /// The errors of [`sampler`](RidgeDpp::sampler).
    pub fn memory_plan(&self, options: impl Into<SamplerOptions>) -> Result<MemoryPlan> {
        let way = options.into().projection;
        if FreeRidgeSampler::suits(self) {
            let free = self.free_ridge()?;
            let drawn = free.drawn(&vec![0.0; free.groups.len()])?;
            let (rows, rank) = (drawn.rows(), drawn.ground.dims_left());
            let mut memory =
                MemoryPlan::spectral(rows.features(), [rows.len(), rows.groups().len()], rank, rank, way);
            memory.add("parts", (rows.features().items() * PARTITION_BYTES) as u64);
            return Ok(memory);
        }
        let law = self.law()?;
        let mut memory = law.drawn.spectral_memory(way);
        memory.add(SUMS, law.fill.bytes());
        Ok(memory)
    }

    /// The most memory that an [`independent_sampler`](RidgeDpp::independent_sampler) holds.
    ///
    /// # Errors
    /// The errors of [`sampler`](RidgeDpp::sampler).
    pub fn independent_memory_plan(&self, options: impl Into<SamplerOptions>) -> Result<MemoryPlan> {
        let options = options.into();
        let parts = self.parts()?.iter().map(|part| part.memory_plan(options)).collect::<Result<Vec<_>>>()?;
        Ok(MemoryPlan::of_parts(self.features(), &parts))
    }
}

impl KDpp {
    /// The most memory that a sampler holds.
    #[must_use]
    pub fn memory_plan(&self, options: impl Into<SamplerOptions>) -> MemoryPlan {
        let ground = &self.ground;
        let items = ground.free_items().len();
        let (features, rank, size) = (ground.features(), ground.dims_left(), self.free_size());
        let mut plan = MemoryPlan::spectral(features, [items, 1], rank, size, options.into().projection);
        plan.add_lists(ground, items);
        plan
    }
}

impl Dpp {
    /// The most memory that a sampler holds.
    #[must_use]
    pub fn memory_plan(&self, options: impl Into<SamplerOptions>) -> MemoryPlan {
        let (ground, rank) = (&self.ground, self.ground.dims_left());
        let items = ground.free_items().len();
        let mut plan =
            MemoryPlan::spectral(ground.features(), [items, 1], rank, rank, options.into().projection);
        plan.add_lists(ground, items);
        plan
    }
}

impl IndependentKDpps {
    /// The most memory that a sampler holds.
    #[must_use]
    pub fn memory_plan(&self, options: impl Into<SamplerOptions>) -> MemoryPlan {
        let (features, way) = (self.ground.features(), options.into().projection);
        let of_part = |part: &PartKDpp| {
            MemoryPlan::spectral(features, [part.items.len(), 1], part.ground.dims_left(), part.count, way)
        };
        let parts: Vec<MemoryPlan> = self.parts.iter().map(of_part).collect();
        MemoryPlan::of_parts(self.ground.features(), &parts)
    }
}
