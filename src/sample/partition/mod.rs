//! The samplers of the Partition-DPP.

mod plan;

pub use plan::{Choice, Method, Plan};

use super::{
    Law, Rejection, Sampler, SamplerOptions,
    k_dpp::law_of_size,
    paper::{Interpolation, PerCandidate},
};
use crate::{
    Error, PartitionDpp, Result,
    engine::Engine,
    estimate::accurate,
    model::{Contraction, PartKDpp, within},
};

impl Contraction {
    /// A sampler that draws from each tight part separately, and from all other parts together.
    fn sampler(self, options: SamplerOptions, engine: &Engine) -> Result<Sampler> {
        let Self { parts, rest, basis } = self;
        let of_part = |PartKDpp { ground, items, count }: PartKDpp| {
            law_of_size(engine, &ground, &items, count, options)
        };
        let laws = parts.into_iter().map(of_part).collect::<Result<Vec<_>>>()?;
        let (laws, errors): (Vec<_>, Vec<f64>) = laws.into_iter().unzip();
        Ok(rest.sampler(options.one_by_one(), engine)?.with_parts(laws, errors.into_iter().sum(), &basis))
    }
}

impl PartitionDpp {
    /// Sets up an exact sampler.
    ///
    /// Under exact counts any [`Method`] applies. Under ranges, rejection is used: a DPP with weighted parts (a k-DPP
    /// if the total is fixed) proposes sets, and the acceptance corrects for the weights.
    ///
    /// ```text
    /// accept S with counts c in the ranges with probability exp(min_c' Σ c'_l t_l − Σ c_l t_l),
    /// t minimises ln det(I + Σ e^(t_l) G_l) + Σ max(−lo_l t_l, −hi_l t_l)
    /// ```
    ///
    /// If a part spans only as many dimensions as the quota requires from it, in exact arithmetic, it is drawn
    /// separately: the items chosen from it do not affect the distribution of the others.
    ///
    /// # Cost
    /// Two passes over A (2mn² operations each; two more for each factor of 10⁶ by which the condition number of A
    /// exceeds 1e3), O(pn³) per step of the tilt, 24 bytes per item, 32 during set-up.
    ///
    /// With rejection, a draw takes at most 1 / [`acceptance_bound`](Sampler::acceptance_bound) proposals on average.
    /// Each is O(k·n·r) for any number of items. Under exact counts, the number of proposals is at most
    /// [`expected_proposals`](crate::sample::expected_proposals), known before the set-up.
    ///
    /// Under ranges, the bound covers only the single most typical vector of counts (Gurvits 2008), and is far too
    /// low for many parts with wide ranges. A pilot run of 256 proposals therefore predicts the [proposals per
    /// draw](Sampler::predicted_proposals), which are compared with the budget. If it sees fewer than 16 acceptances,
    /// 64 weighted draws predict them. If the bound does not meet the budget, a trial of up to 131072 proposals
    /// measures the acceptance, and the bound is a quarter of the result (wrong once in 1e5). If the trial sees too
    /// few acceptances, 64 weighted draws estimate the acceptance, and the bound is a quarter of the estimate.
    ///
    /// With interpolation, a draw takes O(r²) per pick and node, O(r³ + m_l·n·r) per pick, and a new grid (8r³ per
    /// node) for every part except the first. Before the first draw, it takes 8r³ operations and 16r² bytes per node,
    /// and the same memory again in every thread. The number of nodes is about 8√k + 10 for the total, times κ_l + 1
    /// for every part except one, halved.
    ///
    /// # Errors
    /// - [`Error::ProposalBudget`] from [`Method::Auto`] under exact counts, with the numbers of proposals and nodes;
    /// - [`Error::RangeProposalBudget`] under ranges, if more proposals are predicted than the budget allows;
    /// - [`Error::NodeBudget`] from the interpolation methods, with the number of nodes;
    /// - [`Error::CountsNotExact`] from the interpolation methods under ranges;
    /// - [`Error::Eigen`], and [`Error::SizeAboveRank`] if the rank shows only in f64; engine errors.
    pub fn sampler(&self, options: impl Into<SamplerOptions>, engine: &Engine) -> Result<Sampler> {
        let options = options.into();
        if self.open().is_empty() {
            let error = accurate(self.beyond_rank())?;
            return Ok(Sampler::new(Law::Forced, self.ground().included(), engine, error));
        }
        let rejects = matches!(options.method(), Method::Auto | Method::Rejection);
        if let Some(contraction) = rejects.then(|| self.contracted(engine)).transpose()?.flatten() {
            return contraction.sampler(options, engine);
        }
        let Some(mut plan) = self.plan(options)? else {
            let (law, error) = self.rejection(options, engine)?;
            let (expected, budget) = (law.proposals(), options.proposal_budget);
            if expected > budget {
                return Err(Error::RangeProposalBudget { expected, budget });
            }
            return Ok(Sampler::new(Law::Rejection(law), self.ground().included(), engine, error));
        };
        let drawn = match options.method() {
            Method::Interpolation | Method::PerCandidate => None,
            Method::Rejection => Some(self.rejection(options, engine)?),
            Method::Auto => self.rejection_if_cheaper(&mut plan, options, engine)?,
        };
        let (law, error) = match (drawn, plan.method) {
            (Some((law, error)), _) => {
                plan.measured(&law);
                (Law::Rejection(law), error)
            }
            (None, Method::PerCandidate) => {
                let new = |dpp: &Self| PerCandidate::new(dpp, engine);
                let graded = |dpp: &Self| dpp.graded(engine);
                let law = within(options.law_error, self, graded, new, PerCandidate::error)?;
                let error = law.error();
                (Law::PerCandidate(Box::new(law)), error)
            }
            (None, _) => {
                let new = |dpp: &Self| Interpolation::new(dpp, engine);
                let graded = |dpp: &Self| dpp.graded(engine);
                let law = within(options.law_error, self, graded, new, Interpolation::error)?;
                let error = law.error();
                (Law::Interpolation(Box::new(law)), error)
            }
        };
        Ok(Sampler::new(law, self.ground().included(), engine, error).planned(Some(plan)))
    }

    fn rejection(&self, options: SamplerOptions, engine: &Engine) -> Result<(Rejection, f64)> {
        let new = |dpp: &Self| Rejection::new(dpp, None, options, engine);
        let lowered = |(law, error): &(Rejection, f64)| law.error_of_coordinates(*error);
        within(options.law_error, self, |dpp| dpp.graded(engine), new, lowered)
    }

    /// The rejection sampler, unless interpolation is predicted to cost less under the bounds that the features
    /// allow.
    fn rejection_if_cheaper(
        &self,
        plan: &mut Plan,
        options: SamplerOptions,
        engine: &Engine,
    ) -> Result<Option<(Rejection, f64)>> {
        let found = match self.rejection(options, engine) {
            Err(Error::IllConditioned { .. } | Error::Eigen { .. })
                if plan.method == Method::Interpolation =>
            {
                return Ok(None);
            }
            found => found?,
        };
        plan.measured(&found.0);
        let (budget, node_budget) = (options.proposal_budget, self.interpolation_budget());
        if !plan.decide(budget, node_budget) {
            let (expected, nodes) = (plan.proposals, plan.nodes);
            return Err(Error::ProposalBudget { expected, budget, nodes, node_budget });
        }
        Ok((plan.method == Method::Rejection).then_some(found))
    }
}
