//! Tests of weighted draws that sum over all possible choices.

use super::*;

/// x_jᵀ M x_j for every free item.
fn forms(law: &WeightedLaw, dpp: &PartitionDpp, sums: &InclusionSums) -> BTreeMap<u32, f64> {
    let mut raw = RowScratch::default();
    let mut row = vec![0.0; law.roots.len()];
    let mut of = |group: usize, item: usize| {
        let item = u32::try_from(item).unwrap();
        law.law.rows.read_item(group, item, &mut raw, &mut row);
        let x: Vec<f64> = row.iter().zip(&law.roots).map(|(value, root)| value * root).collect();
        let form = sums.form(group);
        let products = (0..x.len()).flat_map(|i| (0..x.len()).map(move |j| (i, j)));
        (item, products.map(|(i, j)| x[i] * form[(i, j)] * x[j]).sum::<f64>())
    };
    let groups = dpp.open().iter().enumerate();
    groups
        .flat_map(|(group, open)| open.items.iter().map(|item| of(group, item)).collect::<Vec<_>>())
        .collect()
}

/// Tests the mean of the weights, the law of weighted sets, and inclusion probabilities.
#[test]
fn weighted_draws_have_the_law() {
    for (number, case) in cases().into_iter().enumerate() {
        let dpp = case.dpp();
        let setup = RejectionSetup::new(&dpp, None, Engine::host()).unwrap();
        let expected = determinants(&case.features, &setup);
        let normaliser: f64 = expected.values().sum();
        let law = WeightedLaw::new(&setup, Engine::host()).unwrap();
        let (mut sets, mut mean, mut paths) = (BTreeMap::new(), 0.0, Paths::default());
        let (mut sums, mut scratch) = (InclusionSums::new(&law), law.scratch());
        let (mut squares, mut draws) = (0.0, 0);
        loop {
            paths.begin();
            let weight = law.law.log_weight(&mut paths, &mut scratch.buffers).exp();
            mean += paths.probability * weight;
            squares += paths.probability * weight * weight;
            if weight > 0.0 {
                sums.add(&law, paths.probability * weight, &mut scratch);
                let mut set = scratch.items().to_vec();
                set.sort_unstable();
                *sets.entry(set).or_insert(0.0) += paths.probability * weight;
            }
            draws += 1;
            if !paths.next() {
                break;
            }
        }
        assert!((mean / normaliser - 1.0).abs() < 1e-11, "case {number}: {mean} {normaliser}");
        assert!(distance(&sets, &expected) < 1e-11, "case {number}");
        let share = mean * mean / squares;
        assert!(share > 0.5, "case {number}: an effective share of {share} in {draws} paths");
        sums.settle(&law);
        for (item, estimate) in forms(&law, &dpp, &sums) {
            let of_item = expected.iter().filter(|(set, _)| set.contains(&item)).map(|(_, value)| value);
            let exact = of_item.sum::<f64>() / normaliser;
            assert!((estimate - exact).abs() < 1e-11, "case {number}, item {item}: {estimate} {exact}");
        }
    }
}

/// Rows that are read together equal rows read one by one, for every way to store them.
#[test]
fn rows_are_read_together() {
    let dpp = cases()[1].dpp();
    let setup = RejectionSetup::new(&dpp, None, Engine::host()).unwrap();
    for choice in choices(false) {
        let chosen = of_family(&setup, Bound::Hadamard, choice).unwrap();
        let law = BoundedLaw::new(&setup, chosen, Projection::default(), Engine::host()).unwrap();
        let (rank, mut raw) = (law.rows.rank(), RowScratch::default());
        let (mut together, mut alone) = (vec![0.0; 3 * rank], vec![0.0; rank]);
        law.rows.read_all(0, &[2, 0, 2], &mut raw, &mut together);
        for (row, position) in together.chunks(rank).zip([2, 0, 2]) {
            law.rows.read(0, position, &mut raw, &mut alone);
            let close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-14 * (1.0 + b.abs());
            assert!(row.iter().zip(&alone).all(close), "{choice:?}: {row:?} {alone:?}");
        }
    }
}

