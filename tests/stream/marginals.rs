//! Inclusion probabilities and ln Z from Gram matrices, against enumeration and against the models.

use oracles::{
    assert_error, enumerable_cases,
    oracle::{self, Law},
    random::normals,
    ranges::{Shape, shapes},
};
use partition_dpp::{
    CountRange, Engine, Error, Features, KDpp, Partition, PartitionDpp, Quota,
    error::StreamProblem,
    stream::{Batch, Batches, Grams, Marginals},
};

use crate::world::{World, named};

/// Returns the largest gap of a probability, in units of the stated error or of 1e-12, and the gap of ln Z.
fn gaps(world: &World, found: &Marginals, law: &Law, log_z: f64, items: usize) -> (f64, f64) {
    let expected = oracle::marginals(law, items);
    let read = Marginals::from_bytes(&found.to_bytes()).unwrap();
    let mut worst: f64 = 0.0;
    for batch in world.batches.batches() {
        let answer = read.of_batch(batch, &Engine::cpu()).unwrap();
        assert_eq!(answer.value.len(), batch.rows());
        for (row, p) in answer.value.iter().enumerate() {
            let item = row * world.shards + batch.number() as usize;
            worst = worst.max((p - expected[item]).abs() / answer.error.max(1e-12));
        }
    }
    let estimate = read.log_partition_function();
    let unit = estimate.error.max(1e-11 * (1.0 + log_z.abs()));
    (worst, (estimate.value - log_z).abs() / unit)
}

#[test]
fn known_answers() {
    let (mut checks, mut error, mut worst) = (0, 0.0_f64, (0.0_f64, 0.0_f64));
    for (at, case) in enumerable_cases().iter().enumerate() {
        let world = World::of_case(case, [1, 3, 7][at % 3]);
        let (partition, oracle) = (Partition::from_labels(&case.labels).unwrap(), case.oracle());
        let mut check = |what: &str, found: Marginals, law: &Law, log_z: f64| {
            let (of_rows, of_z) = gaps(&world, &found, law, log_z, case.items());
            // Errors are estimates, and the oracle has errors, too.
            assert!(of_rows < 10.0 && of_z < 10.0, "{}, {what}: {of_rows} {of_z}", case.name);
            worst = (worst.0.max(of_rows), worst.1.max(of_z));
            error = error.max(found.error());
            checks += 1;
        };
        let k: usize = case.quota.iter().sum();
        let (law, log_z) = oracle.partition_dpp(&case.labels, &case.quota);
        let of_counts = |grams: &Grams| {
            Marginals::partition_dpp(grams, &grams.quota(named(&case.quota))?, &Engine::cpu())
        };
        check("counts", world.batches.plan(of_counts).unwrap(), &law, log_z);
        let (law, log_z) = oracle.law(|_| 1.0, |set| set.len() == k);
        check(
            "size",
            world.batches.plan(|grams| Marginals::k_dpp(grams, k, &Engine::cpu())).unwrap(),
            &law,
            log_z,
        );
        let (law, log_z) = oracle.law(|_| 1.0, |_| true);
        check(
            "any size",
            world.batches.plan(|grams| Marginals::dpp(grams, &Engine::cpu())).unwrap(),
            &law,
            log_z,
        );
        for Shape { name, quota } in shapes(case, &partition).into_iter().step_by(3) {
            let allowed = |set: &[usize]| quota.allows(&oracle::counts(set, &case.labels, partition.parts()));
            let (law, log_z) = oracle.law(|_| 1.0, allowed);
            let range = |(&low, &high): (&usize, &usize)| CountRange::from(low..=high);
            let ranges: Vec<CountRange> = quota.low().iter().zip(quota.high()).map(range).collect();
            let of_ranges = |grams: &Grams| {
                let own = grams.quota(named(&ranges))?;
                let own = match quota.total() {
                    Some(total) => own.with_total(total)?,
                    None => own,
                };
                Marginals::partition_dpp(grams, &own, &Engine::cpu())
            };
            check(name, world.batches.plan(of_ranges).unwrap(), &law, log_z);
        }
    }
    println!(
        "{checks} laws: error at most {error:.1e}; gaps at most {:.2} (rows) and {:.2} (ln Z) of it",
        worst.0, worst.1
    );
    assert!(checks > 80 && error < 1e-7);
}

