//! Values of a generating function along lines: nodes that differ only in the phase of the total.
//!
//! ```text
//! φ(w, ζ) = det(C + w Σ_l ζ_l N_l) = det C · det(I + w C^-½ (Σ_l ζ_l N_l) C^-½)
//! ```
//!
//! One Hessenberg form serves all nodes of a line, and each takes O(r²) operations instead of O(r³). The eigenvalues of C ascend, so
//! that the matrix is graded from its largest rows down and reduced with errors that are small in all of them: with
//! eigenvalues from 10⁻³ on ten times those of LU, with 10⁻⁹ a hundred times; in descending order 10⁸ times. One node of every line
//! is computed by LU, too, and where they differ by more than the rounding that results state, so are all.

use std::collections::HashMap;

use faer::{Mat, c64};

use super::{Torus, rounding};
use crate::{
    Result,
    engine::{Engine, GridRequest, PhaseGrid, Precision, at_a_time},
    linalg::{Determinant, Hessenberg, column, column_mut, eigen},
    parallel::map_ordered,
    polynomial::generating_function::GeneratingFunction,
    watch::Step,
};

/// Nodes of a total from which on lines take less time: a Hessenberg form and a check cost as much as eight nodes, and half
/// of the nodes are conjugates of others.
const WORTHWHILE: usize = 20;
/// The smallest eigenvalue of C.
const LEAST: f64 = 1e-9;
/// A node of a line.
struct Place {
    node: usize,
    /// The phase of the total.
    w: c64,
    /// Whether the line is that of its conjugate.
    is_conjugate: bool,
}

/// Nodes with the same phases ζ besides that of the total.
struct Line {
    zeta: Vec<c64>,
    places: Vec<Place>,
}

/// φ at every node, or `None` where that is better computed node by node.
pub(super) fn values(
    torus: &Torus,
    engine: &Engine,
    function: &GeneratingFunction,
) -> Result<Option<Vec<c64>>> {
    let Some(reference) = torus.reference else { return Ok(None) };
    if engine.info().adapter.is_some() || torus.sizes[reference] < WORTHWHILE {
        return Ok(None);
    }
    let Some(whitened) = Whitened::new(function)? else { return Ok(None) };
    let lines = lines(torus, reference);
    let mut values = vec![c64::new(0.0, 0.0); torus.nodes()];
    let (mut mass, mut difference) = (0.0, 0.0);
    let together = at_a_time(lines.len(), 80.0 / 3.0 * (function.rank() as f64).powi(3));
    for some in lines.chunks(together) {
        let found = map_ordered(some.len(), |at| whitened.along(&some[at]));
        for (line, found) in some.iter().zip(found) {
            let sizes = line.places.iter().zip(&found).map(|(place, x)| torus.weights[place.node] * x.norm());
            mass += sizes.sum::<f64>();
            for (place, value) in line.places.iter().zip(&found) {
                values[place.node] = *value;
            }
        }
        let checked = map_ordered(some.len(), |at| check(torus, function, &some[at], &values));
        for (line, off) in some.iter().zip(checked) {
            difference += off? * line.places.iter().map(|place| torus.weights[place.node]).sum::<f64>();
        }
        engine.proceed_after_steps(Step::Node, some.iter().map(|line| line.places.len()).sum())?;
    }
    Ok((difference <= rounding(function.rank(), Precision::F64, mass)).then_some(values))
}

/// The lines of a torus. Conjugates of a line are on it.
fn lines(torus: &Torus, reference: usize) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut known: HashMap<Vec<usize>, usize> = HashMap::new();
    for (node, digits) in torus.digits.chunks_exact(torus.sizes.len()).enumerate() {
        let others = |digits: &[usize]| {
            let mut others = digits.to_vec();
            others[reference] = 0;
            others
        };
        let (own, conjugate) = (others(digits), others(&torus.conjugate(digits)));
        let is_conjugate = conjugate < own;
        let key = if is_conjugate { conjugate } else { own };
        let at = *known.entry(key).or_insert_with_key(|key| {
            let zeta = |(part, &digit): (usize, &usize)| {
                if part == reference { c64::new(1.0, 0.0) } else { torus.power(part, digit, 1) }
            };
            lines.push(Line { zeta: key.iter().enumerate().map(zeta).collect(), places: Vec::new() });
            lines.len() - 1
        });
        let w = torus.power(reference, digits[reference], 1);
        let w = if is_conjugate { w.conj() } else { w };
        lines[at].places.push(Place { node, w, is_conjugate });
    }
    lines
}

/// What the largest value of a line is off from that by LU.
fn check(torus: &Torus, function: &GeneratingFunction, line: &Line, values: &[c64]) -> Result<f64> {
    let by_size = |a: &&Place, b: &&Place| values[a.node].norm().total_cmp(&values[b.node].norm());
    let Some(place) = line.places.iter().max_by(by_size) else { return Ok(0.0) };
    let grid = PhaseGrid { shares: &function.shares, phases: torus.node(place.node) };
    let points = Engine::host().grid_determinants(&grid, GridRequest::Determinants)?;
    Ok((points[0].determinant.value() - values[place.node]).norm())
}

