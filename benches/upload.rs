//! Uploads of rows to a GPU: bytes sent relative to bytes stored, and the host's time relative to a copy.
//!
//! The host's time covers filling the memory from which the device copies, on all threads. The copy of the same bytes
//! uses as many threads and also goes to new memory. Both are medians of fifteen runs. A ratio above 1.2 is marked.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a bench panics and prints"
)]

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use half::f16;
use partition_dpp::{
    Features,
    engine::{
        Precision,
        gpu::{Gpu, GpuOptions},
        low_level::{Items, Rows, Verbs},
    },
};
use rayon::prelude::*;

const RUNS: usize = 15;
/// The number of rows. They take at most 32 MiB and are filled before any of them are sent, since a software driver
/// copies them on the same cores.
const ITEMS: usize = 65_536;
/// The number of bytes that a thread copies at a time.
const PIECE: usize = 1 << 22;

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Returns the time of a copy to new memory.
fn copied(bytes: &[u8]) -> Duration {
    let mut pieces: Vec<Vec<u8>> = bytes.chunks(PIECE).map(|piece| Vec::with_capacity(piece.len())).collect();
    let start = Instant::now();
    pieces.par_iter_mut().zip(bytes.par_chunks(PIECE)).for_each(|(to, from)| to.extend_from_slice(from));
    let taken = start.elapsed();
    black_box(&pieces);
    taken
}

fn measure(precision: Precision, name: &str, bytes: &[u8], features: impl Fn() -> Features) {
    let copy = median((0..RUNS).map(|_| copied(bytes)).collect());
    let mut sent = 0;
    let fill = || {
        // Each run opens a new device, so that nothing is reused.
        let gpu = Gpu::new(&GpuOptions::default().with_precision(precision)).unwrap();
        let features = features();
        let before = gpu.traffic();
        gpu.row_norms(&Rows::scaled(&features, vec![Items::All(ITEMS)])).unwrap();
        sent = (gpu.traffic() - before).uploaded;
        gpu.filling()
    };
    let fill = median(std::iter::repeat_with(fill).take(RUNS).collect());
    let ratio = fill.as_secs_f64() / copy.as_secs_f64();
    println!(
        "{precision} from {name}: {:6.1} MB, sent {:6.2} % of it; copy {:6.1} ms, upload {:6.1} ms, ratio {ratio:.2}{}",
        bytes.len() as f64 / 1e6,
        100.0 * sent as f64 / bytes.len() as f64,
        copy.as_secs_f64() * 1e3,
        fill.as_secs_f64() * 1e3,
        if ratio > 1.2 { " (above 1.2)" } else { "" },
    );
}

fn main() {
    if let Err(error) = Gpu::new(&GpuOptions::default()) {
        println!("SKIPPED: {error}");
        return;
    }
    for dims in [64, 128] {
        let single: &[f32] = Vec::leak(
            (0..ITEMS * dims).map(|i| (i * 2_654_435_761 % 1_000_003) as f32 * 1e-6 - 0.5).collect(),
        );
        let half: &[f16] = Vec::leak(single.iter().map(|&x| f16::from_f32(x)).collect());
        for precision in [Precision::F32, Precision::F64] {
            let name = |value| format!("{value}, n = {dims}");
            measure(precision, &name("f16"), bytemuck::cast_slice(half), || {
                Features::from_rows(ITEMS, dims, half).unwrap()
            });
            measure(precision, &name("f32"), bytemuck::cast_slice(single), || {
                Features::from_rows(ITEMS, dims, single).unwrap()
            });
        }
    }
}
