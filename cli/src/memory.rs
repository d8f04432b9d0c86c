//! Whether what is asked for fits into memory; found out before the work begins.

use std::path::Path;

use bytesize::ByteSize;
use sysinfo::System;

use crate::failure::Failure;

/// Bytes that may be taken, and why no more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    /// How many.
    pub(crate) bytes: u64,
    /// Who says so.
    pub(crate) rule: &'static str,
}

/// What is made of features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Products of all columns, and their eigenvectors.
    Products,
    /// Single rows are chosen, one by one.
    Rows,
}

impl Limit {
    /// As much as is allowed, or as is free. What is read counts as needed, so this comes before anything is.
    pub(crate) fn of(allowed: Option<ByteSize>) -> Self {
        match allowed {
            Some(size) => Self { bytes: size.as_u64(), rule: "allowed by --memory" },
            None => Self { bytes: available(), rule: "free" },
        }
    }

    /// Refuses what needs more, named by its purpose.
    pub(crate) fn check(self, needed: u64, purpose: impl FnOnce() -> String) -> Result<(), Failure> {
        let Self { bytes, rule } = self;
        if needed <= bytes {
            return Ok(());
        }
        Err(Failure::Memory { needed: megabytes(needed), limit: megabytes(bytes), rule, plan: purpose() })
    }

    /// Refuses features that take too much: found from their sizes, before anything is read.
    pub(crate) fn check_features(
        self,
        path: &Path,
        [rows, columns]: [u64; 2],
        copied: u64,
        made: Use,
    ) -> Result<(), Failure> {
        // Products, eigenvectors and a copy to work on; wide rows are first made square, which takes them twice.
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

/// Bytes that can be had without disturbing others; no limit where the system does not tell.
fn available() -> u64 {
    let mut system = System::new();
    system.refresh_memory();
    let free = match system.available_memory() {
        0 => u64::MAX,
        free => free,
    };
    // What a group's files have in the cache counts as used, but can be had.
    system.cgroup_limits().map_or(free, |group| free.min(group.total_memory.saturating_sub(group.rss)))
}

/// In megabytes of 10⁶ bytes, or in gigabytes where these are many.
pub(crate) fn megabytes(bytes: u64) -> String {
    match bytes as f64 / 1e6 {
        few if few < 1e5 => format!("{few:.1} MB"),
        many => format!("{:.1} GB", many / 1e3),
    }
}
