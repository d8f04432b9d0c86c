//! D-optimal designs: the rows that give the best estimate of a linear model.

mod exchange;
mod problem;
mod solve;

use faer::Mat;

use super::{
    Bound, Certificate, Place,
    bounds::WholeDesign,
    exact::Judge,
    rounding::{of_sum, of_value},
    volume::LogVolume,
    watch::Clock,
};
use crate::{
    Error, Features, Partition, Quota, Result, Subset,
    engine::{Engine, Group, Items, Rows},
    linalg::OrthonormalBasis,
    model::{Conditions, Counts, FreeItems, Left, OpenPart, Sets, log_determinant},
};

/// A D-optimal design problem: choose k of m candidate rows, none twice, that estimate the coefficients of a linear
/// model with the smallest confidence ellipsoid.
///
/// ```text
/// max  ln det(A_Sᵀ A_S)   over the S of k rows, or under a quota;   A_Sᵀ A_S = Σ_{i∈S} a_i a_iᵀ,  n×n,  k ≥ n
/// ```
///
/// It is the counterpart of the most diverse set, which maximises det A_S A_Sᵀ and has at most n items; for k = n
/// they agree. Parts are blocks or strata.
///
/// [`LocalSearch`](super::LocalSearch) finds a design that no exchange of two rows improves, and a bound.
/// [`BranchAndBound`](super::BranchAndBound) proves the best design. [`certify`](Self::certify) bounds all designs,
/// and [`efficiency`](Self::efficiency) compares one with the bounds.
///
/// Another row never lowers the determinant, so ranges without a total take as many rows as they allow.
///
/// # Numerics
/// f64. ln det is computed by an orthogonal decomposition of A_S, after columns are brought to the same length. It
/// loses as many digits as the condition number of A_S has. The condition number of A_Sᵀ A_S has twice as many.
///
/// # Examples
/// A line is estimated best from its ends, and a parabola also needs the middle.
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// use partition_dpp::{Engine, Features, map::{BranchAndBound, Design, Solver}};
/// let points: Vec<f64> = (-3..=3).map(f64::from).collect();
/// let rows: Vec<f64> = points.iter().flat_map(|x| [1.0, *x, x * x]).collect();
/// let design = Design::new(&Features::from_rows(7, 3, rows)?, 4)?;
/// let best = BranchAndBound::default().solve(&design, &Engine::cpu())?;
/// assert_eq!(best.subset.as_slice(), [0, 2, 3, 6]);
/// let certificate = design.certify(&Engine::cpu())?;
/// let [distinct, repeated] = design.efficiency(&certificate, best.log_det);
/// assert!(repeated > 0.9 && distinct >= repeated && distinct < 1.0);
/// # Ok(()) }
/// ```
///
/// # Source
/// Fedorov, *Theory of optimal experiments* (1972); Kiefer and Wolfowitz (1960) for the bound with repetitions.
#[derive(Clone, Debug)]
pub struct Design {
    features: Features,
    sets: Sets,
    conditions: Conditions,
    /// The free rows of every part.
    groups: Vec<FreeItems>,
    counts: Counts,
}

impl Design {
    /// Creates the problem of designs with k rows.
    ///
    /// # Errors
    /// [`Error::SizeAboveItems`]; [`Error::DesignRank`] if k is less than n, or the columns are dependent;
    /// [`Error::NotForLaw`] for features with weights, and for the factor of a kernel.
    pub fn new(features: &Features, k: usize) -> Result<Self> {
        Self::over(features, &Sets::OfSize(k))
    }

    /// Creates the problem of designs with a quota of rows from every part: blocks, strata.
    ///
    /// # Errors
    /// [`Error::LabelCount`], [`Error::QuotaLength`], [`Error::QuotaOfOtherParts`]; errors of [`new`](Self::new).
    pub fn under(features: &Features, partition: &Partition, quota: &Quota) -> Result<Self> {
        Self::over(features, &Sets::Quota(partition.clone(), quota.clone()))
    }

