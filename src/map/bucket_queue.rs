//! A priority queue of bounds that only ever fall.

/// Relative width of a bucket: 2⁻⁷.
const MANTISSA_BITS: u32 = 7;
/// Buckets span a factor of 2⁻⁶⁴; what lies below shares the last one.
const BUCKETS: usize = 64 << MANTISSA_BITS;

/// Positions in buckets by the leading bits of their bound. Nothing is sorted inside a bucket: whoever
/// takes one looks at all of it.
#[derive(Debug)]
pub(super) struct BucketQueue {
    /// Key of the topmost bucket.
    first: u64,
    /// From the topmost down.
    buckets: Vec<Vec<u32>>,
    /// No bucket above it holds anything.
    highest: usize,
}

impl BucketQueue {
    /// A queue for bounds of at most `largest`.
    pub(super) fn new(largest: f64) -> Self {
        Self { first: key(largest), buckets: vec![Vec::new(); BUCKETS], highest: 0 }
    }

    /// The bucket of a bound.
    pub(super) fn bucket_of(&self, bound: f64) -> usize {
        let below = self.first.saturating_sub(key(bound));
        usize::try_from(below).map_or(BUCKETS - 1, |below| below.min(BUCKETS - 1))
    }

    pub(super) fn push(&mut self, bucket: usize, position: u32) {
        self.highest = self.highest.min(bucket);
        self.buckets[bucket].push(position);
    }

    /// The topmost bucket from `from` on that holds anything.
    pub(super) fn next(&mut self, from: usize) -> Option<usize> {
        let start = from.max(self.highest);
        let found = (start..BUCKETS).find(|&bucket| !self.buckets[bucket].is_empty());
        if start == self.highest {
            self.highest = found.unwrap_or(BUCKETS - 1);
        }
        found
    }

    /// Empties a bucket.
    pub(super) fn take(&mut self, bucket: usize) -> Vec<u32> {
        std::mem::take(&mut self.buckets[bucket])
    }
}

/// Positive numbers are ordered as their bits; all others come last.
fn key(bound: f64) -> u64 {
    if bound > 0.0 { bound.to_bits() >> (52 - MANTISSA_BITS) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_bounds_come_first() {
        let mut queue = BucketQueue::new(8.0);
        for (position, bound) in [(0, 1.0), (1, 7.9), (2, 1e-30), (3, 0.0), (4, -1e-3), (5, 8.0)] {
            queue.push(queue.bucket_of(bound), position);
        }
        let mut order = Vec::new();
        while let Some(bucket) = queue.next(0) {
            order.extend(queue.take(bucket));
        }
        assert_eq!(order, [5, 1, 0, 2, 3, 4]);
    }
}
