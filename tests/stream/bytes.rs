//! What travels between processes: back as it was, and refused if anything is wrong with it.

use partition_dpp::{
    Engine, Error,
    error::StreamProblem,
    stream::{Frame, Grams, Plan, Trials},
};

use crate::{
    common::random::normals,
    world::{World, named},
};

fn world() -> World {
    let rows: Vec<Vec<f64>> = normals(40 * 3, 1).chunks(3).map(<[f64]>::to_vec).collect();
    World::of_rows(&rows, &(0..40).map(|item| item % 2).collect::<Vec<_>>(), 3)
}

fn plans(grams: &Grams) -> Vec<Plan> {
    let quota = |counts: [usize; 2]| grams.quota(named(&counts)).unwrap();
    let ranges = grams.quota([("0", 0..=2), ("1", 1..=2)]).unwrap();
    vec![
        Plan::dpp(grams).unwrap(),
        Plan::k_dpp(grams, 2).unwrap(),
        Plan::partition_dpp(grams, &quota([1, 1])).unwrap(),
        Plan::partition_dpp(grams, &quota([0, 2])).unwrap(),
        Plan::partition_dpp(grams, &ranges).unwrap(),
        Plan::partition_dpp(grams, &ranges.with_total(3).unwrap()).unwrap(),
    ]
}