    /// Creates the problem for any kind of sets.
    ///
    /// # Errors
    /// Errors of [`new`](Self::new) and [`under`](Self::under).
    pub fn over(features: &Features, sets: &Sets) -> Result<Self> {
        if features.is_weighted() {
            return Err(Error::NotForLaw("a design takes rows as they are, without weights or scores"));
        }
        if features.residual().is_some() {
            return Err(Error::NotForLaw("a design takes a matrix of features, not a kernel"));
        }
        if let Sets::Quota(partition, quota) = sets {
            let (items, labels) = (features.items(), partition.items());
            if items != labels {
                return Err(Error::LabelCount { items, labels });
            }
            quota.check(partition)?;
        }
        let conditions = Conditions::none(features.items());
        let (features, sets) = (features.clone(), sets.clone());
        let design = Self { features, sets, conditions, groups: Vec::new(), counts: Counts::exactly(&[]) };
        design.resolved()
    }

    /// Requires these rows, for example trials that have already been made.
    ///
    /// # Errors
    /// [`Error::ItemOutOfRange`], [`Error::RepeatedItem`], [`Error::IncludedAndExcluded`],
    /// [`Error::QuotaBelowIncluded`], [`Error::SizeBelowIncluded`], [`Error::TotalOutsideRanges`].
    pub fn including(mut self, items: &[usize]) -> Result<Self> {
        self.conditions.include(items)?;
        self.resolved()
    }

    /// Excludes these rows.
    ///
    /// # Errors
    /// [`Error::ItemOutOfRange`], [`Error::RepeatedItem`], [`Error::IncludedAndExcluded`],
    /// [`Error::QuotaAbovePartSize`], [`Error::SizeAboveItems`], [`Error::TotalOutsideRanges`],
    /// [`Error::DesignRank`].
    pub fn excluding(mut self, items: &[usize]) -> Result<Self> {
        self.conditions.exclude(items)?;
        self.resolved()
    }

    /// Computes the remaining choices.
    fn resolved(mut self) -> Result<Self> {
        let Left { parts, total } = Left::of(&self.sets, &self.conditions)?;
        let (low, high): (Vec<_>, Vec<_>) = parts.iter().map(|part| (part.low, part.high)).unzip();
        let members: Vec<usize> = parts.iter().map(|part| part.items.len()).collect();
        let most: usize = high.iter().zip(&members).map(|(high, members)| high.min(members)).sum();
        let asked = Counts::in_ranges(&low, &high, Some(total.unwrap_or(most)), usize::MAX);
        let Some(counts) = asked.limited(&members, usize::MAX) else {
            unreachable!("ranges that cannot be met are refused");
        };
        self.groups = parts.into_iter().map(|OpenPart { items, .. }| items).collect();
        self.counts = counts;
        self.check_rank()?;
        Ok(self)
    }

    fn check_rank(&self) -> Result<()> {
        let columns = self.features.dims();
        if self.size() < columns {
            return Err(Error::DesignRank { rank: self.size(), columns });
        }
        let alike = vec![1.0; columns];
        // Columns in very different units hide each other's rank.
        let rank = match self.rank(&alike) {
            rank if rank < columns => self.rank(&self.largest_by_column()).max(rank),
            rank => rank,
        };
        if rank < columns { Err(Error::DesignRank { rank, columns }) } else { Ok(()) }
    }

    /// Returns the included rows and the free rows that may be chosen.
    fn items(&self) -> impl Iterator<Item = usize> {
        let open = self.groups.iter().zip(&self.counts.high).filter(|(_, high)| **high > 0);
        self.included().chain(open.flat_map(|(group, _)| group.iter()))
    }

    /// The rank of all rows after dividing columns by these units.
    fn rank(&self, units: &[f64]) -> usize {
        let mut span = OrthonormalBasis::new(units.len());
        let mut row = vec![0.0; units.len()];
        let mut items = self.items();
        while span.len() < units.len()
            && let Some(item) = items.next()
        {
            self.features.read_row(item, 1.0, &mut row);
            row.iter_mut().zip(units).for_each(|(x, unit)| *x /= unit);
            if OrthonormalBasis::normalise(&mut row).is_some() {
                span.extend(&row);
            }
        }
        span.len()
    }

