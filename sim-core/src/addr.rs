//! Virtual, physical and line addresses. Conversions require an explicit shift.

/// log2 of the cache line size. Source: PMU guide 3.2.6.
pub const LINE_SHIFT: u32 = 6;
/// Bytes of a cache line.
pub const LINE_BYTES: u64 = 1 << LINE_SHIFT;

/// A virtual byte address; the top byte (tag) is already removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VirtAddr(pub u64);

/// A physical byte address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PhysAddr(pub u64);

/// A physical address without its offset in the 64-byte line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineAddr(pub u64);

impl VirtAddr {
    /// Returns the page number for pages of `1 << page_shift` bytes.
    #[inline]
    pub fn page(self, page_shift: u32) -> u64 {
        self.0 >> page_shift
    }

    /// Returns the virtual number of the 64-byte line.
    #[inline]
    pub fn line(self) -> u64 {
        self.0 >> LINE_SHIFT
    }
}

impl PhysAddr {
    /// Returns the line that holds the byte.
    #[inline]
    pub fn line(self) -> LineAddr {
        LineAddr(self.0 >> LINE_SHIFT)
    }
}

impl LineAddr {
    /// Returns the address of the first byte of the line.
    #[inline]
    pub fn base(self) -> PhysAddr {
        PhysAddr(self.0 << LINE_SHIFT)
    }
}
