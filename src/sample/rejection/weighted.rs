//! Sequential draws with weights.

use std::{
    ops::Range,
    sync::{Arc, OnceLock},
};

use faer::{Mat, MatRef};
use rand::Rng;

use super::{
    BoundedLaw, BoundedScratch, RejectionSetup,
    candidate::{log_factorial, typical},
    candidates::Lookahead,
    chance::{Drawn, Picks},
    choice::{self, operations_with_candidates},
    count_law::CountLaw,
    one_by_one::Given,
    proposal::Buffers,
    share::scaled,
    whitening,
};
use crate::{
    Result,
    engine::Engine,
    linalg::{column, column_mut, columns, kernels::dot, log_sum},
    model::{Correction, Counts},
    parallel::map_ordered,
    polynomial::{poisson_binomial::poisson_binomial, spectrum::TiltedSpectrum},
    sample::{Projection, stream},
    watch::Step,
};

/// The least probability of a possible count.
const POSSIBLE: f64 = 1e-300;
/// Rows multiplied at a time.
const CHUNK: usize = 1024;
/// The probability that some part draws its count uniformly from its range.
const ANY: f64 = 0.1;

/// Sequential draws in the coordinates in which their weights vary least.
#[derive(Debug)]
pub(in crate::sample) struct WeightedLaw {
    pub(super) law: BoundedLaw,
    /// The tilted Gram matrices in the coordinates of the eigenvectors, computed when first needed: one r²-vector
    /// each.
    grams: OnceLock<Mat<f64>>,
    found: Arc<TiltedSpectrum>,
    /// β_j^½.
    pub(super) roots: Vec<f64>,
    /// U, which together with √y_l maps rows s_l a_i to these coordinates.
    vectors: Mat<f64>,
    /// √y_l.
    tilt: Vec<f64>,
    /// Operations per draw.
    operations: f64,
}

/// The results of one weighted draw.
#[derive(Clone, Copy, Debug)]
pub(in crate::sample) struct Weighed {
    /// ln of the weight, whose mean is the normaliser; −∞ at a dead end.
    pub(in crate::sample) log: f64,
    /// The amplification of rounding errors by nearly dependent items.
    pub(in crate::sample) amplification: f64,
    /// The variance that estimated traces add to ln w, times the candidates per pick.
    pub(super) spread: f64,
    /// [`BoundedLaw::log_above`] at the draw; −∞ if halves are not considered.
    pub(super) above: f64,
}

impl WeightedLaw {
    /// Sets up the draws. Traces may be estimated; the weight of a set then varies from draw to draw.
    pub(in crate::sample) fn new(setup: &RejectionSetup<'_>, engine: &Engine) -> Result<Self> {
        let (chosen, scale) = choice::for_weights(setup, engine)?;
        let counts = setup.dpp.counts();
        let of_parts = counts.exact().is_none().then(|| {
            let spectra = &chosen.whitening.spectra;
            spectra.iter().map(|values| log_counts(values, scale)).collect::<Vec<_>>()
        });
        let roots: Vec<f64> = chosen.whitening.beta.iter().map(|beta| beta.sqrt()).collect();
        let exact = chosen.operations;
        let mut law = BoundedLaw::new(setup, chosen, Projection::default(), engine)?;
        let (size, rank, read) =
            (typical(&counts).iter().sum::<usize>(), roots.len(), law.rows.read_operations());
        let operations = law.lookahead.map_or(exact, |Lookahead { candidates, .. }| {
            operations_with_candidates(size as f64, rank as f64, read, candidates as f64)
        });
        if let Some(logs) = of_parts {
            law.counts = count_law(&counts, &law, &setup.correction, &logs);
        }
        let (vectors, tilt) = (whitening::vectors(&setup.found), setup.found.tilt.root_weights());
        let (grams, found) = (OnceLock::new(), Arc::clone(&setup.found));
        Ok(Self { law, grams, found, roots, vectors, tilt, operations })
    }

    pub(in crate::sample) fn scratch(&self) -> BoundedScratch {
        self.law.scratch()
    }

