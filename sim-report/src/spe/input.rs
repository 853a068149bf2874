//! Input of sample records: raw bytes of a profiling buffer, or a `perf.data` file of Linux perf or
//! of n2sim.

use std::ops::Range;

/// First bytes of a perf.data file.
const MAGIC: &[u8; 8] = b"PERFILE2";
/// First bytes of a perf.data file in the other byte order.
const MAGIC_SWAPPED: &[u8; 8] = b"2ELIFREP";
/// Length of the header when perf writes to a pipe.
const PIPE_HEADER: u64 = 16;
/// Offset of the header size in the header.
const HEADER_SIZE: usize = 8;
/// Offset of the size of an attribute in the header.
const ATTR_SIZE: usize = 16;
/// Offset of the section of attributes in the header.
const ATTRS: usize = 24;
/// Offset of the data section in the header.
const DATA: usize = 40;
/// Record type of a mapping.
const MMAP: u32 = 1;
const MMAP2: u32 = 10;
const AUX: u32 = 11;
const AUXTRACE_INFO: u32 = 70;
const AUXTRACE: u32 = 71;
const COMPRESSED: [u32; 2] = [81, 83];
/// Type of Arm SPE in an `AUXTRACE_INFO` record.
const ARM_SPE: u32 = 4;
/// Version word of the newer metadata.
const METADATA_V2: u64 = 2;
/// Offsets of start, length and file offset in a mapping record.
const MAPPED: [usize; 3] = [16, 24, 32];
/// Offset of the file name in an `MMAP` record.
const MMAP_NAME: usize = 40;
/// Offset of the file name in an `MMAP2` record.
const MMAP2_NAME: usize = 72;
/// Flag of an `AUX` record: data was lost.
const AUX_TRUNCATED: u64 = 1;
/// Flag of an `AUX` record: samples collided.
const AUX_COLLISION: u64 = 8;

/// Error in an input file.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// File of a big-endian machine.
    #[error("the perf.data file has the other byte order; convert it on the machine that wrote it")]
    OtherByteOrder,
    /// Output of `perf record -o -`.
    #[error("perf wrote the file to a pipe; let perf write to a file (-o perf.data)")]
    Pipe,
    /// Compressed file.
    #[error(
        "the records are compressed; record without -z, or run `perf inject` on the file first"
    )]
    Compressed,
    /// File that is cut or damaged.
    #[error("the perf.data file is cut or damaged at byte {0}")]
    Damaged(usize),
    /// File of perf.data without SPE.
    #[error("the file has no Arm SPE buffers; record with `-e arm_spe_0/.../`")]
    NoProfile,
}

/// Part of the file that holds sample records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// CPU that wrote it, if known.
    pub cpu: Option<u32>,
    /// Location in the file.
    pub bytes: Range<usize>,
    /// Offset in the profiling buffer, to which alignment commands refer.
    pub address: u64,
}

/// Part of a file mapped into the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// First address.
    pub start: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// Offset in the file.
    pub offset: u64,
    /// Path of the file.
    pub path: String,
}

/// Content of an input file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// Buffers, in the order of the file.
    pub buffers: Vec<Buffer>,
    /// Mappings of the program, in the order of the file.
    pub mapped: Vec<Mapped>,
    /// Operations between two samples, as set in perf.
    pub period: Option<u64>,
    /// Buffers that perf flagged for collided samples.
    pub flagged_collision: u64,
    /// Buffers that perf flagged for lost records.
    pub flagged_truncated: u64,
}

