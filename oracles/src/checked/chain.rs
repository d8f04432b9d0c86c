//! Checks the conditional laws of algorithm 2 against the exact chain rule.

use partition_dpp::{Error, Method, PartitionDpp, sample::Conditionals};
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::{Examined, Kind};
use crate::exact::{Set, items_of};

pub(super) fn conditionals(examined: &mut Examined<'_>, dpp: &PartitionDpp) {
    for (method, by) in [
        (Method::Interpolation, "conditionals by interpolation"),
        (Method::PerCandidate, "conditionals per candidate"),
    ] {
        let stated = match dpp.sampler(method, examined.engine) {
            Ok(sampler) => sampler.law_error(),
            // The check of this sampler's draws reports the refusal.
            Err(_) => continue,
        };
        let chain = match dpp.conditionals(method, examined.engine) {
            Err(Error::Nothing { .. }) => continue,
            other => examined.answered(by, other),
        };
        let Some(chain) = chain else { continue };
        let mut rng = StdRng::seed_from_u64(examined.seed);
        for _ in 0..examined.effort.paths {
            path(examined, chain.clone(), by, stated, &mut rng);
        }
    }
}

/// Follows one path of picks, and checks the conditional law before each of them.
///
/// The distance is multiplied by the probability of the path so far: the law of the set is off by at least this
/// product.
fn path(examined: &mut Examined<'_>, mut chain: Conditionals, by: &str, stated: f64, rng: &mut StdRng) {
    let Some(law) = examined.law else { return };
    let (settled, mut picked, mut reached) = (examined.problem.settled(), 0, 1.0);
    while chain.remaining() > 0 {
        let Some(found) = examined.answered(by, chain.probabilities()) else { return };
        let exact = next_pick(examined, settled | picked, chain.remaining());
        let distance =
            0.5 * found.iter().zip(&exact).map(|(found, exact)| (found - exact).abs()).sum::<f64>();
        examined.report.compared(Kind::Conditionals);
        if !(reached * distance <= examined.tolerance(stated)) {
            let text = format!(
                "after {:?} (probability {reached:.1e}) off by {distance:.1e}, stated {stated:.1e}: got {found:?}, exact {exact:?}",
                items_of(picked)
            );
            return examined.report.fault(Kind::Conditionals, by, &text);
        }
        let Some(item) = choose(&exact, rng) else { return };
        reached *= exact[item];
        if reached < 1e-9 || law.containing(settled | picked | 1 << item) < 1e-9 {
            return;
        }
        if examined.answered(by, chain.pick(item)).is_none() {
            return;
        }
        picked |= 1 << item;
    }
}

/// Returns Pr(next = i | picks). The remaining items of a set are equally likely to come in any order.
fn next_pick(examined: &Examined<'_>, before: Set, left: usize) -> Vec<f64> {
    let Some(law) = examined.law else { return Vec::new() };
    let all = law.containing(before);
    let of = |item: usize| {
        if before >> item & 1 == 1 { 0.0 } else { law.containing(before | 1 << item) / all / left as f64 }
    };
    (0..examined.problem.items()).map(of).collect()
}

/// Picks an item by the law or uniformly among the possible items, each with probability ½.
fn choose(exact: &[f64], rng: &mut StdRng) -> Option<usize> {
    let possible: Vec<usize> = (0..exact.len()).filter(|&item| exact[item] > 1e-9).collect();
    let mut left: f64 = rng.random();
    if rng.random::<f64>() < 0.5 {
        let by_law = possible.iter().copied().find(|&item| {
            left -= exact[item];
            left <= 0.0
        });
        return by_law.or(possible.last().copied());
    }
    (!possible.is_empty()).then(|| possible[(left * possible.len() as f64) as usize])
}
