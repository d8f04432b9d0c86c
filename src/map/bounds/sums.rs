//! The constraints on sums of x, as equations and inequalities.

use super::choice::Choices;

/// Σ x = value over some items.
pub(super) struct Equation {
    pub(super) items: Vec<usize>,
    pub(super) value: f64,
}

/// sign · Σ x ≤ bound over some items.
pub(super) struct Limit {
    pub(super) items: Vec<usize>,
    pub(super) sign: f64,
    bound: f64,
}

impl Limit {
    /// The slack at x.
    pub(super) fn room(&self, x: &[f64]) -> f64 {
        self.bound - self.sign * self.sum(x)
    }

    /// Σ x.
    pub(super) fn sum(&self, x: &[f64]) -> f64 {
        self.items.iter().map(|&item| x[item]).sum()
    }
}

/// The constraints on sums that 0 ≤ x ≤ 1 does not imply.
pub(super) struct Sums {
    pub(super) equations: Vec<Equation>,
    pub(super) limits: Vec<Limit>,
}

impl Sums {
    pub(super) fn of(choices: &Choices) -> Self {
        let mut sums = Self { equations: Vec::new(), limits: Vec::new() };
        let counts = &choices.counts;
        for (l, items) in choices.groups.iter().enumerate().filter(|(_, items)| !items.is_empty()) {
            sums.add(items, (counts.low[l], counts.high[l]), (0, items.len()));
        }
        // Groups without a choice are left out: the equations would be dependent.
        let open = (0..choices.groups.len()).filter(|&l| counts.low[l] < counts.high[l]);
        let (mut items, mut low, mut high, mut others) = (Vec::new(), 0, 0, counts.low.iter().sum::<usize>());
        for l in open {
            items.extend_from_slice(&choices.groups[l]);
            (low, high, others) = (low + counts.low[l], high + counts.high[l], others - counts.low[l]);
        }
        if !items.is_empty() {
            sums.add(&items, (counts.least - others, counts.most - others), (low, high));
        }
        sums
    }

    /// Adds the range of a sum whose known range is wider or equal.
    fn add(&mut self, items: &[usize], range: (usize, usize), known: (usize, usize)) {
        let ((least, most), items) = (range, items.to_vec());
        if least == most {
            self.equations.push(Equation { items, value: most as f64 });
            return;
        }
        if least > known.0 {
            self.limits.push(Limit { items: items.clone(), sign: -1.0, bound: -(least as f64) });
        }
        if most < known.1 {
            self.limits.push(Limit { items, sign: 1.0, bound: most as f64 });
        }
    }
}
