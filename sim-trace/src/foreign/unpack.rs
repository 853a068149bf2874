//! Compression, known by the first bytes of a file: gzip, xz, bzip2, zstd, lz4, snappy, zip. Everything
//! is unpacked while it is read; a file may be packed more than once.

use std::collections::VecDeque;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};

use flate2::Crc;
use flate2::read::{DeflateDecoder, MultiGzDecoder};

/// How often a file may be packed into another one.
const LAYERS_MAX: usize = 3;
/// Bytes that the longest signature has.
const SIGNATURE_BYTES: usize = 10;
/// Memory that an xz file may ask for, in KiB: what `xz -9` needs, four times.
const XZ_MEMORY_KIB: u32 = 256 << 10;
/// Bytes that are read from the system at once.
const BUFFER_BYTES: usize = 1 << 18;

/// Bytes that can be read from any place.
pub(super) trait Source: Read + Seek {}

impl<S: Read + Seek> Source for S {}

/// A file with its packings taken off.
pub(super) struct Unpacked<'a> {
    /// What is inside.
    pub(super) bytes: Box<dyn Read + 'a>,
    /// Names of the packings, the outermost first.
    pub(super) packings: Vec<&'static str>,
}

/// Takes every known packing off `source`.
pub(super) fn unpack<'a>(source: impl Source + 'a) -> io::Result<Unpacked<'a>> {
    let mut source = source;
    let mut signature = [0; SIGNATURE_BYTES];
    let length = read_up_to(&mut source, &mut signature)?;
    source.seek(SeekFrom::Start(0))?;
    let mut packings = Vec::new();
    let mut bytes: Box<dyn Read + 'a> = if signature[..length].starts_with(b"PK\x03\x04") {
        packings.push("zip");
        Box::new(ZipMembers::open(source)?)
    } else {
        Box::new(BufReader::with_capacity(BUFFER_BYTES, source))
    };
    while packings.len() < LAYERS_MAX {
        let mut signature = [0; SIGNATURE_BYTES];
        let length = read_up_to(&mut bytes, &mut signature)?;
        let whole = Cursor::new(signature).take(length as u64).chain(bytes);
        let Some(name) = packing(&signature[..length]) else {
            return Ok(Unpacked { bytes: Box::new(whole), packings });
        };
        packings.push(name);
        bytes = decoder(name, whole)?;
    }
    Ok(Unpacked { bytes, packings })
}

/// The packing whose signature `head` is.
fn packing(head: &[u8]) -> Option<&'static str> {
    const KNOWN: [(&[u8], &str); 6] = [
        (b"\x1f\x8b\x08", "gzip"),
        (b"\xfd7zXZ\0", "xz"),
        (b"BZh", "bzip2"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"\x04\x22\x4d\x18", "lz4"),
        (b"\xff\x06\0\0sNaPpY", "snappy"),
    ];
    KNOWN.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, name)| *name)
}

/// What unpacks `packed`, buffered: readers take small pieces.
fn decoder<'a>(name: &str, packed: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    Ok(match name {
        "gzip" => buffered(MultiGzDecoder::new(packed)),
        "xz" => {
            let packed = BufReader::new(packed);
            buffered(lzma_rust2::XzReader::new_mem_limit(packed, true, XZ_MEMORY_KIB))
        }
        "bzip2" => buffered(bzip2::read::MultiBzDecoder::new(packed)),
        "zstd" => buffered(zstd::Decoder::new(packed)?),
        "lz4" => buffered(lz4_flex::frame::FrameDecoder::new(packed)),
        _ => buffered(snap::read::FrameDecoder::new(packed)),
    })
}

fn buffered<'a>(unpacked: impl Read + 'a) -> Box<dyn Read + 'a> {
    Box::new(BufReader::with_capacity(BUFFER_BYTES, unpacked))
}

/// Fills `buffer` as far as the bytes go.
pub(super) fn read_up_to(bytes: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match bytes.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// A file of a zip archive.
struct Member {
    start: u64,
    packed_bytes: u64,
    is_deflated: bool,
    crc: u32,
}

/// The files of a zip archive, in order of their names, one behind the other.
struct ZipMembers<R: Source> {
    members: VecDeque<Member>,
    state: State<R>,
    crc: Crc,
    expected: u32,
}

/// What of the archive is being read.
enum State<R: Read> {
    Between(R),
    Stored(io::Take<R>),
    Deflated(DeflateDecoder<io::Take<R>>),
    Failed,
}

impl<R: Source> ZipMembers<R> {
    fn open(source: R) -> io::Result<ZipMembers<R>> {
        let mut archive = zip::ZipArchive::new(source)?;
        let mut members = Vec::new();
        for number in 0..archive.len() {
            let file = archive.by_index_raw(number)?;
            if file.is_dir() {
                continue;
            }
            let is_deflated = match file.compression() {
                _ if file.encrypted() => {
                    return Err(invalid("a file in the zip archive is encrypted"));
                }
                zip::CompressionMethod::Stored => false,
                zip::CompressionMethod::Deflated => true,
                _ => {
                    return Err(invalid(
                        "a file in the zip archive is neither stored nor deflated",
                    ));
                }
            };
            let start = file
                .data_start()
                .ok_or_else(|| invalid("a file in the zip archive has no place"))?;
            let name = file.name_raw().to_vec();
            members.push((
                name,
                Member {
                    start,
                    packed_bytes: file.compressed_size(),
                    is_deflated,
                    crc: file.crc32(),
                },
            ));
        }
        members.sort_by(|a, b| a.0.cmp(&b.0));
        let members = members.into_iter().map(|(_, member)| member).collect();
        Ok(ZipMembers {
            members,
            state: State::Between(archive.into_inner()),
            crc: Crc::new(),
            expected: 0,
        })
    }

    /// Begins the next file; false behind the last.
    fn next_member(&mut self, mut source: R) -> io::Result<bool> {
        let Some(member) = self.members.pop_front() else {
            self.state = State::Between(source);
            return Ok(false);
        };
        source.seek(SeekFrom::Start(member.start))?;
        let packed = source.take(member.packed_bytes);
        self.crc = Crc::new();
        self.expected = member.crc;
        self.state = match member.is_deflated {
            true => State::Deflated(DeflateDecoder::new(packed)),
            false => State::Stored(packed),
        };
        Ok(true)
    }
}

impl<R: Source> Read for ZipMembers<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let read = match &mut self.state {
                State::Between(_) => 0,
                State::Stored(bytes) => bytes.read(buffer)?,
                State::Deflated(bytes) => bytes.read(buffer)?,
                State::Failed => return Err(invalid("the zip archive is damaged")),
            };
            if read > 0 {
                self.crc.update(&buffer[..read]);
                return Ok(read);
            }
            let source = match std::mem::replace(&mut self.state, State::Failed) {
                State::Between(source) => source,
                _ if self.crc.sum() != self.expected => {
                    return Err(invalid("a checksum of the zip archive does not match"));
                }
                State::Stored(bytes) => bytes.into_inner(),
                State::Deflated(bytes) => bytes.into_inner().into_inner(),
                State::Failed => return Err(invalid("the zip archive is damaged")),
            };
            if !self.next_member(source)? {
                return Ok(0);
            }
        }
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
