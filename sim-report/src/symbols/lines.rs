//! Source lines and inlined calls of one ELF file, from its DWARF.

use std::fmt;
use std::sync::Arc;

use addr2line::Context;
use gimli::{Dwarf, EndianArcSlice, RunTimeEndian, SectionId};
use object::{Object, ObjectSection};
use sim_core::Shown;

use super::{Frame, SourceLine, demangled};

type Reader = EndianArcSlice<RunTimeEndian>;

/// Line table of a file loaded `bias` bytes above its own addresses.
pub(crate) struct Lines {
    context: Context<Reader>,
    bias: u64,
}

impl fmt::Debug for Lines {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Lines").field("bias", &self.bias).finish_non_exhaustive()
    }
}

impl Lines {
    /// Returns the lines of a file that contains them. Damaged lines count as none, because lines
    /// are optional.
    pub(crate) fn of(file: &object::File<'_>, bias: u64) -> Option<Lines> {
        let endian =
            if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        file.section_by_name(".debug_info")?;
        let section = |id: SectionId| -> Result<Reader, std::convert::Infallible> {
            let data = file
                .section_by_name(id.name())
                .and_then(|section| section.uncompressed_data().ok())
                .unwrap_or_default();
            Ok(Reader::new(Arc::from(&*data), endian))
        };
        let Ok(dwarf) = Dwarf::load(section);
        Some(Lines { context: Context::from_dwarf(dwarf).ok()?, bias })
    }

    /// Returns the functions at an address as executed, innermost first.
    pub(crate) fn frames(&self, pc: u64) -> Vec<Frame> {
        let mut frames = Vec::new();
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
