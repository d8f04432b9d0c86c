//! Submitting commands and waiting for them. Every failure to finish becomes an error.

use std::{
    any::Any,
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use super::{context::Context, waiting};
use crate::{Error, Result, error::DeviceProblem};

/// The most submissions in flight; the next one waits for the oldest.
const MOST_PENDING: usize = 64;

/// A failure faked by tests.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The driver reports a reset during a wait.
    Reset,
    /// No command finishes.
    Hang,
    /// Commands are dropped, and the driver reports success.
    Dropped,
}

/// The submissions, with the state needed to wait for them.
#[derive(Debug)]
pub(super) struct Submissions {
    /// The time limit of one submission.
    pub(super) limit: Duration,
    pending: Mutex<Pending>,
    receipts: AtomicU32,
    pub(super) fault: Mutex<Option<Fault>>,
}

#[derive(Debug, Default)]
struct Pending {
    /// Number of submissions so far.
    count: u64,
    /// Submissions not known to be finished, in order.
    indices: VecDeque<(u64, wgpu::SubmissionIndex)>,
}

impl Submissions {
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit, pending: Mutex::default(), receipts: AtomicU32::new(0), fault: Mutex::default() }
    }

    /// A number unique to a readback.
    pub(super) fn receipt(&self) -> u32 {
        self.receipts.fetch_add(1, Ordering::Relaxed).wrapping_add(1)
    }

    fn fault(&self) -> Option<Fault> {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn oldest(&self) -> Option<(u64, wgpu::SubmissionIndex)> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).indices.front().cloned()
    }

    /// Marks a submission and all earlier ones as finished.
    pub(super) fn settle(&self, number: u64) {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        pending.indices.retain(|(other, _)| *other > number);
    }

    fn is_full(&self) -> bool {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).indices.len() >= MOST_PENDING
    }
}

impl Context {
    /// Submits commands, and returns the number to wait for.
    pub(super) fn send(&self, what: &'static str, encoder: wgpu::CommandEncoder) -> Result<u64> {
        if self.submissions.is_full()
            && let Some((oldest, _)) = self.submissions.oldest()
        {
            self.wait(what, oldest)?;
        }
        let commands = encoder.finish();
        let commands = (self.submissions.fault() != Some(Fault::Dropped)).then_some(commands);
        let index = self.hand_over(commands);
        let mut pending = self.submissions.pending.lock().unwrap_or_else(PoisonError::into_inner);
        pending.count += 1;
        let count = pending.count;
        pending.indices.push_back((count, index));
        Ok(count)
    }

    /// Waits for a submission and all earlier ones. The time limit applies to each of them.
    ///
    /// # Errors
    /// [`DeviceProblem::TimedOut`] or [`DeviceProblem::Lost`].
    pub(super) fn wait(&self, what: &'static str, number: u64) -> Result<()> {
        self.counters.waits.fetch_add(1, Ordering::Relaxed);
        while let Some((oldest, index)) = self.submissions.oldest().filter(|(oldest, _)| *oldest <= number) {
            let limit = self.submissions.limit;
            let waited =
                self.poll(wgpu::PollType::Wait { submission_index: Some(index), timeout: Some(limit) });
            self.submissions.settle(oldest);
            self.check_lost()?;
            match waited {
                // The submission does not exist: the device accepts no more commands, or refused these.
                Err(wgpu::PollError::WrongSubmissionIndex(..)) if oldest == number => {
                    let reason = format!("it accepts no more commands ({what})");
                    return Err(Error::Device(DeviceProblem::Lost { reason }));
                }
                Err(wgpu::PollError::Timeout) => return Err(self.timed_out(what)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Hands over what was written, and waits for the oldest of `sent` if more than `most` uploads are under way.
    ///
    /// # Errors
    /// [`DeviceProblem::TimedOut`] or [`DeviceProblem::Lost`].
    pub(super) fn send_off(&self, sent: &mut VecDeque<wgpu::SubmissionIndex>, most: usize) -> Result<()> {
        sent.push_back(self.hand_over(None));
        let oldest = if sent.len() > most { sent.pop_front() } else { None };
        oldest.map_or(Ok(()), |oldest| self.wait_for(oldest))
    }

    /// Waits for an upload.
    ///
    /// # Errors
    /// [`DeviceProblem::TimedOut`] or [`DeviceProblem::Lost`].
    fn wait_for(&self, upload: wgpu::SubmissionIndex) -> Result<()> {
        let limit = self.submissions.limit;
        let waited = self.poll(wgpu::PollType::Wait { submission_index: Some(upload), timeout: Some(limit) });
        self.check_lost()?;
        match waited {
            Err(wgpu::PollError::Timeout) => Err(self.timed_out("an upload")),
            _ => Ok(()),
        }
    }

    /// Abandons a device that does not answer, and returns the error.
    pub(super) fn timed_out(&self, what: &'static str) -> Error {
        let seconds = self.submissions.limit.as_secs_f64();
        self.give_up(&format!("{what} did not finish within {seconds} s"));
        Error::Device(DeviceProblem::TimedOut { what, seconds })
    }

    /// Finds out whether the device is lost, even if only its owner is notified. A lost device rejects even an empty
    /// submission.
    pub(super) fn ask(&self) {
        let submission_index = Some(self.hand_over(None));
        let now = wgpu::PollType::Wait { submission_index, timeout: Some(Duration::ZERO) };
        if let Err(wgpu::PollError::WrongSubmissionIndex(..)) = self.poll(now) {
            self.lose("it accepts no more commands");
        }
    }

    /// Polls the device. All polls go through this.
    ///
    /// wgpu 30 cannot return an error if a driver reports a reset or runs out of memory during a poll; it panics
    /// ("Error in Device::poll"). The panic is caught here. By then wgpu has marked the device as lost and holds no
    /// lock, so later commands are refused. (An application built with `panic = "abort"` still ends.)
    pub(super) fn poll(&self, kind: wgpu::PollType) -> std::result::Result<(), wgpu::PollError> {
        let poll = || match self.submissions.fault() {
            Some(Fault::Reset) => panic!("Error in Device::poll: Parent device is lost"),
            Some(Fault::Hang) => Err(wgpu::PollError::Timeout),
            _ => waiting::poll(self, kind),
        };
        catch_unwind(AssertUnwindSafe(poll)).unwrap_or_else(|panic| {
            self.give_up(&words(&*panic));
            Ok(())
        })
    }
}

/// The error of a request that the device dropped.
pub(super) fn unanswered(what: &'static str) -> Error {
    Error::Device(DeviceProblem::Refused { what, message: "the device did not answer".to_owned() })
}

/// The message of a panic, on one line.
fn words(panic: &(dyn Any + Send)) -> String {
    let message = panic.downcast_ref::<String>().map(String::as_str);
    let message = message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("wgpu panicked");
    one_line(message)
}

/// A driver's message without line breaks.
pub(super) fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
