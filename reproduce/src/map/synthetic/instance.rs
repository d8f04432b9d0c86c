//! One random instance, and its solutions.

use std::time::Duration;

use partition_dpp::{
    Dpp, Engine, Features,
    map::{Softmax, Solution, Solver, SymmetricGreedy},
};

use super::{
    super::{Effort, Solved, Spectrum, mean_and_deviation, solve_size},
    BOUNDED, Regime,
};
use crate::{context::Context, failure::Failure};

const RESTARTS: u64 = 8;
/// The time limit for one bound.
const LIMIT: Duration = Duration::from_secs(20);

/// The solutions of one instance.
pub(super) struct Instance {
    pub(super) solved: Vec<Solved>,
    pub(super) spectrum: Spectrum,
    /// The set from symmetric greedy, and greedy and local search at its size.
    pub(super) symmetric: Free,
    pub(super) softmax: Free,
}

/// The set of any size from a solver, and the results of the other solvers at its size.
pub(super) struct Free {
    pub(super) log_det: f64,
    pub(super) at_its_size: Solved,
}

pub(super) fn instances(context: &Context<'_>, regime: &Regime) -> Result<Vec<Instance>, Failure> {
    (0..context.setup.instances).map(|number| instance(context, regime, number)).collect()
}

fn instance(context: &Context<'_>, regime: &Regime, number: u64) -> Result<Instance, Failure> {
    context.step(&format!("map-synthetic: {}, instance {}", regime.name, number + 1))?;
    let values = context.uniform(regime.file, number, regime.items * regime.dims);
    let values: Vec<f64> = values.into_iter().map(|x| regime.largest * x).collect();
    let features = Features::from_rows(regime.items, regime.dims, values)?;
    let effort = |size: usize| Effort {
        restarts: RESTARTS,
        seed: number,
        limit: if number < BOUNDED { LIMIT } else { Duration::ZERO },
        exact: size <= regime.exact_to,
        watch: context.setup.watch.clone(),
    };
    let solve = |size: usize| solve_size(&features, size, effort(size));
    let any = Dpp::new(&features)?;
    let free = |found: Solution| -> Result<Free, Failure> {
        let quick = Effort { limit: Duration::ZERO, ..effort(regime.items) };
        let at_its_size = solve_size(&features, found.subset.len(), quick)?;
        Ok(Free { log_det: found.log_det, at_its_size })
    };
    Ok(Instance {
        spectrum: Spectrum::of(&features),
        solved: regime.sizes.iter().map(|(size, ..)| solve(*size)).collect::<Result<_, _>>()?,
        symmetric: free(SymmetricGreedy::default().solve(&any, &Engine::cpu())?)?,
        softmax: free(Softmax::default().solve(&any, &Engine::cpu())?)?,
    })
}

/// Returns the mean and the standard deviation over the instances, at one size.
pub(super) fn over(instances: &[Instance], at: usize, of: impl Fn(&Solved) -> f64) -> (f64, f64) {
    mean_and_deviation(&instances.iter().map(|instance| of(&instance.solved[at])).collect::<Vec<_>>())
}

pub(super) fn bounded(instances: &[Instance]) -> &[Instance] {
    #[expect(clippy::cast_possible_truncation, reason = "a handful")]
    &instances[..instances.len().min(BOUNDED as usize)]
}
