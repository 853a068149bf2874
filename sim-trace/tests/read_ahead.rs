//! Tests that a read-ahead reader returns the same as the reader itself, including damage.

#![allow(missing_docs, clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use sim_core::TraceInst;
use sim_trace::{EventAt, ReadAhead, TraceFile};

/// All results of one batch, or the error.
type Outcome = Result<(Vec<TraceInst>, Vec<EventAt>, Vec<u64>, u64, u64), String>;

fn committed(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces").join(name)
}

/// Collects the results of a reader, batch by batch, up to its end or its error.
macro_rules! all_of {
    ($reader:expr) => {{
        let (mut reader, mut out, mut all) = ($reader, Vec::new(), Vec::<Outcome>::new());
        loop {
            match reader.next_batch(&mut out) {
                Ok(false) => break all,
                Ok(true) => {
                    let (events, more) = (reader.events().to_vec(), reader.more().to_vec());
                    let (start, end) = (reader.batch_start(), reader.position());
                    all.push(Ok((out.clone(), events, more, start, end)));
                }
                Err(error) => {
                    all.push(Err(error.to_string()));
                    assert!(!reader.next_batch(&mut out).unwrap(), "nothing follows an error");
                    break all;
                }
            }
        }
    }};
}

/// Returns the results of both readers for the first stream with instructions.
fn both(path: &Path) -> [Vec<Outcome>; 2] {
    let file = TraceFile::open(path).unwrap();
    let stream = file.streams().iter().find(|one| one.instructions > 0).unwrap().stream;
    let reader = || file.reader(stream).unwrap();
    [all_of!(reader()), all_of!(ReadAhead::new(reader()).unwrap())]
}

#[test]
fn batches_events_and_further_addresses_are_the_same() {
    // One trace has gathers with further addresses, the other exceptions and registers.
    for name in ["vector.n2t", "system.n2t"] {
        let [here, ahead] = both(&committed(name));
        assert!(here == ahead, "{name}");
        let batches = || here.iter().map(|one| one.as_ref().unwrap());
        assert!(batches().any(|(_, events, ..)| !events.is_empty()), "{name}");
        assert_eq!(batches().any(|(_, _, more, ..)| !more.is_empty()), name == "vector.n2t");
    }
}

#[test]
fn damage_is_reported_after_the_same_instructions() {
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
fn dropping_a_reader_early_ends_its_thread() {
    let file = TraceFile::open(&committed("lz.n2t")).unwrap();
    let mut ahead = ReadAhead::new(file.reader(file.streams()[0].stream).unwrap()).unwrap();
    let mut out = Vec::new();
    assert!(ahead.next_batch(&mut out).unwrap() && !out.is_empty());
    drop(ahead);
    drop(ReadAhead::new(file.reader(file.streams()[0].stream).unwrap()).unwrap());
}
