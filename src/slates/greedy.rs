//! Picks of one request.

use std::cmp::Ordering;

use super::{Candidate, SlateWorkspace, Slates, kernel, scale_of};
use crate::{
    Error, Result,
    linalg::{INDEPENDENCE_TOLERANCE, OrthonormalBasis},
};

/// A gain whose factors may be below the normal numbers of f32.
const LEAST: f32 = 1e-25;
/// Unit roundoff of f32.
const ROUNDOFF: f32 = 0.5 * f32::EPSILON;

/// The greedy algorithm on the candidates of a workspace.
pub(super) struct Picking<'s> {
    pub(super) slates: &'s Slates,
    pub(super) workspace: &'s mut SlateWorkspace,
}

impl Picking<'_> {
    /// Picks until the set has its size, or all remaining candidates depend on it; returns ln det of the set.
    ///
    /// # Errors
    /// [`Error::DependentItems`] if the included items are dependent, unless a window forgets some.
    pub(super) fn run(mut self) -> Result<f64> {
        let mut log_det = self.include()?;
        while self.workspace.items.len() < self.slates.size {
            let Some(position) = self.best() else { break };
            // Otherwise the item is a copy, or a combination, of the chosen ones.
            if let Some(log_gain) = self.pick(position) {
                log_det += log_gain;
            }
        }
        Ok(log_det)
    }

    /// Makes known picks, given by their positions, and returns ln det.
    ///
    /// Returns `None` if one of them may not be picked.
    pub(super) fn follow(mut self, picks: &[u32]) -> Option<f64> {
        let mut log_det = 0.0;
        for position in picks.iter().map(|&position| position as usize) {
            self.open_parts();
            let &Candidate { part, is_out, .. } = self.workspace.candidates.get(position)?;
            if is_out || !self.workspace.is_open[part as usize] {
                return None;
            }
            self.workspace.scale_alone(position, self.slates);
            log_det += self.pick(position)?;
        }
        Some(log_det)
    }

    /// Picks a candidate and returns what it adds to ln det; `None` if it depends on the others.
    fn pick(&mut self, position: usize) -> Option<f64> {
        let Candidate { item, part, scale, log_quality, .. } = self.workspace.candidates[position];
        self.take_out(position);
        let log_gain = self.repel(item, scale)?;
        self.workspace.items.push(item);
        self.workspace.counts[part as usize] += 1;
        Some(log_gain + self.log_weight(item) + log_quality)
    }

    /// Adds the directions of the included items, and returns their ln det.
    fn include(&mut self) -> Result<f64> {
        let mut log_det = 0.0;
        for at in 0..self.workspace.items.len() {
            let item = self.workspace.items[at];
            let scale = scale_of(self.slates.features.max_abs_of_stored(item as usize));
            match self.repel(item, scale) {
                Some(log_gain) => log_det += log_gain + self.log_weight(item),
                None if self.slates.window < usize::MAX => log_det = f64::NEG_INFINITY,
                None => return Err(Error::DependentItems { item: item as usize }),
            }
        }
        Ok(log_det)
    }

    /// 2 ln q_i without scores.
    fn log_weight(&self, item: u32) -> f64 {
        2.0 * self.slates.features.log_weight(item as usize)
    }

    fn take_out(&mut self, position: usize) {
        self.workspace.candidates[position].is_out = true;
        self.workspace.weights[position] = 0.0;
    }

    /// Finds the parts that may have another item.
    ///
    /// Parts below their minimum may. If more picks are left than all minima need, any part below its maximum may.
    fn open_parts(&mut self) {
        let (quota, workspace) = (&self.slates.quota, &mut *self.workspace);
        let lows = quota.low().iter().zip(&workspace.counts);
        let lacking: usize = lows.map(|(low, count)| low.saturating_sub(*count)).sum();
        let is_spare = self.slates.size - workspace.items.len() > lacking;
        workspace.is_open.clear();
        let ranges = quota.low().iter().zip(quota.high());
        let is_open =
            |(&count, (&low, &high)): (&usize, (&usize, &usize))| count < low || count < high && is_spare;
        workspace.is_open.extend(workspace.counts.iter().zip(ranges).map(is_open));
    }

    /// The candidate with the largest gain; the lowest item among equals.
    fn best(&mut self) -> Option<usize> {
        self.open_parts();
        // |fl(a·q) − a·q| ≤ (n + 4) u ‖a‖ for every direction, and u for every subtraction.
        let dims = self.slates.features.dims() as f32;
        let rounding =
            ROUNDOFF * (self.workspace.span.size() as f32 * (2.0 * (dims + 4.0) + 2.0) + dims + 2.0);
        let SlateWorkspace { left, squares, weights, candidates, is_open, close, .. } = &mut *self.workspace;
        let mut floor = 0.0_f32;
        for (at, candidate) in candidates.iter().enumerate() {
            let least = weights[at] * (left[at] - rounding * squares[at]);
            if least > floor && is_open[candidate.part as usize] {
                floor = least;
            }
        }
        close.clear();
        for (at, candidate) in candidates.iter().enumerate() {
            // Without a floor, any candidate may be best: gains are rounding, or weights lose digits in f32.
            let may_be = floor <= LEAST || weights[at] * (left[at] + rounding * squares[at]) >= floor;
            if may_be && !candidate.is_out && is_open[candidate.part as usize] {
                #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
                close.push(at as u32);
            }
        }
        self.best_of_close()
    }

    /// The best of the candidates that may be best, compared in f64.
    fn best_of_close(&mut self) -> Option<usize> {
        if let [only] = self.workspace.close[..] {
            return Some(only as usize);
        }
        let mut best: Option<(f64, u32, usize)> = None;
        for number in 0..self.workspace.close.len() {
            let at = self.workspace.close[number] as usize;
            let Candidate { item, scale, log_weight, .. } = self.workspace.candidates[at];
            let gain = self.residual(item, scale).ln() + log_weight;
            let is_better = |(most, lowest, _): (f64, u32, usize)| match gain.total_cmp(&most) {
                Ordering::Equal => item < lowest,
                order => order.is_gt(),
            };
            if gain > f64::NEG_INFINITY && best.is_none_or(is_better) {
                best = Some((gain, item, at));
            }
        }
        best.map(|(.., at)| at)
    }

    /// The squared distance of a scaled row from the picks, in f64.
    fn residual(&mut self, item: u32, scale: f64) -> f64 {
        let SlateWorkspace { row, span, .. } = &mut *self.workspace;
        row.resize(self.slates.features.dims(), 0.0);
        self.slates.features.read_stored(item as usize, scale, row);
        span.distance(row)
    }

    /// Adds the direction of one item.
    ///
    /// Returns ln of its squared distance from the others; `None` if it depends on them.
    fn repel(&mut self, item: u32, scale: f64) -> Option<f64> {
        let (dims, window) = (self.slates.features.dims(), self.slates.window);
        if self.workspace.span.size() >= window {
            self.slide();
        }
        let SlateWorkspace { row, span, picked_rows, .. } = &mut *self.workspace;
        row.resize(dims, 0.0);
        self.slates.features.read_stored(item as usize, scale, row);
        let log_length = OrthonormalBasis::normalise(row)? - scale.ln();
        if window < usize::MAX {
            picked_rows.extend_from_slice(row);
        }
        let Some(left) = span.add(row, INDEPENDENCE_TOLERANCE) else {
            picked_rows.truncate(span.size() * dims);
            return None;
        };
        self.subtract();
        Some(2.0 * (log_length + left.ln()))
    }

    /// Subtracts the last direction from all candidates.
    fn subtract(&mut self) {
        let dims = self.slates.features.dims();
        let SlateWorkspace { rows, left, span, direction, .. } = &mut *self.workspace;
        direction.clear();
        let last = &span.directions()[(span.size() - 1) * dims..];
        #[expect(clippy::cast_possible_truncation, reason = "rounding is meant")]
        direction.extend(last.iter().map(|&value| value as f32));
        direction.resize(kernel::padded(dims), 0.0);
        kernel::subtract_squares(rows, direction, left);
    }

    /// Forgets the first pick of the window.
    fn slide(&mut self) {
        let dims = self.slates.features.dims();
        let SlateWorkspace { picked_rows, span, left, squares, .. } = &mut *self.workspace;
        picked_rows.drain(..dims);
        span.clear();
        left.clone_from(squares);
        for at in 0..self.workspace.picked_rows.len() / dims {
            let SlateWorkspace { picked_rows, span, row, .. } = &mut *self.workspace;
            row.copy_from_slice(&picked_rows[at * dims..(at + 1) * dims]);
            // Rows that are independent together with earlier rows are also independent without them.
            if span.add(row, INDEPENDENCE_TOLERANCE).is_some() {
                self.subtract();
            }
        }
    }
}
