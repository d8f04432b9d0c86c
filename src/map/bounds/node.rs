//! Bounds of a subproblem by one method, and the parameters that carry over to its parts.

use serde::{Deserialize, Serialize};

use super::{
    Subproblem,
    choice::{Choices, LinearMaximum},
    columns::{Held, Priced, maximise_by_columns},
    dense::DenseKernel,
    descent::{Descent, descend},
    gamma::Gamma,
    interior_point::{Bounded, maximise},
    linx::{Scaled, equal_scales},
    relaxation::Majorant,
};
use crate::{
    Error, Result,
    map::{Place, rounding::of_value},
};

/// Subproblems with more items are bounded by column generation.
pub(super) const MOST_AT_ONCE: usize = 150;
/// The distance from the relaxation's maximum at which a bound is good enough.
const CLOSEST: f64 = 1e-7;
/// Kernels up to this size may have a diagonal split off, or be inverted.
pub(crate) const MOST_DENSE: usize = 400;

/// A relaxation with its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Method {
    Gamma,
    /// The ψ of every item; empty for a guess.
    Shifted(Vec<f64>),
    /// The ψ of every item, for the inverse kernel.
    Complement(Vec<f64>),
    /// The ln γ and ln ν of every item; empty for a guess.
    Linx([Vec<f64>; 2]),
}

impl Method {
    /// The methods that apply to a subproblem.
    pub(crate) fn all_for(problem: &Subproblem) -> Vec<Self> {
        let mut methods = vec![Method::Gamma];
        if problem.len() <= MOST_DENSE {
            methods.push(Method::Linx(Default::default()));
            if problem.len() <= problem.dims {
                methods.extend([Method::Shifted(Vec::new()), Method::Complement(Vec::new())]);
            }
        }
        methods
    }

    /// Whether the method has no parameters, or a finite one for each of `items` items.
    pub(crate) fn fits(&self, items: usize) -> bool {
        let fits = |list: &Vec<f64>| list.len() == items && list.iter().all(|x| x.is_finite());
        match self {
            Method::Gamma => true,
            Method::Shifted(scaling) | Method::Complement(scaling) => fits(scaling),
            Method::Linx(scales) => scales.iter().all(fits),
        }
    }

    /// The parameters of items, in lists with one per item.
    pub(crate) fn parameters(&mut self) -> &mut [Vec<f64>] {
        match self {
            Method::Gamma => &mut [],
            Method::Shifted(scaling) | Method::Complement(scaling) => std::slice::from_mut(scaling),
            Method::Linx(scales) => scales,
        }
    }

    /// Converts the parameters of a part to parameters of the whole; 0 if unknown.
    pub(crate) fn of_whole(mut self, part: &Subproblem, whole: &Subproblem) -> Self {
        for list in self.parameters().iter_mut().filter(|list| !list.is_empty()) {
            let known = |&place: &Place| part.position(place).map_or(0.0, |item| list[item]);
            *list = whole.places.iter().map(known).collect();
        }
        self
    }
}

/// The conditions under which a bound is good enough.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// A bound below this is good enough.
    pub(crate) target: f64,
    /// The run stops when the bound is above the relaxation's maximum by at most this share of its excess over the
    /// target.
    ///
    /// With 0, it gets as close as possible.
    pub(crate) share: f64,
    /// The most steps on the parameters.
    pub(crate) tuning: usize,
    /// Steps on the parameters end when a step gains less than this share of the excess over the target.
    pub(crate) tuning_share: f64,
}

impl Effort {
    /// The effort for a node of a tree, for which only a bound below the target is enough.
    pub(crate) fn of_node(target: f64) -> Self {
        Self { target, share: 0.1, tuning: 2, tuning_share: 0.2 }
    }

    /// Whether a bound is good enough, or the time is up, for a relaxation that has reached a value.
    pub(super) fn enough(self, ended: &dyn Fn() -> bool) -> impl Fn(f64, f64) -> bool {
        move |bound, value| {
            bound < self.target
                || ended()
                || bound - value < (self.share * (bound - self.target)).max(CLOSEST)
        }
    }
}

/// A bound with the guidance for branching.
#[derive(Clone, Debug)]
pub(crate) struct Relaxed {
    pub(crate) upper_bound: f64,
    pub(crate) x: Vec<f64>,
    /// The expected decrease of the bound if an item is decided.
    pub(crate) doubt: Vec<f64>,
    /// The decrease of the bound if the choice of an item is reversed; rounded, see [`otherwise`](Self::otherwise).
    regret: Vec<f64>,
    /// Whether an item is in at the bound's maximum.
    pub(crate) taken: Vec<bool>,
    pub(crate) steps: u64,
    /// The method with the parameters found.
    pub(crate) method: Method,
}

