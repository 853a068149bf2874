//! Decompression of gzip, xz, bzip2, zstd, lz4, snappy and zip, recognized by the first bytes. Data
//! is unpacked while it is read. A file may be compressed several times.

use std::collections::VecDeque;
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom};

use flate2::Crc;
use flate2::read::{DeflateDecoder, MultiGzDecoder};
use sim_files::File;

/// Largest number of nested compressions.
const LAYERS_MAX: usize = 3;
/// Size of the longest signature, in bytes.
const SIGNATURE_BYTES: usize = 10;
/// Largest memory for decoding xz, in KiB: four times the need of `xz -9`.
const XZ_MEMORY_KIB: u32 = 256 << 10;
/// First bytes of a zip archive.
const ZIP: &[u8] = b"PK\x03\x04";
/// Largest size of an archive inside another compression, in bytes. Because an archive needs random
/// access, it is unpacked to the disk.
const INNER_ARCHIVE_MAX: u64 = 4 << 30;
/// Size of one read from the system, in bytes.
const BUFFER_BYTES: usize = 1 << 18;

/// Bytes with random access.
pub(super) trait Source: Read + Seek {}

impl<S: Read + Seek> Source for S {}

/// The unpacked content of a file.
pub(super) struct Unpacked<'a> {
    /// Unpacked bytes.
    pub(super) bytes: Box<dyn Read + 'a>,
    /// Names of the compressions, the outermost first.
    pub(super) packings: Vec<&'static str>,
}

/// Returns `source` without its known compressions.
pub(super) fn unpack<'a>(source: impl Source + 'a) -> io::Result<Unpacked<'a>> {
    let mut source = source;
    let mut signature = [0; SIGNATURE_BYTES];
    let length = read_up_to(&mut source, &mut signature)?;
    source.seek(SeekFrom::Start(0))?;
    let mut packings = Vec::new();
    let mut bytes: Box<dyn Read + 'a> = if signature[..length].starts_with(ZIP) {
        packings.push("zip");
        Box::new(ZipMembers::open(source)?)
    } else {
        Box::new(BufReader::with_capacity(BUFFER_BYTES, source))
    };
    while packings.len() < LAYERS_MAX {
        let mut signature = [0; SIGNATURE_BYTES];
        let length = read_up_to(&mut bytes, &mut signature)?;
        let whole = Cursor::new(signature).take(length as u64).chain(bytes);
        if signature[..length].starts_with(ZIP) {
            packings.push("zip");
            bytes = Box::new(ZipMembers::open(on_disk(whole)?)?);
            continue;
        }
        let Some(name) = packing(&signature[..length]) else {
            return Ok(Unpacked { bytes: Box::new(whole), packings });
        };
        packings.push(name);
        bytes = decoder(name, whole)?;
    }
    Ok(Unpacked { bytes, packings })
}

/// Copies bytes to a file without a name. Returns the file, at its start.
fn on_disk(bytes: impl Read) -> io::Result<File> {
    let mut file = File::from_std(tempfile::tempfile()?);
    if io::copy(&mut bytes.take(INNER_ARCHIVE_MAX + 1), &mut file)? > INNER_ARCHIVE_MAX {
        return Err(invalid("the inner archive has more than 4 GiB; remove the outer compression"));
    }
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
}

/// Returns the name of the compression whose signature starts `head`.
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

/// Returns a decoder of `packed`, buffered because readers take small pieces.
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

/// Fills `buffer` as far as possible. Returns the number of bytes read.
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

/// A file in a zip archive.
struct Member {
    start: u64,
    packed_bytes: u64,
    is_deflated: bool,
    crc: u32,
}

/// Reader of the files of a zip archive, one after the other in order of their names.
struct ZipMembers<R: Source> {
    members: VecDeque<Member>,
    state: State<R>,
    crc: Crc,
    expected: u32,
}

/// State of reading the archive.
enum State<R: Read> {
    Between(R),
    Stored(io::Take<R>),
    Deflated(DeflateDecoder<io::Take<R>>),
    Failed,
}

