//! Sums over the rows of parts.

use faer::Mat;

use super::{Map, share, unit};
use crate::{
    Features, Result,
    engine::{Engine, Items, Rows, in_double},
    linalg::{OrthonormalBasis, column, column_mut, kernels::dot},
};

/// The Gram matrix of a part's rows, or the rows themselves if they are fewer than their dimensions.
#[derive(Clone, Debug)]
pub(super) enum Sums {
    Gram(Gram),
    Rows { items: Vec<u32>, scale: f64 },
}

/// s² G of some rows.
#[derive(Clone, Debug)]
pub(super) struct Gram {
    matrix: Mat<f64>,
    /// s, a power of two.
    scale: f64,
}

/// The sums of parts, and the sum over all their rows, in one pass.
pub(super) fn of_parts(
    features: &Features,
    parts: &[Items<'_>],
    engine: &Engine,
) -> Result<(Vec<Sums>, Gram)> {
    let dims = features.dims();
    // The map of a single part is in the coordinates of all eigenvectors.
    let few = |items: &Items<'_>| parts.len() > 1 && items.len() < dims;
    #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
    let listed = |items: &Items<'_>| items.iter().map(|item| item as u32).collect::<Vec<u32>>();
    let mut of_few = parts.iter().filter(|items| few(items)).flat_map(listed).collect::<Vec<u32>>();
    of_few.sort_unstable();
    let many = parts.iter().filter(|items| !few(items)).copied();
    let rows = Rows::scaled(features, many.chain([Items::Listed(&of_few)]).collect());
    let matrices = in_double(engine).part_grams(&rows, None)?.into_iter().zip(rows.scales());
    let grams: Vec<Gram> = matrices.map(|(matrix, scale)| Gram { matrix, scale }).collect();
    let whole = Gram::sum(&grams, dims);
    let mut grams = grams.into_iter().map(Sums::Gram);
    let rows = |items: &Items<'_>| Sums::Rows {
        items: listed(items),
        scale: Rows::scaled(features, vec![*items]).scales()[0],
    };
    let sums = |items| (!few(items)).then(|| grams.next()).flatten().unwrap_or_else(|| rows(items));
    Ok((parts.iter().map(sums).collect(), whole))
}

impl Sums {
    /// c G^(ρ/2).
    pub(super) fn map(&self, features: &Features, rho: f64) -> Result<Map> {
        match self {
            Self::Gram(gram) => Map::new(gram.matrix.as_ref(), rho),
            Self::Rows { items, scale } => Map::of_few(columns_of(features, items, *scale).as_ref(), rho),
        }
    }

    /// tr(Q Qᵀ G) / tr G.
    pub(super) fn share(&self, features: &Features, basis: &OrthonormalBasis) -> f64 {
        match self {
            Self::Gram(gram) => gram.share(basis),
            Self::Rows { items, scale } => {
                let rows = columns_of(features, items, *scale);
                share([basis.as_matrix().transpose() * &rows, rows].map(|rows| rows.squared_norm_l2()))
            }
        }
    }
}

/// s a_i for some items, in the columns.
fn columns_of(features: &Features, items: &[u32], scale: f64) -> Mat<f64> {
    let mut columns = Mat::zeros(features.dims(), items.len());
    for (j, &item) in items.iter().enumerate() {
        features.read_row(item as usize, scale, column_mut(columns.as_mut(), j));
    }
    columns
}

impl Gram {
    /// The sum over all parts, in units of the longest rows.
    fn sum(parts: &[Self], dims: usize) -> Self {
        let scale = unit(parts.iter().map(|part| (part.scale, part.trace())));
        let mut matrix = Mat::zeros(dims, dims);
        for part in parts.iter().filter(|part| part.trace() > 0.0) {
            matrix += faer::Scale((scale / part.scale).powi(2)) * &part.matrix;
        }
        Self { matrix, scale }
    }

    fn trace(&self) -> f64 {
        (0..self.matrix.nrows()).map(|j| self.matrix[(j, j)]).sum()
    }

    /// tr(Q Qᵀ G) / tr G.
    pub(super) fn share(&self, basis: &OrthonormalBasis) -> f64 {
        let q = basis.as_matrix();
        let image = &self.matrix * q;
        let along: f64 = (0..q.ncols()).map(|j| dot(column(q, j), column(image.as_ref(), j))).sum();
        share([along, self.trace()])
    }
}
