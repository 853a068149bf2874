//! Layout of the words that the plugin writes into shared memory and `n2sim capture` reads. Both
//! sides use it: `n2sim` includes this file.
//!
//! The memory is an array of 64-bit words: control words, a table of slot headers, and the slots. A
//! slot belongs to one stream (one virtual CPU) or to the block definitions. The plugin fills it
//! and marks it full; the reader drains it and marks it free. The words below a slot's cursor are
//! always valid, so no word is lost when the program dies.
#![allow(dead_code, reason = "each side uses its half")]

/// Value of the first control word once the plugin is attached.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"n2cap\0\0\x03");

/// Number of slots. Few under Miri, which interprets every word of the memory (`cargo xtask
/// sanitize`).
pub(crate) const SLOTS: usize = if cfg!(miri) { 4 } else { 256 };
/// Number of words in a slot (256 KiB). Under Miri just enough for two code pages.
pub(crate) const SLOT_WORDS: usize = if cfg!(miri) { 1040 } else { 32 * 1024 };
/// Number of words in a slot header: a cache line, so that virtual CPUs do not share one.
pub(crate) const HEADER_WORDS: usize = 8;
/// Index of the first word of the slot headers.
pub(crate) const HEADERS_AT: usize = 512;
/// Index of the first word of the slots.
pub(crate) const SLOTS_AT: usize = HEADERS_AT + SLOTS * HEADER_WORDS;
/// Number of words in the whole memory.
pub(crate) const TOTAL_WORDS: usize = SLOTS_AT + SLOTS * SLOT_WORDS;

/// Control words, by index.
pub(crate) mod control {
    /// [`super::MAGIC`] once the plugin is attached.
    pub(crate) const MAGIC: usize = 0;
    /// Written by the reader: nonzero to stop recording.
    pub(crate) const STOP: usize = 1;
    /// Highest slot number used so far, plus one.
    pub(crate) const SLOTS_USED: usize = 2;
    /// Number of streams started so far.
    pub(crate) const STREAMS: usize = 3;
    /// Number of child processes created by `fork`, which are not recorded.
    pub(crate) const FORKS: usize = 4;
    /// Number of virtual CPUs that found no slot and were dropped from then on.
    pub(crate) const DROPPED: usize = 5;
    /// Number of instructions counted by the engine, updated at system calls and at exit.
    pub(crate) const ENGINE_COUNT: usize = 6;
    /// 1 once the engine reported a regular exit.
    pub(crate) const EXITED: usize = 7;
    /// Lowest plugin API that the engine supports.
    pub(crate) const API_MIN: usize = 8;
    /// Highest plugin API that the engine supports.
    pub(crate) const API_MAX: usize = 9;
    /// Number of code pages that could not be copied.
    pub(crate) const PAGES_LOST: usize = 10;
    /// Load address of the program's lowest executable segment.
    pub(crate) const START_CODE: usize = 11;
    /// 1 once a recorded system passed its stop marker.
    pub(crate) const DONE: usize = 32;
    /// Value of X0 at the stop marker.
    pub(crate) const DONE_VALUE: usize = 33;
    /// 1 if the engine gives register values.
    pub(crate) const HAS_REGISTERS: usize = 34;
    /// 1 once the recording of a system began.
    pub(crate) const BEGUN: usize = 35;
    /// 1 if the engine gives predicates for 16-byte vectors.
    pub(crate) const HAS_PREDICATES: usize = 36;
    /// 1 once an unrecorded virtual CPU ran, with number [`super::MAX_VCPUS`] or above.
    pub(crate) const BEYOND: usize = 37;
    /// 1 once it was not known which of several processors of a system ran.
    pub(crate) const UNKNOWN_PROCESSOR: usize = 38;
    /// Written by the reader: kind of the place where recording begins ([`super::MARK_WORD`],
    /// [`super::MARK_ADDRESS`] or 0). The next word holds the place.
    pub(crate) const MARK_FROM: usize = 16;
    /// Written by the reader: kind of the place where recording ends, as for [`MARK_FROM`]. The
    /// next word holds the place.
    pub(crate) const MARK_TO: usize = 18;
    /// Written by the reader: 1 for a position-independent program.
    pub(crate) const IS_MOVABLE: usize = 20;
    /// Written by the reader: lowest executable address in the file of a position-independent
    /// program.
    pub(crate) const FILE_START: usize = 21;
}

/// Words of a slot header, by index.
pub(crate) mod header {
    /// State: [`super::FREE`], [`super::CLAIMED`], [`super::FILLING`] or [`super::FULL`]. Read it
    /// before the other words, which are valid for this use of the slot only in the last two
    /// states.
    pub(crate) const STATE: usize = 0;
    /// Stream number, or [`super::DEFINITIONS`].
    pub(crate) const STREAM: usize = 1;
    /// Position of the slot in its stream, from 0.
    pub(crate) const SEQUENCE: usize = 2;
    /// Number of valid words.
    pub(crate) const CURSOR: usize = 3;
}

/// Kind of a mark: an instruction word.
pub(crate) const MARK_WORD: u64 = 1;
/// Kind of a mark: an address of the program's file.
pub(crate) const MARK_ADDRESS: u64 = 2;

/// Slot state: unused.
pub(crate) const FREE: u64 = 0;
/// Slot state: the plugin appends words.
pub(crate) const FILLING: u64 = 1;
/// Slot state: full, ready for the reader.
pub(crate) const FULL: u64 = 2;
/// Slot state: claimed by a thread. The header may still be from the last use.
pub(crate) const CLAIMED: u64 = 3;

