//! The amount of work in one dispatch and in one submission.
//!
//! Drivers reset a device that computes for too long without a break; Windows does so after two seconds. Work is
//! therefore measured in operations and bytes before it is dispatched. It is cut so that the slowest card considered
//! has a break about every 100 ms.

use std::time::Duration;

use crate::engine::Precision;

/// Operations per second in f32 of the slowest card considered, an integrated GPU of about 2015.
const SLOWEST_FLOPS: f64 = 500e9;
/// Its bytes per second, read and written.
const SLOWEST_BYTES: f64 = 50e9;
/// Its rate in f64, relative to f32.
const SLOWEST_DOUBLE: f64 = 1.0 / 32.0;
/// Operations per second in f32 or f64, and bytes per second, of a software adapter on two busy cores.
const SOFTWARE: f64 = 5e9;
/// The number of workgroups that a card runs at a time. A single workgroup gets one of this many shares of the rate.
const CORES: f64 = 32.0;
/// The most seconds of one dispatch.
const LONGEST_DISPATCH: f64 = 0.1;
/// The most dispatches of full length in one submission, as the watchdog of some drivers measures submissions. They
/// take a second, half of what Windows allows.
const SUBMISSION: f64 = 10.0;

/// The work of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Load {
    /// The number of workgroups.
    pub(super) groups: usize,
    /// Operations per workgroup.
    pub(super) flops: f64,
    /// Bytes that each workgroup reads and writes.
    pub(super) bytes: f64,
}

/// Workgroups of one dispatch: `x` by `y`, after `start` others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) start: usize,
    pub(super) x: u32,
    pub(super) y: u32,
}

impl Run {
    pub(super) fn groups(self) -> usize {
        self.x as usize * self.y as usize
    }
}

/// The minimum speed of a device, and the time that it may work without a break.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pace {
    flops: f64,
    bytes: f64,
    longest: f64,
}

impl Pace {
    /// The pace of the slowest card considered, or the slower one of a software adapter.
    pub(super) fn of(kind: wgpu::DeviceType, precision: Precision, longest: Option<Duration>) -> Self {
        let (flops, bytes) = match (kind, precision) {
            (wgpu::DeviceType::Cpu, _) => (SOFTWARE, SOFTWARE),
            (_, Precision::F32) => (SLOWEST_FLOPS, SLOWEST_BYTES),
            (_, Precision::F64) => (SLOWEST_FLOPS * SLOWEST_DOUBLE, SLOWEST_BYTES),
        };
        let longest = longest.map_or(LONGEST_DISPATCH, |longest| longest.as_secs_f64());
        Self { flops, bytes, longest }
    }

    /// The seconds that a whole load takes on an idle device. Few workgroups leave some of its cores idle.
    pub(super) fn seconds(&self, load: Load) -> f64 {
        CORES.max(load.groups as f64) * self.each(load.flops, load.bytes)
    }

    /// The most seconds of one submission.
    pub(super) fn longest_submission(&self) -> f64 {
        SUBMISSION * self.longest
    }

    /// The number of times that something of this many seconds fits into the longest submission; at least one.
    pub(super) fn times_in_a_submission(&self, seconds: f64) -> usize {
        whole(self.longest_submission() / seconds)
    }

    /// The number of such workgroups in the longest submission; at least one.
    pub(super) fn groups_of_a_submission(&self, load: Load) -> usize {
        self.times_in_a_submission(self.each(load.flops, load.bytes))
    }

    /// The number of units of work, each of this many operations and bytes, for one workgroup; at least one.
    pub(super) fn units_of_a_group(&self, flops: f64, bytes: f64) -> usize {
        whole(self.longest / CORES / self.each(flops, bytes))
    }

    /// The dispatches of a load, on a device that takes at most this many workgroups along a dimension. Every
    /// workgroup runs exactly once.
    pub(super) fn runs(&self, load: Load, most: u32) -> impl Iterator<Item = Run> {
        let at_a_time = whole(self.longest / self.each(load.flops, load.bytes));
        let mut start = 0;
        std::iter::from_fn(move || {
            let left = at_a_time.min(load.groups - start);
            let (x, y) = match u32::try_from(left) {
                Ok(0) => return None,
                Ok(left) if left <= most => (left, 1),
                Ok(left) => (most, (left / most).min(most)),
                Err(_) => (most, most),
            };
            let run = Run { start, x, y };
            start += run.groups();
            Some(run)
        })
    }

