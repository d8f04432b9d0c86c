//! Picks by leverage-score rejection: the cost of a pick does not depend on m.

use faer::Mat;
use rand::{Rng, RngExt};

use super::alias::AliasTable;
use crate::{
    Features,
    engine::Rows,
    linalg::{
        column,
        kernels::{reflect_and_drop_last, transposed_product},
    },
};

/// Trials are drawn and their rows gathered this many at a time, so that cache misses overlap.
const BATCH: usize = 128;
/// Relative room above computed leverages, for the rounding of the accept test.
const HEADROOM: f64 = 1e-9;

/// Items proposed in proportion to h_i = ‖w_l s_l Fᵀ a_i‖², accepted with probability
/// ‖w_l s_l Bᵀ a_i‖² / h_i, where B are the columns of F not yet used up.
///
/// The law is that of B: h_i only has to bound the numerator, so it is stored as f32, rounded up.
#[derive(Debug)]
pub(crate) struct LeverageTrials<'a> {
    features: &'a Features<'a>,
    alias: AliasTable,
    items: Vec<ItemTable>,
    /// w_l s_l by group.
    row_weights: Vec<f64>,
    /// F, n×r.
    whitener: Mat<f64>,
}

/// What a trial needs to know of an item, side by side: one cache miss.
#[derive(Clone, Copy, Debug, Default)]
struct ItemTable {
    leverage: f32,
    group: u32,
}

#[derive(Debug, Default)]
pub(crate) struct LeverageScratch {
    /// B, column-major.
    basis: Vec<f64>,
    /// Bᵀ a of the current trial; becomes the Householder vector.
    image: Vec<f64>,
    product: Vec<f64>,
    batch: Batch,
}

/// Trials drawn ahead: which items, and their rows scaled so that ‖Bᵀ row‖² is the probability
/// of acceptance.
#[derive(Debug, Default)]
struct Batch {
    words: Vec<u64>,
    weights: Vec<f64>,
    items: Vec<u32>,
    rows: Vec<f64>,
    next: usize,
    touched: f64,
}

impl<'a> LeverageTrials<'a> {
    pub(super) fn new(rows: &Rows<'a>, weights: &[f64], whitener: Mat<f64>, leverages: Vec<f64>) -> Self {
        let bounds: Vec<f32> = leverages.into_iter().map(round_up).collect();
        let alias = AliasTable::new(&bounds);
        let mut items = vec![ItemTable::default(); bounds.len()];
        for (group, members) in (0_u32..).zip(rows.groups()) {
            for position in 0..members.items.len() {
                let item = members.items.at(position);
                items[item] = ItemTable { leverage: bounds[item], group };
            }
        }
        let row_weights =
            rows.groups().iter().zip(weights).map(|(group, weight)| group.scale * weight).collect();
        Self { features: rows.features(), alias, items, row_weights, whitener }
    }

    /// Picks items until the chosen eigenvectors are used up or `keep` refuses one.
    pub(super) fn draw<R: Rng + ?Sized>(
        &self,
        chosen: &[usize],
        rng: &mut R,
        scratch: &mut LeverageScratch,
        picks: &mut Vec<u32>,
        mut keep: impl FnMut(u32) -> bool,
    ) -> bool {
        let dims = self.features.dims();
        let LeverageScratch { basis, image, product, batch } = scratch;
        basis.clear();
        for &j in chosen {
            basis.extend_from_slice(column(self.whitener.as_ref(), j));
        }
        image.resize(chosen.len(), 0.0);
        product.resize(dims, 0.0);
        for left in (1..=chosen.len()).rev() {
            let image = &mut image[..left];
            let (item, norm) = self.accepted_trial(basis, image, batch, rng);
            picks.push(item);
            if !keep(item) {
                return false;
            }
            // Householder: rotate the columns of B so that the last is along Bᵀa, then drop it.
            let last = image[left - 1];
            image[left - 1] += norm.copysign(last);
            let tau = 1.0 / (norm * (norm + last.abs()));
            reflect_and_drop_last(basis, image, tau, product);
        }
        true
    }

    /// Trials until one is accepted: its item and ‖Bᵀ row‖, with Bᵀ row in `image`.
    fn accepted_trial<R: Rng + ?Sized>(
        &self,
        basis: &[f64],
        image: &mut [f64],
        batch: &mut Batch,
        rng: &mut R,
    ) -> (u32, f64) {
        let dims = self.features.dims();
        loop {
            if batch.next == batch.items.len() {
                self.refill(batch, rng);
            }
            let trial = batch.next;
            batch.next += 1;
            let acceptance = transposed_product(basis, &batch.rows[trial * dims..(trial + 1) * dims], image);
            debug_assert!(acceptance <= 1.0 + 1e-6, "a leverage does not bound its numerator: {acceptance}");
            if rng.random::<f64>() < acceptance {
                return (batch.items[trial], acceptance.sqrt());
            }
        }
    }

    /// Trials do not depend on B, so they are drawn ahead; unused ones serve the next proposal.
    fn refill<R: Rng + ?Sized>(&self, batch: &mut Batch, rng: &mut R) {
        let dims = self.features.dims();
        batch.words.clear();
        batch.words.extend((0..BATCH).map(|_| rng.next_u64()));
        self.alias.look_up(&batch.words, &mut batch.items);
        batch.rows.resize(BATCH * dims, 0.0);
        // Short independent loads first, so that many misses are in flight; then the copies hit.
        batch.weights.clear();
        batch.weights.extend(batch.items.iter().map(|&item| {
            let ItemTable { leverage, group } = self.items[item as usize];
            self.row_weights[group as usize] / f64::from(leverage).sqrt()
        }));
        batch.touched = self.features.touch_rows(&batch.items);
        for ((&item, &weight), row) in
            batch.items.iter().zip(&batch.weights).zip(batch.rows.chunks_exact_mut(dims))
        {
            self.features.read_row(item as usize, weight, row);
        }
        batch.next = 0;
    }
}

/// An f32 at or above x (0 for 0).
fn round_up(x: f64) -> f32 {
    let x = x * (1.0 + HEADROOM);
    #[expect(clippy::cast_possible_truncation, reason = "rounded up below")]
    let near = x as f32;
    if f64::from(near) < x { near.next_up() } else { near }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_up() {
        for x in [0.0, 1e-60, 1e-45, 1e-40, 0.1, 0.5, 1.0, 1.0 / 3.0] {
            assert!(f64::from(round_up(x)) >= x);
            assert!(f64::from(round_up(x)) <= x * (1.0 + 2e-7) + 2e-45);
        }
        assert_eq!(round_up(0.0).to_bits(), 0);
    }
}
