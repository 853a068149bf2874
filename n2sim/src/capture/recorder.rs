//! Drains the plugin's memory into a trace while the program runs, and finishes the trace however
//! the program ends.

use super::block::BlockInfo;
use super::ending::After;
use super::output::Output;
use super::recording_state::Shared;
use super::shared_memory::{Damage, SharedMemory, SlotHeader};
use super::stream::Stream;
use super::unreported::Unreported;
use super::wire::{
    self, DEFINE_BLOCK, DEFINE_FILE, DEFINE_PAGE, DEFINITIONS, FILE_WORDS, MAX_BLOCK, PAGE_BYTES,
    control,
};
use anyhow::{Result, bail};
use sim_trace::MappedFile;
use std::collections::BTreeMap;

/// Most mapped files that are noted. A process has a few hundred; only one that writes into the
/// memory of its recording defines more.
const MAX_FILES: usize = 4096;

/// Turns slots into trace chunks.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    pub(crate) shared: Shared,
    streams: BTreeMap<u64, Progress>,
    /// Slots of definitions taken so far, and words taken of the current one.
    definition_slot: u64,
    definition_word: usize,
}

#[derive(Debug)]
struct Progress {
    stream: Stream,
    next_slot: Option<u64>,
}

impl Recorder {
    /// Checks the number of streams. On plugin API 1, all threads share one counter of started
    /// instructions. It shows the end of a block only while there is one thread.
    pub(crate) fn note_streams(&mut self, memory: &mut SharedMemory) -> Result<()> {
        self.shared.is_exact = memory.control(control::STREAMS)? <= 1;
        Ok(())
    }

    /// Takes every full slot. Returns whether there was any. Damaged memory is noted in the tally,
    /// and nothing is taken from then on.
    pub(crate) fn drain(&mut self, memory: &mut SharedMemory, output: &mut Output) -> Result<bool> {
        if self.is_damaged() {
            return Ok(false);
        }
        let taken = self.take_all(memory, output, |slot| slot.state == wire::FULL);
        self.note_damage(taken)
    }

    /// Takes the rest when the program has ended, including partly filled slots.
    pub(crate) fn finish(
        &mut self,
        memory: &mut SharedMemory,
        output: &mut Output,
        signal: Option<u32>,
    ) -> Result<()> {
        if !self.is_damaged() {
            // A slot without words has nothing to take.
            let is_used = |slot: &SlotHeader| {
                slot.state == wire::FULL || slot.state == wire::FILLING && slot.cursor > 0
            };
            let taken = self.take_all(memory, output, is_used);
            let taken = taken.and_then(|has_taken| self.refuse_left(memory).map(|()| has_taken));
            self.note_damage(taken)?;
        }
        if self.is_damaged() {
            self.salvage(memory, output)?;
        }
        // If the memory was damaged, the program was ended between two arbitrary instructions.
        let signal = signal.filter(|_| !self.is_damaged());
        for progress in self.streams.values_mut() {
            progress.stream.end(After::Death(signal), &mut self.shared, output)?;
        }
        Ok(())
    }

    /// Returns whether the memory has held data that no plugin writes.
    pub(crate) fn is_damaged(&self) -> bool {
        self.shared.tally.damage.is_some()
    }

    /// Takes the intact part of damaged memory: for each thread, the words before the first one
    /// that no plugin writes.
    fn salvage(&mut self, memory: &mut SharedMemory, output: &mut Output) -> Result<()> {
        memory.salvage();
        let mut slots = memory.headers()?;
        slots.retain(|slot| {
            !matches!(slot.state, wire::FREE | wire::CLAIMED)
                && slot.stream != DEFINITIONS
                && slot.cursor > 0
        });
        slots.sort_by_key(|slot| (slot.stream, slot.sequence));
        for slot in &slots {
            let taken = self.take_definitions(memory, output);
            let taken = taken.and_then(|()| self.take_slot(slot, memory, output));
            self.note_damage(taken)?;
        }
        Ok(())
    }

