//! Rows that represent the rest of their part.

mod explained;
mod map;
mod rows;
mod sums;

pub use self::explained::Explained;
pub(crate) use self::{explained::share, map::Map, rows::mapped};
use self::{
    explained::{span, unit},
    rows::Mapped,
    sums::{Gram, Sums},
};
use crate::{
    Error, Features, Partition, Result, Subset,
    data::{check_partition, compress_if_wide},
    engine::{Engine, Items},
};

/// Gram matrices of the parts, which map rows so that sets represent the rest.
///
/// They also show how much of all rows a set explains.
///
/// A determinant of the given rows asks for diversity alone, and is largest for outliers. With rows
///
/// ```text
/// b_i = c_l G_l^(ρ/2) a_i,   G_l = Σ_{t∈P_l} a_t a_tᵀ,   c_l² Σ_{t∈P_l} ‖G_l^(ρ/2) a_t‖² = Σ_{t∈P_l} ‖a_t‖²
/// ```
///
/// the kernel within part l becomes, up to a factor, its power K_l^(1+ρ). For ρ = 1,
///
/// ```text
/// b_i · b_j ∝ Σ_{t∈P_l} K_it K_tj:
/// ```
///
/// an item counts by its similarities to all items of its part. Near-duplicates still repel each other, and so do
/// parts. With unit rows or a Gaussian kernel, items in dense regions count most; if rows differ in length, long ones
/// do.
///
/// A draw of k items of one part, with ρ = 1 and neither scores nor a ridge, is volume sampling of the columns of
/// K_l. Then E ‖K_l − Π_S K_l‖²_F is at most k + 1 times the error of the best approximation of rank k. There is no
/// such theorem for several parts together, or for the best set.
///
/// Equal rows of one part stay equal; equal rows of different parts become different. If items have copies
/// ([`LabelCopies`](crate::data::LabelCopies)), use a partition of one part, or a set may hold both copies.
///
/// Mapped rows are features like any others: every model, sampler, solver and engine takes them. Similarities
/// ([`with_unit_rows`](Features::with_unit_rows), [`Rbf`](super::Rbf)) come before the map, scores and ridges after
/// it.
///
/// # Shapes
/// From m×n to m×n, or to m×m if n > m. Memory: 8n² bytes per part of at least n rows, and 8mn for mapped rows.
///
/// # Cost
/// One pass over the rows (mn² operations). Mapping takes another pass (2mn²), and an eigen-decomposition per part,
/// about 10n³. A part of r < n rows takes about 10r²n in all.
///
/// # Numerics
/// In f64. The map belongs to a Gram matrix within nε of its largest eigenvalue, so directions in which a part has
/// less than 1e-8 of its longest direction count as having that much. Rows keep their rank in exact arithmetic. In
/// f64, a larger ρ leaves fewer directions of a part above rounding, and laws refuse more items than these.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, KDpp, Partition, map::{Greedy, Solver}};
/// use partition_dpp::similarity::{Bandwidth, Rbf, Representation};
/// let engine = Engine::cpu();
/// let points = Features::from_rows(6, 1, vec![0.0, 0.1, 0.2, 0.3, 0.4, 9.0])?;
/// let rbf = Rbf::new(Bandwidth::Exactly(0.3)).features(&points, &engine)?;
/// let all = Representation::new(rbf.features(), &Partition::of([0; 6])?, &engine)?;
/// let best = Greedy::default().solve(&KDpp::new(&all.features(1.0, &engine)?, 1)?, &engine)?;
/// assert_eq!(best.subset.as_slice(), [2]);
/// assert!(all.explained(&best.subset)? > 0.6);
/// # Ok(()) }
/// ```
///
/// # Source
/// Deshpande, Rademacher, Vempala and Wang, *Matrix approximation and projective clustering via volume sampling*
/// (2006), theorem 1.3, for ρ = 1.
#[derive(Clone, Debug)]
pub struct Representation {
    features: Features,
    partition: Partition,
    parts: Vec<Sums>,
    /// The sum over all parts.
    whole: Gram,
}

impl Representation {
    /// Sums over all items of every part.
    ///
    /// With a partition of one part, every item represents all others.
    ///
    /// # Errors
    /// [`Error::LabelCount`] if the partition is of other items; engine errors.
    pub fn new(features: &Features, partition: &Partition, engine: &Engine) -> Result<Self> {
        Self::without(features, partition, &[], engine)
    }

    /// Sums over the items of every part except the excluded ones, which sets then need not represent.
    ///
    /// # Errors
    /// [`Error::ItemOutOfRange`]; the errors of [`new`](Self::new).
    pub fn without(
        features: &Features,
        partition: &Partition,
        excluded: &[usize],
        engine: &Engine,
    ) -> Result<Self> {
        check_partition(features, partition)?;
        let features = &compress_if_wide(features)?;
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
        let groups: Vec<Items<'_>> = (0..partition.parts()).map(of_part).collect();
        let (parts, whole) = sums::of_parts(features, &groups, engine)?;
        Ok(Self { features: features.clone(), partition: partition.clone(), parts, whole })
    }

    /// Computes rows that represent their part, b_i = c_l G_l^(ρ/2) a_i.
    ///
    /// With ρ = 0, rows stay as they are. Larger values favour diversity less.
    ///
    /// # Errors
    /// [`Error::NotPositive`] if ρ is negative or not finite; [`Error::Eigen`]; [`Error::Ended`] from an engine under
    /// a watch.
    pub fn features(&self, rho: f64, engine: &Engine) -> Result<Features> {
        // False for NaN.
        if !(rho >= 0.0 && rho.is_finite()) {
            return Err(Error::NotPositive { what: "the exponent of the representation", value: rho });
        }
        if rho == 0.0 {
            return Ok(self.features.clone());
        }
        let map = |part: usize| {
            let map = self.parts[part].map(&self.features, rho)?;
            // A single part needs no common coordinates: its eigenvectors keep the digits of short directions.
            Ok(if self.parts.len() == 1 { map.rotated() } else { map })
        };
        let Mapped { features: mapped, longest } = mapped(&self.features, &self.partition, map, engine)?;
        let (items, unweighted) = (self.features.items(), self.features.unweighted());
        let residual = self.features.residual().map(|residual| {
            let rows = (0..items).map(|item| (unweighted.row(item), mapped.row(item)));
            // The derivative of x^(1+ρ), doubled for parts that are mapped differently.
            residual.amplified(2.0 * (1.0 + rho) * longest * longest, rows)
        });
        mapped.with_residual(residual).weighted_as(&self.features, 0..items)
    }

    /// How well a set represents all rows: the share of their squared length that it explains.
    ///
    /// # Cost
    /// 2n²|S| operations.
    ///
    /// # Errors
    /// [`Error::ItemOutOfRange`].
    pub fn explained(&self, subset: &Subset) -> Result<f64> {
        Ok(self.whole.share(&span(&self.features, subset)?))
    }

    /// The same share, and the share for the rows of every part.
    ///
    /// # Cost
    /// 2n²|S| operations per part of at least n rows, 2rn|S| per part of r < n rows.
    ///
    /// # Errors
    /// [`Error::ItemOutOfRange`].
    pub fn explained_by_part(&self, subset: &Subset) -> Result<Explained> {
        let basis = span(&self.features, subset)?;
        let by_part = self.parts.iter().map(|part| part.share(&self.features, &basis)).collect();
        Ok(Explained { total: self.whole.share(&basis), by_part })
    }
}
