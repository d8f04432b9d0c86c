//! Memory-mapped slices, and the unsafe code that they need.

use std::{fs::File, io, marker::PhantomData, sync::Arc};

use memmap2::Mmap;

use super::values::Scalar;

/// A typed window into a memory-mapped file.
#[derive(Debug)]
pub(crate) struct Mapped<T> {
    map: Arc<Mmap>,
    offset: usize,
    len: usize,
    element: PhantomData<T>,
}

impl<T> Clone for Mapped<T> {
    fn clone(&self) -> Self {
        Self { map: Arc::clone(&self.map), ..*self }
    }
}

/// Maps a file for reading.
#[expect(unsafe_code, reason = "memory-mapping a file is unsafe by nature")]
pub(crate) fn map_file(file: &File) -> io::Result<Arc<Mmap>> {
    // SAFETY: the map is private to this crate and only ever read. The documentation of `Features::open_npy` requires
    // that the file is not truncated or rewritten while it is mapped. Every memory-mapped reader has this
    // requirement: the operating system offers no way to enforce it.
    Ok(Arc::new(unsafe { Mmap::map(file) }?))
}

impl<T: Scalar> Mapped<T> {
    /// `len` elements from byte `offset`; `None` if they are out of range or misaligned.
    pub(crate) fn new(map: Arc<Mmap>, offset: usize, len: usize) -> Option<Self> {
        let bytes = map.get(offset..offset.checked_add(len.checked_mul(size_of::<T>())?)?)?;
        bytemuck::try_cast_slice::<u8, T>(bytes).ok()?;
        Some(Self { map, offset, len, element: PhantomData })
    }

    pub(crate) fn as_slice(&self) -> &[T] {
        let end = self.offset + self.len * size_of::<T>();
        bytemuck::cast_slice(&self.map[self.offset..end])
    }
}