    fn note_damage(&mut self, taken: Result<bool>) -> Result<bool> {
        let error = match taken {
            Ok(has_taken) => return Ok(has_taken),
            Err(error) => error,
        };
        let Damage(what) = error.downcast()?;
        self.shared.tally.damage.get_or_insert(what);
        Ok(false)
    }

    fn take_all(
        &mut self,
        memory: &mut SharedMemory,
        output: &mut Output,
        is_wanted: impl Fn(&SlotHeader) -> bool,
    ) -> Result<bool> {
        let mut slots = memory.headers()?;
        slots.retain(|slot| slot.stream != DEFINITIONS && is_wanted(slot));
        // Every block was defined before its first word was written. Definitions are taken even
        // without such a word, because the plugin waits while much is left to take.
        self.take_definitions(memory, output)?;
        slots.sort_by_key(|slot| (slot.stream, slot.sequence));
        let mut has_taken = false;
        for slot in &slots {
            has_taken |= self.take_slot(slot, memory, output)?;
        }
        Ok(has_taken)
    }

    /// Refuses full slots that do not continue any stream, once all others have been taken.
    fn refuse_left(&self, memory: &mut SharedMemory) -> Result<()> {
        let slots = memory.headers()?;
        let left = slots
            .iter()
            .find(|slot| slot.state == wire::FULL && slot.stream != DEFINITIONS && slot.cursor > 0);
        let Some(slot) = left else { return Ok(()) };
        bail!(Damage(format!(
            "slot {} of thread {} has no slot before it",
            slot.sequence, slot.stream
        )))
    }

    /// Takes one slot, whose blocks are defined, if it is the next of its stream.
    fn take_slot(
        &mut self,
        slot: &SlotHeader,
        memory: &mut SharedMemory,
        output: &mut Output,
    ) -> Result<bool> {
        let words = memory.slot(slot, 0)?;
        let started = memory.control(control::STREAMS)?;
        let number = u32::try_from(slot.stream).ok().filter(|_| slot.stream < started);
        let Some(number) = number else {
            bail!(Damage(format!("thread {} of {started} has words", slot.stream)));
        };
        let progress = self
            .streams
            .entry(slot.stream)
            .or_insert_with(|| Progress { stream: Stream::new(number), next_slot: Some(0) });
        if progress.next_slot != Some(slot.sequence) {
            return Ok(false);
        }
        // After damage, nothing continues the stream.
        progress.next_slot = None;
        progress.stream.take(&words, &mut self.shared, output)?;
        progress.next_slot = slot.sequence.checked_add(1);
        memory.free(slot)?;
        Ok(true)
    }

    /// Takes all definitions written so far.
    fn take_definitions(&mut self, memory: &mut SharedMemory, output: &mut Output) -> Result<()> {
        // More than there are slots cannot be full at once.
        for _ in 0..=wire::SLOTS {
            let slots = memory.headers()?;
            let current = slots.iter().find(|slot| {
                !matches!(slot.state, wire::FREE | wire::CLAIMED)
                    && slot.stream == DEFINITIONS
                    && slot.sequence == self.definition_slot
            });
            let Some(slot) = current else { return Ok(()) };
            let words = memory.slot(slot, self.definition_word)?;
            self.definition_word += words.len();
            self.define(&words, output)?;
            if slot.state != wire::FULL {
                return Ok(());
            }
            memory.free(slot)?;
            self.definition_slot += 1;
            self.definition_word = 0;
        }
        Ok(())
    }

