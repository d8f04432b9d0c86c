//! The graphics card, through WebGPU.
#![expect(deprecated, reason = "what wasm-bindgen offers for JSPI may still change")]

use partition_dpp::{
    Engine,
    engine::gpu::{Gpu as Device, GpuOptions},
};
use wasm_bindgen::prelude::*;

use crate::{AQuestion, AnAnswer, items::Items};

/// A graphics card. While it is at work, the calling thread goes on.
#[wasm_bindgen]
pub struct Gpu {
    engine: Engine,
}

#[wasm_bindgen]
impl Gpu {
    /// Opens the card that the browser offers.
    #[wasm_bindgen(jspi)]
    pub fn open() -> Result<Gpu, JsError> {
        Ok(Self { engine: Device::new(&GpuOptions::default())?.engine() })
    }

    /// The interface and the precision, with the name of the card if the browser tells it.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn name(&self) -> String {
        self.engine.info().to_string()
    }

    /// Chooses a set, like `items.select(question)`. Call it again only after it has answered.
    #[wasm_bindgen(jspi)]
    pub fn select(&self, items: &Items, question: &AQuestion) -> Result<AnAnswer, JsError> {
        items.select_on(&self.engine, question)
    }
}
