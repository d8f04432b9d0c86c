//! The library for JavaScript: rows in, chosen items out.

mod answer;
mod best;
mod compared;
mod fields;
#[cfg(feature = "gpu")]
mod gpu;
mod items;
mod medoids;
mod principal;
mod question;
mod random;
mod sample;

use std::panic;

use js_sys::WebAssembly::RuntimeError;
use wasm_bindgen::prelude::*;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("types.ts");

#[wasm_bindgen]
extern "C" {
    /// The values of rows.
    #[wasm_bindgen(typescript_type = "Float32Array | Float64Array")]
    pub type Values;
    /// What to choose.
    #[wasm_bindgen(typescript_type = "Question")]
    pub type AQuestion;
    /// A chosen set.
    #[wasm_bindgen(typescript_type = "Answer")]
    pub type AnAnswer;
    /// The parts of items.
    #[wasm_bindgen(typescript_type = "Part[]")]
    pub type Parts;
}

/// Throws panics as what WebAssembly throws for traps, but with a message. The module is not to be used after one.
#[wasm_bindgen(start, skip_typescript)]
fn start() {
    panic::set_hook(Box::new(|panic| {
        wasm_bindgen::throw_val(RuntimeError::new(&panic.to_string()).into());
    }));
}

/// The version of the library.
#[wasm_bindgen]
#[must_use]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").into()
}
