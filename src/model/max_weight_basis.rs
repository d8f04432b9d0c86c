//! The heaviest set that counts allow, and prices of parts that prove its optimality.

use faer::Mat;

use super::{Counts, FreeItems, GroundSet, feasibility};
use crate::{
    engine::Items,
    linalg::{OrthonormalBasis, column, column_mut, dual_basis, kernels::dot},
};

/// Improvements below this are taken for rounding errors.
const TOLERANCE: f64 = 1e-6;
/// Ratios of determinants below this are taken for rounding errors.
const DEPENDENT: f64 = 1e-20;

/// A set S* that maximises Σ_{i∈S} ln q_i‖a_i‖ + ½ ln det of unit rows up to exchanges, with a price y_l for every
/// part.
///
/// ```text
/// u_i = ln q_i‖a_i‖ + y_l:   u_j + ln |C_ij| ≤ u_i for every j that can replace i of S*
/// ```
///
/// With prices, an exchange between parts is as simple as one within a part. A part whose count can rise or fall has
/// price 0. If sets may have any size, items of S* have u ≥ 0 and all others u ≤ 0.
pub(super) struct Heaviest {
    pub(super) items: Vec<usize>,
    /// u_i of the items of S*.
    pub(super) levels: Vec<f64>,
    pub(super) prices: Vec<f64>,
    /// −½ ln det of the unit rows of S*: an upper bound on what another set can gain from the angles of its rows.
    pub(super) flatness: f64,
}

/// An item that may be in S*.
struct Element {
    item: usize,
    group: usize,
    /// ln q_i‖a_i‖.
    length: f64,
    /// The residual of the unit row beyond the included items.
    row: Vec<f64>,
}

/// A step between nodes of the graph. The nodes are the parts, followed by the outside.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// The loss of weight.
    cost: f64,
    leaving: Option<usize>,
    entering: Option<usize>,
}

/// The cheapest step from each node to every other.
struct Steps(Vec<Vec<Option<Step>>>);

impl Steps {
    fn offer(&mut self, from: usize, to: usize, step: Step) {
        let known = &mut self.0[from][to];
        if known.is_none_or(|known| step.cost < known.cost) {
            *known = Some(step);
        }
    }
}

struct Search<'c> {
    counts: &'c Counts,
    elements: Vec<Element>,
    /// Whether each element is chosen.
    chosen: Vec<bool>,
    groups: usize,
}

impl Heaviest {
    /// Finds the heaviest set; `None` if rounding errors hide it.
    pub(super) fn of(
        ground: &GroundSet,
        groups: &[FreeItems],
        lengths: &[Vec<f64>],
        counts: &Counts,
    ) -> Option<Self> {
        let most = counts.most.min(ground.dims_left());
        let mut elements = Vec::new();
        for (group, (items, lengths)) in groups.iter().zip(lengths).enumerate() {
            heaviest_basis(ground, (group, items), lengths, most, &mut elements);
        }
        let mut search =
            Search { counts, chosen: vec![false; elements.len()], elements, groups: groups.len() };
        search.start(ground.dims_left())?;
        let mut weight = search.weight()?;
        // Every exchange raises the weight. In practice far fewer exchanges are needed.
        for _ in 0..64 * (most + 8) {
            let steps = search.steps()?;
            let Some(cycle) = search.cheapest_cycle(&steps) else {
                return Some(search.priced(&steps, weight));
            };
            search.exchange(&cycle);
            let changed = search.weight()?;
            if changed <= weight {
                return None;
            }
            weight = changed;
        }
        None
    }
}

/// The heaviest items of a group that are independent of each other and of the included items.
fn heaviest_basis(
    ground: &GroundSet,
    (group, items): (usize, &FreeItems),
    lengths: &[f64],
    most: usize,
    elements: &mut Vec<Element>,
) {
    let mut order: Vec<usize> = (0..lengths.len()).filter(|&at| lengths[at].is_finite()).collect();
    order.sort_by(|&a, &b| lengths[b].total_cmp(&lengths[a]).then(a.cmp(&b)));
    let mut span = ground.span();
    let first = elements.len();
    for at in order {
        if elements.len() - first == most {
            break;
        }
        let item = Items::from(items).at(at);
        let mut row = ground.features().row(item);
        if OrthonormalBasis::normalise(&mut row).and_then(|_| span.extend(&row)).is_some() {
            let row = match ground.beyond() {
                None => row,
                Some(basis) => (0..basis.ncols()).map(|j| dot(column(basis.as_ref(), j), &row)).collect(),
            };
            elements.push(Element { item, group, length: lengths[at], row });
        }
    }
}

