//! Source lines and inlined calls of one ELF file, from its DWARF.

use std::borrow::Cow;
use std::fmt;
use std::io::Read;
use std::ops::Range;
use std::sync::Arc;

use addr2line::Context;
use flate2::read::ZlibDecoder;
use gimli::{Dwarf, EndianArcSlice, RunTimeEndian, SectionId};
use object::{CompressionFormat, Object, ObjectSection, ObjectSegment};
use sim_core::Shown;

use super::{Frame, SourceLine, demangled};

type Reader = EndianArcSlice<RunTimeEndian>;

/// Largest section that is unpacked, in bytes.
const MAX_SECTION: u64 = 1 << 31;

/// Line table of a file loaded `bias` bytes above its own addresses.
pub(crate) struct Lines {
    context: Context<Reader>,
    bias: u64,
    /// Addresses of the file's segments, as executed.
    range: Range<u64>,
}

impl fmt::Debug for Lines {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Lines").field("bias", &self.bias).finish_non_exhaustive()
    }
}

impl Lines {
    /// Returns the lines of a file that contains them. `common` is the file to which parts of them
    /// were moved. Damaged lines count as none, because lines are optional.
    pub(crate) fn of(
        file: &object::File<'_>,
        common: Option<&object::File<'_>>,
        bias: u64,
    ) -> Option<Lines> {
        file.section_by_name(".debug_info")?;
        let mut dwarf = dwarf(file);
        if let Some(common) = common {
            dwarf.set_sup(self::dwarf(common));
        }
        let ends = file.segments().map(|part| (part.address(), part.size()));
        let ends = ends.map(|(start, bytes)| (start, start.saturating_add(bytes)));
        let (start, end) = ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
        let range = start.wrapping_add(bias)..end.wrapping_add(bias);
        Some(Lines { context: Context::from_dwarf(dwarf).ok()?, bias, range })
    }

    /// Returns the functions at an address as executed, innermost first.
    pub(crate) fn frames(&self, pc: u64) -> Vec<Frame> {
        let mut frames = Vec::new();
        if !self.range.contains(&pc) {
            return frames;
        }
        let found = self.context.find_frames(pc.wrapping_sub(self.bias)).skip_all_loads();
        let Ok(mut found) = found else { return frames };
        while let Ok(Some(frame)) = found.next() {
            let name = frame.function.as_ref().and_then(|name| name.raw_name().ok());
            let Some(function) = name.as_deref().map(demangled) else { continue };
            let line = frame.location.and_then(|place| {
                Some(SourceLine { file: place.file?.shown().to_string(), line: place.line? })
            });
            frames.push(Frame { function, line });
        }
        frames
    }
}

/// Returns the DWARF sections of a file.
fn dwarf(file: &object::File<'_>) -> Dwarf<Reader> {
    let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let section = |id: SectionId| -> Result<Reader, std::convert::Infallible> {
        let data = file.section_by_name(id.name()).and_then(|section| content(&section));
        Ok(Reader::new(Arc::from(&*data.unwrap_or_default()), endian))
    };
    let Ok(dwarf) = Dwarf::load(section);
    dwarf
}

/// Returns the content of a section, unpacked. Debug files are mostly packed.
fn content<'a>(section: &object::Section<'a, '_>) -> Option<Cow<'a, [u8]>> {
    let packed = section.compressed_data().ok()?;
    let limit = packed.uncompressed_size.min(MAX_SECTION);
    let mut unpacked = Vec::new();
    match packed.format {
        CompressionFormat::None => return Some(Cow::Borrowed(packed.data)),
        CompressionFormat::Zlib => {
            ZlibDecoder::new(packed.data).take(limit).read_to_end(&mut unpacked).ok()?;
        }
        CompressionFormat::Zstandard => {
            let decoder = zstd::Decoder::new(packed.data).ok()?;
            decoder.take(limit).read_to_end(&mut unpacked).ok()?;
        }
        _ => return None,
    }
    Some(Cow::Owned(unpacked))
}
