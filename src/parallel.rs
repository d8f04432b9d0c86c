//! Ordered parallel maps. All threading is in this module.
//!
//! Work is split into tasks by size, never by thread count, and results are returned in task order. So every sum and
//! every subset is the same for any number of threads.

use std::{
    iter::Sum,
    sync::{Mutex, PoisonError},
};

/// The number of threads in the current pool.
pub(crate) fn threads() -> usize {
    #[cfg(feature = "parallel")]
    return rayon::current_num_threads();
    #[cfg(not(feature = "parallel"))]
    1
}

/// The results of `task(0), …, task(count − 1)`, in that order.
pub(crate) fn map_ordered<T: Send>(count: usize, task: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let results: Vec<_> = (0..count).map(|_| Mutex::new(None)).collect();
    run(count, &|index| put(&results[index], task(index)));
    results.iter().map(take).collect()
}

/// The results of `task(0, part₀), task(1, part₁), …`, in that order; each task owns its part.
pub(crate) fn map_ordered_mut<P: Send, T: Send>(
    parts: Vec<P>,
    task: impl Fn(usize, P) -> T + Sync,
) -> Vec<T> {
    let parts: Vec<_> = parts.into_iter().map(|part| Mutex::new(Some(part))).collect();
    map_ordered(parts.len(), |index| task(index, take(&parts[index])))
}

/// Runs `task(0), …, task(count − 1)`. Not generic, so rayon is compiled once and not for every task.
fn run(count: usize, task: &(dyn Fn(usize) + Sync)) {
    // A single task does not need another thread.
    #[cfg(feature = "parallel")]
    if count > 1 {
        use rayon::prelude::*;
        return (0..count).into_par_iter().for_each(task);
    }
    (0..count).for_each(task);
}

fn put<T>(place: &Mutex<Option<T>>, value: T) {
    *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
}

/// Takes the value that was put here.
fn take<T>(place: &Mutex<Option<T>>) -> T {
    let value = place.lock().unwrap_or_else(PoisonError::into_inner).take();
    value.unwrap_or_else(|| unreachable!("every place is filled before it is emptied"))
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
