//! The items that take the places of leaving ones: the best combination of one item per part.

use super::{
    chosen::Chosen,
    exchange::{Compared, Slots},
};
use crate::{
    linalg::{column, kernels::dot},
    map::Place,
};

/// The best exchange of some leaving items.
pub(super) struct Found<const N: usize> {
    pub(super) leaving: [Place; N],
    pub(super) entering: Option<[Place; N]>,
    pub(super) ratio: f64,
    /// The number of combinations compared.
    pub(super) compared: u64,
}

impl<const N: usize> Found<N> {
    /// No exchange: the determinant stays the same.
    pub(super) fn none() -> Self {
        Self { leaving: [Place { group: 0, position: 0 }; N], entering: None, ratio: 1.0, compared: 0 }
    }
}

/// M_II of the leaving items.
pub(super) struct Leaving<const N: usize> {
    /// Their columns of C.
    columns: [usize; N],
    determinant: f64,
    /// (M_II)⁻¹.
    inverse: [[f64; N]; N],
}

impl<const N: usize> Leaving<N> {
    /// `None` if M_II is singular to working precision.
    pub(super) fn new(chosen: &Chosen<'_>, slots: &Slots<N>) -> Option<Self> {
        let columns = slots.map(|(group, slot)| chosen.column(group, slot));
        let duals = columns.map(|column| chosen.dual(column));
        let mut matrix = duals.map(|v| duals.map(|w| dot(v, w)));
        let mut determinant = 1.0;
        // Gauss and Jordan's elimination in place; the matrix is positive definite, so it needs no pivoting.
        for at in 0..N {
            let pivot = matrix[at][at];
            if pivot <= 0.0 || pivot.is_nan() {
                return None;
            }
            determinant *= pivot;
            matrix[at][at] = 1.0;
            matrix[at].iter_mut().for_each(|x| *x /= pivot);
            let row = matrix[at];
            for other in (0..N).filter(|&other| other != at) {
                let factor = std::mem::replace(&mut matrix[other][at], 0.0);
                matrix[other].iter_mut().zip(row).for_each(|(x, y)| *x -= factor * y);
            }
        }
        let first = chosen.column(0, 0);
        Some(Self { columns: columns.map(|column| column - first), determinant, inverse: matrix })
    }

    /// xᵀ (M_II)⁻¹ y.
    fn form(&self, x: &[f64; N], y: &[f64; N]) -> f64 {
        self.inverse
            .iter()
            .zip(x)
            .map(|(row, x)| x * row.iter().zip(y).map(|(c, y)| c * y).sum::<f64>())
            .sum()
    }
}

/// An item that may enter.
#[derive(Clone, Copy)]
struct Entrant<const N: usize> {
    position: usize,
    /// e_j.
    distance: f64,
    /// C_{I,j}.
    along: [f64; N],
}

/// The items that may enter for the leaving ones, by descending e_j, and their residuals.
pub(super) struct Entering<'a, const N: usize> {
    leaving: &'a Leaving<N>,
    groups: [usize; N],
    entrants: [Vec<Entrant<N>>; N],
    /// r_j, in coordinates of the orthogonal complement of the span of S.
    rests: [Vec<Vec<f64>>; N],
    /// The largest product of the e_j of the groups from each one on.
    ceilings: [f64; N],
}

impl<'a, const N: usize> Entering<'a, N> {
    /// At most `limit` items of every group.
    pub(super) fn new(items: &Compared<'_>, slots: &Slots<N>, leaving: &'a Leaving<N>, limit: usize) -> Self {
        let groups = slots.map(|(group, _)| group);
        let entrants = groups.map(|group| entrants(items, group, leaving, limit));
        let rests = std::array::from_fn(|part| rests(items, groups[part], &entrants[part]));
        // Rounding may leave negative e_j.
        let largest = |part: &Vec<Entrant<N>>| part.first().map_or(0.0, |entrant| entrant.distance.max(0.0));
        let ceilings = std::array::from_fn(|part| entrants[part..].iter().map(largest).product());
        Self { leaving, groups, entrants, rests, ceilings }
    }

