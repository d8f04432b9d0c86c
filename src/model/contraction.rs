//! Contraction of parts that span no more dimensions than the quota takes from them.

use super::{Counts, OpenPart, PartKDpp, PartitionDpp};
use crate::{
    Result,
    engine::{Engine, Items},
    linalg::{OrthonormalBasis, kernels::dot},
};

/// The laws of tight parts, and the law of the other parts.
pub(crate) struct Contraction {
    /// The laws of the tight parts.
    pub(crate) parts: Vec<PartKDpp>,
    /// The law of all other parts, in which `basis` is included in place of the choice from the tight parts.
    pub(crate) rest: PartitionDpp,
    /// A basis of the tight parts.
    pub(crate) basis: Vec<usize>,
}

/// The number of rows between checks of the watch.
const CHUNK: usize = 4096;

impl PartitionDpp {
    /// Contracts the parts of rank κ_l. Any κ_l independent items of such a part span all of it, so
    ///
    /// ```text
    /// det(K_S) = det(K_{S∩P_l}) · det of the other rows beyond the span of P_l
    /// ```
    ///
    /// and the choice from the part is independent of the choice from the other parts, which depends only on the
    /// span. That span can be given by any basis of the part. Once these parts are contracted, others may become
    /// tight, so this is repeated until no part is tight. Returns `None` if no part is tight at first.
    ///
    /// Ranks are decided in exact arithmetic.
    ///
    /// # Cost
    /// O(κ_l²n) for a part that is not tight; κ_l passes over the rows for a part that is.
    ///
    /// # Errors
    /// [`Error::Ended`](crate::Error::Ended).
    pub(crate) fn contracted(&self, engine: &Engine) -> Result<Option<Contraction>> {
        // Rows of a factor may be dependent even if rows of its kernel are not.
        if self.ground().given().residual().is_some() || self.count_weights().is_some() {
            return Ok(None);
        }
        let (mut parts, mut basis, mut rest) = (Vec::new(), Vec::new(), self.clone());
        loop {
            let before = basis.len();
            for part in rest.open().iter().filter(|part| part.low == part.high) {
                if let Some((law, own)) = rest.tight(part, engine)? {
                    parts.push(law);
                    basis.extend(own);
                }
            }
            if basis.len() == before {
                break;
            }
            // Items that do not fit narrowed weights stay free.
            let Ok(without) = rest.including(&basis[before..]) else { return Ok(None) };
            rest = without;
        }
        Ok((!parts.is_empty()).then_some(Contraction { parts, rest, basis }))
    }

    /// The law of a part alone and a basis of the part, if it is tight.
    fn tight(&self, part: &OpenPart, engine: &Engine) -> Result<Option<(PartKDpp, Vec<usize>)>> {
        let OpenPart { items, low: count, .. } = part;
        if !self.spans_at_most(part, *count, engine)? {
            return Ok(None);
        }
        engine.proceed()?;
        // The rank of a part is at most the number of dimensions.
        let is_exact =
            *count == self.ground().dims_left() || self.ground().exact_rank_beyond(items.iter()) == *count;
        let counts = Counts::exactly(&[*count]);
        let ground = self.ground().clone().for_choices(std::slice::from_ref(items), &counts);
        let (Ok(ground), true) = (ground, is_exact) else { return Ok(None) };
        let basis = self.basis_within(part, engine)?;
        let law = PartKDpp { ground, items: items.clone(), count: *count };
        Ok((basis.len() == *count).then_some((law, basis)))
    }

    /// Whether the unit rows of a part have no more than `most` directions beyond the included ones.
    fn spans_at_most(&self, part: &OpenPart, most: usize, engine: &Engine) -> Result<bool> {
        let (features, mut span) = (self.ground().features(), self.ground().span());
        let (dims, mut found, mut row) = (self.ground().dims_left(), 0, vec![0.0; features.dims()]);
        for (at, item) in Items::from(&part.items).iter().enumerate() {
            if at % CHUNK == 0 {
                engine.proceed()?;
            }
            features.read_stored(item, 1.0, &mut row);
            let unit = OrthonormalBasis::normalise(&mut row);
            found += usize::from(unit.and_then(|_| span.extend(&row)).is_some());
            if found > most || found == dims {
                break;
            }
        }
        Ok(found <= most)
    }

    /// Items of a tight part whose unit rows are far from dependent: each is the farthest from the span of the
    /// previous ones.
    fn basis_within(&self, part: &OpenPart, engine: &Engine) -> Result<Vec<usize>> {
        let (features, mut span) = (self.ground().features(), self.ground().span());
        let mut row = vec![0.0; features.dims()];
        let mut basis = Vec::new();
        let items = Items::from(&part.items);
        // The squared distance of every unit row from the span of the included items and of the basis so far.
        let mut left = vec![1.0; items.len()];
        let mut taken_off = 0;
        while basis.len() < part.low {
            let mut farthest: (f64, usize) = (0.0, 0);
            for (at, item) in items.iter().enumerate() {
                if at % CHUNK == 0 {
                    engine.proceed()?;
                }
                features.read_stored(item, 1.0, &mut row);
                if OrthonormalBasis::normalise(&mut row).is_none() {
                    continue;
                }
                for direction in taken_off..span.len() {
                    left[at] -= dot(span.direction(direction), &row).powi(2);
                }
                if left[at] > farthest.0 {
                    farthest = (left[at], at);
                }
            }
            taken_off = span.len();
            let item = items.at(farthest.1);
            features.read_stored(item, 1.0, &mut row);
            let unit = OrthonormalBasis::normalise(&mut row);
            if unit.and_then(|_| span.extend(&row)).is_none() {
                break;
            }
            basis.push(item);
        }
        Ok(basis)
    }
}
