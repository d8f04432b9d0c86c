//! Time per sample against the number of items, and of parts.

use partition_dpp::{Engine, Error, KDpp, Method, PartitionDpp, SamplerOptions};
use pdpp_plot::{Axis, Chart, Mark, Point, Series};

use super::RandomParts;
use crate::{
    context::{Context, median_seconds},
    failure::Failure,
    report::{Cell, Section, Table, Verdict, seconds},
};

/// The numbers of items, in three parts with a quota of 3 each.
const ITEMS: [usize; 8] = [30, 102, 300, 1_002, 9_999, 99_999, 300_000, 999_999];
/// The numbers of parts, of eight items with a quota of 1 each.
const PARTS: [usize; 9] = [1, 2, 3, 4, 5, 6, 8, 10, 12];
const DIMS: usize = 30;

pub(super) const STEPS: u64 = (ITEMS.len() + PARTS.len()) as u64;

/// The time in seconds above which a method is not tried at larger sizes.
const TOO_LONG: f64 = 3.0;

/// A way to draw.
#[derive(Clone, Copy)]
enum Way {
    /// Set-up and one sample of a Partition-DPP.
    First(Method),
    /// A further sample.
    Further,
    /// Set-up and one sample of the k-DPP.
    KDpp,
}

const WAYS: [(&str, Way, Mark); 5] = [
    ("per candidate", Way::First(Method::PerCandidate), Mark::Discs),
    ("interpolation", Way::First(Method::Interpolation), Mark::Discs),
    ("tilted rejection", Way::First(Method::Rejection), Mark::Discs),
    ("… further samples", Way::Further, Mark::Rings),
    ("k-DPP", Way::KDpp, Mark::Dashes),
];

pub(super) fn run(context: &Context<'_>, section: &mut Section) -> Result<(), Failure> {
    let by_items = grow(context, &ITEMS, "items", |items| {
        RandomParts::new(context, "growth in items", (3, items / 3), DIMS, 3)
    })?;
    section.table(table("growth-items", "m", &by_items));
    section.figure(
        "growth-items",
        "Set-up and one sample, and a further sample, against the number of items.",
        &chart(
            "Time per sample against items: three parts, quota 3 each, n = 30",
            "items, m",
            &by_items,
            true,
        ),
    )?;
    let by_parts = grow(context, &PARTS, "parts", |parts| {
        RandomParts::new(context, "growth in parts", (parts, 8), DIMS, 1)
    })?;
    section.table(table("growth-parts", "p", &by_parts));
    section.figure(
        "growth-parts",
        "The same against the number of parts.",
        &chart(
            "Time per sample against parts: eight items each, quota 1 each, n = 30",
            "parts, p",
            &by_parts,
            false,
        ),
    )?;
    let last = |way: usize| by_items.iter().rev().find_map(|(items, times)| Some((*items, times[way]?)));
    if let (Some((per_candidate, _)), Some((items, first)), Some((_, again))) = (last(0), last(2), last(3)) {
        section.claim(
            "Earlier work with DPPs has m between 50 and 200, and the algorithm performs reasonably there.",
            format!(
                "Algorithm 2 as it stands takes more than {TOO_LONG} s from m = {per_candidate} on. Tilted rejection draws from \
                 {items} items in {} with set-up, and again every {}.",
                seconds(first),
                seconds(again)
            ),
            Verdict::Holds,
        );
    }
    Ok(())
}

type Grown = Vec<(usize, [Option<f64>; WAYS.len()])>;

fn grow(
    context: &Context<'_>,
    sizes: &[usize],
    what: &str,
    make: impl Fn(usize) -> Result<RandomParts, Failure>,
) -> Result<Grown, Failure> {
    let mut open = [true; WAYS.len()];
    let mut grown = Vec::new();
    for &size in sizes {
        context.step(&format!("growth: {size} {what}"))?;
        let instance = make(size)?;
        let mut times = [None; WAYS.len()];
        for (at, (_, way, _)) in WAYS.iter().enumerate().filter(|(at, _)| open[*at]).collect::<Vec<_>>() {
            times[at] = time(&instance, *way, context.setup.seed)?;
            open[at] = times[at].is_some_and(|seconds| seconds < TOO_LONG);
        }
        grown.push((size, times));
    }
    Ok(grown)
}

/// Returns the time in seconds, or `None` if the library refuses the cost.
fn time(instance: &RandomParts, way: Way, seed: u64) -> Result<Option<f64>, Failure> {
    let RandomParts { features, partition, quota } = instance;
    let dpp = PartitionDpp::new(features, partition, quota)?;
    let seconds = match way {
        Way::First(method) => median_seconds(|| {
            drop(dpp.sampler(method, &Engine::cpu())?.sample_many(1, seed));
            Ok(())
        }),
        Way::Further => {
            const DRAWS: u64 = 200;
            let sampler = dpp.sampler(Method::Rejection, &Engine::cpu())?;
            let all = median_seconds(|| {
                drop(sampler.sample_many(DRAWS, seed));
                Ok(())
            });
            all.map(|seconds| seconds / DRAWS as f64)
        }
        Way::KDpp => median_seconds(|| {
            drop(
                KDpp::new(features, quota.low().iter().sum())?
                    .sampler(SamplerOptions::default(), &Engine::cpu())?
                    .sample_many(1, seed),
            );
            Ok(())
        }),
    };
    match seconds {
        Ok(seconds) => Ok(Some(seconds)),
        Err(Failure::Library(Error::NodeBudget { .. } | Error::ProposalBudget { .. })) => Ok(None),
        Err(failure) => Err(failure),
    }
}

fn table(name: &'static str, size: &str, grown: &Grown) -> Table {
    let header = [size].into_iter().chain(WAYS.iter().map(|(name, ..)| *name));
    let mut table = Table::new(
        name,
        "Seconds; a method that has taken more than 3 s is not tried at more, and – is where it would exceed its budget.",
        header,
    );
    for (size, times) in grown {
        let cells = times.iter().map(|time| Cell::or_missing(*time, Cell::seconds));
        table.rows.push([Cell::count(*size)].into_iter().chain(cells).collect());
    }
    table
}

fn chart(title: &str, x: &str, grown: &Grown, logarithmic: bool) -> Chart {
    let series = WAYS.iter().enumerate().map(|(at, (name, _, mark))| Series {
        name: Some((*name).to_owned()),
        colour: at,
        mark: *mark,
        points: grown.iter().filter_map(|(size, times)| Some(Point::new(*size as f64, times[at]?))).collect(),
    });
    Chart {
        title: title.to_owned(),
        subtitle: "seconds for set-up and one sample; thin with rings: for every further sample".to_owned(),
        x: if logarithmic { Axis::logarithmic(x) } else { Axis::linear(x) },
        y: Axis::logarithmic("seconds"),
        series: series.collect(),
    }
}
