//! The words that the plugin writes into shared memory and `n2sim capture` reads: one layout, used
//! by both sides (`n2sim` includes this very file).
//!
//! The memory is an array of 64-bit words: control words, a table of slot headers, and the slots.
//! A slot belongs to one stream (one virtual CPU) or to the block definitions; it is filled,
//! handed over full, and given back free. Whatever happens to the program, the words below a
//! slot's cursor are valid, so nothing is lost when it dies.
#![allow(dead_code, reason = "each side uses its half")]

/// First control word once the plugin is attached.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"n2cap\0\0\x02");

/// Number of slots. Few under Miri, which interprets every word of the memory (`cargo xtask sanitize`).
pub(crate) const SLOTS: usize = if cfg!(miri) { 4 } else { 256 };
/// Words of one slot (256 KiB). Under Miri just enough for two records of a page.
pub(crate) const SLOT_WORDS: usize = if cfg!(miri) { 1040 } else { 32 * 1024 };
/// Words of one slot header: a cache line, so that virtual CPUs do not share one.
pub(crate) const HEADER_WORDS: usize = 8;
/// First word of the slot headers.
pub(crate) const HEADERS_AT: usize = 512;
/// First word of the slots.
pub(crate) const SLOTS_AT: usize = HEADERS_AT + SLOTS * HEADER_WORDS;
/// Words of the whole memory.
pub(crate) const TOTAL_WORDS: usize = SLOTS_AT + SLOTS * SLOT_WORDS;

/// Control words, by index.
pub(crate) mod control {
    /// [`super::MAGIC`] once the plugin is attached.
    pub(crate) const MAGIC: usize = 0;
    /// Written by the reader: record no more.
    pub(crate) const STOP: usize = 1;
    /// Highest slot number used so far, plus one.
    pub(crate) const SLOTS_USED: usize = 2;
    /// Streams started so far.
    pub(crate) const STREAMS: usize = 3;
    /// Child processes made by `fork`, which are not recorded.
    pub(crate) const FORKS: usize = 4;
    /// Times a virtual CPU found no slot and was dropped from then on.
    pub(crate) const DROPPED: usize = 5;
    /// Instructions counted by the engine itself, brought up to date at system calls and at exit.
    pub(crate) const ENGINE_COUNT: usize = 6;
    /// 1 once the engine reported a regular exit.
    pub(crate) const EXITED: usize = 7;
    /// Lowest plugin API the engine speaks.
    pub(crate) const API_MIN: usize = 8;
    /// Highest plugin API the engine speaks.
    pub(crate) const API_MAX: usize = 9;
    /// Code pages that could not be copied.
    pub(crate) const PAGES_LOST: usize = 10;
    /// Address at which the program's lowest executable segment was loaded.
    pub(crate) const START_CODE: usize = 11;
    /// 1 once a recorded system passed its stop marker.
    pub(crate) const DONE: usize = 32;
    /// What X0 held there.
    pub(crate) const DONE_VALUE: usize = 33;
    /// 1 if the engine gives register values.
    pub(crate) const HAS_REGISTERS: usize = 34;
    /// 1 once the recording of a system began.
    pub(crate) const BEGUN: usize = 35;
    /// 1 if the engine gives the predicates of vectors of 16 bytes.
    pub(crate) const HAS_PREDICATES: usize = 36;
    /// 1 once a virtual CPU ran that is not recorded: its number is [`super::MAX_VCPUS`] or more.
    pub(crate) const BEYOND: usize = 37;
    /// Written by the reader: kind of the place where recording begins ([`super::MARK_WORD`],
    /// [`super::MARK_ADDRESS`] or 0), and in the next word the place.
    pub(crate) const MARK_FROM: usize = 16;
    /// The same for the place where recording ends.
    pub(crate) const MARK_TO: usize = 18;
    /// Written by the reader: 1 if the program can be loaded anywhere.
    pub(crate) const IS_MOVABLE: usize = 20;
    /// Written by the reader: the lowest executable address in such a program's file.
    pub(crate) const FILE_START: usize = 21;
}

/// Words of a slot header, by index.
pub(crate) mod header {
    /// [`super::FREE`], [`super::CLAIMED`], [`super::FILLING`] or [`super::FULL`]. To be read before
    /// the other words: in the last two states these are as the plugin wrote them for this use of the slot.
    pub(crate) const STATE: usize = 0;
    /// Stream number, or [`super::DEFINITIONS`].
    pub(crate) const STREAM: usize = 1;
    /// Position of the slot in its stream, from 0.
    pub(crate) const SEQUENCE: usize = 2;
    /// Valid words.
    pub(crate) const CURSOR: usize = 3;
}

