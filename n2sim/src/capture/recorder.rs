//! Drains the plugin's memory into a trace while the program runs, and finishes the trace whatever
//! becomes of the program.

use super::a64::Unreported;
use super::ending::After;
use super::shared_memory::{SharedMemory, SlotHeader};
use super::stream::{BlockInfo, Output, Shared, Stream};
use super::wire::{self, DEFINE_BLOCK, DEFINE_PAGE, DEFINITIONS, PAGE_BYTES, control};
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;

/// Turns slots into trace chunks.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    pub(super) shared: Shared,
    streams: BTreeMap<u64, Progress>,
    /// Slots of definitions taken so far, and words taken of the current one.
    definition_slot: u64,
    definition_word: usize,
}

#[derive(Debug)]
struct Progress {
    stream: Stream,
    next_slot: u64,
}

impl Recorder {
    /// One counter of started instructions serves all threads on plugin API 1, so it says where a
    /// block ended only while there is one thread.
    pub(super) fn note_streams(&mut self, memory: &mut SharedMemory) -> Result<()> {
        self.shared.is_exact = memory.control(control::STREAMS)? <= 1;
        Ok(())
    }

    /// Takes every full slot; true if there was any.
    pub(super) fn drain(&mut self, memory: &mut SharedMemory, output: &mut Output) -> Result<bool> {
        let mut slots = memory.headers()?;
        slots.retain(|slot| slot.state == wire::FULL && slot.stream != DEFINITIONS);
        slots.sort_by_key(|slot| (slot.stream, slot.sequence));
        let mut has_taken = false;
        for slot in &slots {
            has_taken |= self.take_slot(slot, memory, output)?;
        }
        Ok(has_taken)
    }

    /// Takes what is left when the program is gone: also the slots that were not full.
    pub(super) fn finish(
        &mut self,
        memory: &mut SharedMemory,
        output: &mut Output,
        signal: Option<u32>,
    ) -> Result<()> {
        let mut slots = memory.headers()?;
        slots.retain(|slot| slot.state != wire::FREE && slot.stream != DEFINITIONS);
        slots.sort_by_key(|slot| (slot.stream, slot.sequence));
        for slot in &slots {
            self.take_slot(slot, memory, output)?;
        }
        for progress in self.streams.values_mut() {
            progress.stream.end(After::Death(signal), &mut self.shared, output)?;
        }
        Ok(())
    }

    /// Takes one slot if it is the next of its stream.
    fn take_slot(
        &mut self,
        slot: &SlotHeader,
        memory: &mut SharedMemory,
        output: &mut Output,
    ) -> Result<bool> {
        let words = memory.slot(slot, 0)?;
        // Every block was defined before its first word was written.
        self.take_definitions(memory, output)?;
        let number =
            u32::try_from(slot.stream).context("the plugin's stream number is too large")?;
        let progress = self
            .streams
            .entry(slot.stream)
            .or_insert_with(|| Progress { stream: Stream::new(number), next_slot: 0 });
        if progress.next_slot != slot.sequence {
            return Ok(false);
        }
        progress.next_slot += 1;
        progress.stream.take(&words, &mut self.shared, output)?;
        memory.free(slot)?;
        Ok(true)
    }

    /// Takes all definitions written so far.
    fn take_definitions(&mut self, memory: &mut SharedMemory, output: &mut Output) -> Result<()> {
        loop {
            let slots = memory.headers()?;
            let current = slots.iter().find(|slot| {
                slot.state != wire::FREE
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
    }

    fn define(&mut self, mut words: &[u64], output: &mut Output) -> Result<()> {
        while let [head, addr, rest @ ..] = words {
            let length = (head & 0xffff_ffff) as usize;
            let body = match head - length as u64 {
                DEFINE_BLOCK => length.div_ceil(2),
                DEFINE_PAGE => length,
                _ => bail!("the plugin wrote the unknown definition {head:#x}: rebuild it"),
            };
            let Some((body, after)) = rest.split_at_checked(body) else {
                bail!("the plugin's definition at {addr:#x} is cut");
            };
            if head - length as u64 == DEFINE_PAGE {
                let bytes: Vec<u8> = body.iter().flat_map(|word| word.to_le_bytes()).collect();
                debug_assert_eq!(bytes.len() as u64, PAGE_BYTES);
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
