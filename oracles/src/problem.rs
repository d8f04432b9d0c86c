//! Problems: data, parts, a constraint on the counts, and conditions.

use std::{fmt, ops::RangeInclusive};

use nalgebra::{DMatrix, DVector};

use crate::exact::{Minors, Set, counts, items_of, set_of};

/// The meaning of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// Rows of A.
    Features,
    /// Rows of K.
    Kernel,
    /// Points whose Gaussian kernel of bandwidth 1 is K.
    Gaussian,
}

impl Data {
    /// Whether the library factors a kernel.
    pub fn is_kernel(self) -> bool {
        self != Self::Features
    }
}

/// The precision in which features are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    F32,
    F64,
}

/// The sets that are allowed.
#[derive(Clone, Debug, PartialEq)]
pub enum Constraint {
    Any,
    Size(usize),
    Quota(Vec<usize>),
    /// One k-DPP per part.
    Independent(Vec<usize>),
    Ranges(Vec<RangeInclusive<usize>>, Option<usize>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    pub data: Data,
    pub storage: Storage,
    /// Values that the storage holds exactly.
    pub rows: Vec<Vec<f64>>,
    /// Labels from 0 to p−1, all of them used.
    pub labels: Vec<usize>,
    pub constraint: Constraint,
    pub include: Vec<usize>,
    pub exclude: Vec<usize>,
    /// ln of the factors that multiply the rows; empty without weights.
    pub log_weights: Vec<f64>,
    /// The rows before a ridge δ was added, and δ. `rows` includes the ridge.
    pub ridge: Option<(Vec<Vec<f64>>, f64)>,
}

impl Constraint {
    pub fn allows(&self, counts: &[usize]) -> bool {
        let total: usize = counts.iter().sum();
        match self {
            Self::Any => true,
            Self::Size(k) => total == *k,
            Self::Quota(quota) | Self::Independent(quota) => counts == quota,
            Self::Ranges(ranges, k) => {
                k.is_none_or(|k| k == total)
                    && ranges.iter().zip(counts).all(|(range, count)| range.contains(count))
            }
        }
    }
}

impl Problem {
    pub fn new(rows: Vec<Vec<f64>>, labels: Vec<usize>, constraint: Constraint) -> Self {
        assert_eq!(rows.len(), labels.len());
        let (data, storage) = (Data::Features, Storage::F64);
        let (include, exclude, log_weights) = (Vec::new(), Vec::new(), Vec::new());
        Self { data, storage, rows, labels, constraint, include, exclude, log_weights, ridge: None }
    }

    /// Adds δI to the kernel. Each row of features gets its own new coordinate.
    pub fn with_ridge(mut self, delta: f64) -> Self {
        self.ridge = Some((self.rows.clone(), delta));
        for (item, row) in self.rows.iter_mut().enumerate() {
            match self.data {
                Data::Features => {
                    let own = (0..self.labels.len()).map(|i| if i == item { delta.sqrt() } else { 0.0 });
                    row.extend(own);
                }
                Data::Kernel => row[item] += delta,
                Data::Gaussian => unreachable!("points have no ridge"),
            }
        }
        self
    }

    /// Returns the kind of law.
    pub fn law_name(&self) -> &'static str {
        match &self.constraint {
            Constraint::Any => "Any",
            Constraint::Size(_) => "Size",
            Constraint::Quota(_) => "Quota",
            Constraint::Independent(_) => "Independent",
            Constraint::Ranges(_, None) => "Ranges",
            Constraint::Ranges(_, Some(_)) => "Ranges and a total",
        }
    }

    pub fn items(&self) -> usize {
        self.rows.len()
    }

    /// Returns ln of the factor that multiplies the row of an item.
    pub fn log_weight(&self, item: usize) -> f64 {
        self.log_weights.get(item).copied().unwrap_or(0.0)
    }

    /// Returns a bound on the error of ln of a weighted determinant.
    ///
    /// It comes from powers of rounded exponentials, and from sums of large numbers.
    pub fn rounding_of_weights(&self, set: Set) -> f64 {
        let of = |item: usize| 256.0 + 16.0 * self.log_weights[item].abs();
        if self.log_weights.is_empty() {
            0.0
        } else {
            f64::EPSILON * items_of(set).into_iter().map(of).sum::<f64>()
        }
    }

