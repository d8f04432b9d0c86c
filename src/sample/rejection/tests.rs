//! Tests of proposals that sum over all possible choices, without drawing.

mod halves;
mod inequalities;
mod weighted;

use std::collections::BTreeMap;

use super::{
    chance::{Chance, Of, Picks},
    choice::of_family,
    halves::Half,
    item_table::ItemTable,
    one_by_one::Given,
    rows::RowScratch,
    whitening::Family,
    *,
};
use crate::{Features, Partition, PartitionDpp, Quota, engine::Engine, sample::stream};

/// Sets with their probabilities, by their size.
type SetsBySize = BTreeMap<usize, Vec<(Vec<u32>, f64)>>;

/// Goes through all paths of choices, one after another.
#[derive(Debug, Default)]
struct Paths {
    /// The option taken at every choice.
    taken: Vec<usize>,
    /// The number of options at every choice.
    options: Vec<usize>,
    at: usize,
    probability: f64,
    /// Sets of every group with their probabilities, by count.
    sets: Vec<SetsBySize>,
}

impl Paths {
    fn begin(&mut self) {
        (self.at, self.probability) = (0, 1.0);
    }

    /// Whether there is another path.
    fn next(&mut self) -> bool {
        self.taken.truncate(self.at);
        self.options.truncate(self.at);
        while let (Some(taken), Some(options)) = (self.taken.last_mut(), self.options.last()) {
            *taken += 1;
            if *taken < *options {
                return true;
            }
            self.taken.pop();
            self.options.pop();
        }
        false
    }

    fn take(&mut self, probabilities: &[f64]) -> usize {
        if self.at == self.taken.len() {
            self.taken.push(0);
            self.options.push(probabilities.len());
        }
        let taken = self.taken[self.at];
        self.at += 1;
        self.probability *= probabilities[taken];
        taken
    }
}

impl Picks for Paths {
    fn choose(&mut self, probabilities: impl Iterator<Item = (usize, f64)>) -> usize {
        let (numbers, probabilities): (Vec<usize>, Vec<f64>) =
            probabilities.filter(|(_, p)| *p > 0.0).unzip();
        numbers[self.take(&probabilities)]
    }

    fn picks(&mut self, table: &ItemTable, count: usize, picks: &mut Vec<u32>) {
        let weights = weights(table);
        (0..count).for_each(|_| picks.push(self.take(&weights).try_into().unwrap()));
    }

    fn kept(&mut self, table: &ItemTable, mut keep: impl FnMut(u32) -> f64) -> Option<u32> {
        let kept: Vec<f64> =
            weights(table).iter().zip(0..).map(|(weight, position)| weight * keep(position)).collect();
        let sum: f64 = kept.iter().sum();
        let probabilities: Vec<f64> = kept.iter().map(|kept| kept / sum).collect();
        (sum > 0.0).then(|| self.take(&probabilities).try_into().unwrap())
    }
}

impl Chance for Paths {
    fn coin(&mut self, probability: f64) -> bool {
        assert!(probability <= 1.0 + 1e-12, "a bound is exceeded: {probability}");
        let p = probability.clamp(0.0, 1.0);
        self.take(&[p, 1.0 - p]) == 0
    }

    fn subset(&mut self, Of { group, .. }: Of<'_>, count: usize, items: &mut Vec<u32>) -> bool {
        let sets = self.sets[group][&count].clone();
        let taken = self.take(&sets.iter().map(|(_, p)| *p).collect::<Vec<_>>());
        items.extend(&sets[taken].0);
        true
    }

    fn kept_subset(
        &mut self,
        Of { group, .. }: Of<'_>,
        (count, expected): (usize, f64),
        items: &mut Vec<u32>,
        mut keep: impl FnMut(&[u32]) -> f64,
    ) -> bool {
        let sets = self.sets[group][&count].clone();
        let kept: Vec<f64> = sets.iter().map(|(set, p)| p * keep(set)).collect();
        let sum: f64 = kept.iter().sum();
        assert!((sum - expected).abs() < 1e-11, "{sum} {expected}");
        if sum <= 0.0 {
            return false;
        }
        let taken = self.take(&kept.iter().map(|kept| kept / sum).collect::<Vec<_>>());
        items.extend(&sets[taken].0);
        true
    }

