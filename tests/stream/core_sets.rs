//! Core-sets of batches, united elsewhere.

use partition_dpp::{
    Error, PartitionDpp, Quota,
    engine::Cpu,
    error::StreamProblem,
    map::{CoreSet, LocalSearch, Solver},
    stream::Batch,
};

use crate::{common::random::normals, world::World};

#[test]
fn core_sets_travel() {
    let rows: Vec<Vec<f64>> = normals(90 * 4, 6).chunks(4).map(<[f64]>::to_vec).collect();
    let labels: Vec<usize> = (0..90).map(|item| item % 2).collect();
    let world = World::of_rows(&rows, &labels, 3);
    let mut batches = world.batches.batches().to_vec();
    batches.insert(0, Batch::empty(12));
    let of_batch = |batch: &Batch<'_>| {
        let core = CoreSet::of_batch(batch, 3, &Cpu).unwrap();
        let read = CoreSet::from_bytes(&core.to_bytes()).unwrap();
        assert_eq!((&read, read.batch()), (&core, batch.number()));
        read
    };
    let core_sets: Vec<CoreSet> = batches.iter().map(of_batch).collect();
    let union = CoreSet::union(&core_sets).unwrap();
    let quota = Quota::named(union.partition(), [("0", 1), ("1", 2)]).unwrap();
    let dpp = PartitionDpp::new(union.features(), union.partition(), &quota).unwrap();
    let best = LocalSearch::default().solve(&dpp, &Cpu).unwrap();
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
