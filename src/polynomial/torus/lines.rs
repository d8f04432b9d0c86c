//! Values of a generating function along lines: nodes that differ only in the phase w of the total.
//!
//! ```text
//! P(w) = B + (w − w₀) S,   S = Σ_l ζ_l N_l,   B = P(w₀),   M = B⁻¹ S
//! φ(w) = det B · det(I + (w − w₀) M),   P(w)⁻¹ = (I + (w − w₀) M)⁻¹ B⁻¹
//! ```
//!
//! One Hessenberg form of M serves all nodes of a line. A determinant takes O(r²) operations instead of O(r³), an
//! inverse a sixth of the operations of LU, and all parts share one sum of inverses.
//!
//! w₀ is the phase at which the mean of the phases w ζ_l, weighted by tr N_l, is positive. There |φ| is about the
//! largest, and B is as far from singular as any P of the line. LU also computes one other node of every line. The
//! difference is an error of the line; if it is too large, LU computes all nodes.

use std::collections::HashMap;

use faer::{Mat, c64};

use super::{Torus, rounding};
use crate::{
    Estimate, Result,
    engine::{Engine, GridRequest, PhaseGrid, Precision, at_a_time},
    linalg::{Determinant, Hessenberg, Lu, add_multiple, add_real_part},
    parallel::map_ordered,
    polynomial::generating_function::GeneratingFunction,
    watch::Step,
};

/// Accepted differences from LU, in units of the expected rounding error of LU.
const ACCEPTED: f64 = 4.0;
/// Nodes of a line that one thread takes together.
///
/// The number is fixed, so sums are the same for any number of threads.
const PIECE: usize = 8;

/// A node of a line.
struct Place {
    node: usize,
    /// The phase of the total.
    w: c64,
    /// Whether the conjugate of the node is on the line, instead of the node.
    is_conjugate: bool,
}

/// Nodes with the same phases ζ, which differ only in the phase of the total.
struct Line {
    zeta: Vec<c64>,
    places: Vec<Place>,
}

/// The results along lines.
pub(super) struct AlongLines {
    /// φ at every node, with its error beyond the rounding of LU.
    pub(super) values: Vec<Estimate<c64>>,
    /// Re Σ over nodes of x(θ) e^{iθ_l} φ(θ) P(θ)⁻¹ for every part l, if inverses were requested.
    pub(super) forms: Vec<Mat<f64>>,
}

/// φ at every node, and forms with these extractors x; `None` if they are better computed node by node.
pub(super) fn along_lines(
    torus: &Torus,
    engine: &Engine,
    function: &GeneratingFunction,
    extractors: &[c64],
    request: GridRequest,
) -> Result<Option<AlongLines>> {
    let with_forms = request == GridRequest::Inverses;
    let is_long = |&reference: &usize| torus.sizes[reference] >= request.fewest_on_a_line();
    let Some(reference) = torus.reference.filter(is_long) else { return Ok(None) };
    if engine.info().adapter.is_some() {
        return Ok(None);
    }
    let (rank, parts) = (function.rank(), function.shares.len());
    let base = function.shares.iter().fold(Mat::identity(rank, rank), |base, share| base - share);
    let lines = lines(torus, reference);
    let mut found = AlongLines {
        values: vec![Estimate { value: c64::new(0.0, 0.0), error: 0.0 }; torus.nodes()],
        forms: vec![Mat::zeros(rank, rank); if with_forms { parts } else { 0 }],
    };
    // |φ| ≤ 1.
    let most: f64 = extractors.iter().map(|x| x.norm()).sum();
    let (mut mass, mut difference) = (0.0, 0.0);
    let together = at_a_time(lines.len(), 100.0 * (rank as f64).powi(3));
    for some in lines.chunks(together) {
        let expanded = map_ordered(some.len(), |at| Expanded::new(function, &base, &some[at].zeta, request));
        let pieces: Vec<(usize, &[Place])> = (0..some.len())
            .flat_map(|line| some[line].places.chunks(PIECE).map(move |places| (line, places)))
            .collect();
        let mut sums = vec![Mat::<c64>::zeros(rank, rank); if with_forms { some.len() } else { 0 }];
        let at = |at: usize| expanded[pieces[at].0].at(pieces[at].1, extractors, request);
        for ((line, places), (values, sum)) in pieces.iter().zip(map_ordered(pieces.len(), at)) {
            for (place, value) in places.iter().zip(values) {
                found.values[place.node].value = value;
            }
            if let Some(sum) = sum {
                sums[*line] += sum;
            }
        }
        engine.proceed()?;
        let checked = map_ordered(some.len(), |at| {
            let off = check(torus, function, &some[at], expanded[at].w, &found.values);
            (off, sums.get(at).map(|sum| expanded[at].back(sum)))
        });
        for (line, (off, form)) in some.iter().zip(checked) {
            let off = off?;
            for place in &line.places {
                let value = &mut found.values[place.node];
                value.error = off;
                mass += extractors[place.node].norm() * value.value.norm();
                difference += extractors[place.node].norm() * off;
            }
            if let Some(form) = form {
                let sums = found.forms.iter_mut().zip(&line.zeta);
                sums.for_each(|(sum, zeta)| add_real_part(sum, *zeta, &form));
            }
        }
        // A NaN does not count as a small difference.
        let is_hopeless = difference > ACCEPTED * rounding(rank, Precision::F64, most);
        if is_hopeless || difference.is_nan() {
            return Ok(None);
        }
        engine.proceed_after_steps(Step::Node, some.iter().map(|line| line.places.len()).sum())?;
    }
    Ok((difference <= ACCEPTED * rounding(rank, Precision::F64, mass)).then_some(found))
}

