//! The Γ relaxation.

use faer::{
    Accum, Mat, MatRef, Par,
    linalg::matmul::triangular::{self, BlockStructure},
};

use super::{
    Subproblem,
    relaxation::{Linearised, Majorant, Relaxation},
    spectral_function::{Sets, Split, split},
};
use crate::{
    Result,
    linalg::{column, column_mut, eigen, kernels},
    map::rounding::{of_eigenvectors, of_orthogonalisation, of_sum, of_value},
    model::Counts,
};

/// The number of columns of the curvature's factor that are in memory at a time.
const PANEL: usize = 4096;

/// Γ of the spectrum of Σ x_i b_i b_iᵀ, plus a linear function.
///
/// ```text
/// f(x) = Σ c_i x_i + Γ_k(λ(Σ x_i b_i b_iᵀ)),   ∇f_i = c_i + ∂Γ/∂k + b_iᵀ U diag(∂Γ/∂λ) Uᵀ b_i
/// ```
///
/// An upper bound of Σ_S c_i + ln det(t I + B_S B_Sᵀ): at x = 1_S the spectrum has at most k positive
/// eigenvalues, and Γ_k is the sum of their logarithms. If sets may have any size, k is Σ x_i.
///
/// # Numerics
/// A bound follows from any positive definite M with smallest eigenvalues μ_j (von Neumann's trace inequality and
/// ln λ ≤ μλ − 1 − ln μ):
///
/// ```text
/// ln det(t I + B_S B_Sᵀ)  ≤  Σ_{i∈S} b_iᵀ M b_i + Σ_{j≤k} (t μ_j − 1 − ln μ_j)
/// ```
///
/// If t = 0, rows may be scaled by any e^τ_i/2, which adds τ_i to both sides for i ∈ S. The best scale of every row,
/// e^τ_i = 1/b_iᵀ M b_i, leaves Hadamard's inequality in the metric M:
///
/// ```text
/// ln det B_S B_Sᵀ  ≤  Σ_{i∈S} ln b_iᵀ M b_i − Σ_{j≤k} ln μ_j
/// ```
///
/// A row that is much shorter than others then costs the logarithm of the ratio, not a fraction of 1, so a bound far
/// above the best set still rules out short rows.
///
/// M = U diag(∂Γ/∂λ) Uᵀ is the best for the S that x leads to, and is used as computed. Its eigenvalues are ∂Γ/∂λ up
/// to factors between 1 ± ‖UᵀU − I‖ (Ostrowski), regardless of the other errors of U. The forms are raised by the
/// error e_i of each row, (|Uᵀ b_i| + |e_i|)², so short rows lose nothing to long ones.
///
/// # Cost
/// An evaluation takes 2mr² and the eigendecomposition of an r×r matrix, a curvature m² ι (r − ι).
///
/// # Source
/// Nikolov, *Randomized rounding for the largest simplex problem* (2015); Li and Xie, *Best principal submatrix
/// selection for the maximum entropy sampling problem* (2024). The version under quotas is this library's.
#[derive(Clone, Debug)]
pub(super) struct Gamma {
    /// The rows b_i, a column per item.
    pub(super) rows: Mat<f64>,
    /// The coefficients c_i.
    pub(super) linear: Vec<f64>,
    pub(super) constant: f64,
    pub(super) sets: Sets,
    /// The shift t.
    pub(super) shift: f64,
    /// The part of t that belongs to the bounded function, not to the relaxation.
    pub(super) known_shift: f64,
    /// The lengths ‖b_i‖.
    pub(super) lengths: Vec<f64>,
    /// The error of b_i, up to a rotation of all.
    pub(super) errors: Vec<f64>,
}

/// The result of an evaluation.
#[derive(Clone, Debug)]
pub(super) struct GammaPoint {
    value: Linearised,
    /// The eigenvalues, descending.
    pub(super) eigenvalues: Vec<f64>,
    /// The eigenvectors, one per column.
    eigenvectors: Mat<f64>,
    /// The coordinates b_iᵀ u_p: a row per item, a column per eigenvector.
    pub(super) coordinates: Mat<f64>,
    /// The forms b_iᵀ M b_i.
    forms: Vec<f64>,
    pub(super) split: Split,
}

impl AsRef<Linearised> for GammaPoint {
    fn as_ref(&self) -> &Linearised {
        &self.value
    }
}

impl Sets {
    pub(super) fn of(problem: &Subproblem) -> Self {
        // Not limited to these items, which may be only some of all items.
        problem.counts.total().map_or(Sets::OfAnySize, Sets::OfSize)
    }
}

