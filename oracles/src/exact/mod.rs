//! Exact laws of a few items. Scaling by powers of two makes features integers, and therefore every minor.
mod gaussian;
mod law;
mod represented;
mod scaled;

use num_bigint::BigInt;

pub use law::{Law, counts};
pub use represented::least_spread;
pub use scaled::Scaled;

/// A set of items: bit i for item i.
pub type Set = u32;

/// Returns the items of a set, ascending.
pub fn items_of(set: Set) -> Vec<usize> {
    (0..Set::BITS as usize).filter(|item| set >> item & 1 == 1).collect()
}

pub fn set_of(items: impl IntoIterator<Item = usize>) -> Set {
    items.into_iter().fold(0, |set, item| set | 1 << item)
}

/// The determinant det(K_S) of every set S.
#[derive(Clone, Debug)]
pub struct Minors {
    items: usize,
    /// By set. Minors of a rounded kernel may be negative.
    values: Vec<Scaled>,
}

impl Minors {
    /// Computes the minors of K = A Aᵀ.
    pub fn of_features(rows: &[Vec<f64>]) -> Self {
        let rows: Vec<(Vec<BigInt>, i64)> = rows.iter().map(|row| integers(row)).collect();
        let product = |x: &[BigInt], y: &[BigInt]| x.iter().zip(y).map(|(x, y)| x * y).sum::<BigInt>();
        let gram = rows.iter().map(|(x, _)| rows.iter().map(|(y, _)| product(x, y)).collect()).collect();
        Self::of_gram(gram, &rows.iter().map(|(_, unit)| 2 * unit).collect::<Vec<_>>(), Supersets::Zero)
    }

    /// Computes the minors of a given K.
    pub fn of_kernel(rows: &[Vec<f64>]) -> Self {
        let items = rows.len();
        let (flat, unit) = integers(&rows.concat());
        let kernel = flat.chunks_exact(items).map(<[BigInt]>::to_vec).collect();
        Self::of_gram(kernel, &vec![unit; items], Supersets::Unknown)
    }

    /// Computes the minors of a matrix of integers. The unit of a minor is the product of its items' units 2^u.
    fn of_gram(gram: Vec<Vec<BigInt>>, units: &[i64], of_zero: Supersets) -> Self {
        let items = gram.len();
        assert!(items <= 16, "minors of {items} items are too many");
        let mut minors = Self { items, values: vec![Scaled::ZERO; 1 << items] };
        minors.values[0] = Scaled::of(&BigInt::from(1), 0);
        let tree = Tree { gram: &gram, units, of_zero };
        tree.grow(&mut minors.values, 0, 0, &gram, &BigInt::from(1));
        minors
    }

    /// Returns Π_l det(K_{S∩P_l}), which makes the parts independent.
    pub fn by_parts(&self, labels: &[usize]) -> Self {
        let parts = labels.iter().max().map_or(0, |last| last + 1);
        let members = |part: usize| set_of((0..self.items).filter(|&item| labels[item] == part));
        let of = |set: Set| {
            let shares = (0..parts).map(|part| self.det(set & members(part)));
            shares.fold(self.det(0), Scaled::times)
        };
        Self { items: self.items, values: self.sets().map(of).collect() }
    }

    /// Multiplies row i by e^w_i. Determinants are off by at most 256 roundings per item.
    pub fn weighted(&self, log_weights: &[f64]) -> Self {
        // Start from the 64th root, since e^w_i and its square may be out of range.
        let root = |item: &usize| Scaled::from((log_weights[*item] / 64.0).exp());
        let square = |item: &usize| (0..7).fold(root(item), |x, _| x.times(x));
        let of = |set: Set| items_of(set).iter().map(square).fold(self.det(set), Scaled::times);
        Self { items: self.items, values: self.sets().map(of).collect() }
    }

    pub fn items(&self) -> usize {
        self.items
    }

    /// Returns det(K_S).
    pub fn det(&self, set: Set) -> Scaled {
        self.values[set as usize]
    }

    /// Returns ln det(K_S), or −∞ if the determinant is not positive.
    pub fn log_det(&self, set: Set) -> f64 {
        self.det(set).ln()
    }

    pub fn sets(&self) -> impl Iterator<Item = Set> + use<> {
        0..1 << self.items
    }

    /// Returns the rank of the rows of some items.
    pub fn rank(&self, among: Set) -> usize {
        let independent = |set: &Set| set & !among == 0 && self.det(*set).is_positive();
        self.sets().filter(independent).map(|set| set.count_ones() as usize).max().unwrap_or(0)
    }

    /// Returns the law over the allowed sets, or `None` if none of their determinants is positive.
    pub fn law(&self, allowed: impl Fn(Set) -> bool) -> Option<Law> {
        Law::new(self.sets().filter(|&set| allowed(set)).map(|set| (set, self.det(set))))
    }