    pub(super) fn best(&self, mut found: Found<N>) -> Found<N> {
        self.descend(0, self.leaving.determinant, &mut [(0, [0.0; N]); N], &mut found);
        found
    }

    /// Compares the combinations that begin with the items picked for the first `part` groups: det M_II · det E of these
    /// is `ratio`, and each pick comes with its row of the Cholesky factor of E.
    fn descend(&self, part: usize, ratio: f64, picked: &mut [(usize, [f64; N]); N], found: &mut Found<N>) {
        let later = self.ceilings.get(part + 1).copied().unwrap_or(1.0);
        for at in 0..self.entrants[part].len() {
            if ratio * self.entrants[part][at].distance * later <= found.ratio {
                break;
            }
            let (row, square) = self.factor(part, at, picked);
            found.compared += u64::from(part + 1 == N);
            let ratio = ratio * square;
            // Rounding may leave a negative square.
            let can_improve = ratio * later > found.ratio;
            if !can_improve {
                continue;
            }
            picked[part] = (at, row);
            if part + 1 < N {
                self.descend(part + 1, ratio, picked, found);
                continue;
            }
            let place = |part: usize| Place {
                group: self.groups[part],
                position: self.entrants[part][picked[part].0].position,
            };
            (found.ratio, found.entering) = (ratio, Some(std::array::from_fn(place)));
        }
    }

    /// The next row of the Cholesky factor of E, and the square of its diagonal entry.
    fn factor(&self, part: usize, at: usize, picked: &[(usize, [f64; N]); N]) -> ([f64; N], f64) {
        let entrant = &self.entrants[part][at];
        let (mut row, mut square) = ([0.0; N], entrant.distance);
        for (before, (other, above)) in picked[..part].iter().enumerate() {
            let along = self.leaving.form(&self.entrants[before][*other].along, &entrant.along);
            let inner = dot(&self.rests[before][*other], &self.rests[part][at]) + along;
            let known: f64 = row[..before].iter().zip(above).map(|(x, y)| x * y).sum();
            // The diagonal entry of the row above.
            row[before] = (inner - known) / above[before];
            square -= row[before] * row[before];
        }
        row[part] = square.max(0.0).sqrt();
        (row, square)
    }
}

/// The items of a group by descending e_j, at most `limit` of them; ties in item order.
fn entrants<const N: usize>(
    items: &Compared<'_>,
    group: usize,
    leaving: &Leaving<N>,
    limit: usize,
) -> Vec<Entrant<N>> {
    let start = items.starts[group];
    let descending =
        |x: &Entrant<N>, y: &Entrant<N>| y.distance.total_cmp(&x.distance).then(x.position.cmp(&y.position));
    let mut entrants: Vec<Entrant<N>> = Vec::new();
    let mut floor = f64::NEG_INFINITY;
    for item in start..items.starts[group + 1] {
        let row = items.coefficients(item);
        let along = leaving.columns.map(|column| row[column]);
        let distance = items.residuals[item] + leaving.form(&along, &along);
        if distance > floor {
            entrants.push(Entrant { position: items.position(group, item - start), distance, along });
        }
        if entrants.len() == 4 * limit {
            entrants.select_nth_unstable_by(limit - 1, descending);
            entrants.truncate(limit);
            floor = entrants[limit - 1].distance;
        }
    }
    entrants.sort_unstable_by(descending);
    entrants.truncate(limit);
    entrants
}

fn rests<const N: usize>(items: &Compared<'_>, group: usize, entrants: &[Entrant<N>]) -> Vec<Vec<f64>> {
    let (features, members) = (items.space.rows.features(), items.space.rows.groups()[group]);
    let complement = items.chosen.complement.as_ref();
    let mut row = vec![0.0; features.dims()];
    let rest = |entrant: &Entrant<N>| {
        features.read_row(members.items.at(entrant.position), members.scale, &mut row);
        (0..complement.ncols()).map(|j| dot(column(complement, j), &row)).collect()
    };
    entrants.iter().map(rest).collect()
}
