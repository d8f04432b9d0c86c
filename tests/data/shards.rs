//! Several matrices as one ground set, with the same bits as one matrix of all rows; and half precision in place.

use std::sync::Arc;

use half::f16;
use oracles::{
    assert_error,
    npy::{file, npy},
    random::normals,
};
use partition_dpp::{
    Engine, Error, Features, Method, Partition, PartitionDpp, Quota,
    map::{Greedy, LocalSearch, Restarts, Solver},
};

const ITEMS: usize = 3_000;
const DIMS: usize = 12;
/// The ends of the shards.
const CUTS: [usize; 4] = [1, 1_024, 2_999, ITEMS];

/// Returns values that half precision holds exactly.
fn values() -> Vec<f16> {
    normals(ITEMS * DIMS, 5).into_iter().map(f16::from_f64).collect()
}

fn in_single(values: &[f16]) -> Vec<f32> {
    values.iter().map(|value| value.to_f32()).collect()
}

/// Returns owned, shared and memory-mapped shards of the rows.
fn sharded(values: &[f32]) -> Features {
    let shard = |(at, &end): (usize, &usize)| {
        let start = if at == 0 { 0 } else { CUTS[at - 1] };
        let (rows, own) = (end - start, &values[start * DIMS..end * DIMS]);
        match at % 3 {
            0 => Features::from_rows(rows, DIMS, own.to_vec()).unwrap(),
            1 => Features::from_rows(rows, DIMS, Arc::<[f32]>::from(own)).unwrap(),
            _ => {
                let bytes: Vec<u8> = own.iter().flat_map(|value| value.to_le_bytes()).collect();
                // The shard is mapped, so the file may be deleted.
                Features::open_npy(file(&npy("<f4", false, &[rows as u64, DIMS as u64], &bytes)).path())
                    .unwrap()
            }
        }
    };
    let shards: Vec<Features> = CUTS.iter().enumerate().map(shard).collect();
    // Shards can be concatenated again.
    let front = Features::concatenate(&shards[..2]).unwrap();
    Features::concatenate(&[front, shards[2].clone(), shards[3].clone()]).unwrap()
}

/// Returns all results that must agree between two feature matrices, as text.
fn everything(features: &Features) -> Vec<String> {
    let labels: Vec<usize> = (0..ITEMS).map(|item| item * 7 % 3).collect();
    let partition = Partition::from_labels(&labels).unwrap();
    let quota = Quota::new(&partition, [2, 1, 2]).unwrap();
    let dpp = PartitionDpp::new(features, &partition, &quota).unwrap();
    let mut all = Vec::new();
    for method in [Method::Rejection, Method::Interpolation] {
        let draws = dpp.sampler(method, &Engine::cpu()).unwrap().sample_many(200, 3);
        all.push(format!("{:?}", draws.subsets()));
    }
    let inference = dpp.inference(&Engine::cpu()).unwrap();
    all.push(format!("{:?}", inference.log_partition_function()));
    all.push(format!("{:?}", inference.inclusion_probabilities().unwrap()));
    all.push(format!("{:?}", Greedy::default().solve(&dpp, &Engine::cpu()).unwrap()));
    let search = LocalSearch::default().with_restarts(Restarts::Count(2));
    let found = search.solve(&dpp, &Engine::cpu()).unwrap();
    all.push(format!("{:?} {}", found.subset, found.log_det));
    all
}

#[test]
fn shards_give_the_bits_of_one_matrix() {
    let values = in_single(&values());
    let whole = Features::from_rows(ITEMS, DIMS, &values).unwrap();
    let sharded = sharded(&values);
    assert_eq!((sharded.items(), sharded.dims()), (ITEMS, DIMS));
    assert!((0..ITEMS).all(|item| sharded.row(item) == whole.row(item)));
    assert_eq!(everything(&sharded), everything(&whole));
    // The comparison notices a single value.
    let mut other = values.clone();
    other[2_998 * DIMS] += 1.0;
    assert_ne!(everything(&self::sharded(&other)), everything(&whole));
}

#[test]
fn half_precision_gives_the_bits_of_single_precision() {
    let values = values();
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let half =
        Features::open_npy(file(&npy("<f2", false, &[ITEMS as u64, DIMS as u64], &bytes)).path()).unwrap();
    assert_eq!(format!("{half:?}"), format!("Features({ITEMS}×{DIMS} f16)"));
    let single = in_single(&values);
    assert_eq!(everything(&half), everything(&Features::from_rows(ITEMS, DIMS, &single).unwrap()));
}

#[test]
fn the_place_of_a_bad_value_is_its_place_in_the_shard_and_unlike_shards_are_named() {
    let good = Features::from_rows(2, 2, vec![1.0_f32; 4]).unwrap();
    assert_error!(
        Features::from_rows(2, 2, vec![f16::ONE, f16::ONE, f16::NEG_INFINITY, f16::NAN]),
        Error::NotFinite { row: 1, column: 0, value } if value == f64::NEG_INFINITY,
        ["-inf"]
    );
    let long = Features::from_rows(1, 3, vec![1.0_f32; 3]).unwrap();
    assert_error!(
        Features::concatenate(&[good.clone(), good.clone(), long]),
        Error::UnlikeShards { shard: 2, .. },
        ["shard 2", "3 values in f32", "2 values in f32"]
    );
    let double = Features::from_rows(1, 2, vec![1.0; 2]).unwrap();
    assert_error!(
        Features::concatenate(&[good, double]),
        Error::UnlikeShards { shard: 1, .. },
        ["2 values in f64", "2 values in f32"]
    );
    assert_error!(Features::concatenate(&[]), Error::Empty { .. }, ["shards"]);
}