impl Gamma {
    /// The relaxation of a subproblem.
    pub(super) fn of(problem: &Subproblem) -> Self {
        Self {
            rows: problem.rows().to_owned(),
            linear: problem.weights.clone(),
            constant: problem.offset,
            sets: Sets::of(problem),
            // Smaller eigenvalues are rounding errors, which Γ would follow.
            shift: problem.resolution(),
            known_shift: 0.0,
            lengths: (0..problem.len()).map(|item| problem.length(item)).collect(),
            errors: (0..problem.len()).map(|item| problem.errors[item]).collect(),
        }
    }

    /// The same function in fewer coordinates, if there are more coordinates than items.
    pub(super) fn compressed(mut self) -> Self {
        let (dims, items) = (self.rows.nrows(), self.rows.ncols());
        if dims > items {
            self.rows = self.rows.qr().thin_R().to_owned();
            let turning = of_orthogonalisation(dims, items);
            self.errors.iter_mut().zip(&self.lengths).for_each(|(error, length)| *error += turning * length);
        }
        self
    }

    /// The part of the bound at a point that does not depend on the items of a set.
    pub(super) fn intercept(&self, point: &GammaPoint, counts: &Counts) -> f64 {
        let Split { slopes, tail_slope, size_slope, .. } = &point.split;
        let apart = of_eigenvectors(point.eigenvalues.len());
        let term = |slope: f64| self.known_shift * slope * (1.0 + apart) - 1.0 - slope.ln() + 2.0 * apart;
        let tail = term(*tail_slope);
        let (mut sum, mut size) = (0.0, 0.0);
        let mut best = if counts.least == 0 { 0.0 } else { f64::NEG_INFINITY };
        for j in 0..counts.most {
            let term = slopes.get(j).map_or(tail, |&slope| term(slope)) - size_slope;
            sum += term;
            size += term.abs() + of_value(4.0 * size_slope);
            if j + 1 >= counts.least {
                best = f64::max(best, sum + of_sum(j + 4) * size);
            }
        }
        self.constant + best + of_value(self.constant)
    }
}

impl GammaPoint {
    /// The factor F with ∇f_i − c_i − ∂Γ/∂k = ‖Fᵀ b_i‖², for these items and any others.
    pub(super) fn gradient_factor(&self) -> Mat<f64> {
        let slope = |p: usize| self.split.slopes.get(p).copied().unwrap_or(self.split.tail_slope);
        let vectors = &self.eigenvectors;
        Mat::from_fn(vectors.nrows(), vectors.ncols(), |i, p| vectors[(i, p)] * slope(p).sqrt())
    }

    /// Upper bounds of b_iᵀ M b_i + ∂Γ/∂k + c_i, and of the same at the best scale of the row, 1 + ln b_iᵀ M b_i + ….
    ///
    /// The roots of the forms b_iᵀ M b_i have errors of `rounding` times the length of b_i.
    pub(super) fn raised(&self, rounding: f64) -> impl Fn(&RoundedRow) -> [f64; 2] {
        let Split { slopes, tail_slope, size_slope, head, .. } = &self.split;
        let others = (self.eigenvalues.len() - head) as f64;
        let (steepest, trace) =
            (tail_slope.sqrt(), (slopes.iter().sum::<f64>() + others * tail_slope).sqrt());
        let (size_slope, rounding_of_sum) = (*size_slope, of_sum(self.eigenvalues.len() + 8));
        move |row: &RoundedRow| {
            let root = row.form.sqrt() + trace * rounding * row.length + steepest * row.error;
            let form = root * root * (1.0 + rounding_of_sum);
            let margin = of_value(form) + of_value(row.linear) + of_value(size_slope);
            let log_form = form.ln();
            [
                form + row.linear + size_slope + 2.0 * margin,
                1.0 + log_form
                    + row.linear
                    + size_slope
                    + 2.0 * (margin + of_value(log_form) + of_value(1.0)),
            ]
        }
    }
}

/// A row's computed b_iᵀ M b_i, with its length and error.
pub(super) struct RoundedRow {
    pub(super) form: f64,
    pub(super) length: f64,
    pub(super) error: f64,
    /// The coefficient c_i.
    pub(super) linear: f64,
}

impl Relaxation for Gamma {
    type Point = GammaPoint;

