//! File of warm states: the content of caches and predictors at some places of a trace, in order.
//!
//! A state is a list of words without a meaning here. Each state is stored as its difference from
//! the previous one, the first from zeros, because little of a large cache changes between places.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `N2STATES` |
//! | 4 | version |
//! | 4 | number of states |
//! | 8 each | hash of the trace, of the machine, of the places; words of a state |
//! | 8 | hash (XXH3) of all bytes before it |
//! | for each state: 8, 8 | position in the stream; cycle |
//! | 4, 4, 4 | last executed instruction; size of the difference, plain and compressed (zstd) |
//! | 8 | hash (XXH3) of this entry and of the compressed bytes |
//! | | the compressed bytes |
//!
//! A difference is a list of runs: the number of unchanged words, the number of changed words, and
//! the change of each (`varint`). All numbers are little-endian.

use std::io::{self, Read, Write};

use xxhash_rust::xxh3::xxh3_64;

use crate::frame::{self, Unpacker};
use crate::varint::{PADDING, put_varint, unzigzag, varint_at, zigzag};

const MAGIC: &[u8; 8] = b"N2STATES";
const VERSION: u32 = 1;
const HEADER: usize = 48;
const ENTRY: usize = 28;
/// zstd level, the default of the tool.
const LEVEL: i32 = 3;
/// Largest number of words of a state that is written and read: 1 GiB.
pub const MOST_WORDS: u64 = 1 << 27;
/// Largest size of a word in a difference, in bytes: two varints for its run, one for the change.
const WORST: usize = 27;

/// Origin and size of the states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatesHeader {
    /// Number of states.
    pub count: u32,
    /// Hash of the trace.
    pub trace: u64,
    /// Hash of the machine.
    pub machine: u64,
    /// Hash of the places, computed by the code that selects them.
    pub places: u64,
    /// Number of words of a state.
    pub words: u64,
}

/// Place of a state in the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatePlace {
    /// Number of instructions of the stream before the state.
    pub position: u64,
    /// Cycle of the machine at that position.
    pub cycle: u64,
    /// Last executed instruction, whose successor the predictors have not yet learned; `None` at
    /// the start.
    pub last: Option<u32>,
}

/// Error of a states file that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StatesError {
    /// A system call fails.
    #[error("{file}: {source}")]
    Io {
        /// Name of the file.
        file: String,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The file has another format.
    #[error("{file}: not a states file; `n2sim trace regions` writes one with its windows")]
    Foreign {
        /// Name of the file.
        file: String,
    },
    /// The file has another version.
    #[error(
        "{file}: version {found} of the format, this n2sim reads {VERSION}; run n2sim trace regions \
         again"
    )]
    Version {
        /// Name of the file.
        file: String,
        /// Version in the file.
        found: u32,
    },
    /// The file is damaged.
    #[error("{file}: {place}: {what}; run n2sim trace regions again")]
    Damaged {
        /// Name of the file.
        file: String,
        /// Place of the damage.
        place: String,
        /// Description of the damage.
        what: &'static str,
    },
}

/// Writer of a states file.
#[cfg(unix)]
pub struct StatesWriter<W> {
    out: W,
    zstd: zstd::bulk::Compressor<'static>,
    before: Vec<u64>,
    difference: Vec<u8>,
}

#[cfg(unix)]
impl<W: Write> StatesWriter<W> {
    /// Begins a file and writes its header.
    ///
    /// # Errors
    /// Writing to `out` fails, or a state would have more than [`MOST_WORDS`] words, which no
    /// reader takes.
    pub fn new(mut out: W, header: &StatesHeader) -> io::Result<StatesWriter<W>> {
        if header.words > MOST_WORDS {
            let what = format!("states of {} words, more than {MOST_WORDS}", header.words);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let mut bytes = Vec::with_capacity(HEADER + 8);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&header.count.to_le_bytes());
        for word in [header.trace, header.machine, header.places, header.words] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.extend_from_slice(&xxh3_64(&bytes).to_le_bytes());
        out.write_all(&bytes)?;
        let before = vec![0; header.words as usize];
        let zstd = zstd::bulk::Compressor::new(LEVEL)?;
        Ok(StatesWriter { out, zstd, before, difference: Vec::new() })
    }

