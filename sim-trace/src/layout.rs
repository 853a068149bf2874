//! Fixed parts of the file, byte by byte: the file header and the chunk header. A test compares
//! them with their description in `docs/trace-format.md`.

use xxhash_rust::xxh3::xxh3_64;

use crate::meta::MachineInfo;

/// First eight bytes of every trace. Transfers in text mode damage the high bit or the line ends.
pub(crate) const FILE_MAGIC: [u8; 8] = *b"\x89N2T\r\n\x1a\n";
/// First four bytes of every chunk.
pub(crate) const CHUNK_MAGIC: [u8; 4] = *b"N2CK";
/// Major version. A reader refuses any other major version.
pub(crate) const MAJOR: u16 = 1;
/// Lowest minor version. Minor versions add chunk kinds, events and META keys that older readers
/// skip. A file carries the lowest minor version that covers its content.
pub(crate) const MINOR: u16 = 0;
/// Minor version of files with a MAP chunk.
pub(crate) const MINOR_WITH_MAP: u16 = 1;
/// Minor version of files with the active elements of SVE instructions.
pub(crate) const MINOR_WITH_ELEMENTS: u16 = 2;
/// Minor version of files with values of system registers.
pub(crate) const MINOR_WITH_REGISTERS: u16 = 3;
/// Minor version of files with the order in which threads synchronized.
pub(crate) const MINOR_WITH_TICKETS: u16 = 4;
/// Number of A64, the only instruction set of format 1.
pub(crate) const ISA_A64: u32 = 1;
/// Flag of the file header: the trace contains the kernel.
pub(crate) const FLAG_FULL_SYSTEM: u32 = 1;
/// Size of the file header and of each chunk header, in bytes.
pub(crate) const HEADER_BYTES: usize = 64;

/// Largest number of instructions in a block.
pub(crate) const MAX_BLOCK_INSTS: usize = 4096;
/// Largest number of instructions in a STREAM chunk. Writers stop at about half of it.
pub(crate) const MAX_CHUNK_INSTS: u32 = 1 << 21;
/// Largest number of side events in a STREAM chunk.
pub(crate) const MAX_CHUNK_EVENTS: u32 = 1 << 18;
/// Largest size of the META text, in bytes.
pub(crate) const MAX_META_BYTES: u64 = 64 << 20;
/// Largest number of code bytes in an IMAGE chunk.
pub(crate) const MAX_IMAGE_BYTES: u64 = 4 << 20;
/// Largest number of blocks in a BLOCKS chunk.
pub(crate) const MAX_CHUNK_BLOCKS: u32 = 1 << 20;
/// Largest number of entries of a page map.
pub(crate) const MAX_MAP_ENTRIES: u32 = 1 << 20;

/// Kind of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChunkKind {
    /// JSON text on origin and limits. The last META chunk of a file is valid.
    Meta,
    /// Pages of code.
    Image,
    /// Definitions of blocks: address and words of straight-line code.
    Blocks,
    /// Part of the instruction stream of one thread.
    Stream,
    /// Page map: virtual to physical addresses, with attributes.
    Map,
    /// Offsets and headers of all chunks before the index.
    Index,
    /// Totals; always the last chunk.
    End,
    /// Kind of a later minor version.
    Unknown(u16),
}

impl ChunkKind {
    /// Returns the number of the kind in the file.
    pub fn number(self) -> u16 {
        match self {
            ChunkKind::Meta => 1,
            ChunkKind::Image => 2,
            ChunkKind::Blocks => 3,
            ChunkKind::Stream => 4,
            ChunkKind::Map => 5,
            ChunkKind::Index => 6,
            ChunkKind::End => 7,
            ChunkKind::Unknown(n) => n,
        }
    }

    fn from_number(n: u16) -> ChunkKind {
        match n {
            1 => ChunkKind::Meta,
            2 => ChunkKind::Image,
            3 => ChunkKind::Blocks,
            4 => ChunkKind::Stream,
            5 => ChunkKind::Map,
            6 => ChunkKind::Index,
            7 => ChunkKind::End,
            n => ChunkKind::Unknown(n),
        }
    }
}

