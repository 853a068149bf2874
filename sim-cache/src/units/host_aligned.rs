//! Arrays that begin at a cache line of the host, so that a set no larger than a line touches one
//! line. A clone holds the same values and may begin at another offset.

use std::ops::{Deref, DerefMut, Index, IndexMut};

/// Bytes of a cache line of most hosts.
const HOST_LINE_BYTES: usize = 64;

/// Fixed-size array of values.
#[derive(Clone, Debug)]
pub(crate) struct Aligned<T> {
    /// Values; those before `first` are unused.
    values: Vec<T>,
    first: usize,
}

impl<T: Copy + Default> Aligned<T> {
    /// Creates an array of default values. Zeroes cost no time before their use, because the
    /// allocator provides zeroed memory.
    pub(crate) fn new(len: usize) -> Aligned<T> {
        let spare = HOST_LINE_BYTES / size_of::<T>();
        let mut values = vec![T::default(); len + spare];
        let first = values.as_ptr().align_offset(HOST_LINE_BYTES).min(spare);
        values.truncate(first + len);
        Aligned { values, first }
    }
}

impl<T> Aligned<T> {
    /// Returns `len` values starting at `from`.
    #[inline(always)]
    pub(crate) fn part(&self, from: usize, len: usize) -> &[T] {
        &self.values[self.first + from..][..len]
    }
}

/// Index without the second bounds check that a slice of the rest would need.
impl<T> Index<usize> for Aligned<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, index: usize) -> &T {
        &self.values[self.first + index]
    }
}

impl<T> IndexMut<usize> for Aligned<T> {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut T {
        &mut self.values[self.first + index]
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.values[self.first..]
    }
}

impl<T> DerefMut for Aligned<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.values[self.first..]
    }
}
