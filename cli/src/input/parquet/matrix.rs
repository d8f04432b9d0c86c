//! Room for features that are read: zeros until they are filled in.

use std::{io, marker::PhantomData};

use bytemuck::Pod;
use memmap2::MmapMut;
use partition_dpp::{
    Features,
    data::{Scalar, Storage},
};

/// A matrix in separate memory, in large pages if the system has them: clearing memory in small pages takes as long as
/// decompressing a file.
pub(super) struct Matrix<T> {
    rows: usize,
    dims: usize,
    memory: MmapMut,
    values: PhantomData<T>,
}

impl<T: Scalar> Matrix<T> {
    /// # Errors
    /// If there is not enough memory.
    pub(super) fn zeros(rows: usize, dims: usize) -> io::Result<Self> {
        let bytes = rows.checked_mul(dims).and_then(|count| count.checked_mul(size_of::<T>()));
        let memory = MmapMut::map_anon(bytes.ok_or(io::ErrorKind::OutOfMemory)?)?;
        // If the advice is ignored, it costs only time.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        Ok(Self { rows, dims, memory, values: PhantomData })
    }

    pub(super) fn values_mut(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.memory)
    }

    /// The features, without a copy.
    pub(super) fn into_features(self) -> partition_dpp::Result<Features> {
        Features::from_rows(self.rows, self.dims, Storage::shared(self))
    }
}

impl<T: Pod> AsRef<[T]> for Matrix<T> {
    fn as_ref(&self) -> &[T] {
        bytemuck::cast_slice(&self.memory)
    }
}
