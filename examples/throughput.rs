//! Set-up time and samples per second of a (5,5,5) Partition-DPP on Gaussian features.
//!
//! `cargo run --release --example throughput -- [items] [dims]`

use std::time::Instant;

use partition_dpp::{Engine, Features, Method, Partition, PartitionDpp, Quota};
use rand::{RngExt, SeedableRng};

#[expect(clippy::print_stdout, reason = "an example reports to the terminal")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<usize>());
    let items = arguments.next().transpose()?.unwrap_or(100_000);
    let dims = arguments.next().transpose()?.unwrap_or(64);

    // A sum of uniform numbers is close enough to Gaussian here.
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    let deviate = |rng: &mut rand_chacha::ChaCha8Rng| (0..4).map(|_| rng.random::<f32>() - 0.5).sum::<f32>();
    let values: Vec<f32> = (0..items * dims).map(|_| deviate(&mut rng)).collect();
    let labels: Vec<usize> = (0..items).map(|item| item % 3).collect();

    let start = Instant::now();
    let features = Features::from_rows(items, dims, values)?;
    let partition = Partition::from_labels(&labels)?;
    let quota = Quota::each(&partition, 5)?;
    let dpp = PartitionDpp::new(&features, &partition, &quota)?;
    let checked = start.elapsed();
    let sampler = dpp.sampler(Method::Auto, &Engine::cpu())?;
    let set_up = start.elapsed();
    println!("m = {items}, n = {dims}: input checked in {checked:.2?}, set up after {set_up:.2?}");

    let start = Instant::now();
    let samples = sampler.sample_many(2000, 7);
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{:.0} samples/s, {:.1} proposals per sample (guaranteed: at most {:.1})",
        samples.subsets().len() as f64 / seconds,
        1.0 / samples.acceptance_observed(),
        1.0 / samples.acceptance_bound(),
    );
    Ok(())
}
