//! One grid of nodes, and the picks made on it.

use std::sync::Arc;

use super::{OpenPart, PartitionDpp};
use crate::{
    Error, Result,
    data::{FreeItems, GroundSet},
    engine::{Cpu, Engine, Group, Items, Rows},
    linalg::{
        OrthonormalBasis, column,
        kernels::{dot, scale},
    },
    polynomial::{
        generating_function::GeneratingFunction,
        torus::{Torus, TorusPlan, coefficient_bound},
    },
};

/// Where the coefficient wanted falls below this fraction of what a fresh tilt guarantees, tilt anew: at a
/// fixed radius late picks of large quotas lose their digits.
const FADED: f64 = 0.25;

/// What is drawn from, and on what machine.
#[derive(Clone, Debug)]
pub(super) struct Problem<'a> {
    ground: GroundSet<'a>,
    parts: Vec<OpenPart<'a>>,
    /// Scale of each part's rows.
    scales: Vec<f64>,
    pub(super) engine: &'a dyn Engine,
    /// Error of the spectrum.
    pub(super) error: f64,
}

impl Problem<'_> {
    pub(super) fn items(&self, group: usize) -> Items<'_> {
        Items::from(&self.parts[group].items)
    }

    /// Rows of some groups, at the scales of the set-up.
    pub(super) fn rows(&self, groups: &[usize]) -> Rows<'_> {
        let group = |&at: &usize| Group { items: self.items(at), scale: self.scales[at] };
        Rows::with_scales(self.ground.features(), groups.iter().map(group).collect())
    }

    pub(super) fn item_count(&self) -> usize {
        self.ground.features().items()
    }

    /// The group that an item is free in.
    pub(super) fn group_of(&self, item: usize) -> Result<usize> {
        let items = self.item_count();
        if item >= items {
            return Err(Error::ItemOutOfRange { item, items });
        }
        let holds = |part: &OpenPart<'_>| match &part.items {
            FreeItems::All(_) => true,
            FreeItems::Listed(items) => {
                u32::try_from(item).is_ok_and(|item| items.binary_search(&item).is_ok())
            }
        };
        self.parts.iter().position(holds).ok_or(Error::ImpossiblePick { item })
    }
}

/// The generating function of what is left to choose, its nodes, and the picks made since they were laid out.
#[derive(Clone, Debug)]
pub(super) struct Stage<'a> {
    pub(super) problem: Arc<Problem<'a>>,
    /// Groups that the generating function has a variable for.
    pub(super) groups: Vec<usize>,
    pub(super) function: Arc<GeneratingFunction>,
    pub(super) torus: Arc<Torus>,
    /// What is left to choose from each of these groups.
    pub(super) left: Vec<usize>,
    /// Items picked, in order, on this grid and those before.
    pub(super) picks: Vec<usize>,
    /// What the picks on this grid have used up.
    directions: OrthonormalBasis,
}

impl<'a> Stage<'a> {
    pub(super) fn start(dpp: &PartitionDpp<'a>, engine: &'a dyn Engine) -> Result<Self> {
        let rows = dpp.rows();
        let scales = rows.scales();
        let spectrum = dpp.spectrum(engine, &rows)?;
        let left = dpp.free_counts();
        let (function, _) = GeneratingFunction::of_size(&spectrum, &scales, left.iter().sum())?;
        let plan = TorusPlan::for_coefficient(&function, &left)?.within(dpp.interpolation_budget())?;
        let problem = Problem {
            ground: dpp.ground.clone(),
            parts: dpp.parts.clone(),
            scales,
            engine,
            error: spectrum.spectrum.error,
        };
        let groups = (0..left.len()).collect();
        Ok(Self::on(Arc::new(problem), groups, function, Torus::new(plan), left, Vec::new()))
    }

    fn on(
        problem: Arc<Problem<'a>>,
        groups: Vec<usize>,
        function: GeneratingFunction,
        torus: Torus,
        left: Vec<usize>,
        picks: Vec<usize>,
    ) -> Self {
        let directions = OrthonormalBasis::new(function.rank());
        Self {
            problem,
            groups,
            function: Arc::new(function),
            torus: Arc::new(torus),
            left,
            picks,
            directions,
        }
    }