    pub fn parts(&self) -> usize {
        self.labels.iter().max().map_or(0, |last| last + 1)
    }

    pub fn allows(&self, set: Set) -> bool {
        let (include, exclude) = (set_of(self.include.iter().copied()), set_of(self.exclude.iter().copied()));
        set & include == include
            && set & exclude == 0
            && self.constraint.allows(&counts(set, &self.labels, self.parts()))
    }

    pub fn minors(&self) -> Minors {
        let minors = match self.data {
            Data::Features => Minors::of_features(&self.rows),
            Data::Kernel => Minors::of_kernel(&self.rows),
            Data::Gaussian => Minors::of_gaussian(&self.rows),
        };
        let minors = if self.log_weights.is_empty() { minors } else { minors.weighted(&self.log_weights) };
        match &self.constraint {
            Constraint::Independent(_) => minors.by_parts(&self.labels),
            _ => minors,
        }
    }

    /// Returns the largest ln det of any allowed set.
    pub fn optimum(&self) -> f64 {
        self.minors().optimum(|set| self.allows(set))
    }

    /// Returns the items that leave no choice: the included ones, and all remaining items of parts that are needed
    /// whole.
    pub fn settled(&self) -> Set {
        let include = set_of(self.include.iter().copied());
        let quota: Vec<usize> = match &self.constraint {
            Constraint::Quota(quota) => quota.clone(),
            Constraint::Ranges(ranges, _) => ranges.iter().map(|range| *range.start()).collect(),
            _ => return include,
        };
        let left = |part: usize| {
            set_of((0..self.items()).filter(|i| self.labels[*i] == part && !self.exclude.contains(i)))
        };
        let whole = (0..self.parts()).map(left).zip(quota);
        whole
            .filter(|(left, quota)| left.count_ones() as usize == *quota)
            .fold(include, |all, (left, _)| all | left)
    }

    /// Whether condition numbers are below 1e7 wherever the law looks.
    ///
    /// It looks at the rows of every union of parts from which items may be chosen, together with the included items.
    /// Rows
    /// are first scaled as the law allows: under a quota each part by itself, since that multiplies the weights of
    /// all sets
    /// by the same factor.
    ///
    /// The condition number is the ratio σ_1/σ_r of singular values at the exact rank r. A kernel of zeros is
    /// refused. If
    /// sets may have any size, eigenvalues are compared with 1: the zero eigenvalues of a kernel are only known to ε
    /// σ_1.
    ///
    /// Weights must also be of ordinary size.
    pub fn is_well_conditioned(&self, minors: &Minors) -> bool {
        let any_size = matches!(self.constraint, Constraint::Any | Constraint::Ranges(_, None));
        let far = if self.data.is_kernel() && any_size { 0.0 } else { 3.0 };
        if self.log_weights.iter().any(|log| log.abs() > far) {
            return false;
        }
        let all = (1 << self.items()) - 1;
        if self.data.is_kernel() {
            // A kernel is factored as a whole, including rows that the law ignores.
            let rank = minors.rank(all);
            let scales = self.scales();
            let noise = self.items() as f64 * f64::EPSILON * scales.iter().sum::<f64>();
            let of_any_size = matches!(self.constraint, Constraint::Any | Constraint::Ranges(_, None));
            let is_noisy = of_any_size && rank < self.items() && noise > 1e-7;
            // Determinants of rows that must be in the set are not known more accurately than that either.
            let largest = self.eigenvalues(all).max();
            let is_known = |set: Set| set == 0 || largest < 1e7 * self.eigenvalues(set).min();
            return rank > 0
                && !is_noisy
                && self.condition(all, &scales, rank) < 1e7
                && is_known(self.settled());
        }
        let (include, scales) = (set_of(self.include.iter().copied()), self.scales());
        let is_good = |set: Set| self.condition(set, &scales, minors.rank(set)) < 1e7;
        let groups: Vec<Set> = match &self.constraint {
            Constraint::Quota(quota) => {
                (0..self.parts()).filter(|&l| quota[l] > 0).map(|l| self.free_of(l)).collect()
            }
            Constraint::Ranges(ranges, _) => {
                (0..self.parts()).filter(|&l| *ranges[l].end() > 0).map(|l| self.free_of(l)).collect()
            }
            Constraint::Independent(quota) => {
                // Each part has its own law.
                let included =
                    |part: usize| include & set_of((0..self.items()).filter(|&i| self.labels[i] == part));
                let is_part_good = |l: usize| is_good(included(l)) && is_good(included(l) | self.free_of(l));
                return (0..self.parts()).filter(|&l| quota[l] > 0).all(is_part_good);
            }
            Constraint::Any | Constraint::Size(_) => {
                vec![(0..self.parts()).map(|l| self.free_of(l)).fold(0, |all, set| all | set)]
            }
        };
        (0..1_u32 << groups.len()).all(|choice| {
            let chosen = groups.iter().enumerate().filter(|(at, _)| choice >> at & 1 == 1);
            is_good(chosen.fold(include, |all, (_, set)| all | set))
        })
    }