/// Finds the buffers of a file. A file that is not a perf.data file is read as raw bytes.
///
/// # Errors
/// Fails if it is a perf.data file that cannot be read.
pub fn find(file: &[u8]) -> Result<Input, InputError> {
    if file.starts_with(MAGIC_SWAPPED) {
        return Err(InputError::OtherByteOrder);
    }
    if !file.starts_with(MAGIC) {
        let buffers = vec![Buffer { cpu: None, bytes: 0..file.len(), address: 0 }];
        return Ok(Input { buffers, ..Input::default() });
    }
    if word(file, HEADER_SIZE)? == PIPE_HEADER {
        return Err(InputError::Pipe);
    }
    let mut input = Input::default();
    let mut pmu_type = None;
    let data = section(file, DATA)?;
    let mut at = data.start;
    while at < data.end {
        let (kind, size) = (half(file, at)?, usize::from(quarter(file, at + 6)?));
        let end = at + size;
        if size < 8 || end > data.end {
            return Err(InputError::Damaged(at));
        }
        match kind {
            MMAP | MMAP2 => input.mapped.extend(mapped(file, kind, at..end)?),
            AUXTRACE_INFO => pmu_type = spe_type(file, at)?.or(pmu_type),
            AUX => {
                let flags = word(file, at + 24)?;
                input.flagged_truncated += u64::from(flags & AUX_TRUNCATED != 0);
                input.flagged_collision += u64::from(flags & AUX_COLLISION != 0);
            }
            _ if COMPRESSED.contains(&kind) => return Err(InputError::Compressed),
            _ => {}
        }
        at = end;
        if kind == AUXTRACE {
            // The data of the record follows it, outside its size.
            let buffer = buffer(file, end - size, end, data.end)?;
            at = buffer.bytes.end;
            input.buffers.push(buffer);
        }
    }
    let Some(pmu_type) = pmu_type else { return Err(InputError::NoProfile) };
    input.period = period(file, pmu_type)?;
    Ok(input)
}

/// Returns the dynamic number of the PMU, if the record describes an Arm SPE.
fn spe_type(file: &[u8], at: usize) -> Result<Option<u64>, InputError> {
    if half(file, at + 8)? != ARM_SPE {
        return Ok(None);
    }
    let first = word(file, at + 16)?;
    // The newer metadata begins with its version and the length of its header.
    let place = if first == METADATA_V2 && quarter(file, at + 6)? > 32 { at + 32 } else { at + 16 };
    word(file, place).map(Some)
}

/// Reads a mapping record. Returns `None` if it has no file name.
fn mapped(file: &[u8], kind: u32, record: Range<usize>) -> Result<Option<Mapped>, InputError> {
    let name = record.start + if kind == MMAP2 { MMAP2_NAME } else { MMAP_NAME };
    let [start, bytes, offset] = MAPPED.map(|at| word(file, record.start + at));
    let Some(name) = file.get(name..record.end) else { return Ok(None) };
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    let path = String::from_utf8_lossy(name).into_owned();
    let mapped = Mapped { start: start?, bytes: bytes?, offset: offset?, path };
    Ok((!mapped.path.is_empty()).then_some(mapped))
}

/// Returns the buffer of an `AUXTRACE` record: `size, offset, reference, idx, tid, cpu`.
fn buffer(file: &[u8], at: usize, start: usize, limit: usize) -> Result<Buffer, InputError> {
    let size = usize::try_from(word(file, at + 8)?).ok();
    let end = size.and_then(|size| start.checked_add(size)).filter(|end| *end <= limit);
    let end = end.ok_or(InputError::Damaged(at))?;
    let cpu = half(file, at + 40)?;
    let cpu = (cpu != u32::MAX).then_some(cpu);
    Ok(Buffer { cpu, bytes: start..end, address: word(file, at + 16)? })
}

/// Returns the period of the attribute whose PMU has this number.
fn period(file: &[u8], pmu_type: u64) -> Result<Option<u64>, InputError> {
    let attrs = section(file, ATTRS)?;
    let size = usize::try_from(word(file, ATTR_SIZE)?).unwrap_or(0);
    // An attribute below 24 bytes has no period.
    if size < 24 {
        return Err(InputError::Damaged(ATTR_SIZE));
    }
    for at in attrs.clone().step_by(size) {
        if u64::from(half(file, at)?) == pmu_type {
            return word(file, at + 16).map(|period| (period > 0).then_some(period));
        }
    }
    Ok(None)
}

/// Reads a section of the header, `offset, size`. Fails if it exceeds the file.
fn section(file: &[u8], at: usize) -> Result<Range<usize>, InputError> {
    let place = |at| word(file, at).map(usize::try_from);
    match (place(at)?, place(at + 8)?) {
        (Ok(start), Ok(size)) if start.checked_add(size).is_some_and(|end| end <= file.len()) => {
            Ok(start..start + size)
        }
        _ => Err(InputError::Damaged(at)),
    }
}

