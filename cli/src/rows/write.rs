//! Rows as .csv and .parquet files, in memory.

use arrow_array::RecordBatch;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{ArrowError, SchemaRef};
use parquet::{
    arrow::ArrowWriter,
    basic::{Compression, ZstdLevel},
    file::properties::WriterProperties,
};

use super::Format;

/// A file that grows batch by batch.
pub(super) enum Writer {
    Csv(Box<csv::Writer<Vec<u8>>>),
    Parquet(Box<ArrowWriter<Vec<u8>>>),
}

impl Writer {
    pub(super) fn new(format: Format, schema: &SchemaRef) -> Result<Self, ArrowError> {
        Ok(match format {
            Format::Csv => {
                let mut writer = csv::Writer::from_writer(Vec::new());
                writer.write_record(schema.fields().iter().map(|field| field.name())).map_err(of_csv)?;
                Self::Csv(Box::new(writer))
            }
            Format::Parquet => {
                let compression = Compression::ZSTD(ZstdLevel::default());
                let properties = WriterProperties::builder().set_compression(compression).build();
                Self::Parquet(Box::new(ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties))?))
            }
        })
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        match self {
            Self::Csv(writer) => {
                // A missing value is an empty cell; lists and structures are written as text.
                let options = FormatOptions::default();
                let columns = batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options));
                let columns = columns.collect::<Result<Vec<_>, _>>()?;
                for row in 0..batch.num_rows() {
                    for column in &columns {
                        writer.write_field(column.value(row).try_to_string()?).map_err(of_csv)?;
                    }
                    writer.write_record(None::<&[u8]>).map_err(of_csv)?;
                }
            }
            Self::Parquet(writer) => writer.write(batch)?,
        }
        Ok(())
    }

    /// All bytes of the file.
    pub(super) fn finish(self) -> Result<Vec<u8>, ArrowError> {
        match self {
            Self::Csv(writer) => writer.into_inner().map_err(|error| ArrowError::CsvError(error.to_string())),
            Self::Parquet(writer) => Ok(writer.into_inner()?),
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn of_csv(error: csv::Error) -> ArrowError {
    ArrowError::CsvError(error.to_string())
}