/// Kind of a mark: an instruction word.
pub(crate) const MARK_WORD: u64 = 1;
/// Kind of a mark: an address of the program's file.
pub(crate) const MARK_ADDRESS: u64 = 2;

/// Slot state: nobody uses it.
pub(crate) const FREE: u64 = 0;
/// Slot state: the plugin appends.
pub(crate) const FILLING: u64 = 1;
/// Slot state: waits for the reader.
pub(crate) const FULL: u64 = 2;
/// Slot state: a thread has taken it, and its header may still be that of its last use.
pub(crate) const CLAIMED: u64 = 3;

/// Stream number of the slots that define blocks and code pages.
pub(crate) const DEFINITIONS: u64 = u64::MAX;

/// Virtual CPUs that are recorded, those with lower numbers.
pub(crate) const MAX_VCPUS: usize = 4096;

/// Bytes of a code page.
pub(crate) const PAGE_BYTES: u64 = 4096;
/// Most instructions of one block.
pub(crate) const MAX_BLOCK: usize = 512;

/// One word of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// A block begins to run: its number in the definitions.
    Block(u32),
    /// The block before began only so many of its instructions.
    Started(u32),
    /// System call entered: its number; its six arguments are in the next words.
    SyscallEnter(u32),
    /// System call returned; its result is in the next word.
    SyscallReturn(u32),
    /// A handler is being set for this signal; its address is in the next word.
    Handler(u32),
    /// Of a whole system: Xt of instruction `index` of the running block; its value is in the next word.
    Operand(u32),
    /// Of a whole system: an exception arrived at this offset of the vector table; the next words are its
    /// syndrome and the address that it returns to.
    Exception(u32),
    /// Of a whole system: a page is used as these [`page`] bits say; its virtual and its physical address
    /// are in the next words.
    Page(u32),
    /// Of a whole system: the recording begins with this table; its address is in the next word.
    Table,
    /// Of a whole system: instruction `index` of the running block has this governing predicate; its 16 bits
    /// are in the next word.
    Predicate(u32),
    /// Instruction `index` of the running block synchronizes threads, or with [`NEXT_BLOCK`] the first of the
    /// next block; its number among all that do is in the next word.
    Ticket(u32),
    /// The thread runs on unrecorded, with this block.
    Paused(u32),
    /// The thread is recorded again, from the next block on; the instructions that were not are in
    /// the next word, [`UNKNOWN`] if nobody counted them.
    Resumed,
    /// One access of instruction `index` of the running block.
    Access {
        /// Index of the instruction in its block.
        index: u32,
        /// First byte touched.
        addr: u64,
    },
}

const TAG_SHIFT: u32 = 60;
const TAG_BLOCK: u64 = 0;
const TAG_STARTED: u64 = 1;
const TAG_ENTER: u64 = 2;
const TAG_RETURN: u64 = 3;
const TAG_HANDLER: u64 = 4;
/// What is rare, most of it only in a whole system; which of it is in bits 24 to 31.
const TAG_SYSTEM: u64 = 5;
const SYSTEM_SHIFT: u32 = 24;
const SYSTEM_OPERAND: u32 = 0;
const SYSTEM_EXCEPTION: u32 = 1;
const SYSTEM_PAGE: u32 = 2;
const SYSTEM_TABLE: u32 = 3;
const SYSTEM_PREDICATE: u32 = 4;
const SYSTEM_TICKET: u32 = 5;
const TAG_PAUSED: u64 = 6;
const TAG_RESUMED: u64 = 7;
const ACCESS: u64 = 1 << 63;
const INDEX_SHIFT: u32 = 54;
const ADDR_MASK: u64 = (1 << INDEX_SHIFT) - 1;

impl Word {
    /// The 64 bits of the word.
    #[inline]
    pub(crate) fn encode(self) -> u64 {
        match self {
            Word::Block(id) => TAG_BLOCK << TAG_SHIFT | u64::from(id),
            Word::Started(n) => TAG_STARTED << TAG_SHIFT | u64::from(n),
            Word::SyscallEnter(n) => TAG_ENTER << TAG_SHIFT | u64::from(n),
            Word::SyscallReturn(n) => TAG_RETURN << TAG_SHIFT | u64::from(n),
            Word::Handler(n) => TAG_HANDLER << TAG_SHIFT | u64::from(n),
            Word::Operand(n) => system(SYSTEM_OPERAND, n),
            Word::Exception(n) => system(SYSTEM_EXCEPTION, n),
            Word::Page(n) => system(SYSTEM_PAGE, n),
            Word::Table => system(SYSTEM_TABLE, 0),
            Word::Predicate(n) => system(SYSTEM_PREDICATE, n),
            Word::Ticket(n) => system(SYSTEM_TICKET, n),
            Word::Paused(id) => TAG_PAUSED << TAG_SHIFT | u64::from(id),
            Word::Resumed => TAG_RESUMED << TAG_SHIFT,
            Word::Access { index, addr } => {
                ACCESS | u64::from(index) << INDEX_SHIFT | addr & ADDR_MASK
            }
        }
    }

