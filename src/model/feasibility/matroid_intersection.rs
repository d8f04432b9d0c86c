//! Intersection of a linear and a partition matroid by augmenting paths.

use std::collections::VecDeque;

use faer::{Mat, prelude::SolveLstsq};

use super::PartBasis;
use crate::linalg::OrthonormalBasis;

/// Coefficients below this fraction of the largest count as zero.
const COEFFICIENT_TOLERANCE: f64 = 1e-9;

/// Checks whether there are independent rows, κ_l from each part. If not, returns parts J with rank(J) < Σ_{l∈J} κ_l,
/// which need not be a smallest set.
///
/// # Cost
/// O(Σ_l rank_l · n · k) if the greedy choice succeeds, as it nearly always does; k times as much for every
/// augmentation.
///
/// # Source
/// Schrijver, *Combinatorial Optimization* (2003), § 41.2; Rado (1942) for the certificate.
pub(super) fn common_independent_set(
    bases: &[PartBasis],
    quota: &[usize],
    dims: usize,
) -> Result<(), Vec<usize>> {
    let elements: Vec<Element<'_>> = bases
        .iter()
        .enumerate()
        .flat_map(|(part, rows)| rows.iter().map(move |row| Element { part, row }))
        .collect();
    let mut search = Search { elements, quota, dims, selected: Vec::new(), counts: vec![0; quota.len()] };
    search.greedy();
    while search.selected.len() < quota.iter().sum() {
        search.augment()?;
    }
    search.check_dimensions()
}

/// Extends an independent set, the first `chosen` rows of each basis, along augmenting paths to a set that meets the
/// quota. Returns the rows taken from each basis, or `None` if there is no such set.
///
/// # Cost
/// The cost of [`common_independent_set`].
pub(crate) fn complete(
    bases: &[PartBasis],
    chosen: &[usize],
    quota: &[usize],
    dims: usize,
) -> Option<Vec<Vec<usize>>> {
    let rows = |(part, rows)| -> Vec<(usize, usize, &[f64])> {
        let rows: &PartBasis = rows;
        rows.iter().enumerate().map(|(at, row)| (part, at, &row[..])).collect()
    };
    let named: Vec<(usize, usize, &[f64])> = bases.iter().enumerate().flat_map(rows).collect();
    let selected = (0..named.len()).filter(|&x| named[x].1 < chosen[named[x].0]).collect();
    let elements = named.iter().map(|&(part, _, row)| Element { part, row }).collect();
    let mut search = Search { elements, quota, dims, selected, counts: chosen.to_vec() };
    search.greedy();
    while search.selected.len() < quota.iter().sum() {
        search.augment().ok()?;
    }
    let mut taken = vec![Vec::new(); bases.len()];
    search.selected.sort_unstable();
    search.selected.iter().for_each(|&x| taken[named[x].0].push(named[x].1));
    Some(taken)
}

struct Element<'a> {
    part: usize,
    row: &'a [f64],
}

struct Search<'a> {
    elements: Vec<Element<'a>>,
    quota: &'a [usize],
    dims: usize,
    /// Elements of the current set I.
    selected: Vec<usize>,
    counts: Vec<usize>,
}

/// The relation of an element outside I to the linear matroid.
enum Relation {
    /// I + x is independent.
    Independent,
    /// I − y + x is independent only for these y ∈ I (positions in `selected`).
    Exchanges(Vec<usize>),
}

/// The path from an element outside I to a larger common independent set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// No path has been found yet.
    Unknown,
    /// The partition matroid can take it directly.
    Enters,
    /// It replaces this element of I (position in `selected`), which is in the same part.
    Replaces(usize),
}

