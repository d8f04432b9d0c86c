//! Waiting for a browser, which may not be blocked: it suspends the computation instead (JavaScript Promise Integration),
//! so whatever waits here was called through an export marked `#[wasm_bindgen(jspi)]`. There is no time limit. A browser
//! resets devices that hang, and a worker can be ended.
#![expect(deprecated, reason = "what wasm-bindgen offers for JSPI may still change")]

use std::{cell::Cell, rc::Rc};

use futures_channel::oneshot::Receiver;
pub(super) use futures_channel::oneshot::channel;
use js_sys::{
    futures::{future_to_promise, jspi_block_on_promise},
    wasm_bindgen::JsValue,
};

use super::{context::Context, submissions::unanswered};
use crate::Result;

/// Suspends the computation until a future is ready.
pub(super) fn block_on<T: 'static>(future: impl Future<Output = T> + 'static) -> T {
    let output = Rc::new(Cell::new(None));
    let place = Rc::clone(&output);
    let promise = future_to_promise(async move {
        place.set(Some(future.await));
        Ok(JsValue::UNDEFINED)
    });
    let settled = jspi_block_on_promise(&promise);
    output.take().unwrap_or_else(|| unreachable!("the promise settled as {settled:?} before its future"))
}

/// Waits for all submissions if `kind` is to wait. Browsers poll their devices themselves.
#[expect(
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    reason = "other systems fail, and consume it"
)]
pub(super) fn poll(context: &Context, kind: wgpu::PollType) -> std::result::Result<(), wgpu::PollError> {
    if let wgpu::PollType::Wait { .. } = kind {
        let (tell, told) = channel();
        context.queue.on_submitted_work_done(move || {
            let _ = tell.send(());
        });
        let _ = block_on(told);
    }
    Ok(())
}

/// Waits for a submission and for the answer to a request that came after it, which tells that both are done.
pub(super) fn answer<T: 'static>(
    context: &Context,
    what: &'static str,
    submission: u64,
    told: Receiver<T>,
) -> Result<T> {
    let answer = block_on(told);
    context.submissions.settle(submission);
    context.check_lost()?;
    answer.map_err(|_| unanswered(what))
}
