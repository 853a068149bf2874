//! Unpacks zstd frames: with the C library, or with a decoder in Rust on targets without one.

use std::io;

#[cfg(unix)]
pub(crate) use library::Unpacker;
#[cfg(not(unix))]
pub(crate) use portable::Unpacker;

#[cfg(unix)]
mod library {
    use std::io::{self, Read};

    /// Unpacks frames with the C library. Reuses its state from frame to frame.
    pub(crate) struct Unpacker(zstd::bulk::Decompressor<'static>);

    impl Unpacker {
        /// Reserves the state.
        pub(crate) fn new() -> io::Result<Unpacker> {
            Ok(Unpacker(zstd::bulk::Decompressor::new()?))
        }

        /// Unpacks `frame` into `out`. Returns the number of bytes, or an error if they do not fit.
        pub(crate) fn unpack(&mut self, frame: &[u8], out: &mut [u8]) -> io::Result<usize> {
            self.0.decompress_to_buffer(frame, out)
        }
    }

    /// Unpacks a long frame. Memory grows with the data, up to `most` bytes.
    pub(crate) fn unpack_long(frame: &[u8], out: &mut Vec<u8>, most: u64) -> io::Result<usize> {
        zstd::stream::read::Decoder::with_buffer(frame)?.take(most).read_to_end(out)
    }
}

#[cfg(any(test, not(unix)))]
mod portable {
    use std::io::{self, Read};

    use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

    /// Unpacks frames without a C library. Reuses its state from frame to frame.
    pub(crate) struct Unpacker(FrameDecoder);

    impl Unpacker {
        /// Reserves the state.
        pub(crate) fn new() -> io::Result<Unpacker> {
            Ok(Unpacker(FrameDecoder::new()))
        }

        /// Unpacks `frame` into `out`. Returns the number of bytes, or an error if they do not fit.
        pub(crate) fn unpack(&mut self, frame: &[u8], out: &mut [u8]) -> io::Result<usize> {
            self.0.decode_all(frame, out).map_err(io::Error::other)
        }
    }

    /// Unpacks a long frame. Memory grows with the data, up to `most` bytes.
    pub(crate) fn unpack_long(frame: &[u8], out: &mut Vec<u8>, most: u64) -> io::Result<usize> {
        let decoder = StreamingDecoder::new(frame).map_err(io::Error::other)?;
        decoder.take(most).read_to_end(out)
    }
}

/// Returns the size of the largest frame of `plain` bytes, in bytes.
pub(crate) fn largest(plain: usize) -> usize {
    // As the C library bounds it: a byte of 256, and a little for short frames.
    const SHORT: usize = 128 << 10;
    plain + (plain >> 8) + (SHORT.saturating_sub(plain) >> 11)
}

/// Unpacks a long frame into `out`. Memory grows with the data, up to `most` bytes.
pub(crate) fn unpack_long(frame: &[u8], out: &mut Vec<u8>, most: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return library::unpack_long(frame, out, most);
    #[cfg(not(unix))]
    return portable::unpack_long(frame, out, most);
}

#[cfg(test)]
mod tests {
    use super::{library, portable};

    /// Both decoders agree on frames of all kinds of content, and on damaged ones.
    #[test]
    fn decoders_agree() {
        let mut packer = zstd::bulk::Compressor::new(19).expect("memory");
        for (seed, length) in [(1, 0_usize), (2, 1), (3, 1000), (4, 70_000), (5, 400_000)] {
            let raw: Vec<u8> =
                (0..length).map(|i| ((i as u64 * seed) >> (i as u64 / 3000 % 7)) as u8).collect();
            let mut frame = packer.compress(&raw).expect("memory");
            assert_eq!(super::largest(length), zstd::zstd_safe::compress_bound(length));
            for damaged in [false, true] {
                if damaged {
                    frame.truncate(frame.len() * 2 / 3);
                }
                let (mut a, mut b) = (vec![0; length], vec![0; length]);
                let first = library::Unpacker::new().expect("memory").unpack(&frame, &mut a);
                let second = portable::Unpacker::new().expect("memory").unpack(&frame, &mut b);
                assert_eq!(first.ok(), second.ok(), "{length} bytes");
                let (mut long, mut other) = (Vec::new(), Vec::new());
                let first = library::unpack_long(&frame, &mut long, length as u64 + 1).ok();
                let second = portable::unpack_long(&frame, &mut other, length as u64 + 1).ok();
                assert_eq!(first, second, "{length} bytes");
                assert!(damaged || (a == raw && b == raw && long == raw && other == raw));
            }
        }
    }
}
