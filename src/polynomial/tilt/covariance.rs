//! The covariance of part counts, for few parts and for thousands.

use faer::{Mat, MatRef};

use super::{Summand, inner_product};
use crate::{
    Result,
    linalg::{
        kernels::{add_scaled, dot},
        whiten,
    },
    parallel::map_ordered,
};

/// The most groups whose covariances are computed pair by pair.
pub(super) const FEW: usize = 256;
/// Groups per task.
const TASK: usize = 64;

/// The covariance Cov_ab = δ_ab v_a − ⟨N_a, N_b⟩.
#[derive(Debug)]
pub(crate) enum Covariance {
    /// The whole matrix, p×p.
    Whole(Mat<f64>),
    /// v, and the entries of every N on and above the diagonal as one row, scaled so that ⟨N_a, N_b⟩ is a product of
    /// rows.
    /// of rows.
    Packed { variances: Vec<f64>, rows: Vec<f64> },
}

impl Covariance {
    /// The covariance of a few groups.
    pub(super) fn whole(variances: &[f64], shares: &[Mat<f64>]) -> Self {
        let groups = shares.len();
        Self::Whole(Mat::from_fn(groups, groups, |a, b| {
            let cross = inner_product(shares[a].as_ref(), shares[b].as_ref());
            if a == b { variances[a] - cross } else { -cross }
        }))
    }

    /// The covariance of many groups, with N_l = e^t_l L⁻¹ G_l L⁻ᵀ.
    ///
    /// `proceed` is called by every task of 64 groups.
    pub(super) fn packed<G: Summand>(
        variances: Vec<f64>,
        factor: MatRef<'_, f64>,
        (grams, log_weights): (&[G], &[f64]),
        proceed: &(dyn Fn() -> Result<()> + Sync),
    ) -> Result<Self> {
        let tasks = map_ordered(grams.len().div_ceil(TASK), |task| {
            proceed()?;
            let groups = task * TASK..grams.len().min((task + 1) * TASK);
            let row = |group: usize| {
                packed(&whiten(factor, &*grams[group].matrix() * faer::Scale(log_weights[group].exp())))
            };
            Ok(groups.flat_map(row).collect::<Vec<f64>>())
        });
        let rows = tasks.into_iter().collect::<Result<Vec<_>>>()?.concat();
        Ok(Self::Packed { variances, rows })
    }
}

/// The entries on and above the diagonal, with the entries above it times √2.
pub(super) fn packed(matrix: &Mat<f64>) -> impl Iterator<Item = f64> + use<> {
    let dims = matrix.nrows();
    let entry = |(i, j): (usize, usize)| {
        if i == j { matrix[(i, j)] } else { std::f64::consts::SQRT_2 * matrix[(i, j)] }
    };
    let entries: Vec<f64> = (0..dims).flat_map(|j| (0..=j).map(move |i| (i, j))).map(entry).collect();
    entries.into_iter()
}

/// A quadratic model g·s + ½ sᵀ (H + εI) s at a step s that changes one variable at a time.
///
/// The variables are the group weights and, if the total is fixed, their common weight.
pub(super) struct Model<'m> {
    gradient: &'m [f64],
    curvature: Curvature<'m>,
    ridge: f64,
    pub(super) step: Vec<f64>,
}

enum Curvature<'m> {
    /// H, and the model's gradient.
    Whole { hessian: Mat<f64>, slope: Vec<f64> },
    Packed {
        variances: &'m [f64],
        rows: &'m [f64],
        /// Σ_b N_b, and Σ_b w_b N_b for the changes w of all groups' weights.
        all: Vec<f64>,
        sum: Vec<f64>,
        /// Σ_b v_b w_b.
        weighted: f64,
    },
}

impl<'m> Model<'m> {
    /// `gradient` has a last entry for the common weight if the total is fixed.
    pub(super) fn new(gradient: &'m [f64], covariance: &'m Covariance) -> Self {
        let (variables, step) = (gradient.len(), vec![0.0; gradient.len()]);
        let curvature = match covariance {
            Covariance::Whole(covariance) => {
                let groups = covariance.nrows();
                let members = |at: usize| if at < groups { at..at + 1 } else { 0..groups };
                let hessian = Mat::from_fn(variables, variables, |a, b| {
                    members(a).flat_map(|l| members(b).map(move |m| (l, m))).map(|at| covariance[at]).sum()
                });
                Curvature::Whole { hessian, slope: gradient.to_vec() }
            }
            Covariance::Packed { variances, rows } => {
                let width = rows.len() / variances.len();
                let mut all = vec![0.0; width];
                rows.chunks_exact(width).for_each(|row| add_scaled(&mut all, 1.0, row));
                Curvature::Packed { variances, rows, all, sum: vec![0.0; width], weighted: 0.0 }
            }
        };
        let mut model = Self { gradient, curvature, ridge: 0.0, step };
        let trace: f64 = (0..variables).map(|at| model.own(at)).sum();
        model.ridge = 1e-10 * trace + 1e-12;
        model
    }

