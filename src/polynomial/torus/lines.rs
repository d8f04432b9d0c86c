//! Values of a generating function along lines: nodes that differ only in the phase of the total.
//!
//! ```text
//! φ(w, ζ) = det(C + w Σ_l ζ_l N_l) = det C · det(I + w L⁻¹ (Σ_l ζ_l N_l) L⁻ᵀ),   C = L Lᵀ
//! ```
//!
//! One Hessenberg form serves all nodes of a line: a determinant takes O(r²) operations instead of O(r³), an inverse a sixth of
//! those by LU, and all parts share one sum of inverses. Rounding errors grow where C
//! is nearly singular. So one node of every line is computed by LU, too: the difference is an error of the line, and if it is too
//! large, LU computes all nodes.

use std::collections::HashMap;

use faer::{Mat, Par, Side, c64, linalg::triangular_solve::solve_upper_triangular_in_place};

use super::{Torus, rounding};
use crate::{
    Estimate, Result,
    engine::{Engine, GridRequest, PhaseGrid, Precision, at_a_time},
    linalg::{Determinant, Hessenberg, add_real_part, column, column_mut, whiten},
    parallel::map_ordered,
    polynomial::generating_function::GeneratingFunction,
    watch::Step,
};

/// Nodes of a total from which on lines take less time: a Hessenberg form and a check cost as much as eight nodes, and half
/// of the nodes are conjugates of others.
const WORTHWHILE: usize = 20;
/// Differences from LU that are accepted, in units of the rounding error that is expected of LU.
const ACCEPTED: f64 = 4.0;
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

/// What lines give.
pub(super) struct AlongLines {
    /// φ at every node, and what it may be off besides the rounding of LU.
    pub(super) values: Vec<Estimate<c64>>,
    /// Re Σ over nodes of x(θ) e^{iθ_l} φ(θ) P(θ)⁻¹ for every part l, if there are extractors x.
    pub(super) forms: Vec<Mat<f64>>,
}

