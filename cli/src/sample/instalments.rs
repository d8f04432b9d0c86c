//! Many draws, a few at a time: with a report about ten times a second.

use std::time::{Duration, Instant};

use partition_dpp::Ended;

use crate::{failure::Failure, progress::Progress};

/// Instalments grow until they take so long.
const LONG: Duration = Duration::from_millis(50);

/// Calls `draw` with the end of every instalment, the last of which is `count`; why it ended before, if it did.
pub(super) fn in_instalments(
    count: u64,
    first: u64,
    progress: &Progress,
    mut draw: impl FnMut(u64) -> Result<Option<Ended>, Failure>,
) -> Result<Option<Ended>, Failure> {
    progress.steps(count);
    let (mut instalment, mut done) = (first, 0);
    while done < count {
        let started = Instant::now();
        done = instalment.saturating_add(done).min(count);
        if let Some(ended) = draw(done)? {
            return Ok(Some(ended));
        }
        progress.reached(done);
        if started.elapsed() < LONG {
            instalment = instalment.saturating_mul(2);
        }
    }
    Ok(None)
}