/// The lines of a torus.
///
/// A line and its conjugate are one.
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

/// The difference between LU and one value of a line: a large one, far from where the line is expanded.
fn check(
    torus: &Torus,
    function: &GeneratingFunction,
    line: &Line,
    around: c64,
    values: &[Estimate<c64>],
) -> Result<f64> {
    let told = |place: &Place| values[place.node].value.norm() * (place.w - around).norm();
    let Some(place) = line.places.iter().max_by(|a, b| told(a).total_cmp(&told(b))) else { return Ok(0.0) };
    let grid = PhaseGrid { shares: &function.shares, phases: torus.node(place.node) };
    let points = Engine::host().grid_determinants(&grid, GridRequest::Determinants)?;
    Ok((points[0].determinant.value() - values[place.node].value).norm())
}

/// A line, expanded around a phase of its total.
struct Expanded {
    /// w₀.
    w: c64,
    /// The factors of B, and its determinant.
    lu: Lu,
    determinant: Determinant,
    /// H and, if inverses are requested, Q, where M = Q H Q*.
    form: Hessenberg,
    basis: Mat<c64>,
}

impl Expanded {
    /// `base` is I − Σ N_l.
    fn new(function: &GeneratingFunction, base: &Mat<f64>, zeta: &[c64], request: GridRequest) -> Self {
        let size = base.nrows();
        let trace = |share: &Mat<f64>| (0..size).map(|i| share[(i, i)]).sum::<f64>();
        let mean: c64 = function.shares.iter().zip(zeta).map(|(share, zeta)| zeta * trace(share)).sum();
        let w = if mean.norm() > 0.0 { mean.conj() / mean.norm() } else { c64::new(1.0, 0.0) };
        let mut slope = Mat::<c64>::zeros(size, size);
        for (share, zeta) in function.shares.iter().zip(zeta) {
            add_multiple(&mut slope, *zeta, share);
        }
        let around = Mat::from_fn(size, size, |i, j| base[(i, j)] + w * slope[(i, j)]);
        let lu = Lu::regular(&around);
        let matrix = lu.solve(slope);
        let (form, basis) = match request {
            GridRequest::Determinants => (Hessenberg::of(matrix), Mat::new()),
            GridRequest::Inverses => Hessenberg::with_basis(matrix),
        };
        Self { w, determinant: lu.determinant(), lu, form, basis }
    }

    /// φ at some nodes and, if inverses are requested, Σ x w φ (I + (w − w₀) H)⁻¹.
    ///
    /// For nodes whose conjugate is on the line, φ and x are conjugated.
    fn at(&self, places: &[Place], extractors: &[c64], request: GridRequest) -> (Vec<c64>, Option<Mat<c64>>) {
        let own = |place: &Place, x: c64| if place.is_conjugate { x.conj() } else { x };
        let mut sum = (request == GridRequest::Inverses)
            .then(|| Mat::<c64>::zeros(self.basis.nrows(), self.basis.nrows()));
        let value = |place: &Place| {
            let step = place.w - self.w;
            let Some(sum) = &mut sum else {
                return own(place, self.form.determinant(step, self.determinant).value());
            };
            let (determinant, inverse) = self.form.inverse(step, self.determinant);
            let value = determinant.value();
            add_multiple(sum, own(place, extractors[place.node]) * place.w * value, &inverse);
            own(place, value)
        };
        let values = places.iter().map(value).collect();
        (values, sum)
    }

