//! The byte layout of data sent between processes: the same on every machine, versioned, and checked.
//!
//! ```text
//! tag (8 bytes), version (u32), length of the contents (u64), contents, checksum of the contents (u64)
//! ```
//!
//! All numbers in the frame around the contents are little-endian. The contents are written by postcard; the checksum
//! is XXH64.

use serde::{Serialize, de::DeserializeOwned};
use twox_hash::XxHash64;

use crate::{Error, Result, error::StreamProblem};

/// A type that can be written as bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    /// The first bytes.
    pub(crate) tag: [u8; 8],
    /// The name in error messages.
    pub(crate) what: &'static str,
}

/// Version of the layout of all kinds.
const VERSION: u32 = 3;
const HEADER: usize = 20;
const CHECKSUM: usize = 8;

impl Kind {
    pub(crate) fn write(self, contents: &impl Serialize) -> Vec<u8> {
        // The length is filled in once it is known.
        let header = [&self.tag[..], &VERSION.to_le_bytes(), &[0; 8]].concat();
        let mut bytes = written(contents, header);
        let (header, contents) = bytes.split_at_mut(HEADER);
        header[HEADER - 8..].copy_from_slice(&(contents.len() as u64).to_le_bytes());
        let checksum = checksum(contents);
        bytes.extend(checksum.to_le_bytes());
        bytes
    }

    /// Reads the contents if their header and checksum are correct.
    pub(crate) fn read<T: DeserializeOwned>(self, bytes: &[u8]) -> Result<T> {
        let what = self.what;
        let Some((_, version, length, rest)) = opened(bytes).filter(|(tag, ..)| *tag == self.tag) else {
            return Err(StreamProblem::Foreign { what }.into());
        };
        if version != VERSION {
            return Err(StreamProblem::Version { what, found: version, supported: VERSION }.into());
        }
        let (expected, found) = (length.saturating_add((HEADER + CHECKSUM) as u64), bytes.len() as u64);
        let (Some((contents, sum)), true) = (rest.split_last_chunk(), found == expected) else {
            return Err(StreamProblem::Length { what, expected, found }.into());
        };
        self.check(u64::from_le_bytes(*sum) == checksum(contents))?;
        match postcard::take_from_bytes(contents) {
            Ok((value, [])) => Ok(value),
            _ => Err(self.corrupt()),
        }
    }

    /// The error if contents contradict themselves.
    pub(crate) fn corrupt(self) -> Error {
        StreamProblem::Corrupt { what: self.what }.into()
    }

    /// Rejects contents that fail a check.
    pub(crate) fn check(self, is_sound: bool) -> Result<()> {
        if is_sound { Ok(()) } else { Err(self.corrupt()) }
    }
}

/// Returns a hash that identifies contents.
pub(crate) fn fingerprint(contents: &impl Serialize) -> u64 {
    checksum(&written(contents, Vec::new()))
}

fn checksum(contents: &[u8]) -> u64 {
    XxHash64::oneshot(0, contents)
}

fn written(contents: &impl Serialize, to: Vec<u8>) -> Vec<u8> {
    let Ok(bytes) = postcard::to_extend(contents, to) else {
        unreachable!("lists know their lengths, and vectors grow")
    };
    bytes
}

/// Splits bytes into tag, version, length of the contents, and the rest.
fn opened(bytes: &[u8]) -> Option<([u8; 8], u32, u64, &[u8])> {
    let (tag, rest) = bytes.split_first_chunk()?;
    let (version, rest) = rest.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    Some((*tag, u32::from_le_bytes(*version), u64::from_le_bytes(*length), rest))
}
