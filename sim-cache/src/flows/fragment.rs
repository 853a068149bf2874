//! Division of a request into memory operations of 16 bytes, cut at 64-byte lines.
//!
//! Decision A11: MEM_ACCESS, L1D_TLB and L1D_CACHE count once per fragment. PMU guide 4.6.10 and
//! 4.6.11 define when an access is split over two cycles.

use sim_core::{LINE_BYTES, VirtAddr};

/// Widest memory operation.
const OPERATION_BYTES: u64 = 16;

/// Part of a request inside one line and one memory operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fragment {
    /// First byte.
    pub(crate) addr: VirtAddr,
    /// Bytes, 1 to 16.
    pub(crate) bytes: u32,
}

impl Fragment {
    /// Returns the bytes inside the line as a mask.
    #[inline]
    pub(crate) fn line_mask(self) -> u64 {
        let ones = if self.bytes >= 64 { u64::MAX } else { (1 << self.bytes) - 1 };
        ones << (self.addr.0 % LINE_BYTES)
    }
}

/// Fragments of one request, in address order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fragments {
    start: u64,
    at: u64,
    left: u64,
}

impl Fragments {
    /// Cuts `bytes` bytes, at least one, starting at `addr`. Addresses wrap around at the top.
    pub(crate) fn of(addr: VirtAddr, bytes: u32) -> Fragments {
        Fragments { start: addr.0, at: addr.0, left: bytes.max(1).into() }
    }
}

impl Iterator for Fragments {
    type Item = Fragment;

    fn next(&mut self) -> Option<Fragment> {
        if self.left == 0 {
            return None;
        }
        let to_operation = OPERATION_BYTES - self.at.wrapping_sub(self.start) % OPERATION_BYTES;
        let to_line = LINE_BYTES - self.at % LINE_BYTES;
        let bytes = self.left.min(to_operation).min(to_line);
        let fragment = Fragment { addr: VirtAddr(self.at), bytes: bytes as u32 };
        self.at = self.at.wrapping_add(bytes);
        self.left -= bytes;
        Some(fragment)
    }
}

/// Returns the memory operations of one request, 16 bytes each, before they are cut at lines: the
/// reads and writes that PMU guide 4.6.9 to 4.6.11 count.
pub(crate) fn operations(addr: VirtAddr, bytes: u32) -> impl Iterator<Item = Fragment> {
    let operation = OPERATION_BYTES as u32;
    (0..bytes.max(1)).step_by(OPERATION_BYTES as usize).map(move |first| Fragment {
        addr: VirtAddr(addr.0.wrapping_add(first.into())),
        bytes: (bytes.max(1) - first).min(operation),
    })
}

/// Returns whether the request is one fragment.
#[inline]
pub(crate) fn is_one_fragment(addr: VirtAddr, bytes: u32) -> bool {
    u64::from(bytes) <= OPERATION_BYTES && addr.0 % LINE_BYTES + u64::from(bytes) <= LINE_BYTES
}

/// Returns whether a load of one fragment takes two cycles: a 128-bit register at an address that
/// is not word aligned.
#[inline]
pub(crate) fn is_misaligned_128(addr: VirtAddr, element_bytes: u32) -> bool {
    u64::from(element_bytes) >= OPERATION_BYTES && !addr.0.is_multiple_of(4)
}

/// Returns whether the bytes lie in two or more blocks of `1 << shift` bytes.
pub(crate) fn spans(addr: VirtAddr, bytes: u32, shift: u32) -> bool {
    let last = addr.0.wrapping_add(u64::from(bytes.max(1)) - 1);
    addr.0 >> shift != last >> shift
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(addr: u64, bytes: u32) -> Vec<(u64, u32)> {
        Fragments::of(VirtAddr(addr), bytes).map(|f| (f.addr.0, f.bytes)).collect()
    }

    #[test]
    fn requests_are_cut_at_lines_and_every_16_bytes() {
        assert_eq!(cut(0x8001, 4), [(0x8001, 4)]);
        assert_eq!(cut(0x803C, 8), [(0x803C, 4), (0x8040, 4)]);
        assert_eq!(cut(0x8000, 32), [(0x8000, 16), (0x8010, 16)]);
        assert_eq!(cut(0x8038, 32), [(0x8038, 8), (0x8040, 8), (0x8048, 16)]);
        assert_eq!(cut(0x8000, 64).len(), 4);
        assert_eq!(cut(0x8000, 0), [(0x8000, 1)]);
        assert_eq!(cut(u64::MAX - 3, 8), [(u64::MAX - 3, 4), (0, 4)]);
    }

    #[test]
    fn a_mask_has_the_bytes_of_the_fragment() {
        let fragment = Fragment { addr: VirtAddr(0x803C), bytes: 4 };
        assert_eq!(fragment.line_mask(), 0xF << 60);
    }
}
