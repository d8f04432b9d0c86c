//! Rows that stand for the rest of their part.

use faer::Mat;

use crate::{
    Error, Features, Partition, Result, Subset,
    data::check_partition,
    engine::{Engine, Group, Items, RowMap, Rows, in_double},
    linalg::{
        self, Eigen, OrthonormalBasis, column,
        kernels::{self, dot},
    },
    parallel::fold_ordered,
};

/// Parts whose mapped rows are in memory beside the result.
const WAVE: usize = 4;
/// Rows this much shorter than the map could make them are mapped again, so that rounding does not turn them.
const SHORT: f64 = 1e-3;

/// How the rows of every part lie: maps rows so that those which many others resemble become long, and tells how much
/// of all rows a set explains.
///
/// A determinant of rows as they are asks for diversity alone, and is largest for outliers. With rows
///
/// ```text
/// b_i = c_l G_l^(ρ/2) a_i,   G_l = Σ_{t∈P_l} a_t a_tᵀ,   c_l² Σ_{t∈P_l} ‖G_l^(ρ/2) a_t‖² = Σ_{t∈P_l} ‖a_t‖²
/// ```
///
/// the kernel within part l is, but for the factor, its own power K_l^(1+ρ). For ρ = 1,
///
/// ```text
/// b_i · b_j ∝ Σ_{t∈P_l} K_it K_tj:
/// ```
///
/// an item counts by its similarities to all items of its part, items in dense regions count most, and near-duplicates
/// still repel each other, as do parts. A draw of k items of one part, with ρ = 1 and neither scores nor a ridge, is
/// volume sampling of the columns of K_l: E ‖K_l − Π_S K_l‖²_F is at most k + 1 times that of the best approximation of
/// rank k. There is no such theorem for several parts together, or for the best set.
///
/// Equal rows of one part stay equal, and those of different parts become different: copies of an item
/// ([`LabelCopies`](crate::data::LabelCopies)) need a partition of one part, or a set may hold an item twice.
///
/// Mapped rows are features as any others: every model, sampler, solver and engine takes them. Similarities come first
/// ([`with_unit_rows`](Features::with_unit_rows), [`Rbf`](super::Rbf)), scores and ridges after the map.
///
/// # Shapes
/// From m×n to m×n. Memory: 8pn² bytes, and 8mn for mapped rows.
///
/// # Cost
/// One pass over the rows (mn² operations). Mapping takes another one (2mn²), and an eigen-decomposition for every part,
/// about 10n³.
///
/// # Numerics
/// In f64. The map is that of a Gram matrix within nε of its largest eigenvalue, so directions in which a part has less
/// than 1e-8 of its longest direction count as having that much. Rows keep their rank in exact arithmetic; in f64, the
/// more of ρ, the fewer directions of a part can be told from rounding, and laws refuse more items than these.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, KDpp, Partition, Subset, map::{Greedy, Solver}, similarity::Representation};
/// // Two clusters and an outlier.
/// let rows = vec![1.0, 0.0, 0.9, 0.1, 1.0, 0.1, 0.0, 1.0, 0.1, 0.9, 0.1, 1.0, -1.1, 1.1];
/// let features = Features::from_rows(7, 2, rows)?;
/// let engine = Engine::cpu();
/// let all = Representation::new(&features, &Partition::of([0; 7])?, &engine)?;
/// let best = |features: &Features| Greedy::default().solve(&KDpp::new(features, 1)?, &engine);
/// assert_eq!(best(&features)?.subset.as_slice(), [6]);
/// assert_ne!(best(&all.features(1.0, &engine)?)?.subset.as_slice(), [6]);
/// let pair = Subset::new(vec![0, 3], 7)?;
/// assert!((all.explained(&pair)? - 1.0).abs() < 1e-12);
/// # Ok(()) }
/// ```
///
/// # Source
/// Deshpande, Rademacher, Vempala and Wang, *Matrix approximation and projective clustering via volume sampling* (2006),
/// theorem 1.3, for ρ = 1.
#[derive(Clone, Debug)]
pub struct Representation {
    features: Features,
    partition: Partition,
    parts: Vec<Gram>,
    /// The sum of all parts.
    whole: Gram,
}

