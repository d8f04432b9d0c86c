//! Merged Gram matrices agree within rounding, in any order and by any tree.

use oracles::{assert_error, random::normals};
use partition_dpp::{
    Engine, Error, Features, Partition,
    error::StreamProblem,
    stream::{Batch, Batches, Grams, Plan},
};

use crate::world::{World, named};

const DIMS: usize = 7;
const SIZES: [usize; 6] = [900, 1, 2_500, 600, 17, 40];

fn batch(at: usize) -> Batch {
    let size = SIZES[at];
    let features = Features::from_rows(size, DIMS, normals(size * DIMS, at as u64)).unwrap();
    let labels: Vec<usize> = (0..size).map(|item| (item + at) % 3).collect();
    Batch::new(at as u64, &features, &Partition::from_labels(&labels).unwrap()).unwrap()
}

fn merged(order: &[usize]) -> Grams {
    let of = |&at: &usize| Grams::of_batch(&batch(at), &Engine::cpu()).unwrap();
    order.iter().map(of).fold(Grams::default(), |all, one| all.merge(one).unwrap())
}

/// Merges halves, halves of these, and so on.
fn tree(order: &[usize]) -> Grams {
    if order.len() < 2 {
        return merged(order);
    }
    let (left, right) = order.split_at(order.len() / 2);
    tree(left).merge(tree(right)).unwrap()
}

/// Makes a plan from the Gram matrices of all parts.
fn plan(grams: &Grams) -> Plan {
    Plan::partition_dpp(grams, &grams.quota(named(&[2, 1, 1])).unwrap(), &Engine::cpu()).unwrap()
}

#[test]
fn order_and_tree_change_only_rounding() {
    let first = merged(&[0, 1, 2, 3, 4, 5]);
    let entries = |grams: &Grams| {
        // The contents after header, dimensions and lists of sizes are numbers; compare the plans' leverages.
        let plan = plan(grams);
        (0..6).map(|at| plan.total_leverage(&batch(at), &Engine::cpu()).unwrap()).collect::<Vec<f64>>()
    };
    let expected = entries(&first);
    assert!((expected.iter().sum::<f64>() - DIMS as f64).abs() < 1e-11);
    for order in [[5, 4, 3, 2, 1, 0], [2, 0, 5, 3, 1, 4]] {
        for grams in [merged(&order), tree(&order)] {
            assert_eq!(grams.rows(), first.rows());
            assert_eq!(grams.parts().collect::<Vec<_>>(), first.parts().collect::<Vec<_>>());
            for (found, expected) in entries(&grams).iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-8 * expected, "{order:?}: {found} {expected}");
            }
        }
    }
    let (a, b) = (merged(&[0, 2]), merged(&[3]));
    assert_eq!(a.clone().merge(b.clone()).unwrap(), b.merge(a).unwrap(), "merging is commutative");
}

#[test]
fn what_is_unlike_does_not_merge() {
    let wide = Features::from_rows(2, 3, vec![1.0; 6]).unwrap();
    let wide = Batch::new(0, &wide, &Partition::from_labels(&["a", "b"]).unwrap()).unwrap();
    let wide = Grams::of_batch(&wide, &Engine::cpu()).unwrap();
    assert_error!(
        merged(&[4]).merge(wide),
        Error::Shape { what: "a row", expected: DIMS, found: 3 },
        ["7", "3"]
    );
    let frame = merged(&[0]).frame().unwrap();
    let framed = Grams::in_frame(&batch(0), &frame, &Engine::cpu()).unwrap();
    assert_error!(
        merged(&[1]).merge(framed.clone()),
        Error::Stream(StreamProblem::OtherFrame),
        ["coordinates"]
    );
    assert!(framed.merge(Grams::of_batch(&Batch::empty(9), &Engine::cpu()).unwrap()).is_ok());
}

/// Rows with condition numbers of up to 10⁹: a Gram matrix alone refuses them, loses directions or is very
/// inaccurate. A
/// second pass keeps all digits.
#[test]
fn a_frame_keeps_small_directions() {
    for (spread, wants) in [(1e2_f64, false), (1e5, true), (1e7, true), (1e9, true)] {
        let mut rows: Vec<Vec<f64>> = normals(300 * 4, 9).chunks(4).map(<[f64]>::to_vec).collect();
        let turn = normals(16, 10);
        for row in &mut rows {
            let scaled: Vec<f64> = (0..4).map(|j| row[j] * spread.powf(-(j as f64) / 3.0)).collect();
            // Mix the coordinates, so that none is small by itself.
            *row = (0..4).map(|i| (0..4).map(|j| turn[4 * i + j] * scaled[j]).sum()).collect();
        }
        let labels: Vec<usize> = (0..300).map(|item| item % 2).collect();
        let world = World::of_rows(&rows, &labels, 3);
        let make = |grams: &Grams| Plan::partition_dpp(grams, &grams.quota(named(&[2, 2]))?, &Engine::cpu());
        let first = make(&world.batches.grams().unwrap());
        let before = first.as_ref().map_or(f64::INFINITY, Plan::law_error);
        let plan = world.plan(make);
        println!("condition {spread:.0e}: law error {before:.1e}, with a frame {:.1e}", plan.law_error());
        assert_eq!(before > 1e-9, wants, "{before:e}");
        assert!(plan.law_error() < 1e-14 * spread.max(1e5));
        // All rows together are orthonormal in the plan's coordinates, in the directions that are used.
        let totals =
            world.batches.batches().iter().map(|batch| plan.total_leverage(batch, &Engine::cpu()).unwrap());
        assert!((totals.sum::<f64>() - 4.0).abs() < 1e-7);
    }
}