    /// Makes a draw and returns ln of its weight, whose mean is the normaliser; −∞ at a dead end.
    ///
    /// Its items are in `scratch`. `go_on` is called for every pick; if it ends the draw, the result is meaningless.
    pub(in crate::sample) fn weigh<R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        scratch: &mut BoundedScratch,
        go_on: impl FnMut() -> bool,
    ) -> f64 {
        self.law.weigh(rng, scratch, go_on).log
    }

    /// Weighs a draw that picks these items of every group, in their order; counts are exact.
    pub(in crate::sample) fn weigh_given<R: Rng + ?Sized>(
        &self,
        groups: &[Vec<u32>],
        rng: &mut R,
        scratch: &mut BoundedScratch,
        go_on: impl FnMut() -> bool,
    ) -> f64 {
        let items: Vec<u32> =
            self.law.counts.order().iter().flat_map(|&group| &groups[group]).copied().collect();
        let BoundedScratch { buffers, parts } = scratch;
        let mut chance = Drawn { rng, scratch: parts, go_on };
        self.law.log_weight(&mut Given::new(&items, &mut chance), buffers)
    }

    /// Estimates traces with this many candidates per pick.
    #[cfg(test)]
    pub(in crate::sample) fn estimate_traces(&mut self, candidates: usize) {
        self.law.lookahead = Some(Lookahead { candidates, picks: 2 });
    }

    /// The items of the last draw, by group.
    pub(in crate::sample) fn by_group(&self, scratch: &BoundedScratch) -> Vec<Vec<u32>> {
        let (mut groups, mut left) = (vec![Vec::new(); self.groups()], scratch.items());
        for &(group, count) in &scratch.buffers.counts {
            let (own, rest) = left.split_at(count);
            groups[group] = own.to_vec();
            left = rest;
        }
        groups
    }

    /// Number of groups.
    pub(super) fn groups(&self) -> usize {
        self.tilt.len()
    }

    /// U^T √y_l G_l √y_l U of every group, one r²-vector each.
    pub(super) fn grams(&self) -> MatRef<'_, f64> {
        let stacked = || {
            let sizes: Vec<f64> = self.found.spectrum.values.iter().map(|value| value.sqrt()).collect();
            let rank = sizes.len();
            let grams = map_ordered(self.groups(), |group| scaled(&self.found.share(group), &sizes));
            let mut all = Mat::zeros(rank * rank, grams.len());
            for (group, gram) in grams.iter().enumerate() {
                column_mut(all.as_mut(), group).copy_from_slice(&columns(gram.as_ref()));
            }
            all
        };
        self.grams.get_or_init(stacked).as_ref()
    }

    /// x_iᵀ M_l x_i of all rows in the order of the groups, if the rows are stored; `form` returns M_l.
    pub(in crate::sample) fn forms(
        &self,
        form: impl Fn(usize) -> Mat<f64> + Sync + Send,
    ) -> Option<Vec<f64>> {
        let forms = map_ordered(self.groups(), |group| {
            let rows = self.law.rows.stored(group)?;
            // Transform to the coordinates of the stored rows.
            let form = scaled(&form(group), &self.roots);
            let mut products = Vec::with_capacity(rows.ncols());
            for first in (0..rows.ncols()).step_by(CHUNK) {
                let rows = rows.subcols(first, CHUNK.min(rows.ncols() - first));
                let images = &form * rows;
                let product = |j: usize| dot(column(rows, j), column(images.as_ref(), j));
                products.extend((0..rows.ncols()).map(product));
            }
            Some(products)
        });
        forms.into_iter().collect::<Option<Vec<_>>>().map(|forms| forms.concat())
    }

    /// Predicted operations per draw.
    pub(in crate::sample) fn operations(&self) -> f64 {
        self.operations
    }

    /// The law that the draws are weighted for, with its bound and coordinates.
    pub(in crate::sample) fn law(&self) -> &BoundedLaw {
        &self.law
    }

    /// n×r factors F_l with ‖F_lᵀ s_l a_i‖² = x_iᵀ R_l R_lᵀ x_i for the root R_l of every group.
    pub(in crate::sample) fn factors(&self, roots: &[Mat<f64>]) -> Vec<Mat<f64>> {
        let factor = |(root, &weight): (&Mat<f64>, &f64)| &self.vectors * (root * faer::Scale(weight));
        roots.iter().zip(&self.tilt).map(factor).collect()
    }
}

/// ln of the probabilities of a part's counts in the tilted DPP. The count is the number of heads of coins with the
/// eigenvalues of the marginal kernel as probabilities.
fn log_counts(values: &[f64], scale: f64) -> Vec<f64> {
    let coins: Vec<f64> = values.iter().map(|value| (value * scale).clamp(0.0, 1.0)).collect();
    poisson_binomial(&coins).into_iter().map(|p| p.max(POSSIBLE).ln()).collect()
}

/// The law of part counts as if parts were independent, including the correction, mixed with uniform counts. If one
/// part takes more only when another takes less, independent counts almost never do both (Hesterberg 1995, defensive
/// mixture).
fn count_law(counts: &Counts, law: &BoundedLaw, correction: &Correction, logs: &[Vec<f64>]) -> CountLaw {
    let any = ANY / logs.len() as f64;
    let mixed = |(group, logs): (usize, &Vec<f64>)| {
        let range = counts.low[group]..=counts.high[group];
        let log =
            |c: usize| logs.get(c).map_or(f64::NEG_INFINITY, |log| log + correction.log_factor(group, c));
        let own: Vec<f64> = range.map(log).collect();
        let (sum, size) = (log_sum(&own), own.len() as f64);
        own.into_iter().map(|log| ((1.0 - any) * (log - sum).exp() + any / size).ln()).collect::<Vec<f64>>()
    };
    let terms: Vec<Vec<f64>> = logs.iter().enumerate().map(mixed).collect();
    let term = |group: usize, _: usize, c: usize| terms[group][c - counts.low[group]];
    CountLaw::new(counts, law.counts.order().to_vec(), &vec![0.0; law.log_products.len()], term)
}

