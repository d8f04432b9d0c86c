//! Experiments with nine images each, or with digits.

use std::path::Path;

use partition_dpp::{Features, data::LabelCopies};

use crate::{
    context::{Context, Digits},
    failure::Failure,
    table_file::{TableFile, open, rows},
};

/// Nine images and their labels.
#[derive(Debug)]
pub(super) struct Experiment {
    pub(super) name: String,
    /// The short name, for axes.
    pub(super) short: String,
    /// One row per image.
    pub(super) features: Features,
    pub(super) copies: LabelCopies,
}

/// The most experiments.
pub(super) const MOST: usize = 3;

/// Reads the experiments whose data exist. If none do, returns one with digits, and the reason.
pub(super) fn read(context: &Context<'_>) -> Result<(Vec<Experiment>, Option<String>), Failure> {
    let mut all = Vec::new();
    if let Some(folder) = context.folder("corel16k") {
        all.push(images(&folder, "Corel16k", "sky+sun+tree", &folder.join("features.npy"), Rows::ByItem)?);
    }
    if let Some(folder) = context.folder("corel5k") {
        let features = folder.join("features_18images.npy");
        for labels in ["sky+sun+tree", "prop+plane+formation"] {
            all.push(images(&folder, "Corel5k", labels, &features, Rows::InOrder)?);
        }
    }
    if all.is_empty() {
        let reason = "the images (folders corel16k, corel5k) are missing; the digits 1 to 9 stand in, labelled odd, \
                      prime and large (4 or more)";
        return Ok((vec![of_digits(context)?], Some(reason.to_owned())));
    }
    Ok((all, None))
}

/// The way to find an image's row in the features.
#[derive(Clone, Copy)]
enum Rows {
    /// By the image's number in the data set.
    ByItem,
    /// By the image's place in the table.
    InOrder,
}

fn images(folder: &Path, set: &str, labels: &str, path: &Path, which: Rows) -> Result<Experiment, Failure> {
    let table = TableFile::read(&folder.join("paper_like_9images.csv"))?;
    let (sets, numbers) = (table.column("label_set")?, table.numbers("item")?);
    let names: Vec<&str> = labels.split('+').collect();
    let flags =
        (1..=names.len()).map(|at| table.numbers(&format!("label{at}"))).collect::<Result<Vec<_>, _>>()?;
    let records: Vec<usize> = (0..sets.len()).filter(|&at| sets[at] == labels).collect();
    let items: Vec<usize> = match which {
        Rows::ByItem => records.iter().map(|&at| numbers[at]).collect(),
        Rows::InOrder => records.clone(),
    };
    let labels_of = |at: &usize| -> Vec<Label<'_>> {
        let own = (0..names.len()).filter(|&label| flags[label][*at] == 1);
        own.map(|label| Label { order: label, name: names[label] }).collect()
    };
    let features = open(path)?;
    experiment(
        format!("{set}: {}", names.join(", ")),
        format!("{} {}", set.trim_start_matches("Corel"), names[0]),
        &rows(&features, &items, path)?,
        &records.iter().map(labels_of).collect::<Vec<_>>(),
    )
}

/// A label, in the paper's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Label<'a> {
    order: usize,
    name: &'a str,
}

impl std::fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

fn experiment(
    name: String,
    short: String,
    rows: &[Vec<f64>],
    labels: &[Vec<Label<'_>>],
) -> Result<Experiment, Failure> {
    let dims = rows.first().map_or(0, Vec::len);
    let features = Features::from_rows(rows.len(), dims, rows.concat())?;
    Ok(Experiment { name, short, features, copies: LabelCopies::from_labels(labels)? })
}

/// Makes an experiment from the first image of every digit from 1 to 9.
fn of_digits(context: &Context<'_>) -> Result<Experiment, Failure> {
    let Digits { features, partition } = context.setup.digits;
    let first = |digit: usize| partition.members(digit)[0] as usize;
    let rows: Vec<Vec<f64>> = (1..=9).map(|digit| features.row(first(digit))).collect();
    let labels = (1..=9_usize).map(|digit| {
        let holds = [digit % 2 == 1, [2, 3, 5, 7].contains(&digit), digit >= 4];
        let names = ["odd", "prime", "large"].into_iter().enumerate().zip(holds);
        names.filter(|(_, holds)| *holds).map(|((order, name), _)| Label { order, name }).collect()
    });
    experiment("digits: odd, prime, large".into(), "digits".into(), &rows, &labels.collect::<Vec<Vec<_>>>())
}
