//! Proposals from the k-DPPs of the parts.

use super::{
    BoundedLaw,
    chance::{Chance, Of},
    outside,
    part_law::PartLaw,
    proposal::Buffers,
};

impl BoundedLaw {
    /// Proposes a set S_l from the k-DPP of the group, accepted against the volume that it adds:
    ///
    /// ```text
    /// vol²(P_t S_l) / vol²(S_l)
    /// ```
    pub(super) fn by_part(
        &self,
        group: usize,
        law: &PartLaw,
        count: usize,
        chance: &mut impl Chance,
        buffers: &mut Buffers,
    ) -> bool {
        if count == 0 {
            return true;
        }
        let (start, t) = (buffers.items.len(), buffers.span.size());
        if !chance.subset(Of { rows: &self.rows, group, law }, count, &mut buffers.items) {
            return false;
        }
        let set = buffers.items.split_off(start);
        let ratio = self.volume_ratio(group, &set, t, buffers);
        buffers.items.extend_from_slice(&set);
        chance.coin(ratio)
    }

    /// Proposes a set from the k-DPP of the group's residuals outside the span, accepted with probability
    ///
    /// ```text
    /// e_κ(P_t Ĝ_l P_t) / e_κ(λ_1 … λ_{r−t}(Ĝ_l))
    /// ```
    pub(super) fn block(
        &self,
        group: usize,
        law: &PartLaw,
        count: usize,
        chance: &mut impl Chance,
        buffers: &mut Buffers,
    ) -> bool {
        if count == 0 {
            return true;
        }
        let t = buffers.span.size();
        let outside = outside::log_symmetric(&buffers.span, &self.grams[group], count);
        let symmetric = &self.symmetric[group];
        if !chance.coin((outside - symmetric.log(self.rows.rank() - t, count)).exp()) {
            return false;
        }
        let size = (count, (outside - symmetric.log(usize::MAX, count)).exp());
        let mut set = Vec::new();
        let keep = |set: &[u32]| self.volume_ratio(group, set, t, buffers);
        let drawn = chance.kept_subset(Of { rows: &self.rows, group, law }, size, &mut set, keep);
        if drawn {
            self.volume_ratio(group, &set, t, buffers);
            buffers.items.extend_from_slice(&set);
        }
        drawn
    }

    /// vol²(P_t S) / vol²(S) after t items; adds the items to the span.
    fn volume_ratio(&self, group: usize, set: &[u32], t: usize, buffers: &mut Buffers) -> f64 {
        let Buffers { span, own, row, scratch, .. } = buffers;
        span.truncate(t, self.rows.rank());
        own.clear();
        let mut ratio = 1.0;
        for &item in set {
            self.rows.read_item(group, item, scratch, row);
            let (distance, alone) = (span.distance(row), own.distance(row));
            if distance <= 0.0 || alone <= 0.0 {
                return 0.0;
            }
            ratio *= distance / alone;
            span.extend(row, distance);
            own.extend(row, alone);
        }
        if t == 0 { 1.0 } else { ratio }
    }
}
