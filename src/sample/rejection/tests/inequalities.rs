//! Every factor of an acceptance is at most 1 for every set. This tests the inequalities behind the bounds on random
//! sets; proposals would keep only a few of these.

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::{prelude::*, test_runner::TestRunner};
use rand::{RngExt, SeedableRng, seq::index};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::{SamplerOptions, estimate::accurate};

/// The loss from factors above 1 may be this many times the error stated for the law.
const ROUNDING: f64 = 4.0;
/// A path ends at a factor below this, because the items are nearly dependent.
const DEPENDENT: f64 = 1e-8;
/// Random sets per law.
const SETS: usize = 60;

/// Makes all items equally likely, and records the probability that a proposal gives the current set.
struct Uniform {
    rng: ChaCha8Rng,
    /// The product with the factors as computed.
    wanted: f64,
    /// The product with every factor cut off at 1, as a coin does.
    kept: f64,
}

impl Uniform {
    fn see(&mut self, factor: f64) -> bool {
        assert!(!factor.is_nan());
        self.wanted *= factor;
        self.kept *= factor.min(1.0);
        factor > DEPENDENT
    }

    fn pick(&mut self, probability: f64) {
        self.wanted *= probability;
        self.kept *= probability;
    }

    /// The probability that the set loses from factors above 1. Rounding is harmless in sets that are never drawn.
    fn lost(&self) -> f64 {
        (self.wanted - self.kept).abs()
    }

    /// Positions of items that may be drawn; `None` if there are too few.
    fn positions(&mut self, table: &ItemTable, count: usize) -> Option<Vec<u32>> {
        let len = u32::try_from(table.len()).unwrap();
        let possible: Vec<u32> = (0..len).filter(|&position| table.weight(position) > 0.0).collect();
        if count > possible.len() {
            return None;
        }
        let drawn = index::sample(&mut self.rng, possible.len(), count).into_iter();
        let positions: Vec<u32> = drawn.map(|at| possible[at]).collect();
        let shares = positions.iter().map(|&position| table.weight(position) / table.total());
        self.pick(shares.product());
        Some(positions)
    }
}

impl Picks for Uniform {
    fn choose(&mut self, probabilities: impl Iterator<Item = (usize, f64)>) -> usize {
        let possible: Vec<usize> =
            probabilities.filter(|(_, p)| *p > 0.0).map(|(number, _)| number).collect();
        possible[self.rng.random_range(0..possible.len())]
    }

    fn picks(&mut self, table: &ItemTable, count: usize, picks: &mut Vec<u32>) {
        // Repeated items are rejected.
        picks.extend(self.positions(table, count).unwrap_or_else(|| vec![0; count]));
    }

    fn kept(&mut self, table: &ItemTable, mut keep: impl FnMut(u32) -> f64) -> Option<u32> {
        let position = self.positions(table, 1)?[0];
        let len = u32::try_from(table.len()).unwrap();
        let shares = (0..len).map(|other| (table.weight(other) / table.total(), keep(other)));
        let (sum, cut) = shares
            .fold((0.0, 0.0), |(sum, cut), (share, keep)| (sum + share * keep, cut + share * keep.min(1.0)));
        // Trials go on until one is kept.
        self.wanted /= sum;
        self.kept /= cut;
        let factor = keep(position);
        self.see(factor).then_some(position)
    }
}

impl Chance for Uniform {
    fn coin(&mut self, probability: f64) -> bool {
        self.see(probability)
    }

    fn subset(&mut self, of: Of<'_>, count: usize, items: &mut Vec<u32>) -> bool {
        let table = of.rows.table(of.group);
        let Some(positions) = self.positions(table, count) else { return false };
        // In a k-DPP, nearly dependent items are rarer than as independent items.
        let (mut span, mut scratch) = (Span::default(), RowScratch::default());
        let mut row = vec![0.0; of.rows.rank()];
        for position in positions {
            of.rows.read(of.group, position, &mut scratch, &mut row);
            let distance = span.distance(&row);
            self.pick(distance / table.weight(position));
            span.extend(&row, distance);
            items.push(table.item(position));
        }
        true
    }