    /// Appends the next state, with as many words as in the header.
    ///
    /// # Errors
    /// Writing to `out` fails.
    ///
    /// # Panics
    /// The state has another number of words.
    pub fn add(&mut self, place: &StatePlace, words: &[u64]) -> io::Result<()> {
        self.difference.clear();
        put_difference(&mut self.difference, &self.before, words);
        self.before.copy_from_slice(words);
        let packed = self.zstd.compress(&self.difference)?;
        let mut bytes = Vec::with_capacity(ENTRY + 8 + packed.len());
        bytes.extend_from_slice(&place.position.to_le_bytes());
        bytes.extend_from_slice(&place.cycle.to_le_bytes());
        let lengths = [self.difference.len() as u32, packed.len() as u32];
        for word in [place.last.unwrap_or(u32::MAX), lengths[0], lengths[1]] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        let hash = entry_hash(&bytes, &packed);
        bytes.extend_from_slice(&hash.to_le_bytes());
        bytes.extend_from_slice(&packed);
        self.out.write_all(&bytes)
    }

    /// Returns the destination.
    pub fn into_inner(self) -> W {
        self.out
    }
}

fn entry_hash(entry: &[u8], packed: &[u8]) -> u64 {
    xxh3_64(packed) ^ xxh3_64(entry).rotate_left(1)
}

/// Reader of a states file, state by state.
pub struct StatesReader {
    input: Box<dyn Read>,
    file: String,
    header: StatesHeader,
    begun: u32,
    unpacker: Unpacker,
    packed: Vec<u8>,
    difference: Vec<u8>,
    words: Vec<u64>,
}

impl StatesReader {
    /// Reads the header of `file`.
    ///
    /// # Errors
    /// The file is not a states file, is damaged, or is of another version.
    pub fn new(input: impl Read + 'static, file: &str) -> Result<StatesReader, StatesError> {
        let io = |source| StatesError::Io { file: file.to_owned(), source };
        let mut input: Box<dyn Read> = Box::new(input);
        let mut bytes = Vec::new();
        input.by_ref().take(HEADER as u64 + 8).read_to_end(&mut bytes).map_err(io)?;
        if !bytes.starts_with(MAGIC) {
            return Err(StatesError::Foreign { file: file.to_owned() });
        }
        let damaged =
            |what| StatesError::Damaged { file: file.to_owned(), place: "header".to_owned(), what };
        if bytes.len() < HEADER + 8 {
            return Err(damaged("the file ends inside it"));
        }
        let word = |at: usize| number(&bytes[at..at + 8]);
        if number(&bytes[8..12]) != u64::from(VERSION) {
            let found = number(&bytes[8..12]) as u32;
            return Err(StatesError::Version { file: file.to_owned(), found });
        }
        if word(HEADER) != xxh3_64(&bytes[..HEADER]) {
            return Err(damaged("the checksum does not match"));
        }
        let header = StatesHeader {
            count: number(&bytes[12..16]) as u32,
            trace: word(16),
            machine: word(24),
            places: word(32),
            words: word(40),
        };
        if header.words > MOST_WORDS {
            return Err(damaged("states are larger than those of any machine"));
        }
        let unpacker = Unpacker::new().map_err(io)?;
        Ok(StatesReader {
            input,
            file: file.to_owned(),
            header,
            begun: 0,
            unpacker,
            packed: Vec::new(),
            difference: Vec::new(),
            words: Vec::new(),
        })
    }

    /// Returns the header of the file.
    pub fn header(&self) -> &StatesHeader {
        &self.header
    }

