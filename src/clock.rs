//! The clock: JavaScript's in browsers, where the standard library has none.

#[cfg(not(all(target_arch = "wasm32", target_os = "unknown", any(feature = "gpu", feature = "web"))))]
pub(crate) use std::time::Instant;

#[cfg(all(target_arch = "wasm32", target_os = "unknown", any(feature = "gpu", feature = "web")))]
pub(crate) use web_time::Instant;
