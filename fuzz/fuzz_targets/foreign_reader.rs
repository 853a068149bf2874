//! Fuzzes traces of other tools, compressed or not. The format is recognized, or selected by the
//! first byte. Nothing may panic, hang or take much memory, and the imported trace must be valid.
//!
//! Run: `cargo xtask fuzz foreign_reader`

#![no_main]

use std::io::Cursor;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use sim_trace::foreign::{Format, ImportOptions, import_bytes};
use sim_trace::{TraceFile, verify_file};

/// Largest number of instructions to read. Compressed bytes may expand to millions.
const LIMIT: u64 = 20_000;

fuzz_target!(|data: &[u8]| {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let from = Format::ALL.get(usize::from(choice & 0x7f)).copied();
    // Texts without words take the words of this program: the input bytes, so that addresses have
    // some.
    let elf = (choice & 0x80 != 0).then(|| elf_of(bytes));
    let options = ImportOptions { from, limit: Some(LIMIT), ..ImportOptions::default() };
    match import_bytes(bytes, elf.as_deref(), &options) {
        Ok((imported, trace)) => {
            let path = Path::new("fuzz.n2t");
            let file =
                TraceFile::from_reader(Cursor::new(&trace[..]), path).expect("what we wrote");
            assert_eq!(file.instructions(), imported.summary.instructions);
            assert!(verify_file(&file).expect("reading from memory cannot fail").faults.is_empty());
        }
        Err(error) => drop(error.to_string()),
    }
});

/// Returns a program of one segment at 0x400000 with `bytes` as its code.
fn elf_of(bytes: &[u8]) -> Vec<u8> {
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\xb7\0\x01\0\0\0".to_vec();
    for number in [0x40_0000u64, 64, 0] {
        file.extend(number.to_le_bytes());
    }
    file.extend([0, 0, 0, 0, 64, 0, 56, 0, 1, 0, 64, 0, 0, 0, 0, 0]);
    file.extend([1, 0, 0, 0, 5, 0, 0, 0]);
    let length = bytes.len() as u64;
    for number in [120, 0x40_0000, 0x40_0000, length, length, 1] {
        file.extend(number.to_le_bytes());
    }
    file.extend(bytes);
    file
}
