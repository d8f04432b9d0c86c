//! The memory of one request, reused by the next.

use super::{SlateRequest, Slates, kernel::padded, proposals::Proposals};
use crate::{
    Error, Result,
    data::LARGEST_LOG,
    error::WeightProblem,
    linalg::{power_of_two_near, span::Span},
};

/// The memory of [`Slates`].
#[derive(Clone, Debug, Default)]
pub struct SlateWorkspace {
    /// The included items, then the picks.
    pub(super) items: Vec<u32>,
    /// Items that may not be chosen, ascending.
    barred: Vec<u32>,
    pub(super) candidates: Vec<Candidate>,
    /// Rows of the candidates, padded with zeros.
    pub(super) rows: Vec<f32>,
    /// ‖a_i‖² of the candidates.
    pub(super) squares: Vec<f32>,
    /// ‖P a_i‖² of the candidates, where P projects off the picks.
    pub(super) left: Vec<f32>,
    /// e^(2 ln q_i) in units of the largest; 0 for candidates that are out.
    pub(super) weights: Vec<f32>,
    /// Directions of the picks, in f64.
    pub(super) span: Span,
    /// The last direction in f32, padded.
    pub(super) direction: Vec<f32>,
    /// Rows of the picks, for a window.
    pub(super) picked_rows: Vec<f64>,
    pub(super) row: Vec<f64>,
    /// Positions of candidates that may be best.
    pub(super) close: Vec<u32>,
    /// Per part.
    pub(super) counts: Vec<usize>,
    pub(super) available: Vec<usize>,
    pub(super) is_open: Vec<bool>,
    /// For samples.
    pub(super) proposals: Proposals,
}

/// A row that may be picked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) item: u32,
    pub(super) part: u32,
    /// The factor that the row is multiplied by.
    pub(super) scale: f64,
    /// 2 ln q_i less the contribution of `scale`. It is relative to the largest 2 ln q_i once rows are gathered.
    pub(super) log_weight: f64,
    /// The part of 2 ln q_i that comes from the score.
    pub(super) log_quality: f64,
    pub(super) is_out: bool,
}

impl SlateWorkspace {
    /// Reads a request without the rows of its candidates.
    pub(super) fn read(&mut self, slates: &Slates, request: SlateRequest<'_>) -> Result<()> {
        let SlateRequest { candidates, scores, included, excluded } = request;
        let items = slates.features.items();
        if let Some(&item) =
            candidates.iter().chain(included).chain(excluded).find(|&&item| item as usize >= items)
        {
            return Err(Error::ItemOutOfRange { item: item as usize, items });
        }
        let (expected, found) = (candidates.len(), scores.len());
        if found > 0 && found != expected {
            return Err(Error::Shape { what: "the list of scores", expected, found });
        }
        if let Some(at) = scores.iter().position(|score| !score.is_finite()) {
            let (item, value) = (candidates[at] as usize, scores[at].into());
            return Err(WeightProblem::NotFinite { item, value }.into());
        }
        self.items.clear();
        self.items.extend_from_slice(included);
        self.bar(included, excluded)?;
        self.candidates.clear();
        let barred = &self.barred;
        self.candidates.extend(candidates.iter().enumerate().map(|(at, &item)| {
            let log_quality = slates.worth * scores.get(at).map_or(0.0, |&score| f64::from(score));
            Candidate {
                item,
                part: slates.partition.part_of_items()[item as usize],
                scale: slates.scale,
                log_weight: 2.0 * slates.features.log_weight(item as usize) + log_quality,
                log_quality,
                is_out: barred.binary_search(&item).is_ok(),
            }
        }));
        // The weights of candidates are squared.
        match self.candidates.iter().find(|candidate| candidate.log_weight.abs() > 2.0 * LARGEST_LOG) {
            Some(&Candidate { item, log_weight, .. }) => {
                Err(WeightProblem::TooLarge { item: item as usize, value: 0.5 * log_weight }.into())
            }
            None => Ok(()),
        }
    }

