//! The graphics card, through WebGPU.
#![expect(deprecated, reason = "what wasm-bindgen offers for JSPI may still change")]

use std::cell::Cell;

use partition_dpp::{
    Engine,
    engine::gpu::{Gpu as Device, GpuOptions},
};
use wasm_bindgen::prelude::*;

use crate::{AQuestion, AnAnswer, items::Items};

/// A graphics card. While it is at work, the calling thread is free.
#[wasm_bindgen]
pub struct Gpu {
    engine: Engine,
    is_busy: Cell<bool>,
}

#[wasm_bindgen]
impl Gpu {
    /// Opens the card that the browser offers.
    #[wasm_bindgen(jspi)]
    pub fn open() -> Result<Gpu, JsError> {
        Ok(Self { engine: Device::new(&GpuOptions::default())?.engine(), is_busy: Cell::new(false) })
    }

    /// The interface and the precision, with the name of the card if the browser tells it.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn name(&self) -> String {
        self.engine.info().to_string()
    }

    /// Chooses a set, like `items.select(question)`. Until it has answered, further questions are refused.
    #[wasm_bindgen(jspi)]
    pub fn select(&self, items: &Items, question: &AQuestion) -> Result<AnAnswer, JsError> {
        if self.is_busy.replace(true) {
            return Err(JsError::new("the card is at work: ask again when it has answered"));
        }
        let answer = items.select_on(&self.engine, question);
        self.is_busy.set(false);
        answer
    }
}
