//! What all targets share.

use std::sync::Once;

/// Work is done by the thread that asks for it: no execution waits for another thread, and all take the same path again.
pub(crate) fn in_one_thread() {
    static DONE: Once = Once::new();
    DONE.call_once(|| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
        // A test has made one before.
        let _ = pool.build_global();
    });
}

/// What is wrong is said in a sentence.
pub(crate) fn check_sentence(sentence: &str) {
    let length = sentence.chars().count();
    assert!((8..1500).contains(&length), "{length} characters: {sentence}");
}
