//! Arrays that begin where a cache line of the host begins, so that a set that fits one touches one. A clone is the same
//! array, and may begin elsewhere.

use std::ops::{Deref, DerefMut, Index, IndexMut};

/// Bytes of a cache line of most hosts.
const HOST_LINE_BYTES: usize = 64;

/// A fixed number of values.
#[derive(Clone, Debug)]
pub(crate) struct Aligned<T> {
    /// What stands before `first` is not used.
    values: Vec<T>,
    first: usize,
}

impl<T: Copy + Default> Aligned<T> {
    /// So many default values. Numbers cost no time before they are used: the allocator knows memory that is 0.
    pub(crate) fn new(len: usize) -> Aligned<T> {
        let spare = HOST_LINE_BYTES / size_of::<T>();
        let mut values = vec![T::default(); len + spare];
        let first = values.as_ptr().align_offset(HOST_LINE_BYTES).min(spare);
        values.truncate(first + len);
        Aligned { values, first }
    }
}

impl<T> Aligned<T> {
    /// So many values from one on.
    #[inline(always)]
    pub(crate) fn part(&self, from: usize, len: usize) -> &[T] {
        &self.values[self.first + from..][..len]
    }
}

/// Without the bound that a slice of the rest would be asked for.
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
