//! One proposal, and whether it is accepted.

use super::{
    Bound, BoundedLaw, candidate::log_factorial, chance::Chance, outside::Outside, rows::RowScratch,
    span::Span,
};

/// Buffers of one draw, reused over its proposals.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    pub(super) items: Vec<u32>,
    pub(super) span: Span,
    /// The span of the items of one part.
    pub(super) own: Span,
    positions: Vec<u32>,
    /// The row at hand.
    pub(super) row: Vec<f64>,
    pub(super) scratch: RowScratch,
    outside: Outside,
    /// Σ ‖v‖² / ‖P v‖² over the items picked one by one.
    pub(super) amplification: f64,
}

impl Buffers {
    fn clear(&mut self, rank: usize) {
        self.items.clear();
        self.span.clear();
        self.outside.clear();
        self.amplification = 0.0;
        self.row.resize(rank, 0.0);
    }
}

impl BoundedLaw<'_> {
    /// Draws a proposal into `buffers.items`; whether it is accepted.
    ///
    /// Proposals end as soon as a factor of the acceptance rejects them. A factor may exceed 1 by rounding.
    pub(super) fn propose(&self, chance: &mut impl Chance, buffers: &mut Buffers) -> bool {
        buffers.clear(self.rows.rank());
        let mut t = 0;
        for (place, &group) in self.counts.order().iter().enumerate() {
            let count = match self.counts.only(place, t) {
                Some(count) => count,
                None => chance.choose(self.counts.probabilities(place, t)),
            };
            let admitted = match (self.bound, &self.parts[group]) {
                (Bound::Sequential, _) | (Bound::Block, None) => {
                    let largest = &self.largest[group];
                    self.one_by_one(group, count, chance, buffers, |chance, trace, t| {
                        chance.coin(trace / largest[t])
                    })
                }
                (Bound::Block, Some(law)) if t > 0 => self.block(group, law, count, chance, buffers),
                (_, Some(law)) => self.by_part(group, law, count, chance, buffers),
                (_, None) => self.at_once(group, count, chance, buffers),
            };
            if !admitted {
                return false;
            }
            t += count;
        }
        let of_span = self.log_det_of_span(&buffers.span) - self.log_products[t];
        let log = of_span + self.log_of_fill(&buffers.items);
        log >= 0.0 || chance.coin(log.exp())
    }

    /// ln of the weight of one sequential draw, whose items are in the buffers.
    pub(super) fn log_weight(&self, chance: &mut impl Chance, buffers: &mut Buffers) -> f64 {
        buffers.clear(self.rows.rank());
        let (mut t, mut log) = (0, 0.0);
        for (place, &group) in self.counts.order().iter().enumerate() {
            let count = if let Some(count) = self.counts.only(place, t) {
                count
            } else {
                let count = chance.choose(self.counts.probabilities(place, t));
                let chosen = self.counts.probabilities(place, t).find(|(other, _)| *other == count);
                log -= chosen.map_or(f64::INFINITY, |(_, p)| p.ln());
                count
            };
            let complete = self.one_by_one(group, count, chance, buffers, |_, trace, _| {
                log += trace.max(0.0).ln();
                trace > 0.0
            });
            if !complete {
                return f64::NEG_INFINITY;
            }
            log += self.correction.log_factor(group, count) - log_factorial(count);
            t += count;
        }
        log + self.log_det_of_span(&buffers.span) + self.log_of_fill(&buffers.items)
    }

    /// Independent items, accepted against the volume that they add:
    ///
    /// ```text
    /// Π ‖P_t v_i‖² / ‖v_i‖²
    /// ```
    fn at_once(&self, group: usize, count: usize, chance: &mut impl Chance, buffers: &mut Buffers) -> bool {
        let Buffers { items, span, positions, row, scratch, .. } = buffers;
        let table = self.rows.table(group);
        positions.clear();
        chance.picks(table, count, positions);
        for &position in &*positions {
            self.rows.prefetch(group, position);
        }
        for &position in &*positions {
            let item = table.item(position);
            // The residual of a picked row is a rounding error: its probability is zero.
            if items.contains(&item) {
                return false;
            }
            self.rows.read(group, position, scratch, row);
            let distance = span.distance(row);
            if !chance.coin(distance / table.weight(position)) {
                return false;
            }
            span.extend(row, distance);
            items.push(item);
        }
        true
    }

    /// One item after another in proportion to ‖P_t v_i‖², accepted with probability
    ///
    /// ```text
    /// Π tr(P_t Ĝ_l) / S_{r−t}(Ĝ_l)
    /// ```
    ///
    /// `admit` decides on the trace after t items.
    fn one_by_one<C: Chance>(
        &self,
        group: usize,
        count: usize,
        chance: &mut C,
        buffers: &mut Buffers,
        mut admit: impl FnMut(&mut C, f64, usize) -> bool,
    ) -> bool {
        let Buffers { items, span, row, scratch, outside, amplification, .. } = buffers;
        let (table, gram) = (self.rows.table(group), &self.grams[group]);
        if count > 0 {
            outside.enter(span, gram);
        }
        for _ in 0..count {
            if !admit(chance, outside.trace(), span.size()) {
                return false;
            }
            let (mut distance, mut last) = (0.0, None);
            let picked = chance.kept(table, outside.trace() / self.totals[group], |position| {
                if items.contains(&table.item(position)) {
                    return 0.0;
                }
                self.rows.read(group, position, scratch, row);
                (distance, last) = (span.distance(row), Some(position));
                distance / table.weight(position)
            });
            let Some(position) = picked else { return false };
            if last != picked {
                self.rows.read(group, position, scratch, row);
                distance = span.distance(row);
            }
            *amplification += table.weight(position) / distance;
            span.extend(row, distance);
            items.push(table.item(position));
            outside.leave(span, gram);
        }
        true
    }
}
