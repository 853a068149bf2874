//! Fuzzes traces: opens, recovers, reads, verifies and prints them. Nothing may panic, hang or take
//! much memory.
//!
//! Run: `cargo xtask fuzz n2t_reader`

#![no_main]

use std::io::Cursor;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use sim_trace::{TraceFile, dump, info, verify_file};

#[path = "../seal.rs"]
mod seal;

fuzz_target!(|data: &[u8]| {
    // The first byte selects whether checksums are corrected, without which the fuzzer would not
    // get past them.
    let Some((&choice, bytes)) = data.split_first() else { return };
    let mut bytes = bytes.to_vec();
    if choice & 1 == 1 {
        seal::reseal(&mut bytes);
    }
    let path = Path::new("fuzz.n2t");
    if let Ok(file) = TraceFile::from_reader(Cursor::new(&bytes[..]), path) {
        read_all(&file);
    }
    match TraceFile::recover_from_reader(Cursor::new(&bytes[..]), path) {
        Ok((file, damage)) => {
            read_all(&file);
            damage.map(|damage| damage.to_string());
        }
        Err(error) => drop(error.to_string()),
    }
});

fn read_all(file: &TraceFile<Cursor<&[u8]>>) {
    let report = verify_file(file).expect("reading from memory cannot fail");
    assert!(!report.faults.is_empty() || report.instructions == file.instructions());
    assert!(!info(file).to_string().is_empty());
    for info in file.streams() {
        let mut out = Vec::new();
        let _ = dump(file, info.stream, 0..50, &|_, _| String::new(), &mut out);
    }
}
