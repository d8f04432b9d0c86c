//! Exact draws with little set-up.

use rand::{Rng, RngExt};

use super::{Candidate, Slates, counts::CountLaw, heavy};
use crate::{
    Error, Features, Result,
    linalg::{
        INDEPENDENCE_TOLERANCE, OrthonormalBasis,
        kernels::{dot, scale},
        span::Span,
        thinning::Thinning,
    },
};

/// A limit on the digits that rows may lose, as a natural logarithm.
///
/// Outside the span of the included items, the longest row of a part must keep e^−`LOST` of its squared length. The
/// largest β is at most e^(2·`LOST`).
const LOST: f64 = 5.0;
/// Squared lengths that are far from the ends of f64.
const SQUARES: std::ops::RangeInclusive<f64> = 1e-200..=1e200;

/// Proposals of independent items, accepted by the volume that they span:
///
/// ```text
/// det K_{T∪R} / det K_T = Π_{i∈R} q_i² ‖P a_i‖² ‖v_i‖² · Π_t ‖P_t v_t‖² / ‖v_t‖² · det(Qᵀ B Q)
/// ```
///
/// P is the projection off the included items T, v_i = B^-½ P a_i / ‖P a_i‖, P_t the projection off the v drawn
/// before, and Q an orthonormal basis of all v. The first product is the law of proposals. The second is at most 1
/// (Hadamard), and the determinant is at most the product of the largest eigenvalues of B, one per item.
///
/// B = I needs no set-up. If too few proposals are accepted, B is larger along a few [heavy](heavy) directions.
#[derive(Clone, Debug, Default)]
pub(super) struct Proposals {
    /// The candidates that may be drawn, by part and item.
    order: Vec<u32>,
    /// v_i, by place in this order.
    rows: Vec<f64>,
    /// ‖v_i‖², by place.
    squares: Vec<f64>,
    /// ln(q_i² ‖P a_i‖²), by place.
    log_weights: Vec<f64>,
    /// The running sum of weights in the part, by place.
    sums: Vec<f64>,
    /// Per part: the end of its places, and the range of the number of items drawn.
    parts: Vec<(usize, [usize; 2])>,
    /// The number of items to draw.
    total: usize,
    counts: CountLaw,
    /// B, unless it is the identity, and ln of the product of its largest eigenvalues.
    thinning: Option<(Thinning, f64)>,
    span: Span,
    along: Vec<f64>,
    /// Places of the items drawn.
    places: Vec<usize>,
}

impl Proposals {
    /// Lists the candidates that may be drawn.
    ///
    /// If an item comes twice, only the copy with the larger score is listed.
    pub(super) fn list(&mut self, candidates: &mut [Candidate]) {
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let places = 0..candidates.len() as u32;
        self.order.clear();
        self.order.extend(places.filter(|&at| !candidates[at as usize].is_out));
        self.order.sort_unstable_by_key(|&at| {
            let Candidate { part, item, .. } = candidates[at as usize];
            (part, item)
        });
        self.order.dedup_by(|later, kept| {
            let (new, old) = (candidates[*later as usize], candidates[*kept as usize]);
            if new.item != old.item {
                return false;
            }
            if new.log_weight > old.log_weight {
                std::mem::swap(later, kept);
            }
            candidates[*later as usize].is_out = true;
            true
        });
    }

    /// The candidates that may be drawn.
    pub(super) fn listed(&self) -> &[u32] {
        &self.order
    }

    /// Prepares proposals under B = I, with counts of every part in these ranges.
    ///
    /// Returns `false` if proposals cannot make such sets, or not to all digits.
    ///
    /// # Errors
    /// [`Error::DependentItems`] if the included items are dependent.
    pub(super) fn prepare(
        &mut self,
        slates: &Slates,
        included: &[u32],
        candidates: &mut [Candidate],
        ranges: impl Iterator<Item = [usize; 2]>,
    ) -> Result<bool> {
        let dims = slates.features.dims();
        self.include(&slates.features, included)?;
        self.thinning = None;
        self.total = slates.size - included.len();
        self.rows.resize(self.order.len() * dims, 0.0);
        [&mut self.squares, &mut self.log_weights].into_iter().for_each(Vec::clear);
        self.parts.clear();
        let mut start = 0;
        for (part, range) in ranges.enumerate() {
            let of_part = |&&at: &&u32| candidates[at as usize].part as usize == part;
            let end = start + self.order[start..].iter().take_while(of_part).count();
            let (mut largest, mut left) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
            for place in start..end {
                let row = &mut self.rows[place * dims..(place + 1) * dims];
                let candidate = &mut candidates[self.order[place] as usize];
                let log_square = candidate.read(slates, row);
                largest = largest.max(log_square + candidate.log_weight);
                let norm = if included.is_empty() { 1.0 } else { self.span.project(row) };
                scale(row, if norm > 0.0 { norm.recip() } else { 0.0 });
                self.squares.push(1.0);
                self.log_weights.push(log_square + 2.0 * norm.ln() + candidate.log_weight);
                left = left.max(self.log_weights[place]);
            }
            if range[1] > 0 && left < largest - LOST {
                return Ok(false);
            }
            self.parts.push((end, range));
            start = end;
        }
        Ok(self.tabulate())
    }