    /// The word of these 64 bits; `None` for a tag that nobody writes. An address keeps 54 bits and
    /// is extended with its sign (the top byte of an AArch64 address is a tag).
    #[inline]
    pub(crate) fn decode(bits: u64) -> Option<Word> {
        if bits & ACCESS != 0 {
            let index = (bits >> INDEX_SHIFT) as u32 & (MAX_BLOCK as u32 - 1);
            let unused = u64::BITS - INDEX_SHIFT;
            let addr = ((bits << unused) as i64 >> unused) as u64;
            return Some(Word::Access { index, addr });
        }
        let payload = bits as u32;
        match bits >> TAG_SHIFT {
            TAG_BLOCK => Some(Word::Block(payload)),
            TAG_STARTED => Some(Word::Started(payload)),
            TAG_ENTER => Some(Word::SyscallEnter(payload)),
            TAG_RETURN => Some(Word::SyscallReturn(payload)),
            TAG_HANDLER => Some(Word::Handler(payload)),
            TAG_SYSTEM => {
                let argument = payload & ((1 << SYSTEM_SHIFT) - 1);
                match payload >> SYSTEM_SHIFT {
                    SYSTEM_OPERAND => Some(Word::Operand(argument)),
                    SYSTEM_EXCEPTION => Some(Word::Exception(argument)),
                    SYSTEM_PAGE => Some(Word::Page(argument)),
                    SYSTEM_TABLE => Some(Word::Table),
                    SYSTEM_PREDICATE => Some(Word::Predicate(argument)),
                    SYSTEM_TICKET => Some(Word::Ticket(argument)),
                    _ => None,
                }
            }
            TAG_PAUSED => Some(Word::Paused(payload)),
            TAG_RESUMED => Some(Word::Resumed),
            _ => None,
        }
    }
}

#[inline]
fn system(what: u32, argument: u32) -> u64 {
    TAG_SYSTEM << TAG_SHIFT | u64::from(what << SYSTEM_SHIFT | argument)
}

/// What [`Word::Page`] says of a page.
pub(crate) mod page {
    /// It was read.
    pub(crate) const READ: u32 = 1;
    /// It was written.
    pub(crate) const WRITE: u32 = 2;
    /// Code of it was run.
    pub(crate) const EXECUTE: u32 = 4;
    /// A device answers there.
    pub(crate) const DEVICE: u32 = 8;
}

/// The word by which a guest says that the recording begins: `movz xzr, #0x4e31`, which does nothing.
pub(crate) const START_MARKER: u32 = 0xd280_001f | 0x4e31 << 5;
/// The word by which a guest says that the recording ends, with a value in X0: `movz xzr, #0x4e32`.
pub(crate) const STOP_MARKER: u32 = 0xd280_001f | 0x4e32 << 5;

/// In [`Word::Ticket`]: the instruction behind the running block.
pub(crate) const NEXT_BLOCK: u32 = MAX_BLOCK as u32;
/// A number behind [`Word::Resumed`] that nobody counted.
pub(crate) const UNKNOWN: u64 = u64::MAX;
/// Words behind [`Word::SyscallEnter`].
pub(crate) const SYSCALL_ARGS: usize = 6;
/// First word of a block definition, with its number of instructions; then its program counter,
/// then its words, two in each.
pub(crate) const DEFINE_BLOCK: u64 = 1 << 56;
/// First word of a code page, with its number of 64-bit words: then its address, then its bytes.
pub(crate) const DEFINE_PAGE: u64 = 2 << 56;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_survives_its_encoding() {
        let words = [
            Word::Block(u32::MAX),
            Word::Started(511),
            Word::SyscallEnter(64),
            Word::SyscallReturn(64),
            Word::Handler(11),
            Word::Operand(511),
            Word::Exception(0x780),
            Word::Page(page::READ | page::DEVICE),
            Word::Table,
            Word::Predicate(511),
            Word::Ticket(NEXT_BLOCK),
            Word::Paused(7),
            Word::Resumed,
            Word::Access { index: 0, addr: 0 },
            Word::Access { index: 511, addr: 0x000f_ffff_ffff_ffff },
            Word::Access { index: 3, addr: 0xffff_8000_1234_5678 },
        ];
        for word in words {
            assert_eq!(Word::decode(word.encode()), Some(word));
        }
    }

    #[test]
    fn a_foreign_tag_is_no_word() {
        assert_eq!(Word::decode(TAG_SYSTEM << TAG_SHIFT | 6 << SYSTEM_SHIFT), None);
    }
}
