//! Table 2: the 6-DPP, independent 2-DPPs and the Partition-DPP side by side, and who appears twice.

use partition_dpp::{IndependentKDpps, KDpp, Method, PartitionDpp, Quota, Samples, Subset, engine::Cpu};
use pdpp_plot::{Axis, BarChart, Bars};

use super::{EACH, TOTAL, experiments::Experiment};
use crate::{
    context::Context,
    failure::Failure,
    report::{Cell, Gallery, Section, Table, Verdict},
};

/// Draws that are counted.
const DRAWS: u64 = 10_000;
const METHODS: [&str; 3] = ["6-DPP", "(2,2,2)-DPP", "Partition-DPP"];

pub(super) fn run(context: &Context<'_>, all: &[Experiment], section: &mut Section) -> Result<(), Failure> {
    let names = all[0].partition.names();
    let mut repeats = Table::new(
        "yale-repeats",
        "Share of 10 000 draws in which somebody appears more than once, and the share that has two images of each \
         light.",
        ["experiment".to_owned()]
            .into_iter()
            .chain(METHODS.iter().flat_map(|name| [format!("{name}: twice"), format!("{name}: (2,2,2)")])),
    );
    let mut twice: [Vec<f64>; 3] = Default::default();
    let mut gallery = Gallery {
        caption: "Table 2 of the paper: the first draw by each method, experiment by experiment. (2,2,2)-DPP: independent \
                  2-DPPs."
            .into(),
        header: names.to_vec(),
        rows: Vec::new(),
    };
    let mut always = true;
    for (number, experiment) in all.iter().enumerate() {
        context.step(&format!("yale: 10 000 draws of {}", experiment.name))?;
        let mut row = vec![Cell::text(&experiment.name)];
        for (method, samples) in
            draw(experiment, context.setup.seed + 100 + number as u64)?.iter().enumerate()
        {
            let share = |test: &dyn Fn(&Subset) -> bool| {
                samples.subsets().iter().filter(|subset| test(subset)).count() as f64 / DRAWS as f64
            };
            let (repeated, met) = (
                share(&|subset| somebody_twice(experiment, subset)),
                share(&|subset| meets(experiment, subset)),
            );
            always &= method == 0 || met >= 1.0;
            twice[method].push(repeated);
            row.extend([Cell::percent(repeated), Cell::percent(met)]);
            let faces = |part: usize| {
                let of_part =
                    samples.subsets()[0].iter().filter(|&item| experiment.partition.part_of(item) == part);
                of_part.map(|item| experiment.images[item].clone()).collect()
            };
            let name = format!("{}: {}", experiment.name, METHODS[method]);
            gallery.rows.push((name, (0..3).map(faces).collect()));
        }
        repeats.rows.push(row);
    }
    let others = gallery.rows.split_off(METHODS.len());
    let more =
        Gallery { caption: "The other experiments.".into(), header: gallery.header.clone(), rows: others };
    section.gallery(gallery);
    section.folded_gallery(more);
    let chart = BarChart {
        title: "How often somebody appears more than once".into(),
        subtitle: "share of 10 000 draws of six images".into(),
        x: "experiment".into(),
        y: Axis::linear("share of draws"),
        groups: all
            .iter()
            .map(|experiment| experiment.name.replace("set ", "").replace(", group ", ""))
            .collect(),
        bars: METHODS
            .iter()
            .zip(&twice)
            .map(|(name, shares)| Bars {
                name: (*name).into(),
                heights: shares.clone(),
                expected: Vec::new(),
            })
            .collect(),
    };
    section.table(repeats);
    section.figure("yale-repeats", "Somebody twice: by the three methods.", &chart)?;
    let mean = |method: usize| twice[method].iter().sum::<f64>() / twice[method].len() as f64;
    section.claim(
        "Independent k_i-DPPs \"may end up picking the same person from different lighting conditions\", as they are \
         blind across parts.",
        format!(
            "Somebody appears twice in {:.0} % of their draws, but also in {:.0} % of the Partition-DPP's and {:.0} % of the \
             6-DPP's: one face in two lights is hardly more alike than two faces.",
            100.0 * mean(1),
            100.0 * mean(2),
            100.0 * mean(0)
        ),
        if mean(1) > mean(2) + 0.05 { Verdict::Holds } else { Verdict::Partly },
    );
    section.claim(
        "Independent k_i-DPPs and Partition-DPPs pick exactly k_i items from part i.",
        format!("In all {} draws of each.", DRAWS * all.len() as u64),
        Verdict::of(always),
    );
    Ok(())
}

/// Ten thousand draws by each method.
fn draw(experiment: &Experiment, seed: u64) -> Result<[Samples; 3], Failure> {
    let Experiment { features, partition, .. } = experiment;
    let quota = Quota::each(partition, EACH)?;
    Ok([
        KDpp::new(features, TOTAL)?.sampler(&Cpu)?.sample_many(DRAWS, seed),
        IndependentKDpps::new(features, partition, &quota)?.sampler(&Cpu)?.sample_many(DRAWS, seed),
        PartitionDpp::new(features, partition, &quota)?.sampler(Method::Auto, &Cpu)?.sample_many(DRAWS, seed),
    ])
}

fn somebody_twice(experiment: &Experiment, subset: &Subset) -> bool {
    let mut seen = [false; 9];
    subset.iter().any(|item| std::mem::replace(&mut seen[experiment.people[item]], true))
}

fn meets(experiment: &Experiment, subset: &Subset) -> bool {
    subset.part_counts(&experiment.partition).iter().all(|&count| count == EACH)
}