    fn half(&mut self, law: &BoundedLaw, _: &Halves, groups: &[usize], drawn: &mut Half) -> bool {
        let mut all = vec![Vec::new()];
        for &group in groups {
            let len = u32::try_from(law.rows.table(group).len()).unwrap();
            all = all
                .iter()
                .flat_map(|picks| (0..len).map(move |pick| [&picks[..], &[pick]].concat()))
                .collect();
        }
        // Nothing is computed for dependent picks.
        let volume = |picks: Vec<u32>| (law.add_picks(groups, &picks, drawn), picks);
        let possible = all.into_iter().map(volume).filter(|(volume, _)| *volume > 0.0);
        let (volumes, all): (Vec<f64>, Vec<Vec<u32>>) = possible.unzip();
        let sum: f64 = volumes.iter().sum();
        let taken = self.take(&volumes.iter().map(|volume| volume / sum).collect::<Vec<_>>());
        law.add_picks(groups, &all[taken], drawn);
        true
    }
}

fn weights(table: &ItemTable) -> Vec<f64> {
    let total = table.total();
    (0..table.len()).map(|at| table.weight(at.try_into().unwrap()) / total).collect()
}

fn subsets(items: &[u32], count: usize) -> Vec<Vec<u32>> {
    match items {
        _ if count == 0 => vec![vec![]],
        [] => vec![],
        [first, rest @ ..] => {
            let with = subsets(rest, count - 1).into_iter().map(|set| [&[*first], &set[..]].concat());
            with.chain(subsets(rest, count)).collect()
        }
    }
}

/// The sets of every group with their probabilities in its k-DPP, by count.
fn sets_by_part(law: &BoundedLaw, dpp: &PartitionDpp) -> Vec<SetsBySize> {
    let (mut raw, rank) = (RowScratch::default(), law.rows.rank());
    let mut volume = |group: usize, set: &[u32]| {
        let mut span = Span::default();
        let mut row = vec![0.0; rank];
        let mut volume = 1.0;
        for &item in set {
            law.rows.read_item(group, item, &mut raw, &mut row);
            let distance = span.distance(&row);
            volume *= distance;
            span.extend(&row, distance);
        }
        volume
    };
    let mut of = |group: usize, items: &[u32]| {
        let counts = 1..=items.len().min(3);
        let by_count = counts.map(|count| {
            let sets = subsets(items, count);
            let volumes: Vec<f64> = sets.iter().map(|set| volume(group, set)).collect();
            let sum: f64 = volumes.iter().sum();
            (count, sets.into_iter().zip(volumes.iter().map(|v| v / sum)).collect())
        });
        by_count.collect()
    };
    let items = |at: usize| dpp.open()[at].items.iter().map(|item| u32::try_from(item).unwrap());
    (0..dpp.open().len()).map(|at| of(at, &items(at).collect::<Vec<_>>())).collect()
}

/// Entries without structure.
fn entries(count: usize, seed: u64) -> Vec<f64> {
    use rand::RngExt;
    let mut rng = stream(seed, 0);
    (0..count).map(|_| rng.random::<f64>() * 2.0 - 0.9).collect()
}

fn log_det(features: &Features, set: &[u32]) -> f64 {
    let mut span = Span::default();
    let step = |&item: &u32| {
        let row = features.row(item as usize);
        let distance = span.distance(&row);
        span.extend(&row, distance);
        distance.ln()
    };
    set.iter().map(step).sum()
}

struct Case {
    features: Features,
    partition: Partition,
    quota: Quota,
    included: Vec<usize>,
    excluded: Vec<usize>,
}

