//! Logarithms of elementary symmetric polynomials.

use crate::linalg::log_sum;

/// ln e_c of the j largest of some numbers, for all j and for all c up to some count.
#[derive(Debug)]
pub(super) struct ElementaryTable {
    /// Row j: c from 0 on.
    rows: Vec<Vec<f64>>,
}

impl ElementaryTable {
    /// For numbers in descending order.
    pub(super) fn new(values: &[f64], most: usize) -> Self {
        let mut row = vec![f64::NEG_INFINITY; most + 1];
        row[0] = 0.0;
        let mut rows = vec![row.clone()];
        for value in values {
            let log = value.ln();
            for c in (1..=most).rev() {
                row[c] = log_sum(&[row[c], row[c - 1] + log]);
            }
            rows.push(row.clone());
        }
        Self { rows }
    }

    /// ln e_count of the `largest` largest numbers.
    pub(super) fn log(&self, largest: usize, count: usize) -> f64 {
        self.rows[largest.min(self.rows.len() - 1)][count]
    }
}
