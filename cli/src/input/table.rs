//! The columns of the input that are not embeddings, read again for the rows that are chosen.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::concat::concat;

use super::{
    Format, Input, InputArguments,
    columns::names_of,
    csv::{Records, shorten},
    format, is_parquet, npy,
    parquet::{Columns, ParquetFile},
};
use crate::failure::Failure;

/// The columns of the features, of the labels and of the ids.
#[derive(Debug)]
pub(crate) struct Table {
    sources: Vec<Source>,
    /// Whether embeddings that are no columns of a file are added.
    adds_features: bool,
}

/// Files that hold some of the rows each, one after the other, with the same columns.
#[derive(Debug)]
struct Source {
    files: Vec<TableFile>,
    fields: Vec<Field>,
}

#[derive(Debug)]
struct TableFile {
    path: PathBuf,
    kind: Kind,
    /// The positions of the source's columns among the columns of this file.
    order: Vec<usize>,
}

#[derive(Debug)]
enum Kind {
    Parquet(Columns),
    /// Text, with a header.
    Csv(Vec<String>),
    /// One column of integers, which gets this name; unsigned if one of them needs it.
    Npy(&'static str, DataType),
}

impl Table {
    /// All columns but embeddings.
    pub(crate) fn open(arguments: &InputArguments) -> Result<Self, Failure> {
        Self::of(arguments, |file| {
            file.embedding_columns(arguments.embedding_column.as_deref(), &arguments.embedding_columns)
        })
    }

    /// All columns.
    pub(crate) fn with_embeddings(arguments: &InputArguments) -> Result<Self, Failure> {
        let adds_features = !arguments.source.features.iter().any(|path| is_parquet(path));
        Ok(Self { adds_features, ..Self::of(arguments, |_| Ok(Vec::new()))? })
    }

    fn of(
        arguments: &InputArguments,
        left_out: impl Fn(&ParquetFile) -> Result<Vec<usize>, Failure>,
    ) -> Result<Self, Failure> {
        let features = &arguments.source.features[..];
        let mut sources = Vec::new();
        let mut read = Vec::new();
        if features.iter().any(|path| is_parquet(path)) {
            if let Some(other) = features.iter().find(|path| !is_parquet(path)) {
                let problem = "the file has no columns for --output, but other files of --features have";
                return Err(Failure::file(other, problem));
            }
            let open = |path: &PathBuf| {
                let file = ParquetFile::open(path)?;
                let left_out = left_out(&file)?;
                Ok::<_, Failure>(TableFile::new(path, Kind::Parquet(file.columns_without(&left_out)?)))
            };
            sources.push(Source::new(features.iter().map(open).collect::<Result<_, _>>()?)?);
            read.push(features);
        }
        let named = [
            ("label", arguments.label_source()?),
            ("id", arguments.id_source()?),
            ("score", arguments.score_source()?),
        ];
        for (name, column) in named {
            let Some(files) = column.map(|column| column.files).filter(|files| !read.contains(files)) else {
                continue;
            };
            let open = |path: &PathBuf| TableFile::open(path, name);
            sources.push(Source::new(files.iter().map(open).collect::<Result<_, _>>()?)?);
            read.push(files);
        }
        Ok(Self { sources, adds_features: false })
    }

    /// The columns of some items, ascending.
    pub(crate) fn rows(
        &self,
        input: &Input,
        items: &[usize],
    ) -> Result<(Vec<Field>, Vec<ArrayRef>), Failure> {
        let (mut fields, mut columns) = (Vec::new(), Vec::new());
        if self.sources.is_empty()
            && let Some(partition) = &input.partition
        {
            // Built in: the classes are not in a file.
            let names = items.iter().map(|&item| &partition.names()[partition.part_of(item)]);
            fields.push(Field::new("label", DataType::Utf8, false));
            columns.push(Arc::new(StringArray::from_iter_values(names)) as ArrayRef);
        }
        for source in &self.sources {
            fields.extend_from_slice(&source.fields);
            columns.extend(source.rows(items)?);
        }
        if self.adds_features {
            let given = input.given();
            let rows: Vec<Vec<f64>> = items.iter().map(|&item| given.row(item)).collect();
            for feature in 0..given.dims() {
                fields.push(Field::new(format!("f{feature}"), DataType::Float64, false));
                let values = rows.iter().map(|row| row[feature]);
                columns.push(Arc::new(Float64Array::from_iter_values(values)) as ArrayRef);
            }
        }
        Ok((fields, columns))
    }
}

impl Source {
    /// # Errors
    /// If the files have different columns.
    fn new(mut files: Vec<TableFile>) -> Result<Self, Failure> {
        let Some((first, others)) = files.split_first_mut() else {
            return Ok(Self { files, fields: Vec::new() });
        };
        let mut fields = first.fields();
        first.order = (0..fields.len()).collect();
        for file in others {
            let own = file.fields();
            let first = first.path.display();
            for (at, field) in fields.iter_mut().enumerate() {
                let name = field.name();
                let is_it = |other: &Field| other.name() == name;
                // Several columns may have one name.
                let found =
                    if own.get(at).is_some_and(is_it) { Some(at) } else { own.iter().position(is_it) };
                let shown = shorten(name.as_bytes());
                let Some(found) = found else {
                    let problem = format!("there is no column '{shown}', but {first} has one");
                    return Err(Failure::file(&file.path, problem));
                };
                let [here, there] = [own[found].data_type(), field.data_type()];
                if here != there {
                    let problem = format!("column '{shown}' holds {here}, but in {first} it holds {there}");
                    return Err(Failure::file(&file.path, problem));
                }
                let nullable = field.is_nullable() || own[found].is_nullable();
                *field = field.clone().with_nullable(nullable);
                file.order.push(found);
            }
            if let Some(other) = own.iter().enumerate().find(|(at, _)| !file.order.contains(at)) {
                let problem = format!("column '{}' is not in {first}", shorten(other.1.name().as_bytes()));
                return Err(Failure::file(&file.path, problem));
            }
        }
        Ok(Self { files, fields })
    }

