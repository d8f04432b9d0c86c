//! Rows that represent their part, against rows mapped with more than a hundred digits.

use oracles::{
    Case, enumerable_cases,
    exact::{self, Law, Minors, Set},
    random::normals,
    stats,
};
use partition_dpp::{
    Dpp, Engine, Error, Features, Inference, KDpp, Kernel, Method, Partition, PartitionDpp, Quota, RidgeDpp,
    Subset, similarity::Representation,
};

/// A known answer of features, with the groups that are represented.
struct Represented {
    case: Case,
    /// The group of every item.
    groups: Vec<usize>,
}

impl Represented {
    /// Returns every case, with one group per part, and with all items in one group.
    fn all() -> impl Iterator<Item = Self> {
        let of_features = || enumerable_cases().into_iter().filter(|case| !case.dense);
        let parts = of_features().map(|case| Self { groups: case.labels.clone(), case });
        parts.chain(of_features().map(|case| Self { groups: vec![0; case.items()], case }))
    }

    fn mapped(&self, rho: u32) -> Features {
        mapped(&self.case.features(), &self.groups, rho.into())
    }

    fn minors(&self, rho: u32) -> Minors {
        Minors::of_represented(&self.case.rows, &self.groups, rho, |_| true)
    }

    fn partition(&self) -> Partition {
        Partition::from_labels(&self.case.labels).unwrap()
    }

    fn quota(&self) -> Quota {
        Quota::new(&self.partition(), &self.case.quota).unwrap()
    }

    /// Whether a set meets the quota.
    fn meets(&self, set: Set) -> bool {
        let items = exact::items_of(set);
        let count = |part: usize| items.iter().filter(|&&item| self.case.labels[item] == part).count();
        (0..self.case.quota.len()).all(|part| count(part) == self.case.quota[part])
    }

    /// Returns how much f64 keeps of the shortest direction of a group.
    fn limit(&self, rho: u32) -> f64 {
        let least = exact::least_spread(&self.case.rows, &self.groups);
        (f64::EPSILON / least.powf(f64::from(rho + 1) / 2.0)).max(1e-10)
    }

    fn name(&self, rho: u32) -> String {
        format!("{} by {:?}, exponent {rho}", self.case.name, self.groups)
    }
}

fn mapped(features: &Features, groups: &[usize], rho: f64) -> Features {
    let partition = Partition::from_labels(groups).unwrap();
    Representation::new(features, &partition, &Engine::cpu()).unwrap().features(rho, &Engine::cpu()).unwrap()
}

/// Returns the largest gap in ln Z, inclusion probabilities and log-probabilities.
fn gap(inference: &Inference, law: &Law, items: usize) -> f64 {
    /// Logarithms below this are zero in fixed point.
    const NOTHING: f64 = -200.0;
    let log_z = inference.log_partition_function().value;
    let mut worst = (log_z - law.log_z()).abs() / (1.0 + log_z.abs());
    let marginals = inference.inclusion_probabilities().unwrap().value;
    for (found, expected) in marginals.iter().zip(law.marginals(items)) {
        worst = worst.max((found - expected).abs());
    }
    for (set, _) in law.sets() {
        let expected = law.log_probability(set);
        if expected > NOTHING {
            let subset = Subset::new(exact::items_of(set), items).unwrap();
            let found = inference.log_probability(&subset).unwrap().value;
            worst = worst.max((found - expected).abs() / (1.0 + expected.abs()));
        }
    }
    worst
}

