//! The k-DPP of a part by independent picks.

use faer::MatRef;

use super::{
    candidate::{log_factorial, running_sums},
    chance::Chance,
    elementary::ElementaryTable,
    item_table::ItemTable,
    rows::{RowScratch, WhitenedRows},
    whitening::clipped,
};
use crate::{
    Result,
    engine::Items,
    linalg::{span::Span, thinning::Thinning},
};

/// The most heavy directions of a part.
const MOST: usize = 8;

/// κ picks in proportion to ‖t_i‖², where t_i = B^-½ v_i, accepted against det(V_S V_Sᵀ) under Hadamard's bound:
///
/// ```text
/// Pr(accept) = det(QᵀBQ) / Π_{j≤κ} β_j · Π ‖P t_i‖² / ‖t_i‖²,   on average e_κ(Ĝ) κ! / (Π β_j · tr(B⁻¹Ĝ)^κ)
/// ```
///
/// B thins out the heaviest directions of the part, such as its mean.
#[derive(Debug)]
pub(super) struct PartPicks {
    table: ItemTable,
    thinning: Thinning,
    /// ln Π_{j≤t} β_j.
    log_products: Vec<f64>,
    /// The average of Pr(accept).
    pub(super) acceptance: f64,
}

/// The predicted acceptance and cost of a part's picks.
#[derive(Clone, Debug)]
pub(super) struct Prediction {
    beta: Vec<f64>,
    acceptance: f64,
    /// Operations per draw, over all its proposals.
    pub(super) operations: f64,
}

impl Prediction {
    /// The best number of heavy directions for κ picks, given the eigenvalues of Ĝ and `read` operations per row
    /// read.
    pub(super) fn best(values: &[f64], count: usize, read: f64) -> Self {
        let rank = values.len() as f64;
        let log_e = ElementaryTable::new(values, count).log(usize::MAX, count);
        let of = |q: usize| {
            let beta = clipped(values, q);
            let trace: f64 = values.iter().zip(&beta).map(|(value, beta)| value / beta).sum();
            let product: f64 = beta.iter().take(count).map(|beta| beta.ln()).sum();
            let acceptance = (log_e + log_factorial(count) - product - count as f64 * trace.ln()).exp();
            let pick = read + 4.0 * rank * q as f64 + rank * count as f64;
            let operations = (count as f64 * pick + (q * q) as f64 * rank + 1000.0) / acceptance;
            Self { beta, acceptance, operations }
        };
        let all = (0..MOST.min(values.len())).map(of);
        let better = |a: &Self, b: &Self| a.operations.total_cmp(&b.operations);
        all.min_by(better).unwrap_or(Self { beta: Vec::new(), acceptance: 0.0, operations: f64::INFINITY })
    }
}

/// Buffers of one draw.
#[derive(Debug, Default)]
pub(crate) struct PickScratch {
    span: Span,
    positions: Vec<u32>,
    row: Vec<f64>,
    scratch: RowScratch,
    along: Vec<f64>,
}

impl PartPicks {
    /// `vectors` are the eigenvectors of Ĝ in the coordinates of the rows of the group.
    pub(super) fn new(
        rows: &WhitenedRows,
        (group, items): (usize, Items<'_>),
        vectors: MatRef<'_, f64>,
        prediction: &Prediction,
    ) -> Result<Self> {
        let thinning = Thinning::new(vectors, &prediction.beta);
        let squares = rows.map_group(group, items.len(), |row, along| {
            thinning.apply(row, along);
            crate::linalg::kernels::dot(row, row)
        });
        let table = ItemTable::new(items, &squares)?;
        let log_products = running_sums(prediction.beta.iter().map(|beta| beta.ln()));
        Ok(Self { table, thinning, log_products, acceptance: prediction.acceptance })
    }

    /// Makes one proposal of `count` items; returns whether it is accepted.
    pub(super) fn propose(
        &self,
        (rows, group): (&WhitenedRows, usize),
        count: usize,
        chance: &mut impl Chance,
        scratch: &mut PickScratch,
        items: &mut Vec<u32>,
    ) -> bool {
        let PickScratch { span, positions, row, scratch: raw, along } = scratch;
        span.clear();
        positions.clear();
        chance.picks(&self.table, count, positions);
        positions.iter().for_each(|&position| rows.prefetch(group, position));
        row.resize(rows.rank(), 0.0);
        for (picked, &position) in positions.iter().enumerate() {
            if positions[..picked].contains(&position) {
                return false;
            }
            rows.read(group, position, raw, row);
            self.thinning.apply(row, along);
            let distance = span.distance(row);
            if !chance.coin(distance / self.table.weight(position)) {
                return false;
            }
            span.extend(row, distance);
        }
        let log = self.thinning.log_det(span) - self.log_products[count];
        if log < 0.0 && !chance.coin(log.exp()) {
            return false;
        }
        items.extend(positions.iter().map(|&position| self.table.item(position)));
        true
    }
}
