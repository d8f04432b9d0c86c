//! A map of the items.

use partition_dpp::{
    Features,
    faer::{Mat, Side},
};

/// The dimensions of the space in which components are looked for.
const SPACE: usize = 8;
/// Multiplications by the covariance of the rows.
const PASSES: usize = 6;
/// Rows that are multiplied at once.
const BLOCK: usize = 512;

/// Returns two coordinates for every row, along the leading principal components.
///
/// Subspace iteration finds the components, exactly if rows have at most [`SPACE`] numbers.
pub(crate) fn coordinates(rows: &Features) -> Vec<f32> {
    let rows = Centred::new(rows);
    let components = rows.components();
    let mut coordinates = Vec::new();
    rows.for_each_block(|block| {
        let along = block * &components;
        let along = |row, at| if at < along.ncols() { along[(row, at)] } else { 0.0 };
        #[expect(clippy::cast_possible_truncation, reason = "a map needs few digits")]
        coordinates.extend((0..2 * block.nrows()).map(|at| along(at / 2, at % 2) as f32));
    });
    coordinates
}

/// Rows minus their mean, in units of the largest number.
struct Centred<'a> {
    rows: &'a Features,
    mean: Vec<f64>,
    unit: f64,
}

impl<'a> Centred<'a> {
    fn new(rows: &'a Features) -> Self {
        let (mut mean, mut unit) = (vec![0.0; rows.dims()], f64::MIN_POSITIVE);
        for item in 0..rows.items() {
            for (mean, value) in mean.iter_mut().zip(rows.row(item)) {
                *mean += value / rows.items() as f64;
                unit = unit.max(value.abs());
            }
        }
        Self { rows, mean, unit }
    }

    fn for_each_block(&self, mut each: impl FnMut(&Mat<f64>)) {
        for start in (0..self.rows.items()).step_by(BLOCK) {
            let items = start..self.rows.items().min(start + BLOCK);
            let mut block = Mat::zeros(items.len(), self.mean.len());
            for (at, item) in items.enumerate() {
                for (column, value) in self.rows.row(item).into_iter().enumerate() {
                    block[(at, column)] = value / self.unit - self.mean[column] / self.unit;
                }
            }
            each(&block);
        }
    }

    /// The two leading components as columns, one if rows are single numbers.
    fn components(&self) -> Mat<f64> {
        let dims = self.mean.len();
        let space = SPACE.min(dims);
        // Columns of cosines have a share of every direction.
        let start = |row: usize, column: usize| ((row as f64 + 0.5) * (column as f64 + 0.7)).cos();
        let mut basis = Mat::from_fn(dims, space, start);
        for _ in 0..PASSES {
            basis = self.times_covariance(&basis.qr().compute_thin_Q());
        }
        let basis = basis.qr().compute_thin_Q();
        let within = basis.transpose() * self.times_covariance(&basis);
        let Ok(eigen) = within.self_adjoint_eigen(Side::Lower) else {
            return basis.subcols(0, 2.min(space)).to_owned();
        };
        let leading = eigen.U().reverse_cols().subcols(0, 2.min(space)).to_owned();
        basis * leading
    }

    /// The products of vectors with the sum of the rows' squares.
    fn times_covariance(&self, vectors: &Mat<f64>) -> Mat<f64> {
        let mut sum = Mat::zeros(vectors.nrows(), vectors.ncols());
        self.for_each_block(|block| sum += block.transpose() * (block * vectors));
        sum
    }
}