    fn kept_subset(
        &mut self,
        of: Of<'_>,
        (count, expected): (usize, f64),
        items: &mut Vec<u32>,
        mut keep: impl FnMut(&[u32]) -> f64,
    ) -> bool {
        let start = items.len();
        // For dependent items, the factor is 0/0.
        self.subset(of, count, items) && {
            let factor = keep(&items[start..]);
            self.pick(expected.recip());
            !factor.is_nan() && self.see(factor)
        }
    }

    fn half(&mut self, law: &BoundedLaw, half: &Halves, groups: &[usize], drawn: &mut Half) -> bool {
        drawn.clear(law.rows.rank(), law.picks.len());
        law.in_halves(half, groups, self, drawn)
    }
}

/// Changes to rows.
#[derive(Clone, Copy, Debug)]
enum Spoilt {
    No,
    Scaled(f64),
    /// An earlier row, scaled and moved a little.
    Near(usize, f64),
    Zero,
}

#[derive(Clone, Debug)]
struct Model {
    dims: usize,
    labels: Vec<usize>,
    values: Vec<f64>,
    spoilt: Vec<Spoilt>,
    counts: Vec<usize>,
}

impl Model {
    fn rows(&self) -> Vec<f64> {
        let mut rows = self.values.clone();
        for (item, spoilt) in self.spoilt.iter().enumerate() {
            let (before, from) = rows.split_at_mut(item * self.dims);
            let own = &mut from[..self.dims];
            match *spoilt {
                Spoilt::Zero => own.fill(0.0),
                Spoilt::Scaled(scale) => own.iter_mut().for_each(|value| *value *= scale),
                Spoilt::Near(other, moved) if item > 0 => {
                    let other = &before[other % item * self.dims..][..self.dims];
                    own.iter_mut()
                        .zip(other)
                        .for_each(|(value, other)| *value = 1.5 * other + moved * *value);
                }
                Spoilt::No | Spoilt::Near(..) => {}
            }
        }
        rows
    }

    fn dpp(&self) -> Option<PartitionDpp> {
        let features = Features::from_rows(self.labels.len(), self.dims, self.rows()).unwrap();
        let partition = Partition::from_labels(&self.labels).unwrap();
        let quota = Quota::new(&partition, &self.counts).ok()?;
        PartitionDpp::new(&features, &partition, &quota).ok().filter(|dpp| !dpp.open().is_empty())
    }
}

fn models() -> impl Strategy<Value = Model> {
    let spoilt = || {
        prop_oneof![
            6 => Just(Spoilt::No),
            2 => (-6_i32..6).prop_map(|power| Spoilt::Scaled(10_f64.powi(power))),
            2 => (0..20_usize, -9_i32..1).prop_map(|(of, power)| Spoilt::Near(of, 10_f64.powi(power))),
            1 => Just(Spoilt::Zero),
        ]
    };
    (prop::collection::vec((2..6_usize, 1..4_usize), 1..5), 3..8_usize).prop_flat_map(move |(parts, dims)| {
        let labels: Vec<usize> =
            parts.iter().enumerate().flat_map(|(part, (size, _))| vec![part; *size]).collect();
        let counts: Vec<usize> = parts.iter().map(|(size, count)| *count.min(size)).collect();
        let items = labels.len();
        let (values, spoilt) =
            (prop::collection::vec(-1.0..1.0, items * dims), prop::collection::vec(spoilt(), items));
        (Just(dims), Just(labels), values, spoilt, Just(counts))
            .prop_map(|(dims, labels, values, spoilt, counts)| Model { dims, labels, values, spoilt, counts })
    })
}