    /// Returns the allowed set with the largest determinant, and its ln det.
    pub fn best(&self, allowed: impl Fn(Set) -> bool) -> (Set, f64) {
        let sets = self.sets().filter(|&set| allowed(set)).map(|set| (set, self.log_det(set)));
        sets.max_by(|(_, a), (_, b)| a.total_cmp(b)).unwrap_or((0, f64::NEG_INFINITY))
    }

    /// Returns the largest ln det of any allowed set.
    pub fn optimum(&self, allowed: impl Fn(Set) -> bool) -> f64 {
        self.best(allowed).1
    }

    /// Returns the sum of the negative minors of allowed sets in absolute value, over the sum of the positive ones.
    ///
    /// It is 0 for features. For a kernel it measures how far rounding has made it indefinite, as far as this law is
    /// affected.
    pub fn indefinite(&self, allowed: impl Fn(Set) -> bool) -> f64 {
        let values = || self.sets().filter(|&set| allowed(set)).map(|set| self.det(set));
        let positive = values().filter(Scaled::is_positive).fold(Scaled::ZERO, Scaled::plus);
        let negative = values().filter(Scaled::is_negative).fold(Scaled::ZERO, Scaled::plus);
        if negative.is_negative() { negative.negated().over(positive) } else { 0.0 }
    }
}

/// Returns integers z and one u with x = z·2^u.
fn integers(values: &[f64]) -> (Vec<BigInt>, i64) {
    let parts: Vec<(i64, i64)> = values.iter().map(|&x| scaled::integer(x)).collect();
    let unit = parts.iter().filter(|(z, _)| *z != 0).map(|(_, u)| *u).min().unwrap_or(0);
    let whole = |&(z, u): &(i64, i64)| if z == 0 { BigInt::ZERO } else { BigInt::from(z) << (u - unit) };
    (parts.iter().map(whole).collect(), unit)
}

/// The tree of all sets, in which each set grows from the set without its largest item.
struct Tree<'a> {
    gram: &'a [Vec<BigInt>],
    units: &'a [i64],
    of_zero: Supersets,
}

/// The minors of the supersets of a set whose minor is zero.
#[derive(Clone, Copy)]
enum Supersets {
    /// Zero, as in every Gram matrix.
    Zero,
    /// Possibly not zero, since the kernel is rounded.
    Unknown,
}

impl Tree<'_> {
    /// Computes the minors of all sets that add items from `first` on to `set`.
    ///
    /// `minors[i][j]` is det(K_{S∪i, S∪j}) and `own` is det(K_S). One step of fraction-free elimination updates them
    /// when
    /// an item is added (Sylvester, Bareiss).
    fn grow(&self, values: &mut [Scaled], set: Set, first: usize, minors: &[Vec<BigInt>], own: &BigInt) {
        let items = self.gram.len();
        for i in first..items {
            let (with, minor) = (set | 1 << i, &minors[i][i]);
            values[with as usize] = Scaled::of(minor, self.unit(with));
            if *minor == BigInt::ZERO {
                // There is no pivot to continue with.
                if let Supersets::Unknown = self.of_zero {
                    for above in 1..1 << (items - i - 1) {
                        let larger = with | above << (i + 1);
                        values[larger as usize] = Scaled::of(&self.det(larger), self.unit(larger));
                    }
                }
                continue;
            }
            let mut next = vec![vec![BigInt::ZERO; items]; items];
            for a in i + 1..items {
                for b in a..items {
                    let entry = (&minors[a][b] * minor - &minors[a][i] * &minors[i][b]) / own;
                    next[b][a].clone_from(&entry);
                    next[a][b] = entry;
                }
            }
            self.grow(values, with, i + 1, &next, minor);
        }
    }

    fn unit(&self, set: Set) -> i64 {
        items_of(set).iter().map(|&item| self.units[item]).sum()
    }

    /// Computes a single minor by fraction-free elimination.
    fn det(&self, set: Set) -> BigInt {
        let items = items_of(set);
        let entry = |&i: &usize| items.iter().map(|&j| self.gram[i][j].clone()).collect::<Vec<_>>();
        let mut rows: Vec<Vec<BigInt>> = items.iter().map(entry).collect();
        let (mut sign, mut last) = (1, BigInt::from(1));
        for k in 0..rows.len() {
            let Some(pivot) = (k..rows.len()).find(|&i| rows[i][k] != BigInt::ZERO) else {
                return BigInt::ZERO;
            };
            if pivot != k {
                rows.swap(k, pivot);
                sign = -sign;
            }
            let (above, below) = rows.split_at_mut(k + 1);
            let top = &above[k];
            for row in below {
                let factor = row[k].clone();
                for j in k..row.len() {
                    row[j] = (&row[j] * &top[k] - &factor * &top[j]) / &last;
                }
            }
            last.clone_from(&rows[k][k]);
        }
        last * sign
    }
}