    /// Spans the included items.
    fn include(&mut self, features: &Features, included: &[u32]) -> Result<()> {
        self.span.clear();
        let row = &mut self.along;
        row.resize(features.dims(), 0.0);
        for &item in included {
            let item = item as usize;
            features.read_stored(item, 1.0, row);
            OrthonormalBasis::normalise(row).ok_or(Error::DependentItems { item })?;
            self.span.add(row, INDEPENDENCE_TOLERANCE).ok_or(Error::DependentItems { item })?;
        }
        Ok(())
    }

    /// Sums the weights of every part; returns whether sets of the right size can be drawn.
    fn tabulate(&mut self) -> bool {
        self.sums.clear();
        self.counts.clear();
        let mut start = 0;
        for &(end, range) in &self.parts {
            let log = |place: usize| self.log_weights[place] + self.squares[place].ln();
            let largest = (start..end).map(log).fold(f64::NEG_INFINITY, f64::max);
            let unit = if largest.is_finite() { largest } else { 0.0 };
            let mut sum = 0.0;
            self.sums.extend((start..end).map(|place| {
                sum += (log(place) - unit).exp();
                sum
            }));
            self.counts.push(range, unit + sum.ln());
            start = end;
        }
        self.counts.finish(self.total)
    }

    /// Makes B larger along heavy directions, to lower the bound.
    ///
    /// Returns `false` if there are no such directions, or they are too heavy.
    pub(super) fn thin(&mut self, dims: usize) -> Result<bool> {
        let expected = heavy::expected(self.parts.iter().map(|&(_, range)| range), self.total);
        let mut start = 0;
        let mut shares = Vec::with_capacity(self.order.len());
        for &(end, _) in &self.parts {
            let own = &self.sums[start..end];
            let whole = own.last().copied().filter(|&sum| sum > 0.0).unwrap_or(1.0);
            let before = std::iter::once(&0.0).chain(own);
            shares.extend(own.iter().zip(before).map(|(sum, before)| (sum - before) / whole));
            start = end;
        }
        let ends: Vec<usize> = self.parts.iter().map(|&(end, _)| end).collect();
        let sample = heavy::Shares {
            rows: &self.rows,
            dims,
            probabilities: &shares,
            ends: &ends,
            expected: &expected,
        };
        let thinning = sample.thinning(self.total)?;
        let Some(most) = thinning.beta().first() else { return Ok(false) };
        if most.ln() > 2.0 * LOST {
            return Ok(false);
        }
        for (row, square) in self.rows.chunks_exact_mut(dims).zip(&mut self.squares) {
            thinning.apply(row, &mut self.along);
            *square = dot(row, row);
        }
        let log_product = thinning.beta().iter().take(self.total).map(|beta| beta.ln()).sum();
        self.thinning = Some((thinning, log_product));
        Ok(self.tabulate())
    }

    /// Makes one proposal; returns whether it is accepted.
    pub(super) fn propose<R: Rng + ?Sized>(&mut self, dims: usize, rng: &mut R) -> bool {
        self.span.clear();
        self.places.clear();
        let mut start = 0;
        for (part, &(end, _)) in self.parts.iter().enumerate() {
            for _ in 0..self.counts.draw(part, self.places.len(), rng) {
                let place = start + drawn(&self.sums[start..end], rng.random());
                if self.places.contains(&place) {
                    return false;
                }
                let row = &self.rows[place * dims..(place + 1) * dims];
                let distance = self.span.distance(row);
                if !coin(distance / self.squares[place], rng) {
                    return false;
                }
                self.span.extend(row, distance);
                self.places.push(place);
            }
            start = end;
        }
        match &self.thinning {
            None => true,
            Some((thinning, log_product)) => coin((thinning.log_det(&self.span) - log_product).exp(), rng),
        }
    }

    /// The candidates of the proposal.
    pub(super) fn accepted(&self) -> impl Iterator<Item = usize> + '_ {
        self.places.iter().map(|&place| self.order[place] as usize)
    }
}

/// True with this probability; never for NaN.
fn coin<R: Rng + ?Sized>(probability: f64, rng: &mut R) -> bool {
    probability >= 1.0 || rng.random::<f64>() < probability
}

/// The index drawn, from the running sums of weights.
fn drawn(sums: &[f64], random: f64) -> usize {
    let at = random * sums[sums.len() - 1];
    sums.partition_point(|&sum| sum <= at).min(sums.len() - 1)
}