#[test]
fn beyond_enumeration_they_are_those_of_the_models() {
    let rows: Vec<Vec<f64>> = normals(2_000 * 12, 5).chunks(12).map(<[f64]>::to_vec).collect();
    let labels: Vec<usize> = (0..2_000).map(|item| item % 7 % 3).collect();
    let world = World::of_rows(&rows, &labels, 4);
    let features = Features::from_rows(2_000, 12, rows.concat()).unwrap();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = Quota::new(&partition, [2, 3, 1]).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let of_counts =
        |grams: &Grams| Marginals::partition_dpp(grams, &grams.quota(named(&[2, 3, 1]))?, &Engine::cpu());
    let k_dpp = KDpp::new(&features, 5).unwrap();
    let pairs = [
        (dpp.inference(&Engine::cpu()).unwrap(), world.batches.plan(of_counts).unwrap()),
        (
            k_dpp.inference(&Engine::cpu()).unwrap(),
            world.batches.plan(|grams| Marginals::k_dpp(grams, 5, &Engine::cpu())).unwrap(),
        ),
    ];
    for (model, found) in pairs {
        let (log_z, own) = (model.log_partition_function(), found.log_partition_function());
        assert!((log_z.value - own.value).abs() < 1e-10, "{log_z:?} {own:?}");
        let expected = model.inclusion_probabilities().unwrap();
        let mut total = 0.0;
        for batch in world.batches.batches() {
            for (row, p) in found.of_batch(batch, &Engine::cpu()).unwrap().value.iter().enumerate() {
                let item = row * 4 + batch.number() as usize;
                assert!((p - expected.value[item]).abs() < 1e-12, "{item}: {p}");
                total += p;
            }
        }
        assert!((total - total.round()).abs() < 1e-9, "{total}");
    }
}

/// Scores that make ln Z far larger than f64 can exponentiate.
#[test]
fn weights_beyond_f64() {
    let values = vec![1.0, 0.0, 0.6, 0.8, 0.0, 1.0];
    let shifted = |shift: f64| {
        let features = Features::from_rows(3, 2, values.clone()).unwrap();
        let features = features.with_log_quality(&[shift, shift + 0.5, shift]).unwrap();
        let partition = Partition::from_labels(&["a", "a", "b"]).unwrap();
        Batches::new(vec![Batch::new(0, &features, &partition).unwrap()], &Engine::cpu())
    };
    let log_z = |batches: &Batches| {
        let counts = |grams: &Grams| {
            Marginals::partition_dpp(grams, &grams.quota([("a", 1), ("b", 1)])?, &Engine::cpu())
        };
        let of = |found: Marginals| found.log_partition_function().value;
        [
            of(batches.plan(counts).unwrap()),
            of(batches.plan(|grams| Marginals::k_dpp(grams, 2, &Engine::cpu())).unwrap()),
            of(batches.plan(|grams| Marginals::dpp(grams, &Engine::cpu())).unwrap()),
        ]
    };
    let near = log_z(&shifted(60.0));
    for shift in [800.0, 5000.0] {
        let far = log_z(&shifted(shift));
        for (law, (near, far)) in near.iter().zip(far).enumerate() {
            // Two items are chosen, also from a DPP, in which smaller sets are negligible.
            let expected = near + 4.0 * (shift - 60.0);
            assert!((far - expected).abs() < 1e-9 * expected, "{law}, {shift}: {far} {expected}");
        }
    }
    let none = log_z(&shifted(-5000.0));
    assert!((none[0] - near[0] + 4.0 * 5060.0).abs() < 1e-8 && none[2].abs() < 1e-12, "{none:?}");
}

#[test]
fn damaged_bytes_are_refused() {
    let world = World::of_rows(&[vec![1.0, 0.0], vec![0.5, 1.0]], &[0, 1], 1);
    let found = Marginals::k_dpp(&world.batches.grams().unwrap(), 1, &Engine::cpu()).unwrap();
    let bytes = found.to_bytes();
    for changed in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[changed] ^= 1;
        assert!(matches!(Marginals::from_bytes(&damaged), Err(Error::Stream(_))), "byte {changed}");
        assert!(Marginals::from_bytes(&bytes[..changed]).is_err());
    }
    let grams = world.batches.grams().unwrap().to_bytes();
    assert_error!(
        Marginals::from_bytes(&grams),
        Error::Stream(StreamProblem::Foreign { .. }),
        ["inclusion probabilities"]
    );
}
