//! What the fuzz targets do: each `run` takes bytes, or a case made of bytes, and panics where an answer cannot be right.
//!
//! Everything is small, in one thread, and in one folder that is removed in the end.

pub mod command;
pub mod csv;
mod files;
pub mod npy;
pub mod problem;
pub mod quota;
mod values;

use std::sync::Once;

/// Work is done by the thread that asks for it: no execution waits for another thread, and all take the same path again.
fn in_one_thread() {
    static DONE: Once = Once::new();
    DONE.call_once(|| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
        // A test has made one before.
        let _ = pool.build_global();
    });
}

/// What is wrong is said in a sentence.
fn check_sentence(sentence: &str) {
    let length = sentence.chars().count();
    assert!((8..1500).contains(&length), "{length} characters: {sentence}");
}
