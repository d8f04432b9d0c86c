//! Bytes sent between processes are read back unchanged, and refused if anything is wrong with them.

use std::ops::Range;

use oracles::{assert_error, random::normals};
use partition_dpp::{
    Engine, Error,
    error::StreamProblem,
    stream::{Frame, Grams, Plan, Representation, Trials},
};
use twox_hash::XxHash64;

use crate::world::{World, named};

fn world() -> World {
    let rows: Vec<Vec<f64>> = normals(40 * 3, 1).chunks(3).map(<[f64]>::to_vec).collect();
    World::of_rows(&rows, &(0..40).map(|item| item % 2).collect::<Vec<_>>(), 3)
}

fn plans(grams: &Grams) -> Vec<Plan> {
    let quota = |counts: [usize; 2]| grams.quota(named(&counts)).unwrap();
    let ranges = grams.quota([("0", 0..=2), ("1", 1..=2)]).unwrap();
    vec![
        Plan::dpp(grams, &Engine::cpu()).unwrap(),
        Plan::k_dpp(grams, 2, &Engine::cpu()).unwrap(),
        Plan::partition_dpp(grams, &quota([1, 1]), &Engine::cpu()).unwrap(),
        Plan::partition_dpp(grams, &quota([0, 2]), &Engine::cpu()).unwrap(),
        Plan::partition_dpp(grams, &ranges, &Engine::cpu()).unwrap(),
        Plan::partition_dpp(grams, &ranges.with_total(3).unwrap(), &Engine::cpu()).unwrap(),
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

/// Reads bytes as one type.
type Read = fn(&[u8]) -> Result<(), Error>;

/// If any byte is changed, or the end is cut off anywhere, reading fails with a typed error.
#[test]
fn damaged_bytes_are_refused() {
    let world = world();
    let grams = world.batches.grams().unwrap();
    let plan = plans(&grams).remove(2);
    let trials = plan.trials(&world.batches.batches()[1], 3, 3, &Engine::cpu()).unwrap();
    let representation = Representation::of_parts(&grams, 1.0).unwrap();
    let kinds: [(Vec<u8>, Read); 5] = [
        (representation.to_bytes(), |bytes| Representation::from_bytes(bytes).map(drop)),
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
        let (other, _) = &kinds[(at + 1) % 5];
        assert_error!(read(other), Error::Stream(StreamProblem::Foreign { .. }), ["these bytes are not"]);
        assert_error!(read(b""), Error::Stream(StreamProblem::Foreign { .. }), ["not"]);
        let mut newer = bytes.clone();
        newer[8] = 9;
        assert_error!(
            read(&newer),
            Error::Stream(StreamProblem::Version { found: 9, supported: 3, .. }),
            ["version 9"]
        );
        let mut changed = bytes.clone();
        changed[30] ^= 1;
        assert_error!(read(&changed), Error::Stream(StreamProblem::Corrupt { .. }), ["corrupt"]);
    }
}

/// Returns a valid header and checksum around contents in which some bytes are replaced.
fn forged(bytes: &[u8], replaced: Range<usize>, by: &[u8]) -> Vec<u8> {
    let mut contents = bytes[20..bytes.len() - 8].to_vec();
    contents.splice(replaced, by.iter().copied());
    let (length, checksum) = (contents.len() as u64, XxHash64::oneshot(0, &contents));
    [&bytes[..12], &length.to_le_bytes(), &contents, &checksum.to_le_bytes()].concat()
}

/// Returns contents with other numbers at every place: eight bytes replaced as they are, and one byte by a number of
/// any
/// length.
fn forgeries(bytes: &[u8]) -> impl Iterator<Item = (usize, Vec<u8>)> {
    let numbers = [f64::NAN, f64::INFINITY, -1.0, 2.0, 1e308].map(f64::to_bits);
    let words =
        [0, 1, u64::MAX, u64::MAX - 1, i64::MAX as u64, i64::MIN as u64, (1 << 21) + 1, (1 << 22) + 2];
    let words: Vec<u64> = words.into_iter().chain(numbers).collect();
    (0..bytes.len() - 28).flat_map(move |at| {
        let whole = words.iter().map(move |word| (8, word.to_le_bytes().to_vec()));
        let short = words.iter().map(|word| (1, postcard::to_allocvec(word).unwrap()));
        let all: Vec<_> = whole.chain(short).filter(|(length, _)| at + length + 28 <= bytes.len()).collect();
        all.into_iter().map(move |(length, by)| (at, forged(bytes, at..at + length, &by)))
    })
}

/// For any number at any place, reading and using the contents never panics.
#[test]
fn forged_bytes_do_no_harm() {
    let world = world();
    let batch = &world.batches.batches()[1];
    let grams = world.batches.grams().unwrap();
    for plan in plans(&grams) {
        let bytes = plan.to_bytes();
        assert_eq!(forged(&bytes, 0..8, &plan.expected_proposals().to_le_bytes()), bytes);
        for (at, bytes) in forgeries(&bytes) {
            let Ok(read) = Plan::from_bytes(&bytes) else { continue };
            assert!(read.rank() <= read.dims(), "byte {at}");
            assert!(read.acceptance_bound() > 0.0 && read.acceptance_bound() <= 1.0, "byte {at}");
            assert!(read.law_error().is_finite() && read.expected_trials().is_finite(), "byte {at}");
            let _ = (read.rows(), read.trials(batch, 2, 1, &Engine::cpu()));
        }
    }
    let [of_parts, of_all] = [Representation::of_parts, Representation::of_all];
    for made in [of_parts(&grams, 1.0).unwrap(), of_all(&grams, 1.0).unwrap()] {
        for (_, bytes) in forgeries(&made.to_bytes()) {
            let Ok(read) = Representation::from_bytes(&bytes) else { continue };
            let _ = read.batch(batch, &Engine::cpu());
        }
    }
    for (_, bytes) in forgeries(&grams.to_bytes()) {
        let Ok(read) = Grams::from_bytes(&bytes) else { continue };
        let all = read.clone().merge(read).and_then(|all| all.merge(grams.clone()));
        let _ = all.and_then(|all| Ok((all.rows(), Plan::k_dpp(&all, 2, &Engine::cpu())?)));
    }
}
