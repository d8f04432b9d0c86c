//! Checks of the levels of a page, which say where lists begin and what is missing, without unpacking them.
//!
//! Levels are stored in runs, of equal levels or of packed bits:
//! <https://parquet.apache.org/docs/file-format/data-pages/encodings/#RLE>

/// Some levels in a row.
enum Run<'a> {
    Equal { level: u8, count: usize },
    Packed { bytes: &'a [u8], count: usize },
}

/// The runs of a number of levels; they end early where the bytes do.
struct Runs<'a> {
    bytes: &'a [u8],
    /// Bits of a level, at most 8.
    width: usize,
    /// Levels still to come.
    left: usize,
}

impl<'a> Iterator for Runs<'a> {
    type Item = Run<'a>;

    fn next(&mut self) -> Option<Run<'a>> {
        if self.left == 0 {
            return None;
        }
        let header = self.header()?;
        let run = if header & 1 == 0 {
            let count = self.left.min(header >> 1);
            let (&level, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            Run::Equal { level, count }
        } else {
            let groups = header >> 1;
            // The last run is filled up to whole bytes, and some writers leave these out.
            let stored = groups.checked_mul(self.width)?.min(self.bytes.len());
            let (bytes, rest) = self.bytes.split_at(stored);
            self.bytes = rest;
            Run::Packed { bytes, count: self.left.min(stored * 8 / self.width) }
        };
        let (Run::Equal { count, .. } | Run::Packed { count, .. }) = run;
        self.left -= count;
        (count > 0).then_some(run)
    }
}

impl Runs<'_> {
    /// A number in groups of seven bits, the lowest first.
    fn header(&mut self) -> Option<usize> {
        let (mut header, mut shift) = (0, 0);
        loop {
            let (&byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            header |= usize::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(header);
            }
            shift += 7;
        }
    }
}

/// Whether there are this many levels, all equal to the highest that there can be.
pub(super) fn are_all(bytes: &[u8], highest: i16, count: usize) -> bool {
    let Some(wanted) = u8::try_from(highest).ok().filter(|&level| level > 0) else { return false };
    let width = wanted.ilog2() as usize + 1;
    let mut runs = Runs { bytes, width, left: count };
    let is_all = |run: Run<'_>| match run {
        Run::Equal { level, .. } => level == wanted,
        Run::Packed { bytes, count } => (0..count).all(|at| packed(bytes, width, at) == wanted),
    };
    runs.by_ref().all(is_all) && runs.left == 0
}

/// Whether there are this many levels, and lists of `dims` values each, of which `before` values came earlier.
pub(super) fn are_rows(bytes: &[u8], count: usize, dims: usize, before: usize) -> bool {
    let mut runs = Runs { bytes, width: 1, left: count };
    let mut at = before % dims;
    let is_row = |run: Run<'_>| {
        let (is_row, count) = match run {
            // Ones go on to the end of the row at most.
            Run::Equal { level: 1, count } => (at > 0 && count <= dims - at, count),
            Run::Equal { count, .. } => (at == 0 && (count == 1 || dims == 1), count),
            Run::Packed { bytes, count } => (are_packed_rows(bytes, count, dims, at), count),
        };
        at = (at + count) % dims;
        is_row
    };
    runs.by_ref().all(is_row) && runs.left == 0
}

fn are_packed_rows(bytes: &[u8], count: usize, dims: usize, mut at: usize) -> bool {
    let whole_bytes = count / 8;
    bytes[..count.div_ceil(8)].iter().enumerate().all(|(byte, &levels)| {
        let is_row = if byte < whole_bytes && at + 8 <= dims {
            levels == if at == 0 { 0xfe } else { 0xff }
        } else {
            let bits = if byte < whole_bytes { 8 } else { count % 8 };
            (0..bits).all(|bit| (levels >> bit & 1 == 0) == (at + bit).is_multiple_of(dims))
        };
        at = (at + 8) % dims;
        is_row
    })
}

/// One of some packed levels.
fn packed(bytes: &[u8], width: usize, at: usize) -> u8 {
    let bit = at * width;
    let pair = [bytes[bit / 8], bytes.get(bit / 8 + 1).copied().unwrap_or(0)];
    let mask = (1_u16 << width) - 1;
    #[expect(clippy::cast_possible_truncation, reason = "a level has at most 8 bits")]
    let level = (u16::from_le_bytes(pair) >> (bit % 8) & mask) as u8;
    level
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Levels in the runs that writers make: equal ones where eight or more follow one another.
    fn stored(levels: &[u8], width: usize) -> Vec<u8> {
        let (mut bytes, mut at) = (Vec::new(), 0);
        while at < levels.len() {
            let equal = levels[at..].iter().take_while(|level| **level == levels[at]).count();
            if equal >= 8 {
                // Seven bits, and those above.
                let header = [equal << 1 & 0x7f | 0x80, equal << 1 >> 7];
                bytes.extend(header.map(|byte| u8::try_from(byte).unwrap()));
                bytes.push(levels[at]);
                at += equal;
            } else {
                let mut group = 0_u64;
                let own = &levels[at..levels.len().min(at + 8)];
                own.iter().enumerate().for_each(|(i, &level)| group |= u64::from(level) << (i * width));
                bytes.push(0b11);
                bytes.extend(&group.to_le_bytes()[..width]);
                at += 8;
            }
        }
        bytes
    }

    #[test]
    fn rows_are_told_from_other_lists() {
        for dims in [1, 2, 3, 7, 8, 9, 16, 17, 64, 300] {
            for before in [0, 1, dims / 2, dims - 1] {
                let count = 5 * dims + 3;
                let levels: Vec<u8> = (0..count).map(|at| u8::from((before + at) % dims > 0)).collect();
                let bytes = stored(&levels, 1);
                assert!(are_rows(&bytes, count, dims, before), "{dims} {before}");
                assert!(!are_rows(&bytes[..bytes.len() - 2], count, dims, before), "too short");
                assert!(!are_rows(&bytes, count + 16, dims, before), "too few");
                assert!(dims == 1 || !are_rows(&bytes, count, dims, before + 1), "shifted");
                for wrong in 0..count {
                    let mut levels = levels.clone();
                    levels[wrong] ^= 1;
                    assert!(!are_rows(&stored(&levels, 1), count, dims, before), "{dims} {before} {wrong}");
                }
            }
        }
    }

    #[test]
    fn levels_below_the_highest_are_noticed() {
        for (highest, width) in [(1, 1), (2, 2), (3, 2), (5, 3)] {
            let levels = vec![highest; 45];
            let whole = i16::from(highest);
            let packed: Vec<u8> = levels.chunks(5).flat_map(|part| stored(part, width)).collect();
            assert!(are_all(&stored(&levels, width), whole, 45));
            assert!(!are_all(&stored(&levels, width), whole, 46), "too few");
            assert!(!are_all(&packed, whole, 45), "filled up with zeros");
            for wrong in 0..45 {
                let mut levels = levels.clone();
                levels[wrong] -= 1;
                assert!(!are_all(&stored(&levels, width), whole, 45), "{highest} {wrong}");
            }
            let few = stored(&levels[..5], width);
            assert!(are_all(&few, whole, 5), "filled up");
        }
        assert!(!are_all(&[0x80; 12], 3, 5) && !are_all(&[], 3, 5) && !are_all(&[0, 3], 3, 5));
        assert!(!are_all(&[0xff; 12], 3, 5));
    }
}