    /// The columns of some items, ascending.
    fn rows(&self, items: &[usize]) -> Result<Vec<ArrayRef>, Failure> {
        let (mut parts, mut rest, mut first) = (Vec::new(), items, 0);
        for file in &self.files {
            let (batch, count) = file.rows(rest, first)?;
            parts.push(file.order.iter().map(|&at| Arc::clone(batch.column(at))).collect::<Vec<_>>());
            rest = &rest[batch.num_rows()..];
            first += count;
        }
        let path = &self.files[0].path;
        if let Some(row) = rest.first() {
            return Err(Failure::file(path, format!("row {row} is gone: the file has changed")));
        }
        let column = |at: usize| {
            let arrays: Vec<_> = parts.iter().map(|columns: &Vec<ArrayRef>| &*columns[at]).collect();
            concat(&arrays).map_err(|error| Failure::file(path, error.to_string()))
        };
        (0..self.fields.len()).map(column).collect()
    }
}

impl TableFile {
    fn new(path: &Path, kind: Kind) -> Self {
        Self { path: path.to_owned(), kind, order: Vec::new() }
    }

    fn open(path: &Path, name: &'static str) -> Result<Self, Failure> {
        let kind = match format(path)? {
            Format::Parquet => Kind::Parquet(ParquetFile::open(path)?.columns_without(&[])?),
            Format::Npy => {
                let mut largest = 0;
                npy::read_integers(path, usize::MAX, |integer| {
                    largest = integer.max(largest);
                    Ok(())
                })?;
                let fits = i64::try_from(largest).is_ok();
                Kind::Npy(name, if fits { DataType::Int64 } else { DataType::UInt64 })
            }
            Format::Csv => {
                let mut records = Records::open(path)?;
                let header = records.next()?;
                let names = header.map(|header| {
                    names_of(&header).map(|names| names.into_iter().map(str::to_owned).collect())
                });
                Kind::Csv(names.transpose()?.unwrap_or_default())
            }
        };
        Ok(Self::new(path, kind))
    }

    fn fields(&self) -> Vec<Field> {
        match &self.kind {
            // The field's number in its file means nothing in another.
            Kind::Parquet(columns) => columns
                .fields()
                .map(|field| {
                    let mut field = field.clone();
                    field.metadata_mut().remove(parquet::arrow::PARQUET_FIELD_ID_META_KEY);
                    field
                })
                .collect(),
            Kind::Csv(names) => names.iter().map(|name| Field::new(name, DataType::Utf8, false)).collect(),
            Kind::Npy(name, integers) => vec![Field::new(*name, integers.clone(), false)],
        }
    }

    /// The rows of `items`, ascending, that are in this file, whose first row is item `first`; and its number of rows.
    fn rows(&self, items: &[usize], first: usize) -> Result<(RecordBatch, usize), Failure> {
        match &self.kind {
            Kind::Parquet(columns) => {
                let count = columns.count();
                let own = items.partition_point(|&item| item < first + count);
                let rows: Vec<usize> = items[..own].iter().map(|item| item - first).collect();
                Ok((columns.rows(&rows)?, count))
            }
            Kind::Csv(names) => self.rows_of_csv(names, items, first),
            Kind::Npy(_, integers) => self.rows_of_npy(integers, items, first),
        }
    }

    fn rows_of_csv(
        &self,
        names: &[String],
        items: &[usize],
        first: usize,
    ) -> Result<(RecordBatch, usize), Failure> {
        let mut records = Records::open(&self.path)?;
        records.next()?;
        records.that_was_a_header();
        let (mut cells, mut rest, mut count) = (vec![Vec::new(); names.len()], items, 0);
        while let Some(row) = records.next()? {
            if rest.first() == Some(&(first + count)) {
                for (column, cells) in cells.iter_mut().enumerate() {
                    cells.push(row.text(column)?.to_owned());
                }
                rest = &rest[1..];
            }
            count += 1;
        }
        let column =
            |cells| Arc::new(StringArray::from_iter_values::<String, Vec<String>>(cells)) as ArrayRef;
        Ok((self.batch(cells.into_iter().map(column).collect())?, count))
    }

    fn rows_of_npy(
        &self,
        integers: &DataType,
        items: &[usize],
        first: usize,
    ) -> Result<(RecordBatch, usize), Failure> {
        let (mut values, mut rest, mut count) = (Vec::new(), items, 0);
        npy::read_integers(&self.path, usize::MAX, |integer| {
            if rest.first() == Some(&(first + count)) {
                values.push(integer);
                rest = &rest[1..];
            }
            count += 1;
            Ok(())
        })?;
        let values = values.into_iter();
        let column: ArrayRef = if *integers == DataType::Int64 {
            Arc::new(values.map(|value| i64::try_from(value).ok()).collect::<Int64Array>())
        } else {
            Arc::new(values.map(|value| u64::try_from(value).ok()).collect::<UInt64Array>())
        };
        Ok((self.batch(vec![column])?, count))
    }

    fn batch(&self, columns: Vec<ArrayRef>) -> Result<RecordBatch, Failure> {
        let batch = RecordBatch::try_new(Arc::new(Schema::new(self.fields())), columns);
        batch.map_err(|error| Failure::file(&self.path, error.to_string()))
    }
}
