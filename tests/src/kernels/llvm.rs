//! LLVM's side: assembles the kernels with `llvm-mc`, and reads the saved figures of `llvm-mca`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::corpus::{BEGIN, Word};
use crate::read;

/// Versions of LLVM's tools in the order of preference; the comparison was last checked with the
/// first.
const VERSIONS: [&str; 6] = ["-19", "-20", "-21", "-18", "-17", ""];
/// The first version that takes all extensions as one option.
const OLDEST: u32 = 17;
/// A core that both sides model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Core {
    /// Neoverse N2.
    NeoverseN2,
    /// Cortex-A53.
    CortexA53,
}

impl Core {
    /// Returns the options of LLVM's tools that select the core and its extensions.
    pub fn options(self) -> [&'static str; 2] {
        match self {
            // All extensions beyond its base.
            Core::NeoverseN2 => ["-mcpu=neoverse-n2", "-mattr=+all"],
            Core::CortexA53 => ["-mcpu=cortex-a53", "-mattr=+crypto,+crc"],
        }
    }

    /// Returns the directory of its figures and causes.
    pub fn folder(self) -> PathBuf {
        match self {
            Core::NeoverseN2 => super::folder(),
            Core::CortexA53 => super::folder().join("cortex-a53"),
        }
    }

    fn figures(self) -> PathBuf {
        self.folder().join("llvm-mca.tsv")
    }
}

/// Figures of `llvm-mca` for one kernel on one core.
pub trait Figures: Copy {
    /// The core.
    const CORE: Core;
    /// Description of the columns: the second comment of the file of saved figures.
    const COLUMNS: &str;

    /// Returns the cycles of one iteration with which this model is compared.
    fn compared(&self) -> f64;

    /// Returns the columns after the name.
    fn columns(&self) -> String;

    /// Parses them.
    fn parse(columns: &str) -> Option<Self>;
}

/// Figures of the Neoverse N2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct N2Figures {
    /// Cycles of one iteration with LLVM's own model: ten micro-operations dispatched a cycle.
    pub wide: f64,
    /// Cycles of one iteration with `-dispatch=5`: five micro-operations.
    pub narrow: f64,
    /// Operations of one iteration: for each instruction half its micro-operations, at least one.
    pub mops: u32,
}

impl Figures for N2Figures {
    const CORE: Core = Core::NeoverseN2;
    const COLUMNS: &str = "Kernel, cycles of one iteration, the same with
# -dispatch=5, operations (half the micro-operations of each instruction, at least one).";

    /// Returns LLVM's cycles on a core that renames five operations, each of up to two
    /// micro-operations.
    fn compared(&self) -> f64 {
        self.wide.max(f64::from(self.mops) / 5.0)
    }

    fn columns(&self) -> String {
        format!("{:.3}\t{:.3}\t{}", self.wide, self.narrow, self.mops)
    }

    fn parse(columns: &str) -> Option<N2Figures> {
        let [wide, narrow, mops] = columns.split('\t').collect::<Vec<_>>().try_into().ok()?;
        let (wide, narrow) = (wide.parse().ok()?, narrow.parse().ok()?);
        Some(N2Figures { wide, narrow, mops: mops.parse().ok()? })
    }
}

/// Cycles of one iteration on the Cortex-A53.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct A53Figures(pub f64);

impl Figures for A53Figures {
    const CORE: Core = Core::CortexA53;
    const COLUMNS: &str = "Kernel, cycles of one iteration.";

    fn compared(&self) -> f64 {
        self.0
    }

    fn columns(&self) -> String {
        format!("{:.3}", self.0)
    }

    fn parse(columns: &str) -> Option<A53Figures> {
        columns.parse().ok().map(A53Figures)
    }
}

/// Saved figures by kernel; `None` for a kernel with an instruction that LLVM does not model.
pub type Kept<F> = BTreeMap<String, Option<F>>;

/// Returns the name of an installed tool such as `llvm-mc`, with its version. Skips versions that
/// are too old for the comparison.
pub fn tool(name: &str) -> Option<String> {
    let is_recent = |name: &String| version_of(name).is_some_and(|version| version >= OLDEST);
    VERSIONS.iter().map(|version| format!("{name}{version}")).find(is_recent)
}

