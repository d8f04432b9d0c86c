//! Algorithm 2 of the paper with shared candidate evaluation: one matrix per part and node instead of one
//! determinant per candidate and node.

use std::sync::Arc;

use rand::{Rng, RngExt};

use super::{
    device_nodes::{DeviceNodes, Drawn},
    item_nodes::{ItemNodes, ItemPicks},
    row_nodes::RowNodes,
    stage::{Pick, Stage, attempted},
};
use crate::{
    PartitionDpp, Result,
    engine::{Engine, choose},
    watch::Watch,
};

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

/// The nodes of a stage, evaluated for the group to draw from.
#[derive(Clone, Debug)]
enum Evaluation {
    Host(HostNodes),
    Device(DeviceNodes),
}

/// Nodes on the host, and the weights of the next pick's candidates, if they are known.
#[derive(Clone, Debug)]
struct HostNodes {
    nodes: Nodes,
    weights: Option<Vec<f64>>,
}

#[derive(Clone, Debug)]
enum Nodes {
    Items(ItemPicks),
    Rows(RowNodes),
}

/// The uniform numbers for one draw. A number that one grid could not use is used on the next grid, so that draws do
/// not depend on where the nodes are evaluated.
pub(super) struct Uniforms<'r, R: ?Sized> {
    rng: &'r mut R,
    unused: Option<f64>,
}

impl<R: Rng + ?Sized> Uniforms<'_, R> {
    pub(super) fn next(&mut self) -> f64 {
        self.unused.take().unwrap_or_else(|| self.rng.random())
    }

    pub(super) fn put_back(&mut self, uniform: f64) {
        self.unused = Some(uniform);
    }
}

impl Interpolation {
    pub(crate) fn new(dpp: &PartitionDpp, engine: &Engine) -> Result<Self> {
        let start = Stage::start(dpp, engine)?;
        let at = start.current(None);
        let (first, total) = Evaluation::on(&start, at)?.weighed(&start, at)?;
        let error = start.error(total / start.left[at] as f64)?;
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
            let mut uniforms = Uniforms { rng: &mut *rng, unused: None };
            let mut first = match &self.first {
                // A device failed, so this attempt is on the CPU.
                Evaluation::Device(_) if stage.setup.engine.info() != engine.info() => {
                    Evaluation::on(&stage, at)?
                }
                first => first.clone(),
            };
            first.draw(&mut stage, at, &mut uniforms)?;
            finish(stage, &mut uniforms)
        })
    }
}

/// Draws the remaining items.
fn finish<R: Rng + ?Sized>(mut stage: Stage, uniforms: &mut Uniforms<'_, R>) -> Result<Vec<u32>> {
    while stage.total() > 0 {
        if stage.is_used() {
            stage = stage.renewed()?;
        }
        let at = stage.current(stage.last_group());
        Evaluation::on(&stage, at)?.draw(&mut stage, at, uniforms)?;
    }
    Ok(stage.drawn())
}

impl Evaluation {
    fn on(stage: &Stage, at: usize) -> Result<Self> {
        if stage.setup.items(stage.groups[at]).len() <= stage.function.rank()
            && let Some(nodes) = ItemNodes::new(stage, at)?
        {
            let nodes = Nodes::Items(ItemPicks::new(Arc::new(nodes)));
            return Ok(Self::Host(HostNodes { nodes, weights: None }));
        }
        match DeviceNodes::on(stage, at)? {
            Some(nodes) => Ok(Self::Device(nodes)),
            None => Ok(Self::Host(HostNodes::of_rows(stage)?)),
        }
    }

    /// Adds the weights of the first pick; also returns their sum.
    fn weighed(self, stage: &Stage, at: usize) -> Result<(Self, f64)> {
        let mut host = match self {
            Self::Host(host) => host,
            Self::Device(mut nodes) => match nodes.total()? {
                Some(total) => return Ok((Self::Device(nodes), total)),
                None => HostNodes::of_rows(stage)?,
            },
        };
        let weights = host.nodes.weights(stage, at)?;
        let total = weights.iter().sum();
        host.weights = Some(weights);
        Ok((Self::Host(host), total))
    }

    /// Draws from a group until it is done or the grid is spent.
    fn draw<R: Rng + ?Sized>(
        &mut self,
        stage: &mut Stage,
        at: usize,
        uniforms: &mut Uniforms<'_, R>,
    ) -> Result<()> {
        match self {
            Self::Host(host) => host.draw(stage, at, uniforms),
            Self::Device(nodes) => match nodes.draw(stage, at, uniforms)? {
                Drawn::Some => Ok(()),
                Drawn::Nothing => HostNodes::of_rows(stage)?.draw(stage, at, uniforms),
            },
        }
    }
}

impl HostNodes {
    fn of_rows(stage: &Stage) -> Result<Self> {
        Ok(Self { nodes: Nodes::Rows(RowNodes::on(stage)?), weights: None })
    }

    fn draw<R: Rng + ?Sized>(
        &mut self,
        stage: &mut Stage,
        at: usize,
        uniforms: &mut Uniforms<'_, R>,
    ) -> Result<()> {
        let setup = Arc::clone(&stage.setup);
        let items = setup.items(stage.groups[at]);
        loop {
            setup.engine.proceed()?;
            let mut weights = match self.weights.take() {
                Some(known) => known,
                None => self.nodes.weights(stage, at)?,
            };
            let (position, pick) = loop {
                let position = choose(&weights, uniforms.next()).ok_or_else(|| stage.lost())?;
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
