//! One grid of nodes, and the picks made on it.

use std::sync::Arc;

use crate::{
    Error, PartitionDpp, Result, Watch,
    engine::{Engine, Group, Items, Rows},
    estimate::accurate,
    linalg::{
        OrthonormalBasis, column,
        kernels::{dot, scale},
    },
    model::{GroundSet, OpenPart},
    polynomial::{
        generating_function::GeneratingFunction,
        torus::{Torus, TorusPlan, coefficient_bound},
    },
};

/// The grid is renewed when the coefficient wanted falls below this fraction of the value that a fresh tilt
/// guarantees. At a fixed radius, late picks of large quotas lose digits.
const FADED: f64 = 0.25;

/// The data that all stages share, and the engine.
#[derive(Clone, Debug)]
pub(super) struct DrawSetup {
    ground: Arc<GroundSet>,
    parts: Arc<[OpenPart]>,
    /// The scale of each part's rows.
    scales: Vec<f64>,
    pub(super) engine: Engine,
    /// The error of the spectrum.
    pub(super) error: f64,
}

impl DrawSetup {
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

    /// The group in which an item is free.
    pub(super) fn group_of(&self, item: usize) -> Result<usize> {
        let items = self.item_count();
        if item >= items {
            return Err(Error::ItemOutOfRange { item, items });
        }
        self.parts.iter().position(|part| part.items.contains(item)).ok_or(Error::ImpossiblePick { item })
    }
}

/// The generating function of the items left to choose, its nodes, and the picks made since the nodes were computed.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    pub(super) setup: Arc<DrawSetup>,
    /// The groups with a variable of the generating function.
    pub(super) groups: Vec<usize>,
    pub(super) function: Arc<GeneratingFunction>,
    pub(super) torus: Arc<Torus>,
    /// The number of items left to choose from each of these groups.
    pub(super) left: Vec<usize>,
    /// Items picked, in order, on this grid and on earlier ones.
    pub(super) picks: Vec<usize>,
    /// The directions of the picks on this grid.
    directions: OrthonormalBasis,
}

/// An item about to be picked.
pub(super) struct Pick {
    item: usize,
    /// The item's group, by position in the stage.
    pub(super) at: usize,
    /// The unit vector of the item's residual beyond the picks, in coordinates of the grid.
    pub(super) direction: Vec<f64>,
}

impl Stage {
    pub(super) fn start(dpp: &PartitionDpp, engine: &Engine) -> Result<Self> {
        let left = dpp.exact_counts("interpolation, unlike rejection,")?;
        let rows = dpp.rows();
        let scales = rows.scales();
        let spectrum = dpp.spectrum(engine, &rows)?;
        let (function, _) = GeneratingFunction::of_size(&spectrum, &scales, left.iter().sum())?;
        let plan = TorusPlan::for_coefficient(&function, &left)?.within(dpp.interpolation_budget())?;
        let setup = DrawSetup {
            ground: Arc::new(dpp.ground().clone()),
            parts: dpp.open().to_vec().into(),
            scales,
            engine: engine.clone(),
            error: spectrum.spectrum.error,
        };
        let groups = (0..left.len()).collect();
        Ok(Self {
            setup: Arc::new(setup),
            groups,
            directions: OrthonormalBasis::new(function.rank()),
            function: Arc::new(function),
            torus: Arc::new(Torus::new(plan)),
            left,
            picks: Vec::new(),
        })
    }

    /// Estimated total variation error of the law, for this value of the coefficient wanted.
    ///
    /// # Errors
    /// [`Error::IllConditioned`] if rounding dominates the coefficient.
    pub(super) fn error(&self, coefficient: f64) -> Result<f64> {
        let rounding =
            2.0 * (self.function.rank() as f64 + 4.0) * self.setup.engine.info().precision.epsilon();
        accurate(self.total() as f64 * rounding / coefficient + self.setup.error)
    }

    /// The [`error`](Self::error) from the weights of all candidates, group after group. The weights of every group
    /// give the same coefficient, unless rounding dominates.
    ///
    /// # Errors
    /// The errors of [`error`](Self::error).
    pub(super) fn error_of(&self, mut weights: &[f64]) -> Result<f64> {
        let mut worst = 0.0;
        for (&group, &left) in self.groups.iter().zip(&self.left) {
            let own = weights.split_off(..self.setup.items(group).len()).unwrap_or_default();
            if left > 0 {
                worst = f64::max(worst, self.error(own.iter().sum::<f64>() / left as f64)?);
            }
        }
        Ok(worst)
    }

    /// The error of a draw without a positive weight.
    pub(super) fn lost(&self) -> Error {
        let picked = self.picks.len();
        Error::LostDraw { picked, wanted: picked + self.total() }
    }

    /// Items still to choose.
    pub(super) fn total(&self) -> usize {
        self.left.iter().sum()
    }