/// How well a set stands for all rows: the share of their squared length that lies in the span of its own rows.
///
/// ```text
/// 1 − tr((I − Π_S) G) / tr G
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Explained {
    /// Of all rows.
    pub total: f64,
    /// Of the rows of every part; 1 for a part without rows.
    pub by_part: Vec<f64>,
}

/// s² G of some rows.
#[derive(Clone, Debug)]
struct Gram {
    matrix: Mat<f64>,
    /// s, a power of two.
    scale: f64,
}

impl Representation {
    /// Of all items of every part. With a partition of one part, every item stands for all others.
    ///
    /// # Errors
    /// [`Error::LabelCount`] for a partition of other items; those of the engine.
    pub fn new(features: &Features, partition: &Partition, engine: &Engine) -> Result<Self> {
        Self::without(features, partition, &[], engine)
    }

    /// Of the items of every part but those excluded, which need not be stood for.
    ///
    /// # Errors
    /// [`Error::ItemOutOfRange`]; those of [`new`](Self::new).
    pub fn without(
        features: &Features,
        partition: &Partition,
        excluded: &[usize],
        engine: &Engine,
    ) -> Result<Self> {
        check_partition(features, partition)?;
        let items = features.items();
        if let Some(&item) = excluded.iter().find(|&&item| item >= items) {
            return Err(Error::ItemOutOfRange { item, items });
        }
        let mut is_left = vec![true; items];
        excluded.iter().for_each(|&item| is_left[item] = false);
        let left =
            |part: usize| partition.members(part).iter().copied().filter(|&item| is_left[item as usize]);
        let listed: Vec<Vec<u32>> = match excluded {
            [] => Vec::new(),
            _ => (0..partition.parts()).map(|part| left(part).collect()).collect(),
        };
        let of_part = |part: usize| {
            listed.get(part).map_or_else(|| Items::of_part(partition, part), |items| Items::Listed(items))
        };
        let rows = Rows::scaled(features, (0..partition.parts()).map(of_part).collect());
        let matrices = in_double(engine).part_grams(&rows, None)?;
        let grams = matrices.into_iter().zip(rows.scales());
        let parts: Vec<Gram> = grams.map(|(matrix, scale)| Gram { matrix, scale }).collect();
        let whole = Gram::sum(&parts, features.dims());
        Ok(Self { features: features.clone(), partition: partition.clone(), parts, whole })
    }

    /// Rows that stand for their part, b_i = c_l G_l^(ρ/2) a_i. With ρ = 0 they are as they were; the more, the less
    /// diversity counts.
    ///
    /// # Errors
    /// [`Error::NotPositive`] for a ρ that is negative or not finite; [`Error::Eigen`];
    /// [`Error::Ended`] from an engine under a watch.
    pub fn features(&self, rho: f64, engine: &Engine) -> Result<Features> {
        // False for NaN.
        if !(rho >= 0.0 && rho.is_finite()) {
            return Err(Error::NotPositive { what: "the exponent of the representation", value: rho });
        }
        if rho == 0.0 {
            return Ok(self.features.clone());
        }
        let rows = self.features.unweighted();
        let (items, dims) = (rows.items(), rows.dims());
        let parts = self.partition.parts();
        let mut values = vec![0.0; if parts == 1 { 0 } else { items * dims }];
        let (mut largest, mut failed) = (0.0_f64, None);
        let of_part = |part: usize| {
            let items = Items::of_part(&self.partition, part);
            let map = Map::new(&self.parts[part], rho)?;
            // Nothing else has coordinates to agree on: those of eigenvectors keep the digits of short directions.
            let map = if parts == 1 { map.rotated() } else { map };
            let mapped = map.rows(&rows, items)?;
            engine.proceed_after(items.len())?;
            Ok((map.weights[0], mapped))
        };
        fold_ordered(parts, WAVE, of_part, |part, mapped: Result<_>| match mapped {
            Ok((weight, mapped)) => {
                largest = largest.max(weight);
                if parts == 1 {
                    values = mapped;
                    return;
                }
                for (&item, row) in self.partition.members(part).iter().zip(mapped.chunks_exact(dims)) {
                    values[item as usize * dims..][..dims].copy_from_slice(row);
                }
            }
            Err(error) => failed = failed.take().or(Some(error)),
        });
        if let Some(error) = failed {
            return Err(error);
        }
        let mapped = Features::from_rows(items, dims, values)?;
        let residual = self.features.residual().map(|residual| {
            let lengths = (0..items).map(|item| linalg::norm(mapped.row(item).into_iter()));
            let shortest = lengths.filter(|&length| length > 0.0).fold(f64::INFINITY, f64::min);
            // The derivative of x^(1+ρ), and as much again for parts that are mapped differently.
            residual.amplified(2.0 * (1.0 + rho) * largest * largest, shortest)
        });
        mapped.with_residual(residual).weighted_as(&self.features, 0..items)
    }