/// Stream number of the slots that define blocks and code pages.
pub(crate) const DEFINITIONS: u64 = u64::MAX;

/// Number of virtual CPUs that can be recorded. CPUs with this number or above are not.
pub(crate) const MAX_VCPUS: usize = 4096;

/// Most processors of a recorded system. The engine runs them in turn, so more only take longer.
pub(crate) const MAX_PROCESSORS: usize = 16;

/// Size of a code page, in bytes.
pub(crate) const PAGE_BYTES: u64 = 4096;
/// Largest number of instructions in a block.
pub(crate) const MAX_BLOCK: usize = 512;

/// One word of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// Start of a block. Holds its number in the definitions.
    Block(u32),
    /// Number of instructions that the previous block started, if it was left early.
    Started(u32),
    /// System call entry. Holds its number; the next words hold its six arguments.
    SyscallEnter(u32),
    /// System call return. The next word holds its result.
    SyscallReturn(u32),
    /// Setting of a handler for this signal. The next word holds its address.
    Handler(u32),
    /// Value of Xt, in the next word, for the instruction with this index in the running block.
    /// Whole systems only.
    Operand(u32),
    /// Exception, with its offset in the vector table. The next words hold its syndrome and its
    /// return address. Whole systems only.
    Exception(u32),
    /// Use of a page, as [`page`] bits. The next words hold its virtual and its physical address,
    /// and the number of the report among those of all processors. Whole systems only.
    Page(u32),
    /// Translation table at the start of the stream. The next word holds its address. Whole systems
    /// only.
    Table,
    /// Governing predicate of the instruction with this index in the running block. The next word
    /// holds its 16 bits. Whole systems only.
    Predicate(u32),
    /// Ticket of the instruction with this index in the running block, or of the first instruction
    /// of the next block ([`NEXT_BLOCK`]). The next word holds the number of the ticket.
    Ticket(u32),
    /// Pause: the thread continues unrecorded, with this block.
    Paused(u32),
    /// End of a pause: the thread is recorded from the next block on. The next word holds the
    /// number of unrecorded instructions, or [`UNKNOWN`].
    Resumed,
    /// One access of an instruction of the running block.
    Access {
        /// Index of the instruction in its block.
        index: u32,
        /// Address of the first byte accessed.
        addr: u64,
    },
}

const TAG_SHIFT: u32 = 60;
const TAG_BLOCK: u64 = 0;
const TAG_STARTED: u64 = 1;
const TAG_ENTER: u64 = 2;
const TAG_RETURN: u64 = 3;
const TAG_HANDLER: u64 = 4;
/// Tag of rare words, most of them for whole systems only. Bits 24 to 31 hold the kind.
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
    /// Returns the 64 bits of the word.
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

    /// Returns the word of these 64 bits, or `None` for an unknown tag. An address keeps 54 bits
    /// and is sign-extended (the top byte of an AArch64 address is a tag).
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

/// Returns true if an exception with this offset in the vector table is an interrupt, or an error
/// of the system.
#[inline]
pub(crate) fn is_interrupt(vector: u32) -> bool {
    vector & 0x180 != 0
}

/// Uses of a page, as bits of [`Word::Page`].
pub(crate) mod page {
    /// The page was read.
    pub(crate) const READ: u32 = 1;
    /// The page was written.
    pub(crate) const WRITE: u32 = 2;
    /// Code on the page was executed.
    pub(crate) const EXECUTE: u32 = 4;
    /// The page belongs to a device.
    pub(crate) const DEVICE: u32 = 8;
}

/// Instruction word of the start marker: `movz xzr, #0x4e31`, which has no effect. A guest runs it
/// to begin the recording.
pub(crate) const START_MARKER: u32 = 0xd280_001f | 0x4e31 << 5;
/// Instruction word of the stop marker: `movz xzr, #0x4e32`. A guest runs it to end the recording,
/// with a value in X0.
pub(crate) const STOP_MARKER: u32 = 0xd280_001f | 0x4e32 << 5;

/// Index in [`Word::Ticket`] for the first instruction after the running block.
pub(crate) const NEXT_BLOCK: u32 = MAX_BLOCK as u32;
/// Value of the word after [`Word::Resumed`] if the number of unrecorded instructions is unknown.
pub(crate) const UNKNOWN: u64 = u64::MAX;
/// Number of words after [`Word::SyscallEnter`].
pub(crate) const SYSCALL_ARGS: usize = 6;
/// First word of a block definition, to which its number of instructions is added. The program
/// counter follows, then the instruction words, two in each 64-bit word.
pub(crate) const DEFINE_BLOCK: u64 = 1 << 56;
/// First word of a code page, to which its number of 64-bit words is added. The address follows,
/// then the bytes.
pub(crate) const DEFINE_PAGE: u64 = 2 << 56;
/// First word of a mapped file, to which the number of words after the next one is added. The
/// address of the mapping follows, then its length in bytes, its offset in the file, the length of
/// the path in bytes, and the path.
pub(crate) const DEFINE_FILE: u64 = 3 << 56;
/// Number of words of a mapped file before its path.
pub(crate) const FILE_WORDS: usize = 3;
/// Longest path of a mapped file, in bytes: the limit of the system.
pub(crate) const MAX_PATH: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoding_returns_every_encoded_word() {
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
    fn an_unknown_tag_is_not_decoded() {
        assert_eq!(Word::decode(TAG_SYSTEM << TAG_SHIFT | 6 << SYSTEM_SHIFT), None);
    }
}