fn bytes<const N: usize>(file: &[u8], at: usize) -> Result<[u8; N], InputError> {
    file.get(at..at + N).and_then(|bytes| bytes.try_into().ok()).ok_or(InputError::Damaged(at))
}

fn word(file: &[u8], at: usize) -> Result<u64, InputError> {
    bytes(file, at).map(u64::from_le_bytes)
}

fn half(file: &[u8], at: usize) -> Result<u32, InputError> {
    bytes(file, at).map(u32::from_le_bytes)
}

fn quarter(file: &[u8], at: usize) -> Result<u16, InputError> {
    bytes(file, at).map(u16::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a minimal perf.data file: one attribute, metadata, a flagged buffer of `content`.
    fn perf_data(info: &[u64], content: &[u8]) -> Vec<u8> {
        let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let record = |kind: u64, body: &[u64]| -> Vec<u8> {
            let size = 8 + 8 * body.len() as u64;
            [words(&[kind | size << 48]), words(body)].concat()
        };
        let aux = record(AUX.into(), &[0, content.len() as u64, AUX_COLLISION]);
        let trace = record(AUXTRACE.into(), &[content.len() as u64, 0x40, 0, 3, 3]);
        let name = u64::from_le_bytes(*b"/bin/x\0\0");
        let mapping = record(MMAP2.into(), &[0, 0x40_0000, 0x2000, 0x1000, 0, 0, 0, 5, name]);
        let data = [
            record(AUXTRACE_INFO.into(), info),
            mapping,
            aux,
            trace,
            content.to_vec(),
            record(68, &[]),
        ]
        .concat();
        let attr_bytes = 80;
        let mut attr: Vec<u8> = words(&[9, 0, 1024]);
        attr.resize(attr_bytes, 0);
        let (attrs, start) = (104, 104 + attr_bytes as u64);
        let header: Vec<u8> =
            words(&[104, attr_bytes as u64, attrs, attr_bytes as u64, start, data.len() as u64]);
        let mut file = [MAGIC.to_vec(), header].concat();
        file.resize(104, 0);
        [file, attr, data].concat()
    }

    #[test]
    fn the_buffers_of_a_perf_data_file_are_found() {
        for info in [&[4, 9, 1][..], &[4, 2, 4, 9, 1]] {
            let file = perf_data(info, &[1; 48]);
            let input = find(&file).expect("a good file");
            let [buffer] = &input.buffers[..] else { panic!("{input:?}") };
            assert_eq!((buffer.cpu, buffer.address), (Some(3), 0x40));
            assert_eq!(file[buffer.bytes.clone()], [1; 48]);
            assert_eq!((input.period, input.flagged_collision), (Some(1024), 1));
            let path = String::from("/bin/x");
            let mapped = Mapped { start: 0x40_0000, bytes: 0x2000, offset: 0x1000, path };
            assert_eq!(input.mapped, [mapped]);
        }
    }

    #[test]
    fn other_bytes_are_raw() {
        let input = find(&[0xb0, 1, 2]).expect("raw bytes");
        assert_eq!(input.buffers, [Buffer { cpu: None, bytes: 0..3, address: 0 }]);
    }

    #[test]
    fn every_unreadable_file_has_its_own_error_and_none_panics() {
        assert_eq!(find(b"2ELIFREP"), Err(InputError::OtherByteOrder));
        let pipe = [&MAGIC[..], &16_u64.to_le_bytes()].concat();
        assert_eq!(find(&pipe), Err(InputError::Pipe));
        let good = perf_data(&[4, 9, 1], &[1; 48]);
        assert_eq!(find(&perf_data(&[1, 9, 1], &[])), Err(InputError::NoProfile));
        for cut in 8..good.len() {
            assert!(matches!(find(&good[..cut]), Err(InputError::Damaged(_))), "cut at {cut}");
        }
        for at in 0..good.len() {
            for byte in [0, 0x7f, 0xff] {
                let mut bad = good.clone();
                bad[at] = byte;
                let _ = find(&bad);
            }
        }
    }
}