    /// H_aa.
    fn own(&self, at: usize) -> f64 {
        match &self.curvature {
            Curvature::Whole { hessian, .. } => hessian[(at, at)],
            Curvature::Packed { variances, rows, all, .. } => match variances.get(at) {
                Some(variance) => {
                    let row = row(rows, all.len(), at);
                    variance - dot(row, row)
                }
                None => variances.iter().sum::<f64>() - dot(all, all),
            },
        }
    }

    /// H_aa + ε.
    pub(super) fn curvature(&self, at: usize) -> f64 {
        self.own(at) + self.ridge
    }

    /// The derivative of the model by one variable, at the step.
    pub(super) fn slope(&self, at: usize) -> f64 {
        match &self.curvature {
            Curvature::Whole { slope, .. } => slope[at],
            Curvature::Packed { variances, rows, all, sum, weighted } => {
                let of = match variances.get(at) {
                    Some(variance) => {
                        let common = self.step.get(variances.len()).copied().unwrap_or(0.0);
                        variance * (self.step[at] + common) - dot(row(rows, all.len(), at), sum)
                    }
                    None => weighted - dot(all, sum),
                };
                self.gradient[at] + of + self.ridge * self.step[at]
            }
        }
    }

    /// Changes one variable of the step.
    pub(super) fn change(&mut self, at: usize, by: f64) {
        self.step[at] += by;
        match &mut self.curvature {
            Curvature::Whole { hessian, slope } => {
                for (b, slope) in slope.iter_mut().enumerate() {
                    *slope += by * (hessian[(at, b)] + if at == b { self.ridge } else { 0.0 });
                }
            }
            Curvature::Packed { variances, rows, all, sum, weighted } => {
                if let Some(variance) = variances.get(at) {
                    add_scaled(sum, by, row(rows, all.len(), at));
                    *weighted += by * variance;
                } else {
                    add_scaled(sum, by, all);
                    *weighted += by * variances.iter().sum::<f64>();
                }
            }
        }
    }
}

fn row(rows: &[f64], width: usize, at: usize) -> &[f64] {
    &rows[at * width..(at + 1) * width]
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_abs_diff_eq;

    /// Both ways to keep a covariance make the same model, with and without a common weight.
    #[test]
    fn packed_covariances_are_those_of_pairs() {
        let (groups, dims) = (7, 4);
        let rows = |group: usize| Mat::from_fn(dims, 2, |i, j| ((group * 11 + i * 5 + j * 3) as f64).sin());
        let grams: Vec<Mat<f64>> = (0..groups).map(|group| rows(group) * rows(group).transpose()).collect();
        let logs: Vec<f64> = (0..groups).map(|group| 0.3 * group as f64 - 3.0).collect();
        let factor = Mat::from_fn(dims, dims, |i, j| if i >= j { 1.5 / (1.0 + (i - j) as f64) } else { 0.0 });
        let white = |(gram, t): (&Mat<f64>, &f64)| whiten(factor.as_ref(), gram * faer::Scale(t.exp()));
        let shares: Vec<Mat<f64>> = grams.iter().zip(&logs).map(white).collect();
        let variances: Vec<f64> = (0..groups).map(|group| 1.0 + group as f64).collect();
        let whole = Covariance::whole(&variances, &shares);
        let packed = Covariance::packed(variances, factor.as_ref(), (&grams, &logs), &|| Ok(())).unwrap();
        for variables in [groups, groups + 1] {
            let gradient: Vec<f64> = (0..variables).map(|at| 0.1 * at as f64 - 0.2).collect();
            let mut models = [Model::new(&gradient, &whole), Model::new(&gradient, &packed)];
            for (at, by) in [(3, 0.5), (variables - 1, -0.25), (0, 1.0), (3, 0.125)] {
                models.iter_mut().for_each(|model| model.change(at, by));
                for at in 0..variables {
                    assert_abs_diff_eq!(models[0].slope(at), models[1].slope(at), epsilon = 1e-12);
                    assert_abs_diff_eq!(models[0].curvature(at), models[1].curvature(at), epsilon = 1e-12);
                }
            }
            assert_eq!(models[0].step, models[1].step);
        }
    }
}
