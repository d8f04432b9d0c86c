//! Conditions on the items, and enumerated laws given a condition.

use crate::oracle::Law;

/// Items that must be included, and items that must be excluded.
#[derive(Clone, Debug, Default)]
pub struct Condition {
    pub included: Vec<usize>,
    pub excluded: Vec<usize>,
}

impl Condition {
    pub fn new(included: &[usize], excluded: &[usize]) -> Self {
        Self { included: included.to_vec(), excluded: excluded.to_vec() }
    }

    pub fn allows(&self, set: &[usize]) -> bool {
        self.included.iter().all(|item| set.contains(item))
            && !self.excluded.iter().any(|item| set.contains(item))
    }

    /// Returns the law over the allowed sets, and ln of their total probability.
    pub fn apply(&self, law: &Law) -> (Law, f64) {
        let allowed = law.iter().filter(|(set, _)| self.allows(set));
        let mut law: Law = allowed.map(|(set, p)| (set.clone(), *p)).collect();
        let total: f64 = law.values().sum();
        law.values_mut().for_each(|p| *p /= total);
        (law, total.ln())
    }

    /// Returns conditions of every sort that at least one set meets.
    ///
    /// They are built around the most probable set that leaves out at least three items.
    pub fn zoo(law: &Law, labels: &[usize]) -> Vec<Self> {
        let some = law.iter().filter(|(set, _)| !set.is_empty() && set.len() + 3 <= labels.len());
        let best = some.max_by(|a, b| a.1.total_cmp(b.1));
        let best = &best.unwrap().0[..];
        let others: Vec<usize> = (0..labels.len()).filter(|item| !best.contains(item)).collect();
        let (first, last) = (best[0], best[best.len() - 1]);
        let of_last: Vec<usize> = best.iter().copied().filter(|&i| labels[i] == labels[last]).collect();
        let zoo = [
            Self::new(&[first], &[]),
            Self::new(&[last, first][..best.len().min(2)], &[]),
            // All chosen items of a part; then all chosen items.
            Self::new(&of_last, &[]),
            Self::new(best, &[]),
            Self::new(&[], &[first]),
            Self::new(&[], &[others[0], last]),
            // Exclude all items but the chosen ones; then leave two more.
            Self::new(&[], &others),
            Self::new(&[], &others[..others.len() - 2]),
            Self::new(&[last], &[first]),
            Self::new(&[first], &[others[others.len() - 1], others[0]]),
            Self::new(&best[1..], &others[1..3]),
        ];
        let possible = |condition: &Self| law.keys().any(|set| condition.allows(set));
        zoo.into_iter().filter(possible).collect()
    }
}

/// Applies a condition to a model, all at once.
#[macro_export]
macro_rules! conditioned {
    ($model:expr, $condition:expr) => {
        $model.including(&$condition.included).and_then(|model| model.excluding(&$condition.excluded))
    };
}

/// Applies a condition to a model item by item, in reverse order.
#[macro_export]
macro_rules! conditioned_item_by_item {
    ($model:expr, $condition:expr) => {{
        let mut model = $model;
        for &item in $condition.excluded.iter().rev() {
            model = model.excluding(&[item]).unwrap();
        }
        for &item in $condition.included.iter().rev() {
            model = model.including(&[item]).unwrap();
        }
        model
    }};
}
