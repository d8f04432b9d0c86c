//! Values in buffers of other owners, which are kept alive.

use std::{fmt, sync::Arc};

/// A buffer of another owner.
#[derive(Clone)]
pub(super) struct Shared<T>(Arc<dyn AsRef<[T]> + Send + Sync>);

impl<T> Shared<T> {
    pub(super) fn new(owner: impl AsRef<[T]> + Send + Sync + 'static) -> Self {
        Self(Arc::new(owner))
    }

    pub(super) fn as_slice(&self) -> &[T] {
        (*self.0).as_ref()
    }
}

impl<T> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shared({} values)", self.as_slice().len())
    }
}
