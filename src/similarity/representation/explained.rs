//! How well sets represent all rows.

use crate::{
    Error, Features, Partition, Result, Subset,
    data::check_partition,
    engine::{Engine, Group, Items, Rows, in_double},
    linalg::OrthonormalBasis,
};

/// How well a set represents all rows: the share of their squared length that lies in the span of the set's rows.
///
/// ```text
/// 1 − tr((I − Π_S) G) / tr G
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Explained {
    /// The share for all rows.
    pub total: f64,
    /// The share for the rows of every part; 1 for a part without rows.
    pub by_part: Vec<f64>,
}

impl Features {
    /// Computes how well a set represents all rows, and the rows of every part, in one pass.
    ///
    /// Use it for one set, or if n² is large.
    ///
    /// # Cost
    /// 2mn|S| operations, and 16m bytes.
    ///
    /// # Errors
    /// [`Error::LabelCount`] if the partition is of other items; [`Error::ItemOutOfRange`]; engine errors.
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
        let mut next = 0;
        let mut sums = |group: &Group<'_>| {
            let own = next..next + group.items.len();
            next = own.end;
            [&forms, &norms].map(|values| values[own.clone()].iter().sum::<f64>())
        };
        let sums: Vec<[f64; 2]> = rows.groups().iter().map(&mut sums).collect();
        let unit = unit(rows.scales().into_iter().zip(sums.iter().map(|[_, whole]| *whole)));
        let real = sums.iter().zip(rows.scales()).filter(|([_, whole], _)| *whole > 0.0);
        let total = real.fold([0.0; 2], |total, (own, scale)| {
            let factor = (unit / scale).powi(2);
            [total[0] + factor * own[0], total[1] + factor * own[1]]
        });
        Ok(Explained { total: share(total), by_part: sums.into_iter().map(share).collect() })
    }
}

/// The share of a sum of squared lengths that lies along a set; 1 if the sum is 0.
pub(crate) fn share([along, whole]: [f64; 2]) -> f64 {
    if whole > 0.0 { (along / whole).clamp(0.0, 1.0) } else { 1.0 }
}

/// An orthonormal basis of the span of a set's rows.
pub(super) fn span(features: &Features, subset: &Subset) -> Result<OrthonormalBasis> {
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

/// The scale of the longest rows, from scales and sums of squares; 1 if all rows are zero.
pub(super) fn unit(parts: impl Iterator<Item = (f64, f64)>) -> f64 {
    let least =
        parts.filter(|(_, square)| *square > 0.0).map(|(scale, _)| scale).fold(f64::INFINITY, f64::min);
    if least < f64::INFINITY { least } else { 1.0 }
}
