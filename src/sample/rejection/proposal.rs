//! One proposal, and whether it is accepted.

use super::{
    Bound, BoundedLaw,
    chance::{Chance, Picks},
    halves::Half,
    outside::Outside,
    rows::RowScratch,
};
use crate::linalg::{residuals::Residuals, span::Span};

/// Buffers of one draw, reused over its proposals.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    pub(super) items: Vec<u32>,
    /// The groups of the items, and the number of items of each.
    pub(super) counts: Vec<(usize, usize)>,
    pub(super) span: Span,
    /// The span of the items of one part.
    pub(super) own: Span,
    pub(super) positions: Vec<u32>,
    /// The current row.
    pub(super) row: Vec<f64>,
    pub(super) scratch: RowScratch,
    /// The rows of candidates; `outside_span` holds their residuals outside the span.
    pub(super) rows: Vec<f64>,
    pub(super) outside_span: Residuals,
    outside: Outside,
    pub(super) halves: Half,
    /// Σ ‖v‖² / ‖P v‖² over the items picked one by one.
    pub(super) amplification: f64,
    /// The relative variances of the candidates' squared residuals outside the span, summed over all picks.
    pub(super) spread: f64,
}

impl Buffers {
    pub(super) fn clear(&mut self, rank: usize) {
        self.items.clear();
        self.counts.clear();
        self.span.clear();
        self.outside.clear();
        self.amplification = 0.0;
        self.spread = 0.0;
        self.row.resize(rank, 0.0);
    }
}

impl BoundedLaw {
    /// Draws a proposal into `buffers.items`; returns whether it is accepted.
    ///
    /// Proposals end as soon as a factor of the acceptance rejects them. A factor may exceed 1 by rounding.
    pub(super) fn propose(&self, chance: &mut impl Chance, buffers: &mut Buffers) -> bool {
        buffers.clear(self.rows.rank());
        let admitted = match &self.halves {
            Some(halves) => self.both_halves(halves, chance, buffers),
            None => self.by_parts(chance, buffers),
        };
        if !admitted {
            return false;
        }
        let of_span = self.log_det_of_span(&buffers.span) - self.log_products[buffers.items.len()];
        let log = of_span + self.log_of_fill(&buffers.items);
        log >= 0.0 || chance.coin(log.exp())
    }

    /// Proposes one part after another.
    fn by_parts(&self, chance: &mut impl Chance, buffers: &mut Buffers) -> bool {
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
        true
    }

    /// Draws independent items, accepted against the volume that they add:
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

    /// Draws one item after another in proportion to ‖P_t v_i‖², accepted with probability
    ///
    /// ```text
    /// Π tr(P_t Ĝ_l) / S_{r−t}(Ĝ_l)
    /// ```
    ///
    /// or as `admit` decides from the trace after t items.
    pub(super) fn one_by_one<C: Picks>(
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
        for picked in 1..=count {
            if !admit(chance, outside.trace(), span.size()) {
                return false;
            }
            let (mut distance, mut last) = (0.0, None);
            let kept = chance.kept(table, |position| {
                if items.contains(&table.item(position)) {
                    return 0.0;
                }
                self.rows.read(group, position, scratch, row);
                (distance, last) = (span.distance(row), Some(position));
                distance / table.weight(position)
            });
            let Some(position) = kept else { return false };
            if last != kept {
                self.rows.read(group, position, scratch, row);
                distance = span.distance(row);
            }
            *amplification += table.weight(position) / distance;
            span.extend(row, distance);
            items.push(table.item(position));
            if picked < count {
                outside.leave(span, gram);
            }
        }
        true
    }
}
