//! Items and parts, from files or built in, checked before the work begins.

mod approximation;
mod arguments;
mod cache;
mod choices;
pub(crate) mod columns;
mod conditions;
mod csv;
mod csv_lines;
pub(crate) mod csv_text;
pub(crate) mod digits;
mod groups;
mod ids;
mod items;
mod labels;
mod law_rows;
mod multi_label;
mod npy;
mod parquet;
mod scores;
pub(crate) mod sets;
mod table;
mod weighing;

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use partition_dpp::{
    Error, Features, Kernel, Partition, Watch,
    data::{LabelCopies, NpyArray},
};
use pdpp_plot::ImageShape;

pub(crate) use self::{
    approximation::KernelAnswer,
    arguments::InputArguments,
    choices::{Represented, suggested_ridge},
    conditions::{ConditionArguments, Conditions},
    groups::Groups,
    table::Table,
};
use self::{
    arguments::{Dataset, Source},
    ids::Ids,
    parquet::ParquetFile,
    weighing::Similar,
};
pub(crate) use self::{
    ids::Id,
    law_rows::{Explained, MOST_WITH_RIDGE, Shares, too_many_for},
    weighing::{Comparison, Scored, Similarity, Worth},
};
use crate::{
    failure::Failure,
    memory::{Limit, Use},
    progress::Progress,
};

/// The items, and the parts if there are labels.
#[derive(Debug)]
pub(crate) struct Input {
    /// The rows as they were given, one per item; the factor of a kernel.
    given: Features,
    /// One row per item, or per copy of an item, whose products are the similarity; the factor of a kernel. Laws make
    /// [their own rows](Input::rows_of_law) from these.
    pub(crate) features: Features,
    /// The parts of the rows.
    pub(crate) partition: Option<Partition>,
    /// The items that rows are copies of, if an item may have several.
    pub(crate) copies: Option<LabelCopies>,
    /// Items that are images, and how to draw them.
    pub(crate) images: Option<ImageShape>,
    /// The user's names of the items.
    pub(crate) ids: Option<Ids>,
    /// The scores of the items, if given.
    pub(crate) scored: Option<Scored>,
    /// The error of the features, or of the kernel function, relative to the kernel asked for.
    pub(crate) kernel_error: Option<f64>,
    /// How the rows are compared.
    pub(crate) comparison: Comparison,
    /// A ridge that is not part of the rows of a law; then the weights of scores are not part of them either.
    pub(crate) ridge: Option<f64>,
}

/// How the input is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'a> {
    /// The limit of memory.
    pub(crate) limit: Limit,
    /// The purpose of the rows.
    pub(crate) used_for: Use,
    pub(crate) progress: &'a Progress,
    /// A watch that ends long work on the rows.
    pub(crate) watch: &'a Watch,
}

/// The file formats, by extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Npy,
    Csv,
    Parquet,
}

