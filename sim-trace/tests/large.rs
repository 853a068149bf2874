//! Tests of large traces: the reader accepts every trace of the writer, whatever its code size and
//! number of threads.

#![allow(missing_docs, clippy::unwrap_used)]

use std::io::Cursor;
use std::path::Path;

use proptest::prelude::*;
use sim_core::{MemoryBudget, TraceInst};
use sim_trace::{
    Access, Meta, StreamEvent, TraceError, TraceFile, TraceWriter, WriterOptions, verify_file,
};

const NOP: u32 = 0xd503_201f;
const LOAD: u32 = 0xf940_0041;
const BASE: u64 = 0x40_0000;

type Sink = Cursor<Vec<u8>>;

fn writer(chunk_instructions: u32) -> TraceWriter<Sink> {
    let options = WriterOptions { chunk_instructions, ..WriterOptions::default() };
    TraceWriter::new(Cursor::default(), Path::new("large.n2t"), Meta::default(), options).unwrap()
}

/// Returns a trace that runs `instructions` distinct instructions once.
fn straight_line(instructions: usize) -> Sink {
    let mut writer = writer(1 << 20);
    for first in (0..instructions).step_by(4096) {
        let words = vec![NOP; 4096.min(instructions - first)];
        let block = writer.define_block(BASE + 4 * first as u64, &words).unwrap();
        writer.push_block(0, block, words.len() as u16, &[], None).unwrap();
    }
    writer.finish_into().unwrap().1
}

fn open(bytes: Sink, budget: &MemoryBudget) -> Result<TraceFile<Sink>, TraceError> {
    TraceFile::from_reader_within(bytes, Path::new("large.n2t"), budget)
}

/// Returns address, word and data address of every executed instruction of a stream.
fn played(file: &TraceFile<Sink>, stream: u32) -> Vec<(u64, u32, u64)> {
    let (mut reader, mut batch, mut all) = (file.reader(stream).unwrap(), Vec::new(), Vec::new());
    while reader.next_batch(&mut batch).unwrap() {
        all.extend(batch.iter().map(|inst: &TraceInst| {
            let code = file.statics().insts()[inst.id as usize];
            (code.pc, code.word, inst.addr)
        }));
    }
    all
}

#[test]
fn two_million_distinct_nops_in_a_small_file_are_read() {
    let bytes = straight_line(2_000_000);
    assert!(bytes.get_ref().len() < 100_000, "they compress well: {}", bytes.get_ref().len());
    let budget = MemoryBudget::new(1 << 30);
    let file = open(bytes, &budget).unwrap();
    assert!(verify_file(&file).unwrap().is_good());
    assert_eq!(file.statics().len(), 2_000_000);
    assert!(budget.used() < 2_000_000 * 24, "{} bytes stay for the code", budget.used());
    drop(file);
    assert_eq!(budget.used(), 0, "a closed file releases all of it");
}

#[test]
fn code_beyond_the_budget_is_refused_with_needed_size_limit_and_option() {
    let refused = open(straight_line(600_000), &MemoryBudget::new(16 << 20)).err().unwrap();
    let error = refused.to_string();
    assert!(matches!(refused, TraceError::Memory { .. }), "{error}");
    let expected = "large.n2t: the code pages and blocks of the trace need at least 16.";
    assert!(error.starts_with(expected), "{error}");
    assert!(error.ends_with("the limit is 16.0 MiB; raise it with --max-memory"), "{error}");
}

#[test]
fn readers_reserve_memory_while_they_are_open() {
    let budget = MemoryBudget::new(64 << 20);
    let file = open(straight_line(100_000), &budget).unwrap();
    let before = budget.used();
    let readers: Vec<_> = (0..100).map_while(|_| file.reader(0).ok()).collect();
    assert!((1..100).contains(&readers.len()), "{} fit", readers.len());
    drop(readers);
    assert_eq!(budget.used(), before);
}

#[test]
fn the_memory_of_a_repeatedly_rewritten_page_is_counted_once() {
    let mut writer = writer(1 << 20);
    for n in 0..3000_u32 {
        let page: Vec<u8> = [NOP, n].map(u32::to_le_bytes).concat().repeat(512);
        writer.image_page(BASE, &page).unwrap();
        // A block on the old content makes the writer write each page.
        let block = writer.define_block(BASE, &[NOP]).unwrap();
        writer.push_block(0, block, 1, &[], None).unwrap();
        let new = writer.define_block(BASE + 4, &[n]).unwrap();
        writer.push_block(0, new, 1, &[], None).unwrap();
    }
    let file = open(writer.finish_into().unwrap().1, &MemoryBudget::new(4 << 20)).unwrap();
    assert_eq!(file.statics().len(), 3001);
}

/// Step of a recorder.
#[derive(Clone, Debug)]
enum Step {
    /// Run of a version of the code at a place, with one access.
    Run { stream: u32, place: u32, length: u16, version: u32, addr: u64 },
    /// Gap in a stream.
    Gap { stream: u32 },
    /// System call of a stream.
    Call { stream: u32, number: u64 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let stream = || prop_oneof![0u32..4, 0u32..300, any::<u32>()];
    let length = prop_oneof![1u16..20, 1000u16..=4096];
    let run = (stream(), 0u32..1 << 20, length, 0u32..3, any::<u64>()).prop_map(
        |(stream, place, length, version, addr)| Step::Run { stream, place, length, version, addr },
    );
    let gap = stream().prop_map(|stream| Step::Gap { stream });
    let call = (stream(), 0u64..400).prop_map(|(stream, number)| Step::Call { stream, number });
    prop::collection::vec(prop_oneof![8 => run, 1 => gap, 1 => call], 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn reading_returns_what_a_recorder_wrote(steps in steps(), chunk in 1u32..200_000) {
        let mut writer = writer(chunk);
        let mut expected = std::collections::BTreeMap::<u32, Vec<(u64, u32, u64)>>::new();
        for step in &steps {
            match *step {
                Step::Run { stream, place, length, version, addr } => {
                    let pc = BASE + 4 * u64::from(place);
                    let mut words = vec![NOP + version; usize::from(length)];
                    words[0] = LOAD;
                    let block = writer.define_block(pc, &words).unwrap();
                    let access = [Access { index: 0, addr }];
                    writer.push_block(stream, block, length, &access, None).unwrap();
                    let runs = words.iter().zip(0u64..).map(|(&word, n)| {
                        (pc + 4 * n, word, if n == 0 { addr } else { 0 })
                    });
                    expected.entry(stream).or_default().extend(runs);
                }
                Step::Gap { stream } => {
                    writer.push_event(stream, StreamEvent::Gap { instructions: Some(7) }).unwrap();
                    expected.entry(stream).or_default();
                }
                Step::Call { stream, number } => {
                    let call = StreamEvent::Syscall { number, args: [1, 2, 3, 4, 5, 6], result: None };
                    writer.push_event(stream, call).unwrap();
                    expected.entry(stream).or_default();
                }
            }
        }
        let budget = MemoryBudget::default();
        let file = open(writer.finish_into().unwrap().1, &budget).unwrap();
        prop_assert_eq!(file.streams().len(), expected.len());
        for (stream, runs) in expected {
            prop_assert_eq!(played(&file, stream), runs);
        }
        drop(file);
        prop_assert_eq!(budget.used(), 0);
    }
}
