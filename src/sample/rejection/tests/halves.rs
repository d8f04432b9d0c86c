//! Proposals in halves.

use rand_chacha::ChaCha8Rng;

use super::*;
use crate::{
    linalg::volume::Distance,
    sample::rejection::{chance::Drawn, halves::Half},
};

impl BoundedLaw {
    /// Replaces the picks by these, and returns det(V_S V_Sᵀ).
    pub(super) fn add_picks(&self, groups: &[usize], picks: &[u32], drawn: &mut Half) -> f64 {
        drawn.clear(self.rows.rank(), self.picks.len());
        let mut volume = 1.0;
        for (&group, &position) in groups.iter().zip(picks) {
            let item = self.rows.table(group).item(position);
            let is_new = !drawn.items.contains(&item);
            let square = drawn.add(&self.rows, (group, position)) * self.rows.table(group).weight(position);
            volume = if volume > 0.0 && is_new { volume * square } else { 0.0 };
        }
        volume
    }
}

/// Every node of the tree, from the root to single parts, has its law, and the acceptance that weighted draws
/// predict.
#[test]
fn halves_have_the_law_of_their_picks() {
    let mut divided = 0;
    for (number, case) in cases().into_iter().enumerate() {
        let dpp = case.dpp();
        if dpp.counts().exact().is_none() {
            continue;
        }
        let setup = RejectionSetup::new(&dpp, None, Engine::host()).unwrap();
        let expected = determinants(&case.features, &setup);
        let normaliser: f64 = expected.values().sum();
        for choice in choices(dpp.ground().beyond().is_some()) {
            let what = format!("case {number}, {choice:?}");
            let chosen = of_family(&setup, Bound::Hadamard, choice).unwrap();
            let mut law = BoundedLaw::new(&setup, chosen, Projection::Cheaper, Engine::host()).unwrap();
            law.note_picks();
            let halves = Halves::of_all(&law.picks);
            if halves.depth() == 0 {
                // All picks left are from one part.
                continue;
            }

            // W / Z, as the mean over the law that weighted draws estimate.
            let (mut above, mut paths, mut buffers) = (0.0, Paths::default(), Buffers::default());
            loop {
                paths.begin();
                let log = law.log_weight(&mut paths, &mut buffers);
                if log.is_finite() {
                    above +=
                        paths.probability * (log + law.log_above(&law.picks, &buffers)).exp() / normaliser;
                }
                if !paths.next() {
                    break;
                }
            }
            law.halves = Some(halves);
            let kept = kept(Paths::default(), |paths| {
                law.propose(paths, &mut buffers).then(|| buffers.items.clone())
            });
            let off = distance(&kept, &expected);
            assert!(off < 1e-11, "{what}: {off}");
            let acceptance = kept.values().sum::<f64>();
            assert!((acceptance * above - 1.0).abs() < 1e-10, "{what}: {acceptance} {above}");
            divided += halves_below(&law, &what);
        }
    }
    assert!(divided > 50);
}

/// Tests the same for halves that are divided again.
fn halves_below(law: &BoundedLaw, what: &str) -> usize {
    let mut divided = 0;
    for (halves, groups) in law.halves_below() {
        let mut drawn = Half::default();
        let found = kept(Paths::default(), |paths| {
            drawn.clear(law.rows.rank(), law.picks.len());
            law.in_halves(halves, groups, paths, &mut drawn).then(|| drawn.items.clone())
        });
        let place = |&item: &u32| {
            let of = |&&group: &&usize| {
                let (table, items) = (law.rows.table(group), 0..law.rows.table(group).len());
                items.into_iter().any(|at| table.item(at.try_into().unwrap()) == item)
            };
            let group = *groups.iter().find(of).unwrap();
            (group, law.rows.table(group).position_of(item))
        };
        let volume = |set: &Vec<u32>| {
            let (groups, picks): (Vec<usize>, Vec<u32>) = set.iter().map(place).unzip();
            (set.clone(), law.add_picks(&groups, &picks, &mut Half::default()))
        };
        let volumes = found.keys().map(volume).collect();
        let off = distance(&found, &volumes);
        assert!(off < 1e-11, "{what}, {groups:?}: {off}");
        divided += usize::from(groups.len() > 1);
    }
    divided
}

/// If rows have no preferred directions, predictions are exact, and halves take the square root of the number of
/// proposals.
#[test]
fn predictions_are_those_of_random_directions() {
    let falling =
        |dims: usize, picks: usize| (0..picks).map(|j| 1.0 - j as f64 / dims as f64).product::<f64>();
    for (dims, picks) in [(64, 30), (512, 100), (64, 40)] {
        let at_once = falling(dims, picks).recip();
        let (halves, cost) = Halves::best(&(0..picks).collect::<Vec<_>>(), at_once, dims, 400.0).unwrap();
        let expected = falling(dims, picks / 2).powi(2) * at_once;
        assert!((cost.proposals / expected - 1.0).abs() < 1e-6, "{cost:?} {expected}");
        assert!(halves.depth() >= 1 && cost.proposals > 1.0);
    }
}

