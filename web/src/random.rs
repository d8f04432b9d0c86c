//! Uniformly random sets.

use partition_dpp::{Sets, Subset, map::KernelModel, rand::seq::SliceRandom, similarity::DotKernel};
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
use wasm_bindgen::prelude::*;

use crate::{answer::Chosen, items::Items, question::Question};

/// Draws uniformly among the sets with as many items of every part as the question asks for.
pub(crate) fn draw(question: &Question, items: &Items) -> Result<Chosen, JsError> {
    let sets = question.sets(items.labelled())?;
    let all = items.rows.items();
    let groups: Vec<(usize, Vec<usize>)> = match &sets {
        Sets::OfSize(k) => vec![(*k, (0..all).collect())],
        Sets::Quota(parts, quota) => {
            let counts = quota.exact_counts().ok_or_else(|| {
                JsError::new("a random set takes a quota with a number of items of every part, no ranges")
            })?;
            let members = |part| parts.members(part).iter().map(|&item| item as usize).collect();
            counts.iter().enumerate().map(|(part, &count)| (count, members(part))).collect()
        }
        Sets::OfAnySize => return Err(JsError::new("a random set needs k or a quota")),
    };
    // A model knows whether there are such sets.
    let (include, exclude) = (&question.include, &question.exclude);
    KernelModel::over(&DotKernel::new(&items.rows), &sets)?.including(include)?.excluding(exclude)?;
    let mut rng = ChaCha8Rng::seed_from_u64(question.seed);
    let mut chosen = include.clone();
    for (count, mut members) in groups {
        let before = members.len();
        members.retain(|item| !include.contains(item));
        let count = count - (before - members.len());
        members.retain(|item| !exclude.contains(item));
        chosen.extend_from_slice(members.partial_shuffle(&mut rng, count).0);
    }
    Ok(Chosen::drawn(Subset::new(chosen, all)?, 0.0))
}
