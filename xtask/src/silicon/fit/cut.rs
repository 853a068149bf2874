//! Recordings whose warm-up is too long for hundreds of replays, and shorter ones of the same loop.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sim_machine::hint_word;
use sim_trace::{Slice, TraceFile, WriterOptions};

use super::super::replay::{BEGIN, END};
use super::super::rows::{Class, Row};

/// Instructions of a recording that is replayed for every place of a search.
pub(super) const FITTED_MOST: u64 = 600_000;
/// Instructions of a recording that is replayed at the starts and at the fitted places.
pub(super) const SHOWN_MOST: u64 = 2_500_000;
/// One part in so many of the counted part is kept.
const KEPT: u64 = 4;

/// Use of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// A point of the fit.
    Fitted,
    /// Never fitted, by its name.
    HeldOut,
    /// Not fitted because it is too long.
    TooLong,
}

/// Returns the recording of a row, the share of the row's work that it counts, and its use; `None`
/// if it is too long for any.
pub(super) fn recording(row: &Row, folder: &Path) -> Result<Option<(PathBuf, f64, Use)>> {
    let path = folder.join(format!("{}.n2t", row.trace));
    let is_cut = reads_memory(row);
    let path = if is_cut { cut(&path)? } else { path };
    let instructions = TraceFile::open(&path)?.instructions();
    if instructions > SHOWN_MOST && !is_cut {
        return Ok(None);
    }
    let of_row = match row.is_held_out() {
        true => Use::HeldOut,
        false if instructions <= FITTED_MOST || is_cut => Use::Fitted,
        false => Use::TooLong,
    };
    Ok(Some((path, if is_cut { 1.0 / KEPT as f64 } else { 1.0 }, of_row)))
}

/// Returns true for reads of more than any cache holds: they miss, whatever ran before.
fn reads_memory(row: &Row) -> bool {
    let size = row.name.rsplit('/').next().and_then(|size| size.parse::<f64>().ok());
    let least = if row.name.starts_with("bw_mem.tsv/rd/") { 256.0 } else { 524_288.0 };
    let is_read =
        ["bw_mem.tsv/rd/", "membench.tsv/read/"].iter().any(|of| row.name.starts_with(of));
    row.class == Class::Dram && is_read && size.is_some_and(|size| size >= least)
}

/// Returns a part of a recording: of the counted part the beginning, and before it half as many
/// instructions, which are accesses to the bytes before the counted ones.
fn cut(path: &Path) -> Result<PathBuf> {
    let short = path.with_extension("part.n2t");
    if short.exists() {
        return Ok(short);
    }
    let file = TraceFile::open(path)?;
    let (mut begin, mut end) = (u64::MAX, 0);
    for stream in file.streams() {
        let first = position(&file, stream.stream, hint_word(BEGIN))?;
        begin = begin.min(first);
        let counted = (position(&file, stream.stream, hint_word(END))? - first) / KEPT;
        end = end.max(begin + counted);
    }
    let range = begin - ((end - begin) / 2).min(begin)..end;
    let what = Slice { streams: Vec::new(), range, without_order: true };
    sim_trace::slice(&file, &what, &short, WriterOptions::default())?;
    Ok(short)
}

/// Returns the position of the first instruction with this word.
fn position(file: &TraceFile, stream: u32, word: u32) -> Result<u64> {
    let words = file.statics().insts();
    let mut reader = file.reader(stream)?;
    let mut batch = Vec::new();
    while reader.next_batch(&mut batch)? {
        let found = batch.iter().position(|inst| words[inst.id as usize].word == word);
        if let Some(found) = found {
            return Ok(reader.batch_start() + found as u64);
        }
    }
    None.with_context(|| format!("{}: no instruction {word:#x}", file.path().display()))
}
