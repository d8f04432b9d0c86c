//! The items that moves propose, with probabilities close to their inclusion probabilities.

use faer::{Mat, MatRef};
use rand::Rng;

use crate::{
    Result,
    engine::proposals::alias::AliasTable,
    engine::{Engine, Items, Rows},
    linalg::square_root,
    model::FreeItems,
};

/// The share of proposals that are uniform over the part, so that no item is proposed too rarely.
const UNIFORM: f64 = 0.1;

/// An item that may enter, with the logarithm of its proposal weight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) item: u32,
    pub(super) log_weight: f64,
}

/// The items of one part: item j is proposed with probability
///
/// ```text
/// q_j ∝ 0.9 π_j / (mean π) + 0.1
/// ```
///
/// where π_j is its inclusion probability in the tilted k-DPP.
#[derive(Debug)]
pub(super) struct CandidateDistribution {
    table: AliasTable,
}

impl CandidateDistribution {
    /// One distribution for each group of rows; `factor` is F with π_j ∝ ‖Fᵀ a_j‖² in a group.
    pub(super) fn of_groups(engine: &Engine, rows: &Rows<'_>, factor: Mat<f64>) -> Result<Vec<Self>> {
        let root = square_root(factor);
        let factors: Vec<MatRef<'_, f64>> = vec![root.as_ref(); rows.groups().len()];
        let likely = engine.row_forms(rows, &factors)?;
        let mut left = &likely[..];
        let groups = rows.groups().iter().map(|group| {
            let (own, rest) = left.split_at(group.items.len());
            left = rest;
            Self::new(group.items, own)
        });
        Ok(groups.collect())
    }

    fn new(items: Items<'_>, likely: &[f64]) -> Self {
        let mean = likely.iter().sum::<f64>() / likely.len() as f64;
        let share = if mean > 0.0 { (1.0 - UNIFORM) / mean } else { 0.0 };
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let table = AliasTable::new(items.len(), |at| (items.at(at) as u32, share * likely[at] + UNIFORM));
        Self { table }
    }

    pub(super) fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> Candidate {
        loop {
            let position = self.table.look_up(rng.next_u64());
            if !self.table.is_null(position) {
                return self.at(position);
            }
        }
    }

    fn at(&self, position: u32) -> Candidate {
        Candidate { item: self.table.item(position), log_weight: f64::from(self.table.weight(position)).ln() }
    }

    /// All items with their proposal probabilities.
    pub(super) fn probabilities(&self) -> Vec<(Candidate, f64)> {
        let all: Vec<Candidate> = (0..).take(self.table.len()).map(|position| self.at(position)).collect();
        let total: f64 = all.iter().map(|candidate| candidate.log_weight.exp()).sum();
        all.into_iter().map(|candidate| (candidate, candidate.log_weight.exp() / total)).collect()
    }

    /// The candidate for this item of the group.
    pub(super) fn of_item(&self, group: &FreeItems, item: u32) -> Candidate {
        #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
        let position = Items::from(group).before(item as usize) as u32;
        self.at(position)
    }
}
