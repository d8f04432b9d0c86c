//! Slates allocate nothing once their workspace has grown, and other draws allocate little.
#![allow(unsafe_code, reason = "an allocator that counts")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

use partition_dpp::{
    CountRange, Engine, Features, Method, Partition, PartitionDpp, Quota,
    slates::{SlateRequest, Slates},
};
use rand::{SeedableRng, rngs::StdRng};

struct Counting;

thread_local! {
    /// Allocations of this thread: tests run side by side.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn allocations() -> u64 {
    ALLOCATIONS.with(Cell::get)
}

// SAFETY: every call goes to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // Allocations of a thread that is ending are not counted.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller upholds the same contract that the system's allocator requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn slates_allocate_nothing_in_the_steady_state() {
    let (items, dims) = (3_000, 48);
    let rows: Vec<f32> = (0..items * dims).map(|at| (0.37 * (at * at % 9973) as f32).sin()).collect();
    let features = Features::from_rows(items, dims, rows).unwrap();
    let partition = Partition::from_labels(&(0..items).map(|item| item % 6).collect::<Vec<_>>()).unwrap();
    let ranges = (0..6).map(|part| CountRange::from(usize::from(part < 2)..=3));
    let quota = Quota::new(&partition, ranges).unwrap().with_total(10).unwrap();
    for window in [usize::MAX, 4] {
        let slates = Slates::new(&features, &partition, &quota).unwrap();
        let slates = slates.with_diversity(0.4).unwrap().with_window(window).unwrap();
        let lists: Vec<Vec<u32>> =
            (0..100).map(|user| (0..200).map(|at| (at * 13 + user * 7) % 3_000).collect()).collect();
        let scores: Vec<f32> = (0..200).map(|at| (at as f32).cos()).collect();
        let mut workspace = slates.workspace();
        let mut rng = StdRng::seed_from_u64(window as u64);
        let mut all = || {
            for list in &lists {
                let request = SlateRequest::of(list).with_scores(&scores).including(&list[..1]);
                assert_eq!(slates.solve(request, &mut workspace).unwrap().items.len(), 10);
                // Rows whose proposals are accepted.
                assert_eq!(slates.sample(request, &mut workspace, &mut rng).unwrap().len(), 10);
            }
        };
        all();
        let before = allocations();
        all();
        assert_eq!(allocations() - before, 0, "window {window}");
    }
}

#[test]
fn draws_allocate_a_few_times() {
    let (items, dims) = (200, 64);
    let rows: Vec<f32> = (0..items * dims).map(|at| (0.37 * (at * at % 9973) as f32).sin()).collect();
    let features = Features::from_rows(items, dims, rows).unwrap();
    let partition = Partition::from_labels(&(0..items).map(|item| item % 8).collect::<Vec<_>>()).unwrap();
    let quota = Quota::new(&partition, [2, 2, 2, 2, 1, 1, 1, 1]).unwrap();
    let dpp = PartitionDpp::new(&features, &partition, &quota).unwrap();
    let sampler = dpp.sampler(Method::Auto, &Engine::cpu()).unwrap();
    let mut rng = StdRng::seed_from_u64(1);
    let mut draw = || (0..100).for_each(|_| drop(sampler.try_sample_counted(&mut rng).unwrap()));
    draw();
    let before = allocations();
    draw();
    let made = allocations() - before;
    assert!(made <= 1_600, "{made} allocations in a hundred draws");
}
