//! Commands on their way: recorded, submitted, waited for. All waiting is done here, and everything that a device does
//! instead of finishing becomes an error.

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

use super::{buffers::Lease, context::Context};
use crate::{Error, Result, error::DeviceProblem};

/// Submissions that may be under way; the next waits for the oldest.
const MOST_PENDING: usize = 64;

/// Commands that are recorded, not yet submitted.
#[derive(Debug)]
pub(super) struct Work {
    /// The verb at work.
    pub(super) what: &'static str,
    pub(super) encoder: wgpu::CommandEncoder,
    /// Seconds that they take the slowest card.
    pub(super) seconds: f64,
    /// Buffers that must not be written again before they are submitted.
    held: Vec<Lease>,
}

impl Work {
    /// Keeps a buffer from being used for anything else until the commands are submitted.
    pub(super) fn hold(&mut self, lease: Lease) -> wgpu::Buffer {
        let buffer = (*lease).clone();
        self.held.push(lease);
        buffer
    }
}

/// A failure that tests fake.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The driver reports a reset while it is waited for.
    Reset,
    /// Nothing ever finishes.
    Hang,
    /// Commands are dropped, and the driver reports success.
    Dropped,
}

/// What was submitted, and how it is waited for.
#[derive(Debug)]
pub(super) struct Submissions {
    /// How long one submission may take.
    limit: Duration,
    pending: Mutex<Pending>,
    receipts: AtomicU32,
    pub(super) fault: Mutex<Option<Fault>>,
}

#[derive(Debug, Default)]
struct Pending {
    /// Submissions so far.
    count: u64,
    /// Those not yet seen to be finished, in order.
    indices: VecDeque<(u64, wgpu::SubmissionIndex)>,
}

impl Submissions {
    pub(super) fn new(limit: Duration) -> Self {
        Self { limit, pending: Mutex::default(), receipts: AtomicU32::new(0), fault: Mutex::default() }
    }

    /// A number that no readback had before.
    pub(super) fn receipt(&self) -> u32 {
        self.receipts.fetch_add(1, Ordering::Relaxed).wrapping_add(1)
    }

    pub(super) fn limit(&self) -> Duration {
        self.limit
    }

    fn fault(&self) -> Option<Fault> {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn oldest(&self) -> Option<(u64, wgpu::SubmissionIndex)> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).indices.front().cloned()
    }

    /// No more waiting for a submission, nor for those before it.
    fn settle(&self, number: u64) {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        pending.indices.retain(|(other, _)| *other > number);
    }

    fn is_full(&self) -> bool {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).indices.len() >= MOST_PENDING
    }
}

impl Context {
    pub(super) fn work(&self, what: &'static str) -> Work {
        Work { what, encoder: self.encoder(), seconds: 0.0, held: Vec::new() }
    }

    fn encoder(&self) -> wgpu::CommandEncoder {
        self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("pdpp") })
    }

    /// Submits what was recorded so far where these seconds more would be too many for one submission.
    pub(super) fn make_room(&self, work: &mut Work, seconds: f64) -> Result<()> {
        if work.seconds > 0.0 && work.seconds + seconds > self.pace.longest_submission() {
            let encoder = std::mem::replace(&mut work.encoder, self.encoder());
            work.seconds = 0.0;
            self.send(work.what, encoder)?;
        }
        work.seconds += seconds;
        Ok(())
    }

    /// Submits commands; the number to wait for.
    pub(super) fn submit(&self, work: Work) -> Result<u64> {
        self.send(work.what, work.encoder)
    }

    fn send(&self, what: &'static str, encoder: wgpu::CommandEncoder) -> Result<u64> {
        if self.submissions.is_full()
            && let Some((oldest, _)) = self.submissions.oldest()
        {
            self.wait(what, oldest)?;
        }
        let commands = encoder.finish();
        let commands = (self.submissions.fault() != Some(Fault::Dropped)).then_some(commands);
        let index = self.queue.submit(commands);
        let mut pending = self.submissions.pending.lock().unwrap_or_else(PoisonError::into_inner);
        pending.count += 1;
        let count = pending.count;
        pending.indices.push_back((count, index));
        Ok(count)
    }

    /// Waits for a submission and all before it. The time limit is for each: as long as one finishes after another,
    /// the device is at work.
    ///
    /// # Errors
    /// [`DeviceProblem::TimedOut`] and [`DeviceProblem::Lost`].
    pub(super) fn wait(&self, what: &'static str, number: u64) -> Result<()> {
        while let Some((oldest, index)) = self.submissions.oldest().filter(|(oldest, _)| *oldest <= number) {
            let limit = self.submissions.limit;
            let waited =
                self.poll(wgpu::PollType::Wait { submission_index: Some(index), timeout: Some(limit) });
            self.submissions.settle(oldest);
            self.check_lost()?;
            match waited {
                // This one was never made: the device takes no more commands, or refused these.
                Err(wgpu::PollError::WrongSubmissionIndex(..)) if oldest == number => {
                    let reason = format!("it takes no more commands ({what})");
                    return Err(Error::Device(DeviceProblem::Lost { reason }));
                }
                Err(wgpu::PollError::Timeout) => return Err(self.timed_out(what)),
                _ => {}
            }
        }
        Ok(())
    }

    /// The error where a device does not answer, which is given up.
    pub(super) fn timed_out(&self, what: &'static str) -> Error {
        let seconds = self.submissions.limit.as_secs_f64();
        self.give_up(&format!("{what} did not finish within {seconds} s"));
        Error::Device(DeviceProblem::TimedOut { what, seconds })
    }

    /// Finds out whether the device is lost, which its owner may hear of and nobody else: it then takes no commands, not
    /// even none.
    pub(super) fn ask(&self) {
        let submission_index = Some(self.queue.submit([]));
        let now = wgpu::PollType::Wait { submission_index, timeout: Some(Duration::ZERO) };
        if let Err(wgpu::PollError::WrongSubmissionIndex(..)) = self.poll(now) {
            self.lose("it takes no more commands");
        }
    }

    /// The one place where wgpu polls the device.
    ///
    /// wgpu 30 has no way to return that a driver reports a reset, or runs out of memory, while it is polled: it
    /// panics ("Error in Device::poll"). That is caught here. By then it has told the device that it is lost, and
    /// holds no lock: nothing is half done, and what comes later is refused. (An application built with
    /// `panic = "abort"` ends all the same.)
    fn poll(&self, kind: wgpu::PollType) -> std::result::Result<(), wgpu::PollError> {
        let poll = || match self.submissions.fault() {
            Some(Fault::Reset) => panic!("Error in Device::poll: Parent device is lost"),
            Some(Fault::Hang) => Err(wgpu::PollError::Timeout),
            _ => self.device.poll(kind).map(drop),
        };
        catch_unwind(AssertUnwindSafe(poll)).unwrap_or_else(|panic| {
            self.give_up(&words(&*panic));
            Ok(())
        })
    }
}

/// What a panic says, in one line.
fn words(panic: &(dyn Any + Send)) -> String {
    let message = panic.downcast_ref::<String>().map(String::as_str);
    let message = message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("wgpu panicked");
    one_line(message)
}

/// A driver's words without line breaks.
pub(super) fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
