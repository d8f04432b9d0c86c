//! The volume of rows added one by one, from their inner products.

#![expect(clippy::inline_always, reason = "vectors exist only inside their dispatch")]

use pulp::{Arch, Simd, WithSimd};

use super::{
    kernels::{add_scaled_in, dot_four, dot_in, subtract_four, sum_abs_in},
    products::{error, products},
};

/// Rows of length at most 1, with R = L⁻¹ of their Gram matrix G = L Lᵀ.
///
/// Inner products are summed in f32; all else is f64. Rows are met in pairs, so that the rows of the volume, and R,
/// are read once for both. Rows of another volume need only their inner products with this one. If the first of a
/// pair is added, the second follows by one step of Gram–Schmidt:
///
/// ```text
/// c = v_1 · P v_2,   ‖P v_2‖² ← ‖P v_2‖² − c²/‖P v_1‖²,   x_2 ← (x_2 − (c/‖P v_1‖²) x_1, c/‖P v_1‖²)
/// ```
///
/// # Numerics
/// If every inner product is off by at most ε, ‖P v‖² = min_x ‖v − Vᵀx‖² is off by at most ε(1 + ‖x‖₁)², for the
/// exact x or the computed one, whichever is longer. If k rows have k ε tr G⁻¹ ≤ ¼ for the computed G, the exact 1 +
/// ‖x‖₁ is at most 4/3 of the computed one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Volume {
    dims: usize,
    /// The rows, one after another.
    rows: Vec<f32>,
    /// ‖P v‖² of every row, where P projects off the rows before it.
    distances: Vec<Distance>,
    /// Inner products of every row with the rows before it.
    products: Vec<f64>,
    /// R in blocks of four rows, padded with zeros to the square at its diagonal, and its squared norm, which is tr
    /// G⁻¹.
    inverse: Vec<f64>,
    trace: f64,
    /// The last two rows met, v_1 · P v_2, and v_1 · v_2.
    met: [Met; 2],
    outside: f64,
    between: f64,
    /// The number of rows when they were met, or after the first of them was added, and ε.
    size: usize,
    rounding: f64,
    /// Which of the two rows had its distance computed last.
    which: usize,
}

/// A row outside the volume.
#[derive(Clone, Debug, Default)]
struct Met {
    /// g, its inner products with the rows.
    products: Vec<f64>,
    /// −x = −G⁻¹ g, ‖x‖₁ and ‖x‖².
    solution: Vec<f64>,
    length: f64,
    square: f64,
    /// ‖P v‖².
    left: f64,
}

/// A squared distance, and the most by which rounding may have changed it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Distance {
    pub(crate) value: f64,
    pub(crate) error: f64,
}

impl Distance {
    /// 1, exactly.
    pub(crate) const ONE: Self = Self { value: 1.0, error: 0.0 };

    /// Whether the ratio to another distance is above `number`; `None` if rounding could decide.
    #[inline]
    pub(crate) fn is_above(self, number: f64, other: Self) -> Option<bool> {
        if number * (other.value + other.error) < self.value - self.error {
            Some(true)
        } else if number * (other.value - other.error) > self.value + self.error {
            Some(false)
        } else {
            None
        }
    }
}

/// The number of rows whose inner products are computed at a time.
const FOUR: usize = 4;

impl Volume {
    /// Forgets all rows, and makes room for `most`.
    #[inline]
    pub(crate) fn clear(&mut self, dims: usize, most: usize) {
        let room = most + 2 * FOUR;
        if self.met[0].products.len() != room {
            for Met { products, solution, .. } in &mut self.met {
                products.resize(room, 0.0);
                solution.resize(room, 0.0);
            }
        }
        self.dims = dims;
        self.rows.clear();
        self.distances.clear();
        self.products.clear();
        self.inverse.clear();
        self.trace = 0.0;
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.distances.len()
    }

    pub(crate) fn row(&self, number: usize) -> &[f32] {
        &self.rows[number * self.dims..][..self.dims]
    }

    /// The distance of a row from the span of the rows before it.
    pub(crate) fn distance_of(&self, number: usize) -> Distance {
        self.distances[number]
    }

    /// Inner products of a row with the rows before it.
    pub(crate) fn products_of(&self, number: usize) -> &[f64] {
        let first = number * number.saturating_sub(1) / 2;
        &self.products[first..first + number]
    }

    /// Meets two rows, given their inner products with the last rows of the volume.
    #[inline]
    pub(crate) fn meet(&mut self, two: [&[f32]; 2], known: [&[f64]; 2]) {
        Arch::new().dispatch(Meet { volume: self, two, known });
    }

