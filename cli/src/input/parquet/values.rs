//! The values of a column in a row group, page by page, where none is missing.
//!
//! Levels are checked as they are stored, and plain values copied from the page to where they belong. Whatever else
//! there is, [`Values::read`] declines.

use std::sync::{
    Arc,
    mpsc::{self, Receiver, Sender},
};

use bytes::{Buf, Bytes};
use half::f16;
use parquet::{
    basic::Encoding,
    column::{
        page::{Page, PageMetadata, PageReader},
        reader::ColumnReaderImpl,
    },
    data_type::{
        BoolType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType, FloatType, Int32Type,
        Int64Type,
    },
    errors::{ParquetError, Result},
    schema::types::ColumnDescriptor,
};

use super::levels;

/// Values decoded at a time.
const CHUNK: usize = 1 << 12;

/// A type of values as files store them.
pub(super) trait Stored: Copy + Default + Send {
    type Physical: DataType;
    /// Bytes of a plain value, unless it has bits only.
    const PLAIN: Option<usize>;
    fn of(value: &<Self::Physical as DataType>::T) -> Self;
    /// Copies plain values.
    fn copy(bytes: &[u8], out: &mut [Self]);
}

macro_rules! stored {
    ($type:ty, $physical:ty, |$value:ident: $stored:ty| $of:expr) => {
        impl Stored for $type {
            type Physical = $physical;
            const PLAIN: Option<usize> = Some(size_of::<Self>());

            fn of($value: &$stored) -> Self {
                $of
            }

            fn copy(bytes: &[u8], out: &mut [Self]) {
                let (bytes, _) = bytes.as_chunks();
                out.iter_mut().zip(bytes).for_each(|(out, bytes)| *out = Self::from_le_bytes(*bytes));
            }
        }
    };
}
stored!(f32, FloatType, |value: f32| *value);
stored!(f64, DoubleType, |value: f64| *value);
stored!(i32, Int32Type, |value: i32| *value);
stored!(i64, Int64Type, |value: i64| *value);
stored!(f16, FixedLenByteArrayType, |value: FixedLenByteArray| {
    value.data().first_chunk().map_or(f16::NAN, |bytes| f16::from_le_bytes(*bytes))
});

impl Stored for bool {
    type Physical = BoolType;
    const PLAIN: Option<usize> = None;

    fn of(value: &bool) -> Self {
        *value
    }

    fn copy(_: &[u8], _: &mut [Self]) {}
}

/// Reads values from one after the other on.
pub(super) struct Values<T: Stored> {
    pages: Box<dyn PageReader>,
    column: Arc<ColumnDescriptor>,
    /// The length of lists; 1 if there are none.
    dims: usize,
    /// Values before those of the next page.
    before: usize,
    /// Values of the page that are still to be read.
    left: usize,
    /// Where they are, if they are plain.
    plain: Option<Bytes>,
    /// What decodes them otherwise, and how it gets its pages.
    decoder: ColumnReaderImpl<T::Physical>,
    to_decoder: Sender<Page>,
    decoded: Vec<<T::Physical as DataType>::T>,
}

impl<T: Stored> Values<T> {
    pub(super) fn new(pages: Box<dyn PageReader>, column: Arc<ColumnDescriptor>, dims: usize) -> Self {
        let (to_decoder, stripped) = mpsc::channel();
        // Pages reach it without levels.
        let flat = ColumnDescriptor::new(column.self_type_ptr(), 0, 0, column.path().clone());
        let decoder = ColumnReaderImpl::new(Arc::new(flat), Box::new(Stripped(stripped)));
        let (before, left, plain, decoded) = (0, 0, None, Vec::new());
        Self { pages, column, dims, before, left, plain, decoder, to_decoder, decoded }
    }

