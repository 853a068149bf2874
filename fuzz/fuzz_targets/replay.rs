//! Any bytes as a trace that is replayed, checksums put right, in an account of little memory. Nothing may panic or
//! hang, and what does not fit the account is refused in one sentence.
//!
//! Run: `cargo xtask fuzz replay`

#![no_main]

use std::io::Write;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use sim_core::MemoryBudget;
use sim_core::config::Document;
use sim_machine::config::EMBEDDED;
use sim_machine::{MachineConfig, Mode, Profile, RunHeader, RunOptions, Session};
use xxhash_rust::xxh3::xxh3_64;

/// Bytes that code, readers and cores of an input may take.
const BUDGET: u64 = 64 << 20;
/// Instructions of each thread that run.
const LIMIT: u64 = 20_000;

/// A machine with a small system level cache, made anew for each input.
static CONFIG: LazyLock<MachineConfig> = LazyLock::new(|| {
    let ours = Document::from_embedded(Profile::Guide.file_name(), &EMBEDDED).expect("ours");
    let small = ["memory.slc.slice-bytes=65536", "memory.snoop-filter.slice-lines=512"];
    let small = small.into_iter().fold(ours, |ours, set| ours.set(set).expect("a smaller machine"));
    MachineConfig::from_document(&small).expect("a machine")
});

fuzz_target!(|data: &[u8]| {
    // The first byte chooses how much of the machine runs.
    let Some((&choice, bytes)) = data.split_first() else { return };
    let mut bytes = bytes.to_vec();
    reseal(&mut bytes);
    let Ok(mut file) = tempfile::NamedTempFile::new() else { return };
    if file.write_all(&bytes).is_err() {
        return;
    }
    let budget = MemoryBudget::new(BUDGET);
    let config = CONFIG.clone();
    let opened = Session::open_within(file.path(), config, RunHeader::default(), &budget);
    let session = match opened {
        Ok(session) => {
            session.in_mode([Mode::Full, Mode::Memory, Mode::Frontend][usize::from(choice % 3)])
        }
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let options = RunOptions { limit: Some(LIMIT), ..RunOptions::default() };
    match session.run(&options, &mut |_| {}) {
        Ok(outcome) => assert!(!outcome.cores.is_empty()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    drop(session);
    assert_eq!(budget.used(), 0, "all memory is given back");
});

/// Puts all checksums right, as far as the headers lead from chunk to chunk.
fn reseal(bytes: &mut [u8]) {
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
