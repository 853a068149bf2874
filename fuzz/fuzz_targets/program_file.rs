//! Fuzzes the program file of a trace: compares its code with the executed code, reads functions
//! and source lines, and imports a trace with its words. Nothing may panic, hang or take much
//! memory.
//!
//! Run: `cargo xtask fuzz program_file`

#![no_main]

use std::io::Cursor;
use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use sim_report::Symbols;
use sim_report::symbols::ProgramFile;
use sim_trace::TraceFile;
use sim_trace::foreign::{Format, ImportOptions, import_bytes};

/// The recorded program, which is also a seed.
const PROGRAM: &[u8] = include_bytes!("../seeds/program_file/with-lines");
/// Executed addresses: `_start`, `sum` with two iterations of its loop, `_start` again.
const EXECUTED: [std::ops::RangeInclusive<u64>; 5] = [
    0x4000e4..=0x4000f0,
    0x4000b0..=0x4000d4,
    0x4000c4..=0x4000d8,
    0x4000f4..=0x4000fc,
    0x400100..=0x400104,
];

static TEXT: LazyLock<String> = LazyLock::new(|| {
    let pcs = EXECUTED.into_iter().flat_map(|range| range.step_by(4));
    pcs.map(|pc| format!("I  {pc:08x},4\n")).collect()
});

static TRACE: LazyLock<Vec<u8>> =
    LazyLock::new(|| imported(PROGRAM).expect("the program of the seeds"));

fn imported(program: &[u8]) -> Result<Vec<u8>, sim_trace::TraceError> {
    let options = ImportOptions { from: Some(Format::Lackey), ..ImportOptions::default() };
    import_bytes(TEXT.as_bytes(), Some(program), &options).map(|(_, trace)| trace)
}

fuzz_target!(|data: &[u8]| {
    let trace = TraceFile::from_reader(Cursor::new(&TRACE[..]), Path::new("fuzz.n2t"))
        .expect("what we wrote");
    let mut symbols = Symbols::from_trace(&trace);
    let added =
        ProgramFile::new("fuzz", data.to_vec(), &trace).and_then(|program| symbols.add(&program));
    if let Err(error) = added {
        assert!(!error.to_string().is_empty());
    }
    for pc in EXECUTED.into_iter().flat_map(|range| range.step_by(4)) {
        assert!(!symbols.name(pc).is_empty());
        let _ = symbols.frames(pc);
    }
    if let Err(error) = imported(data) {
        assert!(!error.to_string().is_empty());
    }
});
