//! Replays the starting inputs and the findings of the fuzz targets: every file in `fuzz/seeds/`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic, and so may its helpers")]
#![allow(clippy::print_stdout, reason = "the seed at fault is the last one named")]
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the targets use small numbers")]
#![allow(unreachable_pub, reason = "modules of another crate")]

#[path = "../../fuzz/src/command/mod.rs"]
mod command;
#[path = "../../fuzz/src/common.rs"]
mod common;
#[path = "../../fuzz/src/csv.rs"]
mod csv;
#[path = "../../fuzz/src/files.rs"]
mod files;
#[path = "../../fuzz/src/npy.rs"]
mod npy;
#[path = "../../fuzz/src/problem.rs"]
mod problem;
#[path = "../../fuzz/src/quota.rs"]
mod quota;
#[path = "../../fuzz/src/values.rs"]
mod values;

use std::{fs, path::Path};

use arbitrary::{Arbitrary, Unstructured};

fn replay(target: &str, run: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds").join(target);
    let mut seeds: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!seeds.is_empty(), "{target} has no seeds");
    seeds.sort();
    for seed in seeds {
        println!("{}", seed.display());
        run(&fs::read(seed).unwrap());
    }
}

/// Makes a case as the target does: a file that is too short is padded with zeros.
fn case<C: for<'a> Arbitrary<'a>>(bytes: &[u8]) -> C {
    C::arbitrary_take_rest(Unstructured::new(bytes)).unwrap()
}

/// A single test, since the targets do all work in the thread that began.
#[test]
fn seeds() {
    replay("npy", npy::run);
    replay("csv", csv::run);
    replay("quota", |bytes| quota::run(&case(bytes)));
    replay("command", |bytes| command::run(&case(bytes)));
    replay("problem", |bytes| problem::run(&case(bytes)));
}
