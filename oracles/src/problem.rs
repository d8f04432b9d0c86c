//! Problems: data, parts, a constraint on the counts, and conditions.

use std::{fmt, ops::RangeInclusive};

use nalgebra::{DMatrix, DVector};

use crate::exact::{Minors, Set, counts, items_of, set_of};

/// What the rows are.
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

/// How features are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    F32,
    F64,
}

/// Which sets are allowed.
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
    /// 0 to p−1, each of them used.
    pub labels: Vec<usize>,
    pub constraint: Constraint,
    pub include: Vec<usize>,
    pub exclude: Vec<usize>,
    /// ln of what rows are multiplied by; empty where they have no weights.
    pub log_weights: Vec<f64>,
    /// The rows before a ridge δ was added, and δ; `rows` have it.
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

    /// With δI added to the kernel, by a coordinate of its own for every row.
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

    /// Which kind of law.
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

    /// ln of what a row is multiplied by.
    pub fn log_weight(&self, item: usize) -> f64 {
        self.log_weights.get(item).copied().unwrap_or(0.0)
    }

    /// What a logarithm of a weighted determinant may be off by: powers of rounded exponentials, and sums of large numbers.
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

    /// The largest ln det of the sets that are allowed.
    pub fn optimum(&self) -> f64 {
        self.minors().optimum(|set| self.allows(set))
    }

    /// Items that no choice is left about: those included, and all that are left of parts that are needed whole.
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

    /// Whether condition numbers are below 1e7 wherever the law looks: of the rows of every union of parts that
    /// something may be chosen from, the included ones with them. Rows are first scaled as the law allows: under a
    /// quota every part by itself, since that multiplies the weights of all sets alike.
    ///
    /// The condition number is that of singular values σ_1/σ_r at the exact rank r. A kernel of zeros is refused. Where
    /// sets may have any size, eigenvalues are compared with 1: those that a kernel does not have are known to ε σ_1.
    ///
    /// Weights must be of ordinary size besides.
    pub fn is_well_conditioned(&self, minors: &Minors) -> bool {
        let any_size = matches!(self.constraint, Constraint::Any | Constraint::Ranges(_, None));
        let far = if self.data.is_kernel() && any_size { 0.0 } else { 3.0 };
        if self.log_weights.iter().any(|log| log.abs() > far) {
            return false;
        }
        let all = (1 << self.items()) - 1;
        if self.data.is_kernel() {
            // It is factored as a whole, whatever the law looks at.
            let rank = minors.rank(all);
            let scales = self.scales();
            let noise = self.items() as f64 * f64::EPSILON * scales.iter().sum::<f64>();
            let of_any_size = matches!(self.constraint, Constraint::Any | Constraint::Ranges(_, None));
            let is_noisy = of_any_size && rank < self.items() && noise > 1e-7;
            // Nor are determinants of rows that must be in known beyond that.
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
                // Every part is a law of its own.
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

    /// How far eigenvalues of the kernel are below zero, all together: its factor has none of them.
    pub fn indefiniteness(&self) -> f64 {
        let values = self.eigenvalues((1 << self.items()) - 1);
        -values.iter().filter(|value| **value < 0.0).sum::<f64>()
    }

    /// Of a kernel's rows and columns of some items.
    fn eigenvalues(&self, among: Set) -> DVector<f64> {
        let items = items_of(among);
        let entry = |i: usize, j: usize| self.entry(items[i], items[j]);
        DMatrix::from_fn(items.len(), items.len(), entry).symmetric_eigenvalues()
    }

    /// An entry of the rows, or of the kernel.
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

    /// What every row is divided by; a kernel is factored as it is, whatever the law.
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

    /// σ_1/σ_r of some rows, or of a kernel itself: what is given is only known to ε of its largest singular value.
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
        // Independent parts may span more together than there are columns.
        values[0] / values[rank.min(values.len()) - 1]
    }
}

impl fmt::Display for Problem {
    /// Everything that is needed to see it again; decimals are those that read back as the same bits.
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