    /// Passes over some pages.
    pub(super) fn skip(&mut self, pages: usize) -> Result<()> {
        let mut skipped = 0;
        while skipped < pages
            && let Some(PageMetadata { is_dict, num_levels, .. }) = self.pages.peek_next_page()?
        {
            if is_dict {
                self.next_page()?;
            } else {
                self.pages.skip_next_page()?;
                self.before += num_levels.unwrap_or(0);
                skipped += 1;
            }
        }
        Ok(())
    }

    /// Reads as many values as there is room for; says no if they are not all there, or not in lists of one length.
    pub(super) fn read(&mut self, mut out: &mut [T]) -> Result<bool> {
        while !out.is_empty() {
            if self.left == 0 {
                if !self.next_page()? {
                    return Ok(false);
                }
                continue;
            }
            let (own, rest) = out.split_at_mut(self.left.min(out.len()));
            match (&mut self.plain, T::PLAIN) {
                (Some(bytes), Some(width)) => {
                    T::copy(bytes, own);
                    bytes.advance(own.len() * width);
                }
                _ => self.decode(own)?,
            }
            self.left -= own.len();
            out = rest;
        }
        Ok(true)
    }

    fn decode(&mut self, out: &mut [T]) -> Result<()> {
        for out in out.chunks_mut(CHUNK) {
            self.decoded.clear();
            let (found, ..) = self.decoder.read_records(out.len(), None, None, &mut self.decoded)?;
            if found < out.len() {
                return Err(ParquetError::EOF("a page ends early".into()));
            }
            out.iter_mut().zip(&self.decoded).for_each(|(out, value)| *out = T::of(value));
        }
        Ok(())
    }

    /// Goes to the next page; says no if there is none, or something is missing in it.
    fn next_page(&mut self) -> Result<bool> {
        let Some(page) = self.pages.get_next_page()? else { return Ok(false) };
        if page.is_dictionary_page() {
            // A receiver that has gone is told of by what it does not answer.
            let _ = self.to_decoder.send(page);
            return Ok(true);
        }
        let Some(bytes) = self.without_levels(&page) else { return Ok(false) };
        let (count, encoding) = (page.num_values(), page.encoding());
        self.left = count as usize;
        self.before += self.left;
        let plain = T::PLAIN.filter(|_| encoding == Encoding::PLAIN);
        if let Some(width) = plain {
            let is_whole = bytes.len() / width >= self.left;
            self.plain = Some(bytes);
            return Ok(is_whole);
        }
        self.plain = None;
        let page = Page::DataPageV2 {
            buf: bytes,
            num_values: count,
            encoding,
            num_nulls: 0,
            num_rows: count,
            def_levels_byte_len: 0,
            rep_levels_byte_len: 0,
            is_compressed: false,
            statistics: None,
        };
        let _ = self.to_decoder.send(page);
        Ok(true)
    }

    /// The values of a page, if its levels are those of whole lists.
    fn without_levels(&self, page: &Page) -> Option<Bytes> {
        let (is_list, highest) = (self.column.max_rep_level() > 0, self.column.max_def_level());
        let count = page.num_values() as usize;
        let (repetitions, definitions, values) = match page {
            Page::DataPage { buf, rep_level_encoding, def_level_encoding, .. } => {
                let mut rest = buf.clone();
                let mut levels = |are_there: bool, encoding: Encoding| match (are_there, encoding) {
                    (false, _) => Some(Bytes::new()),
                    (true, Encoding::RLE) => {
                        let length = rest.try_get_u32_le().ok()? as usize;
                        (length <= rest.len()).then(|| rest.split_to(length))
                    }
                    (true, _) => None,
                };
                let repetitions = levels(is_list, *rep_level_encoding)?;
                (repetitions, levels(highest > 0, *def_level_encoding)?, rest)
            }
            Page::DataPageV2 { buf, rep_levels_byte_len, def_levels_byte_len, .. } => {
                let mut rest = buf.clone();
                let lengths = [*rep_levels_byte_len as usize, *def_levels_byte_len as usize];
                if lengths.iter().sum::<usize>() > rest.len() {
                    return None;
                }
                let [repetitions, definitions] = lengths.map(|length| rest.split_to(length));
                (repetitions, definitions, rest)
            }
            Page::DictionaryPage { .. } => return None,
        };
        let are_rows = !is_list || levels::are_rows(&repetitions, count, self.dims, self.before);
        let are_whole = highest == 0 || levels::are_all(&definitions, highest, count);
        (are_rows && are_whole).then_some(values)
    }
}