#[test]
fn laws_are_those_of_mapped_rows() {
    let (engine, mut refused) = (&Engine::cpu(), 0);
    for represented in Represented::all() {
        let items = represented.case.items();
        let size = represented.case.quota.iter().sum::<usize>();
        for rho in [1, 2, 3] {
            let (minors, features) = (represented.minors(rho), represented.mapped(rho));
            let quota = PartitionDpp::new(&features, &represented.partition(), &represented.quota());
            let found = [
                (minors.law(|set| represented.meets(set)), quota.and_then(|dpp| dpp.inference(engine))),
                (
                    minors.law(|set| set.count_ones() as usize == size),
                    KDpp::new(&features, size).and_then(|dpp| dpp.inference(engine)),
                ),
                (minors.law(|_| true), Dpp::new(&features).and_then(|dpp| dpp.inference(engine))),
            ];
            let (what, limit) = (represented.name(rho), represented.limit(rho));
            for (law, found) in found {
                match found {
                    Ok(found) => {
                        let gap = gap(&found, &law.unwrap(), items);
                        println!("{what}: {gap:.1e} of {limit:.1e}");
                        assert!(gap <= limit, "{what}: {gap:e}, more than {limit:e}");
                    }
                    // f64 has lost a direction that is needed.
                    Err(Error::Infeasible { .. } | Error::SizeAboveRank { .. }) => {
                        assert!(limit > 1e-6, "{what} is refused");
                        refused += 1;
                    }
                    Err(error) => panic!("{what}: {error}"),
                }
            }
        }
    }
    assert!(refused <= 6, "{refused} laws are refused");
}

/// Ranges and open sizes depend on the lengths of rows.
#[test]
fn lengths_of_parts_stay() {
    let case = || enumerable_cases().into_iter().find(|case| case.name == "badly-scaled-parts").unwrap();
    let represented = Represented { groups: case().labels, case: case() };
    let partition = represented.partition();
    let quota = Quota::new(&partition, (0..partition.parts()).map(|_| 0..=2)).unwrap();
    let features = represented.mapped(1);
    let law = represented.minors(1).law(|set| {
        (0..partition.parts()).all(|part| {
            exact::items_of(set).iter().filter(|&&item| represented.case.labels[item] == part).count() <= 2
        })
    });
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let gap = gap(&dpp.inference(&Engine::cpu()).unwrap(), &law.unwrap(), features.items());
    assert!(gap <= 1e-10, "{gap:e}");
    let squares = |features: &Features, part: usize| -> f64 {
        let square = |&item: &u32| features.row(item as usize).iter().map(|x| x * x).sum::<f64>();
        partition.members(part).iter().map(square).sum()
    };
    for part in 0..partition.parts() {
        let ratio = squares(&features, part) / squares(&represented.case.features(), part);
        assert!((ratio - 1.0).abs() < 1e-13, "part {part}: {ratio}");
    }
}

#[test]
fn wrong_maps_are_noticed() {
    let case = || enumerable_cases().into_iter().find(|case| case.name == "three-parts").unwrap();
    let represented = Represented { groups: case().labels, case: case() };
    let (partition, items) = (represented.partition(), represented.case.items());
    let ranges = Quota::new(&partition, (0..partition.parts()).map(|_| 0..=2)).unwrap();
    let counts = |set: Set| {
        represented.case.labels.iter().enumerate().fold([0; 3], |mut counts, (item, part)| {
            counts[*part] += usize::from(set >> item & 1 == 1);
            counts
        })
    };
    let law = represented.minors(1).law(|set| counts(set).iter().all(|count| *count <= 2)).unwrap();
    let gap_of = |features: &Features| {
        let dpp = PartitionDpp::new(features, &partition, &ranges).unwrap();
        gap(&dpp.inference(&Engine::cpu()).unwrap(), &law, items)
    };
    let features = represented.case.features();
    let right = represented.mapped(1);
    assert!(gap_of(&right) <= 1e-10);
    let longer = vec![0.01; items];
    let others: Vec<usize> = (0..items).map(|item| represented.groups[(item + 1) % items]).collect();
    let faults = [
        ("none", features.clone()),
        ("twice", mapped(&right, &represented.groups, 1.0)),
        ("another exponent", represented.mapped(2)),
        ("a factor", right.with_log_quality(&longer).unwrap()),
        ("all together", mapped(&features, &vec![0; items], 1.0)),
        ("another part", mapped(&features, &others, 1.0)),
    ];
    for (fault, features) in faults {
        let gap = gap_of(&features);
        assert!(gap > 1e-4, "{fault} is not noticed: {gap:e}");
    }
}

