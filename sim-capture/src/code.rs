//! Table of translated code: blocks, each with a fixed number, and their code pages.

use crate::mappings::Mappings;
use crate::memory::StreamWriter;
use crate::wire::{DEFINE_BLOCK, DEFINE_FILE, DEFINE_PAGE};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Table that numbers blocks by program counter and words, so that changed code gets a new number.
/// Sends each block and each state of a code page once.
#[derive(Debug)]
pub(crate) struct CodeTable {
    definitions: StreamWriter,
    blocks: HashMap<(u64, Box<[u32]>), u32>,
    pages: HashMap<u64, u64>,
    mappings: Mappings,
}

impl CodeTable {
    /// Creates an empty table that writes to `definitions`.
    pub(crate) fn new(definitions: StreamWriter) -> CodeTable {
        CodeTable {
            definitions,
            blocks: HashMap::new(),
            pages: HashMap::new(),
            mappings: Mappings::default(),
        }
    }

    /// Returns the number of the block of `words` at `pc`, or `None` if it could not be sent.
    pub(crate) fn block(&mut self, pc: u64, words: &[u32]) -> Option<u32> {
        let next = self.blocks.len() as u32;
        let key = (pc, Box::from(words));
        if let Some(&id) = self.blocks.get(&key) {
            return Some(id);
        }
        let mut record = vec![DEFINE_BLOCK | words.len() as u64, pc];
        record.extend(words.chunks(2).map(|pair| {
            let high = pair.get(1).copied().unwrap_or(0);
            u64::from(high) << 32 | u64::from(pair[0])
        }));
        if !self.definitions.push_record(&record) {
            return None;
        }
        self.blocks.insert(key, next);
        Some(next)
    }

    /// Sends the page at `va`, which is at `host` in this process, with content `page`, unless that
    /// content was the last one sent.
    pub(crate) fn page(&mut self, va: u64, host: u64, page: &[u64]) {
        let mut hasher = DefaultHasher::new();
        page.hash(&mut hasher);
        let hash = hasher.finish();
        match self.pages.insert(va, hash) {
            Some(before) if before == hash => return,
            Some(_) => self.mappings.forget(host),
            None => {}
        }
        let mut record = vec![DEFINE_PAGE | page.len() as u64, va];
        record.extend_from_slice(page);
        self.definitions.push_record(&record);
    }

    /// Sends the file that holds the code at `va`, which is at `host` in this process, unless it
    /// was sent before.
    pub(crate) fn file(&mut self, va: u64, host: u64) {
        let Some(mapping) = self.mappings.find(host) else { return };
        let start = va.wrapping_sub(host - mapping.host.start);
        let path = mapping.path.as_bytes();
        let words = path.chunks(size_of::<u64>()).map(|bytes| {
            let mut word = [0; size_of::<u64>()];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        });
        let length = mapping.host.end - mapping.host.start;
        let mut record = vec![0, start, length, mapping.offset, path.len() as u64];
        record.extend(words);
        record[0] = DEFINE_FILE | (record.len() - 2) as u64;
        self.definitions.push_record(&record);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::SharedMemory;
    use crate::wire::{DEFINITIONS, HEADERS_AT, SLOTS_AT, header};

    const CURSOR_OF_SLOT_0: usize = HEADERS_AT + header::CURSOR;

    fn table() -> (SharedMemory, CodeTable) {
        let memory = SharedMemory::for_test();
        let definitions = StreamWriter::new(memory, DEFINITIONS).expect("all slots are free");
        (memory, CodeTable::new(definitions))
    }

    #[test]
    fn a_block_is_sent_once_and_changed_code_gets_a_new_number() {
        let (memory, mut code) = table();
        assert_eq!(code.block(0x1000, &[1, 2, 3]), Some(0));
        assert_eq!(code.block(0x1000, &[1, 2, 3]), Some(0));
        assert_eq!(code.block(0x1000, &[1, 2, 4]), Some(1));
        assert_eq!(memory.word(CURSOR_OF_SLOT_0), 8);
        let sent: Vec<u64> = (0..4).map(|at| memory.word(SLOTS_AT + at)).collect();
        assert_eq!(sent, [DEFINE_BLOCK | 3, 0x1000, 2 << 32 | 1, 3]);
    }

    #[test]
    fn a_page_is_sent_again_only_when_it_changed() {
        let (memory, mut code) = table();
        code.page(0x4000, 0, &[7; 512]);
        code.page(0x4000, 0, &[7; 512]);
        assert_eq!(memory.word(CURSOR_OF_SLOT_0), 514);
        code.page(0x4000, 0, &[8; 512]);
        assert_eq!(memory.word(CURSOR_OF_SLOT_0), 2 * 514);
    }
    #[cfg(not(miri))] // Miri has no list of mappings.
    #[test]
    fn the_file_of_code_is_sent_once_at_its_address_in_the_program() {
        let (memory, mut code) = table();
        let host = table as fn() -> (SharedMemory, CodeTable) as usize as u64;
        code.file(0x4000_0000 + host % 0x1000, host);
        let cursor = memory.word(CURSOR_OF_SLOT_0);
        code.file(0x4000_0000 + host % 0x1000, host);
        assert_eq!(memory.word(CURSOR_OF_SLOT_0), cursor);
        let sent: Vec<u64> = (0..cursor as usize).map(|at| memory.word(SLOTS_AT + at)).collect();
        assert_eq!(sent[0], DEFINE_FILE | (cursor - 2));
        assert!(sent[1] <= 0x4000_0000 && 0x4000_0000 < sent[1] + sent[2], "{sent:x?}");
        let path: Vec<u8> = sent[5..].iter().flat_map(|word| word.to_le_bytes()).collect();
        let program = std::env::current_exe().expect("it has a path");
        assert_eq!(path[..sent[4] as usize], *program.to_string_lossy().as_bytes());
    }
}