    /// The pick of an item of a group (by position in `groups`); `None` if the group is done, or if the row depends
    /// on the rows of the included items and the picks.
    pub(super) fn consider(&self, item: usize, at: usize) -> Option<Pick> {
        if self.left[at] == 0 || self.picks.contains(&item) {
            return None;
        }
        let GeneratingFunction { map, weights, .. } = &*self.function;
        let features = self.setup.ground.features();
        let mut row = vec![0.0; features.dims()];
        features.read_row(item, weights[at] * self.setup.scales[self.groups[at]], &mut row);
        self.setup.ground.unit_residual(&row)?;
        // In these coordinates, weights have ordinary magnitudes: rows that are too short here are never picked.
        let mut direction: Vec<f64> = (0..map.ncols()).map(|j| dot(column(map.as_ref(), j), &row)).collect();
        OrthonormalBasis::normalise(&mut direction)?;
        let norm = self.directions.remove_from(&mut direction)?;
        scale(&mut direction, norm.recip());
        Some(Pick { item, at, direction })
    }

    /// Records that an item was picked.
    pub(super) fn record(&mut self, pick: &Pick) {
        self.left[pick.at] -= 1;
        self.picks.push(pick.item);
        self.directions.extend(&pick.direction);
    }

    /// Whether the coefficient wanted has faded, so that the remaining items should be drawn on new nodes.
    pub(super) fn has_faded(&self, coefficient: f64) -> bool {
        self.total() > 0 && (coefficient.is_nan() || coefficient < FADED * coefficient_bound(&self.left))
    }

    /// A new grid for the items left, at its own tilt, without the groups that are done.
    ///
    /// # Errors
    /// [`Error::Eigen`] if an eigendecomposition fails.
    pub(super) fn renewed(&self) -> Result<Self> {
        let (function, kept) = self.function.after(self.directions.as_matrix(), &self.left);
        let left: Vec<usize> = kept.iter().map(|&at| self.left[at]).collect();
        let torus = Torus::new(TorusPlan::for_coefficient(&function, &left)?);
        Ok(Self {
            setup: Arc::clone(&self.setup),
            groups: kept.iter().map(|&at| self.groups[at]).collect(),
            directions: OrthonormalBasis::new(function.rank()),
            function: Arc::new(function),
            torus: Arc::new(torus),
            left,
            picks: self.picks.clone(),
        })
    }

    /// The group to draw from: the last one until it is done, then the one with the fewest items left, because its
    /// grid is the largest.
    pub(super) fn current(&self, last: Option<usize>) -> usize {
        let open = |&at: &usize| self.left[at] > 0;
        let same = (0..self.left.len()).filter(open).find(|&at| Some(self.groups[at]) == last);
        same.or_else(|| (0..self.left.len()).filter(open).min_by_key(|&at| self.left[at])).unwrap_or_default()
    }

    /// The group drawn from last.
    pub(super) fn last_group(&self) -> Option<usize> {
        self.picks.last().and_then(|&item| self.setup.group_of(item).ok())
    }

    /// The position of the group, and the item, of a candidate counted over all groups.
    pub(super) fn candidate(&self, mut position: usize) -> (usize, usize) {
        let mut at = 0;
        loop {
            let items = self.setup.items(self.groups[at]);
            if position < items.len() {
                return (at, items.at(position));
            }
            position -= items.len();
            at += 1;
        }
    }

    /// The position of an item of a group among the candidates, counted over all groups.
    pub(super) fn position(&self, item: usize, at: usize) -> usize {
        let before: usize = self.groups[..at].iter().map(|&group| self.setup.items(group).len()).sum();
        before + self.setup.items(self.groups[at]).iter().position(|other| other == item).unwrap_or_default()
    }

    /// The picks, in the form that samplers return.
    #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
    pub(super) fn drawn(&self) -> Vec<u32> {
        self.picks.iter().map(|&item| item as u32).collect()
    }

    /// The same stage on another engine.
    pub(super) fn on(&self, engine: &Engine) -> Stage {
        let mut stage = self.clone();
        stage.compute_on(engine);
        stage
    }

    /// Changes the engine.
    pub(super) fn compute_on(&mut self, engine: &Engine) {
        self.setup = Arc::new(DrawSetup { engine: engine.clone(), ..(*self.setup).clone() });
    }
}

/// Attempts at a draw before it fails.
const ATTEMPTS: usize = 8;

/// Returns the result of the first attempt that succeeds, each from a copy of a stage.
///
/// An attempt fails if all weights are rounding errors, with a probability that the error of the law covers, or if a
/// device fails; the next one is then on the CPU. Any other error is final.
pub(super) fn attempted<T>(
    start: &Stage,
    watch: &Watch,
    mut attempt: impl FnMut(Stage) -> Result<T>,
) -> Result<T> {
    let mut start = start.clone();
    for _ in 1..ATTEMPTS {
        match attempt(start.clone()) {
            Err(Error::LostDraw { .. }) => {}
            Err(Error::Device(_)) => start.compute_on(&Engine::host().watched(watch)),
            done => return done,
        }
    }
    attempt(start)
}