/// φ at every node, and forms by these extractors, or `None` where they are better computed node by node.
pub(super) fn along_lines(
    torus: &Torus,
    engine: &Engine,
    function: &GeneratingFunction,
    extractors: Option<&[c64]>,
) -> Result<Option<AlongLines>> {
    let Some(reference) = torus.reference else { return Ok(None) };
    if engine.info().adapter.is_some() || torus.sizes[reference] < WORTHWHILE {
        return Ok(None);
    }
    let Some(whitened) = Whitened::new(function) else { return Ok(None) };
    let lines = lines(torus, reference);
    let rank = function.rank();
    let mut values = vec![Estimate { value: c64::new(0.0, 0.0), error: 0.0 }; torus.nodes()];
    let parts = if extractors.is_some() { function.shares.len() } else { 0 };
    let mut forms = vec![Mat::zeros(rank, rank); parts];
    let (mut mass, mut difference) = (0.0, 0.0);
    let together = at_a_time(lines.len(), 80.0 * (rank as f64).powi(3));
    for some in lines.chunks(together) {
        let found = map_ordered(some.len(), |at| -> Result<_> {
            let (found, form) = whitened.along(&some[at], extractors);
            let off = check(torus, function, &some[at], &found)?;
            Ok((found, form, off))
        });
        for (line, found) in some.iter().zip(found) {
            let (found, form, off) = found?;
            for (place, value) in line.places.iter().zip(found) {
                let weight = torus.weights[place.node];
                mass += weight * value.norm();
                difference += weight * off;
                values[place.node] = Estimate { value, error: off };
            }
            if let Some(form) = form {
                let sums = forms.iter_mut().zip(&line.zeta);
                sums.for_each(|(sum, zeta)| add_real_part(sum, *zeta, &form));
            }
        }
        engine.proceed_after_steps(Step::Node, some.iter().map(|line| line.places.len()).sum())?;
    }
    let is_accepted = difference <= ACCEPTED * rounding(rank, Precision::F64, mass);
    Ok(is_accepted.then_some(AlongLines { values, forms }))
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

/// What the largest of the values of a line is off from that by LU.
fn check(torus: &Torus, function: &GeneratingFunction, line: &Line, values: &[c64]) -> Result<f64> {
    let by_size = |a: &(_, &c64), b: &(_, &c64)| a.1.norm().total_cmp(&b.1.norm());
    let Some((place, value)) = line.places.iter().zip(values).max_by(by_size) else { return Ok(0.0) };
    let grid = PhaseGrid { shares: &function.shares, phases: torus.node(place.node) };
    let points = Engine::host().grid_determinants(&grid, GridRequest::Determinants)?;
    Ok((points[0].determinant.value() - value).norm())
}

/// L⁻¹ N_l L⁻ᵀ, L, and det C.
struct Whitened {
    factor: Mat<f64>,
    shares: Vec<Mat<f64>>,
    determinant: Determinant,
}

impl Whitened {
    /// `None` if C is not positive definite.
    fn new(function: &GeneratingFunction) -> Option<Self> {
        let size = function.rank();
        // C as it is at every node.
        let base = function.shares.iter().fold(Mat::identity(size, size), |base, share| base - share);
        let factor = base.llt(Side::Lower).ok()?.L().to_owned();
        let shares = function.shares.iter().map(|share| whiten(factor.as_ref(), share.clone()));
        let shares = shares.collect();
        let mut whitened = Self { factor, shares, determinant: Determinant::ONE };
        // φ(1) = 1: this leaves less rounding than the pivots of C.
        let one = c64::new(1.0, 0.0);
        let at_one = Hessenberg::of(whitened.sum(&vec![one; whitened.shares.len()]));
        let at_one = at_one.determinant(one, Determinant::ONE);
        whitened.determinant = at_one.reciprocal();
        Some(whitened)
    }

    /// Σ ζ_l L⁻¹ N_l L⁻ᵀ.
    fn sum(&self, zeta: &[c64]) -> Mat<c64> {
        let size = self.factor.nrows();
        let mut sum = Mat::<c64>::zeros(size, size);
        for (share, zeta) in self.shares.iter().zip(zeta) {
            for j in 0..size {
                let entries = column_mut(sum.as_mut(), j).iter_mut().zip(column(share.as_ref(), j));
                entries.for_each(|(out, x)| *out += zeta * x);
            }
        }
        sum
    }

    /// φ at the nodes of a line, and Σ x w φ P⁻¹ with these extractors x.
    fn along(&self, line: &Line, extractors: Option<&[c64]>) -> (Vec<c64>, Option<Mat<c64>>) {
        let own = |place: &Place, x: c64| if place.is_conjugate { x.conj() } else { x };
        let sum = self.sum(&line.zeta);
        let Some(extractors) = extractors else {
            let form = Hessenberg::of(sum);
            let value = |place: &Place| own(place, form.determinant(place.w, self.determinant).value());
            return (line.places.iter().map(value).collect(), None);
        };
        let (form, basis) = Hessenberg::with_basis(sum);
        let mut inner = Mat::<c64>::zeros(basis.nrows(), basis.nrows());
        let value = |place: &Place| {
            let (determinant, inverse) = form.inverse(place.w, self.determinant);
            let value = determinant.value();
            inner += faer::Scale(own(place, extractors[place.node]) * place.w * value) * inverse;
            own(place, value)
        };
        let values = line.places.iter().map(value).collect();
        (values, Some(self.back(&(&basis * inner * basis.adjoint()))))
    }

    /// L⁻ᵀ X L⁻¹.
    fn back(&self, matrix: &Mat<c64>) -> Mat<c64> {
        let parts = [|x: &c64| x.re, |x: &c64| x.im].map(|part: fn(&c64) -> f64| {
            let mut half = Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| part(&matrix[(i, j)]));
            solve_upper_triangular_in_place(self.factor.transpose(), half.as_mut(), Par::Seq);
            let mut whole = half.transpose().to_owned();
            solve_upper_triangular_in_place(self.factor.transpose(), whole.as_mut(), Par::Seq);
            whole
        });
        // Transposed, as the matrix is symmetric.
        Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| c64::new(parts[0][(j, i)], parts[1][(j, i)]))
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::{Features, Partition, PartitionDpp, Quota, polynomial::torus::TorusPlan};

    /// Of so many parts of this size, with a quota for each; standard deviations of dimensions are 1, q, q², …, but for three
    /// heavy ones.
    fn case(
        [parts, size, quota]: [usize; 3],
        [q, heavy]: [f64; 2],
    ) -> (GeneratingFunction, Torus, Vec<usize>) {
        let (items, mut rng) = (parts * size, ChaCha8Rng::seed_from_u64(7));
        let scale = |dim: usize| if (4..7).contains(&dim) { heavy } else { f64::exp(q.ln() * dim as f64) };
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
        (function, torus, counts.to_vec())
    }

    /// Sizes of the paper's configurations and larger ones, of which some have small eigenvalues of C.
    #[test]
    fn lines_have_the_values_of_their_nodes() {
        let flat = [[2, 24, 5], [2, 24, 10], [3, 16, 5], [2, 64, 12]].map(|sizes| (sizes, [1.0, 1.0]));
        let skewed = [([2, 40, 8], [0.93, 0.75]), ([3, 30, 4], [0.95, 1.0]), ([4, 24, 3], [0.97, 1.0])];
        let heavy = [([2, 48, 9], [1.0, 10.0]), ([3, 30, 5], [1.0, 30.0])];
        for (sizes, spread) in flat.into_iter().chain(skewed).chain(heavy) {
            let (function, torus, counts) = case(sizes, spread);
            let grid = PhaseGrid { shares: &function.shares, phases: &torus.phases };
            let expected = Engine::host().grid_determinants(&grid, GridRequest::Determinants).unwrap();
            let extractors = torus.extractors(&counts);
            let found = along_lines(&torus, Engine::host(), &function, Some(&extractors)).unwrap();
            let found = found.unwrap_or_else(|| panic!("{sizes:?}, {spread:?}: node by node"));
            let forms = torus.forms_by_nodes(Engine::host(), &function, &extractors).unwrap().forms;
            let mass = torus.sum(Engine::host(), &function, &extractors).unwrap().value;
            for (form, expected) in found.forms.iter().zip(forms) {
                let off = (form - expected).norm_max() / mass;
                assert!(off < 1e-11, "{sizes:?}, {spread:?}: a form is off by {off:e}");
            }
            for (found, expected) in found.values.iter().zip(expected) {
                let off = (found.value - expected.determinant.value()).norm();
                let stated = found.error + 2e-15;
                assert!(
                    off < 4.0 * stated && off < 1e-13,
                    "{sizes:?}, {spread:?}: off by {off:e}, {stated:e}"
                );
            }
        }
    }

    #[test]
    fn short_lines_and_sets_that_are_nearly_certain_are_left_to_lu() {
        let nearly = [([2, 64, 61], [1.0, 1.0]), ([2, 48, 9], [1.0, 1e3])];
        for (sizes, spread) in [([4, 6, 1], [1.0, 1.0])].into_iter().chain(nearly) {
            let (function, torus, _) = case(sizes, spread);
            let found = along_lines(&torus, Engine::host(), &function, None).unwrap();
            assert!(found.is_none(), "{sizes:?}, {spread:?}");
        }
    }
}