impl Candidate {
    /// Reads the direction of the scaled row, and returns ln of its squared length.
    fn read(&mut self, slates: &Slates, row: &mut [f64]) -> f64 {
        let item = self.item as usize;
        slates.features.read_stored(item, self.scale, row);
        let mut square = dot(row, row);
        if !SQUARES.contains(&square) {
            self.rescale(slates);
            slates.features.read_stored(item, self.scale, row);
            square = dot(row, row);
        }
        scale(row, if square > 0.0 { square.sqrt().recip() } else { 0.0 });
        square.ln()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand::{SeedableRng, rngs::StdRng};

    use super::*;
    use crate::{
        Partition, Quota,
        slates::{SlateRequest, SlateWorkspace},
    };

    /// The determinant of a set given other rows, by Gram–Schmidt.
    fn det(rows: &[[f64; 4]], others: &[usize], set: &[usize]) -> f64 {
        let mut basis: Vec<[f64; 4]> = Vec::new();
        let mut det = 1.0;
        for (number, &item) in others.iter().chain(set).enumerate() {
            let mut row = rows[item];
            for q in &basis {
                let along: f64 = q.iter().zip(&row).map(|(x, y)| x * y).sum();
                row.iter_mut().zip(q).for_each(|(x, q)| *x -= along * q);
            }
            let square: f64 = row.iter().map(|x| x * x).sum();
            det *= if number < others.len() { 1.0 } else { square };
            basis.push(row.map(|x| x / square.sqrt()));
        }
        det
    }

    /// Compares proposals that only allow for heavy directions with enumeration.
    #[test]
    fn thinned_proposals_follow_the_law() {
        // Two directions are heavy, one of them with either sign.
        let row = |item: usize| {
            let sign = if [0, 3, 6, 9].contains(&item) { -2.5 } else { 2.5 };
            let noise = |at: usize| 0.5 * ((item * item + 7 * at) as f64 * 1.37).cos();
            [3.0 + noise(0), 1.0 + noise(1), sign + noise(2), noise(3)]
        };
        let rows: Vec<[f64; 4]> = (0..10).map(row).collect();
        let features = Features::from_rows(10, 4, rows.concat()).unwrap();
        let partition = Partition::from_labels(&[0, 1, 0, 1, 0, 1, 0, 1, 0, 1]).unwrap();
        for included in [&[][..], &[4]] {
            let quota = Quota::new(&partition, [1..=2, 1..=2]).unwrap().with_total(3).unwrap();
            let slates = Slates::new(&features, &partition, &quota).unwrap();
            let mut workspace = SlateWorkspace::default();
            let all: Vec<u32> = (0..10).collect();
            workspace.read(&slates, SlateRequest::of(&all).including(included)).unwrap();
            workspace.list(&slates).unwrap();
            let SlateWorkspace { items, candidates, counts, proposals, .. } = &mut workspace;
            let ranges = counts.iter().map(|&count| [1 - count.min(1), 2 - count]);
            assert!(proposals.prepare(&slates, items, candidates, ranges).unwrap());
            assert!(proposals.thin(4).unwrap(), "no direction is heavy");
            let given: Vec<usize> = included.iter().map(|&item| item as usize).collect();
            let mut law = BTreeMap::new();
            for mask in 0_u32..1 << 10 {
                let set: Vec<usize> = (0..10).filter(|item| mask >> item & 1 == 1).collect();
                let evens = set.iter().chain(&given).filter(|&item| item % 2 == 0).count();
                let is_free = set.iter().all(|item| !given.contains(item));
                if is_free && set.len() + given.len() == 3 && (1..=2).contains(&evens) {
                    law.insert(set.clone(), det(&rows, &given, &set));
                }
            }
            let sum: f64 = law.values().sum();
            let (mut rng, mut seen, mut draws) = (StdRng::seed_from_u64(2), BTreeMap::new(), 0_u32);
            while draws < 40_000 {
                if proposals.propose(4, &mut rng) {
                    let mut set: Vec<usize> = proposals.accepted().collect();
                    set.sort_unstable();
                    *seen.entry(set).or_insert(0_u32) += 1;
                    draws += 1;
                }
            }
            let mut chi_square = 0.0;
            for (set, weight) in &law {
                let mean = weight / sum * f64::from(draws);
                let found = f64::from(seen.remove(set).unwrap_or(0));
                chi_square += (found - mean).powi(2) / mean.max(1.0);
            }
            assert!(seen.is_empty(), "sets of probability zero: {seen:?}");
            let freedom = law.len() as f64 - 1.0;
            assert!(chi_square < freedom + 5.0 * (2.0 * freedom).sqrt(), "{chi_square} with {freedom}");
        }
    }
}