impl Case {
    fn dpp(&self) -> PartitionDpp {
        let dpp = PartitionDpp::new(&self.features, &self.partition, &self.quota).unwrap();
        dpp.including(&self.included).unwrap().excluding(&self.excluded).unwrap()
    }
}

fn cases() -> Vec<Case> {
    let case = |labels: &str, dims: usize, seed: u64, quota: &dyn Fn(&Partition) -> Quota| {
        let labels: Vec<String> = labels.chars().map(String::from).collect();
        let partition = Partition::from_labels(&labels).unwrap();
        let features = Features::from_rows(labels.len(), dims, entries(labels.len() * dims, seed)).unwrap();
        let quota = quota(&partition);
        Case { features, partition, quota, included: vec![], excluded: vec![] }
    };
    let exact = |counts: &'static [usize]| {
        move |partition: &Partition| Quota::new(partition, counts.iter().copied()).unwrap()
    };
    let mut all = vec![
        case("aabbcc", 3, 1, &exact(&[1, 1, 1])),
        case("aaabbcc", 4, 2, &exact(&[2, 1, 1])),
        case("aaabbbb", 4, 3, &exact(&[2, 2])),
        case("aaabbbb", 5, 4, &exact(&[3, 2])),
        case("abababab", 5, 5, &|p| Quota::new(p, [1..=2, 0..=2]).unwrap()),
        case("abcabca", 4, 6, &|p| Quota::new(p, [0..=2, 1..=2, 0..=1]).unwrap().with_total(3).unwrap()),
    ];
    let mut given = case("aaabbbbcc", 5, 7, &exact(&[2, 2, 1]));
    (given.included, given.excluded) = (vec![1], vec![4]);
    all.push(given);
    all
}

/// Matrices B, and ways to read rows.
fn choices(beyond: bool) -> Vec<(Family, Reading)> {
    let families = [Family::Clipped(0), Family::Clipped(2), Family::Smooth(0.3), Family::Smooth(10.0)];
    let thinned = |family| (!beyond).then_some((family, Reading::Thinned));
    let each =
        |family| [(family, Reading::Stored), (family, Reading::Mapped)].into_iter().chain(thinned(family));
    families.into_iter().flat_map(each).collect()
}

/// The determinant of every allowed set beyond the included items, in the units of the correction.
fn determinants(features: &Features, setup: &RejectionSetup<'_>) -> BTreeMap<Vec<u32>, f64> {
    let RejectionSetup { dpp, correction, .. } = setup;
    let (counts, groups, beyond) = (dpp.counts(), dpp.groups(), dpp.ground().included());
    let shift = log_det(features, beyond) - correction.least;
    let items = groups.iter().flat_map(crate::model::FreeItems::iter);
    let mut free: Vec<u32> = items.map(|item| item.try_into().unwrap()).collect();
    free.sort_unstable();
    let allowed = |set: &Vec<u32>| {
        let of = |group: &crate::model::FreeItems| {
            set.iter().filter(|&&item| group.contains(item as usize)).count()
        };
        counts.allow(&groups.iter().map(of).collect::<Vec<_>>())
    };
    let sets = (counts.least..=counts.most).flat_map(|size| subsets(&free, size)).filter(allowed);
    let determinant = |set: Vec<u32>| {
        let log = log_det(features, &[beyond, &set[..]].concat());
        (set, (log - shift).exp())
    };
    sets.map(determinant).collect()
}

/// The probability that every set is proposed and kept.
fn kept(
    mut paths: Paths,
    mut propose: impl FnMut(&mut Paths) -> Option<Vec<u32>>,
) -> BTreeMap<Vec<u32>, f64> {
    let mut kept = BTreeMap::new();
    loop {
        paths.begin();
        if let Some(mut set) = propose(&mut paths) {
            set.sort_unstable();
            *kept.entry(set).or_insert(0.0) += paths.probability;
        }
        if !paths.next() {
            return kept;
        }
    }
}

