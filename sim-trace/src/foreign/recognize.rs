//! Recognition of the format of a foreign trace by its first unpacked bytes.

use super::champsim::{self, Shape};
use super::format::Format;
use super::{cvp1, drmemtrace, execlog, gem5_exec, gem5_inst, lackey, tarmac};

/// Number of bytes that are examined.
pub(super) const HEAD_BYTES: usize = 1 << 16;
/// Smallest share of text lines in the format, in percent. The others may belong to other logs.
const LINES_PERCENT: usize = 10;
/// Smallest share of binary records that follow each other, in percent.
const RECORDS_PERCENT: usize = 80;
/// Size of the longest x86 instruction, in bytes.
const X86_BYTES_MAX: u64 = 15;

/// Returns the format of a trace that begins with `head`.
pub(super) fn recognize(head: &[u8]) -> Option<Format> {
    if head.starts_with(gem5_inst::SIGNATURE) {
        return Some(Format::Gem5Inst);
    }
    if drmemtrace::is_begun_by(head) {
        return Some(Format::Drmemtrace);
    }
    if let Some(text) = text(head) {
        return text_format(text);
    }
    let best = [(Format::Champsim, Shape::Short), (Format::Cloudsuite, Shape::Long)]
        .map(|(format, shape)| (champsim_percent(head, shape), format))
        .into_iter()
        .chain([(cvp1_percent(head), Format::Cvp1)])
        .max_by_key(|(percent, _)| *percent)?;
    (best.0 >= RECORDS_PERCENT).then_some(best.1)
}

/// Returns the head as text, without a character that it truncates.
pub(super) fn text(head: &[u8]) -> Option<&str> {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if head.len() - error.valid_up_to() < 4 => {
            std::str::from_utf8(&head[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    (!text.is_empty() && !text.contains('\0')).then_some(text)
}

fn text_format(text: &str) -> Option<Format> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let is_tarmac =
        |line: &str| tarmac::parse(line).is_some_and(|(_, entry)| entry != tarmac::Entry::Nothing);
    let count = |is_one: &dyn Fn(&str) -> bool| lines.iter().filter(|line| is_one(line)).count();
    let counts = [
        (count(&|line| execlog::parse(line).is_some()), Format::Execlog),
        (count(&|line| lackey::parse(line.trim_end()).is_some()), Format::Lackey),
        (count(&|line| gem5_exec::parse(line).is_some()), Format::Gem5Exec),
        (count(&is_tarmac), Format::Tarmac),
    ];
    let (most, format) = counts.into_iter().max_by_key(|(count, _)| *count)?;
    (most > 0 && 100 * most >= LINES_PERCENT * lines.len()).then_some(format)
}

/// Returns the share of records, in percent, that look like ChampSim records and follow each other.
fn champsim_percent(head: &[u8], shape: Shape) -> usize {
    let records: Vec<_> = head
        .chunks_exact(shape.bytes())
        .map(|bytes| champsim::Record::parse(bytes, shape))
        .collect();
    let follows = |pair: &&[champsim::Record]| {
        let [one, next] = pair else { return false };
        let step = next.ip.wrapping_sub(one.ip);
        let is_next = one.taken == 1 || step <= X86_BYTES_MAX;
        one.ip != 0 && one.branches <= 1 && one.taken <= one.branches && is_next
    };
    match records.len() {
        0 => 0,
        // A single record must be the whole head.
        1 => {
            usize::from(
                records[0].ip != 0
                    && records[0].taken <= records[0].branches
                    && records[0].branches <= 1
                    && head.len() == shape.bytes(),
            ) * 100
        }
        n => 100 * records.windows(2).filter(follows).count() / (n - 1),
    }
}

/// Returns the share of records, in percent, that look like CVP-1 records and follow each other.
fn cvp1_percent(head: &[u8]) -> usize {
    let mut records = cvp1::Records::new(head);
    let (mut all, mut good) = (0, 0);
    let mut expected = None;
    loop {
        match records.next() {
            Ok(Some(record)) => {
                all += 1;
                good += usize::from(expected.is_none_or(|pc| record.pc == pc));
                expected = Some(record.target.unwrap_or(record.pc.wrapping_add(4)));
            }
            Ok(None) => break,
            // The head truncates its last record; any other fault rules out CVP-1.
            Err(_) if records.is_near(head.len() as u64) => break,
            Err(_) => return 0,
        }
    }
    (100 * good).checked_div(all).unwrap_or(0)
}