    /// The distance of the first or second of the last two rows met; the first may have been added since.
    #[inline]
    pub(crate) fn distance(&mut self, which: usize) -> Distance {
        if self.len() > self.size {
            Arch::new().dispatch(Follow { volume: self });
        }
        self.which = which;
        let Met { length, left, .. } = self.met[which];
        // 2 is above (4/3)², which covers rounding in f64 and rows that f32 made longer than 1. NaN counts as
        // unknown.
        let is_known = self.len() as f64 * self.rounding * self.trace <= 0.25;
        let error = if is_known { 2.0 * self.rounding * (1.0 + length).powi(2) } else { f64::INFINITY };
        Distance { value: left.max(0.0), error }
    }

    /// Adds the row whose distance was computed last.
    #[inline]
    pub(crate) fn extend(&mut self, row: &[f32], distance: Distance) {
        let size = self.len();
        let Met { products, solution, square, .. } = &self.met[self.which];
        self.rows.extend_from_slice(row);
        self.products.extend_from_slice(&products[..size]);
        self.distances.push(distance);
        let scale = distance.value.sqrt().recip();
        let len = (size + 1).next_multiple_of(FOUR);
        if size.is_multiple_of(FOUR) {
            self.inverse.resize(self.inverse.len() + FOUR * len, 0.0);
        }
        let row = self.inverse.len() - (len - size) * len;
        let row = &mut self.inverse[row..row + len];
        row.iter_mut().zip(solution).for_each(|(entry, x)| *entry = x * scale);
        row[size] = scale;
        self.trace += (1.0 + square) * scale * scale;
    }
}

/// Inner products of two rows with the others and with themselves; x = G⁻¹ g = Rᵀ R g and ‖P v‖² = v·v − ‖R g‖² of
/// each.
struct Meet<'a> {
    volume: &'a mut Volume,
    two: [&'a [f32]; 2],
    known: [&'a [f64]; 2],
}

impl WithSimd for Meet<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { volume, two, known } = self;
        (volume.size, volume.rounding) = (volume.len(), error::<S>(volume.dims));
        let Volume { dims, rows, inverse, met: [one, other], outside, between, size, .. } = volume;
        let others = *size - known[0].len();
        let fours = one.products.as_chunks_mut::<FOUR>().0.iter_mut();
        let fours = fours.zip(other.products.as_chunks_mut::<FOUR>().0);
        for (number, (of_one, of_other)) in fours.enumerate().take((others + 2).div_ceil(FOUR)) {
            let row = |at: usize| {
                if at < others { &rows[at * *dims..(at + 1) * *dims] } else { two[usize::from(at > others)] }
            };
            let first = FOUR * number;
            let four = [row(first), row(first + 1), row(first + 2), row(first + 3)];
            [*of_one, *of_other] = products(simd, two, four);
        }
        *between = one.products[others + 1];
        (one.left, other.left) = (one.products[others], other.products[others + 1]);
        // Entries after the last row keep their old values, since R has zeros there.
        one.products[others..*size].copy_from_slice(known[0]);
        other.products[others..*size].copy_from_slice(known[1]);
        one.solution[..FOUR].fill(0.0);
        other.solution[..FOUR].fill(0.0);
        let filled = size.next_multiple_of(FOUR);
        let mut rest = inverse.as_slice();
        *outside = *between;
        // A closure would not be compiled with vector instructions.
        for len in (FOUR..=filled).step_by(FOUR) {
            let (block, after) = rest.split_at(FOUR * len);
            let (y, z) = (one.solve(simd, block, len), other.solve(simd, block, len));
            *outside -= (y[0] * z[0] + y[1] * z[1]) + (y[2] * z[2] + y[3] * z[3]);
            rest = after;
        }
        one.measure(simd, filled);
        other.measure(simd, filled);
    }
}

impl Met {
    /// Processes one block of R, and returns its part of R g.
    #[inline(always)]
    fn solve<S: Simd>(&mut self, simd: S, block: &[f64], len: usize) -> [f64; FOUR] {
        let y = dot_four(simd, block, &self.products[..len]);
        self.left -= (y[0] * y[0] + y[1] * y[1]) + (y[2] * y[2] + y[3] * y[3]);
        // In the last block, this also clears the entry of the row itself.
        self.solution[len..len + FOUR].fill(0.0);
        subtract_four(simd, &mut self.solution[..len], block, y);
        y
    }

    #[inline(always)]
    fn measure<S: Simd>(&mut self, simd: S, filled: usize) {
        let solution = &self.solution[..filled];
        (self.length, self.square) = (sum_abs_in(simd, solution), dot_in(simd, solution, solution));
    }
}

/// Updates the second row met after the first was added.
struct Follow<'a> {
    volume: &'a mut Volume,
}

