//! Representation from rows in batches, against rows in one place.

use oracles::{assert_error, enumerable_cases, random::normals};
use partition_dpp::{
    Engine, Error, Features, Partition, PartitionDpp, Quota,
    error::StreamProblem,
    similarity,
    stream::{Batch, Batches, Grams, Marginals, Representation},
};

use crate::world::{World, named};

fn sums(batches: &[Batch]) -> Grams {
    let of_batch = |batch| Grams::of_batch(batch, &Engine::cpu()).unwrap();
    batches.iter().map(of_batch).fold(Grams::default(), |sums, own| sums.merge(own).unwrap())
}

/// Returns the largest gap of an inclusion probability, in units of the stated errors or of 1e-11.
fn gap(world: &World, representation: &Representation, quota: &[usize], expected: (&[f64], f64)) -> f64 {
    let engine = Engine::cpu();
    let representation = Representation::from_bytes(&representation.to_bytes()).unwrap();
    let mapped = world.batches.batches().iter().map(|batch| representation.batch(batch, &engine).unwrap());
    let batches = Batches::new(mapped.collect(), &engine);
    let found = batches
        .plan(|grams| Marginals::partition_dpp(grams, &grams.quota(named(quota))?, &Engine::cpu()))
        .unwrap();
    let (expected, error) = expected;
    let mut worst: f64 = 0.0;
    for batch in batches.batches() {
        let answer = found.of_batch(batch, &engine).unwrap();
        for (row, p) in answer.value.iter().enumerate() {
            let item = row * world.shards + batch.number() as usize;
            worst = worst.max((p - expected[item]).abs() / (answer.error + error).max(1e-11));
        }
    }
    worst
}

#[test]
fn laws_are_those_of_rows_that_lie_together() {
    let engine = Engine::cpu();
    let (mut checks, mut worst) = (0, 0.0_f64);
    for (at, case) in enumerable_cases().iter().enumerate() {
        let world = World::of_case(case, [1, 3, 7][at % 3]);
        let partition = Partition::from_labels(&case.labels).unwrap();
        let one = Partition::of(vec![0; case.items()]).unwrap();
        let sums = sums(world.batches.batches());
        for rho in [0.0, 1.0, 2.0] {
            let of_parts = Representation::of_parts(&sums, rho).unwrap();
            let of_all = Representation::of_all(&sums, rho).unwrap();
            for (found, own) in [(of_parts, &partition), (of_all, &one)] {
                let given = case.features();
                let together = similarity::Representation::new(&given, own, &engine).unwrap();
                let mapped = together.features(rho, &engine).unwrap();
                let quota = Quota::new(&partition, case.quota.clone()).unwrap();
                // The larger ρ is, the fewer directions are left.
                let Ok(dpp) = PartitionDpp::new(&mapped, &partition, &quota) else { continue };
                let Ok(inference) = dpp.inference(&engine) else { continue };
                let Ok(expected) = inference.inclusion_probabilities() else { continue };
                if expected.error > 1e-9 {
                    continue;
                }
                let gap = gap(&world, &found, &case.quota, (&expected.value, expected.error));
                assert!(gap < 30.0, "{} at {rho}: {gap}", case.name);
                worst = worst.max(gap);
                checks += 1;
            }
        }
    }
    println!("{checks} laws, gaps at most {worst:.2} of the stated errors or 1e-11");
    assert!(checks > 40);
}

fn batch(number: u64, labels: &[&str], values: Vec<f64>) -> Batch {
    let features = Features::from_rows(labels.len(), values.len() / labels.len(), values).unwrap();
    Batch::new(number, &features, &Partition::from_labels(labels).unwrap()).unwrap()
}

/// Mapping rows and applying scores commute, and labels keep their kinds.
#[test]
fn batches_keep_what_they_are() {
    let engine = Engine::cpu();
    let plain = batch(3, &["a", "b", "a", "b"], normals(12, 1)).with_text_labels(&[true, true]).unwrap();
    let representation = Representation::of_parts(&sums(std::slice::from_ref(&plain)), 1.0).unwrap();
    let (features, partition) = plain.content().unwrap();
    let scored = features.with_log_quality(&[0.5, -1.0, 900.0, 0.0]).unwrap();
    let scored = Batch::new(3, &scored, partition).unwrap().with_text_labels(&[true, true]).unwrap();
    let [plain, scored] = [&plain, &scored].map(|batch| representation.batch(batch, &engine).unwrap());
    let weighted = plain.content().unwrap().0.with_log_quality(&[0.5, -1.0, 900.0, 0.0]).unwrap();
    assert_eq!((plain.number(), scored.rows()), (3, 4));
    let other = Batch::new(3, &weighted, partition).unwrap().with_text_labels(&[true, true]).unwrap();
    assert_eq!(sums(&[scored]), sums(&[other]));
    assert_eq!(representation.batch(&Batch::empty(9), &engine).unwrap().rows(), 0);
    // A batch whose labels are numbers that read alike cannot be merged with it.
    let numbers = batch(4, &["a"], vec![1.0, 2.0, 3.0]).with_text_labels(&[false]).unwrap();
    let numbers = representation.batch(&numbers, &engine).unwrap();
    let merged = sums(&[plain]).merge(sums(&[numbers]));
    assert_error!(merged, Error::Stream(StreamProblem::MixedLabels { .. }), ["a"]);
}

#[test]
fn wrong_input_is_refused() {
    let engine = Engine::cpu();
    let known = sums(&[batch(0, &["a", "b", "b"], normals(9, 2))]);
    let of_parts = Representation::of_parts(&known, 1.0).unwrap();
    let of_all = Representation::of_all(&known, 1.0).unwrap();
    for representation in [&of_parts, &of_all] {
        let short = batch(1, &["a"], vec![1.0, 2.0]);
        assert_error!(representation.batch(&short, &engine), Error::Shape { what: "a row", .. }, ["3", "2"]);
    }
    let foreign = batch(1, &["c"], vec![1.0, 2.0, 3.0]);
    assert_error!(of_parts.batch(&foreign, &engine), Error::UnknownPart { .. }, ["c"]);
    assert_eq!(of_all.batch(&foreign, &engine).unwrap().rows(), 1);
    for rho in [-1.0, f64::NAN] {
        assert_error!(Representation::of_parts(&known, rho), Error::NotPositive { .. }, ["exponent"]);
    }
    assert_error!(Representation::of_all(&Grams::default(), 1.0), Error::Empty { .. }, ["batches"]);
    let mut bytes = of_parts.to_bytes();
    assert_error!(Grams::from_bytes(&bytes), Error::Stream(StreamProblem::Foreign { .. }), ["Gram"]);
    bytes[40] ^= 1;
    assert_error!(
        Representation::from_bytes(&bytes),
        Error::Stream(StreamProblem::Corrupt { .. }),
        ["representation"]
    );
}