/// The largest loss of some random sets from factors above 1.
fn lost(law: &BoundedLaw, seed: u64) -> f64 {
    let mut chance = Uniform { rng: ChaCha8Rng::seed_from_u64(seed), wanted: 1.0, kept: 1.0 };
    let (mut buffers, mut most) = (Buffers::default(), 0.0_f64);
    for _ in 0..SETS {
        (chance.wanted, chance.kept) = (1.0, 1.0);
        if law.propose(&mut chance, &mut buffers) {
            // No coin is tossed for the last factor if it is 1.
            let last = law.log_det_of_span(&buffers.span) - law.log_products[buffers.items.len()];
            chance.see(last.exp());
        }
        most = most.max(chance.lost());
    }
    most
}

/// Random sets lose no more than the error stated for the law; returns false if there is no such law.
fn assert_is_kept(
    setup: &RejectionSetup<'_>,
    bound: Bound,
    choice: (Family, Reading),
    seed: u64,
) -> std::result::Result<bool, TestCaseError> {
    let Ok(chosen) = of_family(setup, bound, choice) else { return Ok(false) };
    let Ok(mut bounded) = setup.bounded(chosen, SamplerOptions::default(), Engine::host()) else {
        return Ok(false);
    };
    if bound == Bound::Halves && !bounded.law.picks.is_empty() {
        bounded.law.halves = Some(Halves::of_all(&bounded.law.picks));
    }
    let Ok(error) = accurate(bounded.error(&setup.found)) else { return Ok(false) };
    let lost = lost(&bounded.law, seed) * bounded.proposals;
    prop_assert!(
        lost <= ROUNDING * error,
        "{bound}, {choice:?}: a set loses {lost:.1e}, the law states {error:.1e}"
    );
    Ok(true)
}

#[test]
fn no_factor_of_an_acceptance_exceeds_one() {
    let config = ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() };
    let (mut runner, sets) = (TestRunner::new(config), AtomicUsize::new(0));
    let checked = runner.run(&(models(), any::<u64>()), |(model, seed)| {
        let Some(dpp) = model.dpp() else { return Err(TestCaseError::reject("no set has a determinant")) };
        let Ok(setup) = RejectionSetup::new(&dpp, None, Engine::host()) else { return Ok(()) };
        // Rows are thinned out only if the spectrum covers all their components.
        let beyond = dpp.ground().beyond().is_some() || setup.found.spectrum.values.len() < model.dims;
        for (choice, bound) in choices(beyond)
            .into_iter()
            .flat_map(|choice| Bound::ALL[1..].iter().map(move |&bound| (choice, bound)))
        {
            if assert_is_kept(&setup, bound, choice, seed)? {
                sets.fetch_add(SETS, Ordering::Relaxed);
            }
        }
        Ok(())
    });
    checked.unwrap();
    assert!(sets.into_inner() > 100_000);
}

/// Most of each row cancels beyond the included ones, so that forms and images of the rows differ.
#[test]
fn no_weight_falls_short_of_a_row_that_cancels() {
    let spoilt = vec![
        Spoilt::No,
        Spoilt::Scaled(1e4),
        Spoilt::No,
        Spoilt::Near(7, 0.01),
        Spoilt::Near(3, 1e-8),
        Spoilt::No,
    ];
    let kept = |seed: &u64| {
        let seed = *seed;
        let (labels, counts) = (vec![0, 0, 0, 1, 1, 1], vec![3, 2]);
        let model = Model { dims: 6, labels, values: entries(36, seed), spoilt: spoilt.clone(), counts };
        let dpp = model.dpp().unwrap();
        let setup = RejectionSetup::new(&dpp, None, Engine::host()).unwrap();
        assert_is_kept(&setup, Bound::Hadamard, (Family::Clipped(2), Reading::Mapped), seed).unwrap()
    };
    assert!((0..20).filter(kept).count() >= 10);
}