fn distance(kept: &BTreeMap<Vec<u32>, f64>, expected: &BTreeMap<Vec<u32>, f64>) -> f64 {
    let (sum, whole): (f64, f64) = (kept.values().sum(), expected.values().sum());
    let off = |(set, value): (&Vec<u32>, &f64)| (kept.get(set).unwrap_or(&0.0) / sum - value / whole).abs();
    expected.iter().map(off).sum()
}

/// Tests the law and the share of kept proposals for every bound, every B and every way to read rows.
#[test]
fn kept_proposals_have_the_law() {
    for (number, case) in cases().into_iter().enumerate() {
        let dpp = case.dpp();
        let setup = RejectionSetup::new(&dpp, None, Engine::host()).unwrap();
        let expected = determinants(&case.features, &setup);
        let normaliser: f64 = expected.values().sum();
        for (choice, bound) in choices(dpp.ground().beyond().is_some())
            .into_iter()
            .flat_map(|choice| Bound::ALL[1..].iter().map(move |&bound| (choice, bound)))
        {
            let what = format!("case {number}, {bound}, {choice:?}");
            let chosen = of_family(&setup, bound, choice).unwrap();
            let law = BoundedLaw::new(&setup, chosen, Projection::Cheaper, Engine::host()).unwrap();
            let paths = Paths { sets: sets_by_part(&law, &dpp), ..Paths::default() };
            let mut buffers = Buffers::default();
            let kept = kept(paths, |paths| law.propose(paths, &mut buffers).then(|| buffers.items.clone()));
            let (acceptance, predicted) =
                (kept.values().sum::<f64>(), (normaliser.ln() - law.log_bound()).exp());
            assert!((acceptance / predicted - 1.0).abs() < 1e-11, "{what}: {acceptance} {predicted}");
            let off = distance(&kept, &expected);
            assert!(off < 1e-12, "{what}: {off}");

            // The mean of the weights of sequential draws is the normaliser.
            let (mut mean, mut paths) = (0.0, Paths::default());
            loop {
                paths.begin();
                let log = law.log_weight(&mut paths, &mut buffers);
                mean += paths.probability * log.exp();
                if !paths.next() {
                    break;
                }
            }
            assert!((mean / normaliser - 1.0).abs() < 1e-11, "{what}: {mean} {normaliser}");
        }
    }
}

/// Independent picks inside a part follow the law of its k-DPP.
#[test]
fn picks_of_a_part_have_its_law() {
    let Case { features, partition, quota, .. } = cases().swap_remove(2);
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let setup = RejectionSetup::new(&dpp, None, Engine::host()).unwrap();
    for choice in choices(false) {
        let chosen = of_family(&setup, Bound::Fischer, choice).unwrap();
        let law = BoundedLaw::new(&setup, chosen, Projection::Cheaper, Engine::host()).unwrap();
        let sets = sets_by_part(&law, &dpp);
        for (group, gram) in law.grams.iter().enumerate() {
            let found = crate::linalg::eigen(gram.as_ref()).unwrap();
            let rank = found.values.iter().filter(|&&value| value > 1e-12).count();
            let prediction = part_picks::Prediction::best(&found.values[..rank], 2, 0.0);
            let of = (group, setup.rows.groups()[group].items);
            let vectors = found.vectors.subcols(0, rank);
            let picks = part_picks::PartPicks::new(&law.rows, of, vectors, &prediction).unwrap();
            let expected: BTreeMap<Vec<u32>, f64> = sets[group][&2].iter().cloned().collect();
            let mut scratch = part_picks::PickScratch::default();
            let kept = kept(Paths::default(), |paths| {
                let mut items = Vec::new();
                picks.propose((&law.rows, group), 2, paths, &mut scratch, &mut items).then_some(items)
            });
            let off = distance(&kept, &expected);
            assert!(off < 1e-12, "{group}, {choice:?}: {off}");
        }
    }
}
