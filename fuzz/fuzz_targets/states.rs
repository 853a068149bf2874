//! Fuzzes states files: reads any bytes, and writes and reads any states, intact and damaged.
//!
//! Nothing may panic, hang, or take more memory than states of the size in the header.
//!
//! Run: `cargo xtask fuzz states`

#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use sim_trace::{StatePlace, StatesHeader, StatesReader, StatesWriter};

/// Largest number of words of a state to read, which a reader checks first.
const WORDS: u64 = 1 << 16;

fuzz_target!(|data: &[u8]| {
    read(data.to_vec());
    let words: Vec<u64> = data.chunks_exact(8).map(word).collect();
    let half = words.len() / 2;
    let (first, second) = (&words[..half], &words[words.len() - half..]);
    let header = StatesHeader { count: 2, trace: 1, machine: 2, places: 3, words: half as u64 };
    let mut writer = StatesWriter::new(Vec::new(), &header).expect("memory");
    let place = StatePlace { position: 4, cycle: 5, last: None };
    for state in [first, second] {
        writer.add(&place, state).expect("memory");
    }
    let bytes = writer.into_inner();
    let states = read(bytes.clone()).expect("own bytes");
    assert_eq!(states, [first, second]);
    // A damaged file must be refused.
    if let Some((at, change)) = data.split_first().filter(|(_, rest)| !rest.is_empty()) {
        let mut damaged = bytes;
        let at = usize::from(*at) * damaged.len() / 256;
        damaged[at] ^= change[0] | 1;
        assert_eq!(read(damaged), None);
    }
});

fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

/// Returns all states of a file, or `None` if it is not a valid states file.
fn read(bytes: Vec<u8>) -> Option<Vec<Vec<u64>>> {
    let mut reader = match StatesReader::new(Cursor::new(bytes), "a.states") {
        Ok(reader) => reader,
        Err(error) => {
            assert!(error.to_string().starts_with("a.states: "));
            return None;
        }
    };
    if reader.header().words > WORDS {
        return None;
    }
    let mut states = Vec::new();
    loop {
        match reader.next_state() {
            Ok(Some((_, words))) => states.push(words.to_vec()),
            Ok(None) => return Some(states),
            Err(error) => {
                assert!(error.to_string().starts_with("a.states: "));
                return None;
            }
        }
        if states.len() > 100 {
            return None;
        }
    }
}
