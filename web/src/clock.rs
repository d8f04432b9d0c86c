//! The host's clock; `std::time::Instant` has none here.

use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = performance)]
    fn now() -> f64;
}

/// The seconds since the host started.
pub(crate) fn seconds() -> f64 {
    now() / 1e3
}
