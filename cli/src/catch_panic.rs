//! Panics of other libraries at what a file holds, answered like errors.

use std::{
    cell::Cell,
    panic::{self, AssertUnwindSafe},
};

thread_local! {
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// The result of some work on this thread, unless it panics. It must leave nothing behind that others see.
pub(crate) fn catch_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    let before = CAUGHT.replace(true);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    CAUGHT.set(before);
    done.ok()
}

/// Whether a panic of this thread is answered, so that nobody need hear of it.
pub(crate) fn is_caught() -> bool {
    CAUGHT.get()
}
