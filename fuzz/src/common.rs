//! Helpers for all targets.

use std::sync::Once;

/// Runs all work in the calling thread, so that executions are reproducible.
pub(crate) fn in_one_thread() {
    static DONE: Once = Once::new();
    DONE.call_once(|| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
        // A test may have built a pool before.
        let _ = pool.build_global();
    });
}

/// Checks that an error message has the length of a sentence.
pub(crate) fn check_sentence(sentence: &str) {
    let length = sentence.chars().count();
    assert!((8..1500).contains(&length), "{length} characters: {sentence}");
}
