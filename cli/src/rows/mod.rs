//! `--output`: the chosen rows, in a file.

mod write;

use std::{
    collections::HashSet,
    ffi::OsStr,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
};

use arrow_array::{ArrayRef, Int64Array, RecordBatch, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use arrow_select::take::take;
use clap::Args;
use partition_dpp::Subset;

use self::write::Writer;
use crate::{
    failure::Failure,
    input::{Input, InputArguments, Table},
    whole_file,
};

/// The contents of the file, for messages.
const WHAT: &str = "the rows";
/// Rows written at a time.
const BATCH: usize = 1 << 16;

/// The file of the chosen rows, and their columns.
#[derive(Args, Debug)]
pub(crate) struct RowsArguments {
    /// Write the chosen rows to a .csv or .parquet file
    ///
    /// The columns are sample, item, and all columns of the input files except embeddings. Columns of --labels, --ids
    /// and --scores are included.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) output: Option<RowsFile>,
    /// Include the embeddings in --output
    #[arg(
        long,
        requires = "output",
        conflicts_with = "kernel",
        help_heading = "Output",
        hide_short_help = true
    )]
    with_embeddings: bool,
}

/// A file of rows, and its format.
#[derive(Clone, Debug)]
pub(crate) struct RowsFile {
    path: PathBuf,
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Csv,
    Parquet,
}

impl FromStr for RowsFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let path = PathBuf::from(text);
        let extension = path.extension().map(OsStr::to_ascii_lowercase);
        let format = match extension.as_ref().and_then(|extension| extension.to_str()) {
            Some("csv") => Format::Csv,
            Some("parquet" | "pq") => Format::Parquet,
            _ => return Err("rows are written to .csv or .parquet files".into()),
        };
        Ok(Self { path, format })
    }
}

impl RowsFile {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl RowsArguments {
    /// Refuses a file that cannot be written, before the work begins.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.output.as_ref().map_or(Ok(()), |file| whole_file::check(&file.path, WHAT))
    }

    /// Opens what rows are read from; `None` if none are asked for.
    pub(crate) fn open(&self, input: &InputArguments) -> Result<Option<Rows<'_>>, Failure> {
        let Some(file) = &self.output else { return Ok(None) };
        let table = if self.with_embeddings { Table::with_embeddings(input) } else { Table::open(input) };
        Ok(Some(Rows { file, table: table? }))
    }
}

/// The rows to choose from, and the file for those chosen.
#[derive(Debug)]
pub(crate) struct Rows<'a> {
    file: &'a RowsFile,
    table: Table,
}

impl Rows<'_> {
    /// Writes the rows of the items of some subsets, subset by subset.
    pub(crate) fn write(&self, input: &Input, subsets: &[Subset]) -> Result<(), Failure> {
        let (mut samples, mut items) = (Vec::new(), Vec::new());
        for (sample, subset) in subsets.iter().enumerate() {
            let chosen = input.items_of(subset);
            samples.extend(chosen.iter().map(|_| sample));
            items.extend_from_slice(&chosen);
        }
        let mut distinct = items.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let (fields, columns) = self.table.rows(input, &distinct)?;
        let named = ["sample", "item"].map(|name| Field::new(name, DataType::Int64, false));
        let schema = Arc::new(Schema::new(distinct_names(named.into_iter().chain(fields))));
        let bytes = self.bytes(&schema, [&samples, &items], (&distinct, &columns)).map_err(|error| {
            let reason = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
            Failure::file(&self.file.path, format!("{WHAT} cannot be written: {reason}"))
        })?;
        whole_file::write(&self.file.path, WHAT, &bytes)
    }

    /// The file, from the columns of all items that are in any sample.
    fn bytes(
        &self,
        schema: &SchemaRef,
        [samples, items]: [&[usize]; 2],
        (distinct, columns): (&[usize], &[ArrayRef]),
    ) -> Result<Vec<u8>, ArrowError> {
        let mut writer = Writer::new(self.file.format, schema)?;
        let integers = |numbers: &[usize]| -> ArrayRef {
            Arc::new(numbers.iter().map(|&number| i64::try_from(number).ok()).collect::<Int64Array>())
        };
        for (samples, items) in samples.chunks(BATCH).zip(items.chunks(BATCH)) {
            let at = items.iter().map(|item| distinct.partition_point(|other| other < item) as u64);
            let at = UInt64Array::from_iter_values(at);
            let mut taken = vec![integers(samples), integers(items)];
            for column in columns {
                taken.push(take(column, &at, None)?);
            }
            writer.write(&RecordBatch::try_new(Arc::clone(schema), taken)?)?;
        }
        writer.finish()
    }
}

/// A name that is taken already gets the first number from 2 on that makes it new.
fn distinct_names(fields: impl Iterator<Item = Field>) -> Vec<Field> {
    let mut taken = HashSet::new();
    let rename = |field: Field| {
        let (mut name, mut number) = (field.name().clone(), 1);
        while !taken.insert(name.clone()) {
            number += 1;
            name = format!("{}_{number}", field.name());
        }
        field.with_name(name)
    };
    fields.map(rename).collect()
}
