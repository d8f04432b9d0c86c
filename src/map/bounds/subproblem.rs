//! The remaining choices once some items are included and others excluded.

use faer::{Mat, MatRef};

use super::{
    choice::{Choices, with_largest},
    error_amplification::ErrorAmplification,
};
use crate::{
    linalg::{column, kernels},
    map::{
        Candidates, Place,
        rounding::{of_dot, of_reflection, of_value},
    },
    model::Counts,
};

/// Rows shorter than this fraction of their original length count as dependent on the included ones.
const DEPENDENT: f64 = 1e-12;

/// The choice of items from every group, under a range of counts per group and a range of totals.
///
/// ```text
/// ln det K_S = offset + Σ_{i∈S∖T} w_i + ln det (V Vᵀ)_{S∖T}
/// ```
///
/// T holds the included items. The other rows are projected off the rows of T (Schur), and w_i undoes the scale of a
/// row.
///
/// Every row has a bound of its rounding error in norm, and the offset is an upper bound. Both are needed because
/// nearly dependent rows of T amplify rounding errors in all other rows and in the determinant.
#[derive(Clone, Debug)]
pub(crate) struct Subproblem {
    /// The places of the items among the candidates, ascending.
    pub(crate) places: Vec<Place>,
    /// The numbers of items that may be chosen in addition to T.
    pub(crate) counts: Counts,
    /// The rows v_i, a column per item.
    columns: Vec<f64>,
    pub(crate) dims: usize,
    /// The lengths ‖v_i‖ before any item was included.
    norms: Vec<f64>,
    /// The error of each v_i in norm, up to a rotation of all.
    pub(super) errors: Vec<f64>,
    /// The weights w_i.
    pub(crate) weights: Vec<f64>,
    /// The included items T.
    chosen: Vec<Place>,
    /// An upper bound of ln det K_T, which is ln det of the chosen set if nothing is left to choose.
    pub(crate) offset: f64,
}

impl Subproblem {
    /// Creates the subproblem of some of the candidates, at ascending places.
    pub(crate) fn new(candidates: &Candidates<'_>, places: Vec<Place>) -> Self {
        let rows = candidates.rows();
        let features = candidates.features();
        let dims = candidates.ground.dims_left();
        let amplification = ErrorAmplification::of(candidates);
        let mut columns = Vec::with_capacity(places.len() * dims);
        let mut row = vec![0.0; features.dims()];
        let mut errors = Vec::with_capacity(places.len());
        for &place in &places {
            // Scaling by a power of two is exact.
            features.read_row(candidates.item(place), rows.groups()[place.group].scale, &mut row);
            errors.push(amplification.error_of(&row));
            match candidates.ground.beyond() {
                None => columns.extend_from_slice(&row),
                Some(basis) => {
                    columns.extend((0..dims).map(|j| kernels::dot(column(basis.as_ref(), j), &row)));
                }
            }
        }
        let norm = |column: &[f64]| kernels::dot(column, column).sqrt();
        let norms: Vec<f64> = columns.chunks_exact(dims.max(1)).map(norm).collect();
        let norms = if dims == 0 { vec![0.0; places.len()] } else { norms };
        let weights = places.iter().map(|place| -2.0 * rows.groups()[place.group].scale.ln()).collect();
        Self {
            counts: candidates.counts.clone(),
            columns,
            dims,
            errors,
            norms,
            weights,
            chosen: Vec::new(),
            offset: candidates.log_det_included_at_most(),
            places,
        }
    }