/// Returns the major version of `LLVM version 19.1.7`, which the tool prints.
fn version_of(tool: &str) -> Option<u32> {
    let printed = Command::new(tool).arg("--version").output().ok()?;
    let text = String::from_utf8(printed.stdout).ok()?;
    text.split("LLVM version ").nth(1)?.split('.').next()?.parse().ok()
}

/// Assembles the regions of an assembly file with the tool `llvm-mc`.
///
/// # Errors
///
/// The tool fails or prints something unexpected.
pub fn assemble(tool: &str, source: &str) -> Result<Vec<(String, Vec<Word>)>, String> {
    let mut names = Vec::new();
    let mut labelled = String::new();
    for line in source.lines() {
        if let Some(name) = line.strip_prefix(BEGIN) {
            let _ = writeln!(labelled, "kernel.{}:", names.len());
            names.push(name.trim().to_owned());
        }
        let _ = writeln!(labelled, "{line}");
    }
    let mut kernels: Vec<_> = names.into_iter().map(|name| (name, Vec::new())).collect();
    let mut current = None;
    for line in run(tool, &labelled)?.lines() {
        if let Some(label) = line.strip_prefix("kernel.").and_then(|line| line.strip_suffix(':')) {
            current = label.parse::<usize>().ok();
        } else if let Some((text, encoding)) = line.split_once("// encoding: [") {
            let word = word_of(text, encoding).ok_or_else(|| format!("{tool} printed `{line}`"))?;
            let kernel = current.and_then(|index| kernels.get_mut(index));
            kernel.ok_or("an instruction outside of all kernels")?.1.push(word);
        }
    }
    Ok(kernels)
}

/// Parses an instruction of `llvm-mc -show-encoding`: its text and `0x21,0x04,0x00,0x91]`.
fn word_of(text: &str, encoding: &str) -> Option<Word> {
    let bytes = encoding.split(']').next()?.split(',');
    let bytes: Vec<u8> = bytes
        .map(|byte| u8::from_str_radix(byte.trim_start_matches("0x"), 16).ok())
        .collect::<Option<_>>()?;
    let word = u32::from_le_bytes(bytes.try_into().ok()?);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(Word { word, text })
}

fn run(tool: &str, input: &str) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("{tool}: {error}");
    let mut command = Command::new(tool);
    command.args(["-triple=aarch64", "-show-encoding"]).args(Core::NeoverseN2.options());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let mut stdin = child.stdin.take().ok_or("the assembler has no input pipe")?;
    let input = input.to_owned();
    let feed = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().map_err(failed)?;
    feed.join().map_err(|_| "the writer failed")?.map_err(failed)?;
    if !output.status.success() {
        return Err(format!("{tool}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Reads the saved figures of a core.
///
/// # Panics
///
/// When the file cannot be read or a line does not have the format of [`write_kept`].
pub fn kept<F: Figures>() -> Kept<F> {
    let path = F::CORE.figures();
    let text = read(&path);
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let parse = |line| parse_line(line).unwrap_or_else(|| panic!("{}: `{line}`", path.display()));
    lines.map(parse).collect()
}

fn parse_line<F: Figures>(line: &str) -> Option<(String, Option<F>)> {
    let (name, columns) = line.split_once('\t')?;
    match columns {
        "unmodeled" => Some((name.to_owned(), None)),
        _ => Some((name.to_owned(), Some(F::parse(columns)?))),
    }
}

/// Returns the first line of the saved figures of a core, which names the version of LLVM.
pub fn version(core: Core) -> String {
    let text = read(&core.figures());
    let line = text.lines().next().unwrap_or_default();
    line.trim_start_matches("# ").to_owned()
}

/// Writes the file of saved figures.
///
/// # Errors
///
/// The file cannot be written.
pub fn write_kept<F: Figures>(
    version: &str,
    figures: &[(String, Option<F>)],
) -> std::io::Result<()> {
    let mut text = format!("# {version}\n# Written by `cargo xtask compare-mca`. {}\n", F::COLUMNS);
    for (name, figures) in figures {
        let columns = figures.as_ref().map_or("unmodeled".to_owned(), F::columns);
        let _ = writeln!(text, "{name}\t{columns}");
    }
    std::fs::write(F::CORE.figures(), text)
}