    fn each(&self, flops: f64, bytes: f64) -> f64 {
        flops / self.flops + bytes / self.bytes
    }
}

/// Rounds a count down, to at least one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts of floats saturate")]
fn whole(count: f64) -> usize {
    (count as usize).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REAL: [wgpu::DeviceType; 2] = [wgpu::DeviceType::IntegratedGpu, wgpu::DeviceType::DiscreteGpu];

    /// The load of ‖Fᵀ a_i‖² for ten million rows of 64 features and 64 columns.
    fn forms(precision: Precision) -> Load {
        let width = if precision == Precision::F32 { 4.0 } else { 8.0 };
        Load {
            groups: 10_000_000_usize.div_ceil(64),
            flops: 2.0 * 64.0 * 64.0 * 64.0,
            bytes: 64.0 * 64.0 * 2.0 * width,
        }
    }

    #[test]
    fn a_large_problem_takes_as_many_dispatches_as_the_slowest_card_needs_breaks() {
        for kind in REAL {
            // 524 288 operations at 500 GFLOP/s and 32 KiB at 50 GB/s take 1.70 µs: 58 655 workgroups in 100 ms.
            let pace = Pace::of(kind, Precision::F32, None);
            assert_eq!(pace.runs(forms(Precision::F32), 65_535).count(), 3);
            // In f64 they take 34.9 µs: 2 868 workgroups in 100 ms.
            let pace = Pace::of(kind, Precision::F64, None);
            assert_eq!(pace.runs(forms(Precision::F64), 65_535).count(), 55);
        }
    }

    #[test]
    fn no_dispatch_is_longer_than_that_and_none_is_in_vain() {
        for (precision, longest) in
            [Precision::F32, Precision::F64].into_iter().flat_map(|p| [1e-9, 1e-3, 0.1].map(|s| (p, s)))
        {
            let pace = Pace::of(REAL[0], precision, Some(Duration::from_secs_f64(longest)));
            for groups in [0, 1, 31, 65_535, 65_536, 200_000] {
                let load = Load { groups, ..forms(precision) };
                for most in [7, 65_535] {
                    let mut next = 0;
                    for run in pace.runs(load, most) {
                        assert_eq!(run.start, next);
                        assert!(run.groups() > 0 && run.x <= most && run.y <= most);
                        let own = run.groups() as f64 * pace.each(load.flops, load.bytes);
                        assert!(run.groups() == 1 || own <= longest, "{run:?}");
                        next += run.groups();
                    }
                    assert_eq!(next, groups, "every workgroup once");
                }
            }
        }
    }

    #[test]
    fn a_submission_is_cut_by_its_length() {
        let pace = Pace::of(REAL[1], Precision::F64, None);
        let groups = pace.groups_of_a_submission(forms(Precision::F64));
        let seconds = |groups| pace.seconds(Load { groups, ..forms(Precision::F64) });
        assert!(seconds(groups) <= 1.0 && seconds(groups + 1) > 1.0, "{groups}");
        assert_eq!(pace.groups_of_a_submission(Load { groups: 1, flops: 1e15, bytes: 0.0 }), 1);
    }

    #[test]
    fn one_workgroup_is_not_left_alone_with_too_much() {
        let pace = Pace::of(REAL[0], Precision::F64, None);
        let units = pace.units_of_a_group(2.0 * 4096.0, 1024.0);
        let alone = CORES * pace.seconds(Load { groups: units, flops: 2.0 * 4096.0, bytes: 1024.0 });
        assert!((0.09..=0.1).contains(&alone), "{alone}");
        let one = Load { groups: 1, flops: units as f64 * 2.0 * 4096.0, bytes: units as f64 * 1024.0 };
        assert!((pace.seconds(one) / alone - 1.0).abs() < 1e-12);
        assert_eq!(pace.units_of_a_group(1e12, 0.0), 1);
    }
}
