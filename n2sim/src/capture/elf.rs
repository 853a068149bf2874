//! Generates small AArch64 programs without a compiler: ELF files of one segment.

/// Bytes of the two headers. The content of the file follows them and begins with its entry.
pub(crate) const HEADERS: u64 = 64 + 56;
/// The segment can be read and executed.
pub(crate) const READ_EXECUTE: u64 = 5;
/// The segment can be written too.
pub(crate) const ALL: u64 = 7;

/// Returns the file of a program that is loaded at `base` as a whole, with the permissions
/// `access`.
pub(crate) fn program(base: u64, access: u64, content: &[u8]) -> Vec<u8> {
    let size = HEADERS + content.len() as u64;
    let mut elf = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    for (bytes, value) in [
        (2, 2),   // executable
        (2, 183), // AArch64
        (4, 1),
        (8, base + HEADERS), // entry
        (8, 64),             // program headers
        (8, 0),
        (4, 0),
        (2, 64),
        (2, 56),
        (2, 1),
        (2, 64),
        (2, 0),
        (2, 0),
        // The program header: load all of the file.
        (4, 1),
        (4, access),
        (8, 0),
        (8, base),
        (8, base),
        (8, size),
        (8, size),
        (8, 0x1000),
    ] {
        elf.extend_from_slice(&u64::to_le_bytes(value)[..bytes]);
    }
    elf.extend_from_slice(content);
    elf
}

/// Returns the bytes of words.
pub(crate) fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
