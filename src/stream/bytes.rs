//! The layout of what travels between processes: little-endian, versioned, checked.
//!
//! ```text
//! "PDPP", kind (4 bytes), version (u32), length of the contents (u64), contents, checksum of the contents (u64)
//! ```

use crate::{Result, error::StreamProblem};

/// What bytes hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    /// Four letters in the header.
    pub(super) tag: [u8; 4],
    /// In error messages.
    pub(super) what: &'static str,
}

/// Version of the layout of all kinds.
const VERSION: u32 = 2;
const MAGIC: [u8; 4] = *b"PDPP";
/// Neither true nor false.
const UNKNOWN: u64 = 2;
const HEADER: usize = 20;
const CHECKSUM: usize = 8;

/// Contents to be written.
#[derive(Debug, Default)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn u64(&mut self, value: u64) -> &mut Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(super) fn usize(&mut self, value: usize) -> &mut Self {
        self.u64(value as u64)
    }

    #[expect(clippy::cast_sign_loss, reason = "two's complement")]
    pub(super) fn i64(&mut self, value: i64) -> &mut Self {
        self.u64(value as u64)
    }

    pub(super) fn f64(&mut self, value: f64) -> &mut Self {
        self.u64(value.to_bits())
    }

    /// What is true, false, or unknown.
    pub(super) fn kind(&mut self, kind: Option<bool>) -> &mut Self {
        self.u64(kind.map_or(UNKNOWN, u64::from))
    }

    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        self.usize(text.len()).0.extend(text.as_bytes());
        self
    }

    /// The number of values, and the values.
    pub(super) fn f64s(&mut self, values: &[f64]) -> &mut Self {
        self.usize(values.len());
        self.0.reserve(8 * values.len());
        values.iter().for_each(|value| self.0.extend(value.to_le_bytes()));
        self
    }

    pub(super) fn u64s(&mut self, values: &[u64]) -> &mut Self {
        self.usize(values.len());
        values.iter().for_each(|value| self.0.extend(value.to_le_bytes()));
        self
    }

    pub(super) fn u32s(&mut self, values: &[u32]) -> &mut Self {
        self.usize(values.len());
        values.iter().for_each(|value| self.0.extend(value.to_le_bytes()));
        self
    }

    pub(super) fn usizes(&mut self, values: &[usize]) -> &mut Self {
        self.usize(values.len());
        values.iter().for_each(|&value| {
            self.usize(value);
        });
        self
    }

    /// The checksum of the contents.
    pub(super) fn fingerprint(&self) -> u64 {
        fnv(&self.0)
    }

    pub(super) fn finish(self, kind: Kind) -> Vec<u8> {
        let contents = self.0;
        let mut bytes = Vec::with_capacity(HEADER + contents.len() + CHECKSUM);
        bytes.extend(MAGIC);
        bytes.extend(kind.tag);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((contents.len() as u64).to_le_bytes());
        let checksum = fnv(&contents);
        bytes.extend(contents);
        bytes.extend(checksum.to_le_bytes());
        bytes
    }
}

/// Contents to be read.
#[derive(Debug)]
pub(super) struct Reader<'b> {
    left: &'b [u8],
    what: &'static str,
}

impl<'b> Reader<'b> {
    /// Checks header, length and checksum.
    pub(super) fn open(bytes: &'b [u8], kind: Kind) -> Result<Self> {
        let what = kind.what;
        let (Some(header), true) = (bytes.first_chunk::<HEADER>(), bytes.starts_with(&MAGIC)) else {
            return Err(StreamProblem::Foreign { what }.into());
        };
        if header[4..8] != kind.tag {
            return Err(StreamProblem::Foreign { what }.into());
        }
        let mut header = Self { left: &header[8..], what };
        let version = header.u32()?;
        if version != VERSION {
            return Err(StreamProblem::Version { what, found: version, supported: VERSION }.into());
        }
        let expected = header.u64()?.saturating_add((HEADER + CHECKSUM) as u64);
        let found = bytes.len() as u64;
        if found != expected {
            return Err(StreamProblem::Length { what, expected, found }.into());
        }
        let (contents, checksum) = bytes[HEADER..].split_at(bytes.len() - HEADER - CHECKSUM);
        let mut checksum = Self { left: checksum, what };
        if checksum.u64()? != fnv(contents) {
            return Err(StreamProblem::Corrupt { what }.into());
        }
        Ok(Self { left: contents, what })
    }

    /// The error of contents that contradict themselves.
    pub(super) fn corrupt(&self) -> crate::Error {
        StreamProblem::Corrupt { what: self.what }.into()
    }

    /// Refuses contents that fail a check.
    pub(super) fn check(&self, is_sound: bool) -> Result<()> {
        if is_sound { Ok(()) } else { Err(self.corrupt()) }
    }

    fn take(&mut self, count: usize) -> Result<&'b [u8]> {
        let Some((taken, left)) = self.left.split_at_checked(count) else { return Err(self.corrupt()) };
        self.left = left;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let taken = self.take(N)?;
        taken.try_into().map_err(|_| self.corrupt())
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(super) fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(super) fn i64(&mut self) -> Result<i64> {
        Ok(i64::from_le_bytes(self.array()?))
    }

    pub(super) fn f64(&mut self) -> Result<f64> {
        Ok(f64::from_le_bytes(self.array()?))
    }

    pub(super) fn usize(&mut self) -> Result<usize> {
        self.u64()?.try_into().map_err(|_| self.corrupt())
    }

    pub(super) fn kind(&mut self) -> Result<Option<bool>> {
        match self.u64()? {
            kind @ (0 | 1) => Ok(Some(kind == 1)),
            UNKNOWN => Ok(None),
            _ => Err(self.corrupt()),
        }
    }

    pub(super) fn text(&mut self) -> Result<String> {
        let length = self.usize()?;
        let text = self.take(length)?;
        String::from_utf8(text.to_vec()).map_err(|_| self.corrupt())
    }

    /// So many values of `N` bytes as are announced.
    fn values<const N: usize, T>(&mut self, value: impl Fn([u8; N]) -> T) -> Result<Vec<T>> {
        let count = self.usize()?;
        let bytes = self.take(count.checked_mul(N).ok_or_else(|| self.corrupt())?)?;
        let (chunks, _) = bytes.as_chunks::<N>();
        Ok(chunks.iter().map(|&chunk| value(chunk)).collect())
    }

    pub(super) fn f64s(&mut self) -> Result<Vec<f64>> {
        self.values(f64::from_le_bytes)
    }

    pub(super) fn u64s(&mut self) -> Result<Vec<u64>> {
        self.values(u64::from_le_bytes)
    }

    pub(super) fn u32s(&mut self) -> Result<Vec<u32>> {
        self.values(u32::from_le_bytes)
    }

    pub(super) fn usizes(&mut self) -> Result<Vec<usize>> {
        let values = self.u64s()?;
        values.into_iter().map(|value| value.try_into().map_err(|_| self.corrupt())).collect()
    }

    /// Refuses contents that go on.
    pub(super) fn finish(self) -> Result<()> {
        self.check(self.left.is_empty())
    }
}

/// As FNV-1a, over eight bytes at a time.
fn fnv(bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x0100_0000_01b3;
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ bytes.len() as u64;
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words.iter().map(|&word| u64::from_le_bytes(word)).chain(rest.iter().map(|&byte| byte.into()))
    {
        hash = (hash ^ word).wrapping_mul(PRIME);
        // The low bits of a product know nothing of the high bits of its factors.
        hash ^= hash >> 32;
    }
    hash
}