/// Draws as usual, or decides in f64 alone; counts all decisions, and those made in f64.
struct Deciding<'r> {
    drawn: Drawn<'r, ChaCha8Rng, fn() -> bool>,
    exactly: bool,
    decisions: [usize; 2],
}

impl Picks for Deciding<'_> {
    fn picks(&mut self, table: &ItemTable, count: usize, picks: &mut Vec<u32>) {
        self.drawn.picks(table, count, picks);
    }

    fn choose(&mut self, _: impl Iterator<Item = (usize, f64)>) -> usize {
        unreachable!()
    }

    fn kept(&mut self, _: &ItemTable, _: impl FnMut(u32) -> f64) -> Option<u32> {
        unreachable!()
    }
}

impl Chance for Deciding<'_> {
    fn coin(&mut self, probability: f64) -> bool {
        self.drawn.coin(probability)
    }

    fn coin_near(&mut self, ratio: [Distance; 2], exact: impl FnOnce() -> f64) -> bool {
        let unknown = Distance { value: 0.0, error: f64::INFINITY };
        let [decisions, of_double] = &mut self.decisions;
        *decisions += 1;
        self.drawn.coin_near(if self.exactly { [unknown; 2] } else { ratio }, || {
            *of_double += 1;
            exact()
        })
    }

    fn half(&mut self, law: &BoundedLaw, half: &Halves, groups: &[usize], drawn: &mut Half) -> bool {
        loop {
            drawn.clear(law.rows.rank(), law.picks.len());
            if law.in_halves(half, groups, self, drawn) {
                return true;
            }
        }
    }

    fn subset(&mut self, _: Of<'_>, _: usize, _: &mut Vec<u32>) -> bool {
        unreachable!()
    }

    fn kept_subset(
        &mut self,
        _: Of<'_>,
        _: (usize, f64),
        _: &mut Vec<u32>,
        _: impl FnMut(&[u32]) -> f64,
    ) -> bool {
        unreachable!()
    }
}

/// Decisions in f32 and in f64 give the same draws from the same random numbers, for every way to read rows.
#[test]
fn f32_and_f64_decide_alike() {
    let (parts, each, dims) = (11, 6, 37);
    let labels: Vec<usize> = (0..parts * each).map(|item| item % parts).collect();
    let partition = Partition::from_labels(&labels).unwrap();
    let features = Features::from_rows(labels.len(), dims, entries(labels.len() * dims, 8)).unwrap();
    let quota = Quota::each(&partition, 1).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let setup = RejectionSetup::new(&dpp, None, Engine::host()).unwrap();
    let (mut decisions, mut of_double) = (0, 0);
    for reading in [Reading::Stored, Reading::Mapped, Reading::Thinned] {
        let chosen = of_family(&setup, Bound::Hadamard, (Family::Clipped(0), reading)).unwrap();
        let mut law = BoundedLaw::new(&setup, chosen, Projection::Cheaper, Engine::host()).unwrap();
        law.note_picks();
        let single = Halves::of_all(&law.picks);
        let (at_once, _) = Halves::best(&law.picks, 30.0, dims, 400.0).unwrap();
        assert!(single.depth() > at_once.depth());
        let trees = [single, at_once.clone(), at_once];
        for (halves, keep) in trees.into_iter().zip([false, false, true]) {
            if keep {
                law.rows.keep_units();
            }
            law.halves = Some(halves);
            for seed in 0..20 {
                let draw = |exactly: bool| {
                    let mut rng = stream(seed, 0);
                    let drawn = Drawn { rng: &mut rng, scratch: &mut [], go_on: (|| true) as fn() -> bool };
                    let mut deciding = Deciding { drawn, exactly, decisions: [0; 2] };
                    let mut buffers = Buffers::default();
                    while !law.propose(&mut deciding, &mut buffers) {}
                    let decisions = deciding.decisions;
                    (buffers.items, rng.get_word_pos(), decisions)
                };
                let (found, expected) = (draw(false), draw(true));
                assert_eq!((&found.0, found.1), (&expected.0, expected.1), "{reading:?}, seed {seed}");
                assert_eq!(found.2[0], expected.2[0], "{reading:?}, seed {seed}");
                assert_eq!(expected.2[0], expected.2[1]);
                of_double += found.2[1];
                decisions += found.2[0];
            }
        }
    }
    assert!(of_double < decisions / 100, "{of_double} of {decisions}");
}
