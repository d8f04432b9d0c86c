//! Rows, each multiplied by the map of its part.

use std::borrow::Borrow;

use super::Map;
use crate::{
    Features, Partition, Result,
    engine::{Engine, Items, Rows},
    parallel::{map_ordered, map_ordered_mut},
};

/// Parts whose maps are held in memory at a time.
const PARTS: usize = 16;
/// Rows mapped by one task, if there are few parts.
const RUN: usize = 1 << 12;
/// The fewest tasks for many rows.
const TASKS: usize = 64;

/// Mapped rows.
pub(crate) struct Mapped {
    /// Without weights and residuals.
    pub(crate) features: Features,
    /// The largest factor by which a row can have become longer.
    pub(crate) longest: f64,
}

/// The rows as they are stored, each multiplied by the map of its part.
pub(crate) fn mapped<M: Borrow<Map> + Send + Sync>(
    features: &Features,
    partition: &Partition,
    map: impl Fn(usize) -> Result<M> + Sync + Send,
    engine: &Engine,
) -> Result<Mapped> {
    let (items, dims, parts) = (features.items(), features.dims(), partition.parts());
    let (stored, mut values) = (features.unweighted(), vec![0.0; items * dims]);
    let mut longest = 0.0_f64;
    for first in (0..parts).step_by(PARTS) {
        let maps = map_ordered(PARTS.min(parts - first), |at| {
            let rows = Rows::scaled(&stored, vec![Items::of_part(partition, first + at)]);
            map(first + at).map(|map| (map, rows.scales()[0]))
        });
        let maps = maps.into_iter().collect::<Result<Vec<(M, f64)>>>()?;
        longest = maps.iter().map(|(map, _)| map.borrow().most()).fold(longest, f64::max);
        write((&maps, first), &stored, partition, &mut values, engine)?;
    }
    Ok(Mapped { features: Features::from_rows(items, dims, values)?, longest })
}

/// Writes the rows of some parts, from part `first` on, to their places.
fn write<M: Borrow<Map> + Sync>(
    (maps, first): (&[(M, f64)], usize),
    rows: &Features,
    partition: &Partition,
    values: &mut [f64],
    engine: &Engine,
) -> Result<()> {
    let (items, dims) = (rows.items(), rows.dims());
    let run = (RUN * partition.parts().div_ceil(PARTS)).min((items / TASKS).max(RUN));
    let tasks = map_ordered_mut(values.chunks_mut(run * dims).collect(), |task, out: &mut [f64]| {
        let start = task * run;
        for ((map, scale), part) in maps.iter().zip(first..) {
            let members = partition.members(part);
            let before = |end: usize| members.partition_point(|&item| (item as usize) < end);
            let own = &members[before(start)..before(start + run)];
            engine.proceed_after(own.len())?;
            map.borrow().write((rows, *scale), own, start, out);
        }
        Ok(())
    });
    tasks.into_iter().collect()
}
