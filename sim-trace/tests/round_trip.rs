//! Tests that reading returns exactly the written trace.

#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;

use crate::common::*;
use proptest::prelude::*;
use sim_core::{Activity, InstFlags};
use sim_trace::{
    Access, BlockId, BlockVisitor, Further, Meta, StreamEvent, TraceError, TraceFile, TraceWriter,
    WriterOptions,
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn reading_returns_any_written_recording(recording in recordings()) {
        let (bytes, summary) = recording.write_with_summary();
        let file_bytes = bytes.len() as u64;
        let file = open(bytes).unwrap();
        prop_assert_eq!(summary.file_bytes, file_bytes);
        prop_assert_eq!(summary.instructions, file.instructions());
        let accesses: u64 = file.streams().iter().map(|s| s.accesses).sum();
        prop_assert_eq!(summary.accesses, accesses);
        for stream in 0..3 {
            let expected = recording.expected(stream);
            let Some(info) = file.streams().iter().find(|s| s.stream == stream) else {
                prop_assert_eq!(expected, Played::default());
                continue;
            };
            let played = play(&file, file.reader(stream).unwrap()).unwrap();
            prop_assert_eq!(info.instructions, played.insts.len() as u64);
            prop_assert_eq!(info.events, played.events.len() as u64);
            prop_assert_eq!(played.without_redirects(), expected);
        }
    }

    #[test]
    fn a_chunk_reads_the_same_alone_and_within_the_stream(recording in recordings()) {
        let file = open(recording.write()).unwrap();
        for info in file.streams() {
            let whole = play(&file, file.reader(info.stream).unwrap()).unwrap();
            let mut joined = Played::default();
            // Read backwards, so that no state can leak from a chunk to the next.
            for k in (0..info.chunks.len()).rev() {
                let mut part = play(&file, file.chunk_reader(info.stream, k).unwrap()).unwrap();
                let n = part.insts.len() as u64;
                part.events.extend(joined.events.iter().map(|&(p, e)| (p + n, e)));
                part.insts.append(&mut joined.insts);
                joined = part;
            }
            prop_assert_eq!(joined, whole);
        }
    }

    #[test]
    fn skimming_a_part_and_reading_the_rest_yields_the_whole(
        recording in recordings(),
        until in 0u64..200,
    ) {
        let file = open(recording.write()).unwrap();
        for info in file.streams() {
            let whole = play(&file, file.reader(info.stream).unwrap()).unwrap();
            let mut reader = file.reader(info.stream).unwrap();
            let mut seen = Seen { file: &file, insts: Vec::new() };
            reader.skim(until, &mut seen).unwrap();
            let at = reader.position();
            prop_assert!(at >= until.min(info.instructions));
            let skimmed = whole.insts[..at as usize].iter().map(|inst| {
                (inst.pc, inst.flags.has(InstFlags::HAS_ADDR).then_some(inst.addr))
            });
            prop_assert_eq!(&seen.insts, &skimmed.collect::<Vec<_>>());
            let rest = play(&file, reader).unwrap();
            prop_assert_eq!(&rest.insts, &whole.insts[at as usize..]);
            let later = whole.events.iter().filter(|(place, _)| *place > at);
            let later: Vec<_> = later.map(|&(place, event)| (place - at, event)).collect();
            prop_assert!(rest.events.ends_with(&later), "only events at the seam may be on either side");

            let mut blocks = Blocks(0);
            let mut reader = file.reader(info.stream).unwrap();
            reader.skim(until, &mut blocks).unwrap();
            prop_assert_eq!((blocks.0, reader.position()), (at, at));
            reader.skim(u64::MAX, &mut blocks).unwrap();
            prop_assert_eq!(blocks.0, info.instructions);
        }
    }
}

/// Visitor that collects addresses of instructions and of their accesses.
struct Seen<'a> {
    file: &'a TraceFile<Bytes>,
    insts: Vec<(u64, Option<u64>)>,
}

impl BlockVisitor for Seen<'_> {
    const ACCESSES: bool = true;

    fn block(&mut self, block: u32, place: u32, executed: u16) {
        let statics = self.file.statics();
        let all = statics.block(BlockId(block)).unwrap();
        assert_eq!(all[0], statics.places()[place as usize]);
        let pcs = all[..usize::from(executed)].iter().map(|id| statics.insts()[*id as usize].pc);
        self.insts.extend(pcs.map(|pc| (pc, None)));
    }

    fn access(&mut self, place: u32, addr: u64) {
        let statics = self.file.statics();
        let pc = statics.insts()[statics.places()[place as usize] as usize].pc;
        let inst = self.insts.iter_mut().rev().find(|(own, _)| *own == pc).unwrap();
        inst.1 = Some(addr);
    }
}