impl Search<'_> {
    /// Chooses some set that the counts allow.
    fn start(&mut self, dims: usize) -> Option<()> {
        let unit = |element: &Element| {
            let mut row = element.row.clone();
            OrthonormalBasis::normalise(&mut row);
            row
        };
        let of_group = |group: usize| {
            self.elements.iter().filter(|element| element.group == group).map(unit).collect::<Vec<_>>()
        };
        let bases: Vec<Vec<Vec<f64>>> = (0..self.groups).map(of_group).collect();
        let mut counts = self.counts.low.clone();
        let none = vec![0; self.groups];
        let mut found = feasibility::complete(&bases, &none, &counts, dims)?;
        // Raising counts part by part attains the largest total, since the counts form a polymatroid.
        for group in 0..self.groups {
            while counts[group] < self.counts.high[group] && counts.iter().sum::<usize>() < self.counts.least
            {
                counts[group] += 1;
                let Some(more) = feasibility::complete(&bases, &none, &counts, dims) else {
                    counts[group] -= 1;
                    break;
                };
                found = more;
            }
        }
        let mut first = 0;
        for (basis, taken) in bases.iter().zip(found) {
            taken.into_iter().for_each(|at| self.chosen[first + at] = true);
            first += basis.len();
        }
        (self.size() >= self.counts.least).then_some(())
    }

    fn size(&self) -> usize {
        self.chosen.iter().filter(|chosen| **chosen).count()
    }

    fn slots(&self) -> Vec<usize> {
        (0..self.elements.len()).filter(|&at| self.chosen[at]).collect()
    }

    fn rows_of(&self, slots: &[usize]) -> Mat<f64> {
        let dims = self.elements.first().map_or(0, |element| element.row.len());
        let mut rows = Mat::zeros(dims, slots.len());
        for (at, &slot) in slots.iter().enumerate() {
            column_mut(rows.as_mut(), at).copy_from_slice(&self.elements[slot].row);
        }
        rows
    }

    /// Σ ln q_i‖a_i‖ + ½ ln det; `None` if rows are dependent.
    fn weight(&self) -> Option<f64> {
        let slots = self.slots();
        let lengths: f64 = slots.iter().map(|&slot| self.elements[slot].length).sum();
        if slots.is_empty() {
            return Some(0.0);
        }
        let (_, _, log_det) = dual_basis(self.rows_of(&slots).as_ref())?;
        Some(lengths + 0.5 * log_det)
    }

    /// The cheapest step between any two nodes.
    fn steps(&self) -> Option<Steps> {
        let slots = self.slots();
        let rows = self.rows_of(&slots);
        let (duals, beyond) = if slots.is_empty() {
            let dims = rows.nrows();
            (Mat::zeros(dims, 0), Mat::identity(dims, dims))
        } else {
            dual_basis(rows.as_ref()).map(|(duals, beyond, _)| (duals, beyond))?
        };
        let nodes = self.groups + 1;
        let mut steps = Steps(vec![vec![None; nodes]; nodes]);
        self.offer_items(&slots, &duals, &beyond, &mut steps);
        self.offer_counts(&slots, &mut steps);
        Some(steps)
    }

    /// Offers steps in which items replace each other and, if sets may have any size, enter or leave alone.
    fn offer_items(&self, slots: &[usize], duals: &Mat<f64>, beyond: &Mat<f64>, steps: &mut Steps) {
        let (outside, any_size) = (self.groups, self.counts.total().is_none());
        let dual = |i: usize| column(duals.as_ref(), i);
        let norms: Vec<f64> = (0..slots.len()).map(|i| dot(dual(i), dual(i))).collect();
        for (at, element) in self.elements.iter().enumerate().filter(|(at, _)| !self.chosen[*at]) {
            let entering = Some(at);
            let squares = |j: usize| dot(column(beyond.as_ref(), j), &element.row).powi(2);
            let residual: f64 = (0..beyond.ncols()).map(squares).sum();
            for (i, &slot) in slots.iter().enumerate() {
                let ratio = norms[i] * residual + dot(dual(i), &element.row).powi(2);
                let other = &self.elements[slot];
                if ratio > DEPENDENT {
                    let cost = other.length - element.length - 0.5 * ratio.ln();
                    steps.offer(other.group, element.group, Step { cost, leaving: Some(slot), entering });
                }
            }
            if any_size && residual > DEPENDENT {
                let cost = -element.length - 0.5 * residual.ln();
                steps.offer(outside, element.group, Step { cost, leaving: None, entering });
            }
        }
        for (&slot, norm) in slots.iter().zip(&norms).filter(|_| any_size) {
            let Element { group, length, .. } = self.elements[slot];
            let cost = length - 0.5 * norm.ln();
            steps.offer(group, outside, Step { cost, leaving: Some(slot), entering: None });
        }
    }

    /// Offers free steps for counts that can fall or rise.
    fn offer_counts(&self, slots: &[usize], steps: &mut Steps) {
        let (outside, free) = (self.groups, Step { cost: 0.0, leaving: None, entering: None });
        for group in 0..self.groups {
            let count = slots.iter().filter(|&&slot| self.elements[slot].group == group).count();
            if count > self.counts.low[group] {
                steps.offer(outside, group, free);
            }
            if count < self.counts.high[group] {
                steps.offer(group, outside, free);
            }
        }
    }

    /// The cycle that raises the weight most among the shortest cycles that raise it. Exchanges along a shortest
    /// cycle do not interfere with each other.
    fn cheapest_cycle(&self, Steps(steps): &Steps) -> Option<Vec<Step>> {
        let nodes = self.groups + 1;
        // For every number of steps: the cheapest walk between two nodes, and its second-to-last node.
        let one = |from: usize, to: usize| (steps[from][to].map_or(f64::INFINITY, |step| step.cost), from);
        let mut walks = vec![
            (0..nodes).map(|from| (0..nodes).map(|to| one(from, to)).collect()).collect::<Vec<Vec<_>>>(),
        ];
        for length in 0..nodes {
            let known = &walks[length];
            let worst = (0..nodes).min_by(|&a, &b| known[a][a].0.total_cmp(&known[b][b].0))?;
            if known[worst][worst].0 < -TOLERANCE {
                return Some(Self::walk_back(steps, &walks, worst));
            }
            let longer = |from: usize, to: usize| {
                let through = |via: usize| (known[from][via].0 + one(via, to).0, via);
                (0..nodes).map(through).min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::INFINITY, from))
            };
            let next = (0..nodes).map(|from| (0..nodes).map(|to| longer(from, to)).collect()).collect();
            walks.push(next);
        }
        None
    }

    /// The steps of the cycle through a node that the longest walks found.
    fn walk_back(steps: &[Vec<Option<Step>>], walks: &[Vec<Vec<(f64, usize)>>], node: usize) -> Vec<Step> {
        let (mut at, mut cycle) = (node, Vec::new());
        for walk in walks.iter().rev() {
            let before = walk[node][at].1;
            cycle.extend(steps[before][at]);
            at = before;
        }
        cycle
    }

    fn exchange(&mut self, cycle: &[Step]) {
        for step in cycle {
            step.leaving.iter().for_each(|&slot| self.chosen[slot] = false);
            step.entering.iter().for_each(|&slot| self.chosen[slot] = true);
        }
    }

    /// Prices from shortest distances (Bellman–Ford).
    fn priced(&self, Steps(steps): &Steps, weight: f64) -> Heaviest {
        let nodes = self.groups + 1;
        let mut distance = vec![0.0; nodes];
        for _ in 0..nodes {
            for (from, to) in (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to))) {
                let Some(step) = steps[from][to] else { continue };
                distance[to] = f64::min(distance[to], distance[from] + step.cost);
            }
        }
        let outside = distance[self.groups];
        let prices: Vec<f64> = distance[..self.groups].iter().map(|distance| distance - outside).collect();
        let slots = self.slots();
        let lengths: f64 = slots.iter().map(|&slot| self.elements[slot].length).sum();
        Heaviest {
            flatness: (lengths - weight).max(0.0),
            items: slots.iter().map(|&slot| self.elements[slot].item).collect(),
            levels: slots
                .iter()
                .map(|&slot| self.elements[slot].length + prices[self.elements[slot].group])
                .collect(),
            prices,
        }
    }
}
