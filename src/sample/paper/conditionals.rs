//! The conditional distributions of the picks, one after the other.

use super::{per_candidate::ProjectedCandidates, row_nodes::RowNodes, stage::Stage};
use crate::{Error, Method, PartitionDpp, Result, engine::Engine, model::accurately};

/// Pr(next pick = i | picks so far) for every item, as in algorithm 2 of the paper.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, Method, Partition, PartitionDpp, Quota};
/// let features = Features::from_rows(4, 2, vec![1.0, 0.0, 0.5, 0.5, 0.0, 1.0, 1.0, 1.0])?;
/// let partition = Partition::from_labels(&["a", "a", "b", "b"])?;
/// let quota = Quota::new(&partition, &[1, 1])?;
/// let dpp = PartitionDpp::new(&features, &partition, &quota)?;
/// let mut chain = dpp.conditionals(Method::Interpolation, &Engine::cpu())?;
/// // Sets {0,2}, {0,3}, {1,2} have determinants 1, 1, ¼; a set's two items come in either order.
/// assert!((chain.probabilities()?[0] - 0.5 * 2.0 / 2.25).abs() < 1e-12);
/// chain.pick(0)?;
/// assert!((chain.probabilities()?[3] - 0.5).abs() < 1e-12);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Conditionals {
    stage: Stage,
    evaluation: Evaluation,
    /// Estimated total variation error of the law.
    error: f64,
}

#[derive(Clone, Debug)]
enum Evaluation {
    Shared(RowNodes),
    PerCandidate(ProjectedCandidates),
}

impl PartitionDpp {
    /// The conditional probabilities of the paper's algorithm 2, pick by pick without drawing.
    ///
    /// [`Method::PerCandidate`] computes them literally, every other method by shared evaluation.
    ///
    /// # Errors
    /// The errors of [`sampler`](PartitionDpp::sampler) for [`Method::Interpolation`]; [`Error::Nothing`] if nothing
    /// is left to choose.
    pub fn conditionals(&self, method: Method, engine: &Engine) -> Result<Conditionals> {
        if self.open().is_empty() {
            return Err(Error::Nothing { what: "the quota beyond the included items" });
        }
        let new = |dpp: &Self| Conditionals::new(dpp, method, engine);
        accurately(self, |dpp| dpp.graded(engine), new, Conditionals::error)
    }
}

impl Conditionals {
    fn new(dpp: &PartitionDpp, method: Method, engine: &Engine) -> Result<Self> {
        let stage = Stage::start(dpp, engine)?;
        let evaluation = match method {
            Method::PerCandidate => Evaluation::PerCandidate(ProjectedCandidates::on(&stage, 0)?),
            _ => Evaluation::Shared(RowNodes::on(&stage)?),
        };
        let mut chain = Self { stage, evaluation, error: 0.0 };
        chain.error = chain.stage.error_of(&chain.weights()?)?;
        Ok(chain)
    }

    /// Estimated total variation error of the law.
    fn error(&self) -> f64 {
        self.error
    }

    /// The weight of every free item, group after group.
    fn weights(&self) -> Result<Vec<f64>> {
        let stage = &self.stage;
        let nodes = match &self.evaluation {
            Evaluation::Shared(nodes) => nodes,
            Evaluation::PerCandidate(candidates) => return Ok(candidates.weights().collect()),
        };
        let of_group = |at: usize| match stage.left[at] {
            0 => Ok(vec![0.0; stage.setup.items(stage.groups[at]).len()]),
            _ => nodes.weights(stage, at),
        };
        Ok((0..stage.left.len()).map(of_group).collect::<Result<Vec<_>>>()?.concat())
    }

    /// Items picked, in order.
    #[must_use]
    pub fn picks(&self) -> &[usize] {
        &self.stage.picks
    }

    /// Items still to pick.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.stage.total()
    }

    /// The number of determinants that [`Method::PerCandidate`] has computed: one per candidate and node. 0 for the
    /// shared evaluation.
    #[must_use]
    pub fn candidate_determinants(&self) -> u64 {
        match &self.evaluation {
            Evaluation::Shared(_) => 0,
            Evaluation::PerCandidate(candidates) => candidates.determinants,
        }
    }

    /// The number of nodes of the current grid, with conjugates counted once.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.stage.torus.nodes()
    }

    /// Returns Pr(next pick = i | picks so far) for every item, over all parts whose quota is not met yet; all 0 if
    /// nothing is left to pick.
    ///
    /// # Errors
    /// - [`Error::IllConditioned`] if rounding dominates the probabilities;
    /// - engine errors.
    pub fn probabilities(&self) -> Result<Vec<f64>> {
        let stage = &self.stage;
        let mut probabilities = vec![0.0; stage.setup.item_count()];
        if stage.total() == 0 {
            return Ok(probabilities);
        }
        let weights = self.weights()?;
        stage.error_of(&weights)?;
        let rows = stage.setup.rows(&stage.groups);
        for ((item, _), weight) in rows.iter().zip(&weights) {
            probabilities[item] = *weight;
        }
        stage.picks.iter().for_each(|&item| probabilities[item] = 0.0);
        let total: f64 = probabilities.iter().sum();
        probabilities.iter_mut().for_each(|p| *p /= total);
        Ok(probabilities)
    }

    /// Conditions on an item being picked next.
    ///
    /// # Errors
    /// - [`Error::ItemOutOfRange`] if there is no such item;
    /// - [`Error::ImpossiblePick`] if the item has probability zero now;
    /// - engine errors.
    pub fn pick(&mut self, item: usize) -> Result<()> {
        let stage = &mut self.stage;
        let group = stage.setup.group_of(item)?;
        let at = stage.groups.iter().position(|&other| other == group);
        let at = at.ok_or(Error::ImpossiblePick { item })?;
        match &mut self.evaluation {
            Evaluation::Shared(nodes) => {
                let pick = stage.consider(item, at).ok_or(Error::ImpossiblePick { item })?;
                nodes.pick(&pick);
                stage.record(&pick);
                if nodes.is_spent(stage) || (stage.left[at] == 0 && stage.total() > 0) {
                    *stage = stage.renewed()?;
                    *nodes = RowNodes::on(stage)?;
                }
                Ok(())
            }
            Evaluation::PerCandidate(candidates) => {
                let pick = stage.consider(item, at).ok_or(Error::ImpossiblePick { item })?;
                candidates.pick(stage, item, &pick)
            }
        }
    }
}
