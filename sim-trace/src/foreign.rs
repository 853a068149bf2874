//! Import of traces of other tools: recognizes the format by its content, unpacks it, and converts
//! it to the format of n2sim.
//!
//! The result records the data that a format does not contain ([`MissingData`](crate::MissingData),
//! and sentences in `Meta::gaps`), so that reports can warn.

mod builder;
mod champsim;
mod cvp1;
mod drmemtrace;
mod elf;
mod execlog;
mod format;
mod gem5_exec;
mod gem5_inst;
mod lackey;
mod lines;
mod recognize;
mod records;
mod stop;
mod tarmac;
mod unpack;
mod words;

use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use sim_core::MemoryBudget;

use crate::error::TraceError;
use crate::file::TraceFile;
use crate::meta::{MachineInfo, Meta};
use crate::writer::{TraceWriter, WriterOptions};
use builder::Builder;
use champsim::Shape;
use elf::Code;
use sim_files::File;
use stop::Stop;
use unpack::{Unpacked, read_up_to, unpack};

pub use builder::Imported;
pub use format::Format;

/// Largest number of files in a directory of traces.
const FILES_MAX: usize = 4096;
/// Largest size of a program file, in bytes.
const ELF_MAX: u64 = 2 << 30;

/// Options for reading a foreign trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// Format of the trace; recognized from the content if `None`.
    pub from: Option<Format>,
    /// ELF file of the program, and its load address if it is position-independent.
    pub elf: Option<(PathBuf, u64)>,
    /// Largest number of instructions to read.
    pub limit: Option<u64>,
}

/// A foreign trace that can be opened several times.
struct Input<'a> {
    path: &'a Path,
    open: &'a dyn Fn() -> io::Result<Unpacked<'a>>,
}

impl<'a> Input<'a> {
    /// Returns the first bytes, unpacked, and the names of the compressions.
    fn head(&self) -> Result<(Vec<u8>, Vec<&'static str>), TraceError> {
        let read = || {
            let mut unpacked = (self.open)()?;
            let mut head = vec![0; recognize::HEAD_BYTES];
            let length = read_up_to(&mut unpacked.bytes, &mut head)?;
            head.truncate(length);
            Ok((head, unpacked.packings))
        };
        read().map_err(|error: io::Error| TraceError::Import {
            path: self.path.to_path_buf(),
            format: "a compressed trace",
            place: "unpacking".into(),
            what: error.to_string(),
            instructions: 0,
        })
    }

    fn bytes(&self) -> io::Result<Box<dyn Read + 'a>> {
        Ok((self.open)()?.bytes)
    }
}

/// Imports the foreign trace at `input` (a file, or a directory with one file per thread) to
/// `output`.
///
/// # Errors
/// The format is unknown, the trace is damaged or not of A64 code, words are missing and no program
/// file has them, or `output` cannot be written.
pub fn import(
    input: &Path,
    output: &Path,
    options: &ImportOptions,
) -> Result<Imported, TraceError> {
    let plan = Plan::of(input, options)?;
    let to = WriterOptions { level: 3, ..WriterOptions::default() };
    let writer = TraceWriter::create_with(output, plan.meta(), to)?;
    let (writer, imported) = plan.read(writer, options)?;
    Ok(Imported { summary: writer.finish()?, ..imported })
}

/// Imports the foreign trace at `input` into a file without a name, which is removed when the trace
/// is closed.
///
/// # Errors
/// The same as for [`import`].
pub fn open(input: &Path, options: &ImportOptions) -> Result<(TraceFile, Imported), TraceError> {
    open_within(input, options, &MemoryBudget::default())
}

/// Imports a foreign trace like [`open`], and reserves the memory of the trace and its readers in
/// `budget`.
///
/// # Errors
/// The same as for [`open`], or the code of the trace exceeds the budget.
pub fn open_within(
    input: &Path,
    options: &ImportOptions,
    budget: &MemoryBudget,
) -> Result<(TraceFile, Imported), TraceError> {
    let plan = Plan::of(input, options)?;
    let temporary = std::env::temp_dir();
    let place = TraceError::io(&temporary, "making a temporary trace");
    let file = File::from_std(tempfile::tempfile().map_err(place)?);
    let sink = BufWriter::with_capacity(1 << 18, file);
    let writer = TraceWriter::new(sink, input, plan.meta(), WriterOptions::default())?;
    let (writer, imported) = plan.read(writer, options)?;
    let (summary, sink) = writer.finish_into()?;
    let file = sink.into_inner().map_err(io::IntoInnerError::into_error);
    let file = file.map_err(TraceError::io(&temporary, "writing a temporary trace"))?;
    let trace = TraceFile::from_reader_within(file, input, budget)?;
    Ok((trace, Imported { summary, ..imported }))
}

