//! The choice of making proposals on a device, and checks of its answers.

use oracles::engines::gpu;
use partition_dpp::engine::Precision;

use super::{patched, problem, problems};
use crate::batches::{PRECISIONS, conform};

/// A few draws from many items cost less than the tables of a device.
#[test]
fn tables_go_up_when_they_pay() {
    for precision in PRECISIONS {
        let Some(gpu) = gpu(precision) else { return };
        let case = problem("many items", 20_000, 6, &[1, 2], 1500);
        let (expected, _) = case.draws_of_host(precision);
        case.sampled(&gpu.engine(), |sampler| {
            let before = gpu.traffic();
            let first = sampler.sample_many(1, 99);
            let added = gpu.traffic() - before;
            assert!(added.uploaded == 0 && added.dispatches == 0, "{added:?}");
            let [made, replayed] = sampler.batched_proposals().unwrap();
            assert!(made == replayed && made > 0, "the host made {replayed} of {made}");
            assert_eq!(first.subsets(), &expected[..1]);
            // Single draws add up.
            let mut found = first.subsets().to_vec();
            for draw in 1..1300 {
                found.extend(sampler.sample_range(draw..draw + 1, 99));
            }
            found.extend(sampler.sample_range(1300..1500, 99));
            let [made, replayed] = sampler.batched_proposals().unwrap();
            println!("{precision}: the host made {replayed} of {made}");
            assert!(gpu.traffic().uploaded > before.uploaded && replayed < made);
            assert!(found == expected, "{precision}");
        });
    }
}

/// Impossible answers count as a failure of the device.
#[test]
fn impossible_answers_do_no_harm() {
    let problems = problems();
    for (from, to) in [
        ("= sh_picks[s];", "= sh_picks[s] + 1000000u;"),
        ("= sh_picks[s];", "= sh_picks[0];"),
        ("= number | select", "= (number + 100000u) | select"),
        ("= number | select", "= 3u | select"),
        ("atomicAdd(&found.count, 1u);", "atomicAdd(&found.count, 1000000u);"),
    ] {
        let Some(gpu) = patched(Precision::F32, from, to) else { return };
        let problem = &problems[2];
        let (found, proposals, [made, replayed]) = problem.draws(&gpu.engine());
        assert_eq!(made, replayed, "{to}: the device is still used");
        assert!((found, proposals) == problem.draws_of_host(Precision::F32), "{to}");
    }
}

/// Proposals that take as many rounds as the loops allow end as undecided at worst.
#[test]
fn many_rounds_end() {
    let Some(gpu) = gpu(Precision::F32) else { return };
    conform(&gpu, vec![problem("many rounds", 520, 512, &[36], 1)], 0.9);
    let beyond = problem("too many rounds", 1010, 1000, &[36], 0);
    beyond.sampled(&gpu.engine(), |sampler| assert_eq!(sampler.batched_proposals(), None));
}
