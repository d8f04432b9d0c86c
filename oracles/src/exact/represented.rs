//! Kernels of rows that represent their part, to more than a hundred digits.

use num_bigint::BigInt;

use super::{Minors, Scaled, Supersets, integers};

/// Bits after the binary point.
const BITS: i64 = 512;
/// Rounds of Jacobi's method, which converges quadratically.
const SWEEPS: usize = 16;

/// A symmetric matrix in fixed point.
type Matrix = Vec<Vec<BigInt>>;

impl Minors {
    /// Computes the minors of the kernel of b_i = c_l G_l^(ρ/2) a_i.
    ///
    /// G_l sums over the represented items of part l, and c_l keeps their Σ ‖a_i‖² unchanged.
    pub fn of_represented(
        rows: &[Vec<f64>],
        labels: &[usize],
        rho: u32,
        is_represented: impl Fn(usize) -> bool,
    ) -> Self {
        let dims = rows[0].len();
        // Each row has its own unit, so that short rows keep their digits.
        let units: Vec<(Vec<BigInt>, i64)> = rows.iter().map(|row| in_unit(row)).collect();
        let parts = labels.iter().max().unwrap() + 1;
        let map = |part: usize| {
            let own = (0..rows.len()).filter(|&item| labels[item] == part && is_represented(item));
            power(&gram(&alike(own.map(|item| &units[item])), dims), rho)
        };
        let maps: Vec<Matrix> = (0..parts).map(map).collect();
        let mapped: Vec<Vec<BigInt>> =
            units.iter().zip(labels).map(|((row, _), &part)| applied(&maps[part], row)).collect();
        let product = |x: &[BigInt], y: &[BigInt]| x.iter().zip(y).map(|(x, y)| x * y).sum::<BigInt>();
        let gram = mapped.iter().map(|x| mapped.iter().map(|y| product(x, y)).collect()).collect();
        let units: Vec<i64> = units.iter().map(|(_, unit)| 2 * (unit - BITS)).collect();
        Self::of_gram(gram, &units, Supersets::Zero)
    }
}

/// Returns the smallest ratio of a nonzero eigenvalue to the largest, over the Gram matrices of all parts.
pub fn least_spread(rows: &[Vec<f64>], labels: &[usize]) -> f64 {
    let units: Vec<(Vec<BigInt>, i64)> = rows.iter().map(|row| in_unit(row)).collect();
    let of_part = |part: usize| {
        let own = (0..rows.len()).filter(|&item| labels[item] == part).map(|item| &units[item]);
        let (values, _) = eigen(gram(&alike(own), rows[0].len()));
        let values = values.iter().map(|value| Scaled::of(value, -BITS)).filter(|value| value.ln() > -200.0);
        let logs: Vec<f64> = values.map(Scaled::ln).collect();
        let least = logs.iter().copied().fold(f64::INFINITY, f64::min);
        (least - logs.iter().copied().fold(f64::NEG_INFINITY, f64::max)).exp()
    };
    (0..=*labels.iter().max().unwrap()).map(of_part).fold(1.0, f64::min)
}

/// Returns the rows in the unit of the longest.
fn alike<'r>(rows: impl Iterator<Item = &'r (Vec<BigInt>, i64)> + Clone) -> Vec<Vec<BigInt>> {
    let unit = rows.clone().filter(|(row, _)| !is_zero(row)).map(|(_, unit)| *unit).max().unwrap_or(0);
    rows.map(|(row, own)| row.iter().map(|x| shifted(x, own - unit)).collect()).collect()
}

/// Returns a row in fixed point and its unit: the largest entry is in [½, 1) units of 2^u.
fn in_unit(row: &[f64]) -> (Vec<BigInt>, i64) {
    let (integers, unit) = integers(row);
    let most = i64::try_from(integers.iter().map(BigInt::bits).max().unwrap()).unwrap();
    (integers.iter().map(|z| shifted(z, BITS - most)).collect(), unit + most)
}

fn is_zero(row: &[BigInt]) -> bool {
    row.iter().all(|x| *x == BigInt::ZERO)
}

/// Returns c G^(ρ/2), or the identity if G is zero.
fn power(gram: &Matrix, rho: u32) -> Matrix {
    let one = BigInt::from(1) << BITS;
    let trace: BigInt = (0..gram.len()).map(|j| &gram[j][j]).sum();
    if trace == BigInt::ZERO {
        return diagonal(&vec![one; gram.len()]);
    }
    let unit = gram.iter().map(|row| row.iter().map(|x| (x << BITS) / &trace).collect()).collect();
    let (values, vectors) = eigen(unit);
    let root = |value: &BigInt| if *value > BigInt::ZERO { (value << BITS).sqrt() } else { BigInt::ZERO };
    let weight = |value| (0..rho).fold(one.clone(), |power, _| inner(&[power], &[root(value)]));
    let weights: Vec<BigInt> = values.iter().map(weight).collect();
    let squares: Vec<BigInt> = weights.iter().map(|w| shifted(&(w * w), -BITS)).collect();
    // The original trace has been scaled to 1.
    let factor = ((one << (2 * BITS)) / inner(&values, &squares)).sqrt();
    let weighted: Vec<BigInt> = weights.iter().map(|w| shifted(&(w * &factor), -BITS)).collect();
    let entry = |i: usize, j: usize| {
        (0..weighted.len())
            .map(|k| shifted(&(&vectors[k][i] * &vectors[k][j] * &weighted[k]), -2 * BITS))
            .sum()
    };
    (0..gram.len()).map(|i| (0..gram.len()).map(|j| entry(i, j)).collect()).collect()
}