/// Imports a foreign trace from memory to memory, for tests of the readers.
///
/// # Errors
/// The same as for [`import`].
pub fn import_bytes(
    bytes: &[u8],
    elf: Option<&[u8]>,
    options: &ImportOptions,
) -> Result<(Imported, Vec<u8>), TraceError> {
    let path = Path::new("memory");
    let opener = || unpack(io::Cursor::new(bytes));
    let input = Input { path, open: &opener };
    let (head, packings) = input.head()?;
    let format = format_of(path, &head, options)?;
    let code =
        elf.map(|elf| Code::parse(elf, 0)).transpose().map_err(|what| bad_elf(path, what))?;
    let sink = io::Cursor::new(Vec::new());
    let writer = TraceWriter::new(sink, path, meta(path, format, &head), WriterOptions::default())?;
    let mut builder = Builder::new(writer, code, options.limit)?;
    read_one(&input, format, options, &mut builder)?;
    let (writer, skipped) = finish(path, format, builder)?;
    let (summary, sink) = writer.finish_into()?;
    Ok((Imported { format, packings, skipped, summary }, sink.into_inner()))
}

/// Files, format and program of an import.
struct Plan<'a> {
    path: &'a Path,
    files: Vec<PathBuf>,
    format: Format,
    packings: Vec<&'static str>,
    head: Vec<u8>,
    code: Option<Code>,
}

impl<'a> Plan<'a> {
    fn of(path: &'a Path, options: &ImportOptions) -> Result<Plan<'a>, TraceError> {
        let files = files(path)?;
        let first = &files[0];
        let opener = || open_file(first);
        let (head, packings) = Input { path: first, open: &opener }.head()?;
        let format = format_of(path, &head, options)?;
        let code = options.elf.as_ref().map(|(path, bias)| load_elf(path, *bias)).transpose()?;
        if format.needs_elf() && code.is_none() {
            return Err(needs_elf(path, format));
        }
        Ok(Plan { path, files, format, packings, head, code })
    }

    fn meta(&self) -> Meta {
        meta(self.path, self.format, &self.head)
    }

    fn read<W: Write + Seek>(
        self,
        writer: TraceWriter<W>,
        options: &ImportOptions,
    ) -> Result<(TraceWriter<W>, Imported), TraceError> {
        let Plan { path, files, format, packings, code, .. } = self;
        let mut builder = Builder::new(writer, code, options.limit)?;
        for file in &files {
            let opener = || open_file(file);
            read_one(&Input { path: file, open: &opener }, format, options, &mut builder)?;
            builder.next_file();
        }
        let (writer, skipped) = finish(path, format, builder)?;
        let summary = crate::writer::Summary::default();
        Ok((writer, Imported { format, packings, skipped, summary }))
    }
}

/// Returns the trace itself, or the files of a directory in order of their names.
fn files(path: &Path) -> Result<Vec<PathBuf>, TraceError> {
    if !path.is_dir() {
        crate::file::open_file(path)?;
        return Ok(vec![path.to_path_buf()]);
    }
    let list = || -> io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for entry in path.read_dir()?.take(FILES_MAX) {
            let entry = entry?;
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            if entry.path().is_file() && !is_hidden {
                files.push(entry.path());
            }
        }
        files.sort();
        Ok(files)
    };
    let files = list().map_err(TraceError::io(path, "reading the directory"))?;
    if files.is_empty() {
        return Err(TraceError::NotAFile {
            path: path.to_path_buf(),
            found: "a directory without files",
        });
    }
    Ok(files)
}

fn open_file<'a>(path: &Path) -> io::Result<Unpacked<'a>> {
    unpack(File::open(path)?)
}

