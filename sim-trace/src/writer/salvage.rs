//! Salvage of a trace after a write error, such as a full disk: the written chunks become a
//! complete, shorter trace.

use std::io::{BufWriter, Seek, SeekFrom};

use sim_files::{File, Unfinished as TempFile};

use super::TraceWriter;
use super::output::{Output, end_file};
use super::summary::Summary;
use crate::error::TraceError;
use crate::index::IndexEntry;
use crate::layout::{ChunkKind, HEADER_BYTES};
use crate::meta::{MachineInfo, Meta};
use crate::scan::{Walked, walk};
use crate::source::Source;

/// A trace whose temporary file contains chunks, but not the end.
struct Unfinished {
    temp: TempFile,
    meta: Meta,
    machine: (MachineInfo, u16),
    level: i32,
}

impl TraceWriter {
    /// Finishes the trace like [`TraceWriter::finish`]. After a write error the trace keeps as many
    /// chunks as fit into the file with their index, and its gaps record the truncation. Returns
    /// the summary, and the error if there was one.
    ///
    /// # Errors
    /// No chunk of a stream could be kept. No file remains then.
    pub fn finish_or_cut(mut self) -> Result<(Summary, Option<TraceError>), TraceError> {
        let Some(unfinished) = self.unfinished() else {
            return self.finish().map(|summary| (summary, None));
        };
        match self.finish_into() {
            Ok((summary, sink)) => {
                end_file(unfinished.temp, sink)?;
                Ok((summary, None))
            }
            Err(refusal) => unfinished.cut(refusal).map(|(kept, reason)| (kept, Some(reason))),
        }
    }

    /// Makes a trace of the chunks written before the error `refusal`, like
    /// [`TraceWriter::finish_or_cut`].
    ///
    /// # Errors
    /// The same as for [`TraceWriter::finish_or_cut`].
    pub fn cut(mut self, refusal: TraceError) -> Result<(Summary, TraceError), TraceError> {
        let Some(unfinished) = self.unfinished() else { return Err(refusal) };
        // Bytes that are still in the buffer of the sink are lost, like the refused ones.
        drop(self);
        unfinished.cut(refusal)
    }

    fn unfinished(&mut self) -> Option<Unfinished> {
        let temp = self.temp.take()?;
        let (meta, machine) = (self.meta.clone(), self.output.machine());
        Some(Unfinished { temp, meta, machine, level: self.options.level })
    }
}

impl Unfinished {
    /// Ends the file after the last chunk that leaves room for META, index and totals.
    fn cut(mut self, refusal: TraceError) -> Result<(Summary, TraceError), TraceError> {
        let path = self.temp.path();
        let file =
            File::open(path).map_err(TraceError::io(path, "reading the unfinished trace"))?;
        let Walked { chunks, .. } = walk(&Source::new(file, path)?, true)?;
        self.meta.gaps.push(format!("the trace is truncated: {refusal}"));
        for count in (1..=chunks.entries.len()).rev() {
            let kept = &chunks.entries[..count];
            if kept.iter().all(|entry| entry.header.kind != ChunkKind::Stream) {
                break;
            }
            match self.end_after(kept) {
                Ok((summary, sink)) => {
                    end_file(self.temp, sink)?;
                    return Ok((summary, refusal));
                }
                // Still no room: try with one chunk less.
                Err(TraceError::Io { .. }) => {}
                Err(other) => return Err(other),
            }
        }
        Err(refusal)
    }

    fn end_after(&self, kept: &[IndexEntry]) -> Result<(Summary, BufWriter<File>), TraceError> {
        let path = self.temp.path();
        let end = kept.last().map_or(HEADER_BYTES as u64, |e| e.offset + e.header.total_bytes());
        let doing = "cutting the unfinished trace";
        let options = &mut std::fs::File::options();
        let file = File::open_with(options.write(true), path);
        let mut file = file.map_err(TraceError::io(path, doing))?;
        file.set_len(end)
            .and_then(|()| file.seek(SeekFrom::Start(end)))
            .map_err(TraceError::io(path, doing))?;
        let sink = BufWriter::new(file);
        let mut output = Output::resume(sink, path.to_path_buf(), self.machine, self.level, kept)?;
        output.meta(&self.meta)?;
        let summary = summary_of(kept);
        let (file_bytes, sink) = output.end(&self.meta, &summary)?;
        Ok((Summary { file_bytes, ..summary }, sink))
    }
}

/// Returns the totals of these chunks.
fn summary_of(kept: &[IndexEntry]) -> Summary {
    let mut summary = Summary::default();
    let mut streams = Vec::new();
    for IndexEntry { header, .. } in kept {
        match header.kind {
            ChunkKind::Blocks => summary.distinct_blocks += header.blocks,
            ChunkKind::Stream => {
                summary.instructions += u64::from(header.instructions);
                summary.blocks += u64::from(header.blocks);
                summary.accesses += u64::from(header.accesses);
                summary.events += u64::from(header.events);
                streams.push(header.stream);
            }
            _ => {}
        }
    }
    streams.sort_unstable();
    streams.dedup();
    summary.streams = streams.len() as u32;
    summary
}
