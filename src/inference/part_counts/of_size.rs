//! Part counts of the k-DPP, with a grid for every choice of k parts.

use std::collections::BTreeMap;

use faer::c64;

use super::{PartCounts, Parts};
use crate::{
    Error, KDpp, Partition, Result,
    engine::Engine,
    model::accurately,
    polynomial::{
        fixed_size::fixed_size_values,
        generating_function::GeneratingFunction,
        spectrum::TiltedSpectrum,
        torus::{Torus, TorusPlan, each_count, eigen_node_budget},
    },
};

impl KDpp {
    /// The exact distribution of the part counts.
    ///
    /// # Cost
    /// Two passes over A (2mn² operations each), and about 60r³ per node. Every choice of min(k, p) parts has half of
    /// Π (min(m_l, k) + 1) nodes, where the product is over all but one of these parts.
    ///
    /// # Errors
    /// - [`Error::LabelCount`] if the partition has another number of items;
    /// - [`Error::NodeBudget`] above a fiftieth of [`DEFAULT_NODE_BUDGET`](crate::polynomial::DEFAULT_NODE_BUDGET);
    /// - the errors of [`KDpp::inference`].
    pub fn part_counts(&self, partition: &Partition, engine: &Engine) -> Result<PartCounts> {
        let graded = |law: &Self| law.graded(engine);
        accurately(self, graded, |law| law.part_counts_as_given(partition, engine), PartCounts::error)
    }

    fn part_counts_as_given(&self, partition: &Partition, engine: &Engine) -> Result<PartCounts> {
        let parts = Parts::of(&self.ground, partition)?;
        let (open, k) = (parts.open(), self.free_size());
        if k == 0 || open.is_empty() {
            return Ok(parts.forced(engine));
        }
        let sizes: Vec<usize> = open.iter().map(|&part| parts.groups[part].len().min(k)).collect();
        let together = open.len().min(k);
        let nodes = choices(open.len(), together) * widest_grid(&sizes, together);
        let budget = eigen_node_budget(self.ground.dims_left());
        if nodes > budget {
            return Err(Error::NodeBudget { nodes, budget });
        }
        let rows = parts.rows(&self.ground);
        let spectrum = TiltedSpectrum::for_size(engine, &rows, &self.ground, k)?;
        let (function, _) = GeneratingFunction::of_size(&spectrum, &rows.scales(), k)?;
        // k items are in at most k parts, so there is a grid for every choice of parts, with z = 0 for the others.
        let mut found = BTreeMap::new();
        for chosen in combinations(open.len(), together) {
            size_coefficients(engine, &function, &chosen, &sizes, k, &mut found)?;
        }
        let total: f64 = found.values().sum();
        let entry = |(counts, p): (Vec<usize>, f64)| (parts.whole(&open, &counts), p / total);
        let entries = found.into_iter().map(entry).collect();
        let rounding = 4.0 * (function.rank() + k) as f64 * engine.info().precision.epsilon() / total;
        Ok(PartCounts { entries, error: rounding + spectrum.spectrum.error, engine: engine.info() })
    }
}

/// Pr(counts = c and |S| = k) for every vector c of k items from the chosen groups.
fn size_coefficients(
    engine: &Engine,
    function: &GeneratingFunction,
    chosen: &[usize],
    sizes: &[usize],
    k: usize,
    found: &mut BTreeMap<Vec<usize>, f64>,
) -> Result<()> {
    // The last group supplies the rest of the k items, so its phase stays 0.
    let Some((&last, others)) = chosen.split_last() else { return Ok(()) };
    let mut largest: Vec<usize> = others.iter().map(|&group| sizes[group]).collect();
    largest.push(0);
    let torus = Torus::new(TorusPlan::complete(&largest));
    let shares = match function.only(chosen) {
        Some((function, weight)) => {
            let values = fixed_size_values(engine, &function, &torus.phases, k)?;
            let weighted: Vec<c64> = values.into_iter().map(|value| value * weight).collect();
            torus.all_coefficients(&weighted)?
        }
        // No set is possible: other groups certainly have chosen items.
        None => vec![0.0; torus.sizes().iter().product()],
    };
    for (mut counts, probability) in each_count(torus.sizes()).zip(shares) {
        let taken: usize = counts.iter().sum();
        if taken <= k && k - taken <= sizes[last] {
            counts[others.len()] = k - taken;
            let mut whole = vec![0; sizes.len()];
            chosen.iter().zip(counts).for_each(|(&group, count)| whole[group] = count);
            found.insert(whole, probability);
        }
    }
    Ok(())
}

/// The number of ways to choose `size` of `count` elements.
fn choices(count: usize, size: usize) -> f64 {
    (0..size).map(|i| (count - i) as f64 / (i + 1) as f64).product()
}

/// The number of nodes of the largest grid over `together` groups, counting conjugates once.
fn widest_grid(sizes: &[usize], together: usize) -> f64 {
    let mut descending = sizes.to_vec();
    descending.sort_unstable_by(|a, b| b.cmp(a));
    (descending[..together - 1].iter().map(|&size| size as f64 + 1.0).product::<f64>() / 2.0).ceil()
}

/// All ways to choose `size` elements of 0..count, each ascending.
fn combinations(count: usize, size: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for chosen in 1..=size {
        let extend = |start: Vec<usize>| {
            let from = start.last().map_or(0, |last| last + 1);
            (from..count + chosen - size).map(move |next| [&start[..], &[next]].concat())
        };
        all = all.into_iter().flat_map(extend).collect();
    }
    all
}