fn format_of(path: &Path, head: &[u8], options: &ImportOptions) -> Result<Format, TraceError> {
    if head.is_empty() {
        return Err(TraceError::Empty(path.to_path_buf()));
    }
    let known = options.from.or_else(|| recognize::recognize(head));
    known.ok_or_else(|| {
        if path.is_dir() {
            let found = "a directory without traces of other tools";
            return TraceError::NotAFile { path: path.to_path_buf(), found };
        }
        let (found, remedy) = crate::error::recognize(head);
        TraceError::Foreign { path: path.to_path_buf(), found, remedy }
    })
}

/// Returns the origin of an imported trace.
fn meta(path: &Path, format: Format, head: &[u8]) -> Meta {
    let text = recognize::text(head);
    let full_system = match format {
        Format::Tarmac => text.is_some_and(tarmac::is_full_system),
        Format::Execlog => text.is_some_and(execlog::is_full_system),
        _ => false,
    };
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Meta {
        producer: concat!("n2sim ", env!("CARGO_PKG_VERSION"), " (import)").into(),
        command: vec![name],
        engine: format.title().into(),
        cpu: "unknown".into(),
        machine: MachineInfo { full_system, midr: 0, ..MachineInfo::default() },
        ..Meta::default()
    }
}

fn load_elf(path: &Path, bias: u64) -> Result<Code, TraceError> {
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?.take(ELF_MAX).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().map_err(TraceError::io(path, "reading the program"))?;
    Code::parse(&bytes, bias).map_err(|what| bad_elf(path, what))
}

fn bad_elf(path: &Path, what: String) -> TraceError {
    TraceError::Program { path: path.to_path_buf(), what }
}

fn needs_elf(path: &Path, format: Format) -> TraceError {
    let what = format!("{} has no instruction words", format.title());
    let path = path.to_path_buf();
    TraceError::NeedsProgram { path, what }
}

/// Reads one file of the format.
fn read_one<W: Write + Seek>(
    input: &Input<'_>,
    format: Format,
    options: &ImportOptions,
    to: &mut Builder<W>,
) -> Result<(), TraceError> {
    let limit = options.limit.unwrap_or(u64::MAX);
    let mut read = || -> Result<(), Stop> {
        if format.needs_elf() && !to.has_code() {
            return Err(Stop::Output(needs_elf(input.path, format)));
        }
        let open = || input.bytes();
        match format {
            Format::Champsim => return champsim::read(open, Shape::Short, limit, to),
            Format::Cloudsuite => return champsim::read(open, Shape::Long, limit, to),
            _ => {}
        }
        let bytes = open().map_err(Stop::Input)?;
        match format {
            Format::Drmemtrace => drmemtrace::read(bytes, to),
            Format::Tarmac => tarmac::read(bytes, to),
            Format::Gem5Inst => gem5_inst::read(bytes, to),
            Format::Gem5Exec => gem5_exec::read(bytes, to),
            Format::Cvp1 => cvp1::read(bytes, to),
            Format::Lackey => lackey::read(bytes, to),
            Format::Execlog | Format::Champsim | Format::Cloudsuite => execlog::read(bytes, to),
        }
    };
    let stop = read();
    let instructions = to.instructions();
    stop.or_else(|stop| stop_result(stop, input.path, format, instructions))
}

/// Returns the result of an import that stopped early.
fn stop_result(
    stop: Stop,
    path: &Path,
    format: Format,
    instructions: u64,
) -> Result<(), TraceError> {
    let (place, what) = match stop {
        Stop::Enough => return Ok(()),
        Stop::Output(error) => return Err(error),
        Stop::Fault { place, what } => (place, what),
        Stop::Input(error) => ("unpacking".to_owned(), error.to_string()),
    };
    let (path, format) = (path.to_path_buf(), format.title());
    Err(TraceError::Import { path, format, place, what, instructions })
}

fn finish<W: Write + Seek>(
    path: &Path,
    format: Format,
    builder: Builder<W>,
) -> Result<(TraceWriter<W>, u64), TraceError> {
    let instructions = builder.instructions();
    if instructions == 0 {
        let (place, what) = ("the whole trace".into(), "it has no executed instruction".into());
        let (path, format) = (path.to_path_buf(), format.title());
        return Err(TraceError::Import { path, format, place, what, instructions });
    }
    builder.finish().or_else(|stop| {
        stop_result(stop, path, format, instructions)?;
        Err(TraceError::Rejected("an import ended twice"))
    })
}