impl<R: Source> ZipMembers<R> {
    fn open(source: R) -> io::Result<ZipMembers<R>> {
        let mut archive = zip::ZipArchive::new(source)?;
        if archive.offset() > 0 {
            return Err(invalid("several concatenated zip archives; pass a single one"));
        }
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
                .ok_or_else(|| invalid("a file in the zip archive has no data"))?;
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

    /// Begins the next file. Returns false after the last.
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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// Returns content that is long enough for several blocks of most compressions.
    fn content() -> Vec<u8> {
        (0..300_000u32).flat_map(|n| (n / 7).to_le_bytes()).collect()
    }

    fn packed(name: &str, bytes: &[u8]) -> Vec<u8> {
        match name {
            "gzip" => {
                let mut out =
                    flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                out.write_all(bytes).expect("memory");
                out.finish().expect("memory")
            }
            "xz" => {
                let options = lzma_rust2::XzOptions::with_preset(1);
                let mut out = lzma_rust2::XzWriter::new(Vec::new(), options).expect("a writer");
                out.write_all(bytes).expect("memory");
                out.finish().expect("memory")
            }
            "bzip2" => {
                let mut out = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
                out.write_all(bytes).expect("memory");
                out.finish().expect("memory")
            }
            "zstd" => {
                // With a checksum, as the program `zstd` writes it.
                let mut out = zstd::Encoder::new(Vec::new(), 1).expect("memory");
                out.include_checksum(true).expect("a parameter");
                out.write_all(bytes).expect("memory");
                out.finish().expect("memory")
            }
            "lz4" => {
                // As the program `lz4` writes it.
                let info = lz4_flex::frame::FrameInfo::new().content_checksum(true);
                let mut out = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
                out.write_all(bytes).expect("memory");
                out.finish().expect("memory")
            }
            "snappy" => {
                let mut out = snap::write::FrameEncoder::new(Vec::new());
                out.write_all(bytes).expect("memory");
                out.into_inner().expect("memory")
            }
            _ => {
                // Two files, the second first, one of them not packed.
                let mut out = zip::ZipWriter::new(Cursor::new(Vec::new()));
                let (first, second) = bytes.split_at(bytes.len() / 3);
                for (name, part, method) in [
                    ("chunk.0001", second, zip::CompressionMethod::Deflated),
                    ("chunk.0000", first, zip::CompressionMethod::Stored),
                ] {
                    let options =
                        zip::write::SimpleFileOptions::default().compression_method(method);
                    out.start_file(name, options).expect("memory");
                    out.write_all(part).expect("memory");
                }
                out.finish().expect("memory").into_inner()
            }
        }
    }

    fn unpacked(bytes: &[u8]) -> io::Result<(Vec<u8>, Vec<&'static str>)> {
        let Unpacked { mut bytes, packings } = unpack(Cursor::new(bytes))?;
        let mut all = Vec::new();
        bytes.read_to_end(&mut all)?;
        Ok((all, packings))
    }

    const ALL: [&str; 7] = ["gzip", "xz", "bzip2", "zstd", "lz4", "snappy", "zip"];

    #[test]
    fn every_compression_is_unpacked_even_a_nested_one() {
        let content = content();
        assert_eq!(unpacked(&content).expect("not packed"), (content.clone(), vec![]));
        for name in ALL {
            let once = packed(name, &content);
            assert!(once.len() < content.len(), "{name}");
            assert_eq!(unpacked(&once).expect(name), (content.clone(), vec![name]));
            for outer in ["zip", "xz"] {
                let twice = packed(outer, &once);
                assert_eq!(unpacked(&twice).expect(name), (content.clone(), vec![outer, name]));
            }
        }
    }

    #[test]
    fn concatenated_frames_are_all_read() {
        for name in ["gzip", "xz", "bzip2", "zstd", "snappy"] {
            let twice = packed(name, b"first second ").repeat(2);
            assert_eq!(unpacked(&twice).expect(name).0, b"first second first second ", "{name}");
        }
    }

    #[test]
    fn concatenated_archives_are_refused() {
        let twice = packed("zip", b"first second ").repeat(2);
        for bytes in [packed("gzip", &twice), twice] {
            let error = unpacked(&bytes).expect_err("two archives").to_string();
            assert!(error.contains("concatenated"), "{error}");
        }
    }

    #[test]
    fn damage_and_truncation_are_detected() {
        let content = content();
        for name in ALL {
            let whole = packed(name, &content);
            let cut = unpacked(&whole[..whole.len() / 2]);
            assert!(
                cut.is_err() || cut.is_ok_and(|(bytes, _)| bytes.len() < content.len()),
                "{name}"
            );
            let mut damaged = whole.clone();
            for byte in &mut damaged[whole.len() / 3..][..40] {
                *byte ^= 0x55;
            }
            let read = unpacked(&damaged);
            assert!(read.is_err(), "{name}: {:?}", read.map(|(bytes, _)| bytes == content));
        }
    }
}