/// A second pass finds directions that a Gram matrix has lost to rounding, and finds no directions that no row has.
#[test]
fn ranks_are_those_of_the_rows() {
    let rows = |spread: f64| -> Vec<Vec<f64>> {
        let turn = normals(16, 10);
        let row = |row: &[f64]| {
            let scaled: Vec<f64> = (0..4).map(|j| row[j] * [1.0, 1e-3, 1e-6, 1.0 / spread][j]).collect();
            (0..4).map(|i| (0..4).map(|j| turn[4 * i + j] * scaled[j]).sum()).collect()
        };
        normals(300 * 4, 9).chunks(4).map(row).collect()
    };
    let labels: Vec<usize> = (0..300).map(|item| item % 2).collect();
    for spread in [3e7, 1e8, 1e9] {
        let world = World::of_rows(&rows(spread), &labels, 3);
        let grams = world.batches.grams().unwrap();
        let first = Plan::k_dpp(&grams, 4, &Engine::cpu());
        println!("condition {spread:.0e}: {:?}", first.as_ref().map(Plan::law_error));
        assert!(first.is_err_and(|error| grams.wants_frame_after(&error)), "{spread:e}");
        let plan = world.plan(|grams| Plan::k_dpp(grams, 4, &Engine::cpu()));
        assert!(plan.rank() == 4 && plan.law_error() < 1e-14 * spread, "{:e}", plan.law_error());
        let four = |grams: &Grams| Plan::partition_dpp(grams, &grams.quota(named(&[4, 0]))?, &Engine::cpu());
        assert!(world.plan(four).law_error() < 1e-14 * spread);
    }
    let flat = World::of_rows(&rows(f64::INFINITY), &labels, 3);
    let error = Error::SizeAboveRank { k: 4, rank: 3 };
    assert_eq!(
        flat.batches.plan(|grams| Plan::k_dpp(grams, 4, &Engine::cpu())).unwrap_err().to_string(),
        error.to_string()
    );
    let grams = flat.batches.grams().unwrap();
    assert!(grams.wants_frame_after(&error) && !Grams::default().wants_frame_after(&error));
    assert!(
        !grams.wants_frame_after(&Error::SizeAboveRank { k: 5, rank: 3 }),
        "more than n is not a matter of rounding"
    );
    let frame = grams.frame().unwrap();
    let framed = Grams::in_frame(&flat.batches.batches()[0], &frame, &Engine::cpu()).unwrap();
    assert!(!framed.wants_frame_after(&error));
}

#[test]
fn numbers_of_batches_do_not_repeat() {
    let batches = Batches::new(vec![batch(0), batch(4), batch(0)], &Engine::cpu());
    let repeated = Error::Stream(StreamProblem::RepeatedBatch { number: 0 }).to_string();
    assert_error!(
        batches.grams(),
        Error::Stream(StreamProblem::RepeatedBatch { number: 0 }),
        ["the number 0", "a different number"]
    );
    assert_eq!(batches.plan(|grams| Plan::dpp(grams, &Engine::cpu())).unwrap_err().to_string(), repeated);
    let plan = plan(&merged(&[0, 4, 5]));
    assert_eq!(batches.trials(&plan).unwrap_err().to_string(), repeated);
}

#[test]
fn batches_of_one_number_do_not_merge() {
    let repeated = |number| Error::Stream(StreamProblem::RepeatedBatch { number }).to_string();
    let of = |batch: &Batch| Grams::of_batch(batch, &Engine::cpu()).unwrap();
    let (first, fourth, empty) = (of(&batch(0)), of(&batch(4)), of(&Batch::empty(4)));
    let frame = first.frame().unwrap();
    let framed = |at| Grams::in_frame(&batch(at), &frame, &Engine::cpu()).unwrap();
    for (one, other, number) in [
        (first.clone(), first.clone(), 0),
        (merged(&[4, 0, 1]), Grams::from_bytes(&merged(&[5, 1]).to_bytes()).unwrap(), 1),
        (fourth.clone(), empty.clone(), 4),
        (empty.clone(), fourth.clone(), 4),
        (empty.clone(), empty.clone(), 4),
        (framed(4), framed(4), 4),
    ] {
        assert_eq!(one.merge(other).unwrap_err().to_string(), repeated(number));
    }
    assert_eq!(first.merge(empty).unwrap().rows(), 900);
}

#[test]
fn labels_that_read_alike_do_not_merge() {
    let labelled = |at: usize, texts: &[bool]| batch(at).with_text_labels(texts).unwrap();
    let of = |at, texts: &[bool]| Grams::of_batch(&labelled(at, texts), &Engine::cpu()).unwrap();
    let [texts, numbers] = [[true; 3], [false; 3]];
    let read = Grams::from_bytes(&of(0, &numbers).to_bytes()).unwrap();
    assert_error!(
        read.clone().merge(of(5, &texts)),
        Error::Stream(StreamProblem::MixedLabels { .. }),
        ["\"0\"", "text in some batches"]
    );
    assert_error!(
        merged(&[2]).merge(read.clone()).and_then(|both| both.merge(of(5, &[false, false, true]))),
        Error::Stream(StreamProblem::MixedLabels { .. }),
        ["\"2\""]
    );
    assert_eq!(read.merge(of(5, &numbers)).and_then(|both| both.merge(merged(&[2]))).unwrap().rows(), 3440);
    assert_error!(batch(0).with_text_labels(&[true]), Error::Shape { expected: 3, found: 1, .. }, ["kinds"]);
}
