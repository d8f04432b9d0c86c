//! Core-sets of batches, merged in another process.

use oracles::{assert_error, random::normals};
use partition_dpp::{
    Engine, Error, Features, KDpp, Partition, PartitionDpp, Quota,
    error::StreamProblem,
    map::{CoreSet, LocalSearch, Solver},
    stream::Batch,
};

use crate::world::World;

#[test]
fn core_sets_travel() {
    let rows: Vec<Vec<f64>> = normals(90 * 4, 6).chunks(4).map(<[f64]>::to_vec).collect();
    let labels: Vec<usize> = (0..90).map(|item| item % 2).collect();
    let world = World::of_rows(&rows, &labels, 3);
    let mut batches = world.batches.batches().to_vec();
    batches.insert(0, Batch::empty(12));
    let of_batch = |batch: &Batch| {
        let core = CoreSet::of_batch(batch, 3, &Engine::cpu()).unwrap();
        let read = CoreSet::from_bytes(&core.to_bytes()).unwrap();
        assert_eq!((&read, read.batch()), (&core, batch.number()));
        read
    };
    let core_sets: Vec<CoreSet> = batches.iter().map(of_batch).collect();
    let union = CoreSet::union(&core_sets).unwrap();
    let quota = Quota::named(union.partition(), [("0", 1), ("1", 2)]).unwrap();
    let dpp = PartitionDpp::new(union.features(), union.partition(), &quota).unwrap();
    let best = LocalSearch::default().solve(&dpp, &Engine::cpu()).unwrap();
    for item in &best.subset {
        let origin = union.origin(item);
        let original = origin.item * 3 + core_sets[origin.shard].batch() as usize;
        assert_eq!(union.features().row(item), rows[original]);
        assert_eq!(union.partition().names()[union.partition().part_of(item)], labels[original].to_string());
    }
    assert_error!(CoreSet::union(&core_sets[..1]), Error::Empty { .. }, ["core-sets"]);
    let bytes = core_sets[1].to_bytes();
    assert_error!(
        CoreSet::from_bytes(&bytes[..bytes.len() - 1]),
        Error::Stream(StreamProblem::Length { what: "a core-set", .. }),
        ["core-set"]
    );
}

/// Rows whose weights cannot be held together in f64 are chosen if the set needs them.
#[test]
fn core_sets_keep_light_rows() {
    let features = |scores: &[f64]| {
        let items = scores.len();
        let unit = |at: usize| if at.is_multiple_of(items + 1) { 1.0 } else { 0.1 };
        let rows: Vec<f64> = (0..items * items).map(unit).collect();
        Features::from_rows(items, items, rows).unwrap().with_log_quality(scores).unwrap()
    };
    // In one part: two levels of weights, and more levels than f64 holds.
    for scores in [vec![0.0, 0.0, -1500.0], (0..12).map(|item| -400.0 * f64::from(item)).collect()] {
        let items = scores.len();
        let one = Partition::from_labels(&vec!["a"; items]).unwrap();
        for total in [2, items] {
            let core = CoreSet::by_greedy(&features(&scores), &one, total, &Engine::cpu()).unwrap();
            assert_eq!(core.items(), (0..total).collect::<Vec<_>>(), "{scores:?}");
            let core = CoreSet::by_local_search(&features(&scores), &one, total, &Engine::cpu()).unwrap();
            assert_eq!(core.items(), (0..total).collect::<Vec<_>>(), "{scores:?}");
        }
    }
    let core = CoreSet::of_batch(
        &Batch::new(0, &features(&[0.0, 0.0, -1500.0]), &Partition::from_labels(&["a"; 3]).unwrap()).unwrap(),
        3,
        &Engine::cpu(),
    );
    let union = CoreSet::union(&[core.unwrap()]).unwrap();
    let best =
        LocalSearch::default().solve(&KDpp::new(union.features(), 3).unwrap(), &Engine::cpu()).unwrap();
    assert_eq!(best.subset.as_slice(), [0, 1, 2]);
    // Rows that depend on heavier ones are left out, as usual.
    let flat = Features::from_rows(3, 3, vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0]).unwrap();
    let flat = flat.with_log_quality(&[0.0, 0.0, -1500.0]).unwrap();
    let one = Partition::from_labels(&["a"; 3]).unwrap();
    assert_eq!(CoreSet::by_local_search(&flat, &one, 3, &Engine::cpu()).unwrap().items(), [0, 1]);
}

#[test]
fn core_sets_of_one_batch_do_not_unite() {
    let features = Features::from_rows(2, 2, vec![1.0, 0.0, 0.0, 1.0]).unwrap();
    let partition = Partition::from_labels(&["0", "1"]).unwrap();
    let of = |number, texts: [bool; 2]| {
        let batch = Batch::new(number, &features, &partition).unwrap().with_text_labels(&texts).unwrap();
        CoreSet::from_bytes(&CoreSet::of_batch(&batch, 1, &Engine::cpu()).unwrap().to_bytes()).unwrap()
    };
    assert_error!(
        CoreSet::union(&[of(3, [true; 2]), of(0, [true; 2]), of(3, [true; 2])]),
        Error::Stream(StreamProblem::RepeatedBatch { number: 3 }),
        ["the number 3"]
    );
    assert_error!(
        CoreSet::union(&[of(3, [true; 2]), of(0, [true, false])]),
        Error::Stream(StreamProblem::MixedLabels { .. }),
        ["\"1\""]
    );
    // Shards that are not batches have no numbers.
    let shard = CoreSet::by_greedy(&features, &partition, 1, &Engine::cpu()).unwrap();
    let union = CoreSet::union(&[shard.clone(), of(0, [true; 2]), shard]).unwrap();
    assert_eq!(union.features().items(), 6);
}
