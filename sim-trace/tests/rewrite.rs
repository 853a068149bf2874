//! Slices and merged traces hold exactly what the traces had that they were made from.

#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::path::Path;

use common::*;
use proptest::prelude::*;
use sim_trace::{
    Join, Slice, StreamEvent, TraceError, TraceFile, WriterOptions, merge, slice, verify,
};

const OPTIONS: WriterOptions = WriterOptions { level: 3, chunk_instructions: 64 };

/// Everything in a trace of this memory or disk.
fn streams(path: &Path) -> Vec<(u32, Played)> {
    play_all(std::fs::read(path).unwrap()).unwrap()
}

/// The instructions `range` of a stream and the events behind one of them; all if the range begins at 0.
fn cut(played: &Played, start: u64, end: u64) -> Played {
    let end = end.min(played.insts.len() as u64);
    let start = start.min(end);
    let reach = |event: &StreamEvent| match event {
        StreamEvent::StoreExclusive { back, .. } | StreamEvent::Elements { back, .. } => *back,
        _ => 1,
    };
    let is_kept = |(at, event): &&(u64, StreamEvent)| {
        (start == 0 || *at >= start + u64::from(reach(event).max(1))) && *at <= end
    };
    let events = played.events.iter().filter(is_kept).map(|(at, event)| (at - start, *event));
    Played { insts: played.insts[start as usize..end as usize].to_vec(), events: events.collect() }
}

fn kept(range: std::ops::Range<u64>) -> Slice {
    Slice { streams: Vec::new(), range, without_order: false }
}

#[test]
fn a_slice_keeps_image_names_and_notes_and_says_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("slice.n2t");
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
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("slice.n2t");
    let file = open(sample().write()).unwrap();
    let error = slice(&file, &kept(1_000_000..2_000_000), &path, OPTIONS).unwrap_err();
    assert!(matches!(error, TraceError::Nothing { .. }), "{error}");
    let what = Slice { streams: vec![77], range: 0..10, without_order: false };
    let error = slice(&file, &what, &path, OPTIONS).unwrap_err();
    assert!(error.to_string().contains("no stream 77"), "{error}");
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

#[test]
fn parts_go_on_with_a_gap_and_threads_side_by_side() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("merged.n2t");
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
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("merged.n2t");
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces");
    let open = |name: &str| TraceFile::open(&traces.join(name)).unwrap();
    let files = [open("hash.n2t"), open("sort.n2t")];
    let error = merge(&files, Join::Threads, &path, OPTIONS).unwrap_err().to_string();
    assert!(error.contains("sort.n2t") && error.contains("another program's"), "{error}");
    let files = [open("hash.n2t"), open("vector.n2t")];
    let error = merge(&files, Join::Parts, &path, OPTIONS).unwrap_err().to_string();
    assert!(error.contains("vector.n2t") && error.contains("another machine"), "{error}");
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_slice_of_any_recording_is_what_stood_there(
        recording in recordings(), start in 0u64..200, count in 1u64..300,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("slice.n2t");
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
            prop_assert_eq!(played, cut(original, start, end));
        }
    }
}
