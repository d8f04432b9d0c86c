//! The models behind one face.

use partition_dpp::{
    Dpp, Engine, IndependentKDpps, Inference, KDpp, Method, PartitionDpp, Projection, Result, Sampler,
    SamplerOptions,
};

use super::{Constraint, Examined, Parts, answers, chain, draws, ridge, solvers};

#[derive(Debug)]
pub enum Model {
    Any(Dpp),
    Size(KDpp),
    Quota(PartitionDpp),
    Independent(IndependentKDpps),
    Ranges(PartitionDpp),
}

impl Model {
    pub fn new(parts: &Parts, constraint: &Constraint, include: &[usize], exclude: &[usize]) -> Result<Self> {
        let (features, partition) = (&parts.features, &parts.partition);
        Ok(match (constraint, &parts.quota, &parts.ranges) {
            (Constraint::Size(k), ..) => {
                Self::Size(KDpp::new(features, *k)?.including(include)?.excluding(exclude)?)
            }
            (Constraint::Independent(_), Some(quota), _) => Self::Independent(
                IndependentKDpps::new(features, partition, quota)?.including(include)?.excluding(exclude)?,
            ),
            (_, Some(quota), _) => Self::Quota(
                PartitionDpp::new(features, partition, quota)?.including(include)?.excluding(exclude)?,
            ),
            (_, _, Some(ranges)) => Self::Ranges(
                PartitionDpp::new(features, partition, ranges)?.including(include)?.excluding(exclude)?,
            ),
            _ => Self::Any(Dpp::new(features)?.including(include)?.excluding(exclude)?),
        })
    }

    /// `None` for a law that is only drawn from.
    pub fn inference(&self, engine: &Engine) -> Option<Result<Inference>> {
        match self {
            Self::Any(dpp) => Some(dpp.inference(engine)),
            Self::Size(dpp) => Some(dpp.inference(engine)),
            Self::Quota(dpp) | Self::Ranges(dpp) => Some(dpp.inference(engine)),
            Self::Independent(_) => None,
        }
    }

    /// Every exact sampler of the law.
    pub fn samplers(&self, engine: &Engine) -> Vec<(&'static str, Result<Sampler>)> {
        let by_projection = |name: [&'static str; 2], make: &dyn Fn(Projection) -> Result<Sampler>| {
            vec![(name[0], make(Projection::Leverage)), (name[1], make(Projection::Elementary))]
        };
        let names = ["leverage", "elementary"];
        match self {
            Self::Any(dpp) => by_projection(names, &|how| {
                dpp.sampler(SamplerOptions::default().with_projection(how), engine)
            }),
            Self::Size(dpp) => by_projection(names, &|how| {
                dpp.sampler(SamplerOptions::default().with_projection(how), engine)
            }),
            Self::Ranges(dpp) => by_projection(names, &|how| {
                dpp.sampler(SamplerOptions::default().with_projection(how), engine)
            }),
            Self::Independent(dpp) => by_projection(names, &|how| {
                dpp.sampler(SamplerOptions::default().with_projection(how), engine)
            }),
            Self::Quota(dpp) => {
                let methods = [Method::Rejection, Method::Interpolation, Method::PerCandidate];
                let names = ["rejection", "interpolation", "per-candidate"];
                names.into_iter().zip(methods.map(|method| dpp.sampler(method, engine))).collect()
            }
        }
    }
}

/// Asks everything.
pub fn look(examined: &mut Examined<'_>) {
    let problem = examined.problem;
    let made = match Parts::of(problem) {
        Ok(made) => made,
        Err(error) => {
            if examined.law.is_some() {
                examined.report.refuse("input", &error);
            }
            return;
        }
    };
    let model = match Model::new(&made, &problem.constraint, &problem.include, &problem.exclude) {
        Ok(model) => model,
        Err(error) => {
            if examined.law.is_some() {
                examined.report.refuse("model", &error);
            }
            return;
        }
    };
    ridge::look(examined);
    answers::inference(examined, &model);
    answers::part_counts(examined, &model, &made);
    if examined.effort.draws > 0 {
        draws::samplers(examined, &model);
    }
    if let (Model::Quota(dpp), true) = (&model, examined.effort.paths > 0) {
        chain::conditionals(examined, dpp);
    }
    if examined.effort.solvers {
        match &model {
            Model::Any(dpp) => {
                solvers::any_size(examined, dpp);
                solvers::solve(examined, dpp);
            }
            Model::Size(dpp) => solvers::solve(examined, dpp),
            Model::Quota(dpp) | Model::Ranges(dpp) => solvers::solve(examined, dpp),
            Model::Independent(_) => {}
        }
    }
}
