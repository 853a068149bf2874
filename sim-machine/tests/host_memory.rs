//! Host memory grows with the running threads and is bounded.

#![allow(missing_docs)]

use std::path::Path;

use sim_core::MemoryBudget;
use sim_core::config::Document;
use sim_machine::config::EMBEDDED;
use sim_machine::{MachineConfig, MachineError, Outcome, Profile, RunHeader, RunOptions, Session};
use sim_trace::{Meta, TraceWriter};

const NOP: u32 = 0xd503_201f;
/// Memory for a few cores.
const BUDGET: u64 = 12 << 20;

/// Writes a trace of `threads` threads that run `length` instructions each and never wait.
fn trace(path: &Path, threads: u32, length: u16) {
    let mut writer = TraceWriter::create(path, Meta::default()).expect("a folder");
    let words = vec![NOP; usize::from(length)];
    let block = writer.define_block(0x40_0000, &words).expect("a block");
    for stream in 0..threads {
        writer.push_block(stream, block, length, &[], None).expect("room");
    }
    writer.finish().expect("room");
}

fn run(threads: u32, length: u16, budget: &MemoryBudget) -> Result<Outcome, MachineError> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("threads.n2t");
    trace(&path, threads, length);
    replay(&path, budget)
}

fn replay(path: &Path, budget: &MemoryBudget) -> Result<Outcome, MachineError> {
    let document = Document::from_embedded(Profile::Guide.file_name(), &EMBEDDED).expect("ours");
    let config = MachineConfig::from_document(&document).expect("a machine");
    let session = Session::open_within(path, config, RunHeader::default(), budget)?;
    session.run(&RunOptions::default(), &mut |_| {})
}

/// Returns the lowest limit with which the threads replay one after another, and the message at one
/// byte less.
fn least(threads: u32) -> (u64, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("threads.n2t");
    trace(&path, threads, 1);
    let (mut message, mut refused, mut fits) = (String::new(), 0, 64 << 20);
    while fits - refused > 1 {
        let limit = refused + (fits - refused) / 2;
        match replay(&path, &MemoryBudget::new(limit)) {
            Ok(outcome) => {
                assert_eq!(outcome.cores.len(), threads as usize);
                fits = limit;
            }
            Err(problem) => (refused, message) = (limit, problem.to_string()),
        }
    }
    (fits, message)
}

#[test]
fn the_budget_includes_every_byte_of_ended_threads() {
    let ((few, _), (many, message)) = (least(100), least(300));
    let each = (many - few) / 200;
    assert!((500..3000).contains(&each), "{each} bytes for each thread");
    // The last thread's core fits, but its reader does not. The thread's results are kept once both
    // are released.
    assert!(message.contains("the readers of the threads that run need at least 1."), "{message}");
}

#[test]
fn ended_threads_make_room_for_others() {
    let budget = MemoryBudget::new(BUDGET);
    let outcome = run(2000, 1, &budget).expect("one thread is alive at a time");
    assert_eq!(outcome.cores.len(), 2000);
    assert!(outcome.cores.iter().all(|core| core.is_counted));
    assert_eq!(budget.used(), 0);
}

#[test]
fn more_concurrent_threads_than_fit_are_refused() {
    let budget = MemoryBudget::new(BUDGET);
    let message = run(200, 2000, &budget).expect_err("all are alive at a time").to_string();
    assert!(
        message.contains("the cores of the threads that run at the same time need at least 1"),
        "{message}"
    );
    assert!(message.ends_with("the limit is 12.0 MiB; raise it with --max-memory"), "{message}");
    assert_eq!(budget.used(), 0);
}
