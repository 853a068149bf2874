//! Tests of the tools on top of the reader: verify, info, dump, repack, seeking.

#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::io::Cursor;
use std::path::PathBuf;

use crate::common::*;
use sim_trace::{
    StreamEvent, TraceFile, TraceWriter, WriterOptions, dump, info, repack, verify, verify_file,
};

/// Creates a directory for one test, which removes it when it succeeds.
fn directory(name: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("n2t-{name}-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    directory
}

#[test]
fn verify_counts_everything_and_finds_each_fault() {
    let recording = sample();
    let (bytes, summary) = recording.write_with_summary();
    let file = open(bytes.clone()).unwrap();
    let report = verify_file(&file).unwrap();
    assert!(report.is_good(), "{report:?}");
    assert_eq!(report.instructions, summary.instructions);
    assert_eq!(report.accesses, summary.accesses);
    assert_eq!(report.events, summary.events);
    assert_eq!(report.redirects, summary.redirects);
    assert_eq!(report.chunks as usize, file.chunks().len());

    // Two damaged chunks of a stream are both listed, in order, and the others are still read.
    let bad = [file.streams()[0].chunks[0], file.streams()[0].chunks[2]];
    let mut damaged = bytes;
    for k in bad {
        damaged[file.chunks()[k as usize].offset as usize + 64 + 42] ^= 1;
    }
    let report = verify_file(&open(damaged).unwrap()).unwrap();
    let places: Vec<u32> = report.faults.iter().map(|f| f.place().unwrap().chunk).collect();
    assert_eq!(places, bad);
    assert!(report.instructions > 0 && report.instructions < summary.instructions);
}

#[test]
fn repack_keeps_the_content_at_any_level() {
    let directory = directory("repack");
    let bytes = sample().write();
    let file = open(bytes.clone()).unwrap();
    for level in [1, 19] {
        let path = directory.join("a.n2t");
        let summary = repack(&file, &path, level).unwrap();
        let again = fs::read(&path).unwrap();
        assert_eq!(summary.file_bytes, again.len() as u64);
        assert!(verify(&path).unwrap().is_good());
        assert_eq!(*TraceFile::open(&path).unwrap().meta(), *file.meta());
        assert_eq!(play_all(again).unwrap(), play_all(bytes.clone()).unwrap());
    }
    fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn recover_and_repack_make_a_truncated_trace_complete() {
    let directory = directory("recover");
    let bytes = sample().write();
    let cut = &bytes[..bytes.len() * 2 / 3];
    let (good, damage) = TraceFile::recover_from_reader(Cursor::new(cut.to_vec()), path()).unwrap();
    let instructions = damage.unwrap().good_instructions().unwrap();
    assert!(instructions > 0);
    let path = directory.join("whole.n2t");
    repack(&good, &path, 3).unwrap();
    assert_eq!(TraceFile::open(&path).unwrap().instructions(), instructions);
    assert!(verify(&path).unwrap().is_good());
    fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn a_reader_starts_at_the_chunk_of_a_position() {
    let file = open(sample().write()).unwrap();
    let info = &file.streams()[0];
    for (k, &chunk) in info.chunks.iter().enumerate() {
        let header = file.chunks()[chunk as usize].header;
        for position in [header.first, header.first + u64::from(header.instructions) - 1] {
            let mut reader = file.reader_at(0, position).unwrap();
            assert!(reader.next_batch(&mut Vec::new()).unwrap());
            assert_eq!(reader.batch_start(), header.first, "chunk {k}");
        }
    }
    let whole = play(&file, file.reader(0).unwrap()).unwrap();
    let tail = play(&file, file.range_reader(0, 1..info.chunks.len()).unwrap()).unwrap();
    assert!(whole.insts.ends_with(&tail.insts) && tail.insts.len() < whole.insts.len());
    assert!(file.reader(9).is_err() && file.chunk_reader(0, 99).is_err());
}

#[test]
fn dump_prints_instructions_and_events_in_order() {
    let file = open(sample().write()).unwrap();
    let total = file.streams()[0].instructions;
    let mut out = Vec::new();
    let name = |_: u64, word: u32| if word == SVC { "svc #0".into() } else { String::new() };
    dump(&file, 0, total - 3..total, &name, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let expected = format!(
        "{:>10} 0000000000007000 f9400041 @10\n\
         {:>10} 0000000000007004 f9400041 @20\n\
         {:>10} 0000000000007008 d4000001                 svc #0\n         \
         - Syscall {{ number: 93, args: [1, 1, 1, 1, 1, 1], result: None }}\n",
        total - 3,
        total - 2,
        total - 1
    );
    let trimmed: Vec<String> = text.lines().map(squeeze).collect();
    let expected: Vec<String> = expected.lines().map(squeeze).collect();
    assert_eq!(trimmed, expected);
}

fn squeeze(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn info_shows_origin_gaps_and_sizes() {
    let bytes = sample().write();
    let text = info(&open(bytes.clone()).unwrap()).to_string();
    for part in [
        "format        1.0, hash ",
        "command       ./prog a b",
        "gap           PRFM addresses are absent",
        "code          3 blocks, 9 instructions, 2 pages, 1 symbols",
        "stream 1",
        &format!("size          {} bytes", bytes.len()),
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[test]
fn chunks_with_very_many_events_are_split_and_control_flow_stays_explained() {
    let sink = Cursor::new(Vec::new());
    let mut writer = TraceWriter::new(sink, path(), meta(), WriterOptions::default()).unwrap();
    let block = writer.define_block(0x1000, &[NOP]).unwrap();
    // A NOP never follows itself: each run also needs a redirect.
    for order in 0..300_000 {
        writer.push_block(0, block, 1, &[], Some(StreamEvent::Ticket { order, back: 1 })).unwrap();
    }
    for order in 0..300_000 {
        writer.push_event(0, StreamEvent::Ticket { order: 300_000 + order, back: 0 }).unwrap();
    }
    let (summary, sink) = writer.finish_into().unwrap();
    assert_eq!((summary.instructions, summary.events), (300_000, 899_999));
    let file = open(sink.into_inner()).unwrap();
    assert!(file.streams()[0].chunks.len() > 3);
    let report = verify_file(&file).unwrap();
    assert!(report.is_good(), "{report:?}");
    assert_eq!((report.events, report.redirects), (899_999, 299_999));
}
