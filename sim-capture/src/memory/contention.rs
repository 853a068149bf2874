//! Test of threads that claim, fill and publish slots while a reader drains them. Miri and the
//! thread sanitizer run it too (`cargo xtask sanitize`).

use super::*;

/// Number of threads, each with its own stream.
const STREAMS: usize = 3;
/// Slots of each stream: together more than the memory has, so that slots are reused.
const SLOTS_OF_EACH: u64 = if cfg!(miri) { 4 } else { 500 };
/// Words of each slot: few, so that threads claim slots most of the time.
const WORDS: u64 = 3;

/// Returns a word that encodes its stream, slot and index.
fn word(stream: u64, sequence: u64, index: u64) -> u64 {
    stream << 32 | sequence << 8 | index
}

/// Writes one stream, like a thread of the engine. Returns early if the reader stops.
fn write(memory: SharedMemory, stream: u64) {
    let Some(mut writer) = StreamWriter::new(memory, stream) else { return };
    for sequence in 0..SLOTS_OF_EACH {
        for index in 0..WORDS {
            if !writer.push(word(stream, sequence, index)) {
                return;
            }
        }
        writer.publish();
    }
}

/// Number of slots drained so far from each stream.
type Taken = [u64; STREAMS];

/// Drains the memory once, like the reader: checks all words below the cursors, also in slots that
/// are being filled, and frees each full slot that is the next of its stream. Returns whether it
/// freed any.
fn drain(memory: SharedMemory, taken: &mut Taken) -> Result<bool, String> {
    let before = *taken;
    for slot in 0..memory.control(control::SLOTS_USED).load(Ordering::Acquire) as usize {
        let (fields, data) = (memory.header(slot), memory.data(slot));
        let state = fields[header::STATE].load(Ordering::Acquire);
        if !matches!(state, FILLING | FULL) {
            continue;
        }
        let stream = fields[header::STREAM].load(Ordering::Relaxed);
        let sequence = fields[header::SEQUENCE].load(Ordering::Relaxed);
        let cursor = fields[header::CURSOR].load(Ordering::Acquire);
        for index in 0..cursor {
            let (found, wanted) =
                (data[index as usize].load(Ordering::Relaxed), word(stream, sequence, index));
            if found != wanted {
                return Err(format!("slot {slot} in state {state}: {found:#x}, not {wanted:#x}"));
            }
        }
        let next = &mut taken[stream as usize];
        if state == FULL && *next == sequence && cursor == WORDS {
            *next += 1;
            fields[header::CURSOR].store(0, Ordering::Relaxed);
            fields[header::STATE].store(FREE, Ordering::Release);
        }
    }
    Ok(*taken != before)
}

#[test]
fn every_word_arrives_once_when_threads_contend_for_slots() {
    let memory = SharedMemory::for_test();
    let mut taken = Taken::default();
    let fault = std::thread::scope(|scope| {
        let writers: Vec<_> =
            (0..STREAMS as u64).map(|stream| scope.spawn(move || write(memory, stream))).collect();
        loop {
            let is_over = writers.iter().all(|writer| writer.is_finished());
            match drain(memory, &mut taken) {
                Ok(true) => {}
                Ok(false) if is_over => return None,
                Ok(false) => std::thread::yield_now(),
                Err(fault) => {
                    memory.control(control::STOP).store(1, Ordering::Relaxed);
                    return Some(fault);
                }
            }
        }
    });
    assert_eq!(fault, None);
    // The scope has joined the threads, so their last words are visible by now.
    while drain(memory, &mut taken).expect("no fault is left") {}
    assert_eq!(taken, [SLOTS_OF_EACH; STREAMS]);
    assert_eq!(memory.word(control::DROPPED), 0);
}
