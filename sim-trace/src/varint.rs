//! Variable-length integers. The trailing zero bits of the first byte give the number of bytes that
//! follow. A reader needs one load, one bit count and two shifts instead of a loop.
//!
//! | first byte | total bytes | value bits |
//! |---|---|---|
//! | `xxxxxxx1` | 1 | 7 |
//! | `xxxxxx10` | 2 | 14 |
//! | … | … | … |
//! | `10000000` | 8 | 56 |
//! | `00000000` | 9 | 64, in the eight bytes that follow |
//!
//! Value bits are little-endian above the length mark. Signed values are zigzag-coded first.

/// Largest size of an integer in bytes.
pub(crate) const MAX_VARINT: usize = 9;

/// Number of zero bytes that follow the content of a buffer for [`varint_at`].
pub(crate) const PADDING: usize = 16;

/// Appends `value`.
#[inline]
pub(crate) fn put_varint(out: &mut Vec<u8>, value: u64) {
    let bits = 64 - (value | 1).leading_zeros();
    let length = bits.div_ceil(7);
    if length > 8 {
        out.push(0);
        out.extend_from_slice(&value.to_le_bytes());
        return;
    }
    let word = ((value << 1) | 1) << (length - 1);
    // Eight bytes are one store on the host; fewer would be a call to a copy function.
    let end = out.len() + length as usize;
    out.extend_from_slice(&word.to_le_bytes());
    out.truncate(end);
}

/// Returns the integer at `pos` of a padded buffer and the position after it. Returns `None`
/// outside the buffer.
#[inline(always)]
pub(crate) fn varint_at(padded: &[u8], pos: usize) -> Option<(u64, usize)> {
    let word = u64::from_le_bytes(*padded.get(pos..)?.first_chunk::<8>()?);
    let zeros = word.trailing_zeros();
    if zeros < 8 {
        let length = zeros + 1;
        // Shift the following bytes out at the top, then the length mark out at the bottom.
        let value = (word << (64 - 8 * length)) >> (64 - 8 * length) >> length;
        return Some((value, pos + length as usize));
    }
    let word = u64::from_le_bytes(*padded.get(pos + 1..)?.first_chunk::<8>()?);
    Some((word, pos + MAX_VARINT))
}

/// Encodes a signed value so that small magnitudes of either sign become small numbers.
#[inline(always)]
pub(crate) fn zigzag(value: u64) -> u64 {
    let value = value.cast_signed();
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

/// Decodes a value encoded by [`zigzag`].
#[inline(always)]
pub(crate) fn unzigzag(value: u64) -> u64 {
    (value >> 1) ^ (value & 1).wrapping_neg()
}

/// A cursor over a column without padding. Every read is checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes<'a> {
    rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Bytes<'a> {
        Bytes { rest: bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the number of bytes left.
    pub(crate) fn remaining(&self) -> usize {
        self.rest.len()
    }

    pub(crate) fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.rest.split_at_checked(n)?;
        self.rest = tail;
        Some(head)
    }

    #[inline]
    pub(crate) fn varint(&mut self) -> Option<u64> {
        if let Some((value, length)) = varint_at(self.rest, 0) {
            self.rest = &self.rest[length..];
            return Some(value);
        }
        self.varint_near_end()
    }

    /// Does the work of [`Bytes::varint`] where less than a word is left.
    fn varint_near_end(&mut self) -> Option<u64> {
        let length = self.rest.first()?.trailing_zeros() as usize + 1;
        let bytes = self.take(length)?;
        let mut word = [0; 8];
        if length == MAX_VARINT {
            word.copy_from_slice(&bytes[1..]);
            return Some(u64::from_le_bytes(word));
        }
        word[..length].copy_from_slice(bytes);
        Some(u64::from_le_bytes(word) >> length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns values around every change of length.
    fn edges() -> impl Iterator<Item = u64> {
        (0..64).flat_map(|bit| [(1u64 << bit) - 1, 1 << bit, (1 << bit) + 1]).chain([u64::MAX])
    }

    #[test]
    fn both_readers_return_integers_of_every_length() {
        for value in edges() {
            let mut out = Vec::new();
            put_varint(&mut out, value);
            let length = out.len();
            let mut bytes = Bytes::new(&out);
            assert_eq!(bytes.varint(), Some(value), "{value:#x}");
            assert!(bytes.is_empty());
            out.extend_from_slice(&[0xff; PADDING]);
            assert_eq!(varint_at(&out, 0), Some((value, length)), "{value:#x}");
            let mut bytes = Bytes::new(&out);
            assert_eq!(bytes.varint(), Some(value), "{value:#x}");
            assert_eq!(bytes.remaining(), PADDING, "{value:#x}");
        }
    }

    #[test]
    fn a_truncated_integer_reads_as_none_without_a_panic() {
        for value in edges() {
            let mut out = Vec::new();
            put_varint(&mut out, value);
            out.pop();
            assert_eq!(Bytes::new(&out).varint(), None);
            assert_eq!(varint_at(&out, 0), None);
        }
        assert_eq!(varint_at(&[0; 8], usize::MAX), None);
    }

    #[test]
    fn zigzag_keeps_small_magnitudes_small() {
        for value in edges().chain(edges().map(u64::wrapping_neg)) {
            assert_eq!(unzigzag(zigzag(value)), value);
        }
        assert_eq!([0, u64::MAX, 1, u64::MAX - 1].map(zigzag), [0, 1, 2, 3]);
    }
}