/// Visitor that counts instructions.
struct Blocks(u64);

impl BlockVisitor for Blocks {
    const ACCESSES: bool = false;

    fn block(&mut self, _block: u32, _place: u32, executed: u16) {
        self.0 += u64::from(executed);
    }
}

#[test]
fn reading_returns_the_written_origin_and_machine() {
    let file = open(sample().write()).unwrap();
    assert_eq!(*file.meta(), meta());
    assert_eq!(file.meta().symbol("main").unwrap().addr, 0xffff_0000_0000_1000);
    assert_eq!(file.version(), (1, 0));
}

#[test]
fn meta_may_change_until_the_end() {
    let sink = std::io::Cursor::new(Vec::new());
    let options = WriterOptions { chunk_instructions: 1, ..WriterOptions::default() };
    let mut writer = TraceWriter::new(sink, path(), meta(), options).unwrap();
    let block = writer.define_block(0x1000, &[RET]).unwrap();
    for _ in 0..4 {
        writer.push_block(7, block, 1, &[], None).unwrap();
    }
    writer.meta_mut().gaps.push("added late".into());
    writer.meta_mut().machine.vector_bytes = 32;
    let changed = writer.meta().clone();
    let (_, sink) = writer.finish_into().unwrap();
    assert_eq!(*open(sink.into_inner()).unwrap().meta(), changed);
}

#[test]
fn equal_code_is_stored_once() {
    let sink = std::io::Cursor::new(Vec::new());
    let mut writer = TraceWriter::new(sink, path(), meta(), WriterOptions::default()).unwrap();
    let a = writer.define_block(0x1000, &[NOP, RET]).unwrap();
    assert_eq!(writer.define_block(0x1000, &[NOP, RET]).unwrap(), a);
    // Other words at the same address are another block: the program rewrote its code.
    let b = writer.define_block(0x1000, &[LDR, RET]).unwrap();
    assert_ne!(a, b);
    // A block in the middle of another shares its instructions.
    let c = writer.define_block(0x1004, &[RET]).unwrap();
    for block in [a, b, c] {
        let n = if block == c { 1 } else { 2 };
        writer.push_block(0, block, n, &[], None).unwrap();
    }
    let (_, sink) = writer.finish_into().unwrap();
    let file = open(sink.into_inner()).unwrap();
    let statics = file.statics();
    assert_eq!((statics.blocks(), statics.len()), (3, 3));
    assert_eq!(statics.block(c).unwrap(), &statics.block(a).unwrap()[1..]);
    assert_eq!(statics.block(BlockId(3)), None);
}

#[test]
fn a_page_written_again_replaces_the_first_and_old_blocks_keep_their_words() {
    let page = |word: u32| word.to_le_bytes().repeat(1024);
    let sink = std::io::Cursor::new(Vec::new());
    let mut writer = TraceWriter::new(sink, path(), meta(), WriterOptions::default()).unwrap();
    writer.image_page(0x1000, &page(NOP)).unwrap();
    let old = writer.define_block(0x1000, &[NOP, NOP]).unwrap();
    writer.image_page(0x1000, &page(RET)).unwrap();
    let new = writer.define_block(0x1000, &[RET]).unwrap();
    writer.push_block(0, old, 2, &[], None).unwrap();
    writer.push_block(0, new, 1, &[], None).unwrap();
    let (_, sink) = writer.finish_into().unwrap();
    let file = open(sink.into_inner()).unwrap();
    assert_eq!(file.image().word_at(0x1008), Some(RET));
    assert_eq!(file.image().word_at(0x2000), None);
    assert_eq!(file.image().pages().len(), 1);
    let words: Vec<u32> = file.statics().insts().iter().map(|inst| inst.word).collect();
    assert_eq!(words, [NOP, NOP, RET]);
}

