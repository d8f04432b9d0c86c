//! Effective samples per minute of swap chains, with and without moves to other sets; `cargo bench --bench mcmc`.
//!
//! The first problem chooses two items from each of 40 parts of m = 10⁵ Gaussian rows, n = 128, which no exact method
//! can
//! do. The second chooses one item from each of 20 parts, whose rows lie along two axes per pair of parts. There, one
//! swap is never enough to exchange the axes of a pair.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "benches panic and report")]

mod common;

use common::{threads, timed};
use partition_dpp::{
    Engine, Features, Partition, PartitionDpp, Quota,
    mcmc::{Chains, McmcOptions, OtherSetMoves, Thinning},
};

const ITEMS: usize = 100_000;
const DIMS: usize = 128;
const PARTS: usize = 40;
const DRAWS: u64 = 20_000;
/// The number of parts that form pairs, with a quota of one item each.
const PAIRED: usize = 20;

/// Prints the time and the effective draws of a run.
fn measure(what: &str, chains: &Chains, seed: u64) {
    let (mut run, burnt_in) = timed(|| chains.start(seed));
    let ((), seconds) = timed(|| run.extend(DRAWS));
    let samples = run.into_samples();
    let (found, diagnosed) = timed(|| samples.diagnostics().unwrap());
    let per_minute = 60.0 * found.log_det.effective_draws / seconds;
    println!("{what}");
    println!("  {DRAWS} draws in {seconds:.1} s ({burnt_in:.1} s before, {diagnosed:.1} s for diagnostics)");
    println!(
        "  log det: {per_minute:.0} effective draws a minute (wanted: ≥ 20000), τ {:.2}",
        found.log_det.autocorrelation_time
    );
    println!(
        "  R̂ of log det {:.4}, worst of all {:.4} (wanted: < 1.01)",
        found.log_det.r_hat,
        found.worst_r_hat()
    );
    let fewest = 60.0 * found.fewest_effective_draws() / seconds;
    println!("  fewest of all quantities {fewest:.0} effective draws a minute, thin {}", found.thin);
    let others = found.other_sets;
    if others.proposed > 0 {
        println!("  other sets: {:.3} of {} accepted", others.acceptance(), others.proposed);
    }
    println!("  drift {:.1e}, {} times anew", found.drift, found.refactorisations);
    for count in found.moves.iter().take(5) {
        println!("  {} at once: {:.3} of {} accepted", count.replaced, count.acceptance(), count.proposed);
    }
}

fn main() {
    let values = common::gaussian(ITEMS, DIMS);
    let features = Features::from_rows(ITEMS, DIMS, &values).unwrap();
    let partition = Partition::from_labels(&common::labels(ITEMS, PARTS)).unwrap();
    let quota = Quota::each(&partition, 2).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let options = McmcOptions::default().with_thin(Thinning::Sweeps(1));
    let swaps = options.with_other_sets(OtherSetMoves::Never);
    compare(
        &dpp,
        &[
            ("every sweep, no blocks, no other sets", swaps.with_blocks(0)),
            ("every sweep, default blocks, no other sets", swaps),
            ("every sweep, default blocks, other sets", options),
            ("thinned automatically, default blocks, other sets", McmcOptions::default()),
        ],
    );
    let (values, labels) = pairs_of_axes();
    let features = Features::from_rows(labels.len(), PAIRED, &values).unwrap();
    let partition = Partition::from_labels(&labels).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &Quota::each(&partition, 1).unwrap()).unwrap();
    compare(&dpp, &[("pairs of axes, no other sets", swaps), ("pairs of axes, other sets", options)]);
}

fn compare(dpp: &PartitionDpp, kinds: &[(&str, McmcOptions)]) {
    let two = threads(2);
    for (what, options) in kinds {
        let (chains, seconds) = timed(|| two.install(|| dpp.chains(options, &Engine::cpu())).unwrap());
        println!("set-up {seconds:.1} s");
        two.install(|| measure(what, &chains, 1));
    }
}

/// Returns thirty rows per part, near either of the two axes that the part shares with its partner.
fn pairs_of_axes() -> (Vec<f64>, Vec<usize>) {
    let items = 30 * PAIRED;
    let mut values = common::gaussian(items, PAIRED);
    let labels: Vec<usize> = (0..items).map(|item| item % PAIRED).collect();
    for (item, row) in values.chunks_exact_mut(PAIRED).enumerate() {
        row.iter_mut().for_each(|value| *value *= 0.01);
        row[item % PAIRED / 2 * 2 + item / PAIRED % 2] += 1.0;
    }
    (values, labels)
}