    /// Q X Q* B⁻¹.
    fn back(&self, matrix: &Mat<c64>) -> Mat<c64> {
        let whole = &self.basis * matrix * self.basis.adjoint();
        // B is symmetric.
        self.lu.solve(whole.transpose().to_owned()).transpose().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::{
        Features, Partition, PartitionDpp, Quota,
        engine::GridForms,
        polynomial::torus::{RangeSum, TorusPlan},
    };

    /// A case of this many parts of this size, with the same quota for each.
    ///
    /// Standard deviations of dimensions are 1, q, q² and so on, except for three heavy ones.
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

    fn along(function: &GeneratingFunction, torus: &Torus, extractors: &[c64]) -> Option<AlongLines> {
        along_lines(torus, Engine::host(), function, extractors, GridRequest::Inverses).unwrap()
    }

    /// Sizes of the paper's configurations and larger ones, one part, spectra over many powers of ten, and quotas
    /// near the rank.
    #[test]
    fn lines_have_the_values_of_their_nodes() {
        let flat = [[1, 40, 5], [2, 24, 5], [2, 24, 10], [3, 16, 5], [2, 64, 12], [2, 64, 60], [2, 20, 15]];
        let flat = flat.map(|sizes| (sizes, [1.0, 1.0]));
        let skewed = [([2, 40, 8], [0.93, 0.75]), ([3, 30, 4], [0.95, 1.0]), ([2, 48, 6], [0.9, 1.0])];
        let heavy = [1e1, 1e2, 1e4, 1e6].map(|heavy| ([2, 48, 9], [1.0, heavy]));
        let alone = ([1, 40, 5], [1.0, 1e4]);
        for (sizes, spread) in flat.into_iter().chain(skewed).chain(heavy).chain([alone]) {
            let (function, torus, counts) = case(sizes, spread);
            let name = format!("{sizes:?}, {spread:?}: {:?} nodes", torus.sizes);
            let extractors = torus.extractors(&counts);
            let found = along(&function, &torus, &extractors).unwrap_or_else(|| panic!("{name}, one by one"));
            let GridForms { determinants, forms } =
                torus.forms_by_nodes(Engine::host(), &function, &extractors).unwrap();
            for (found, expected) in found.values.iter().zip(determinants) {
                let off = (found.value - expected.value()).norm();
                assert!(off < 4.0 * found.error + 4e-15, "{name}: off by {off:e}, {:e}", found.error);
                assert!(found.error < 1e-14, "{name}: {:e}", found.error);
            }
            let mass = torus.sum(Engine::host(), &function, &extractors).unwrap();
            for (form, expected) in found.forms.iter().zip(forms) {
                let off = (form - expected).norm_max();
                assert!(off < 2.0 * mass.error, "{name}: a form is off by {off:e}, {:e}", mass.error);
            }
        }
    }

    #[test]
    fn ranges_have_the_sums_of_their_nodes() {
        let (items, mut rng) = (60, ChaCha8Rng::seed_from_u64(3));
        let values: Vec<f64> = (0..items * 40).map(|_| rng.random_range(-1.0..1.0)).collect();
        let features = Features::from_rows(items, 40, values).unwrap();
        let partition = Partition::from_labels(&(0..items).map(|item| item % 3).collect::<Vec<_>>()).unwrap();
        // The third part is open, and so is the second in the second case.
        for ranges in [[2..=4, 1..=5, 0..=12], [2..=4, 0..=12, 0..=12]] {
            let ranges = ranges.map(crate::CountRange::from);
            let quota = Quota::new(&partition, ranges).unwrap().with_total(12).unwrap();
            let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
            let rows = dpp.rows();
            let spectrum = dpp.spectrum(Engine::host(), &rows).unwrap();
            let (function, reference) = GeneratingFunction::of_size(&spectrum, &rows.scales(), 12).unwrap();
            let laws = function.count_laws(Some(12)).unwrap();
            let sum = RangeSum::new(laws, dpp.counts(), dpp.correction(reference.log_weights()));
            let torus = sum.torus(1e6).unwrap();
            let extractors = sum.extractors(Engine::host(), &torus).unwrap();
            let found = along(&function, &torus, &extractors).unwrap();
            let GridForms { determinants, .. } =
                torus.forms_by_nodes(Engine::host(), &function, &extractors).unwrap();
            for (found, expected) in found.values.iter().zip(determinants) {
                let off = (found.value - expected.value()).norm();
                assert!(off < 4.0 * found.error + 4e-15, "off by {off:e}, {:e}", found.error);
            }
        }
    }

    /// At w = −1, a node for some of these sizes, every pivot of P is zero: every item of two parts of orthonormal
    /// rows is in half of the sets.
    #[test]
    fn nodes_may_be_singular() {
        for half in 8..=14 {
            let items = 4 * half;
            let values: Vec<f64> = (0..items * items).map(|at| f64::from(at / items == at % items)).collect();
            let features = Features::from_rows(items, items, values).unwrap();
            let labels: Vec<usize> = (0..items).map(|item| item % 2).collect();
            let partition = Partition::from_labels(&labels).unwrap();
            let quota = Quota::each(&partition, half).unwrap();
            let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
            let found = dpp.inference(Engine::host()).unwrap().inclusion_probabilities().unwrap();
            for probability in found.value {
                assert!((probability - 0.5).abs() < 1e-12, "{half}: {probability}");
            }
        }
    }

    #[test]
    fn short_lines_are_left_to_lu() {
        let (function, torus, counts) = case([2, 15, 3], [0.4, 1.0]);
        assert!(along(&function, &torus, &torus.extractors(&counts)).is_none());
    }
}
