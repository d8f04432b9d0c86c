//! The copy rate of the device.

use std::time::Instant;

use super::context::Context;
use crate::Result;

/// Bytes of a copy, more than fit in caches.
const BYTES: u64 = 1 << 28;
/// Number of copies in a row; the rate follows from the extra time compared with one copy.
const COPIES: u64 = 9;

pub(super) fn copy_rate(context: &Context) -> Result<f64> {
    of_copies(context, BYTES, COPIES)
}

/// The rate at which the device reads and writes when it copies so many bytes so many times.
pub(super) fn of_copies(context: &Context, bytes: u64, copies: u64) -> Result<f64> {
    context.checked("copying", || {
        let bytes = bytes.min(context.largest_binding) / 256 * 256;
        let (from, to) = (context.storage(bytes), context.storage(bytes));
        let run = |copies: u64| -> Result<f64> {
            let mut work = context.work("copying");
            (0..copies).for_each(|_| work.encoder.copy_buffer_to_buffer(&from, 0, &to, 0, bytes));
            let start = Instant::now();
            context.download(work, &[(&to, 0, 4)])?;
            Ok(start.elapsed().as_secs_f64())
        };
        run(1)?;
        // A difference of two times that were interrupted is no bound: the shortest of each is.
        let (mut one, mut many) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..3 {
            (one, many) = (one.min(run(1)?), many.min(run(copies)?));
        }
        // What cannot be told from noise took no less than a tenth of the time.
        Ok(2.0 * bytes as f64 * (copies - 1) as f64 / (many - one).max(0.1 * many))
    })
}
