//! Eight experiments of 24 images: eight people in three lighting conditions, or digits.

use std::path::{Path, PathBuf};

use partition_dpp::{Features, Partition};
use pdpp_plot::{DrawingError, grey_png};

use crate::{
    context::{Context, Digits},
    failure::Failure,
    report::Image,
    table_file::{TableFile, open, rows},
};

/// Images of people or digits, in three parts.
#[derive(Debug)]
pub(super) struct Experiment {
    pub(super) name: String,
    /// Features with unit rows.
    pub(super) features: Features,
    pub(super) partition: Partition,
    /// The person in each image, 1 to 8.
    pub(super) people: Vec<usize>,
    pub(super) images: Vec<Image>,
}

/// All experiments.
#[derive(Debug)]
pub(super) struct Experiments {
    pub(super) all: Vec<Experiment>,
    /// The reason why digits replace faces, if they do.
    pub(super) stand_in: Option<String>,
}

/// The paper's parts, in its order.
const LIGHTS: [&str; 3] = ["light", "medium", "dark"];
/// The parts of digits.
const DIGITS: [&str; 3] = ["1", "4", "7"];
const PEOPLE: usize = 8;

pub(super) fn read(context: &Context<'_>) -> Result<Experiments, Failure> {
    if let Some(folder) = context.folder("yaleb") {
        return Ok(Experiments { all: faces(&folder)?, stand_in: None });
    }
    let reason = "the faces (folder yaleb) are missing; ones, fours and sevens of the built-in digits stand in for \
                  light, medium and dark, and the n-th of each for the n-th person";
    Ok(Experiments { all: of_digits(context)?, stand_in: Some(reason.to_owned()) })
}

/// Reads the experiments of sets A and B, with four groups of people in each.
fn faces(folder: &Path) -> Result<Vec<Experiment>, Failure> {
    let file = |name: &str| folder.join(name);
    let table = TableFile::read(&file("labels.csv"))?;
    let (sets, groups, lights) = (table.column("set")?, table.column("group")?, table.column("light")?);
    let persons = table.numbers("person")?;
    let path = file("features.npy");
    let (descriptors, thumbnails) = (open(&path)?, open(&file("thumbs_48x42.npy"))?);
    let mut all = Vec::new();
    for set in ["A", "B"] {
        for group in ["0", "1", "2", "3"] {
            let mut items: Vec<usize> =
                (0..sets.len()).filter(|&item| sets[item] == set && groups[item] == group).collect();
            let part = |item: usize| LIGHTS.iter().position(|light| *light == lights[item]);
            if items.len() != LIGHTS.len() * PEOPLE || items.iter().any(|&item| part(item).is_none()) {
                let problem = format!("set {set}, group {group} is not eight people in three lights");
                return Err(Failure::file(&file("labels.csv"), problem));
            }
            items.sort_by_key(|&item| (part(item), persons[item]));
            let people = (0..items.len()).map(|at| at % PEOPLE + 1).collect();
            let name = format!("set {set}, group {group}");
            let title = |at: usize| format!("{} {}", LIGHTS[at / PEOPLE], at % PEOPLE + 1);
            all.push(experiment(name, people, LIGHTS, (&path, &descriptors), &items, |at| GreyImage {
                pixels: thumbnails.row(items[at]).into_iter().map(|x| x / 255.0).collect(),
                size: (42, 48),
                title: title(at),
            })?);
        }
    }
    Ok(all)
}

/// Makes eight experiments from groups of eight ones, fours and sevens.
fn of_digits(context: &Context<'_>) -> Result<Vec<Experiment>, Failure> {
    let Digits { features, partition } = context.setup.digits;
    let members = |digit: &str| {
        let part = partition.names().iter().position(|name| name == digit).unwrap_or(0);
        partition.members(part).iter().map(|&item| item as usize)
    };
    let path = PathBuf::from("digits");
    let make = |number: usize| {
        let eight = |digit| members(digit).skip(PEOPLE * number).take(PEOPLE);
        let items: Vec<usize> = DIGITS.iter().copied().flat_map(eight).collect();
        let people = (0..items.len()).map(|at| at % PEOPLE + 1).collect();
        experiment(format!("digits {}", number + 1), people, DIGITS, (&path, features), &items, |at| {
            GreyImage {
                pixels: features.row(items[at]).into_iter().map(|x| 1.0 - x / 16.0).collect(),
                size: (8, 8),
                title: format!("{} no. {}", DIGITS[at / PEOPLE], at % PEOPLE + 1),
            }
        })
    };
    (0..8).map(make).collect()
}

/// A grey image: brightness from 0 to 1, row by row, with width and height.
struct GreyImage {
    pixels: Vec<f64>,
    size: (usize, usize),
    title: String,
}

fn experiment(
    name: String,
    people: Vec<usize>,
    parts: [&str; 3],
    (path, features): (&Path, &Features),
    items: &[usize],
    image: impl Fn(usize) -> GreyImage,
) -> Result<Experiment, Failure> {
    let rows = rows(features, items, path)?.into_iter().map(unit).collect::<Vec<_>>();
    let of_part = |part: usize| (PEOPLE * part..PEOPLE * (part + 1)).collect::<Vec<usize>>();
    let partition =
        Partition::from_sets(items.len(), parts.iter().enumerate().map(|(at, name)| (*name, of_part(at))))?;
    let image = |at: usize| {
        let GreyImage { pixels, size, title } = image(at);
        grey_png(&pixels, size).map(|png| Image { png, title })
    };
    let images = (0..items.len()).map(image).collect::<Result<_, _>>();
    let images = images.map_err(|reason: DrawingError| Failure::file(path, reason.to_string()))?;
    let features = Features::from_rows(items.len(), features.dims(), rows.concat())?;
    Ok(Experiment { name, features, partition, people, images })
}

fn unit(row: Vec<f64>) -> Vec<f64> {
    let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
    row.into_iter().map(|x| x / norm).collect()
}