/// Pages whose levels have been taken off.
struct Stripped(Receiver<Page>);

impl Iterator for Stripped {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.0.try_recv().ok().map(Ok)
    }
}

impl PageReader for Stripped {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        Ok(self.0.try_recv().ok())
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        Err(ParquetError::NYI("pages are read, not looked at".into()))
    }

    fn skip_next_page(&mut self) -> Result<()> {
        Err(ParquetError::NYI("pages are read, not skipped".into()))
    }
}

#[cfg(test)]
mod tests {
    use parquet::schema::{
        parser::parse_message_type,
        types::{ColumnDescriptor, SchemaDescriptor},
    };

    use super::*;

    const DIMS: usize = 5;

    fn column() -> Arc<ColumnDescriptor> {
        let list = "optional group v (LIST) { repeated group list { optional float element; } }";
        let schema = parse_message_type(&format!("message m {{ {list} }}")).unwrap();
        SchemaDescriptor::new(Arc::new(schema)).column(0)
    }

    /// Values in packed levels, as version 1 of the format has them.
    fn page(values: std::ops::Range<usize>, row_starts: usize) -> Page {
        let count = values.len();
        let with_length =
            |levels: Vec<u8>| [&u32::try_from(levels.len()).unwrap().to_le_bytes()[..], &levels].concat();
        let mut repetitions = vec![u8::try_from(count.div_ceil(8) << 1 | 1).unwrap()];
        let is_start = |at: usize| (values.start + at).is_multiple_of(row_starts);
        let level = |at: usize| u8::from(at < count && !is_start(at));
        repetitions.extend(
            (0..count).step_by(8).map(|at| (0..8).fold(0, |byte, bit| byte | level(at + bit) << bit)),
        );
        let definitions = vec![u8::try_from(count << 1).unwrap(), 3];
        let numbers = values.flat_map(|value| (value as f32).to_le_bytes());
        let bytes = [with_length(repetitions), with_length(definitions), numbers.collect()].concat();
        Page::DataPage {
            buf: bytes.into(),
            num_values: u32::try_from(count).unwrap(),
            encoding: Encoding::PLAIN,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        }
    }

    fn values(pages: impl IntoIterator<Item = Page>) -> Values<f32> {
        let (sender, receiver) = mpsc::channel();
        pages.into_iter().for_each(|page| sender.send(page).unwrap());
        Values::new(Box::new(Stripped(receiver)), column(), DIMS)
    }

    #[test]
    fn pages_may_end_within_a_list() {
        let pages = || [0..7, 7..8, 8..31, 31..40].map(|range| page(range, DIMS));
        let expected: Vec<f32> = (0..40).map(|value: u8| value.into()).collect();
        let mut read = vec![0.0; 40];
        assert!(values(pages()).read(&mut read).unwrap());
        assert_eq!(read, expected);
        // Those of one call end within a page.
        let (mut reader, mut read) = (values(pages()), vec![0.0; 10]);
        assert!((0..4).all(|_| reader.read(&mut read).unwrap()));
        assert_eq!(read, expected[30..]);
        assert!(!reader.read(&mut read).unwrap(), "there are no more");
        let shifted = [page(0..7, DIMS), page(8..31, DIMS)];
        assert!(!values(shifted).read(&mut [0.0; 30]).unwrap(), "a value is left out");
        assert!(!values([page(0..12, DIMS + 1)]).read(&mut [0.0; 10]).unwrap(), "longer lists");
    }
}