    /// The largest magnitude in every column; 1 if all entries are zero.
    fn largest_by_column(&self) -> Vec<f64> {
        let mut largest = vec![0.0; self.features.dims()];
        let mut row = largest.clone();
        for item in self.items() {
            self.features.read_row(item, 1.0, &mut row);
            largest.iter_mut().zip(&row).for_each(|(most, x)| *most = f64::max(*most, x.abs()));
        }
        largest.iter().map(|&most| if most == 0.0 { 1.0 } else { most }).collect()
    }

    /// The number of rows k.
    #[must_use]
    pub fn size(&self) -> usize {
        self.conditions.included().len() + self.counts.most
    }

    fn included(&self) -> impl Iterator<Item = usize> {
        self.conditions.included().iter().map(|&item| item as usize)
    }

    /// Computes ln det(A_Sᵀ A_S) of any rows; −∞ if the columns of A_S are dependent.
    ///
    /// # Cost
    /// O(kn²).
    ///
    /// # Errors
    /// [`Error::ItemOutOfRange`].
    pub fn log_det(&self, subset: &Subset) -> Result<f64> {
        let items = self.features.items();
        match subset.iter().find(|&item| item >= items) {
            Some(item) => Err(Error::ItemOutOfRange { item, items }),
            None => Ok(self.log_det_of(subset)),
        }
    }

    fn log_det_of(&self, subset: &Subset) -> f64 {
        let dims = self.features.dims();
        let columns = self.columns_of(subset);
        columns.map_or(f64::NEG_INFINITY, |columns| log_determinant(&columns, &all(dims)))
    }

    /// The columns of A_S as rows; `None` if there are more columns than rows.
    fn columns_of(&self, subset: &Subset) -> Option<Features> {
        let rows: Vec<Vec<f64>> = subset.iter().map(|item| self.features.row(item)).collect();
        transposed(self.features.dims(), rows.len(), |column, row| rows[row][column])
    }

    /// Computes upper bounds of ln det(A_Sᵀ A_S) over all designs.
    ///
    /// [`Bound::Distinct`] allows weights of at most 1 for every row. [`Bound::Repeated`] allows weights of any size,
    /// as if a trial could be repeated.
    ///
    /// # Cost
    /// 2mn² for each of twenty to sixty rounds.
    ///
    /// # Errors
    /// Errors of the engine.
    pub fn certify(&self, engine: &Engine) -> Result<Certificate> {
        let (engine, watch) = engine.apart();
        let clock = watch.start();
        let engine = &clock.over(engine);
        let enough = |bound: f64, value: f64| bound - value < 1e-6 || clock.ended().is_some();
        let rows = self.rows();
        let whole = WholeDesign::new(engine, &rows, &self.counts, self.base(&rows), constant(&rows))?;
        let relaxed = whole.relax(&enough)?;
        let mut certificate = Certificate::of(relaxed.upper_bound, Bound::Distinct, engine);
        clock.report(f64::NEG_INFINITY, Some(relaxed.upper_bound), relaxed.steps);
        certificate.add(self.repeated(engine, &clock)?, Bound::Repeated, relaxed.steps);
        Ok(certificate)
    }

    fn repeated(&self, engine: &Engine, clock: &Clock) -> Result<f64> {
        let enough = |bound: f64, value: f64| bound - value < 1e-6 || clock.ended().is_some();
        let mut items: Vec<u32> = self.conditions.included().to_vec();
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        items.extend(self.groups.iter().flat_map(FreeItems::iter).map(|item| item as u32));
        items.sort_unstable();
        let rows = Rows::alike(&self.features, vec![Items::Listed(&items)]);
        let none = Mat::zeros(self.features.dims(), 0);
        let whole = WholeDesign::new(engine, &rows, &Counts::exactly(&[1]), none, constant(&rows))?;
        whole.relax_repeated(self.size(), &enough)
    }

