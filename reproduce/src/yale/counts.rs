//! Table 1: the draws of 6-DPPs by lighting, and the law of their part counts.

use partition_dpp::{Engine, KDpp, PartCounts, Quota, SamplerOptions, Subset};
use pdpp_plot::Triangle;

use super::{EACH, TOTAL, experiments::Experiment};
use crate::{
    context::Context,
    failure::Failure,
    report::{Cell, Section, Table, Verdict},
};

pub(super) fn run(context: &Context<'_>, all: &[Experiment], section: &mut Section) -> Result<(), Failure> {
    let names = all[0].partition.names();
    let by_part = |what: &str| names.iter().map(|name| format!("{what} {name}")).collect::<Vec<_>>();
    let mut drawn = Table::new(
        "yale-samples",
        "Table 1 of the paper: one draw of the 6-DPP per experiment, people by light.",
        ["experiment".to_owned()].into_iter().chain(names.iter().cloned()),
    );
    let header = ["experiment".to_owned(), "P(2,2,2), exact".into(), "P(a light has ≥ 4 or 0), exact".into()];
    let mut exact = Table::new(
        "yale-skew",
        "How skewed 6-DPPs are, exactly: the probability that they meet (2,2,2) by chance, the probability that some light has four \
         images or more, or none, and how many images of each light to expect.",
        header.into_iter().chain(by_part("expected")),
    );
    let mut full = Table::new(
        "yale-part-counts",
        "The law of the part counts of the 6-DPP, exactly, averaged over the experiments in the plot below.",
        ["experiment".to_owned()].into_iter().chain(by_part("count")).chain(["probability".into()]),
    );
    let (mut laws, mut chances, mut skews) = (Vec::new(), Vec::new(), Vec::new());
    for (number, experiment) in all.iter().enumerate() {
        context.step(&format!("yale: {}", experiment.name))?;
        let Experiment { name, features, partition, .. } = experiment;
        let six = KDpp::new(features, TOTAL)?;
        let sample = six
            .sampler(SamplerOptions::default(), &Engine::cpu())?
            .sample_many(1, context.setup.seed + number as u64);
        let people = |part| Cell::text(people(experiment, &sample.subsets()[0], part));
        drawn.rows.push([Cell::text(name)].into_iter().chain((0..3).map(people)).collect());

        let law = six.part_counts(partition, &Engine::cpu())?;
        let quota = Quota::each(partition, EACH)?;
        let chance = six.probability_of(partition, &quota, &Engine::cpu())?.value;
        let skew = skewed(&law);
        let means = law.means();
        let row = [Cell::text(name), Cell::percent(chance), Cell::percent(skew)];
        exact.rows.push(row.into_iter().chain(means.iter().map(|mean| Cell::fixed(*mean, 3))).collect());
        for (counts, probability) in law.entries() {
            let row = [Cell::text(name)].into_iter().chain(counts.iter().map(|&count| Cell::count(count)));
            full.rows.push(
                row.chain([Cell::Number { value: *probability, shown: format!("{probability:.6}") }])
                    .collect(),
            );
        }
        laws.push(law);
        chances.push(chance);
        skews.push(skew);
    }
    section.table(drawn);
    section.table(exact);
    section.figure(
        "yale-part-counts",
        "The probability of every vector of counts.",
        &triangle(names, &laws),
    )?;
    section.folded(full);
    claims(section, names, &laws, &chances, &skews);
    Ok(())
}

fn triangle(names: &[String], laws: &[PartCounts]) -> Triangle {
    Triangle {
        title: "How many images of each light a 6-DPP chooses".into(),
        subtitle: format!("exact, mean of {} experiments; framed: two of each", laws.len()),
        names: [names[0].clone(), names[1].clone(), names[2].clone()],
        total: TOTAL,
        cells: mean_law(laws),
        framed: (EACH, EACH),
    }
}

fn claims(section: &mut Section, names: &[String], laws: &[PartCounts], chances: &[f64], skews: &[f64]) {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let least = chances.iter().copied().fold(1.0, f64::min);
    let most = chances.iter().copied().fold(0.0, f64::max);
    section.claim(
        "A 6-DPP \"can end up giving arbitrarily skewed results\": a light may have very many images or very few.",
        format!(
            "It has two of each in {:.0} to {:.0} % of all draws only, and four or more of one, or none of one, in {:.0} % \
             (mean of the experiments, exact).",
            100.0 * least,
            100.0 * most,
            100.0 * mean(skews)
        ),
        Verdict::of(mean(skews) > 0.1),
    );
    let expected = |part: usize| mean(&laws.iter().map(|law| law.means()[part]).collect::<Vec<_>>());
    let expected: Vec<f64> = (0..3).map(expected).collect();
    let text: Vec<String> =
        names.iter().zip(&expected).map(|(name, mean)| format!("{mean:.2} {name}")).collect();
    let most_of_first = expected[0] > expected[1].max(expected[2]);
    section.claim(
        "\"It seems that the SIFT kernel was promoting more well-lit images.\"",
        format!("Expected of six: {} (exact, mean of the experiments; dense SIFT here).", text.join(", ")),
        Verdict::of(most_of_first),
    );
}

fn people(experiment: &Experiment, subset: &Subset, part: usize) -> String {
    let of_part = subset.iter().filter(|&item| experiment.partition.part_of(item) == part);
    let people: Vec<String> = of_part.map(|item| experiment.people[item].to_string()).collect();
    if people.is_empty() { "–".into() } else { people.join(", ") }
}

fn skewed(law: &PartCounts) -> f64 {
    let far = |counts: &[usize]| counts.iter().any(|&count| count == 0 || count >= 4);
    law.entries().iter().filter(|(counts, _)| far(counts)).map(|(_, probability)| probability).sum()
}

fn mean_law(laws: &[PartCounts]) -> Vec<Vec<f64>> {
    let mean =
        |counts: [usize; 3]| laws.iter().map(|law| law.probability(&counts)).sum::<f64>() / laws.len() as f64;
    (0..=TOTAL).map(|a| (0..=TOTAL - a).map(|b| mean([a, b, TOTAL - a - b])).collect()).collect()
}
