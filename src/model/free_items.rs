//! Items that may still be chosen.

use std::sync::Arc;

use crate::{Partition, engine::Items};

/// Items that may still be chosen. Cloning is cheap.
#[derive(Clone, Debug)]
pub(crate) enum FreeItems {
    /// All items 0..m.
    All(usize),
    /// All items of a part.
    Part(Partition, usize),
    /// The listed items, ascending.
    Listed(Arc<[u32]>),
}

impl FreeItems {
    pub(crate) fn len(&self) -> usize {
        Items::from(self).len()
    }

    /// The position of an item, if it is free.
    pub(crate) fn position(&self, item: usize) -> Option<usize> {
        match Items::from(self) {
            Items::All(count) => (item < count).then_some(item),
            Items::Listed(items) => items.binary_search(&u32::try_from(item).ok()?).ok(),
        }
    }

    pub(crate) fn contains(&self, item: usize) -> bool {
        self.position(item).is_some()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        Items::from(self).iter()
    }
}

impl<'a> From<&'a FreeItems> for Items<'a> {
    fn from(items: &'a FreeItems) -> Self {
        match items {
            FreeItems::All(count) => Items::All(*count),
            FreeItems::Part(partition, part) => Items::of_part(partition, *part),
            FreeItems::Listed(items) => Items::Listed(items),
        }
    }
}
