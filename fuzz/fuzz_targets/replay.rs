//! Fuzzes replays of traces with corrected checksums and a small memory budget. Nothing may panic
//! or hang, and a trace beyond the budget is refused with a message.
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

/// Memory limit for code, readers and cores of an input, in bytes.
const BUDGET: u64 = 64 << 20;
/// Largest number of instructions of each thread to run.
const LIMIT: u64 = 20_000;

/// Configuration of a machine with a small system level cache, which is built for each input.
static CONFIG: LazyLock<MachineConfig> = LazyLock::new(|| {
    let ours = Document::from_embedded(Profile::Guide.file_name(), &EMBEDDED).expect("ours");
    let small = ["memory.slc.slice-bytes=65536", "memory.snoop-filter.slice-lines=512"];
    let small = small.into_iter().fold(ours, |ours, set| ours.set(set).expect("a smaller machine"));
    MachineConfig::from_document(&small).expect("a machine")
});

#[path = "../seal.rs"]
mod seal;

fuzz_target!(|data: &[u8]| {
    // The first byte selects how much of the machine runs.
    let Some((&choice, bytes)) = data.split_first() else { return };
    let mut bytes = bytes.to_vec();
    seal::reseal(&mut bytes);
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
    assert_eq!(budget.used(), 0, "all memory is released");
});