    /// Returns the name of the file, for messages.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Returns the next state and its place, or `None` after the last.
    ///
    /// # Errors
    /// The state is damaged.
    pub fn next_state(&mut self) -> Result<Option<(StatePlace, &[u64])>, StatesError> {
        if self.begun == self.header.count {
            return Ok(None);
        }
        self.begun += 1;
        // Allocate late, after the caller could check the size of states.
        self.words.resize(self.header.words as usize, 0);
        match self.read() {
            Ok(place) => Ok(Some((place, &self.words))),
            Err(ReadFault::Io(source)) => Err(StatesError::Io { file: self.file.clone(), source }),
            Err(ReadFault::Damage(what)) => {
                let (file, number) = (self.file.clone(), self.begun);
                let place = format!("state {number} of {}", self.header.count);
                self.begun = self.header.count;
                Err(StatesError::Damaged { file, place, what })
            }
        }
    }

    fn read(&mut self) -> Result<StatePlace, ReadFault> {
        let mut entry = [0; ENTRY + 8];
        read_all(&mut self.input, &mut entry)?;
        let short = |at: usize| number(&entry[at..at + 4]) as u32;
        let (last, plain, packed) = (short(16), short(20) as usize, short(24) as usize);
        let most = frame::largest(plain);
        if plain > WORST * self.words.len() + PADDING || packed > most {
            return Err(ReadFault::Damage("it is larger than any state"));
        }
        self.packed.clear();
        let read = self.input.by_ref().take(packed as u64).read_to_end(&mut self.packed)?;
        if read < packed {
            return Err(ReadFault::Damage("the file ends inside it"));
        }
        if number(&entry[ENTRY..]) != entry_hash(&entry[..ENTRY], &self.packed) {
            return Err(ReadFault::Damage("the checksum does not match"));
        }
        self.difference.clear();
        self.difference.resize(plain, 0);
        let unpacked = self
            .unpacker
            .unpack(&self.packed, &mut self.difference)
            .map_err(|_| ReadFault::Damage("it cannot be unpacked"))?;
        if unpacked != plain {
            return Err(ReadFault::Damage("its unpacked length does not match"));
        }
        self.difference.extend_from_slice(&[0; PADDING]);
        apply(&self.difference, plain, &mut self.words)
            .ok_or(ReadFault::Damage("it does not fit the words of the machine"))?;
        let (position, cycle) = (number(&entry[..8]), number(&entry[8..16]));
        Ok(StatePlace { position, cycle, last: (last != u32::MAX).then_some(last) })
    }
}

enum ReadFault {
    Io(io::Error),
    Damage(&'static str),
}

impl From<io::Error> for ReadFault {
    fn from(error: io::Error) -> ReadFault {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => ReadFault::Damage("the file ends inside it"),
            _ => ReadFault::Io(error),
        }
    }
}

