//! Tests that slices and merged traces have exactly the content of their sources.

#![allow(missing_docs, clippy::unwrap_used)]

use std::path::Path;

use crate::common::*;
use proptest::prelude::*;
use sim_trace::{
    Join, Meta, Slice, StreamEvent, Ticket, TraceError, TraceFile, TraceWriter, WriterOptions,
    merge, slice, verify,
};

const OPTIONS: WriterOptions = WriterOptions { level: 3, chunk_instructions: 64 };

/// Reads all streams of the trace at `path`.
fn streams(path: &Path) -> Vec<(u32, Played)> {
    play_all(std::fs::read(path).unwrap()).unwrap()
}

/// Removes tickets without an instruction, which a random recording may end with.
fn sound(mut played: Played) -> Played {
    let count = played.insts.len() as u64;
    let is_stray = |at: u64, event: StreamEvent| match event {
        StreamEvent::Ticket { back, .. } => {
            at.checked_sub(back.into()).is_none_or(|own| own >= count)
        }
        _ => false,
    };
    played.events.retain(|(at, event)| !is_stray(*at, *event));
    played
}

/// Returns the instructions `start..end` of a stream and the events that belong to one of them.
/// Keeps events before the first instruction if `start` is 0.
fn cut(played: &Played, start: u64, end: u64) -> Played {
    let kept = |(at, event): &(u64, StreamEvent)| {
        // An event after the last instruction moves to it.
        let by = at.saturating_sub(end);
        let mut event = *event;
        let its_own = match &mut event {
            StreamEvent::Ticket { back, .. } => {
                let own = at.checked_sub(u64::from(*back));
                *back = back.saturating_sub(by as u16);
                own
            }
            StreamEvent::StoreExclusive { back, .. } | StreamEvent::Elements { back, .. } => {
                let own = at.checked_sub(u64::from((*back).max(1)));
                *back = back.saturating_sub(by as u16);
                own
            }
            // Other events belong to the previous instruction.
            _ if by > 0 => None,
            _ => at.checked_sub(1),
        };
        let is_first = start == 0 && *at == 0 && !matches!(event, StreamEvent::Ticket { .. });
        let is_inside = is_first || its_own.is_some_and(|own| (start..end).contains(&own));
        is_inside.then(|| (at.min(&end) - start, event))
    };
    let events = played.events.iter().filter_map(kept);
    let last = end.min(played.insts.len() as u64);
    let insts = start.min(last) as usize..last as usize;
    Played { insts: played.insts[insts].to_vec(), events: events.collect() }
}

fn kept(range: std::ops::Range<u64>) -> Slice {
    Slice { streams: Vec::new(), range, without_order: false }
}

#[test]
fn a_slice_keeps_image_symbols_and_machine_and_records_its_range() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("slice.n2t");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/atomics.n2t");
    let file = TraceFile::open(&source).unwrap();
    let what = Slice { streams: vec![1], range: 5_000..25_000, without_order: false };
    let summary = slice(&file, &what, &path, WriterOptions::default()).unwrap();
    assert_eq!((summary.instructions, summary.streams), (20_000, 1));
    assert!(verify(&path).unwrap().is_good());
    let part = TraceFile::open(&path).unwrap();
    assert_eq!(part.image(), file.image());
    assert_eq!(part.meta().symbols, file.meta().symbols);
    assert_eq!(part.meta().machine, file.meta().machine);
    assert!(part.meta().gaps.iter().any(|gap| gap.contains("only instructions 5000 to 25000")));
    let whole = play_all(std::fs::read(&source).unwrap()).unwrap();
    assert_eq!(streams(&path)[0].1, cut(&whole[1].1, 5_000, 25_000));
}

#[test]
fn an_empty_slice_or_an_absent_stream_is_refused_and_leaves_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("slice.n2t");
    let file = open(sample().write()).unwrap();
    let error = slice(&file, &kept(1_000_000..2_000_000), &path, OPTIONS).unwrap_err();
    assert!(matches!(error, TraceError::Nothing { .. }), "{error}");
    let what = Slice { streams: vec![77], range: 0..10, without_order: false };
    let error = slice(&file, &what, &path, OPTIONS).unwrap_err();
    assert!(error.to_string().contains("no stream 77"), "{error}");
    assert_eq!(directory.path().read_dir().unwrap().count(), 0);
}