impl Input {
    /// Reads and checks the input that the arguments name.
    pub(crate) fn read(arguments: &InputArguments, reading: Reading<'_>) -> Result<Self, Failure> {
        reading.progress.stage("reading");
        if arguments.multi_label && arguments.labels.len() != 1 {
            let sentence = "--multi-label needs one file of --labels, a .csv with one 0/1 column per label";
            return Err(Failure::Arguments(sentence.into()));
        }
        if arguments.multi_label && arguments.weighing.diversity == Some(0.0) {
            let sentence =
                "--diversity 0 would choose an item for several of its labels: it takes no --multi-label";
            return Err(Failure::Arguments(sentence.into()));
        }
        let Source { features, kernel, dataset } = &arguments.source;
        let (files, given, kernel_error) = match (&features[..], kernel, dataset) {
            (_, _, Some(Dataset::Digits)) => {
                let digits = digits::read()?;
                let given = digits.features;
                let files = ["digits".into()];
                let (similar, ridge, scored) = compared(arguments, given.clone(), &files, reading)?;
                let Similar { features, kernel_error, comparison } = similar;
                return Ok(Self { given, features, scored, kernel_error, comparison, ridge, ..digits });
            }
            ([], Some(file), _) => {
                let kernel = read_kernel(file, arguments.kernel_tolerance, reading.limit)?;
                (std::slice::from_ref(file), kernel.features().clone(), Some(kernel.error()))
            }
            // The argument parser requires a source.
            ([], None, None) => return Err(Failure::Arguments("no input is given".into())),
            (files, ..) => (files, read_shards(files, arguments, reading)?, None),
        };
        let (similar, ridge, scored) = compared(arguments, given.clone(), files, reading)?;
        let Similar { features, kernel_error: missing, comparison } = similar;
        let kernel_error = missing.or(kernel_error);
        let ids = arguments.id_source()?.map(|source| {
            let ids = Ids::read(source)?;
            check_count(&features, files, ("ids", ids.len()), source.files)?;
            Ok::<_, Failure>(ids)
        });
        let ids = ids.transpose()?;
        let (partition, copies, images) = (None, None, None);
        let input =
            Self { given, features, partition, copies, images, ids, scored, kernel_error, comparison, ridge };
        let Some(source) = arguments.label_source()? else { return input.check_map(reading.limit) };
        if arguments.multi_label {
            let copies = multi_label::read(&source.files[0], source.name)?;
            check_count(&input.features, files, ("labels", copies.items()), source.files)?;
            let (features, partition) = (copies.features(&input.features)?, copies.partition().clone());
            let input = Self { features, partition: Some(partition), copies: Some(copies), ..input };
            return input.check_map(reading.limit);
        }
        let partition = labels::read(source, input.features.items())?;
        check_count(&input.features, files, ("labels", partition.items()), source.files)?;
        Self { partition: Some(partition), ..input }.check_map(reading.limit)
    }
}

/// The rows as the similarity takes them, a ridge that stays apart from rows, and the scores.
fn compared(
    arguments: &InputArguments,
    features: Features,
    files: &[PathBuf],
    reading: Reading<'_>,
) -> Result<(Similar, Option<f64>, Option<Scored>), Failure> {
    let scores = arguments.score_source()?.map(|source| {
        let scores = scores::read(source)?;
        check_count(&features, files, ("scores", scores.len()), source.files)?;
        Ok::<_, Failure>(scores)
    });
    let scored = arguments.weighing.scored(scores.transpose()?)?;
    let similar = arguments.weighing.similar(features, reading)?;
    let (similar, ridge) = law_rows::ridged(arguments, similar, reading.limit)?;
    // Laws make their own rows, but scores that none takes are refused here, by the item.
    if let Some(scored) = scored.as_ref().filter(|scored| !scored.decide_alone()) {
        similar.features.with_scores(&scored.scores, scored.diversity)?;
    }
    Ok((similar, ridge, scored))
}

/// The rows of all files, as one matrix.
fn read_shards(
    files: &[PathBuf],
    arguments: &InputArguments,
    Reading { mut limit, used_for, .. }: Reading<'_>,
) -> Result<Features, Failure> {
    let names_columns = arguments.embedding_column.is_some() || !arguments.embedding_columns.is_empty();
    if let Some(other) = files.iter().find(|path| names_columns && !is_parquet(path)) {
        let problem = "only a .parquet file has columns of embeddings to choose from";
        return Err(Failure::file(other, problem));
    }
    if files.len() > 1 {
        csv::check_headers(files.iter().filter(|path| matches!(format(path), Ok(Format::Csv))))?;
    }
    let read = |path| read_features(path, arguments, &mut limit, used_for);
    let shards: Result<Vec<_>, _> = files.iter().map(read).collect();
    let shards = shards?;
    Features::concatenate(&shards).map_err(|error| match error {
        Error::UnlikeShards { shard, found, expected } => {
            let problem = format!("{found}, but {} has {expected}", files[0].display());
            Failure::file(&files[shard], problem)
        }
        other => Failure::Library(other),
    })
}

