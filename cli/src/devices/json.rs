//! A JSON list: a contract that scripts rely on.

use partition_dpp::engine::gpu::AdapterSummary;
use serde::Serialize;

/// An adapter.
#[derive(Debug, Serialize)]
pub(crate) struct Device {
    pub(super) name: String,
    pub(super) interface: String,
    pub(super) driver: String,
    pub(super) software: bool,
    pub(super) f64: bool,
    pub(super) largest_binding: u64,
    pub(super) workgroup_memory: u64,
    pub(super) auto: bool,
}

impl Device {
    /// An adapter, and whether `--engine auto` takes it if it is predicted to be faster.
    pub(crate) fn new(adapter: AdapterSummary, auto: bool) -> Self {
        Self {
            name: adapter.name,
            interface: adapter.interface,
            driver: adapter.driver,
            software: adapter.is_software,
            f64: adapter.has_double_precision,
            largest_binding: adapter.largest_binding,
            workgroup_memory: adapter.workgroup_memory,
            auto,
        }
    }
}