    /// Returns the sum of the negative eigenvalues of the kernel in absolute value. Its factor drops them.
    pub fn indefiniteness(&self) -> f64 {
        let values = self.eigenvalues((1 << self.items()) - 1);
        -values.iter().filter(|value| **value < 0.0).sum::<f64>()
    }

    /// Returns the eigenvalues of the kernel's rows and columns of some items.
    fn eigenvalues(&self, among: Set) -> DVector<f64> {
        let items = items_of(among);
        let entry = |i: usize, j: usize| self.entry(items[i], items[j]);
        DMatrix::from_fn(items.len(), items.len(), entry).symmetric_eigenvalues()
    }

    /// Returns an entry of the rows, or of the kernel.
    fn entry(&self, i: usize, j: usize) -> f64 {
        if self.data != Data::Gaussian {
            return self.rows[i][j];
        }
        let square = self.rows[i].iter().zip(&self.rows[j]).map(|(x, y)| (x - y).powi(2)).sum::<f64>();
        (-0.5 * square).exp()
    }

    fn free_of(&self, part: usize) -> Set {
        set_of((0..self.items()).filter(|i| self.labels[*i] == part && !self.exclude.contains(i)))
    }

    /// Returns the divisor of every row. A kernel is factored unscaled under any law, so all its rows share one
    /// divisor.
    fn scales(&self) -> Vec<f64> {
        let by_part = matches!(self.constraint, Constraint::Quota(_) | Constraint::Independent(_))
            && !self.data.is_kernel();
        let largest = |item: usize| {
            let alike = (0..self.items()).filter(|&i| !by_part || self.labels[i] == self.labels[item]);
            let columns = if self.data.is_kernel() { self.items() } else { self.rows[0].len() };
            let entries = alike.flat_map(|i| (0..columns).map(move |j| self.entry(i, j)));
            entries.fold(f64::MIN_POSITIVE, |most, x| most.max(x.abs()))
        };
        (0..self.items()).map(largest).collect()
    }

    /// Returns σ_1/σ_r of some rows, or of a kernel itself.
    ///
    /// The input is only known to ε times its largest singular value.
    fn condition(&self, among: Set, scales: &[f64], rank: usize) -> f64 {
        if rank == 0 {
            return 1.0;
        }
        let items = items_of(among);
        let columns = if self.data.is_kernel() { items.clone() } else { (0..self.rows[0].len()).collect() };
        let entry = |a: usize, b: usize| self.entry(items[a], columns[b]) / scales[items[a]];
        let matrix = DMatrix::from_fn(items.len(), columns.len(), entry);
        let mut values: Vec<f64> = matrix.singular_values().iter().copied().collect();
        values.sort_by(|a, b| b.total_cmp(a));
        // Together, independent parts may span more dimensions than there are columns.
        values[0] / values[rank.min(values.len()) - 1]
    }
}

impl fmt::Display for Problem {
    /// Writes everything that is needed to reproduce the problem. Decimals read back as the same bits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  {:?} {:?}:", self.storage, self.data)?;
        for (row, label) in self.rows.iter().zip(&self.labels) {
            let values: Vec<String> = row.iter().map(|x| format!("{x:?}")).collect();
            writeln!(f, "    [{}]  part {label}", values.join(", "))?;
        }
        if let Some((_, delta)) = self.ridge {
            writeln!(f, "  with a ridge of {delta:?}")?;
        }
        if !self.log_weights.is_empty() {
            writeln!(f, "  logarithms of weights: {:?}", self.log_weights)?;
        }
        write!(f, "  {:?} include {:?} exclude {:?}", self.constraint, self.include, self.exclude)
    }
}