impl BoundedScratch {
    /// The items of the last draw.
    pub(in crate::sample) fn items(&self) -> &[u32] {
        &self.buffers.items
    }
}

impl BoundedLaw {
    /// Makes draws by [`weigh`](Self::weigh) in tasks, each with its own stream.
    ///
    /// # Errors
    /// [`Error::Ended`](crate::Error::Ended) if the engine's watch ends the draws.
    pub(in crate::sample) fn weigh_many(
        &self,
        draws: (Range<usize>, usize),
        seed: u64,
        engine: &Engine,
    ) -> Result<Vec<Weighed>> {
        self.weigh_while(draws, seed, engine, || true)
    }

    /// Makes draws like [`weigh_many`](Self::weigh_many) while `go_on` is true.
    pub(in crate::sample) fn weigh_while(
        &self,
        (tasks, each): (Range<usize>, usize),
        seed: u64,
        engine: &Engine,
        go_on: impl Fn() -> bool + Sync,
    ) -> Result<Vec<Weighed>> {
        engine.expect(Step::Pilot, tasks.len() * each);
        let drawn = map_ordered(tasks.len(), |task| {
            let task = tasks.start + task;
            let (mut rng, mut scratch) = (stream(seed, task as u64), self.scratch());
            let weigh = |_| {
                let weighed = self.weigh(&mut rng, &mut scratch, || engine.proceed().is_ok());
                engine.proceed_after_steps(Step::Pilot, 1)?;
                Ok(weighed)
            };
            (0..each).take_while(|_| go_on()).map(weigh).collect::<Result<Vec<_>>>()
        });
        Ok(drawn.into_iter().collect::<Result<Vec<_>>>()?.concat())
    }

    /// Makes a draw by sequential proposals, with traces that may be [estimates](Self::among_candidates).
    ///
    /// ```text
    /// w = det(QᵀBQ) Π_t tr(P_t Ĝ_l) / (Π c_l! · Pr(c))
    /// ```
    pub(in crate::sample) fn weigh<R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        scratch: &mut BoundedScratch,
        go_on: impl FnMut() -> bool,
    ) -> Weighed {
        let BoundedScratch { buffers, parts } = scratch;
        let mut chance = Drawn { rng, scratch: parts, go_on };
        let log = self.log_weight(&mut chance, buffers);
        let is_asked = log.is_finite() && !self.picks.is_empty();
        let above = if is_asked { self.log_above(&self.picks, buffers) } else { f64::NEG_INFINITY };
        Weighed { log, amplification: buffers.amplification, spread: buffers.spread, above }
    }

    /// ln of the weight of one sequential draw; its items are in the buffers.
    pub(super) fn log_weight(&self, chance: &mut impl Picks, buffers: &mut Buffers) -> f64 {
        buffers.clear(self.rows.rank());
        let log = match self.lookahead {
            Some(lookahead) => self.among_candidates(lookahead, chance, buffers),
            None => self.among_all(chance, buffers),
        };
        if log == f64::NEG_INFINITY {
            return log;
        }
        log + self.log_det_of_span(&buffers.span) + self.log_of_fill(&buffers.items)
    }

    /// Picks items in proportion to their squared residuals outside the span, with exact traces.
    fn among_all(&self, chance: &mut impl Picks, buffers: &mut Buffers) -> f64 {
        let (mut t, mut log) = (0, 0.0);
        for place in 0..self.counts.order().len() {
            let (group, count) = self.choose_count(place, t, chance, &mut log);
            let complete = self.one_by_one(group, count, chance, buffers, |_, trace, _| {
                log += trace.max(0.0).ln();
                trace > 0.0
            });
            if !complete || log == f64::NEG_INFINITY {
                return f64::NEG_INFINITY;
            }
            buffers.counts.push((group, count));
            t += count;
        }
        log
    }

    /// Chooses the next group and its count after t picks, and adds their effect on the weight to its logarithm.
    pub(super) fn choose_count(
        &self,
        place: usize,
        t: usize,
        chance: &mut impl Picks,
        log: &mut f64,
    ) -> (usize, usize) {
        let group = self.counts.order()[place];
        let count = if let Some(count) = self.counts.only(place, t) {
            count
        } else {
            let count = chance.choose(self.counts.probabilities(place, t));
            let chosen = self.counts.probabilities(place, t).find(|(other, _)| *other == count);
            *log -= chosen.map_or(f64::INFINITY, |(_, p)| p.ln());
            count
        };
        *log += self.correction.log_factor(group, count) - log_factorial(count);
        (group, count)
    }
}
