//! Buffers reused from draw to draw.

use std::sync::{Mutex, PoisonError};

/// Buffers that draws reuse.
pub(super) trait Reused {
    /// Discards trials drawn ahead, which belong to another draw's random numbers.
    fn forget(&mut self);
}

/// A pool with as many buffers as draws ran at the same time.
#[derive(Debug)]
pub(super) struct Pool<T>(Mutex<Vec<T>>);

impl<T: Reused> Pool<T> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Lends buffers to `draw`: a free one, or else one made by `new`.
    pub(super) fn lend<R>(&self, new: impl FnOnce() -> T, draw: impl FnOnce(&mut T) -> R) -> R {
        let left = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Do not hold the lock while new buffers are made.
        let lent = left().pop();
        let mut lent = lent.unwrap_or_else(new);
        lent.forget();
        let drawn = draw(&mut lent);
        left().push(lent);
        drawn
    }
}
