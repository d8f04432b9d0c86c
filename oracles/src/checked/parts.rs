//! Builds the library's types from a problem.

use partition_dpp::{
    Engine, Features, Kernel, Partition, Quota, Result, Sets,
    similarity::{Bandwidth, Rbf},
};

use crate::{Constraint, Data, Problem, Storage};

/// The inputs of a model.
pub struct Parts {
    pub features: Features,
    pub partition: Partition,
    pub sets: Sets,
}

impl Parts {
    /// Builds the features (or the library's factor of a dense kernel), the partition and the quota.
    pub fn of(problem: &Problem) -> Result<Self> {
        let rows = problem.ridge.as_ref().map_or(&problem.rows, |(rows, _)| rows);
        let flat = rows.concat();
        let (items, dims) = (problem.items(), rows[0].len());
        let features = match (problem.data, problem.storage) {
            (Data::Kernel, _) => Kernel::from_dense(items, &flat)?.features().clone(),
            (Data::Gaussian, _) => {
                let points = Features::from_rows(items, dims, flat)?;
                Rbf::new(Bandwidth::Exactly(1.0)).features(&points, &Engine::cpu())?.features().clone()
            }
            (Data::Features, Storage::F64) => Features::from_rows(items, dims, flat)?,
            (Data::Features, Storage::F32) => {
                Features::from_rows(items, dims, flat.iter().map(|&x| x as f32).collect::<Vec<_>>())?
            }
        };
        let features = match problem.ridge {
            Some((_, delta)) => features.with_ridge(delta)?,
            None => features,
        };
        let features = match &problem.log_weights[..] {
            [] => features,
            weights => features.with_log_quality(weights)?,
        };
        let partition = Partition::from_labels(&problem.labels)?;
        let sets = sets(&partition, &problem.constraint)?;
        Ok(Self { features, partition, sets })
    }
}

/// Returns the sets that a constraint allows.
pub fn sets(partition: &Partition, constraint: &Constraint) -> Result<Sets> {
    let quota = match constraint {
        Constraint::Any => return Ok(Sets::OfAnySize),
        Constraint::Size(k) => return Ok(Sets::OfSize(*k)),
        Constraint::Quota(counts) | Constraint::Independent(counts) => Quota::new(partition, counts)?,
        Constraint::Ranges(ranges, None) => Quota::new(partition, ranges)?,
        Constraint::Ranges(ranges, Some(total)) => Quota::new(partition, ranges)?.with_total(*total)?,
    };
    Ok(Sets::Quota(partition.clone(), quota))
}