    fn at(&self, x: &[f64]) -> Result<GammaPoint> {
        let (dims, items) = (self.rows.nrows(), self.rows.ncols());
        let roots: Vec<f64> = x.iter().map(|x| x.sqrt()).collect();
        let weighted = Mat::from_fn(dims, items, |j, i| self.rows[(j, i)] * roots[i]);
        let mut gram = Mat::zeros(dims, dims);
        lower_product(&mut gram, weighted.as_ref());
        let spectrum = eigen(gram.as_ref())?;
        let eigenvalues: Vec<f64> = spectrum.values.iter().map(|value| value.max(0.0)).collect();
        let split = split(&eigenvalues, self.sets, x.iter().sum(), self.shift);
        let coordinates = self.rows.transpose() * &spectrum.vectors;
        let mut forms = vec![0.0; items];
        for p in 0..dims {
            let slope = split.slopes.get(p).copied().unwrap_or(split.tail_slope);
            let coordinate = column(coordinates.as_ref(), p);
            forms.iter_mut().zip(coordinate).for_each(|(form, y)| *form += slope * y * y);
        }
        let gradient = forms.iter().zip(&self.linear).map(|(form, c)| form + c + split.size_slope).collect();
        let linear: f64 = self.linear.iter().zip(x).map(|(c, x)| c * x).sum();
        let value = Linearised { value: self.constant + linear + split.value, gradient };
        Ok(GammaPoint { value, eigenvalues, eigenvectors: spectrum.vectors, coordinates, forms, split })
    }

    fn majorant(&self, point: &GammaPoint, counts: &Counts) -> Majorant {
        let raised = point.raised(of_sum(self.rows.nrows()));
        // Scales would also multiply the identity.
        let is_scalable = self.known_shift == 0.0;
        let slope = |item: usize| {
            let (length, error, linear) = (self.lengths[item], self.errors[item], self.linear[item]);
            raised(&RoundedRow { form: point.forms[item], length, error, linear })[usize::from(is_scalable)]
        };
        let slopes = (0..self.linear.len()).map(slope).collect();
        Majorant { intercept: self.intercept(point, counts), slopes }
    }

    fn curvature(&self, point: &GammaPoint) -> Mat<f64> {
        let items = self.rows.ncols();
        let (split, coordinates) = (&point.split, point.coordinates.as_ref());
        let head = coordinates.subcols(0, split.head);
        let mut scaled = head.to_owned();
        for (p, slope) in split.slopes.iter().enumerate() {
            kernels::scale(column_mut(scaled.as_mut(), p), slope.sqrt());
        }
        let mut curvature = Mat::zeros(items, items);
        lower_product(&mut curvature, scaled.as_ref());
        for j in 0..items {
            column_mut(curvature.as_mut(), j)[j..].iter_mut().for_each(|entry| *entry *= *entry);
        }
        add_mixed(point, &mut curvature);
        for j in 0..items {
            for i in 0..j {
                curvature[(i, j)] = curvature[(j, i)];
            }
        }
        curvature
    }
}

/// Adds to the lower half the terms of pairs of a leading and a tail eigenvector, and the term of the tail's sum.
fn add_mixed(point: &GammaPoint, curvature: &mut Mat<f64>) {
    let (split, coordinates) = (&point.split, point.coordinates.as_ref());
    let (items, dims) = (coordinates.nrows(), coordinates.ncols());
    let tail = dims - split.head;
    if tail == 0 {
        return;
    }
    let mut panel: Vec<f64> = Vec::new();
    let mut flush = |panel: &mut Vec<f64>| {
        let columns = panel.len() / items;
        lower_product(curvature, MatRef::from_column_major_slice(panel, items, columns));
        panel.clear();
    };
    for p in 0..split.head {
        let (leading, slope) = (point.eigenvalues[p], split.slopes[p]);
        for q in split.head..dims {
            let apart = (leading - point.eigenvalues[q]).max(f64::MIN_POSITIVE);
            let factor = slope * split.tail_slope * ((leading - split.knee) / apart).clamp(0.0, 1.0);
            let root = (2.0 * factor).sqrt();
            let (one, other) = (column(coordinates, p), column(coordinates, q));
            panel.extend(one.iter().zip(other).map(|(y, z)| root * y * z));
        }
        if panel.len() >= PANEL * items {
            flush(&mut panel);
        }
    }
    if split.tail_curvature > 0.0 {
        let root = split.tail_curvature.sqrt();
        let start = panel.len();
        panel.resize(start + items, -split.tail_per_size);
        for q in split.head..dims {
            kernels::add_squares(&mut panel[start..], column(coordinates, q));
        }
        kernels::scale(&mut panel[start..], root);
    }
    if !panel.is_empty() {
        flush(&mut panel);
    }
}

/// C ← C + X Xᵀ in the lower half.
pub(super) fn lower_product(target: &mut Mat<f64>, factor: MatRef<'_, f64>) {
    triangular::matmul(
        target,
        BlockStructure::TriangularLower,
        Accum::Add,
        factor,
        BlockStructure::Rectangular,
        factor.transpose(),
        BlockStructure::Rectangular,
        1.0,
        Par::Seq,
    );
}