fn is_parquet(path: &Path) -> bool {
    matches!(format(path), Ok(Format::Parquet))
}

fn read_features(
    path: &PathBuf,
    arguments: &InputArguments,
    limit: &mut Limit,
    made: Use,
) -> Result<Features, Failure> {
    match format(path)? {
        Format::Npy => {
            let array = NpyArray::open(path).map_err(Failure::in_file(path))?;
            if let &[rows, columns] = array.shape() {
                limit.check_features(path, [rows, columns], array.bytes_to_convert(), made)?;
            }
            array.into_features().map_err(Failure::in_file(path))
        }
        Format::Csv => {
            let matrix = csv::read_matrix(path, csv::FirstRow::MayBeHeader, *limit)?;
            Features::from_rows(matrix.rows, matrix.columns, matrix.values).map_err(Failure::in_file(path))
        }
        Format::Parquet => {
            let file = ParquetFile::open(path)?;
            match &arguments.embedding_columns[..] {
                [] => file.embeddings(arguments.embedding_column.as_deref(), limit, made),
                columns => file.columns(columns, limit, made),
            }
        }
    }
}

fn read_kernel(path: &PathBuf, tolerance: Option<f64>, limit: Limit) -> Result<Kernel, Failure> {
    let kernel = match format(path)? {
        Format::Npy => {
            let array = NpyArray::open(path).map_err(Failure::in_file(path))?;
            if let &[rows, columns] = array.shape()
                && rows == columns
            {
                limit.check_kernel(path, rows, array.bytes_to_convert())?;
            }
            match tolerance {
                Some(tolerance) => Kernel::open_npy_within(path, tolerance),
                None => Kernel::open_npy(path),
            }
        }
        Format::Csv => {
            let matrix = csv::read_matrix(path, csv::FirstRow::IsData, limit)?;
            let (rows, columns) = (matrix.rows, matrix.columns);
            if rows != columns {
                let problem = format!("{rows} rows of {columns} columns; a kernel must be square");
                return Err(Failure::file(path, problem));
            }
            match tolerance {
                Some(tolerance) => Kernel::from_dense_within(rows, &matrix.values, tolerance),
                None => Kernel::from_dense(rows, &matrix.values),
            }
        }
        Format::Parquet => {
            return Err(Failure::file(
                path,
                "a kernel is read from a .npy or .csv file, square and without names",
            ));
        }
    };
    kernel.map_err(Failure::in_file(path))
}

fn format(path: &Path) -> Result<Format, Failure> {
    let extension = path.extension().map(OsStr::to_ascii_lowercase);
    match extension.as_ref().and_then(|extension| extension.to_str()) {
        Some("npy") => Ok(Format::Npy),
        Some("csv") => Ok(Format::Csv),
        Some("parquet" | "pq") => Ok(Format::Parquet),
        _ if path.is_dir() => {
            Err(Failure::file(path, "this is a folder; name its .npy, .csv or .parquet files"))
        }
        _ => Err(Failure::file(path, "unknown file format; .npy, .csv and .parquet are supported")),
    }
}

fn check_count(
    features: &Features,
    files: &[PathBuf],
    (what, found): (&str, usize),
    labels: &[PathBuf],
) -> Result<(), Failure> {
    let items = features.items();
    let headers = labels.iter().filter(|path| format(path).is_ok_and(|kind| kind == Format::Csv)).count();
    if items == found {
        return Ok(());
    }
    let missing_header = found + headers == items && headers > 0;
    let hint = if missing_header {
        format!(" (the first line of the {what} is read as a header)")
    } else {
        String::new()
    };
    let first = files[0].display();
    let files =
        if files.len() == 1 { first.to_string() } else { format!("{} files from {first} on", files.len()) };
    let problem = format!("there are {found} {what} for the {items} items of {files}{hint}");
    Err(Failure::file(&labels[0], problem))
}