impl Search<'_> {
    /// Adds, in their order, the elements that fit without removing any other.
    fn greedy(&mut self) {
        let mut basis = OrthonormalBasis::new(self.dims);
        let mut is_selected = vec![false; self.elements.len()];
        for &index in &self.selected {
            is_selected[index] = true;
            basis.extend(self.elements[index].row);
        }
        for (index, element) in self.elements.iter().enumerate().filter(|(index, _)| !is_selected[*index]) {
            if self.counts[element.part] < self.quota[element.part] && basis.extend(element.row).is_some() {
                self.selected.push(index);
                self.counts[element.part] += 1;
            }
        }
    }

    /// Fails if there are more selected rows than dimensions, which is possible if rows are nearly dependent. It is
    /// then only known that all parts together need too much.
    fn check_dimensions(&self) -> Result<(), Vec<usize>> {
        if self.selected.len() <= self.dims {
            return Ok(());
        }
        Err((0..self.quota.len()).filter(|&part| self.quota[part] > 0).collect())
    }

    /// Extends I by one element along a shortest path, or returns the parts that prevent it.
    fn augment(&mut self) -> Result<(), Vec<usize>> {
        self.check_dimensions()?;
        let outside: Vec<usize> = (0..self.elements.len()).filter(|x| !self.selected.contains(x)).collect();
        let relations = self.relations(&outside);
        let saturated = |x: usize| self.counts[self.elements[x].part] >= self.quota[self.elements[x].part];

        // Breadth-first search, backwards from the elements that the partition can still take. A step from x outside
        // I to y in I exchanges them and keeps I independent. A step from y to x' stays in one part.
        let mut next_of_outside = vec![Way::Unknown; outside.len()];
        let mut next_of_selected: Vec<Option<usize>> = vec![None; self.selected.len()];
        let mut queue: VecDeque<usize> = VecDeque::new();
        for (at, &x) in outside.iter().enumerate() {
            if !saturated(x) {
                next_of_outside[at] = Way::Enters;
                queue.push_back(at);
            }
        }
        while let Some(at) = queue.pop_front() {
            let Relation::Exchanges(exchanges) = &relations[at] else {
                self.apply(&outside, at, &next_of_outside, &next_of_selected);
                return Ok(());
            };
            for &y in exchanges {
                if next_of_selected[y].is_some() {
                    continue;
                }
                next_of_selected[y] = Some(at);
                let part = self.elements[self.selected[y]].part;
                for (other, &x) in outside.iter().enumerate() {
                    if self.elements[x].part == part && next_of_outside[other] == Way::Unknown {
                        next_of_outside[other] = Way::Replaces(y);
                        queue.push_back(other);
                    }
                }
            }
        }
        let mut stuck: Vec<bool> =
            self.counts.iter().zip(self.quota).map(|(count, quota)| count < quota).collect();
        for (at, &x) in outside.iter().enumerate() {
            stuck[self.elements[x].part] |= next_of_outside[at] != Way::Unknown;
        }
        for (y, &x) in self.selected.iter().enumerate() {
            stuck[self.elements[x].part] |= next_of_selected[y].is_some();
        }
        Err((0..stuck.len()).filter(|&part| stuck[part]).collect())
    }

    /// Follows the path that starts at the outside element `at`, swapping along the way.
    fn apply(
        &mut self,
        outside: &[usize],
        mut at: usize,
        next_of_outside: &[Way],
        next_of_selected: &[Option<usize>],
    ) {
        let mut selected = self.selected.clone();
        // The path is x₀ → y₁ → x₁ → …: x₀ replaces y₁ in its part, and so on. The last x is new.
        loop {
            let x = outside[at];
            if let Way::Replaces(y) = next_of_outside[at] {
                selected[y] = x;
                let Some(next) = next_of_selected[y] else {
                    unreachable!("reached elements have a next one")
                };
                at = next;
            } else {
                selected.push(x);
                self.counts[self.elements[x].part] += 1;
                break;
            }
        }
        self.selected = selected;
    }

    fn relations(&self, outside: &[usize]) -> Vec<Relation> {
        let rank = self.selected.len();
        if rank == 0 {
            return outside.iter().map(|_| Relation::Independent).collect();
        }
        let mut basis = OrthonormalBasis::new(self.dims);
        for &x in &self.selected {
            basis.extend(self.elements[x].row);
        }
        let rows = Mat::from_fn(self.dims, rank, |i, j| self.elements[self.selected[j]].row[i]);
        let solver = rows.qr();
        let relation = |&x: &usize| {
            let row = self.elements[x].row;
            if basis.remove_from(&mut row.to_vec()).is_some() {
                return Relation::Independent;
            }
            let right = Mat::from_fn(self.dims, 1, |i, _| row[i]);
            let solved = solver.solve_lstsq(&right);
            let largest = (0..rank).map(|j| solved[(j, 0)].abs()).fold(0.0, f64::max);
            let used = |&j: &usize| solved[(j, 0)].abs() > COEFFICIENT_TOLERANCE * largest;
            Relation::Exchanges((0..rank).filter(used).collect())
        };
        outside.iter().map(relation).collect()
    }
}
