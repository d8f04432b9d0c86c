//! Ordered parallel maps. All threading is in this module.
//!
//! Work is split into tasks by size, never by thread count, and results are returned in task order. So every sum and
//! every subset is the same for any number of threads.

use std::iter::Sum;

/// The number of threads in the current pool.
pub(crate) fn threads() -> usize {
    #[cfg(feature = "parallel")]
    return rayon::current_num_threads();
    #[cfg(not(feature = "parallel"))]
    1
}

/// The results of `task(0), …, task(count − 1)`, in that order.
#[cfg(feature = "parallel")]
pub(crate) fn map_ordered<T: Send>(count: usize, task: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    use rayon::prelude::*;
    // A single task does not need another thread.
    if count == 1 {
        return vec![task(0)];
    }
    (0..count).into_par_iter().map(task).collect()
}

/// The results of `task(0), …, task(count − 1)`, in that order.
#[cfg(not(feature = "parallel"))]
pub(crate) fn map_ordered<T: Send>(count: usize, task: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    (0..count).map(task).collect()
}

/// The results of `task(0, part₀), task(1, part₁), …`, in that order; each task owns its part.
#[cfg(feature = "parallel")]
pub(crate) fn map_ordered_mut<P: Send, T: Send>(
    parts: Vec<P>,
    task: impl Fn(usize, P) -> T + Sync + Send,
) -> Vec<T> {
    use rayon::prelude::*;
    // A single task does not need another thread.
    if parts.len() == 1 {
        return parts.into_iter().enumerate().map(|(index, part)| task(index, part)).collect();
    }
    parts.into_par_iter().enumerate().map(|(index, part)| task(index, part)).collect()
}

/// The results of `task(0, part₀), task(1, part₁), …`, in that order; each task owns its part.
#[cfg(not(feature = "parallel"))]
pub(crate) fn map_ordered_mut<P: Send, T: Send>(
    parts: Vec<P>,
    task: impl Fn(usize, P) -> T + Sync + Send,
) -> Vec<T> {
    parts.into_iter().enumerate().map(|(index, part)| task(index, part)).collect()
}

/// The results of `each(0), …, each(count − 1)`, in that order, for calls too short to be separate tasks.
pub(crate) fn map_in_tasks<T: Send>(count: usize, each: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    #[cfg(feature = "parallel")]
    {
        use rayon::prelude::*;
        const TASK: usize = 512;
        if count > TASK {
            return (0..count).into_par_iter().with_min_len(TASK).map(each).collect();
        }
    }
    (0..count).map(each).collect()
}

/// The sum of `of(0), …, of(count − 1)`, block by block.
pub(crate) fn sum_in_blocks<T: Send + Sum>(count: usize, of: impl Fn(usize) -> T + Sync + Send) -> T {
    const BLOCK: usize = 1 << 16;
    let sum = |block: usize| (block * BLOCK..count.min((block + 1) * BLOCK)).map(&of).sum::<T>();
    map_ordered(count.div_ceil(BLOCK), sum).into_iter().sum()
}

/// Passes the results of `task(0), …, task(count − 1)` to `sink` in that order. At most `wave` results are in memory.
pub(crate) fn fold_ordered<T: Send>(
    count: usize,
    wave: usize,
    task: impl Fn(usize) -> T + Sync + Send,
    mut sink: impl FnMut(usize, T),
) {
    let mut start = 0;
    while start < count {
        let len = wave.min(count - start);
        for (offset, result) in map_ordered(len, |i| task(start + i)).into_iter().enumerate() {
            sink(start + offset, result);
        }
        start += len;
    }
}