    fn define(&mut self, mut words: &[u64], output: &mut Output) -> Result<()> {
        while let [head, addr, rest @ ..] = words {
            let length = (head & 0xffff_ffff) as usize;
            let kind = head - length as u64;
            let page_words = PAGE_BYTES as usize / size_of::<u64>();
            let is_page = addr.is_multiple_of(PAGE_BYTES) && length == page_words;
            // The end of a block's last instruction is an address too.
            let is_block = addr.is_multiple_of(4)
                && (1..=MAX_BLOCK).contains(&length)
                && addr.checked_add(4 * length as u64).is_some();
            let body = match kind {
                DEFINE_BLOCK if is_block => length.div_ceil(2),
                DEFINE_PAGE if is_page => length,
                DEFINE_FILE => length,
                _ => bail!(Damage(format!("the definition {head:#x} at {addr:#x}"))),
            };
            let Some((body, after)) = rest.split_at_checked(body) else {
                bail!(Damage(format!("the definition at {addr:#x} is cut")));
            };
            if kind == DEFINE_FILE {
                let file = mapped_file(*addr, body);
                let Some(file) = file else { bail!(Damage(format!("the file at {addr:#x}"))) };
                let files = &mut output.trace.meta_mut().files;
                if files.len() < MAX_FILES && !files.contains(&file) {
                    files.push(file);
                }
            } else if kind == DEFINE_PAGE {
                let bytes: Vec<u8> = body.iter().flat_map(|word| word.to_le_bytes()).collect();
                output.trace.image_page(*addr, &bytes)?;
                self.shared.code.page(*addr, bytes);
            } else {
                let halves = body.iter().flat_map(|&pair| [pair as u32, (pair >> 32) as u32]);
                let words: Vec<u32> = halves.take(length).collect();
                let id = output.trace.define_block(*addr, &words)?;
                let info = BlockInfo::new(id, *addr, words);
                let needs_values = |kind: &Unreported| *kind != Unreported::ZeroLine;
                self.shared.follows |= info.unreported.iter().any(|(_, kind)| needs_values(kind));
                self.shared.blocks.push(info);
            }
            words = after;
        }
        Ok(())
    }
}

/// Returns the file mapped at `start` from the words that define it, or `None` if no plugin writes
/// them.
fn mapped_file(start: u64, words: &[u64]) -> Option<MappedFile> {
    let (&[bytes, offset, length], path) = words.split_first_chunk::<FILE_WORDS>()?;
    let length = usize::try_from(length).ok().filter(|length| *length <= wire::MAX_PATH)?;
    let path: Vec<u8> = path.iter().flat_map(|word| word.to_le_bytes()).collect();
    let path = String::from_utf8_lossy(path.get(..length)?).into_owned();
    start.checked_add(bytes)?;
    Some(MappedFile { path, start, bytes, offset, ..MappedFile::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_trace::{Meta, TraceWriter, WriterOptions};

    /// Returns memory whose first slot has this state and stream, the remains of its last use, and
    /// words that are damage if taken.
    fn memory(state: u64, stream: u64) -> SharedMemory {
        let memory = SharedMemory::create().expect("memory files exist on Linux");
        let first = |field: usize| wire::HEADERS_AT + field;
        for (index, value) in [
            (control::SLOTS_USED, 1),
            (control::STREAMS, 1),
            (first(wire::header::STATE), state),
            (first(wire::header::STREAM), stream),
            (first(wire::header::CURSOR), 2),
            (wire::SLOTS_AT, 5),
            (wire::SLOTS_AT + 1, 6),
        ] {
            memory.set(index, value).expect("it can be written");
        }
        memory
    }

    #[test]
    fn a_claimed_slot_has_nothing_to_take() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("t.n2t");
        let trace = TraceWriter::create_with(&path, Meta::default(), WriterOptions::default());
        let mut output = Output { trace: trace.expect("room"), skip: 0 };
        for stream in [DEFINITIONS, 0] {
            for (state, is_damage) in [(wire::FULL, true), (wire::CLAIMED, false)] {
                let mut recorder = Recorder::default();
                let taken = recorder.take_definitions(&mut memory(state, stream), &mut output);
                let is_taken = is_damage && stream == DEFINITIONS;
                assert_eq!(taken.is_err(), is_taken, "definitions, stream {stream}");
                recorder.finish(&mut memory(state, stream), &mut output, None).expect("it ends");
                let is_taken = is_damage && stream != DEFINITIONS;
                assert_eq!(recorder.is_damaged(), is_taken, "stream {stream}, state {state}");
                let mut recorder = Recorder::default();
                recorder.salvage(&mut memory(state, stream), &mut output).expect("it ends");
                assert_eq!(recorder.is_damaged(), is_taken, "salvage, stream {stream}");
            }
        }
    }
}