/// Bounds a subproblem with choices in every group; `None` if the method does not apply or rounding makes it
/// unusable.
pub(crate) fn relax(
    problem: &Subproblem,
    method: &Method,
    start: Option<Vec<f64>>,
    effort: Effort,
    ended: &dyn Fn() -> bool,
) -> Result<Option<Relaxed>> {
    let choices = Choices::of(problem);
    let enough = effort.enough(ended);
    let descent = Descent { steps: effort.tuning, share: effort.tuning_share, target: effort.target };
    let by_method = || match method {
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
        Method::Linx([inner, outer]) => {
            let kernel = DenseKernel::of(problem);
            let known = [inner.as_slice(), outer].concat();
            // Linx squares the kernel, so a badly conditioned kernel has no bound.
            let scales =
                if known.is_empty() { equal_scales(&kernel, &choices, &enough) } else { Some(known) };
            let Some(scales) = scales else { return Ok(None) };
            let (scales, bounded) = descend(&Scaled(&kernel), &choices, &scales, start, descent, &enough)?;
            let (inner, outer) = scales.split_at(problem.len());
            let method = Method::Linx([inner.to_vec(), outer.to_vec()]);
            Ok(Some(Relaxed::of(bounded, &choices, method)))
        }
    };
    usable(by_method()).map(Option::flatten)
}

/// Turns failures of the eigendecomposition, and passes that a watch ended, into `None`, since other bounds remain.
pub(crate) fn usable<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(bound) => Ok(Some(bound)),
        Err(Error::Eigen { .. } | Error::Ended(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

impl Relaxed {
    pub(super) fn of<P>(bounded: Bounded<P>, choices: &Choices, method: Method) -> Self {
        let doubt = bounded.doubts();
        let Bounded { upper_bound, x, majorant, steps, .. } = bounded;
        let LinearMaximum { regret, taken, .. } = choices.best(&majorant.slopes);
        Self { upper_bound, x, doubt, regret, taken, steps, method }
    }

    pub(super) fn from_priced(priced: Priced) -> Self {
        let Priced { upper_bound, x, doubt, best, steps } = priced;
        let LinearMaximum { regret, taken, .. } = best;
        Self { upper_bound, x, doubt, regret, taken, steps, method: Method::Gamma }
    }

    /// Creates the bound from a majorant alone.
    pub(super) fn of_majorant(majorant: &Majorant, choices: &Choices) -> Self {
        let LinearMaximum { regret, taken, .. } = choices.best(&majorant.slopes);
        let x = choices.centre(taken.len());
        let upper_bound = majorant.maximum(choices);
        let doubt = x.iter().map(|x| x * (1.0 - x)).collect();
        Self { upper_bound, x, doubt, regret, taken, steps: 0, method: Method::Gamma }
    }

    /// Takes the lower of two bounds of the same subproblem.
    pub(crate) fn or(self, other: &Self) -> Self {
        if self.upper_bound <= other.upper_bound {
            return self;
        }
        let (regret, taken) = (other.regret.clone(), other.taken.clone());
        Self { upper_bound: other.upper_bound, regret, taken, ..self }
    }

    /// An upper bound of the sets in which the choice of an item is reversed.
    pub(crate) fn otherwise(&self, item: usize) -> f64 {
        let (bound, regret) = (self.upper_bound, self.regret[item]);
        let otherwise = bound - regret + of_value(bound) + of_value(regret);
        // NaN from ∞ − ∞.
        if otherwise.is_nan() { bound } else { otherwise }
    }

    /// The items that a set worth `target` can contain, and an upper bound of the sets with other items.
    pub(crate) fn possible(&self, target: f64) -> (Vec<usize>, f64) {
        let (mut possible, mut left_out) = (Vec::new(), f64::NEG_INFINITY);
        for item in 0..self.taken.len() {
            let otherwise = self.otherwise(item);
            if self.taken[item] || otherwise >= target {
                possible.push(item);
            } else {
                left_out = left_out.max(otherwise);
            }
        }
        (possible, left_out)
    }

    /// Translates from the items left out to the chosen items.
    fn complement(mut self) -> Self {
        self.x.iter_mut().for_each(|x| *x = 1.0 - *x);
        self.taken.iter_mut().for_each(|taken| *taken = !*taken);
        self
    }
}
