//! One way of bounding a problem, and what carries over to its parts.

use super::{
    Subproblem,
    choice::{Choices, LinearMaximum},
    columns::{Held, Priced, maximise_by_columns},
    dense::DenseKernel,
    descent::{Descent, descend},
    gamma::Gamma,
    interior_point::{Bounded, maximise},
    linx::linx,
    relaxation::Majorant,
};
use crate::{
    Error, Result,
    map::{Place, rounding::of_value},
};

/// Problems of more items are bounded by few of them at a time.
const MOST_AT_ONCE: usize = 150;
/// No bound is taken nearer to its relaxation's maximum.
const CLOSEST: f64 = 1e-7;
/// Kernels up to this size may have their diagonal taken out, or be inverted.
pub(crate) const MOST_DENSE: usize = 400;

/// A relaxation with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Method {
    Gamma,
    /// ψ of every item; empty for a guess.
    Shifted(Vec<f64>),
    /// ψ of every item, for the inverse kernel.
    Complement(Vec<f64>),
    /// ln γ.
    Linx(f64),
}

impl Method {
    /// What can be tried on a problem.
    pub(crate) fn all_for(problem: &Subproblem) -> Vec<Self> {
        let mut methods = vec![Method::Gamma];
        if problem.len() <= MOST_DENSE {
            methods.push(Method::Linx(f64::NAN));
            if problem.len() <= problem.dims() {
                methods.extend([Method::Shifted(Vec::new()), Method::Complement(Vec::new())]);
            }
        }
        methods
    }

    /// The parameters of a part of a problem as parameters of the whole: 0 where nothing is known.
    pub(crate) fn of_whole(self, part: &Subproblem, whole: &Subproblem) -> Self {
        let spread = |scaling: Vec<f64>| -> Vec<f64> {
            let known = |&place: &Place| part.position(place).map_or(0.0, |item| scaling[item]);
            whole.places().iter().map(known).collect()
        };
        match self {
            Method::Shifted(scaling) => Method::Shifted(spread(scaling)),
            Method::Complement(scaling) => Method::Complement(spread(scaling)),
            other => other,
        }
    }
}

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// A bound below this is as good as any.
    pub(crate) target: f64,
    /// Stops when the bound is above the relaxation's maximum by no more than this share of what it is above the
    /// target; 0 for as near as can be.
    pub(crate) share: f64,
    /// Steps on the parameters.
    pub(crate) tuning: usize,
    /// Steps on the parameters end when one gains less than this share of what is above the target.
    pub(crate) tuning_share: f64,
}

/// A bound, and what to do next.
#[derive(Clone, Debug)]
pub(crate) struct Relaxed {
    pub(crate) upper_bound: f64,
    pub(crate) x: Vec<f64>,
    /// By how much the bound falls if an item is forced the other way. Rounded: see [`otherwise`](Self::otherwise).
    regret: Vec<f64>,
    /// Whether that way is out.
    pub(crate) taken: Vec<bool>,
    pub(crate) steps: u64,
    /// With the parameters found.
    pub(crate) method: Method,
}

/// The bound of a problem with something to choose in every group; `None` where the method does not apply, or where
/// rounding is too much for it.
pub(crate) fn relax(
    problem: &Subproblem,
    method: &Method,
    start: Option<Vec<f64>>,
    effort: Effort,
    ended: &dyn Fn() -> bool,
) -> Result<Option<Relaxed>> {
    usable(relax_by(problem, method, start, effort, ended)).map(Option::flatten)
}

