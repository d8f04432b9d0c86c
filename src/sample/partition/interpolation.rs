//! Algorithm 2 of the paper with shared candidate evaluation: one matrix per part and node instead of one
//! determinant per candidate and node.

use std::sync::Arc;

use rand::{Rng, RngExt};

use super::{
    PartitionDpp,
    item_nodes::{ItemNodes, ItemPicks},
    row_nodes::RowNodes,
    stage::{Stage, infallible},
};
use crate::{Error, Result, engine::Engine};

/// Draws part by part, the smallest quota first: its grid is the largest.
///
/// # Source
/// Kathuria and Deshpande (2016), algorithm 2 and theorem 3.2, by the matrix determinant lemma. Tuples are
/// exchangeable, so the order of the parts is free.
#[derive(Debug)]
pub(crate) struct Interpolation<'a> {
    start: Stage<'a>,
    first: Nodes<'a>,
    /// Weights of the first pick's candidates.
    weights: Vec<f64>,
    error: f64,
}

/// The nodes of a stage, evaluated for the group to draw from.
#[derive(Clone, Debug)]
enum Nodes<'a> {
    Items(ItemPicks),
    Rows(RowNodes<'a>),
}

impl<'a> Interpolation<'a> {
    pub(crate) fn new(dpp: &PartitionDpp<'a>, engine: &'a dyn Engine) -> Result<Self> {
        let start = Stage::start(dpp, engine)?;
        let at = start.current(None);
        let first = Nodes::on(&start, at)?;
        let weights = first.weights(at, &start.left)?;
        let total = start.total() as f64;
        let coefficient = weights.iter().sum::<f64>() / start.left[at] as f64;
        let rounding = 2.0 * (start.function.rank() as f64 + 4.0) * f64::EPSILON;
        let error = total * rounding / coefficient + start.problem.error;
        Ok(Self { start, first, weights, error })
    }

    /// Estimated error of the law, in total variation.
    pub(crate) fn error(&self) -> f64 {
        self.error
    }

    pub(crate) fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> Vec<u32> {
        infallible(|engine| {
            let mut stage = self.start.clone();
            if engine.is_some() {
                stage.compute_on(engine);
            } else {
                let at = stage.current(None);
                self.first.clone().draw(&mut stage, at, Some(self.weights.clone()), rng)?;
            }
            finish(stage, rng)
        })
    }
}

/// Draws what is left.
fn finish<R: Rng + ?Sized>(mut stage: Stage<'_>, rng: &mut R) -> Result<Vec<u32>> {
    while stage.total() > 0 {
        if stage.is_used() {
            stage = stage.renewed()?;
        }
        let at = stage.current(stage.last_group());
        Nodes::on(&stage, at)?.draw(&mut stage, at, None, rng)?;
    }
    Ok(stage.drawn())
}

impl<'a> Nodes<'a> {
    fn on(stage: &Stage<'a>, at: usize) -> Result<Self> {
        if stage.problem.items(stage.groups[at]).len() <= stage.function.rank()
            && let Some(nodes) = ItemNodes::new(stage, at)?
        {
            return Ok(Self::Items(ItemPicks::new(Arc::new(nodes))));
        }
        Ok(Self::Rows(RowNodes::on(stage.clone())?))
    }

    fn weights(&self, at: usize, left: &[usize]) -> Result<Vec<f64>> {
        match self {
            Self::Items(picks) => Ok(picks.weights(left)),
            Self::Rows(nodes) => nodes.weights(at),
        }
    }

    /// Draws from a group until it is done or the grid is spent; `weights` are those of the first pick, if
    /// they are known.
    fn draw<R: Rng + ?Sized>(
        &mut self,
        stage: &mut Stage<'a>,
        at: usize,
        mut weights: Option<Vec<f64>>,
        rng: &mut R,
    ) -> Result<()> {
        let problem = Arc::clone(&stage.problem);
        let items = problem.items(stage.groups[at]);
        loop {
            let mut weights = match weights.take() {
                Some(known) => known,
                None => self.weights(at, &stage.left)?,
            };
            for (position, weight) in weights.iter_mut().enumerate() {
                if stage.picks.contains(&items.at(position)) {
                    *weight = 0.0;
                }
            }
            let spent = loop {
                let position = choose(&weights, rng);
                match self.pick(stage, items.at(position), position, at) {
                    // Rounding gave it a weight; it has none.
                    Err(Error::ImpossiblePick { .. }) if weights[position] > 0.0 => weights[position] = 0.0,
                    picked => break picked?,
                }
            };
            if spent || stage.left[at] == 0 {
                return Ok(());
            }
        }
    }

    /// Conditions on an item; whether the grid is spent.
    fn pick(&mut self, stage: &mut Stage<'a>, item: usize, position: usize, at: usize) -> Result<bool> {
        match self {
            Self::Items(picks) => {
                let direction = stage.direction(item, at)?;
                picks.pick(position);
                stage.record(item, at, &direction);
                Ok(picks.is_spoilt() || stage.has_faded(picks.coefficient(&stage.left)))
            }
            Self::Rows(nodes) => {
                nodes.pick(item, at)?;
                stage.clone_from(&nodes.stage);
                Ok(nodes.is_spent())
            }
        }
    }
}

/// A position with probability in proportion to its weight.
pub(super) fn choose<R: Rng + ?Sized>(weights: &[f64], rng: &mut R) -> usize {
    let total: f64 = weights.iter().filter(|&&weight| weight > 0.0).sum();
    let mut left = rng.random::<f64>() * total;
    let mut last = 0;
    for (position, &weight) in weights.iter().enumerate() {
        if weight > 0.0 {
            last = position;
            if left < weight {
                break;
            }
            left -= weight;
        }
    }
    last
}
