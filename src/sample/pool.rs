//! Buffers that draws leave to later ones.

use std::sync::{Mutex, PoisonError};

/// Buffers of a draw.
pub(super) trait Reused {
    /// Forgets what was drawn ahead, which is of another draw's random numbers.
    fn forget(&mut self);
}

/// As many buffers as draws were made at once.
#[derive(Debug)]
pub(super) struct Pool<T>(Mutex<Vec<T>>);

impl<T: Reused> Pool<T> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Lends buffers, `new` ones if none are left, to a draw.
    pub(super) fn lend<R>(&self, new: impl FnOnce() -> T, draw: impl FnOnce(&mut T) -> R) -> R {
        let left = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The lock is not held while new ones are made.
        let lent = left().pop();
        let mut lent = lent.unwrap_or_else(new);
        lent.forget();
        let drawn = draw(&mut lent);
        left().push(lent);
        drawn
    }
}