/// The 64-byte header of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkHeader {
    /// Kind of the chunk.
    pub kind: ChunkKind,
    /// Codec of the columns: 0 for plain, 1 for zstd.
    pub codec: u8,
    /// Number of columns in the payload.
    pub columns: u8,
    /// Thread of a STREAM chunk; 0 for other kinds.
    pub stream: u32,
    /// Number of the chunk among those of its kind and stream, from 0.
    pub sequence: u32,
    /// Number of bytes after the header.
    pub payload_bytes: u32,
    /// Number of block executions (STREAM), blocks (BLOCKS), pages (IMAGE) or entries (MAP).
    pub blocks: u32,
    /// Number of executed instructions (STREAM) or of instructions in all blocks (BLOCKS).
    pub instructions: u32,
    /// Number of data addresses.
    pub accesses: u32,
    /// Number of side events.
    pub events: u32,
    /// Position of the first instruction in its stream (STREAM), or number of the first block
    /// (BLOCKS).
    pub first: u64,
    /// xxh3 of the payload.
    pub payload_hash: u64,
}

/// Codec of a chunk whose columns are stored plain.
pub(crate) const CODEC_PLAIN: u8 = 0;
/// Codec of a chunk whose columns are zstd frames, except columns that are shorter when plain.
pub(crate) const CODEC_ZSTD: u8 = 1;

/// Reason why 64 bytes are not a chunk header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeaderFault {
    Magic,
    Checksum,
}

impl ChunkHeader {
    /// Returns a header with all counts zero.
    pub(crate) fn new(kind: ChunkKind, sequence: u32) -> ChunkHeader {
        ChunkHeader {
            kind,
            codec: CODEC_PLAIN,
            columns: 0,
            stream: 0,
            sequence,
            payload_bytes: 0,
            blocks: 0,
            instructions: 0,
            accesses: 0,
            events: 0,
            first: 0,
            payload_hash: 0,
        }
    }

    /// Returns the header in its file format. The last eight bytes are the xxh3 of the others.
    /// Because the others include the hash of the payload, the checksum covers the whole chunk.
    pub(crate) fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut b = [0; HEADER_BYTES];
        b[0..4].copy_from_slice(&CHUNK_MAGIC);
        b[4..6].copy_from_slice(&self.kind.number().to_le_bytes());
        b[6] = self.codec;
        b[7] = self.columns;
        b[8..12].copy_from_slice(&self.stream.to_le_bytes());
        b[12..16].copy_from_slice(&self.sequence.to_le_bytes());
        b[16..20].copy_from_slice(&self.payload_bytes.to_le_bytes());
        b[20..24].copy_from_slice(&self.blocks.to_le_bytes());
        b[24..28].copy_from_slice(&self.instructions.to_le_bytes());
        b[28..32].copy_from_slice(&self.accesses.to_le_bytes());
        b[32..36].copy_from_slice(&self.events.to_le_bytes());
        // Bytes 36..40 are zero.
        b[40..48].copy_from_slice(&self.first.to_le_bytes());
        b[48..56].copy_from_slice(&self.payload_hash.to_le_bytes());
        let hash = xxh3_64(&b[..56]);
        b[56..64].copy_from_slice(&hash.to_le_bytes());
        b
    }

    /// Returns the header in `b`.
    pub(crate) fn from_bytes(b: &[u8; HEADER_BYTES]) -> Result<ChunkHeader, HeaderFault> {
        if b[0..4] != CHUNK_MAGIC {
            return Err(HeaderFault::Magic);
        }
        if xxh3_64(&b[..56]) != u64_at(b, 56) {
            return Err(HeaderFault::Checksum);
        }
        Ok(ChunkHeader {
            kind: ChunkKind::from_number(u16::from_le_bytes([b[4], b[5]])),
            codec: b[6],
            columns: b[7],
            stream: u32_at(b, 8),
            sequence: u32_at(b, 12),
            payload_bytes: u32_at(b, 16),
            blocks: u32_at(b, 20),
            instructions: u32_at(b, 24),
            accesses: u32_at(b, 28),
            events: u32_at(b, 32),
            first: u64_at(b, 40),
            payload_hash: u64_at(b, 48),
        })
    }

    /// Returns the checksum over the header and, through its hash, the payload.
    pub(crate) fn hash(&self) -> u64 {
        u64_at(&self.to_bytes(), 56)
    }

    /// Returns the size of header and payload in the file, in bytes.
    pub(crate) fn total_bytes(&self) -> u64 {
        HEADER_BYTES as u64 + u64::from(self.payload_bytes)
    }
}

