//! Every seed, and everything that was ever found, through its target.

use std::{fs, path::Path};

use arbitrary::{Arbitrary, Unstructured};
use pdpp_fuzz::{command, csv, npy, problem, quota};

fn all(target: &str, run: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target);
    let mut seeds: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    seeds.sort();
    assert!(!seeds.is_empty());
    for seed in seeds {
        println!("{}", seed.display());
        run(&fs::read(seed).unwrap());
    }
}

fn all_cases<C>(target: &str, run: impl Fn(&C))
where
    C: for<'a> Arbitrary<'a>,
{
    all(target, |bytes| run(&C::arbitrary_take_rest(Unstructured::new(bytes)).unwrap()));
}

#[test]
fn npy_seeds() {
    all("npy", npy::run);
}

#[test]
fn csv_seeds() {
    all("csv", csv::run);
}

#[test]
fn quota_seeds() {
    all_cases("quota", quota::run);
}

#[test]
fn command_seeds() {
    all_cases("command", command::run);
}

#[test]
fn problem_seeds() {
    all_cases("problem", problem::run);
}