/// Tests the mean of the weights and the law of weighted sets, if candidates estimate the traces.
#[test]
fn estimated_traces_keep_the_law() {
    /// With more paths, cases take too long.
    const MOST: f64 = 1e6;
    let (mut told, mut tried) = (0.0_f64, 0);
    for (number, case) in cases().into_iter().enumerate() {
        let dpp = case.dpp();
        let setup = RejectionSetup::new(&dpp, None, Engine::host()).unwrap();
        let expected = determinants(&case.features, &setup);
        let normaliser: f64 = expected.values().sum();
        let mut law = WeightedLaw::new(&setup, Engine::host()).unwrap();
        let counts = dpp.counts();
        let of_groups = dpp.open().iter().zip(&counts.high);
        let of_groups = of_groups.map(|(open, &count)| (open.items.len() as f64, count));
        let of_groups: Vec<(f64, usize)> = of_groups.collect();
        for (candidates, picks) in [(1, 1), (2, 1), (3, 1), (1, 32), (2, 2), (2, 7), (3, 32)] {
            let of_group = |&(items, count): &(f64, usize)| {
                let of_pick = std::iter::repeat_n(items, candidates).product::<f64>() * candidates as f64;
                (0..=count).map(|c| std::iter::repeat_n(of_pick, c).product::<f64>()).sum::<f64>()
            };
            if of_groups.iter().map(of_group).product::<f64>() > MOST {
                continue;
            }
            law.law.lookahead = Some(Lookahead { candidates, picks });
            let (mut sets, mut squares, mut paths) = (BTreeMap::new(), 0.0, Paths::default());
            let mut scratch = law.scratch();
            loop {
                paths.begin();
                let weight = law.law.log_weight(&mut paths, &mut scratch.buffers).exp();
                if weight > 0.0 {
                    let mut set = scratch.items().to_vec();
                    set.sort_unstable();
                    *sets.entry(set).or_insert(0.0) += paths.probability * weight;
                    squares += paths.probability * weight * weight;
                }
                if !paths.next() {
                    break;
                }
            }
            let mean: f64 = sets.values().sum();
            assert!((mean / normaliser - 1.0).abs() < 1e-11, "case {number}: {mean} {normaliser}");
            assert!(distance(&sets, &expected) < 1e-11, "case {number}");
            (told, tried) = (told.max(mean * mean / squares), tried + 1);
        }
    }
    assert!(tried >= 8 && told > 0.5, "{tried} laws, an effective share of {told} at best");
}

/// Tests Σ_others Pr(others | items) / ŵ = Pr(items) / Σ_others Pr(items, others) ŵ, given the items.
#[test]
fn given_items_lie_among_candidates_as_drawn_ones() {
    let mut tried = 0;
    for (number, case) in cases().into_iter().enumerate() {
        let dpp = case.dpp();
        if dpp.counts().exact().is_none() || dpp.counts().least > 3 {
            continue;
        }
        let setup = RejectionSetup::new(&dpp, None, Engine::host()).unwrap();
        let mut law = WeightedLaw::new(&setup, Engine::host()).unwrap();
        for (candidates, picks) in [(1, 1), (2, 1), (2, 2), (2, 3)] {
            law.law.lookahead = Some(Lookahead { candidates, picks });
            let mut scratch = law.scratch();
            let mut drawn: BTreeMap<Vec<u32>, [f64; 2]> = BTreeMap::new();
            let mut paths = Paths::default();
            loop {
                paths.begin();
                let weight = law.law.log_weight(&mut paths, &mut scratch.buffers).exp();
                if weight > 0.0 {
                    let sums = drawn.entry(scratch.items().to_vec()).or_default();
                    sums[0] += paths.probability;
                    sums[1] += paths.probability * weight;
                }
                if !paths.next() {
                    break;
                }
            }
            for (items, [probability, weighted]) in drawn {
                let (mut inverse, mut paths) = (0.0, Paths::default());
                loop {
                    paths.begin();
                    let mut given = Given::new(&items, &mut paths);
                    let log = law.law.log_weight(&mut given, &mut scratch.buffers);
                    assert_eq!(scratch.items(), items, "case {number}");
                    inverse += paths.probability / log.exp();
                    if !paths.next() {
                        break;
                    }
                }
                let off = inverse * weighted / probability - 1.0;
                assert!(off.abs() < 1e-10, "case {number}, {candidates} × {picks}, {items:?}: {off}");
            }
            tried += 1;
        }
    }
    assert!(tried >= 8, "{tried}");
}

/// A draw checks before every pick whether to go on, and ends at the first refusal.
#[test]
fn weighted_draws_end_at_any_pick() {
    use rand::SeedableRng;

    for (number, case) in cases().into_iter().enumerate() {
        let dpp = case.dpp();
        let setup = RejectionSetup::new(&dpp, None, Engine::host()).unwrap();
        let law = WeightedLaw::new(&setup, Engine::host()).unwrap();
        let mut scratch = law.scratch();
        let mut draw = |last: usize| {
            let (mut rng, mut looks) = (rand_chacha::ChaCha8Rng::seed_from_u64(7), 0);
            let log = law.weigh(&mut rng, &mut scratch, || {
                looks += 1;
                looks < last
            });
            (log, looks, scratch.items().len())
        };
        let (log, looks, picks) = draw(usize::MAX);
        assert!(looks >= picks && (log.is_finite() || picks == 0 || looks > 0), "case {number}");
        for last in 1..=looks {
            let (log, seen, picked) = draw(last);
            assert!(log == f64::NEG_INFINITY && seen >= last && picked < last, "case {number}, look {last}");
        }
    }
}