/// C^-½ N_l C^-½ in the eigenvectors of C, and det C.
struct Whitened {
    shares: Vec<Mat<f64>>,
    determinant: Determinant,
}

impl Whitened {
    fn new(function: &GeneratingFunction) -> Result<Option<Self>> {
        let size = function.rank();
        // C as it is at every node.
        let base = function.shares.iter().fold(Mat::identity(size, size), |base, share| base - share);
        let base = eigen(base.as_ref())?;
        if size == 0 || base.values[size - 1] < LEAST {
            return Ok(None);
        }
        let scaled = |i: usize, j: usize| base.vectors[(i, size - 1 - j)] / base.values[size - 1 - j].sqrt();
        let root = Mat::from_fn(size, size, scaled);
        let shares = function.shares.iter().map(|share| root.transpose() * (share * &root)).collect();
        let mut whitened = Self { shares, determinant: Determinant::ONE };
        // φ(1) = 1: this leaves less rounding than the eigenvalues.
        let ones = vec![c64::new(1.0, 0.0); whitened.shares.len()];
        whitened.determinant =
            whitened.form(&ones).determinant(c64::new(1.0, 0.0), Determinant::ONE).reciprocal();
        Ok(Some(whitened))
    }

    /// That of Σ ζ_l C^-½ N_l C^-½.
    fn form(&self, zeta: &[c64]) -> Hessenberg {
        let size = self.shares[0].nrows();
        let mut sum = Mat::<c64>::zeros(size, size);
        for (share, zeta) in self.shares.iter().zip(zeta) {
            for j in 0..size {
                let entries = column_mut(sum.as_mut(), j).iter_mut().zip(column(share.as_ref(), j));
                entries.for_each(|(out, x)| *out += zeta * x);
            }
        }
        Hessenberg::of(sum)
    }

    /// φ at the nodes of a line.
    fn along(&self, line: &Line) -> Vec<c64> {
        let form = self.form(&line.zeta);
        let value = |place: &Place| {
            let value = form.determinant(place.w, self.determinant).value();
            if place.is_conjugate { value.conj() } else { value }
        };
        line.places.iter().map(value).collect()
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::{Features, Partition, PartitionDpp, Quota, polynomial::torus::TorusPlan};

    /// Of so many parts of this size, with a quota for each; dimensions have standard deviations 1, q, q², …
    fn case([parts, size, quota]: [usize; 3], q: f64) -> (GeneratingFunction, Torus) {
        let (items, mut rng) = (parts * size, ChaCha8Rng::seed_from_u64(7));
        let scale = |dim: usize| f64::exp(q.ln() * dim as f64);
        let entry = |at: usize| rng.random_range(-1.0..1.0) * scale(at % items);
        let features = Features::from_rows(items, items, (0..items * items).map(entry).collect::<Vec<f64>>());
        let labels: Vec<usize> = (0..items).map(|item| item / size).collect();
        let partition = Partition::from_labels(&labels).unwrap();
        let quota = Quota::each(&partition, quota).unwrap();
        let dpp = PartitionDpp::new(&features.unwrap(), &partition, &quota).unwrap();
        let rows = dpp.rows();
        let spectrum = dpp.spectrum(Engine::host(), &rows).unwrap();
        let counts = quota.low();
        let (function, _) =
            GeneratingFunction::of_size(&spectrum, &rows.scales(), counts.iter().sum()).unwrap();
        let torus = Torus::new(TorusPlan::for_coefficient(&function, counts).unwrap());
        (function, torus)
    }

    /// Sizes of the paper's configurations and larger ones, in whose spectra C has eigenvalues from 10⁻³ on.
    #[test]
    fn lines_have_the_values_of_their_nodes() {
        let cases = [([2, 24, 5], 1.0), ([2, 24, 10], 1.0), ([3, 16, 5], 1.0), ([2, 64, 12], 1.0)];
        let skewed = [([2, 40, 8], 0.93), ([3, 30, 4], 0.95), ([4, 24, 3], 0.97)];
        for (sizes, q) in cases.into_iter().chain(skewed) {
            let (function, torus) = case(sizes, q);
            let grid = PhaseGrid { shares: &function.shares, phases: &torus.phases };
            let expected = Engine::host().grid_determinants(&grid, GridRequest::Determinants).unwrap();
            let found = values(&torus, Engine::host(), &function).unwrap();
            let found = found.unwrap_or_else(|| panic!("{sizes:?}, {q}: node by node"));
            for (found, expected) in found.iter().zip(expected) {
                let off = (found - expected.determinant.value()).norm();
                assert!(off < 1e-14, "{sizes:?}, {q}: off by {off:e}");
            }
        }
    }

    #[test]
    fn short_lines_and_quotas_near_the_rank_are_left_to_lu() {
        for (sizes, q) in [([4, 6, 1], 1.0), ([2, 64, 60], 1.0), ([2, 24, 10], 0.7)] {
            let (function, torus) = case(sizes, q);
            assert!(values(&torus, Engine::host(), &function).unwrap().is_none(), "{sizes:?}, {q}");
        }
    }
}