/// What numbers of some magnitudes leave undecided is no bound, and no error either: there are other bounds.
pub(crate) fn usable<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(bound) => Ok(Some(bound)),
        Err(Error::Eigen { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn relax_by(
    problem: &Subproblem,
    method: &Method,
    start: Option<Vec<f64>>,
    effort: Effort,
    ended: &dyn Fn() -> bool,
) -> Result<Option<Relaxed>> {
    let choices = Choices::of(problem);
    let enough = |bound: f64, value: f64| {
        bound < effort.target
            || ended()
            || bound - value < (effort.share * (bound - effort.target)).max(CLOSEST)
    };
    let descent = Descent { steps: effort.tuning, share: effort.tuning_share, target: effort.target };
    match method {
        Method::Gamma if problem.len() > MOST_AT_ONCE => {
            let held = Held::new(problem);
            let priced = maximise_by_columns(&held, held.start(), &enough)?;
            Ok(Some(Relaxed::from_priced(priced)))
        }
        Method::Gamma => {
            let bounded = maximise(&Gamma::of(problem).compressed(), &choices, start, &enough)?;
            Ok(Some(Relaxed::of(bounded, &choices, Method::Gamma)))
        }
        Method::Shifted(scaling) => {
            let kernel = DenseKernel::of(problem);
            let scaling = &kernel.scaling_or_guess(scaling)?;
            let (scaling, bounded) = descend(&kernel, &choices, scaling, start, descent, &enough)?;
            Ok(Some(Relaxed::of(bounded, &choices, Method::Shifted(scaling))))
        }
        Method::Complement(scaling) => {
            let Some(kernel) = DenseKernel::of(problem).complement()? else { return Ok(None) };
            let left_out = choices.complement();
            let start = start.map(|x| x.iter().map(|x| 1.0 - x).collect());
            let scaling = &kernel.scaling_or_guess(scaling)?;
            let (scaling, bounded) = descend(&kernel, &left_out, scaling, start, descent, &enough)?;
            Ok(Some(Relaxed::of(bounded, &left_out, Method::Complement(scaling)).complement()))
        }
        Method::Linx(log_scale) => {
            let bounded = linx(&DenseKernel::of(problem), &choices, *log_scale, start, descent, &enough);
            // A kernel too badly conditioned for its square is none for linx.
            Ok(bounded.map(|(bounded, log_scale)| Relaxed::of(bounded, &choices, Method::Linx(log_scale))))
        }
    }
}

impl Relaxed {
    fn of<P>(bounded: Bounded<P>, choices: &Choices, method: Method) -> Self {
        let Bounded { upper_bound, x, majorant, steps, .. } = bounded;
        let LinearMaximum { regret, taken, .. } = choices.best(&majorant.slopes);
        Self { upper_bound, x, regret, taken, steps, method }
    }

    pub(super) fn from_priced(priced: Priced) -> Self {
        let Priced { upper_bound, x, best, steps, .. } = priced;
        let LinearMaximum { regret, taken, .. } = best;
        Self { upper_bound, x, regret, taken, steps, method: Method::Gamma }
    }

    /// Without a relaxation.
    pub(super) fn of_majorant(majorant: &Majorant, choices: &Choices) -> Self {
        let LinearMaximum { regret, taken, .. } = choices.best(&majorant.slopes);
        let x = choices.centre(taken.len());
        let upper_bound = majorant.maximum(choices);
        Self { upper_bound, x, regret, taken, steps: 0, method: Method::Gamma }
    }

    /// With a lower bound of the same problem.
    pub(crate) fn or(self, other: &Self) -> Self {
        if self.upper_bound <= other.upper_bound {
            return self;
        }
        let (regret, taken) = (other.regret.clone(), other.taken.clone());
        Self { upper_bound: other.upper_bound, regret, taken, ..self }
    }

    /// No set with an item forced the other way is worth more.
    pub(crate) fn otherwise(&self, item: usize) -> f64 {
        let (bound, regret) = (self.upper_bound, self.regret[item]);
        let otherwise = bound - regret + of_value(bound) + of_value(regret);
        // Nothing less nothing.
        if otherwise.is_nan() { bound } else { otherwise }
    }

    /// From what is left out to what is chosen.
    fn complement(mut self) -> Self {
        self.x.iter_mut().for_each(|x| *x = 1.0 - *x);
        self.taken.iter_mut().for_each(|taken| *taken = !*taken);
        self
    }
}