    /// Items still to choose.
    pub(super) fn total(&self) -> usize {
        self.left.iter().sum()
    }

    /// The unit direction that picking an item of a group (by position in `groups`) uses up.
    pub(super) fn direction(&self, item: usize, at: usize) -> Result<Vec<f64>> {
        let impossible = Error::ImpossiblePick { item };
        if self.left[at] == 0 {
            return Err(impossible);
        }
        let GeneratingFunction { map, weights, .. } = &*self.function;
        let features = self.problem.ground.features();
        let mut row = vec![0.0; features.dims()];
        features.read_row(item, weights[at] * self.problem.scales[self.groups[at]], &mut row);
        let mut u: Vec<f64> = (0..map.ncols()).map(|j| dot(column(map.as_ref(), j), &row)).collect();
        if OrthonormalBasis::normalise(&mut u).is_none() {
            return Err(impossible);
        }
        let Some(norm) = self.directions.remove_from(&mut u) else {
            return Err(impossible);
        };
        scale(&mut u, norm.recip());
        Ok(u)
    }

    /// Takes note of a pick.
    pub(super) fn record(&mut self, item: usize, at: usize, direction: &[f64]) {
        self.left[at] -= 1;
        self.picks.push(item);
        self.directions.extend(direction);
    }

    /// Whether new nodes serve the rest better: the coefficient wanted has faded.
    pub(super) fn has_faded(&self, coefficient: f64) -> bool {
        self.total() > 0 && (coefficient.is_nan() || coefficient < FADED * coefficient_bound(&self.left))
    }

    /// A new grid for what is left, at its own tilt, without the groups that are done.
    ///
    /// # Errors
    /// [`Error::Eigen`].
    pub(super) fn renewed(&self) -> Result<Self> {
        let (function, kept) = self.function.after(self.directions.as_matrix(), &self.left);
        let left: Vec<usize> = kept.iter().map(|&at| self.left[at]).collect();
        let torus = Torus::new(TorusPlan::for_coefficient(&function, &left)?);
        let groups = kept.iter().map(|&at| self.groups[at]).collect();
        Ok(Self::on(Arc::clone(&self.problem), groups, function, torus, left, self.picks.clone()))
    }

    /// The group to draw from: the one drawn from last until it is done, then the one with the least left, since
    /// its grid is the largest.
    pub(super) fn current(&self, last: Option<usize>) -> usize {
        let open = |&at: &usize| self.left[at] > 0;
        let same = (0..self.left.len()).filter(open).find(|&at| Some(self.groups[at]) == last);
        same.or_else(|| (0..self.left.len()).filter(open).min_by_key(|&at| self.left[at])).unwrap_or_default()
    }

    /// Whether picks have been made on this grid.
    pub(super) fn is_used(&self) -> bool {
        self.directions.len() > 0
    }

    /// The group drawn from last.
    pub(super) fn last_group(&self) -> Option<usize> {
        self.picks.last().and_then(|&item| self.problem.group_of(item).ok())
    }

    /// Position of the group, and the item, of a candidate counted over all groups.
    pub(super) fn candidate(&self, mut position: usize) -> (usize, usize) {
        let mut at = 0;
        loop {
            let items = self.problem.items(self.groups[at]);
            if position < items.len() {
                return (at, items.at(position));
            }
            position -= items.len();
            at += 1;
        }
    }

    /// The picks, as the samplers return them.
    #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
    pub(super) fn drawn(&self) -> Vec<u32> {
        self.picks.iter().map(|&item| item as u32).collect()
    }

    /// Changes the engine.
    pub(super) fn compute_on(&mut self, engine: Option<&'a dyn Engine>) {
        if let Some(engine) = engine {
            self.problem = Arc::new(Problem { engine, ..(*self.problem).clone() });
        }
    }
}

/// A draw on the engine of the set-up, or, should that fail on the way, from the start on the CPU, which has no
/// failures.
pub(super) fn infallible<'a, T>(mut draw: impl FnMut(Option<&'a dyn Engine>) -> Result<T>) -> T {
    match draw(None).or_else(|_| draw(Some(&Cpu))) {
        Ok(drawn) => drawn,
        Err(error) => unreachable!("the CPU has no failures: {error}"),
    }
}