#[test]
fn draws_follow_the_law() {
    const DRAWS: u64 = 30_000;
    let names = ["two-parts", "three-parts", "many-parts", "zero-rows"];
    let cases = Represented::all().filter(|case| names.contains(&&*case.case.name));
    for represented in cases {
        let features = represented.mapped(1);
        let dpp = PartitionDpp::new(&features, &represented.partition(), &represented.quota()).unwrap();
        let law = represented.minors(1).law(|set| represented.meets(set)).unwrap();
        let law = law.sets().map(|(set, p)| (exact::items_of(set), p)).collect();
        let samples = dpp.sampler(Method::Auto, &Engine::cpu()).unwrap().sample_many(DRAWS, 36);
        let p = stats::chi_square_p(samples.subsets().iter().map(Subset::as_slice), &law);
        assert!(p > stats::ALPHA / 8.0, "{}: p = {p:e}", represented.name(1));
        let plain =
            PartitionDpp::new(&represented.case.features(), &represented.partition(), &represented.quota());
        let plain = plain.unwrap().sampler(Method::Auto, &Engine::cpu()).unwrap().sample_many(DRAWS, 36);
        let p = stats::chi_square_p(plain.subsets().iter().map(Subset::as_slice), &law);
        assert!(p < 1e-9, "{}: draws without the map pass", represented.name(1));
    }
}

/// Similarities are applied first, then the map, then scores and a ridge.
#[test]
fn similarities_come_before_and_scores_after() {
    let (rows, groups) = (normals(36, 5), [0, 1, 0, 1, 1, 0, 0, 1, 1]);
    let features = Features::from_rows(9, 4, rows.clone()).unwrap();
    let scores = [0.5, -1.0, 2.0, 0.0, 1.5, -0.5, 0.25, 1.0, -2.0];
    let unit = features.with_unit_rows().unwrap();
    let found = mapped(&unit, &groups, 1.0).with_scores(&scores, 0.5).unwrap();
    let units: Vec<Vec<f64>> = rows
        .chunks_exact(4)
        .map(|row| {
            let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
            row.iter().map(|x| x / length).collect()
        })
        .collect();
    let minors = Minors::of_represented(&units, &groups, 1, |_| true);
    let weighted = minors.weighted(&scores.map(|score| score / 2.0));
    let law = weighted.law(|set| set.count_ones() == 3).unwrap();
    let inference = KDpp::new(&found, 3).unwrap().inference(&Engine::cpu()).unwrap();
    let gap = gap(&inference, &law, 9);
    assert!(gap < 1e-10, "{gap:e}");
    // A ridge is added to the mapped kernel.
    let ridge =
        RidgeDpp::of_size(&mapped(&unit, &groups, 1.0), 0.3, 2).unwrap().inference(&Engine::cpu()).unwrap();
    let with = |set: Set| {
        let det = |set: Set| minors.log_det(set).exp();
        let [i, j] = exact::items_of(set)[..] else { unreachable!() };
        det(set) + 0.3 * (det(1 << i) + det(1 << j)) + 0.09
    };
    let total: f64 = minors.sets().filter(|set| set.count_ones() == 2).map(with).sum();
    assert!((ridge.log_partition_function().value - total.ln()).abs() < 1e-12);
}

