//! What the library makes of a problem.

use oracles::{Constraint, Data, Problem, Storage};
use partition_dpp::{
    Engine, Features, Kernel, Partition, Quota, Result,
    similarity::{Bandwidth, Rbf},
};

/// What models are made of.
pub struct Parts {
    pub features: Features,
    pub partition: Partition,
    pub quota: Option<Quota>,
    pub ranges: Option<Quota>,
}

impl Parts {
    /// Features, or the library's factor of a dense kernel; partition and quotas.
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
        let (mut quota, mut ranges) = (None, None);
        match &problem.constraint {
            Constraint::Quota(counts) | Constraint::Independent(counts) => {
                quota = Some(Quota::new(&partition, counts)?);
            }
            Constraint::Ranges(counts, total) => {
                let made = Quota::new(&partition, counts)?;
                ranges = Some(match total {
                    Some(total) => made.with_total(*total)?,
                    None => made,
                });
            }
            Constraint::Any | Constraint::Size(_) => {}
        }
        Ok(Self { features, partition, quota, ranges })
    }
}
