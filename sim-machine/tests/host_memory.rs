//! Memory of the host follows the threads that are alive, and is bounded.

#![allow(missing_docs)]

use std::path::Path;

use sim_core::MemoryBudget;
use sim_core::config::Document;
use sim_machine::config::EMBEDDED;
use sim_machine::{MachineConfig, MachineError, Outcome, Profile, RunHeader, RunOptions, Session};
use sim_trace::{Meta, TraceWriter};

const NOP: u32 = 0xd503_201f;
/// Room for a few cores.
const BUDGET: u64 = 12 << 20;

/// A trace of so many threads, which run `length` instructions each and never wait.
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

/// The lowest limit with which so many threads replay, one after another, and what is said with a
/// byte less.
fn least(threads: u32) -> (u64, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("threads.n2t");
    trace(&path, threads, 1);
    let (mut told, mut refused, mut fits) = (String::new(), 0, 64 << 20);
    while fits - refused > 1 {
        let limit = refused + (fits - refused) / 2;
        match replay(&path, &MemoryBudget::new(limit)) {
            Ok(outcome) => {
                assert_eq!(outcome.cores.len(), threads as usize);
                fits = limit;
            }
            Err(problem) => (refused, told) = (limit, problem.to_string()),
        }
    }
    (fits, told)
}

#[test]
fn counts_of_ended_threads_are_in_the_account_to_the_last_byte() {
    let ((few, _), (many, told)) = (least(100), least(300));
    let each = (many - few) / 200;
    assert!((500..3000).contains(&each), "{each} bytes for each thread");
    // The last thread's core has room but not its reader. What a thread counted is kept once both
    // are gone.
    assert!(told.contains("the readers of the threads that run need at least 1."), "{told}");
}

#[test]
fn threads_that_have_ended_make_room_for_others() {
    let budget = MemoryBudget::new(BUDGET);
    let outcome = run(2000, 1, &budget).expect("one thread is alive at a time");
    assert_eq!(outcome.cores.len(), 2000);
    assert!(outcome.cores.iter().all(|core| core.is_counted));
    assert_eq!(budget.used(), 0);
}

#[test]
fn more_threads_at_a_time_than_memory_allows_are_refused() {
    let budget = MemoryBudget::new(BUDGET);
    let told = run(200, 2000, &budget).expect_err("all are alive at a time").to_string();
    assert!(
        told.contains("the cores of the threads that run at the same time need at least 1"),
        "{told}"
    );
    assert!(told.ends_with("the limit is 12.0 MiB; raise it with --max-memory"), "{told}");
    assert_eq!(budget.used(), 0);
}
