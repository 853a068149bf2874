//! A reader that is ahead tells what the reader itself tells, damage included.

#![allow(missing_docs, clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use sim_core::TraceInst;
use sim_trace::{EventAt, ReadAhead, TraceFile};

/// All that came of one batch, or the error.
type Told = Result<(Vec<TraceInst>, Vec<EventAt>, Vec<u64>, u64, u64), String>;

fn committed(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces").join(name)
}

/// What a reader tells, batch by batch, up to its end or its error.
macro_rules! all_of {
    ($reader:expr) => {{
        let (mut reader, mut out, mut told) = ($reader, Vec::new(), Vec::<Told>::new());
        loop {
            match reader.next_batch(&mut out) {
                Ok(false) => break told,
                Ok(true) => {
                    let (events, more) = (reader.events().to_vec(), reader.more().to_vec());
                    let (start, end) = (reader.batch_start(), reader.position());
                    told.push(Ok((out.clone(), events, more, start, end)));
                }
                Err(error) => {
                    told.push(Err(error.to_string()));
                    assert!(!reader.next_batch(&mut out).unwrap(), "nothing follows an error");
                    break told;
                }
            }
        }
    }};
}

/// What both readers of the first stream with instructions tell.
fn both(path: &Path) -> [Vec<Told>; 2] {
    let file = TraceFile::open(path).unwrap();
    let stream = file.streams().iter().find(|one| one.instructions > 0).unwrap().stream;
    let reader = || file.reader(stream).unwrap();
    [all_of!(reader()), all_of!(ReadAhead::new(reader()).unwrap())]
}

#[test]
fn batches_with_all_that_belongs_to_them_are_the_same() {
    // Gathers with further addresses; exceptions and registers.
    for name in ["vector.n2t", "system.n2t"] {
        let [here, ahead] = both(&committed(name));
        assert!(here == ahead, "{name}");
        let batches = || here.iter().map(|one| one.as_ref().unwrap());
        assert!(batches().any(|(_, events, ..)| !events.is_empty()), "{name}");
        assert_eq!(batches().any(|(_, _, more, ..)| !more.is_empty()), name == "vector.n2t");
    }
}

#[test]
fn damage_is_told_behind_the_same_instructions() {
    let mut bytes = std::fs::read(committed("lz.n2t")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let [here, ahead] = both(file.path());
    assert!(here.last().unwrap().is_err() && here.len() > 1, "the damage is in a later chunk");
    assert!(here == ahead);
}

#[test]
fn who_stops_early_is_done_at_once() {
    let file = TraceFile::open(&committed("lz.n2t")).unwrap();
    let mut ahead = ReadAhead::new(file.reader(file.streams()[0].stream).unwrap()).unwrap();
    let mut out = Vec::new();
    assert!(ahead.next_batch(&mut out).unwrap() && !out.is_empty());
    drop(ahead);
    drop(ReadAhead::new(file.reader(file.streams()[0].stream).unwrap()).unwrap());
}
