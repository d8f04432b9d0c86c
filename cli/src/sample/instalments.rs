//! Many draws in instalments, with progress about ten times a second.

use std::time::{Duration, Instant};

use partition_dpp::watch::Ended;

use crate::{failure::Failure, progress::Progress};

/// Instalments grow until they take this long.
const LONG: Duration = Duration::from_millis(50);

/// Calls `draw` with the end of every instalment, up to `count`; returns why it ended early, if it did.
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

#[cfg(test)]
mod tests {
    use partition_dpp::{Engine, Features, KDpp, SamplerOptions, Samples};

    use super::*;

    #[test]
    fn instalments_are_sample_many() {
        let features = Features::from_rows(4, 2, vec![1.0, 0.0, 0.5, 0.5, 0.0, 1.0, 1.0, 1.0]).unwrap();
        let model = KDpp::new(&features, 2).unwrap();
        let sampler = model.sampler(SamplerOptions::default(), &Engine::cpu()).unwrap();
        let whole = sampler.sample_many(1000, 3);
        let mut parts: Samples = sampler.sample_range(0..0, 3);
        let mut ends = vec![0];
        let ended = in_instalments(1000, 7, &Progress::new(true), |end| {
            parts.extend(sampler.sample_range(ends[ends.len() - 1]..end, 3));
            ends.push(end);
            Ok(None)
        });
        assert_eq!(ended.unwrap(), None);
        assert_eq!((whole.subsets(), whole.proposals()), (parts.subsets(), parts.proposals()));
        assert_eq!((ends[1], ends[ends.len() - 1]), (7, 1000));
    }
}