/// Returns the eigenvalues, and the eigenvectors as rows, by Jacobi's rotations (Golub and Van Loan, § 8.5).
fn eigen(mut matrix: Matrix) -> (Vec<BigInt>, Matrix) {
    let dims = matrix.len();
    let one = BigInt::from(1) << BITS;
    let mut vectors = diagonal(&vec![one.clone(); dims]);
    for (p, q) in (0..SWEEPS).flat_map(|_| (0..dims).flat_map(move |p| (p + 1..dims).map(move |q| (p, q)))) {
        let (gap, twice) = (&matrix[q][q] - &matrix[p][p], BigInt::from(2) * &matrix[p][q]);
        if twice == BigInt::ZERO {
            continue;
        }
        let length = (&gap * &gap + &twice * &twice).sqrt();
        let tangent = (&twice << BITS) / if gap < BigInt::ZERO { gap - length } else { gap + length };
        let cosine = (&one << BITS) / (&one * &one + &tangent * &tangent).sqrt();
        let sine = shifted(&(&tangent * &cosine), -BITS);
        let turn = |x: &BigInt, y: &BigInt| {
            (shifted(&(&cosine * x - &sine * y), -BITS), shifted(&(&sine * x + &cosine * y), -BITS))
        };
        for k in 0..dims {
            (matrix[k][p], matrix[k][q]) = turn(&matrix[k][p], &matrix[k][q]);
        }
        for k in 0..dims {
            (matrix[p][k], matrix[q][k]) = turn(&matrix[p][k], &matrix[q][k]);
            (vectors[p][k], vectors[q][k]) = turn(&vectors[p][k], &vectors[q][k]);
        }
    }
    let off = (0..dims).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| matrix[i][j].bits()).max();
    assert!(off.is_none_or(|off| off < 20), "Jacobi's method has not converged");
    ((0..dims).map(|j| matrix[j][j].clone()).collect(), vectors)
}

fn gram(rows: &[Vec<BigInt>], dims: usize) -> Matrix {
    let entry = |i: usize, j: usize| shifted(&rows.iter().map(|row| &row[i] * &row[j]).sum(), -BITS);
    (0..dims).map(|i| (0..dims).map(|j| entry(i, j)).collect()).collect()
}

fn applied(matrix: &Matrix, row: &[BigInt]) -> Vec<BigInt> {
    matrix.iter().map(|direction| inner(direction, row)).collect()
}

fn inner(x: &[BigInt], y: &[BigInt]) -> BigInt {
    shifted(&x.iter().zip(y).map(|(x, y)| x * y).sum(), -BITS)
}

fn diagonal(values: &[BigInt]) -> Matrix {
    let entry = |i: usize, j: usize| if i == j { values[i].clone() } else { BigInt::ZERO };
    (0..values.len()).map(|i| (0..values.len()).map(|j| entry(i, j)).collect()).collect()
}

/// Returns z·2^by, rounded down.
fn shifted(z: &BigInt, by: i64) -> BigInt {
    if by < 0 { z >> by.unsigned_abs() } else { z << by.unsigned_abs() }
}

#[test]
fn a_power_of_one_part_is_that_of_its_kernel() {
    let rows = [vec![1.0, 2.0], vec![0.5, -1.0], vec![3.0, 0.25], vec![0.0, 0.0]];
    let minors = Minors::of_represented(&rows, &[0; 4], 1, |_| true);
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let square = |i: usize, j: usize| rows.iter().map(|t| dot(&rows[i], t) * dot(&rows[j], t)).sum::<f64>();
    let kept = (0..4).map(|i| dot(&rows[i], &rows[i])).sum::<f64>();
    let factor = kept / (0..4).map(|i| square(i, i)).sum::<f64>();
    for i in 0..3 {
        let (found, expected) = (minors.log_det(1 << i), (factor * square(i, i)).ln());
        assert!((found - expected).abs() < 1e-13, "{i}: {found}, not {expected}");
    }
    let det = factor * factor * (square(0, 0) * square(1, 1) - square(0, 1).powi(2));
    assert!((minors.log_det(0b11) - det.ln()).abs() < 1e-12);
    assert!(!minors.det(0b1000).is_positive() && !minors.det(0b111).is_positive());
    let same = Minors::of_represented(&rows, &[0; 4], 0, |_| true);
    assert!((same.log_det(0b11) - Minors::of_features(&rows).log_det(0b11)).abs() < 1e-13);
}
