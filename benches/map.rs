//! Greedy MAP at up to 10⁶ items compared with published algorithms; `cargo bench --bench map`.
//!
//! All ratios are medians of pairs run in turn. If python3 with numpy is installed, numpy is one of the competitors.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    reason = "benches panic and report, and round to f32"
)]

mod common;

use std::{
    cell::RefCell,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use common::{gaussian, ratio_of_pairs, report_time, threads};
use faer::{Accum, Mat, MatRef, Par, linalg::matmul::matmul};
use partition_dpp::{
    Engine, Features, KDpp,
    data::{Scalar, Storage},
    engine::low_level::{Items, Rows},
    map::{Greedy, Solution, Solver},
};
use rayon::ThreadPool;

/// Features and the size of a k-DPP on them.
struct Case {
    features: Features,
    k: usize,
}

impl Case {
    fn new<T: Scalar>(items: usize, dims: usize, k: usize, values: impl Into<Storage<T>>) -> Self {
        Self { features: Features::from_rows(items, dims, values).unwrap(), k }
    }

    fn model(&self) -> KDpp {
        KDpp::new(&self.features, self.k).unwrap()
    }
}

fn greedy(model: &KDpp) -> Solution {
    Greedy::default().solve(model, &Engine::cpu()).unwrap()
}

/// Algorithm 1 of Chen, Zhang and Zhou (2018), written from its formulas, with c as a k×m array in tiles that stay in
/// the cache.
///
/// ```text
/// e_i = (K_ji − ⟨c_j, c_i⟩) / d_j,   c_i ← [c_i e_i],   d_i² ← d_i² − e_i²,   j = argmax d_i²
/// ```
fn fast_greedy(kernel: MatRef<'_, f64>, k: usize) -> Vec<usize> {
    const TILE: usize = 512;
    let m = kernel.nrows();
    let mut squares: Vec<f64> = (0..m).map(|i| kernel[(i, i)]).collect();
    let mut c: Vec<f64> = Vec::with_capacity(k * m);
    let mut picks = vec![argmax(&squares)];
    while let Some(&j) = picks.last().filter(|_| picks.len() < k) {
        let d = squares[j].sqrt();
        let own: Vec<f64> = c.chunks_exact(m).map(|row| row[j]).collect();
        let first = c.len();
        c.extend_from_slice(kernel.col(j).try_as_col_major().unwrap().as_slice());
        let (before, e) = c.split_at_mut(first);
        for (tile, e) in e.chunks_mut(TILE).enumerate() {
            for (row, own) in before.chunks_exact(m).zip(&own) {
                e.iter_mut().zip(&row[tile * TILE..]).for_each(|(e, c)| *e -= own * c);
            }
            for (e, square) in e.iter_mut().zip(&mut squares[tile * TILE..]) {
                *e /= d;
                *square -= *e * *e;
            }
        }
        squares[j] = f64::NEG_INFINITY;
        picks.push(argmax(&squares));
    }
    picks.sort_unstable();
    picks
}

fn argmax(values: &[f64]) -> usize {
    let mut best = 0;
    for (i, &value) in values.iter().enumerate() {
        if value > values[best] {
            best = i;
        }
    }
    best
}

/// Returns A Aᵀ, computed by the library's matrix product on one thread.
fn build_kernel(values: &[f64], items: usize, dims: usize) -> Mat<f64> {
    let a = MatRef::from_row_major_slice(values, items, dims);
    let mut kernel = Mat::zeros(items, items);
    matmul(kernel.as_mut(), Accum::Replace, a, a.transpose(), 1.0, Par::Seq);
    kernel
}

/// A numpy process that waits for work.
struct Numpy {
    child: Child,
    pipes: RefCell<(ChildStdin, BufReader<ChildStdout>)>,
    _file: tempfile::NamedTempFile,
}

impl Numpy {
    /// Starts numpy, or prints a note and returns `None` if it is missing.
    fn start(values: &[f64], items: usize, dims: usize, k: usize) -> Option<Self> {
        if !Command::new("python3").args(["-c", "import numpy"]).status().is_ok_and(|status| status.success())
        {
            println!("SKIPPED: no python3 with numpy");
            return None;
        }
        let file = common::npy_file("<f8", items, dims, values.iter().flat_map(|x| x.to_le_bytes()));
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/numpy_greedy.py");
        let mut child = Command::new("python3")
            .args([script.as_ref(), file.path()])
            .arg(k.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let pipes = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Some(Self { child, pipes: RefCell::new(pipes), _file: file })
    }

    /// Returns the picks of an algorithm.
    fn run(&self, algorithm: &str) -> Vec<usize> {
        let (stdin, stdout) = &mut *self.pipes.borrow_mut();
        writeln!(stdin, "{algorithm}").unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        line.split_whitespace().map(|item| item.parse().unwrap()).collect()
    }
}

impl Drop for Numpy {
    fn drop(&mut self) {
        // The process has no more work, so it does not matter how it ends.
        self.child.kill().and_then(|()| self.child.wait()).ok();
    }
}

/// Compares at m = 10⁶, n = 64, k = 50.
fn large(one: &ThreadPool, two: &ThreadPool) {
    const PAIRS: usize = 5;
    let (items, dims, k) = (1_000_000, 64, 50);
    let values = gaussian(items, dims);
    let case = Case::new(items, dims, k, &values);
    let model = case.model();
    let solution = two.install(|| greedy(&model));
    println!("m = 10⁶, n = 64, k = 50, f64: ln det {:.6}", solution.log_det);

    let rows = Rows::scaled(&case.features, vec![Items::All(items)]);
    let norms = || Engine::cpu().row_norms(&rows).unwrap();
    report_time("one pass that reads 512 MB (row norms), 2 threads", "-", 1.0, || two.install(norms));
    for (pool, threads) in [(one, 1), (two, 2)] {
        let what = |what: &str| format!("{what}, {threads} thread(s)");
        ratio_of_pairs(
            PAIRS,
            &what("greedy / one such pass"),
            "-",
            || pool.install(|| greedy(&model)),
            || pool.install(norms),
        );
    }
    if let Some(numpy) = Numpy::start(&values, items, dims, k) {
        assert_eq!(numpy.run("features"), solution.subset.as_slice(), "numpy picks another set");
        for (pool, threads) in [(one, 1), (two, 2)] {
            let what = format!("numpy from features, 1 thread / greedy, {threads} thread(s)");
            ratio_of_pairs(
                PAIRS,
                &what,
                "≥ 10 on 2 threads",
                || numpy.run("features"),
                || pool.install(|| greedy(&model)),
            );
        }
    }
}

/// Compares at m = 10⁴, n = 100, k = 100.
fn dense(one: &ThreadPool, two: &ThreadPool) {
    let (items, dims, k) = (10_000, 100, 100);
    let values = gaussian(items, dims);
    let case = Case::new(items, dims, k, &values);
    let model = case.model();
    let solution = two.install(|| greedy(&model));
    println!("m = 10⁴, n = 100, k = 100, f64: ln det {:.6}", solution.log_det);
    let kernel = build_kernel(&values, items, dims);
    assert_eq!(fast_greedy(kernel.as_ref(), k), solution.subset.as_slice(), "fast greedy picks another set");

    for (pool, threads) in [(one, 1), (two, 2)] {
        let what = format!("fast greedy, kernel given / greedy, {threads} thread(s)");
        ratio_of_pairs(
            25,
            &what,
            "≥ 1",
            || fast_greedy(kernel.as_ref(), k),
            || pool.install(|| greedy(&model)),
        );
    }
    let built = || fast_greedy(build_kernel(&values, items, dims).as_ref(), k);
    ratio_of_pairs(5, "fast greedy, kernel built / greedy, 1 thread", "≥ 40", built, || {
        one.install(|| greedy(&model))
    });
    if let Some(numpy) = Numpy::start(&values, items, dims, k) {
        assert_eq!(numpy.run("kernel given"), solution.subset.as_slice(), "numpy picks another set");
        for (pool, threads) in [(one, 1), (two, 2)] {
            for (algorithm, wanted) in [("kernel given", "≥ 1"), ("kernel built", "≥ 40")] {
                let what = format!("numpy, {algorithm}, 1 thread / greedy, {threads} thread(s)");
                ratio_of_pairs(9, &what, wanted, || numpy.run(algorithm), || pool.install(|| greedy(&model)));
            }
        }
    }
    report_time("greedy, m = 10⁴, n = 100, k = 100, 1 thread", "-", 1.0, || one.install(|| greedy(&model)));
}

fn main() {
    // `cargo bench -- dense` runs only the named cases. Without names, all cases run.
    let named: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
    let wanted = |name: &str| named.is_empty() || named.iter().any(|known| known == name);
    let (one, two) = (threads(1), threads(2));
    if wanted("dense") {
        dense(&one, &two);
    }
    if wanted("large") {
        large(&one, &two);
    }
}
