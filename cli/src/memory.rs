//! Memory limits, checked before the work begins.

use std::path::Path;

use bytesize::ByteSize;
use sysinfo::System;

use crate::failure::Failure;

/// The rule of a limit that the user sets.
pub(crate) const ALLOWED: &str = "allowed by --memory";

/// A limit of memory, and its reason.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    pub(crate) bytes: u64,
    pub(crate) rule: &'static str,
}

/// How features are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// For products of all columns, and their eigenvectors.
    Products,
    /// Row by row.
    Rows,
    /// Row by row, or for a kernel of pairs of rows.
    Pairs,
    /// Like [`Use::Pairs`], to cover items by similar ones.
    Covers,
}

impl Limit {
    /// The memory allowed, or the free memory. Call it before reading, since data that is read counts as needed.
    pub(crate) fn of(allowed: Option<ByteSize>) -> Self {
        match allowed {
            Some(size) => Self { bytes: size.as_u64(), rule: ALLOWED },
            None => Self { bytes: available(), rule: "free" },
        }
    }

    /// Refuses a need above the limit, with its purpose.
    pub(crate) fn check(self, needed: u64, purpose: impl FnOnce() -> String) -> Result<(), Failure> {
        let Self { bytes, rule } = self;
        if needed <= bytes {
            return Ok(());
        }
        let ways = Vec::new();
        let (needed, limit) = (megabytes(needed), megabytes(bytes));
        Err(Failure::Memory { needed, limit, rule, plan: purpose(), ways })
    }

    /// Subtracts the bytes of features that are held in memory.
    pub(crate) fn take(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    /// Refuses features that need too much, by their sizes, before they are read.
    pub(crate) fn check_features(
        self,
        path: &Path,
        [rows, columns]: [u64; 2],
        copied: u64,
        made: Use,
    ) -> Result<(), Failure> {
        // Products, eigenvectors and a working copy. Wide rows are first made square, which takes two copies.
        let rank = rows.min(columns);
        let squares = if made == Use::Products { product(&[24, rank, rank]) } else { 0 };
        let wide = if columns > rows { product(&[16, rows, columns]) } else { 0 };
        let needed = copied.saturating_add(squares).saturating_add(wide);
        self.check(needed, || format!("{} has {rows} rows of {columns} features", path.display()))
    }

    /// The same for a dense kernel.
    pub(crate) fn check_kernel(self, path: &Path, items: u64, copied: u64) -> Result<(), Failure> {
        let needed = copied.saturating_add(product(&[24, items, items]));
        self.check(needed, || format!("{} holds a kernel of {items} items", path.display()))
    }
}

fn product(factors: &[u64]) -> u64 {
    factors.iter().fold(1, |product, &factor| product.saturating_mul(factor))
}

/// Bytes that can be allocated without swapping; unlimited if the system does not report them.
fn available() -> u64 {
    let mut system = System::new();
    system.refresh_memory();
    let free = match system.available_memory() {
        0 => u64::MAX,
        free => free,
    };
    // The page cache of a group counts as used, but can be reclaimed.
    system.cgroup_limits().map_or(free, |group| free.min(group.total_memory.saturating_sub(group.rss)))
}

/// In megabytes of 10⁶ bytes; in kilobytes or bytes below, and in gigabytes from 100 GB on.
pub(crate) fn megabytes(bytes: u64) -> String {
    match bytes as f64 / 1e6 {
        few if few < 1e-3 && bytes > 0 => format!("{bytes} B"),
        few if few < 0.05 && bytes > 0 => format!("{:.1} kB", few * 1e3),
        few if few < 1e5 => format!("{few:.1} MB"),
        many => format!("{:.1} GB", many / 1e3),
    }
}