/// Returns the file header with the properties of the traced machine.
pub(crate) fn file_header_bytes(machine: &MachineInfo, minor: u16) -> [u8; HEADER_BYTES] {
    let mut b = [0; HEADER_BYTES];
    b[0..8].copy_from_slice(&FILE_MAGIC);
    b[8..10].copy_from_slice(&MAJOR.to_le_bytes());
    b[10..12].copy_from_slice(&minor.to_le_bytes());
    let flags = if machine.full_system { FLAG_FULL_SYSTEM } else { 0 };
    b[12..16].copy_from_slice(&flags.to_le_bytes());
    b[16..20].copy_from_slice(&ISA_A64.to_le_bytes());
    b[20..24].copy_from_slice(&machine.page_bytes.to_le_bytes());
    b[24..28].copy_from_slice(&machine.vector_bytes.to_le_bytes());
    b[28..32].copy_from_slice(&machine.dc_zva_bytes.to_le_bytes());
    b[32..40].copy_from_slice(&machine.midr.to_le_bytes());
    // Bytes 40..56 are zero.
    let hash = xxh3_64(&b[..56]);
    b[56..64].copy_from_slice(&hash.to_le_bytes());
    b
}

/// Fault of a file header with correct magic bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileHeaderFault {
    Major(u16),
    Other(&'static str),
}

/// Checks the file header except its magic bytes. Returns the machine and the minor version.
pub(crate) fn parse_file_header(
    b: &[u8; HEADER_BYTES],
) -> Result<(MachineInfo, u16), FileHeaderFault> {
    // Check the version before the checksum, which a later major version may place elsewhere.
    let major = u16::from_le_bytes([b[8], b[9]]);
    if major != MAJOR {
        return Err(FileHeaderFault::Major(major));
    }
    if xxh3_64(&b[..56]) != u64_at(b, 56) {
        return Err(FileHeaderFault::Other("its checksum does not match"));
    }
    if u32_at(b, 16) != ISA_A64 {
        return Err(FileHeaderFault::Other("the instruction set is not A64"));
    }
    let machine = MachineInfo {
        page_bytes: u32_at(b, 20),
        vector_bytes: u32_at(b, 24),
        dc_zva_bytes: u32_at(b, 28),
        midr: u64_at(b, 32),
        full_system: u32_at(b, 12) & FLAG_FULL_SYSTEM != 0,
    };
    check_machine(&machine).map_err(FileHeaderFault::Other)?;
    Ok((machine, u16::from_le_bytes([b[10], b[11]])))
}

/// Refuses sizes that no A64 machine can have.
pub(crate) fn check_machine(machine: &MachineInfo) -> Result<(), &'static str> {
    let page = machine.page_bytes;
    if !page.is_power_of_two() || !(1 << 10..=1 << 16).contains(&page) {
        return Err("page bytes must be a power of two from 1024 to 65536");
    }
    let vector = machine.vector_bytes;
    if vector != 0 && (!vector.is_multiple_of(16) || vector > 256) {
        return Err("vector bytes must be 0 or a multiple of 16 up to 256");
    }
    let zva = machine.dc_zva_bytes;
    if zva != 0 && (!zva.is_power_of_two() || zva > 2048) {
        return Err("DC ZVA bytes must be 0 or a power of two up to 2048");
    }
    Ok(())
}

/// Returns the little-endian number at `at`.
pub(crate) fn u32_at(b: &[u8], at: usize) -> u32 {
    let mut word = [0; 4];
    word.copy_from_slice(&b[at..at + 4]);
    u32::from_le_bytes(word)
}

/// Returns the little-endian number at `at`.
pub(crate) fn u64_at(b: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&b[at..at + 8]);
    u64::from_le_bytes(word)
}