#[test]
fn merged_parts_continue_after_a_gap_and_merged_threads_get_new_numbers() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("merged.n2t");
    let one = sample().write();
    let files = || [open(one.clone()).unwrap(), open(one.clone()).unwrap()];
    let whole = play_all(one.clone()).unwrap();

    merge(&files(), Join::Parts, &path, OPTIONS).unwrap();
    assert!(verify(&path).unwrap().is_good());
    for ((stream, merged), (number, part)) in streams(&path).iter().zip(&whole) {
        assert_eq!(stream, number);
        let at = part.insts.len() as u64;
        let gap = (at, StreamEvent::Gap { instructions: None });
        assert!(merged.events.contains(&gap), "{:?}", merged.events);
        let words = |played: &Played| -> Vec<(u64, u32, u64)> {
            played.insts.iter().map(|inst| (inst.pc, inst.word, inst.addr)).collect()
        };
        assert_eq!(words(merged), [words(part), words(part)].concat());
    }

    merge(&files(), Join::Threads, &path, OPTIONS).unwrap();
    let merged = streams(&path);
    assert_eq!(merged.len(), 2 * whole.len());
    let last = whole.last().unwrap().0;
    for (k, (stream, played)) in merged.iter().enumerate() {
        let (number, part) = &whole[k % whole.len()];
        assert_eq!(*stream, if k < whole.len() { *number } else { last + 1 + number });
        assert_eq!(played, part);
    }
}

#[test]
fn traces_of_different_programs_or_machines_are_not_merged() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("merged.n2t");
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces");
    let open = |name: &str| TraceFile::open(&traces.join(name)).unwrap();
    let files = [open("hash.n2t"), open("sort.n2t")];
    let error = merge(&files, Join::Threads, &path, OPTIONS).unwrap_err().to_string();
    assert!(error.contains("sort.n2t") && error.contains("code of another program"), "{error}");
    let files = [open("hash.n2t"), open("vector.n2t")];
    let error = merge(&files, Join::Parts, &path, OPTIONS).unwrap_err().to_string();
    assert!(error.contains("vector.n2t") && error.contains("another machine"), "{error}");
    assert_eq!(directory.path().read_dir().unwrap().count(), 0);
}

#[test]
fn a_slice_has_the_ticket_of_its_first_instruction_from_the_end_of_the_previous_chunk() {
    const NOP: u32 = 0xd503_201f;
    let directory = tempfile::tempdir().unwrap();
    let [path, part] = ["whole.n2t", "part.n2t"].map(|name| directory.path().join(name));
    let mut writer = TraceWriter::create_with(&path, Meta::default(), OPTIONS).unwrap();
    let block = writer.define_block(0x1000, &[NOP; 64]).unwrap();
    writer.push_block(0, block, 64, &[], None).unwrap();
    // The chunk is full, but does not end before the next block begins.
    writer.push_event(0, StreamEvent::Ticket { order: 7, back: 0 }).unwrap();
    writer.push_block(0, block, 64, &[], None).unwrap();
    writer.finish().unwrap();
    slice(&TraceFile::open(&path).unwrap(), &kept(64..128), &part, OPTIONS).unwrap();
    let mut tickets = TraceFile::open(&part).unwrap().tickets(0).unwrap();
    assert_eq!(tickets.next_ticket().unwrap(), Some(Ticket { position: 0, order: 7 }));
    assert_eq!(tickets.next_ticket().unwrap(), None);
    slice(&TraceFile::open(&path).unwrap(), &kept(0..64), &part, OPTIONS).unwrap();
    let mut tickets = TraceFile::open(&part).unwrap().tickets(0).unwrap();
    assert_eq!(tickets.next_ticket().unwrap(), None, "it belongs to the next instruction");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_slice_has_the_content_of_its_range_in_any_recording(
        recording in recordings(), start in 0u64..200, count in 1u64..300,
    ) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("slice.n2t");
        let bytes = recording.write();
        let whole = play_all(bytes.clone()).unwrap();
        let file = open(bytes).unwrap();
        let end = start + count;
        if whole.iter().all(|(_, played)| played.insts.len() as u64 <= start) {
            prop_assert!(slice(&file, &kept(start..end), &path, OPTIONS).is_err());
            return Ok(());
        }
        slice(&file, &kept(start..end), &path, OPTIONS).unwrap();
        for (stream, played) in streams(&path) {
            let original = &whole.iter().find(|(number, _)| *number == stream).unwrap().1;
            prop_assert_eq!(sound(played), cut(&sound(original.clone()), start, end));
        }
    }
}
