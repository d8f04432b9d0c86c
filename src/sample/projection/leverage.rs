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

/// A trial's alias entry is asked for 3·LAG trials ahead, its item 2·LAG, its row LAG: memory answers
/// while earlier trials are computed.
const LAG: usize = 8;
/// Trials on their way at a time; a power of two above 3·LAG.
const RING: usize = 32;
/// Relative room above computed leverages, for the rounding of the accept test.
const HEADROOM: f64 = 1e-9;

/// Items proposed in proportion to h_i = ‖w_l s_l Fᵀ a_i‖², accepted with probability
/// ‖w_l s_l Bᵀ a_i‖² / h_i, where B are the columns of F not yet used up.
///
/// The law is that of B: h_i only has to bound the numerator, so it is stored as f32, rounded up.
#[derive(Debug)]
pub(crate) struct LeverageTrials<'a> {
    features: Features<'a>,
    trials: AliasTable<Trial>,
    /// w_l s_l by group.
    row_weights: Vec<f64>,
    /// F, n×r.
    whitener: Mat<f64>,
}

/// What a trial needs to know of its item.
#[derive(Clone, Copy, Debug)]
struct Trial {
    leverage: f32,
    group: u32,
    item: u32,
}

#[derive(Debug, Default)]
pub(crate) struct LeverageScratch {
    /// B, column-major.
    basis: Vec<f64>,
    /// Bᵀ a of the current trial; becomes the Householder vector.
    image: Vec<f64>,
    product: Vec<f64>,
    pipeline: Pipeline,
}

/// Trials on their way: words drawn, items looked up, rows asked for.
///
/// Trial t of a draw is at position t mod [`RING`]. Which items are tried does not depend on what
/// is accepted, so they are drawn ahead, and serve the next proposal of the same draw.
#[derive(Debug)]
struct Pipeline {
    words: [u64; RING],
    /// Positions in the table of trials.
    trials: [u32; RING],
    next: usize,
    /// The row of the current trial, scaled so that ‖Bᵀ row‖² is its probability of acceptance.
    row: Vec<f64>,
}

impl Default for Pipeline {
    fn default() -> Self {
        Self { words: [0; RING], trials: [0; RING], next: 0, row: Vec::new() }
    }
}

impl<'a> LeverageTrials<'a> {
    pub(super) fn new(
        features: &Features<'a>,
        rows: &Rows<'_>,
        weights: &[f64],
        whitener: Mat<f64>,
        leverages: Vec<f64>,
    ) -> Self {
        let bounds: Vec<f32> = leverages.into_iter().map(round_up).collect();
        #[expect(clippy::cast_possible_truncation, reason = "items and parts are counted in 32 bits")]
        let trial = |((item, group), &leverage)| Trial { leverage, group: group as u32, item: item as u32 };
        let trials = AliasTable::new(&bounds, rows.iter().zip(&bounds).map(trial));
        let row_weights =
            rows.groups().iter().zip(weights).map(|(group, weight)| group.scale * weight).collect();
        Self { features: features.clone(), trials, row_weights, whitener }
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
        let LeverageScratch { basis, image, product, pipeline } = scratch;
        basis.clear();
        for &j in chosen {
            basis.extend_from_slice(column(self.whitener.as_ref(), j));
        }
        image.resize(chosen.len(), 0.0);
        product.resize(dims, 0.0);
        for left in (1..=chosen.len()).rev() {
            let image = &mut image[..left];
            let (item, norm) = self.accepted_trial(basis, image, picks, pipeline, rng);
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
        picked: &[u32],
        pipeline: &mut Pipeline,
        rng: &mut R,
    ) -> (u32, f64) {
        loop {
            let item = self.next_trial(pipeline, rng);
            let acceptance = transposed_product(basis, &pipeline.row, image);
            // What a picked row has left is rounding: it has probability zero.
            if rng.random::<f64>() < acceptance && !picked.contains(&item) {
                return (item, acceptance.sqrt());
            }
        }
    }

    /// The item of the next trial, with its row in the pipeline; later trials move up.
    fn next_trial<R: Rng + ?Sized>(&self, pipeline: &mut Pipeline, rng: &mut R) -> u32 {
        let now = pipeline.next;
        if now == 0 {
            pipeline.row.resize(self.features.dims(), 0.0);
            (0..3 * LAG).for_each(|trial| self.draw_word(trial, pipeline, rng));
            (0..2 * LAG).for_each(|trial| self.look_up(trial, pipeline));
            (0..LAG).for_each(|trial| self.prefetch_row(trial, pipeline));
        }
        self.draw_word(now + 3 * LAG, pipeline, rng);
        self.look_up(now + 2 * LAG, pipeline);
        self.prefetch_row(now + LAG, pipeline);
        pipeline.next += 1;
        let Trial { leverage, group, item } = self.trials.payload(pipeline.trials[now % RING]);
        let weight = self.row_weights[group as usize] / f64::from(leverage).sqrt();
        self.features.read_row(item as usize, weight, &mut pipeline.row);
        item
    }

    fn draw_word<R: Rng + ?Sized>(&self, at: usize, pipeline: &mut Pipeline, rng: &mut R) {
        let word = rng.next_u64();
        pipeline.words[at % RING] = word;
        self.trials.prefetch(word);
    }

    fn look_up(&self, at: usize, pipeline: &mut Pipeline) {
        let trial = self.trials.look_up(pipeline.words[at % RING]);
        pipeline.trials[at % RING] = trial;
        self.trials.prefetch_payload(trial);
    }

    fn prefetch_row(&self, at: usize, pipeline: &Pipeline) {
        let trial = self.trials.payload(pipeline.trials[at % RING]);
        self.features.prefetch_row(trial.item as usize);
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