#[test]
fn what_is_written_is_read() {
    let world = world();
    let grams = world.batches.grams().unwrap();
    assert_eq!(Grams::from_bytes(&grams.to_bytes()).unwrap(), grams);
    assert_eq!(Grams::from_bytes(&Grams::default().to_bytes()).unwrap(), Grams::default());
    let frame = grams.frame().unwrap();
    assert_eq!(Frame::from_bytes(&frame.to_bytes()).unwrap(), frame);
    let framed = Grams::in_frame(&world.batches.batches()[0], &frame, &Engine::cpu()).unwrap();
    assert_eq!(Grams::from_bytes(&framed.to_bytes()).unwrap(), framed);
    for plan in plans(&grams) {
        let read = Plan::from_bytes(&plan.to_bytes()).unwrap();
        assert_eq!(read.to_bytes(), plan.to_bytes());
        assert_eq!(read.law_error().to_bits(), plan.law_error().to_bits());
        assert_eq!(world.draws(&read, 20, None, 1), world.draws(&plan, 20, None, 1));
        let trials = plan.trials(&world.batches.batches()[1], 5, 3, &Engine::cpu()).unwrap();
        assert_eq!(Trials::from_bytes(&trials.to_bytes()).unwrap(), trials);
        assert_eq!(trials.coordinates().len(), 5 * plan.rank());
        for row in trials.coordinates().chunks(plan.rank()) {
            assert!((row.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}

/// Reads bytes as one kind of thing.
type Read = fn(&[u8]) -> Result<(), Error>;

/// Every byte counts: whichever is changed, and wherever the end is cut off, reading fails by a typed error.
#[test]
fn damaged_bytes_are_refused() {
    let world = world();
    let grams = world.batches.grams().unwrap();
    let plan = plans(&grams).remove(2);
    let trials = plan.trials(&world.batches.batches()[1], 3, 3, &Engine::cpu()).unwrap();
    let kinds: [(Vec<u8>, Read); 4] = [
        (grams.to_bytes(), |bytes| Grams::from_bytes(bytes).map(drop)),
        (grams.frame().unwrap().to_bytes(), |bytes| Frame::from_bytes(bytes).map(drop)),
        (plan.to_bytes(), |bytes| Plan::from_bytes(bytes).map(drop)),
        (trials.to_bytes(), |bytes| Trials::from_bytes(bytes).map(drop)),
    ];
    for (at, (bytes, read)) in kinds.iter().enumerate() {
        read(bytes).unwrap();
        for changed in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[changed] ^= 0x10;
            assert!(matches!(read(&damaged), Err(Error::Stream(_))), "kind {at}, byte {changed}");
        }
        for length in 0..bytes.len() {
            assert!(matches!(read(&bytes[..length]), Err(Error::Stream(_))), "kind {at}, {length} bytes");
        }
        assert_error!(
            read(&[&bytes[..], &[0]].concat()),
            Error::Stream(StreamProblem::Length { .. }),
            ["bytes"]
        );
        let (other, _) = &kinds[(at + 1) % 4];
        assert_error!(read(other), Error::Stream(StreamProblem::Foreign { .. }), ["these bytes are not"]);
        assert_error!(read(b""), Error::Stream(StreamProblem::Foreign { .. }), ["not"]);
        let mut newer = bytes.clone();
        newer[8] = 9;
        assert_error!(
            read(&newer),
            Error::Stream(StreamProblem::Version { found: 9, supported: 2, .. }),
            ["version 9"]
        );
        let mut changed = bytes.clone();
        changed[30] ^= 1;
        assert_error!(read(&changed), Error::Stream(StreamProblem::Corrupt { .. }), ["corrupt"]);
    }
}

/// The checksum of contents, as the layout has it.
fn checksum(contents: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ contents.len() as u64;
    let (words, rest) = contents.as_chunks::<8>();
    let words = words.iter().map(|&word| u64::from_le_bytes(word));
    for word in words.chain(rest.iter().map(|&byte| byte.into())) {
        hash = (hash ^ word).wrapping_mul(0x0100_0000_01b3);
        hash ^= hash >> 32;
    }
    hash
}

/// Sound checksums around contents of which eight bytes are others; those of a plan have one of their own inside.
fn forged(bytes: &[u8], at: usize, word: u64, is_plan: bool) -> Vec<u8> {
    let end = bytes.len() - 8;
    let mut forged = bytes.to_vec();
    forged[at..at + 8].copy_from_slice(&word.to_le_bytes());
    if is_plan {
        let own = checksum(&forged[44..end]);
        forged[20..28].copy_from_slice(&own.to_le_bytes());
    }
    let sum = checksum(&forged[20..end]);
    forged[end..].copy_from_slice(&sum.to_le_bytes());
    forged
}

/// Whatever number stands anywhere, reading and using what is read never panics.
#[test]
fn forged_bytes_do_no_harm() {
    let world = world();
    let batch = &world.batches.batches()[1];
    let grams = world.batches.grams().unwrap();
    let numbers = [f64::NAN, f64::INFINITY, -1.0, 2.0, 1e308].map(f64::to_bits);
    let words = [0, 1, u64::MAX, u64::MAX - 1, i64::MAX as u64, i64::MIN as u64, (1 << 21) + 1];
    let words: Vec<u64> = words.into_iter().chain(numbers).collect();
    for plan in plans(&grams) {
        let bytes = plan.to_bytes();
        assert_eq!(forged(&bytes, 28, plan.expected_proposals().to_bits(), true), bytes);
        for (at, &word) in (28..bytes.len() - 15).flat_map(|at| words.iter().map(move |word| (at, word))) {
            let Ok(read) = Plan::from_bytes(&forged(&bytes, at, word, true)) else { continue };
            assert!(read.rank() <= read.dims(), "byte {at}");
            assert!(read.acceptance_bound() > 0.0 && read.acceptance_bound() <= 1.0, "byte {at}");
            assert!(read.law_error().is_finite() && read.expected_trials().is_finite(), "byte {at}");
            let _ = (read.rows(), read.trials(batch, 2, 1, &Engine::cpu()));
        }
    }
    let bytes = grams.to_bytes();
    for (at, &word) in (20..bytes.len() - 15).flat_map(|at| words.iter().map(move |word| (at, word))) {
        let Ok(read) = Grams::from_bytes(&forged(&bytes, at, word, false)) else { continue };
        let all = read.clone().merge(read).and_then(|all| all.merge(grams.clone()));
        let _ = all.and_then(|all| Ok((all.rows(), Plan::k_dpp(&all, 2)?)));
    }
}