    /// The efficiencies of a design that the bounds of a certificate prove.
    ///
    /// They are det(A_Sᵀ A_S)^(1/n) as a fraction of its maximum: first over these designs, then over all designs of
    /// k rows with repeated trials, regardless of the quota. With an efficiency e, k/e trials of this design estimate
    /// at least as well as k trials of the best one.
    #[must_use]
    pub fn efficiency(&self, certificate: &Certificate, log_det: f64) -> [f64; 2] {
        let share = |kind: Bound| {
            let bounds = certificate.bounds.iter().filter(|(bound, _)| *bound == kind);
            let bound = bounds.map(|(_, bound)| *bound).fold(f64::INFINITY, f64::min);
            ((log_det - bound) / self.features.dims() as f64).exp().min(1.0)
        };
        [share(Bound::Distinct), share(Bound::Repeated)]
    }

    fn rows(&self) -> Rows<'_> {
        // The free and included rows together determine the scale.
        let all = self.groups.iter().map(Items::from).chain([Items::Listed(self.conditions.included())]);
        let scales = Rows::alike(&self.features, all.collect()).scales();
        let groups =
            self.groups.iter().zip(scales).map(|(items, scale)| Group { items: items.into(), scale });
        Rows::with_scales(&self.features, groups.collect())
    }

    /// The included rows, scaled like the others.
    fn base(&self, rows: &Rows<'_>) -> Mat<f64> {
        let included: Vec<usize> = self.included().collect();
        let mut base = Mat::zeros(self.features.dims(), included.len());
        for (at, &item) in included.iter().enumerate() {
            let row = crate::linalg::column_mut(base.as_mut(), at);
            self.features.read_row(item, scale(rows), row);
        }
        base
    }

    fn item(&self, place: Place) -> usize {
        Items::from(&self.groups[place.group]).at(place.position)
    }
}

/// The common scale of all rows.
fn scale(rows: &Rows<'_>) -> f64 {
    rows.groups().first().map_or(1.0, |group| group.scale)
}

/// The amount by which the scale of the rows lowers ln det.
fn constant(rows: &Rows<'_>) -> f64 {
    -2.0 * rows.features().dims() as f64 * scale(rows).ln()
}

/// The set of all items.
#[expect(clippy::cast_possible_truncation, reason = "columns are counted in 32 bits")]
fn all(items: usize) -> Subset {
    Subset::from_distinct((0..items).map(|item| item as u32).collect())
}

/// A matrix of `dims` rows and `count` columns as features; `None` if it has fewer columns than rows.
fn transposed(dims: usize, count: usize, entry: impl Fn(usize, usize) -> f64) -> Option<Features> {
    if count < dims {
        return None;
    }
    let values: Vec<f64> = (0..dims)
        .flat_map(|column| (0..count).map(move |row| (column, row)))
        .map(|(j, i)| entry(j, i))
        .collect();
    Features::from_rows(dims, count, values).ok()
}

/// An interval that contains ln det of a matrix with these columns.
fn log_volume(columns: Option<&Features>) -> LogVolume {
    let nothing = LogVolume { at_least: f64::NEG_INFINITY, at_most: f64::NEG_INFINITY };
    columns.map_or(nothing, |columns| {
        let items: Vec<usize> = (0..columns.items()).collect();
        LogVolume::of(columns, &items)
    })
}

/// An upper bound of a sum of two numbers.
fn sum_at_most(one: f64, other: f64) -> f64 {
    one + other + of_sum(4) * (one.abs() + other.abs()).min(f64::MAX) + of_value(one) + of_value(other)
}

impl Judge for Design {
    fn counts(&self) -> &Counts {
        &self.counts
    }

    fn subset(&self, chosen: &[Place]) -> Subset {
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let chosen = chosen.iter().map(|&place| self.item(place) as u32);
        Subset::from_distinct(chosen.chain(self.conditions.included().iter().copied()).collect())
    }

    fn log_det(&self, chosen: &[Place]) -> f64 {
        self.log_det_of(&self.subset(chosen))
    }

    fn log_volume(&self, chosen: &[Place]) -> LogVolume {
        log_volume(self.columns_of(&self.subset(chosen)).as_ref())
    }
}
