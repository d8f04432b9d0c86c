//! Algorithm 2 of the paper with shared candidate evaluation: one matrix per part and node instead of one
//! determinant per candidate and node.

use std::sync::Arc;

use rand::Rng;

use super::{
    item_nodes::{ItemNodes, ItemPicks},
    row_nodes::RowNodes,
    stage::{Pick, Stage, attempted, choose},
};
use crate::{
    PartitionDpp, Result,
    engine::{Engine, Watched},
    watch::Watch,
};

/// Draws part by part, the smallest quota first, since its grid is the largest.
///
/// # Source
/// Kathuria and Deshpande (2016), algorithm 2 and theorem 3.2, by the matrix determinant lemma. Tuples are
/// exchangeable, so the order of the parts is free.
#[derive(Debug)]
pub(crate) struct Interpolation<'a> {
    start: Stage<'a>,
    first: Evaluation,
    /// Weights of the first pick's candidates.
    weights: Vec<f64>,
    error: f64,
}

/// The nodes of a stage, evaluated for the group to draw from.
#[derive(Clone, Debug)]
enum Evaluation {
    Items(ItemPicks),
    Rows(RowNodes),
}

impl<'a> Interpolation<'a> {
    pub(crate) fn new(dpp: &PartitionDpp<'a>, engine: &'a dyn Engine) -> Result<Self> {
        let start = Stage::start(dpp, engine)?;
        let at = start.current(None);
        let first = Evaluation::on(&start, at)?;
        let weights = first.weights(&start, at)?;
        let error = start.error(weights.iter().sum::<f64>() / start.left[at] as f64)?;
        Ok(Self { start, first, weights, error })
    }

    /// Estimated total variation error of the law.
    pub(crate) fn error(&self) -> f64 {
        self.error
    }

    /// # Errors
    /// [`Error::LostDraw`], [`Error::Ended`], and those of the engine.
    pub(crate) fn sample<R: Rng + ?Sized>(&self, rng: &mut R, watch: &Watch<'_>) -> Result<Vec<u32>> {
        let engine = Watched::new(self.start.setup.engine, *watch);
        attempted(&self.start.on(&engine), |mut stage| {
            let at = stage.current(None);
            self.first.clone().draw(&mut stage, at, Some(self.weights.clone()), rng)?;
            finish(stage, rng)
        })
    }
}

/// Draws the remaining items.
fn finish<R: Rng + ?Sized>(mut stage: Stage<'_>, rng: &mut R) -> Result<Vec<u32>> {
    while stage.total() > 0 {
        if stage.is_used() {
            stage = stage.renewed()?;
        }
        let at = stage.current(stage.last_group());
        Evaluation::on(&stage, at)?.draw(&mut stage, at, None, rng)?;
    }
    Ok(stage.drawn())
}

impl Evaluation {
    fn on(stage: &Stage<'_>, at: usize) -> Result<Self> {
        if stage.setup.items(stage.groups[at]).len() <= stage.function.rank()
            && let Some(nodes) = ItemNodes::new(stage, at)?
        {
            return Ok(Self::Items(ItemPicks::new(Arc::new(nodes))));
        }
        Ok(Self::Rows(RowNodes::on(stage)?))
    }

    fn weights(&self, stage: &Stage<'_>, at: usize) -> Result<Vec<f64>> {
        match self {
            Self::Items(picks) => Ok(picks.weights(&stage.left)),
            Self::Rows(nodes) => nodes.weights(stage, at),
        }
    }

    /// Draws from a group until it is done or the grid is spent; `weights` are those of the first pick, if known.
    fn draw<R: Rng + ?Sized>(
        &mut self,
        stage: &mut Stage<'_>,
        at: usize,
        mut weights: Option<Vec<f64>>,
        rng: &mut R,
    ) -> Result<()> {
        let setup = Arc::clone(&stage.setup);
        let items = setup.items(stage.groups[at]);
        loop {
            setup.engine.proceed()?;
            let mut weights = match weights.take() {
                Some(known) => known,
                None => self.weights(stage, at)?,
            };
            let (position, pick) = loop {
                let position = choose(&weights, rng).ok_or_else(|| stage.lost())?;
                match stage.consider(items.at(position), at) {
                    Some(pick) => break (position, pick),
                    // Its weight is a rounding error.
                    None => weights[position] = 0.0,
                }
            };
            let spent = self.pick(stage, position, &pick);
            if spent || stage.left[at] == 0 {
                return Ok(());
            }
        }
    }

    /// Conditions on an item; returns whether the grid is spent.
    fn pick(&mut self, stage: &mut Stage<'_>, position: usize, pick: &Pick) -> bool {
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
