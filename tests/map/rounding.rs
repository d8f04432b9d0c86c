//! Bounds against exact determinants: for any rows, none is below the optimum or below its own set.
//!
//! Part of the search runs by default. `PDPP_ROUNDING_CASES` sets another number of problems.

#![allow(clippy::excessive_precision, reason = "as they were given")]

use oracles::{
    exact::Minors,
    rounding::{Answers, Kind, Problem, Tally},
};
use partition_dpp::{Engine, Features, Partition, PartitionDpp, Quota, map::UpperBound};

#[test]
fn no_bound_is_below_the_optimum() {
    let count = std::env::var("PDPP_ROUNDING_CASES").map_or(1600, |count| count.parse().unwrap());
    let mut tally = Tally::default();
    for seed in 0..count {
        tally.add(&Problem::new(seed));
    }
    println!("{tally}");
    assert_eq!(tally.faults, Vec::<String>::new());
    // Small rounding errors are no excuse, since the search has a tolerance.
    assert!(tally.of(Kind::Ordinary).unproven == 0, "{tally}");
    assert!(tally.of(Kind::Ordinary).loosest <= 1e-6, "{tally}");
}

#[test]
fn planted_faults_are_seen() {
    let mut seen = [0; 4];
    for seed in 0..400 {
        let problem = Problem::new(seed);
        let Some(answers) = problem.answers() else { continue };
        assert_eq!(answers.faults(), Vec::<String>::new());
        let tight = answers.exact.upper_bound.is_some_and(|bound| bound - answers.optimum < 5e-5);
        if !tight || answers.exact.missing > 0 {
            continue;
        }
        let with = |change: &dyn Fn(&mut Answers)| {
            let mut wrong = answers.clone();
            change(&mut wrong);
            usize::from(!wrong.faults().is_empty())
        };
        let lower = |bound: &mut Option<f64>| *bound = bound.map(|bound| bound - 1e-4);
        seen[0] += 1;
        seen[1] += with(&|wrong| lower(&mut wrong.exact.upper_bound));
        let optimum = answers.optimum;
        seen[2] += with(&|wrong| wrong.certificate.bounds[0].1 = optimum - 1e-4);
        seen[3] += with(&|wrong| wrong.certificate.upper_bound = f64::NAN);
    }
    println!("{seen:?}");
    assert!(seen[0] > 100 && seen.iter().all(|&count| count == seen[0]), "{seen:?}");
}

/// The columns add up to almost zero: the Gram matrix loses all digits of the third eigenvalue, 2e-15.
const NEARLY_SINGULAR: [[f64; 3]; 7] = [
    [-0.391_620_993_614_196_8, -0.738_910_257_816_314_7, 1.154_677_271_842_956_5],
    [-0.056_807_309_389_114_38, -0.753_198_444_843_292_2, 0.907_777_726_650_238],
    [-1.046_716_332_435_607_9, 0.340_701_669_454_574_6, 0.432_641_953_229_904_17],
    [-1.998_616_933_822_631_8, 0.031_453_028_321_266_174, 1.535_521_864_891_052_2],
    [1.230_552_434_921_264_6, 1.336_936_473_846_435_5, -2.499_643_802_642_822_3],
    [0.190_157_145_261_764_53, 0.134_979_113_936_424_26, -0.304_201_424_121_856_7],
    [-1.141_894_221_305_847_2, 0.259_370_893_239_974_98, 0.600_681_722_164_154],
];

#[test]
fn a_nearly_singular_kernel() {
    let rows: Vec<Vec<f64>> = NEARLY_SINGULAR.iter().map(|row| row.to_vec()).collect();
    let minors = Minors::of_features(&rows);
    let features = Features::from_rows(7, 3, rows.concat()).unwrap();
    let partition = Partition::from_labels(&[0; 7]).unwrap();
    for (low, high) in [(2, 4), (2, 3), (3, 3), (2, 2), (1, 3), (0, 3)] {
        let quota = Quota::new(&partition, &[low..=high]).unwrap();
        let model = PartitionDpp::new(&features, &partition, &quota).unwrap();
        let certificate = UpperBound::default().certify(&model, &Engine::cpu()).unwrap();
        let optimum = minors.optimum(|set| (low..=high).contains(&(set.count_ones() as usize)));
        println!("{low}..{high}: {:?} for {optimum}", certificate.bounds);
        assert!(certificate.bounds.iter().all(|&(_, bound)| bound >= optimum), "{certificate:?} {optimum}");
    }
}