fn read_all(input: &mut impl Read, bytes: &mut [u8]) -> Result<(), ReadFault> {
    input.read_exact(bytes).map_err(ReadFault::from)
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Appends the difference of `now` from `before`.
fn put_difference(out: &mut Vec<u8>, before: &[u64], now: &[u64]) {
    let (mut at, mut written) = (0, 0);
    while at < now.len() {
        if now[at] == before[at] {
            at += same(&now[at..], &before[at..]);
            continue;
        }
        let pairs = now[at..].iter().zip(&before[at..]);
        let count = pairs.take_while(|(now, before)| now != before).count();
        put_varint(out, (at - written) as u64);
        put_varint(out, count as u64);
        for (now, before) in now[at..at + count].iter().zip(&before[at..]) {
            put_varint(out, zigzag(now.wrapping_sub(*before)));
        }
        at += count;
        written = at;
    }
}

/// Returns the number of equal words at the start.
fn same(a: &[u64], b: &[u64]) -> usize {
    const BLOCK: usize = 64;
    let blocks = a.chunks_exact(BLOCK).zip(b.chunks_exact(BLOCK));
    let whole = BLOCK * blocks.take_while(|(a, b)| a == b).count();
    whole + a[whole..].iter().zip(&b[whole..]).take_while(|(a, b)| a == b).count()
}

/// Applies a difference of `length` bytes, followed by [`PADDING`], to `words`. Returns `None` if
/// it does not fit.
fn apply(padded: &[u8], length: usize, words: &mut [u64]) -> Option<()> {
    let (mut pos, mut at) = (0, 0_usize);
    while pos < length {
        let (gap, next) = varint_at(padded, pos)?;
        let (count, next) = varint_at(padded, next)?;
        pos = next;
        at = at.checked_add(usize::try_from(gap).ok()?)?;
        let end = at.checked_add(usize::try_from(count).ok()?)?;
        for word in words.get_mut(at..end)? {
            let (change, next) = varint_at(padded, pos)?;
            *word = word.wrapping_add(unzigzag(change));
            pos = next;
        }
        at = end;
    }
    (pos == length).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn header(count: u32, words: u64) -> StatesHeader {
        StatesHeader { count, trace: 1, machine: 2, places: 3, words }
    }

    fn place(n: u64) -> StatePlace {
        StatePlace { position: 10 * n, cycle: 7 * n, last: (n > 0).then_some(n as u32) }
    }

    fn written(states: &[Vec<u64>]) -> Vec<u8> {
        let header = header(states.len() as u32, states[0].len() as u64);
        let mut writer = StatesWriter::new(Vec::new(), &header).expect("memory");
        for (n, words) in states.iter().enumerate() {
            writer.add(&place(n as u64), words).expect("memory");
        }
        writer.into_inner()
    }

    fn read(bytes: &[u8]) -> Result<Vec<(StatePlace, Vec<u64>)>, StatesError> {
        let mut reader = StatesReader::new(io::Cursor::new(bytes.to_vec()), "a.states")?;
        let mut states = Vec::new();
        while let Some((place, words)) = reader.next_state()? {
            states.push((place, words.to_vec()));
        }
        Ok(states)
    }

    fn some_states() -> Vec<Vec<u64>> {
        let state = |n: u64| (0..500).map(move |i| if i % 7 == n { u64::MAX - i } else { i / 200 });
        (0..4).map(|n| state(n).collect()).collect()
    }

    proptest! {
        #[test]
        fn reading_returns_the_written_states(
            states in (1_usize..200).prop_flat_map(|words| {
                let word = prop_oneof![3 => Just(0_u64), 1 => any::<u64>(), 1 => 0..300_u64];
                prop::collection::vec(prop::collection::vec(word, words), 1..6)
            }),
        ) {
            let found = read(&written(&states)).expect("own bytes");
            prop_assert_eq!(found.len(), states.len());
            for (n, (at, words)) in found.into_iter().enumerate() {
                prop_assert_eq!(at, place(n as u64));
                prop_assert_eq!(&words, &states[n]);
            }
        }

        #[test]
        fn a_changed_byte_is_detected(at in 0_usize..1000, change in 1_u8..=255) {
            let mut bytes = written(&some_states());
            let at = at % bytes.len();
            bytes[at] ^= change;
            let error = read(&bytes).expect_err("one byte differs");
            prop_assert!(error.to_string().starts_with("a.states: "), "{error}");
        }

        #[test]
        fn a_truncated_file_is_detected(length in 0_usize..1000) {
            let mut bytes = written(&some_states());
            let length = length % bytes.len();
            bytes.truncate(length);
            prop_assert!(read(&bytes).is_err());
        }

        #[test]
        fn no_difference_makes_apply_panic(
            mut bytes in prop::collection::vec(any::<u8>(), 0..60),
            words in 0_usize..20,
        ) {
            let length = bytes.len();
            bytes.extend_from_slice(&[0; PADDING]);
            apply(&bytes, length, &mut vec![0; words]);
        }
    }

    #[test]
    fn messages_name_the_file_and_the_place() {
        let error = |bytes: &[u8]| read(bytes).expect_err("it is wrong").to_string();
        assert!(error(b"[[window]]").starts_with("a.states: not a states file"));
        let mut bytes = written(&some_states());
        bytes[8] = 9;
        assert!(error(&bytes).contains("version 9 of the format, this n2sim reads 1"));
        let mut bytes = written(&some_states());
        *bytes.last_mut().expect("there is one") ^= 1;
        assert!(error(&bytes).contains("state 4 of 4: the checksum does not match"));
    }
}