    /// Sorts the items that may not be chosen.
    fn bar(&mut self, included: &[u32], excluded: &[u32]) -> Result<()> {
        self.barred.clear();
        self.barred.extend_from_slice(included);
        self.barred.sort_unstable();
        if let Some(pair) = self.barred.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::RepeatedItem { item: pair[0] as usize });
        }
        if let Some(&item) = excluded.iter().find(|item| self.barred.binary_search(item).is_ok()) {
            return Err(Error::IncludedAndExcluded { item: item as usize });
        }
        if !excluded.is_empty() {
            self.barred.extend_from_slice(excluded);
            self.barred.sort_unstable();
        }
        Ok(())
    }

    /// Counts the included items and the candidates, and checks that the quota can be met.
    pub(super) fn count(&mut self, slates: &Slates) -> Result<()> {
        let (partition, quota) = (&slates.partition, &slates.quota);
        for counts in [&mut self.counts, &mut self.available] {
            counts.clear();
            counts.resize(partition.parts(), 0);
        }
        for &item in &self.items {
            self.counts[partition.part_of(item as usize)] += 1;
        }
        for candidate in self.candidates.iter().filter(|candidate| !candidate.is_out) {
            self.available[candidate.part as usize] += 1;
        }
        let name = |part: usize| partition.names()[part].clone();
        let (mut least, mut most, mut all) = (0, 0, 0);
        for part in 0..partition.parts() {
            let (low, high) = (quota.low()[part], quota.high()[part]);
            let (included, size) = (self.counts[part], self.counts[part] + self.available[part]);
            if included > high {
                return Err(Error::QuotaBelowIncluded { part: name(part), quota: high, included });
            }
            if low > size {
                return Err(Error::QuotaAbovePartSize { part: name(part), quota: low, size });
            }
            least += low.max(included);
            most += high.min(size);
            all += size;
        }
        let (total, included) = (slates.size, self.items.len());
        if included > total {
            return Err(Error::SizeBelowIncluded { k: total, included });
        }
        if total > all {
            return Err(Error::SizeAboveItems { k: total, items: all });
        }
        if !(least..=most).contains(&total) {
            return Err(Error::TotalOutsideRanges { total, low: least, high: most });
        }
        Ok(())
    }

    /// Lists the candidates that may be drawn, each once, and counts them.
    pub(super) fn list(&mut self, slates: &Slates) -> Result<()> {
        self.proposals.list(&mut self.candidates);
        self.count(slates)
    }

    /// Reads the rows of the candidates.
    pub(super) fn gather(&mut self, slates: &Slates) {
        /// The number of rows that are fetched ahead.
        const AHEAD: usize = 8;
        let (features, width) = (&slates.features, padded(slates.features.dims()));
        self.rows.resize(self.candidates.len() * width, 0.0);
        self.squares.clear();
        // Next to large weights, the logarithms of lengths would keep few digits.
        let largest = self.largest_log_weight();
        self.candidates.iter_mut().for_each(|candidate| candidate.log_weight -= largest);
        for (at, row) in self.rows.chunks_exact_mut(width).enumerate().take(self.candidates.len()) {
            if let Some(later) = self.candidates.get(at + AHEAD) {
                features.prefetch_row(later.item as usize);
            }
            self.squares.push(self.candidates[at].read_narrow(slates, row));
        }
        let largest = self.largest_log_weight();
        self.weights.clear();
        #[expect(clippy::cast_possible_truncation, reason = "rounding is meant")]
        let weight = |candidate: &Candidate| {
            if candidate.is_out { 0.0 } else { (candidate.log_weight - largest).exp() as f32 }
        };
        self.weights.extend(self.candidates.iter().map(weight));
        self.left.clear();
        self.left.extend_from_slice(&self.squares);
        self.span.clear();
        self.picked_rows.clear();
    }

    /// Prepares known picks, for which only their own rows are read.
    pub(super) fn begin_without_rows(&mut self) {
        [&mut self.rows, &mut self.squares, &mut self.left].into_iter().for_each(Vec::clear);
        self.weights.resize(self.candidates.len(), 0.0);
        self.span.clear();
        self.picked_rows.clear();
    }

    /// Gives a candidate the scale that it has if all rows are read.
    pub(super) fn scale_alone(&mut self, position: usize, slates: &Slates) {
        self.direction.resize(padded(slates.features.dims()), 0.0);
        self.candidates[position].read_narrow(slates, &mut self.direction);
    }

    /// The largest 2 ln q_i of the candidates that may be chosen.
    pub(super) fn largest_log_weight(&self) -> f64 {
        let open = self.candidates.iter().filter(|candidate| !candidate.is_out);
        open.map(|candidate| candidate.log_weight).fold(f64::NEG_INFINITY, f64::max)
    }
}

impl Candidate {
    /// Reads the row, with a separate scale if f32 needs one; returns its squared length.
    fn read_narrow(&mut self, slates: &Slates, row: &mut [f32]) -> f32 {
        /// Squared lengths that f32 holds with all their digits, also in products with weights.
        const SQUARES: std::ops::RangeInclusive<f32> = 1e-12..=1e12;
        let (features, item) = (&slates.features, self.item as usize);
        let square = features.read_narrow(item, slates.scale, row);
        if SQUARES.contains(&square) {
            return square;
        }
        self.rescale(slates);
        features.read_narrow(item, self.scale, row)
    }

    /// Gives a row that is far longer or shorter than others a separate scale.
    pub(super) fn rescale(&mut self, slates: &Slates) {
        let largest = power_of_two_near(slates.features.max_abs_of_stored(self.item as usize));
        if largest > 0.0 {
            self.log_weight += 2.0 * (self.scale.ln() + largest.ln());
            self.scale = largest.recip();
        }
    }
}