#[test]
fn a_block_that_cannot_follow_is_explained_by_a_redirect() {
    let sink = std::io::Cursor::new(Vec::new());
    let mut writer = TraceWriter::new(sink, path(), meta(), WriterOptions::default()).unwrap();
    let a = writer.define_block(0x1000, &[NOP, B_EQ]).unwrap(); // to 0x1008 or 0x100c
    let fall = writer.define_block(0x1008, &[NOP]).unwrap(); // to 0x100c
    let target = writer.define_block(0x100c, &[RET]).unwrap();
    let svc = writer.define_block(0x2000, &[SVC]).unwrap(); // to 0x2004
    let gap = StreamEvent::Gap { instructions: Some(5) };
    for (block, n, event) in [
        (a, 2, None),
        (fall, 1, None),
        (target, 1, None),
        (a, 2, None),
        (target, 1, None),
        (svc, 1, None),
        (a, 1, None),      // 6: an SVC that returns elsewhere
        (fall, 1, None),   // 7: a block left early, then control goes elsewhere
        (a, 2, Some(gap)), // 8: a straight-line block, then control goes elsewhere; the gap needs none
        (svc, 1, None),
    ] {
        writer.push_block(0, block, n, &[], event).unwrap();
    }
    let (summary, sink) = writer.finish_into().unwrap();
    assert_eq!(summary.redirects, 3);
    let file = open(sink.into_inner()).unwrap();
    let played = play(&file, file.reader(0).unwrap()).unwrap();
    let redirects = [8, 9, 10].map(|position| (position, StreamEvent::Redirect));
    assert_eq!(played.events[..3], redirects);
    assert_eq!(played.events[3], (12, gap));
    let broken: Vec<usize> = (0..played.insts.len())
        .filter(|&i| played.insts[i].flags.has(InstFlags::DISCONTINUITY))
        .collect();
    assert_eq!(broken, [7, 8, 9, 11]);
}

#[test]
fn store_exclusive_outcome_can_be_stated() {
    let sink = std::io::Cursor::new(Vec::new());
    let mut writer = TraceWriter::new(sink, path(), meta(), WriterOptions::default()).unwrap();
    let block = writer.define_block(0x1000, &[STXR, RET]).unwrap();
    let access = [Access { index: 0, addr: 64 }];
    let failed = Some(StreamEvent::StoreExclusive { back: 2, failed: true });
    writer.push_block(0, block, 2, &access, failed).unwrap();
    writer.push_block(0, block, 2, &access, None).unwrap();
    let (_, sink) = writer.finish_into().unwrap();
    let file = open(sink.into_inner()).unwrap();
    let played = play(&file, file.reader(0).unwrap()).unwrap();
    let flags: Vec<InstFlags> = played.insts.iter().map(|inst| inst.flags).collect();
    let none = InstFlags::default();
    let failed = InstFlags::HAS_ADDR.with(InstFlags::EXCLUSIVE_FAILED);
    assert_eq!(flags, [failed, none, InstFlags::HAS_ADDR, none]);
}

/// `ld1w {z0.s}, p0/z, [x1, z3.s, uxtw]`, a gather.
const GATHER: u32 = 0x8503_4020;

/// Returns an event for the elements of the instruction `back` places before it.
fn elements(back: u16, activity: Activity, active: u16, addrs: &[u64]) -> StreamEvent {
    StreamEvent::Elements { back, activity, active, further: Further::of(addrs).unwrap() }
}

/// Returns a trace of a block of two gathers, run once for each list of events.
fn gathers(runs: &[&[StreamEvent]]) -> std::io::Cursor<Vec<u8>> {
    let sink = std::io::Cursor::new(Vec::new());
    let mut writer = TraceWriter::new(sink, path(), meta(), WriterOptions::default()).unwrap();
    let block = writer.define_block(0x1000, &[GATHER, GATHER, RET]).unwrap();
    let accesses = [(0, 0x4000), (1, 0x5000)].map(|(index, addr)| Access { index, addr });
    for events in runs {
        writer.push_block(0, block, 3, &accesses, None).unwrap();
        for event in *events {
            writer.push_event(0, *event).unwrap();
        }
    }
    writer.finish_into().unwrap().1
}

#[test]
fn elements_are_read_in_the_order_of_their_instructions() {
    let runs: [&[StreamEvent]; 3] = [
        &[
            elements(3, Activity::All, 0, &[0x4000, 0x3ff0, 0x9000, 0x4000]),
            elements(2, Activity::Partial, 0b101, &[0x5000, 0x5800]),
        ],
        &[elements(2, Activity::None, 0, &[])],
        &[],
    ];
    let file = open(gathers(&runs).into_inner()).unwrap();
    assert_eq!(file.version(), (1, 2));
    let mut reader = file.reader(0).unwrap();
    let mut batch = Vec::new();
    assert!(reader.next_batch(&mut batch).unwrap());
    assert_eq!(reader.more(), [0x3ff0, 0x9000, 0x4000, 0x5800]);
    let plain = InstFlags::HAS_ADDR;
    let expected = [
        plain.with_further(3),
        plain.with_further(1).with_predicate(Activity::Partial, 0b101),
        InstFlags::default(),
        plain,
        InstFlags::default().with_predicate(Activity::None, 0),
        InstFlags::default(),
        plain,
        plain,
        InstFlags::default(),
    ];
    assert_eq!(batch.iter().map(|inst| inst.flags).collect::<Vec<_>>(), expected);
}

