//! Correction of the checksums of a changed trace, without which a fuzzer would not get past them.

use xxhash_rust::xxh3::xxh3_64;

/// Corrects all checksums, as far as the headers lead from chunk to chunk.
pub(crate) fn reseal(bytes: &mut [u8]) {
    seal_header(bytes, 0);
    let mut at = 64;
    while bytes.len() >= at + 64 {
        let length = u32::from_le_bytes([16, 17, 18, 19].map(|i| bytes[at + i])) as usize;
        let end = bytes.len().min(at + 64 + length);
        let hash = xxh3_64(&bytes[at + 64..end]);
        bytes[at + 48..at + 56].copy_from_slice(&hash.to_le_bytes());
        seal_header(bytes, at);
        at = end;
    }
}

fn seal_header(bytes: &mut [u8], at: usize) {
    if bytes.len() >= at + 64 {
        let hash = xxh3_64(&bytes[at..at + 56]);
        bytes[at + 56..at + 64].copy_from_slice(&hash.to_le_bytes());
    }
}
