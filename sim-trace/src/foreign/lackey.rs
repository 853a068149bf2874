//! Text of `valgrind --tool=lackey --trace-mem=yes`. It has addresses only; words come from the
//! program file.
//!
//! `I  ADDRESS,SIZE` is an instruction. Lines with ` L`, ` S` and ` M` after it are its load, store
//! and modification. Lines of valgrind itself (`==PID==`) may come in between.

use std::io::{BufReader, Read, Seek, Write};

use super::builder::Builder;
use super::lines::{Lines, hex};
use super::stop::{Stop, no_word};
use crate::missing_data::MissingData;

/// A line of the trace.
pub(super) enum Line {
    /// Address and size of an instruction.
    Inst(u64, u64),
    /// A data address.
    Access(u64),
}

/// Parses a line. Returns `None` for a line of another kind.
pub(super) fn parse(line: &str) -> Option<Line> {
    let (kind, rest) = line.split_at_checked(3)?;
    let (addr, size) = rest.split_once(',')?;
    let (addr, size) = (hex(addr)?, size.parse().ok()?);
    match kind {
        "I  " => Some(Line::Inst(addr, size)),
        " L " | " S " | " M " => Some(Line::Access(addr)),
        _ => None,
    }
}

/// Reads the whole text.
pub(super) fn read<W: Write + Seek>(bytes: impl Read, to: &mut Builder<W>) -> Result<(), Stop> {
    to.note_missing(MissingData::Threads);
    let stream = to.thread(0)?;
    let mut lines = Lines::new(BufReader::new(bytes));
    while let Some(line) = lines.next()? {
        match parse(line) {
            Some(Line::Inst(pc, 4)) => match to.word_at(pc) {
                Some(word) => to.inst(stream, pc, word)?,
                None => return Err(lines.fault(no_word(pc))),
            },
            Some(Line::Inst(pc, size)) => {
                let what =
                    format!("the instruction at {pc:#x} has {size} bytes: this is not A64 code");
                return Err(lines.fault(what));
            }
            Some(Line::Access(addr)) => to.access(stream, addr),
            None => to.skip(),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_recognized_by_kind() {
        assert!(matches!(parse("I  04001090,4"), Some(Line::Inst(0x400_1090, 4))));
        for (line, addr) in [(" L 1ffeff7e0,8", 0x1_ffef_f7e0), (" S 10,4", 16), (" M 20,8", 32)] {
            assert!(matches!(parse(line), Some(Line::Access(found)) if found == addr), "{line}");
        }
        for other in ["==12== Lackey", "", "I  xyz,4", "I 04001090,4", " L 10"] {
            assert!(parse(other).is_none(), "{other}");
        }
    }
}
