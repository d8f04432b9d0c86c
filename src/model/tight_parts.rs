//! Parts that span no more than the quota asks of them.

use super::{Counts, FreeItems, OpenPart, PartKDpp, PartitionDpp};
use crate::engine::Items;

/// A tight part by itself, and what is left when it is chosen.
pub(crate) struct Contraction<'a> {
    /// Its law.
    pub(crate) part: PartKDpp<'a>,
    /// The law of all others, in which `basis` is included for the choice from the part.
    pub(crate) rest: PartitionDpp<'a>,
    /// Some independent items of the part.
    pub(crate) basis: Vec<usize>,
}

impl<'a> PartitionDpp<'a> {
    /// Contracts the first part of rank κ_l: whatever is chosen of it spans all of it, so that
    ///
    /// ```text
    /// det(K_S) = det(K_{S∩P_l}) · det of the other rows beyond the span of P_l
    /// ```
    ///
    /// and the choice from the part is independent of that from the others, which is as given any basis of the part.
    ///
    /// The rank is decided in exact arithmetic. `None` if no part is tight.
    ///
    /// # Cost
    /// O(κ_l²n) for a part that is not tight; one pass over the rows of one that is.
    pub(crate) fn contracted(&self) -> Option<Contraction<'a>> {
        // Rows of a factor may be dependent where those of its kernel are not.
        let is_factor = self.ground().given().residual().is_some();
        if is_factor || self.count_weights().is_some() {
            return None;
        }
        let exact = self.open().iter().filter(|part| part.low == part.high);
        exact.into_iter().find_map(|part| self.contraction_of(part))
    }

    fn contraction_of(&self, OpenPart { items, low: count, .. }: &OpenPart) -> Option<Contraction<'a>> {
        let basis = self.basis_within(items, *count)?;
        if self.ground().exact_rank_beyond(items.iter()) != *count {
            return None;
        }
        let ground = self
            .ground()
            .clone()
            .for_choices(std::slice::from_ref(items), &Counts::exactly(&[*count]))
            .ok()?;
        let part = PartKDpp { ground, items: items.clone(), count: *count };
        let rest = self.clone().including(&basis).ok()?;
        Some(Contraction { part, rest, basis })
    }

    /// Independent items that span the others beyond the included ones, if there are only so many of them.
    fn basis_within(&self, items: &FreeItems, most: usize) -> Option<Vec<usize>> {
        let (features, mut span) = (self.ground().features(), self.ground().span());
        let (mut basis, mut row) = (Vec::new(), vec![0.0; features.dims()]);
        for item in Items::from(items).iter() {
            features.read_stored(item, 1.0, &mut row);
            let unit = crate::linalg::OrthonormalBasis::normalise(&mut row);
            if unit.and_then(|_| span.extend(&row)).is_some() {
                basis.push(item);
            }
            if basis.len() > most {
                return None;
            }
        }
        Some(basis)
    }
}
