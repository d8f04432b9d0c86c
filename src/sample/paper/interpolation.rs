//! Algorithm 2 of the paper with shared candidate evaluation: one matrix per part and node instead of one
//! determinant per candidate and node.

use std::sync::Arc;

use rand::{Rng, RngExt};

use super::{
    conditioning::choose,
    item_nodes::{ItemNodes, ItemPicks},
    row_nodes::RowNodes,
    stage::{Pick, Stage, attempted},
};
use crate::{PartitionDpp, Result, engine::Engine, watch::Watch};

/// Draws part by part, starting with the smallest quota, because its grid is the largest.
///
/// # Source
/// Kathuria and Deshpande (2016), algorithm 2 and theorem 3.2, by the matrix determinant lemma. Tuples are
/// exchangeable, so the order of the parts is free.
#[derive(Debug)]
pub(crate) struct Interpolation {
    start: Stage,
    first: Evaluation,
    error: f64,
}

/// The nodes of a stage, evaluated for the group to draw from, and the weights of the next pick's candidates, if they
/// are known.
#[derive(Clone, Debug)]
struct Evaluation {
    nodes: Nodes,
    weights: Option<Vec<f64>>,
}

#[derive(Clone, Debug)]
enum Nodes {
    Items(ItemPicks),
    Rows(RowNodes),
}

impl Interpolation {
    pub(crate) fn new(dpp: &PartitionDpp, engine: &Engine) -> Result<Self> {
        let start = Stage::start(dpp, engine)?;
        let at = start.current(None);
        let mut first = Evaluation::on(&start, at)?;
        let weights = first.nodes.weights(&start, at)?;
        let error = start.error(weights.iter().sum::<f64>() / start.left[at] as f64)?;
        first.weights = Some(weights);
        Ok(Self { start, first, error })
    }

    /// Estimated total variation error of the law.
    pub(crate) fn error(&self) -> f64 {
        self.error
    }

    /// # Errors
    /// [`Error::LostDraw`], [`Error::Ended`]; engine errors.
    pub(crate) fn sample<R: Rng + ?Sized>(&self, rng: &mut R, watch: &Watch) -> Result<Vec<u32>> {
        let engine = self.start.setup.engine.watched(watch);
        attempted(&self.start.on(&engine), watch, |mut stage| {
            let at = stage.current(None);
            self.first.clone().draw(&mut stage, at, rng)?;
            finish(stage, rng)
        })
    }
}

/// Draws the remaining items, on a new grid for every run of picks.
fn finish<R: Rng + ?Sized>(mut stage: Stage, rng: &mut R) -> Result<Vec<u32>> {
    while stage.total() > 0 {
        stage = stage.renewed()?;
        let at = stage.current(stage.last_group());
        Evaluation::on(&stage, at)?.draw(&mut stage, at, rng)?;
    }
    Ok(stage.drawn())
}

impl Evaluation {
    fn on(stage: &Stage, at: usize) -> Result<Self> {
        if stage.setup.items(stage.groups[at]).len() <= stage.function.rank()
            && let Some(nodes) = ItemNodes::new(stage, at)?
        {
            return Ok(Self { nodes: Nodes::Items(ItemPicks::new(Arc::new(nodes))), weights: None });
        }
        Ok(Self { nodes: Nodes::Rows(RowNodes::on(stage)?), weights: None })
    }

    /// Draws at least one item of a group, until the group is done or the grid is spent.
    fn draw<R: Rng + ?Sized>(&mut self, stage: &mut Stage, at: usize, rng: &mut R) -> Result<()> {
        let setup = Arc::clone(&stage.setup);
        let items = setup.items(stage.groups[at]);
        loop {
            setup.engine.proceed()?;
            let mut weights = match self.weights.take() {
                Some(known) => known,
                None => self.nodes.weights(stage, at)?,
            };
            let (position, pick) = loop {
                let position = choose(&weights, rng.random()).ok_or_else(|| stage.lost())?;
                match stage.consider(items.at(position), at) {
                    Some(pick) => break (position, pick),
                    // The item's weight is a rounding error.
                    None => weights[position] = 0.0,
                }
            };
            let spent = self.nodes.pick(stage, position, &pick);
            if spent || stage.left[at] == 0 {
                return Ok(());
            }
        }
    }
}

impl Nodes {
    fn weights(&self, stage: &Stage, at: usize) -> Result<Vec<f64>> {
        match self {
            Self::Items(picks) => Ok(picks.weights(&stage.left)),
            Self::Rows(nodes) => nodes.weights(stage, at),
        }
    }

    /// Conditions the nodes on an item that is picked; returns whether the grid is spent.
    fn pick(&mut self, stage: &mut Stage, position: usize, pick: &Pick) -> bool {
        match self {
            Self::Items(picks) => picks.pick(position),
            Self::Rows(nodes) => nodes.pick(pick),
        }
        stage.record(pick);
        match self {
            Self::Items(picks) => picks.is_spoilt() || stage.has_faded(picks.coefficient(&stage.left)),
            Self::Rows(nodes) => nodes.is_spent(stage),
        }
    }
}
