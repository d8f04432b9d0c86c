//! Proposals in halves.

use super::*;
use crate::sample::rejection::halves::Half;

impl BoundedLaw {
    /// Leaves these picks, and returns det(V_S V_Sᵀ).
    pub(super) fn add_picks(&self, groups: &[usize], picks: &[u32], drawn: &mut Half) -> f64 {
        drawn.clear(self.rows.rank(), self.picks.len());
        let (mut volume, mut scratch, mut row) = (1.0, RowScratch::default(), vec![0.0; self.rows.rank()]);
        for (&group, &pick) in groups.iter().zip(picks) {
            self.rows.read(group, pick, &mut scratch, &mut row);
            let item = self.rows.table(group).item(pick);
            let distance = if drawn.items.contains(&item) { 0.0 } else { drawn.volume.distance(&row) };
            volume *= distance;
            drawn.volume.extend(&row, distance);
            drawn.items.push(item);
        }
        volume
    }
}

/// Every node of the tree, from the root to single parts, has its law; and what weighted draws tell of the proposals is the
/// acceptance that it has.
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
                // All picks left are of one part.
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

/// The same for the halves that have halves of their own.
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

/// Rows without preferred directions: predictions are exact, and halves take the root of the proposals.
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
