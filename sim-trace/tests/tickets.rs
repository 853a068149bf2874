//! Tests of tickets, the order in which threads synchronized: writing, reading, verifying, slicing,
//! merging.

#![allow(missing_docs, clippy::unwrap_used)]

use std::io::Cursor;

use crate::common::*;
use sim_trace::{
    Join, Slice, StreamEvent, Ticket, TraceFile, TraceWriter, WriterOptions, merge, slice,
    verify_file,
};

const NOPS: [u32; 4] = [NOP; 4];

/// Returns a trace with streams of blocks of four instructions. The second instruction of each
/// block has the ticket given for the block.
fn trace(streams: &[&[Option<u64>]]) -> Vec<u8> {
    let options = WriterOptions { chunk_instructions: 8, ..WriterOptions::default() };
    let mut writer = TraceWriter::new(Cursor::new(Vec::new()), path(), meta(), options).unwrap();
    let block = writer.define_block(0x1000, &NOPS).unwrap();
    for (stream, blocks) in (0..).zip(streams) {
        for ticket in *blocks {
            writer.push_block(stream, block, 4, &[], None).unwrap();
            if let Some(order) = *ticket {
                writer.push_event(stream, StreamEvent::Ticket { order, back: 3 }).unwrap();
            }
        }
    }
    writer.finish_into().unwrap().1.into_inner()
}

fn tickets<R: std::io::Read + std::io::Seek>(file: &TraceFile<R>, stream: u32) -> Vec<(u64, u64)> {
    let mut reader = file.tickets(stream).unwrap();
    std::iter::from_fn(|| reader.next_ticket().unwrap())
        .map(|Ticket { position, order }| (position, order))
        .collect()
}

#[test]
fn tickets_are_read_with_the_positions_of_their_instructions() {
    let blocks = [Some(5), None, Some(6), Some(1 << 40), None, None, None, Some((1 << 40) + 3)];
    let file = open(trace(&[&blocks, &[None; 3]])).unwrap();
    assert!(file.has_tickets());
    assert_eq!(file.version(), (1, 4));
    assert!(file.streams()[0].chunks.len() > 3, "several chunks, one of them without a ticket");
    let expected = [(1, 5), (9, 6), (13, 1 << 40), (29, (1 << 40) + 3)];
    assert_eq!(tickets(&file, 0), expected);
    assert_eq!(tickets(&file, 1), []);
    let report = verify_file(&file).unwrap();
    assert!(report.is_good(), "{report:?}");
    assert_eq!(report.tickets, 4);
}

#[test]
fn a_trace_without_tickets_has_an_older_version() {
    let file = open(trace(&[&[None; 4]])).unwrap();
    assert!(!file.has_tickets());
    assert_eq!(file.version(), (1, 0));
}

#[test]
fn decreasing_and_duplicate_tickets_are_found_with_their_place() {
    let falls = [Some(5), Some(4)];
    let twice: [&[Option<u64>]; 2] = [&[Some(1), Some(3)], &[Some(2), Some(3)]];
    for (streams, place) in [(&[&falls[..]][..], (0, 5)), (&twice[..], (1, 5))] {
        let report = verify_file(&open(trace(streams)).unwrap()).unwrap();
        assert!(!report.is_good());
        assert_eq!(report.misordered_tickets, 1);
        assert_eq!(report.first_misordered, Some(place));
    }
}

#[test]
fn a_ticket_of_no_instruction_is_damage() {
    let sink = Cursor::new(Vec::new());
    let mut writer = TraceWriter::new(sink, path(), meta(), WriterOptions::default()).unwrap();
    let block = writer.define_block(0x1000, &NOPS).unwrap();
    writer.push_block(0, block, 4, &[], None).unwrap();
    writer.push_event(0, StreamEvent::Ticket { order: 1, back: 5 }).unwrap();
    let file = open(writer.finish_into().unwrap().1.into_inner()).unwrap();
    let mut reader = file.tickets(0).unwrap();
    let refusal = reader.next_ticket().unwrap_err();
    assert!(refusal.to_string().contains("a ticket of no instruction"), "{refusal}");
    assert!(refusal.place().is_some());
    assert_eq!(reader.next_ticket().unwrap(), None, "nothing follows an error");
    assert_eq!(verify_file(&file).unwrap().faults.len(), 1);
}

#[test]
fn a_slice_keeps_the_tickets_of_its_instructions() {
    let file = open(trace(&[&[Some(1), Some(4), Some(6)], &[Some(2), Some(3), Some(5)]])).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let to = directory.path().join("slice.n2t");
    // The slice begins at the ticket of the second block and ends after that of the third, inside
    // it.
    let what = Slice { streams: Vec::new(), range: 5..10, without_order: false };
    slice(&file, &what, &to, WriterOptions::default()).unwrap();
    let part = TraceFile::open(&to).unwrap();
    assert_eq!(tickets(&part, 0), [(0, 4), (4, 6)]);
    assert_eq!(tickets(&part, 1), [(0, 3), (4, 5)]);
    assert!(verify_file(&part).unwrap().is_good());
    // Without the order it has no tickets, and a gap says so.
    let what = Slice { streams: Vec::new(), range: 0..u64::MAX, without_order: true };
    slice(&file, &what, &to, WriterOptions::default()).unwrap();
    let free = TraceFile::open(&to).unwrap();
    assert!(!free.has_tickets() && free.instructions() == file.instructions());
    assert!(free.meta().gaps.iter().any(|gap| gap.contains("synchronized")));
    // One instruction later, the first ticket belongs to an instruction before the slice.
    let what = Slice { streams: vec![1], range: 6..9, without_order: false };
    slice(&file, &what, &to, WriterOptions::default()).unwrap();
    assert_eq!(tickets(&TraceFile::open(&to).unwrap(), 1), []);
}

#[test]
fn merged_parts_keep_their_order_and_merged_runs_keep_none() {
    let one = || open(trace(&[&[Some(1), Some(3)], &[Some(2)]])).unwrap();
    let later = || open(trace(&[&[Some(5)], &[Some(4)]])).unwrap();
    let bare = || open(trace(&[&[None; 2]])).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let to = directory.path().join("merged.n2t");
    let joined = |files: &[TraceFile<_>], join| {
        merge(files, join, &to, WriterOptions::default()).unwrap();
        let file = TraceFile::open(&to).unwrap();
        let report = verify_file(&file).unwrap();
        assert!(report.is_good(), "{report:?}");
        let is_said = file.meta().gaps.iter().any(|gap| gap.contains("synchronized"));
        (report.tickets, is_said)
    };
    assert_eq!(joined(&[one(), later()], Join::Parts), (5, false));
    assert_eq!(joined(&[one(), one()], Join::Parts), (0, true), "they are two recordings");
    assert_eq!(joined(&[later(), one()], Join::Parts), (0, true), "they are in the wrong order");
    assert_eq!(joined(&[one(), bare()], Join::Threads), (3, false));
    assert_eq!(joined(&[one(), later()], Join::Threads), (0, true));
}
