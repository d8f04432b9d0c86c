//! Table 3 of the paper's appendix: draws of the three methods, and how often they repeat an image.

use partition_dpp::{
    Engine, Error, Features, IndependentKDpps, KDpp, Method, PartitionDpp, Quota, SamplerOptions, Samples,
    Subset, data::LabelCopies,
};
use pdpp_plot::{Axis, BarChart, Bars};

use super::{exact, experiments::Experiment};
use crate::{
    context::Context,
    failure::Failure,
    report::{Cell, Section, Table, Verdict},
};

/// The number of images per label.
pub(super) const QUOTAS: [[usize; 3]; 2] = [[3, 3, 3], [2, 3, 2]];
const DRAWS: u64 = 10_000;
/// The number of draws shown, as in the paper.
const SHOWN: usize = 3;
const METHODS: [&str; 3] = ["independent", "k-DPP", "Partition-DPP"];

/// The result of one experiment with one quota.
struct Counted {
    name: String,
    short: String,
    exact: f64,
    seen: [Option<f64>; 3],
}

pub(super) fn run(context: &Context<'_>, all: &[Experiment], section: &mut Section) -> Result<(), Failure> {
    let mut counted = Vec::new();
    for experiment in all {
        let names = experiment.copies.partition().names();
        let mut drawn = Table::new(
            file_of(&experiment.name),
            &format!("{}: three draws of every method; images numbered from 1.", experiment.name),
            ["quota", "method"]
                .map(String::from)
                .into_iter()
                .chain(names.iter().cloned())
                .chain(["repeated images".into()]),
        );
        for (number, quota) in QUOTAS.iter().enumerate() {
            context.step(&format!("corel: {}, {quota:?}", experiment.name))?;
            counted.push(count(context.setup.seed + number as u64, experiment, quota, &mut drawn)?);
        }
        section.table(drawn);
    }
    let mut table = Table::new(
        "corel-duplicates",
        "Share of draws that repeat an image: of independent k_i-DPPs exactly and in 10 000 draws, of the others in 10 000 draws. \
         –: no set of distinct images meets the quota.",
        ["images", "independent, exact", "independent, seen", "k-DPP, seen", "Partition-DPP, seen"],
    );
    for one in &counted {
        let seen = one.seen.iter().map(|seen| Cell::or_missing(*seen, Cell::percent));
        table.rows.push([Cell::text(&one.name), Cell::percent(one.exact)].into_iter().chain(seen).collect());
    }
    section.table(table);
    section.figure("corel-duplicates", "Black: the exact probability.", &chart(&counted))?;
    claims(section, &counted);
    Ok(())
}

fn file_of(experiment: &str) -> &'static str {
    match experiment {
        "Corel16k: sky, sun, tree" => "corel16k-sky-sun-tree",
        "Corel5k: sky, sun, tree" => "corel5k-sky-sun-tree",
        "Corel5k: prop, plane, formation" => "corel5k-prop-plane-formation",
        _ => "digits-odd-prime-large",
    }
}

fn count(
    seed: u64,
    experiment: &Experiment,
    quota: &[usize; 3],
    drawn: &mut Table,
) -> Result<Counted, Failure> {
    let Experiment { name, short, features, copies } = experiment;
    let short = format!("{short} {},{},{}", quota[0], quota[1], quota[2]);
    let rows = copies.features(features)?;
    let shown = format!("({}, {}, {})", quota[0], quota[1], quota[2]);
    let quota = Quota::new(copies.partition(), quota)?;
    let mut seen = [None; 3];
    for (method, name) in METHODS.into_iter().enumerate() {
        let Some(samples) = draw(method, &rows, copies, &quota, seed)? else { continue };
        let repeated = samples.subsets().iter().filter(|subset| copies.repeats(subset) > 0).count();
        seen[method] = Some(repeated as f64 / DRAWS as f64);
        for subset in &samples.subsets()[..SHOWN] {
            let images = (0..3).map(|part| Cell::text(images(copies, subset, part)));
            let row = [Cell::text(&shown), Cell::text(name)].into_iter().chain(images);
            drawn.rows.push(row.chain([Cell::count(copies.repeats(subset))]).collect());
        }
    }
    let exact = exact::repeated(features, copies, &quota)?;
    Ok(Counted { name: format!("{name} {shown}"), short, exact, seen })
}

/// Draws ten thousand samples, or returns `None` if no set meets the quota.
fn draw(
    method: usize,
    rows: &Features,
    copies: &LabelCopies,
    quota: &Quota,
    seed: u64,
) -> Result<Option<Samples>, Failure> {
    let partition = copies.partition();
    let samples = match method {
        0 => IndependentKDpps::new(rows, partition, quota)?
            .sampler(SamplerOptions::default(), &Engine::cpu())?
            .sample_many(DRAWS, seed),
        1 => match KDpp::new(rows, quota.low().iter().sum()) {
            Err(Error::SizeAboveRank { .. }) => return Ok(None),
            k_dpp => k_dpp?.sampler(SamplerOptions::default(), &Engine::cpu())?.sample_many(DRAWS, seed),
        },
        _ => match PartitionDpp::new(rows, partition, quota) {
            Err(Error::Infeasible { .. }) => return Ok(None),
            dpp => dpp?.sampler(Method::Auto, &Engine::cpu())?.sample_many(DRAWS, seed),
        },
    };
    Ok(Some(samples))
}

/// Lists the images of a part in a subset of copies, numbered from 1.
fn images(copies: &LabelCopies, subset: &Subset, part: usize) -> String {
    let of_part = subset.iter().filter(|&copy| copies.partition().part_of(copy) == part);
    let numbers: Vec<String> = of_part.map(|copy| (copies.item_of(copy) + 1).to_string()).collect();
    if numbers.is_empty() { "–".into() } else { numbers.join(", ") }
}

fn chart(counted: &[Counted]) -> BarChart {
    let bars = METHODS.iter().enumerate().map(|(method, name)| Bars {
        name: (*name).into(),
        heights: counted.iter().map(|one| one.seen[method].unwrap_or(0.0)).collect(),
        expected: counted.iter().map(|one| (method == 0).then_some(one.exact)).collect(),
    });
    BarChart {
        title: "How often an image is chosen twice".into(),
        subtitle: "share of 10 000 draws; k-DPP and Partition-DPP: none".into(),
        x: "images and quota".into(),
        y: Axis::linear("share of draws"),
        groups: counted.iter().map(|one| one.short.clone()).collect(),
        bars: bars.collect(),
    }
}

fn claims(section: &mut Section, counted: &[Counted]) {
    let least = counted.iter().map(|one| one.exact).fold(1.0, f64::min);
    let most = counted.iter().map(|one| one.exact).fold(0.0, f64::max);
    section.claim(
        "Independent k_i-DPPs on labels that overlap: \"considerable duplication\".",
        format!(
            "They repeat an image in {:.1} to {:.1} % of their draws (exact).",
            100.0 * least,
            100.0 * most
        ),
        Verdict::of(least > 0.5),
    );
    let never = |method: usize| counted.iter().filter_map(|one| one.seen[method]).all(|seen| seen == 0.0);
    section.claim(
        "\"Clearly, k-DPPs and Partition-DPPs will not choose the same image multiple times.\"",
        format!(
            "Not once in {} draws of each.",
            DRAWS * counted.iter().filter(|one| one.seen[2].is_some()).count() as u64
        ),
        Verdict::of(never(1) && never(2)),
    );
}
