//! The share of proposals that rejection accepts, with and without the tilt.

use partition_dpp::{Engine, Features, KDpp, Method, PartitionDpp};

use super::RandomParts;
use crate::{
    context::Context,
    failure::Failure,
    report::{Cell, Section, Table, Verdict},
};

/// Parts, items per part, quota per part, and the factor between the row lengths of one part and the next.
const CASES: [(usize, usize, usize, f64); 8] = [
    (2, 24, 5, 1.0),
    (2, 24, 5, 10.0),
    (2, 24, 10, 1.0),
    (2, 24, 10, 100.0),
    (3, 16, 5, 1.0),
    (3, 16, 5, 10.0),
    (4, 6, 1, 1.0),
    (4, 6, 1, 100.0),
];

pub(super) const STEPS: u64 = CASES.len() as u64;

const DRAWS: u64 = 10_000;

pub(super) fn run(context: &Context<'_>, section: &mut Section) -> Result<(), Failure> {
    let mut table = Table::new(
        "acceptance",
        "Share of k-DPP draws that meet the quota: exact for the k-DPP as it is; with the tilt, the share that is \
         guaranteed and the share seen. Rows of each part are longer than those of the previous part by this factor.",
        ["parts, quota", "rows longer by", "no tilt, exact", "tilted, guaranteed", "tilted, seen", "gain"],
    );
    let (mut least, mut least_tilted) = (1.0_f64, 1.0_f64);
    for (parts, size, each, longer) in CASES {
        let name = super::name(parts, size, each);
        context.step(&format!("acceptance: {name}"))?;
        let instance = RandomParts::new(context, "acceptance", (parts, size), parts * size, each)?;
        let features = stretched(&instance, longer)?;
        let RandomParts { partition, quota, .. } = &instance;
        let k_dpp = KDpp::new(&features, quota.low().iter().sum())?;
        let plain = k_dpp.probability_of(partition, quota, &Engine::cpu())?.value;
        let dpp = PartitionDpp::new(&features, partition, quota)?;
        let samples = dpp.sampler(Method::Rejection, &Engine::cpu())?.sample_many(DRAWS, context.setup.seed);
        let seen = samples.acceptance_observed();
        (least, least_tilted) = (least.min(plain), least_tilted.min(seen));
        table.rows.push(vec![
            Cell::text(name),
            Cell::fixed(longer, 0),
            Cell::Number { value: plain, shown: share(plain) },
            Cell::Number { value: samples.acceptance_bound(), shown: share(samples.acceptance_bound()) },
            Cell::Number { value: seen, shown: share(seen) },
            Cell::factor((seen / plain).ln()),
        ]);
    }
    section.table(table);
    section.claim(
        "\"k-DPPs followed by rejection sampling based on the partition constraints cannot give an efficient algorithm.\"",
        format!(
            "Without a tilt as little as {} of all draws meet the quota, where rows of one part are 100 times as long: true. \
             With the tilt at least {} do, whatever the lengths of the rows: the law is the same, and the remark does \
             not apply.",
            share(least),
            share(least_tilted)
        ),
        Verdict::Partly,
    );
    Ok(())
}

fn share(probability: f64) -> String {
    if probability < 0.001 { format!("{probability:.1e}") } else { format!("{:.1} %", 100.0 * probability) }
}

/// Returns features with the rows of part l multiplied by longer^l.
fn stretched(instance: &RandomParts, longer: f64) -> Result<Features, Failure> {
    let RandomParts { features, partition, .. } = instance;
    let (items, dims) = (features.items(), features.dims());
    let factor = |item: usize| (0..partition.part_of(item)).fold(1.0, |factor, _| factor * longer);
    let values = (0..items).flat_map(|item| {
        let factor = factor(item);
        features.row(item).into_iter().map(move |x| x * factor)
    });
    Ok(Features::from_rows(items, dims, values.collect::<Vec<f64>>())?)
}