    /// How well a set stands for all rows: their share of squared length that it explains.
    ///
    /// # Cost
    /// 2n²|S| operations.
    ///
    /// # Errors
    /// [`Error::ItemOutOfRange`].
    pub fn explained(&self, subset: &Subset) -> Result<f64> {
        Ok(self.whole.share(&span(&self.features, subset)?))
    }

    /// The same also for the rows of every part.
    ///
    /// # Cost
    /// 2pn²|S| operations.
    ///
    /// # Errors
    /// [`Error::ItemOutOfRange`].
    pub fn explained_by_part(&self, subset: &Subset) -> Result<Explained> {
        let basis = span(&self.features, subset)?;
        let by_part = self.parts.iter().map(|part| part.share(&basis)).collect();
        Ok(Explained { total: self.whole.share(&basis), by_part })
    }
}

impl Features {
    /// How well a set stands for all rows and those of every part, in one pass: for one set, or where n² is much.
    ///
    /// # Cost
    /// 2mn|S| operations, and 16m bytes.
    ///
    /// # Errors
    /// [`Error::LabelCount`] for a partition of other items; [`Error::ItemOutOfRange`]; those of the engine.
    ///
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::{Engine, Features, Partition, Subset};
    /// let features = Features::from_rows(3, 2, vec![1.0, 0.0, 0.0, 2.0, 2.0, 0.0])?;
    /// let partition = Partition::from_labels(&["a", "b", "b"])?;
    /// let explained = features.explained(&Subset::new(vec![0], 3)?, &partition, &Engine::cpu())?;
    /// assert_eq!((explained.total, explained.by_part), (5.0 / 9.0, vec![1.0, 0.5]));
    /// # Ok(()) }
    /// ```
    pub fn explained(&self, subset: &Subset, partition: &Partition, engine: &Engine) -> Result<Explained> {
        check_partition(self, partition)?;
        let (basis, engine) = (span(self, subset)?, in_double(engine));
        let parts = partition.parts();
        let rows = Rows::scaled(self, (0..parts).map(|part| Items::of_part(partition, part)).collect());
        let [forms, norms] =
            [engine.row_forms(&rows, &vec![basis.as_matrix(); parts])?, engine.row_norms(&rows)?];
        let (mut next, unit) = (0, unit(rows.scales()));
        let mut sums = |group: &Group<'_>| {
            let own = next..next + group.items.len();
            next = own.end;
            [&forms, &norms].map(|values| values[own.clone()].iter().sum::<f64>())
        };
        let sums: Vec<[f64; 2]> = rows.groups().iter().map(&mut sums).collect();
        let share =
            |[along, whole]: [f64; 2]| if whole > 0.0 { (along / whole).clamp(0.0, 1.0) } else { 1.0 };
        let total = sums.iter().zip(rows.scales()).fold([0.0; 2], |total, (own, scale)| {
            let factor = (unit / scale).powi(2);
            [total[0] + factor * own[0], total[1] + factor * own[1]]
        });
        Ok(Explained { total: share(total), by_part: sums.into_iter().map(share).collect() })
    }
}

/// The scale of the longest rows.
fn unit(scales: impl IntoIterator<Item = f64>) -> f64 {
    scales.into_iter().fold(f64::INFINITY, f64::min)
}

