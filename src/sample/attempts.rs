//! The point at which a draw by rejection ends.

use crate::{
    Error, Result,
    watch::{Ended, Watch},
};

/// Proposals after which a draw is given up, in units of the promised average. If the promise holds, all of them fail
/// once in e⁶⁴ draws.
const PATIENCE: f64 = 64.0;
/// Picks between two readings of the clock, because reading it costs more than reading a flag.
const CLOCK: u32 = 16;

/// The proposals of one draw, or of successive draws.
#[derive(Debug)]
pub(crate) struct Attempts<'w> {
    watch: &'w Watch,
    /// The promised average of proposals; infinite without a promise.
    promised: f64,
    most: u64,
    made: u64,
    picks: u32,
    ended: Option<Ended>,
}

impl<'w> Attempts<'w> {
    /// Attempts that end with the watch, or after far more proposals than an acceptance of at least this explains.
    pub(crate) fn under(watch: &'w Watch, acceptance: f64) -> Self {
        let promised = if acceptance > 0.0 { acceptance.recip() } else { f64::INFINITY };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturating")]
        let most = (PATIENCE * promised) as u64;
        Self { watch, promised, most, made: 0, picks: 0, ended: None }
    }

    /// The watch that ends these attempts.
    pub(super) fn watch(&self) -> &'w Watch {
        self.watch
    }

    /// Proposals begun so far.
    pub(crate) fn made(&self) -> u64 {
        self.made
    }

    /// Adds the proposals of another law's draw, except the accepted one.
    pub(super) fn add_rejected(&mut self, other: &Self) {
        self.made = self.made.max(1) + other.made.saturating_sub(1);
    }

    /// Begins another proposal.
    ///
    /// # Errors
    /// [`Error::Ended`] if the watch has ended them; [`Error::DrawGivenUp`] after too many.
    pub(crate) fn another(&mut self) -> Result<()> {
        self.go_on();
        self.check()?;
        if self.made == self.most {
            return Err(Error::DrawGivenUp { proposals: self.made, expected: self.promised });
        }
        self.made += 1;
        Ok(())
    }

    /// Why these attempts have ended, if they have.
    pub(super) fn ended(&self) -> Option<Ended> {
        self.ended
    }

    /// Fails if these attempts have ended.
    ///
    /// # Errors
    /// [`Error::Ended`] if they have.
    pub(super) fn check(&self) -> Result<()> {
        self.ended.map_or(Ok(()), |ended| Err(ended.into()))
    }

    /// Whether a proposal should continue; called at every pick.
    #[inline]
    pub(super) fn go_on(&mut self) -> bool {
        self.picks = self.picks.wrapping_add(1);
        let ended = if self.picks % CLOCK == 1 { self.watch.ended() } else { self.watch.stopped() };
        self.ended = self.ended.or(ended);
        self.ended.is_none()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Arc,
            atomic::{AtomicBool, Ordering},
        },
        time::Instant,
    };

    use super::*;
    use crate::watch::UNWATCHED;

    #[test]
    fn they_end() {
        let mut few = Attempts::under(&UNWATCHED, 0.5);
        for _ in 0..128 {
            few.another().unwrap();
        }
        let error = few.another().unwrap_err();
        assert!(matches!(error, Error::DrawGivenUp { proposals: 128, expected: 2.0 }), "{error:?}");

        let stop = Arc::new(AtomicBool::new(false));
        let watch = Watch::default().stopped_by(&stop);
        let mut watched = Attempts::under(&watch, 0.0);
        (0..1000).for_each(|_| watched.another().unwrap());
        stop.store(true, Ordering::Relaxed);
        assert!(!watched.go_on());
        // Attempts that have ended stay ended.
        stop.store(false, Ordering::Relaxed);
        assert!(matches!(watched.another(), Err(Error::Ended(Ended::Interrupted))));

        let watch = Watch::default().until(Instant::now());
        let mut late = Attempts::under(&watch, 1.0);
        assert!(matches!(late.another(), Err(Error::Ended(Ended::TimeLimit))));
        let mut unlimited = Attempts::under(&UNWATCHED, 0.0);
        (0..1_000_000).for_each(|_| unlimited.another().unwrap());
        assert_eq!(unlimited.made(), 1_000_000);
    }
}