#[test]
fn excluded_items_need_not_be_stood_for() {
    let (rows, groups) = (normals(40, 8), [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
    let features = Features::from_rows(10, 4, rows.clone()).unwrap();
    let partition = Partition::from_labels(&groups).unwrap();
    let excluded = [1, 7, 8];
    let left = Representation::without(&features, &partition, &excluded, &Engine::cpu()).unwrap();
    let dpp =
        KDpp::new(&left.features(1.0, &Engine::cpu()).unwrap(), 3).unwrap().excluding(&excluded).unwrap();
    let rows: Vec<Vec<f64>> = rows.chunks_exact(4).map(<[f64]>::to_vec).collect();
    let law = |of: &dyn Fn(usize) -> bool| {
        let minors = Minors::of_represented(&rows, &groups, 1, of);
        minors.law(|set| set.count_ones() == 3 && excluded.iter().all(|item| set >> item & 1 == 0)).unwrap()
    };
    let inference = dpp.inference(&Engine::cpu()).unwrap();
    assert!(gap(&inference, &law(&|item| !excluded.contains(&item)), 10) < 1e-10);
    assert!(gap(&inference, &law(&|_| true), 10) > 1e-4);
    let error = Representation::without(&features, &partition, &[10], &Engine::cpu()).unwrap_err();
    assert!(matches!(error, Error::ItemOutOfRange { item: 10, items: 10 }), "{error}");
}

#[test]
fn an_exponent_of_zero_changes_nothing() {
    let features = Features::from_rows(4, 3, normals(12, 2)).unwrap();
    let partition = Partition::from_labels(&[0, 1, 0, 1]).unwrap();
    let representation = Representation::new(&features, &partition, &Engine::cpu()).unwrap();
    let same = representation.features(0.0, &Engine::cpu()).unwrap();
    assert!((0..4).all(|item| same.row(item) == features.row(item)));
    // Parts with fewer rows than dimensions, or with few rows outside the span, or with no rows left.
    let close = |(x, y): (f64, f64)| (x - y).abs() < 1e-6;
    for excluded in [&[][..], &[2], &[0, 1, 2]] {
        let representation =
            Representation::without(&features, &partition, excluded, &Engine::cpu()).unwrap();
        let nearly = representation.features(1e-9, &Engine::cpu()).unwrap();
        assert!((0..4).all(|item| nearly.row(item).into_iter().zip(features.row(item)).all(close)));
    }
    for rho in [-1.0, f64::NAN, f64::INFINITY] {
        let error = representation.features(rho, &Engine::cpu()).unwrap_err();
        assert!(matches!(error, Error::NotPositive { .. }), "{error}");
    }
}

#[test]
fn wide_rows_are_made_square() {
    let (items, dims, groups) = (8, 30, [0, 1, 1, 0, 1, 0, 0, 1]);
    let rows = normals(items * dims, 11);
    let features = Features::from_rows(items, dims, rows.clone()).unwrap();
    let mapped = mapped(&features, &groups, 1.0);
    assert_eq!(mapped.dims(), items);
    let rows: Vec<Vec<f64>> = rows.chunks_exact(dims).map(<[f64]>::to_vec).collect();
    let law = Minors::of_represented(&rows, &groups, 1, |_| true).law(|set| set.count_ones() == 3).unwrap();
    let gap = gap(&KDpp::new(&mapped, 3).unwrap().inference(&Engine::cpu()).unwrap(), &law, items);
    assert!(gap < 1e-10, "{gap:e}");
}

/// Uses the factor of a kernel, whose error is also the error of the answers.
#[test]
fn kernels_become_their_squares() {
    let case = enumerable_cases().into_iter().find(|case| case.name == "dense-kernel").unwrap();
    let items = case.items();
    let square = |i: usize, j: usize| (0..items).map(|t| case.rows[i][t] * case.rows[t][j]).sum::<f64>();
    let trace = |of: &dyn Fn(usize) -> f64| (0..items).map(of).sum::<f64>();
    let factor = trace(&|i| case.rows[i][i]) / trace(&|i| square(i, i));
    let rows: Vec<Vec<f64>> =
        (0..items).map(|i| (0..items).map(|j| factor * square(i, j)).collect()).collect();
    let law = Minors::of_kernel(&rows).law(|set| set.count_ones() == 2).unwrap();
    let mapped = mapped(&case.features(), &vec![0; items], 1.0);
    let inference = KDpp::new(&mapped, 2).unwrap().inference(&Engine::cpu()).unwrap();
    let gap = gap(&inference, &law, items);
    assert!(gap < 1e-9, "{gap:e}");
    let stated = inference.log_partition_function().error;
    assert!((inference.log_partition_function().value - law.log_z()).abs() <= stated, "{stated:e}");
}

/// If the parts of a kernel differ in variance, the error of each part is relative to its own size.
#[test]
fn small_parts_of_kernels_are_not_lost() {
    let variances = [1.0, 1.0, 1e-16, 1e-16];
    let entry = |i: usize, j: usize| {
        let correlation: f64 = if i == j { 1.0 } else { 0.3 };
        correlation * f64::sqrt(variances[i] * variances[j])
    };
    let kernel: Vec<f64> = (0..16).map(|at| entry(at / 4, at % 4)).collect();
    let features = Kernel::from_dense(4, &kernel).unwrap().features().clone();
    let partition = Partition::from_labels(&[0, 0, 1, 1]).unwrap();
    let mapped = mapped(&features, &[0, 0, 1, 1], 1.0);
    let quota = Quota::new(&partition, [1, 1]).unwrap();
    let inference =
        PartitionDpp::new(&mapped, &partition, &quota).unwrap().inference(&Engine::cpu()).unwrap();
    let marginals = inference.inclusion_probabilities().unwrap();
    assert!(
        marginals.value.iter().all(|p| (p - 0.5).abs() < 1e-6) && marginals.error < 1e-6,
        "{marginals:?}"
    );
}

/// Parts of very different magnitudes, and rows of zeros.
#[test]
fn magnitudes_do_not_matter() {
    let rows =
        [vec![1e-180, 2e-180], vec![3e-180, -1e-180], vec![4e150, 1e150], vec![1e150, 1e151], vec![0.0, 0.0]];
    let features = Features::from_rows(5, 2, rows.concat()).unwrap();
    let partition = Partition::from_labels(&[0, 0, 1, 1, 2]).unwrap();
    let representation = Representation::new(&features, &partition, &Engine::cpu()).unwrap();
    let explained = representation.explained_by_part(&Subset::new(vec![0], 5).unwrap()).unwrap();
    let by_rows = features.explained(&Subset::new(vec![0], 5).unwrap(), &partition, &Engine::cpu()).unwrap();
    assert!(explained.by_part[0] > 0.3 && explained.by_part[2] > 0.999, "{explained:?}");
    assert!((explained.total - by_rows.total).abs() < 1e-12 && explained.total < 1.0);
    // Tiny rows next to a part of zeros.
    let tiny = Features::from_rows(3, 2, vec![1e-200, 0.0, 0.0, 3e-200, 0.0, 0.0]).unwrap();
    let parts = Partition::from_labels(&[0, 0, 1]).unwrap();
    let first = Subset::new(vec![0], 3).unwrap();
    let by_grams = Representation::new(&tiny, &parts, &Engine::cpu()).unwrap().explained(&first).unwrap();
    let by_rows = tiny.explained(&first, &parts, &Engine::cpu()).unwrap().total;
    assert!((by_grams - 0.1).abs() < 1e-12 && (by_rows - 0.1).abs() < 1e-12, "{by_grams}, {by_rows}");
    let mapped = representation.features(1.0, &Engine::cpu()).unwrap();
    let largest = |item| mapped.row(item).into_iter().fold(0.0, |most, x: f64| x.abs().max(most));
    assert!((1e-181..1e-179).contains(&largest(0)) && (1e149..1e152).contains(&largest(3)));
    assert_eq!(mapped.row(4), [0.0, 0.0]);
}
