//! Waiting for the driver, by blocking the thread.

pub(super) use std::sync::mpsc::channel;
use std::sync::mpsc::{Receiver, RecvTimeoutError};

pub(super) use pollster::block_on;

use super::{context::Context, submissions::unanswered};
use crate::Result;

/// Polls the device.
pub(super) fn poll(context: &Context, kind: wgpu::PollType) -> std::result::Result<(), wgpu::PollError> {
    context.device.poll(kind).map(drop)
}

/// Waits for a submission, and for the answer to a request that came after it.
#[expect(clippy::needless_pass_by_value, reason = "browsers consume it")]
pub(super) fn answer<T>(
    context: &Context,
    what: &'static str,
    submission: u64,
    told: Receiver<T>,
) -> Result<T> {
    context.wait(what, submission)?;
    // If another thread saw the submission end before the request, only a poll answers it. If the device is lost, the
    // data that is read shows it.
    let _ = context.poll(wgpu::PollType::Poll);
    told.recv_timeout(context.submissions.limit).map_err(|error| match error {
        RecvTimeoutError::Timeout => context.timed_out(what),
        RecvTimeoutError::Disconnected => unanswered(what),
    })
}