/// An orthonormal basis of the span of a set's rows.
fn span(features: &Features, subset: &Subset) -> Result<OrthonormalBasis> {
    let (items, dims) = (features.items(), features.dims());
    let (mut basis, mut row) = (OrthonormalBasis::new(dims), vec![0.0; dims]);
    for item in subset {
        if item >= items {
            return Err(Error::ItemOutOfRange { item, items });
        }
        features.read_stored(item, 1.0, &mut row);
        if OrthonormalBasis::normalise(&mut row).is_some() && basis.len() < dims {
            basis.extend(&row);
        }
    }
    Ok(basis)
}

impl Gram {
    /// The sum over all parts, in units of the longest rows.
    fn sum(parts: &[Self], dims: usize) -> Self {
        let scale = unit(parts.iter().map(|part| part.scale));
        let mut matrix = Mat::zeros(dims, dims);
        for part in parts {
            matrix += faer::Scale((scale / part.scale).powi(2)) * &part.matrix;
        }
        Self { matrix, scale }
    }

    /// tr(Q Qᵀ G) / tr G.
    fn share(&self, basis: &OrthonormalBasis) -> f64 {
        let whole: f64 = (0..self.matrix.nrows()).map(|j| self.matrix[(j, j)]).sum();
        if whole <= 0.0 {
            return 1.0;
        }
        let q = basis.as_matrix();
        let image = &self.matrix * q;
        let along: f64 = (0..q.ncols()).map(|j| dot(column(q, j), column(image.as_ref(), j))).sum();
        (along / whole).clamp(0.0, 1.0)
    }
}

/// a ↦ U W Vᵀ a: U = V, or the identity.
struct Map {
    vectors: Mat<f64>,
    into: Mat<f64>,
    /// The diagonal of c W, descending.
    weights: Vec<f64>,
}

impl Map {
    /// c G^(ρ/2).
    fn new(gram: &Gram, rho: f64) -> Result<Self> {
        let Eigen { values, vectors } = linalg::eigen(gram.matrix.as_ref())?;
        let largest = values.first().copied().unwrap_or_default();
        if largest <= 0.0 {
            // There are no rows, or all are zero.
            return Ok(Self { weights: vec![1.0; values.len()], into: vectors.clone(), vectors });
        }
        let least = values.len() as f64 * f64::EPSILON;
        let weight = |value: &f64| (value / largest).max(least).powf(rho / 2.0);
        let weights: Vec<f64> = values.iter().map(weight).collect();
        let before: f64 = values.iter().map(|value| value.max(0.0)).sum();
        let after: f64 = values.iter().zip(&weights).map(|(value, w)| value.max(0.0) * w * w).sum();
        let factor = (before / after).sqrt();
        let weights = weights.into_iter().map(|w| factor * w).collect();
        Ok(Self { into: vectors.clone(), vectors, weights })
    }

    /// The same but for a rotation: in the coordinates of the eigenvectors.
    fn rotated(self) -> Self {
        let dims = self.weights.len();
        Self { into: Mat::identity(dims, dims), ..self }
    }

    /// Some rows, mapped.
    fn rows(&self, features: &Features, items: Items<'_>) -> Result<Vec<f64>> {
        if items.is_empty() {
            return Ok(Vec::new());
        }
        let half = linalg::scale_columns(self.vectors.as_ref(), &self.weights);
        let factor = &half * self.into.transpose();
        let rows = Rows::scaled(features, vec![items]);
        let Group { scale, .. } = rows.groups()[0];
        let map = RowMap { weights: &[1.0], factor: factor.as_ref() };
        let mut mapped = Engine::host().whiten_rows(&rows, &map)?;
        let dims = features.dims();
        let mut row = vec![0.0; dims];
        for (item, image) in items.iter().zip(mapped.chunks_exact_mut(dims)) {
            features.read_stored(item, scale, &mut row);
            let (before, after) = (dot(&row, &row), dot(image, image));
            if after < (SHORT * self.weights[0]).powi(2) * before {
                self.apply(&row, image);
            }
            kernels::scale(image, scale.recip());
        }
        Ok(mapped)
    }

    /// One row, in the coordinates of eigenvectors, where what is small keeps its digits.
    fn apply(&self, row: &[f64], image: &mut [f64]) {
        image.fill(0.0);
        for (j, weight) in self.weights.iter().enumerate() {
            let direction = column(self.vectors.as_ref(), j);
            kernels::add_scaled(image, weight * dot(direction, row), column(self.into.as_ref(), j));
        }
    }
}