impl WithSimd for Follow<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Volume { distances, met: [one, other], outside, between, size, .. } = self.volume;
        let factor = *outside / distances[*size].value;
        other.left -= *outside * factor;
        let (own, filled) = (*size, size.next_multiple_of(FOUR));
        add_scaled_in(simd, &mut other.solution[..filled], -factor, &one.solution[..filled]);
        (other.products[own], other.solution[own]) = (*between, -factor);
        *size += 1;
        other.measure(simd, size.next_multiple_of(FOUR));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::span::Span;

    /// Rows of length 1, one per vector.
    fn rows(count: usize, dims: usize) -> Vec<Vec<f64>> {
        let value = |i: usize, j: usize| ((i * i + 3) as f64 * (1.7 * j as f64 + 0.3)).sin();
        let row = |i: usize| {
            let row: Vec<f64> = (0..dims).map(|j| value(i, j)).collect();
            let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            row.iter().map(|x| x / length).collect()
        };
        (0..count).map(row).collect()
    }

    /// Adds rows in pairs; returns their distances.
    #[expect(clippy::cast_possible_truncation, reason = "rounding is meant")]
    fn add(volume: &mut Volume, rows: &[Vec<f64>]) -> Vec<Distance> {
        let rounded = |row: &Vec<f64>| row.iter().map(|&x| x as f32).collect();
        let rows: Vec<Vec<f32>> = rows.iter().map(rounded).collect();
        let mut found = Vec::new();
        for pair in rows.chunks(2) {
            volume.meet([&pair[0], &pair[pair.len() - 1]], [&[], &[]]);
            for (which, row) in pair.iter().enumerate() {
                let distance = volume.distance(which);
                let Met { solution, length, square, .. } = &volume.met[which];
                let solution = &solution[..volume.len()];
                // After a dependent row the sums are infinite.
                let found_again =
                    |sum: f64, value: f64| !sum.is_finite() || (sum - value).abs() <= 1e-12 * sum;
                assert!(found_again(solution.iter().map(|x| x.abs()).sum(), *length));
                assert!(found_again(solution.iter().map(|x| x * x).sum(), *square));
                volume.extend(row, distance);
                found.push(distance);
            }
        }
        found
    }

    #[test]
    fn distances_are_those_of_a_span_within_the_error() {
        for (count, dims, most) in [(9, 9, 1.0), (9, 12, 0.1), (9, 64, 1e-4), (41, 67, 0.1)] {
            let (mut volume, mut span) = (Volume::default(), Span::default());
            volume.clear(dims, count);
            let rows = rows(count, dims);
            for (row, found) in rows.iter().zip(add(&mut volume, &rows)) {
                let expected = span.distance(row);
                span.extend(row, expected);
                let off = (found.value - expected).abs();
                assert!(off <= found.error && found.error < most, "{count}×{dims}: {found:?} {expected}");
            }
        }
    }

    #[test]
    fn another_volume_adds_its_rows() {
        let (all, dims) = (rows(11, 16), 16);
        let [mut one, mut other, mut whole] = [0; 3].map(|_| Volume::default());
        one.clear(dims, 11);
        other.clear(dims, 5);
        whole.clear(dims, 11);
        add(&mut one, &all[..6]);
        add(&mut other, &all[6..]);
        let expected = add(&mut whole, &all);
        for number in 0..5 {
            if number % 2 == 0 {
                let two = [number, (number + 1).min(4)];
                one.meet(two.map(|at| other.row(at)), two.map(|at| &other.products_of(at)[..number]));
            }
            let distance = one.distance(number % 2);
            assert!((distance.value - expected[6 + number].value).abs() < 1e-4, "{number}");
            one.extend(other.row(number), distance);
        }
        assert!((one.trace / whole.trace - 1.0).abs() < 1e-4);
    }

    /// A row in the span of others adds nothing, and rows after it have unknown distances.
    #[test]
    fn dependent_rows_have_no_distance() {
        let mut volume = Volume::default();
        volume.clear(3, 4);
        let third = [0.2, 0.5, 0.5];
        let rows = [[0.1, 0.2, 0.3], [0.0, 0.1, -0.1], third, [0.5, 0.1, 0.0]].map(|row| row.to_vec());
        let found = add(&mut volume, &rows);
        assert!(found[2].value < 1e-6 && found[2].value <= found[2].error);
        assert_eq!(found[3].is_above(0.5, Distance::ONE), None);
    }

    #[test]
    fn ratios_are_decided_if_rounding_cannot() {
        let of = |value, error| Distance { value, error };
        assert_eq!(of(0.5, 0.01).is_above(0.48, Distance::ONE), Some(true));
        assert_eq!(of(0.5, 0.01).is_above(0.495, Distance::ONE), None);
        assert_eq!(of(0.5, 0.01).is_above(0.505, Distance::ONE), None);
        assert_eq!(of(0.5, 0.01).is_above(0.52, Distance::ONE), Some(false));
        assert_eq!(of(0.25, 0.0).is_above(0.48, of(0.5, 0.01)), Some(true));
        assert_eq!(of(0.25, 0.0).is_above(0.495, of(0.5, 0.01)), None);
        assert_eq!(of(0.25, f64::NAN).is_above(0.1, Distance::ONE), None);
    }
}
