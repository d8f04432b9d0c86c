//! Effective samples of swap chains per minute; `cargo bench --bench mcmc`.
//!
//! 40 parts × 2 items of m = 10⁵ Gaussian rows, n = 128: no exact method reaches there.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "benches panic and report")]

mod common;

use common::{threads, timed};
use partition_dpp::{
    Features, Partition, PartitionDpp, Quota,
    engine::Cpu,
    mcmc::{Chains, McmcOptions, Thinning},
};

const ITEMS: usize = 100_000;
const DIMS: usize = 128;
const PARTS: usize = 40;
const DRAWS: u64 = 20_000;

/// Prints what a run took and what it was worth.
fn measure(what: &str, chains: &Chains<'_>, seed: u64) {
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
    println!("  fewest effective draws of all {:.0}, thin {}", found.fewest_effective_draws(), found.thin);
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
    let two = threads(2);
    let options = McmcOptions::default().with_thin(Thinning::Sweeps(1));
    let kinds = [
        ("every sweep, no blocks", options.with_blocks(0)),
        ("every sweep, default blocks", options),
        ("thinned automatically", McmcOptions::default()),
    ];
    for (what, options) in kinds {
        let (chains, seconds) = timed(|| two.install(|| dpp.chains(&options, &Cpu)).unwrap());
        println!("set-up {seconds:.1} s");
        two.install(|| measure(what, &chains, 1));
    }
}
