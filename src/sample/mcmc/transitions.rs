//! Transition probabilities by enumeration, for tests of detailed balance.

use std::collections::BTreeMap;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::{Chains, candidates::Candidate, chain::Chain, moves::Proposal};

/// A combination of candidates, with the probability that it is proposed.
type Proposed = (Vec<Proposal>, f64);

impl Chains {
    /// The transition probabilities from a set by moves that replace `replaced` items, computed from the proposal
    /// probabilities and the acceptance that chains use. `set` lists the items without the included ones.
    ///
    /// # Panics
    /// If the set does not meet the quota, or is dependent.
    #[doc(hidden)]
    #[must_use]
    pub fn transitions(&self, set: &[usize], replaced: usize) -> BTreeMap<Vec<usize>, f64> {
        let mut chain = self.chain_at(set);
        let slots = self.walk.group_of.len();
        let combinations: Vec<Vec<usize>> = (0_usize..1 << slots)
            .map(|mask| (0..slots).filter(|slot| mask >> slot & 1 == 1).collect())
            .filter(|slots: &Vec<usize>| slots.len() == replaced)
            .collect();
        let mut found = BTreeMap::new();
        for combination in &combinations {
            for (proposals, probability) in self.proposals(combination) {
                let accepted = chain.log_acceptance(&proposals).exp().min(1.0);
                let share = probability / combinations.len() as f64;
                *found.entry(after(&chain, &proposals)).or_default() += share * accepted;
                *found.entry(after(&chain, &[])).or_default() += share * (1.0 - accepted);
            }
        }
        found.retain(|_, probability| *probability > 0.0);
        found
    }

    /// Whether a set is a state of the chains, that is, numerically independent.
    #[doc(hidden)]
    #[must_use]
    pub fn is_state(&self, set: &[usize]) -> bool {
        self.basis(&self.by_slot(set)).is_some()
    }

    fn chain_at(&self, set: &[usize]) -> Chain {
        match self.basis(&self.by_slot(set)) {
            Some(basis) => Chain::new(basis, &self.walk, ChaCha8Rng::seed_from_u64(0)),
            None => panic!("the set {set:?} is dependent"),
        }
    }

    /// The items of a set, group after group.
    fn by_slot(&self, set: &[usize]) -> Vec<u32> {
        let of_group = |group: &crate::engine::Items<'_>| -> Vec<u32> {
            let own = group.iter().filter(|item| set.contains(item));
            #[expect(clippy::cast_possible_truncation, reason = "items are counted in 32 bits")]
            own.map(|item| item as u32).collect()
        };
        self.walk.groups.iter().flat_map(|group| of_group(&group.into())).collect()
    }

    /// All proposals for these slots.
    fn proposals(&self, slots: &[usize]) -> Vec<Proposed> {
        let mut all: Vec<Proposed> = vec![(Vec::new(), 1.0)];
        for &slot in slots {
            let own: Vec<(Candidate, f64)> = self.walk.candidates[self.walk.group_of[slot]].probabilities();
            let extended = all.iter().flat_map(|(proposals, p)| {
                own.iter().map(move |&(candidate, q)| {
                    ([&proposals[..], &[Proposal { slot, candidate }]].concat(), p * q)
                })
            });
            all = extended.collect();
        }
        all
    }
}

/// The set after a move, ascending.
fn after(chain: &Chain, proposals: &[Proposal]) -> Vec<usize> {
    let mut items: Vec<usize> = chain.items().iter().map(|&item| item as usize).collect();
    for proposal in proposals {
        items[proposal.slot] = proposal.candidate.item as usize;
    }
    items.sort_unstable();
    items
}
