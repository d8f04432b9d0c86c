//! Room for features that are read: zeros until they are filled in.

use std::{io, marker::PhantomData, sync::Arc};

use arrow_array::{ArrowPrimitiveType, FixedSizeListArray, PrimitiveArray, types};
use arrow_buffer::{ArrowNativeType, Buffer, ScalarBuffer};
use arrow_schema::Field;
use bytes::Bytes;
use half::f16;
use memmap2::MmapMut;
use partition_dpp::{Features, data::Scalar};

/// A type of features, and Arrow's name for it.
pub(super) trait Feature: Scalar + ArrowNativeType {
    type Arrow: ArrowPrimitiveType<Native = Self>;
}

impl Feature for f16 {
    type Arrow = types::Float16Type;
}

impl Feature for f32 {
    type Arrow = types::Float32Type;
}

impl Feature for f64 {
    type Arrow = types::Float64Type;
}

/// A matrix in memory of its own, in large pages where the system has them: clearing memory in small ones takes as long
/// as decompressing a file.
pub(super) struct Matrix<T> {
    rows: usize,
    dims: usize,
    memory: MmapMut,
    values: PhantomData<T>,
}

impl<T: Feature> Matrix<T> {
    /// # Errors
    /// If there is not so much memory.
    pub(super) fn zeros(rows: usize, dims: usize) -> io::Result<Self> {
        let bytes = rows.checked_mul(dims).and_then(|count| count.checked_mul(size_of::<T>()));
        let memory = MmapMut::map_anon(bytes.ok_or(io::ErrorKind::OutOfMemory)?)?;
        // Advice that is not taken costs time only.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        Ok(Self { rows, dims, memory, values: PhantomData })
    }

    pub(super) fn values_mut(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.memory)
    }

    /// The features, without a copy.
    pub(super) fn into_features(self) -> partition_dpp::Result<Features> {
        let count = self.rows * self.dims;
        let buffer = Buffer::from(Bytes::from_owner(self.memory));
        let values = PrimitiveArray::<T::Arrow>::new(ScalarBuffer::new(buffer, 0, count), None);
        let field = Field::new("features", T::Arrow::DATA_TYPE, false);
        let dims = i32::try_from(self.dims).unwrap_or(i32::MAX);
        Features::from_arrow(&FixedSizeListArray::new(Arc::new(field), dims, Arc::new(values), None))
    }
}