#[test]
fn elements_out_of_order_or_of_no_instruction_are_damage() {
    let second = elements(2, Activity::Partial, 1, &[0x5000]);
    let first = elements(3, Activity::Partial, 1, &[0x4000]);
    for events in [&[second, first], &[first, first]] {
        assert!(play_all(gathers(&[events]).into_inner()).is_err(), "{events:?}");
    }
    let none = elements(4, Activity::None, 0, &[]);
    assert!(play_all(gathers(&[&[none]]).into_inner()).is_err());
    assert!(play_all(gathers(&[&[first, second]]).into_inner()).is_ok());
    assert_eq!(Further::of(&[0; 5]), None);
}

#[test]
fn events_without_instructions_are_kept() {
    let sink = std::io::Cursor::new(Vec::new());
    let mut writer = TraceWriter::new(sink, path(), meta(), WriterOptions::default()).unwrap();
    writer.push_event(3, StreamEvent::ThreadStart { thread: 77 }).unwrap();
    writer.push_event(3, StreamEvent::ThreadEnd { thread: 77 }).unwrap();
    let (summary, sink) = writer.finish_into().unwrap();
    assert_eq!((summary.streams, summary.events, summary.instructions), (1, 2, 0));
    let played = play_all(sink.into_inner()).unwrap();
    assert_eq!(played[0].1.events.len(), 2);
}

#[test]
fn the_writer_refuses_input_that_a_trace_cannot_represent() {
    let sink = std::io::Cursor::new(Vec::new());
    let mut writer = TraceWriter::new(sink, path(), meta(), WriterOptions::default()).unwrap();
    let block = writer.define_block(0x1000, &[NOP, RET]).unwrap();
    let at = |index| Access { index, addr: 0 };
    let rejected = |result: Result<(), TraceError>| matches!(result, Err(TraceError::Rejected(_)));
    assert!(rejected(writer.push_block(0, BlockId(1), 1, &[], None)));
    assert!(rejected(writer.push_block(0, block, 3, &[], None)));
    assert!(rejected(writer.push_block(0, block, 1, &[at(1)], None)));
    assert!(rejected(writer.push_block(0, block, 2, &[at(1), at(1)], None)));
    assert!(rejected(writer.push_block(0, block, 2, &[at(1), at(0)], None)));
    assert!(rejected(writer.define_block(0x1002, &[NOP]).map(drop)));
    assert!(rejected(writer.define_block(0x1000, &[]).map(drop)));
    assert!(rejected(writer.define_block(0x1000, &[NOP; 4097]).map(drop)));
    assert!(rejected(writer.define_block(u64::MAX - 3, &[NOP]).map(drop)));
    assert!(rejected(writer.image_page(0x1000, &[0; 100])));
    assert!(rejected(writer.image_page(0x1004, &[0; 4096])));
    let mut impossible = Meta::default();
    impossible.machine.page_bytes = 3000;
    let sink = std::io::Cursor::new(Vec::new());
    assert!(rejected(
        TraceWriter::new(sink, path(), impossible, WriterOptions::default()).map(drop)
    ));
}

#[test]
fn a_file_has_its_name_only_when_it_is_finished() {
    let directory = std::env::temp_dir().join(format!("n2t-writer-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let path = directory.join("a.n2t");
    let write = || {
        let mut writer = TraceWriter::create(&path, meta()).unwrap();
        let block = writer.define_block(0x1000, &[RET]).unwrap();
        writer.push_block(0, block, 1, &[], None).unwrap();
        writer
    };
    drop(write());
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0, "a dropped writer leaves no file");
    let summary = write().finish().unwrap();
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
    let file = TraceFile::open(&path).unwrap();
    assert_eq!(file.file_bytes(), summary.file_bytes);
    assert_eq!(file.instructions(), 1);
    fs::remove_dir_all(&directory).unwrap();
}
