//! The number of items that a DPP or k-DPP chooses from each part.

mod by_chance;
mod estimated;
mod of_size;

pub use estimated::EstimatedProbability;

use crate::{
    Dpp, Partition, Quota, Result,
    data::check_partition,
    engine::{Engine, EngineInfo, Items, Rows},
    estimate::accurate,
    model::{FreeItems, GroundSet, accurately},
    polynomial::{
        generating_function::GeneratingFunction,
        spectrum::TiltedSpectrum,
        torus::{Torus, TorusPlan, default_node_budget, each_count},
    },
};

/// The distribution of the part counts (|S∩P_1|, …, |S∩P_p|).
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, KDpp, Partition};
/// let features = Features::from_rows(4, 2, vec![1.0, 0.0, 0.5, 0.5, 0.0, 1.0, 1.0, 1.0])?;
/// let partition = Partition::from_labels(&["a", "a", "b", "b"])?;
/// let law = KDpp::new(&features, 2)?.part_counts(&partition, &Engine::cpu())?;
/// // det K over {0,1}, {2,3}: ¼ and 1, of 3½ in all.
/// assert!((law.probability(&[2, 0]) - 0.25 / 3.5).abs() < 1e-12);
/// assert!((law.probability(&[0, 2]) - 1.0 / 3.5).abs() < 1e-12);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct PartCounts {
    entries: Vec<(Vec<usize>, f64)>,
    error: f64,
    engine: EngineInfo,
}

impl PartCounts {
    /// All possible vectors of counts in lexicographic order, with their probabilities.
    #[must_use]
    pub fn entries(&self) -> &[(Vec<usize>, f64)] {
        &self.entries
    }

    /// The probability of a vector of counts; 0 if it is impossible.
    #[must_use]
    pub fn probability(&self, counts: &[usize]) -> f64 {
        let found = self.entries.binary_search_by(|(entry, _)| entry[..].cmp(counts));
        found.map_or(0.0, |at| self.entries[at].1)
    }

    /// The probability that the counts meet a quota.
    #[must_use]
    pub fn probability_within(&self, quota: &Quota) -> f64 {
        let allowed = self.entries.iter().filter(|(counts, _)| quota.allows(counts));
        allowed.map(|(_, probability)| probability).sum::<f64>().min(1.0)
    }

    /// E|S∩P_l| for every part.
    #[must_use]
    pub fn means(&self) -> Vec<f64> {
        let mut means = vec![0.0; self.entries.first().map_or(0, |(counts, _)| counts.len())];
        for (counts, probability) in &self.entries {
            means.iter_mut().zip(counts).for_each(|(mean, &count)| *mean += count as f64 * probability);
        }
        means
    }

    /// The engine that computed the probabilities.
    #[must_use]
    pub fn engine(&self) -> &EngineInfo {
        &self.engine
    }

    /// The estimated absolute error of every probability.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.error
    }
}

/// The free items of each part, and its number of included items.
struct Parts {
    groups: Vec<FreeItems>,
    included: Vec<usize>,
}

impl Parts {
    fn of(ground: &GroundSet, partition: &Partition) -> Result<Self> {
        check_partition(ground.features(), partition)?;
        let conditions = ground.conditions();
        let groups = (0..partition.parts()).map(|part| conditions.free_members(partition, part)).collect();
        Ok(Self { groups, included: conditions.included_by(partition) })
    }

    /// The parts with something left to choose.
    fn open(&self) -> Vec<usize> {
        (0..self.groups.len()).filter(|&part| self.groups[part].len() > 0).collect()
    }

    fn rows<'r>(&'r self, ground: &'r GroundSet) -> Rows<'r> {
        let items = self.open().into_iter().map(|part| Items::from(&self.groups[part])).collect();
        Rows::alike(ground.features(), items)
    }

    /// The counts of all parts, from the counts of the open parts.
    fn whole(&self, open: &[usize], counts: &[usize]) -> Vec<usize> {
        let mut whole = self.included.clone();
        open.iter().zip(counts).for_each(|(&part, count)| whole[part] += count);
        whole
    }

    /// The law if every item is forced.
    fn forced(&self, engine: &Engine) -> PartCounts {
        PartCounts { entries: vec![(self.included.clone(), 1.0)], error: 0.0, engine: engine.info() }
    }
}

impl Dpp {
    /// The exact distribution of the part counts.
    ///
    /// # Cost
    /// Two passes over A (2mn² operations each), and 8/3·r³ for each of Π (min(m_l, r) + 1) nodes.
    ///
    /// # Errors
    /// - [`Error::LabelCount`](crate::Error::LabelCount) if the partition has another number of items;
    /// - [`Error::NodeBudget`](crate::Error::NodeBudget) above
    ///   [`DEFAULT_NODE_BUDGET`](crate::polynomial::DEFAULT_NODE_BUDGET);
    /// - the errors of [`Dpp::inference`].
    pub fn part_counts(&self, partition: &Partition, engine: &Engine) -> Result<PartCounts> {
        let graded = |law: &Self| law.graded(engine);
        accurately(self, graded, |law| law.part_counts_as_given(partition, engine), PartCounts::error)
    }

    fn part_counts_as_given(&self, partition: &Partition, engine: &Engine) -> Result<PartCounts> {
        let parts = Parts::of(&self.ground, partition)?;
        let open = parts.open();
        if open.is_empty() || self.ground.dims_left() == 0 {
            let free = parts.groups.iter().flat_map(|group| Items::from(group).iter());
            let error = accurate(self.ground.beyond_rank(free))?;
            return Ok(PartCounts { error, ..parts.forced(engine) });
        }
        let rows = parts.rows(&self.ground);
        let Some((spectrum, log_scale)) = TiltedSpectrum::for_dpp(engine, &rows, &self.ground)? else {
            return Ok(parts.forced(engine));
        };
        let (function, _) = GeneratingFunction::of_free_size(&spectrum, &rows.scales(), log_scale)?;
        let rank = function.rank();
        let largest: Vec<usize> = open.iter().map(|&part| parts.groups[part].len().min(rank)).collect();
        let torus = Torus::new(TorusPlan::complete(&largest).within(default_node_budget(rank))?);
        let found = torus.all_coefficients(&torus.values(engine, &function)?)?;
        let total: f64 = found.iter().sum();
        let entry = |(counts, p): (Vec<usize>, f64)| (parts.whole(&open, &counts), p / total);
        let entries = each_count(torus.sizes()).zip(found).map(entry).collect();
        let rounding = 4.0 * rank as f64 * engine.info().precision.epsilon();
        Ok(PartCounts { entries, error: rounding + spectrum.spectrum.error, engine: engine.info() })
    }
}