    /// The number of undecided items.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Vᵀ, a column per item.
    pub(crate) fn rows(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.columns, self.dims, self.len())
    }

    pub(super) fn row(&self, item: usize) -> &[f64] {
        &self.columns[item * self.dims..(item + 1) * self.dims]
    }

    /// The kernel V Vᵀ.
    pub(crate) fn kernel(&self) -> Mat<f64> {
        self.rows().transpose() * self.rows()
    }

    pub(crate) fn group(&self, item: usize) -> usize {
        self.places[item].group
    }

    pub(crate) fn place(&self, item: usize) -> Place {
        self.places[item]
    }

    pub(crate) fn position(&self, place: Place) -> Option<usize> {
        self.places.binary_search(&place).ok()
    }

    /// The included items and the items with the largest x: as many of every group as are needed, and others above ½.
    pub(crate) fn with_largest(&self, x: &[f64]) -> Vec<Place> {
        let largest = with_largest(&self.places, &Choices::of(self).counts, x);
        self.chosen.iter().copied().chain(largest).collect()
    }

    /// The logarithm of the factor by which adding an item multiplies the determinant: w_i + ln ‖v_i‖².
    pub(crate) fn gain(&self, item: usize) -> f64 {
        let row = self.row(item);
        let squared = kernels::dot(row, row);
        if squared.sqrt() <= DEPENDENT * self.norms[item] {
            return f64::NEG_INFINITY;
        }
        self.weights[item] + squared.ln()
    }

    /// An upper bound of the exact gain; −∞ only for a row of zeros.
    pub(crate) fn gain_at_most(&self, item: usize) -> f64 {
        let (weight, log_length) = (self.weights[item], self.length_at_most(item).ln());
        weight + 2.0 * log_length + 2.0 * (of_value(weight) + of_value(log_length))
    }

    /// ‖v_i‖, rounded.
    pub(super) fn length(&self, item: usize) -> f64 {
        let row = self.row(item);
        kernels::dot(row, row).sqrt()
    }

    fn length_at_most(&self, item: usize) -> f64 {
        self.length(item) * (1.0 + of_dot(self.dims)) + self.errors[item]
    }

    /// Whether the residual of an item beyond T is indistinguishable from rounding.
    pub(crate) fn is_dependent(&self, item: usize) -> bool {
        self.gain(item) == f64::NEG_INFINITY
    }

    /// The same subproblem with every row multiplied by the root of its part's weight, at most 1.
    pub(crate) fn reweighted(&self, log_weights: &[f64]) -> Self {
        let mut other = self.clone();
        for item in 0..self.len() {
            let log_weight = log_weights[self.group(item)];
            if log_weight.total_cmp(&0.0).is_ne() {
                let factor = (0.5 * log_weight).exp();
                kernels::scale(&mut other.columns[item * self.dims..(item + 1) * self.dims], factor);
                other.norms[item] *= factor;
                other.errors[item] = factor * self.errors[item] + of_value(2.0 * other.norms[item]);
                other.weights[item] -= log_weight;
            }
        }
        other
    }

    /// About the smallest eigenvalue of the rows' Gram matrix that is distinguishable from rounding.
    pub(super) fn resolution(&self) -> f64 {
        let most = self.counts.most as f64;
        let longest = (0..self.len()).map(|item| self.length(item)).fold(0.0, f64::max);
        let error = self.errors.iter().copied().fold(0.0, f64::max);
        let relative = f64::EPSILON * (8.0 * (self.dims as f64).sqrt() + most);
        most * longest * (relative * longest + 2.0 * error) + f64::MIN_POSITIVE
    }

    /// Includes an item by projecting the others off its row.
    ///
    /// Let v_j = a v_i/‖v_i‖ + b, and σ the sine of the angle by which v_i may be off. The error of the
    /// projection is then |a| σ and, up to a rotation, (1 − √(1 − σ²))‖b‖ ≤ σ²‖b‖.
    pub(crate) fn include(&mut self, item: usize) {
        let gain = self.gain_at_most(item);
        self.offset += gain;
        self.offset += of_value(self.offset);
        let place = self.places[item];
        self.chosen.push(place);
        self.counts.take(place.group);
        let mut normal = self.row(item).to_vec();
        let length = self.length(item);
        let sine = self.errors[item] / length;
        // If a row is nothing but rounding error, its direction is unknown.
        let (sine, bend) = if sine < 1.0 { (sine, sine * sine) } else { (1.0, 2.0) };
        self.retain(|other| other != item);
        let last = self.dims - 1;
        // The reflection that takes v_i to the last axis.
        let towards = if normal[last] < 0.0 { -length } else { length };
        normal[last] += towards;
        let factor = if length > 0.0 { (towards * normal[last]).recip() } else { 0.0 };
        let reflecting = of_reflection(self.dims);
        for (row, own) in self.columns.chunks_exact_mut(self.dims).zip(&mut self.errors) {
            let along = kernels::dot(&normal, row);
            kernels::add_scaled(row, -factor * along, &normal);
            let norm = kernels::dot(row, row).sqrt();
            *own += row[last].abs() * sine + norm * (bend + reflecting);
        }
        let kept = self.columns.chunks_exact(self.dims).flat_map(|row| row[..last].iter().copied());
        self.columns = kept.collect();
        self.dims = last;
    }

    /// Keeps some items and excludes the others.
    pub(crate) fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let kept: Vec<usize> = (0..self.len()).filter(|&item| keep(item)).collect();
        if kept.len() < self.len() {
            *self = self.part(&kept);
        }
    }

    /// The subproblem of some of the items, ascending.
    pub(crate) fn part(&self, items: &[usize]) -> Self {
        let of = |values: &[f64]| items.iter().map(|&item| values[item]).collect();
        let mut columns = Vec::with_capacity(items.len() * self.dims);
        items.iter().for_each(|&item| columns.extend_from_slice(self.row(item)));
        Self {
            places: items.iter().map(|&item| self.places[item]).collect(),
            counts: self.counts.clone(),
            columns,
            norms: of(&self.norms),
            errors: of(&self.errors),
            weights: of(&self.weights),
            chosen: self.chosen.clone(),
            ..*self
        }
    }

    /// The number of items left in each group.
    pub(crate) fn members(&self) -> Vec<usize> {
        let mut members = vec![0; self.counts.low.len()];
        self.places.iter().for_each(|place| members[place.group] += 1);
        members
    }
}
