//! Data that stays on the device between calls: rows of features, and the tiles of verbs.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError, Weak,
    atomic::{AtomicBool, Ordering},
};

use super::{context::Context, device_rows::DeviceRows, stored::Stored, words};
use crate::{
    Features, Result,
    engine::{Items, Rows},
};

/// The number of rows that a workgroup goes through: the tile of the shaders.
pub(super) const TILE: usize = 256;

/// Rows and columns of a block of a product.
pub(super) const BLOCK: usize = 64;

/// The most sets of tiles that are kept, and the most bytes that they take on the device.
const MOST_TILINGS: usize = 64;
const MOST_BYTES: u64 = 1 << 30;
/// If features are not on the device and at least one in this many rows is requested, all rows are uploaded.
const SPARSE: usize = 8;

/// A list of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Selection {
    All(usize),
    Listed(Vec<u32>),
}

impl Selection {
    fn of(items: Items<'_>) -> Self {
        match items {
            Items::All(count) => Self::All(count),
            Items::Listed(items) => Self::Listed(items.to_vec()),
        }
    }

    fn is(&self, items: Items<'_>) -> bool {
        match (self, items) {
            (Self::All(known), Items::All(count)) => *known == count,
            (Self::Listed(known), Items::Listed(items)) => known == items,
            _ => false,
        }
    }

    pub(super) fn items(&self) -> Items<'_> {
        match self {
            Self::All(count) => Items::All(*count),
            Self::Listed(items) => Items::Listed(items),
        }
    }
}

/// The rows and tiles that were uploaded before.
#[derive(Debug, Default)]
pub(super) struct Resident {
    /// One copy of the rows of each feature matrix.
    matrices: Mutex<Vec<(Weak<()>, Arc<Stored>)>>,
    /// The tilings used last, the latest at the end.
    tilings: Mutex<Vec<Known>>,
    /// Whether the rows of all features together exceeded the device's memory.
    is_full: AtomicBool,
}

#[derive(Debug)]
struct Known {
    features: Weak<()>,
    groups: Vec<(Selection, f64)>,
    rows: Arc<DeviceRows>,
}

impl Known {
    fn is(&self, rows: &Rows<'_>) -> bool {
        is(&self.features, rows.features())
            && self.groups.len() == rows.groups().len()
            && self.groups.iter().zip(rows.groups()).all(|((known, scale), group)| {
                scale.to_bits() == group.scale.to_bits() && known.is(group.items)
            })
    }
}

fn is(known: &Weak<()>, features: &Features) -> bool {
    std::ptr::eq(known.as_ptr(), Arc::as_ptr(features.identity()))
}

fn copy_of(matrices: &[(Weak<()>, Arc<Stored>)], features: &Features) -> Option<Arc<Stored>> {
    let found = matrices.iter().find(|(known, _)| is(known, features));
    found.map(|(_, stored)| Arc::clone(stored))
}

/// Returns the tiles of these rows if they are known, and marks them as the latest.
fn latest(tilings: &mut Vec<Known>, rows: &Rows<'_>) -> Option<Arc<DeviceRows>> {
    tilings.retain(|known| known.features.strong_count() > 0);
    let at = tilings.iter().position(|known| known.is(rows))?;
    let known = tilings.remove(at);
    let found = Arc::clone(&known.rows);
    tilings.push(known);
    Some(found)
}

impl Resident {
    /// Returns the tiles of these rows, after freeing everything that belongs to dropped features.
    ///
    /// No lock is held while rows are copied, since other threads help with the copy. Threads that need the same rows
    /// for the first time may therefore both copy them.
    ///
    /// # Errors
    /// Errors of the device, and [`SinglePrecision`](crate::error::DeviceProblem::SinglePrecision) if a row is lost
    /// next to the largest of its group.
    pub(super) fn rows(&self, context: &Context, rows: &Rows<'_>) -> Result<Arc<DeviceRows>> {
        if let Some(found) = latest(&mut self.tilings(), rows) {
            return Ok(found);
        }
        let stored = self.stored(context, rows)?;
        let found = Arc::new(DeviceRows::new(context, stored, rows)?);
        let groups = rows.groups().iter().map(|group| (Selection::of(group.items), group.scale)).collect();
        let features = Arc::downgrade(rows.features().identity());
        let mut tilings = self.tilings();
        tilings.push(Known { features, groups, rows: Arc::clone(&found) });
        let mut bytes: u64 = tilings.iter().map(|known| known.rows.bytes()).sum();
        while tilings.len() > 1 && (tilings.len() > MOST_TILINGS || bytes > MOST_BYTES) {
            bytes -= tilings.remove(0).rows.bytes();
        }
        Ok(found)
    }

    /// The copy of all rows, or a copy of only these rows if they are few.
    fn stored(&self, context: &Context, rows: &Rows<'_>) -> Result<Arc<Stored>> {
        let features = rows.features();
        if rows.len() >= features.items() / SPARSE {
            return self.all(context, features);
        }
        if let Some(stored) = copy_of(&self.matrices(), features) {
            return Ok(stored);
        }
        let items = rows.iter().map(|(item, _)| words(item)).collect();
        Ok(Arc::new(Stored::new(context, features, Selection::Listed(items), self.room(context))?))
    }

    /// The copy of all rows of some features.
    ///
    /// # Errors
    /// Errors of the device.
    pub(super) fn all(&self, context: &Context, features: &Features) -> Result<Arc<Stored>> {
        if let Some(stored) = copy_of(&self.matrices(), features) {
            return Ok(stored);
        }
        let all = Selection::All(features.items());
        let stored = Arc::new(Stored::new(context, features, all, self.room(context))?);
        let mut matrices = self.matrices();
        // Another thread may have been faster.
        if let Some(stored) = copy_of(&matrices, features) {
            return Ok(stored);
        }
        matrices.push((Arc::downgrade(features.identity()), Arc::clone(&stored)));
        Ok(stored)
    }

    /// The number of bytes that more rows may take.
    fn room(&self, context: &Context) -> u64 {
        let room = if self.is_full.load(Ordering::Relaxed) { 0 } else { context.row_memory };
        room.saturating_sub(self.matrices().iter().map(|(_, stored)| stored.bytes()).sum())
    }

    fn tilings(&self) -> MutexGuard<'_, Vec<Known>> {
        self.tilings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The copies of features that still exist.
    fn matrices(&self) -> MutexGuard<'_, Vec<(Weak<()>, Arc<Stored>)>> {
        let mut matrices = self.matrices.lock().unwrap_or_else(PoisonError::into_inner);
        matrices.retain(|(features, _)| features.strong_count() > 0);
        matrices
    }

    /// Forgets all rows; their memory is freed with its last user.
    pub(super) fn clear(&self) {
        self.tilings().clear();
        self.matrices().clear();
    }

    /// Makes rows stay on the device for one use only from now on.
    pub(super) fn stream(&self) {
        self.is_full.store(true, Ordering::Relaxed);
    }
}
