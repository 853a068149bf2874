//! The commands that write, their inputs, and the properties of a whole result of each.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

/// A command that writes. `IN` is the directory of the inputs.
pub(super) struct Writing {
    pub(super) name: &'static str,
    pub(super) words: &'static [&'static str],
}

const fn writing(name: &'static str, words: &'static [&'static str]) -> Writing {
    Writing { name, words }
}

pub(super) const COMMANDS: [Writing; 18] = [
    writing("stat", &["stat", "IN/in.n2t", "-o", "out.txt"]),
    writing("record", &["record", "IN/in.n2t", "-o", "out.perf"]),
    writing("record firefox", &["record", "IN/in.n2t", "--format", "firefox", "-o", "out.json"]),
    writing("pipeline", &["pipeline", "IN/in.n2t", "--perfetto", "-o", "out.pftrace"]),
    writing("report", &["report", "IN/in.n2t", "--json", "-o", "out.json"]),
    writing("repack", &["trace", "repack", "IN/in.n2t", "-o", "out.n2t"]),
    writing("export", &["trace", "export", "--to", "text", "IN/in.n2t", "-o", "out.text"]),
    writing("import", &["trace", "import", "IN/in.text", "-o", "out.n2t"]),
    writing("regions", &["trace", "regions", "IN/in.n2t", "-o", "out.toml"]),
    writing("validate", &["validate", "IN/in.n2t", "-o", "out.txt"]),
    writing("sweep", &["sweep", "IN/grid.toml", "-o", "out.csv"]),
    writing("course", &["course", "out.kit"]),
    writing("litmus export", &["litmus", "export", "out.litmus"]),
    writing("litmus replay", &["litmus", "replay", "IN/cases.n2t", "-o", "out.json"]),
    writing("litmus check", &["litmus", "check", "IN/model.json", "--html", "out.html"]),
    writing("playground", &["playground", "-o", "out.html"]),
    writing("capture", &["capture", "-o", "out.n2t", "--", "IN/program"]),
    writing("run", &["run", "--record-limit", "2M", "-o", "out.txt", "--", "IN/program"]),
];

/// A program of some hundred million instructions, so that no recording of it ends early.
const PROGRAM: &str = "int main(void) {
    static volatile unsigned table[4096];
    for (unsigned i = 0; i < 30000000; i++) table[i * 61 & 4095] += i;
    return 0;
}";
const COMPILER: &str = "aarch64-linux-gnu-gcc";

const GRID: &str = "traces = [\"in.n2t\"]
limit = \"100k\"
metrics = [\"ipc\"]
[[vary]]
key = \"pipeline.window.rob\"
values = [64, 80, 96, 112, 128, 144, 160, 176]
[[vary]]
key = \"memory.prefetch.l2-stream\"
values = [true, false]
";

/// The program and the inputs of its commands.
pub(super) struct Bench {
    program: PathBuf,
    inputs: TempDir,
}

impl Bench {
    /// Makes the inputs from a committed trace and a program that is compiled here.
    pub(super) fn new(program: PathBuf) -> Result<Bench> {
        let bench = Bench { program, inputs: TempDir::new()? };
        let at = |name: &str| bench.inputs.path().join(name);
        std::fs::copy("traces/hash.n2t", at("in.n2t"))?;
        std::fs::write(at("grid.toml"), GRID)?;
        let export =
            ["trace", "export", "--to", "text", "in.n2t", "-o", "in.text"].map(str::to_owned);
        let made = bench.command(&export, bench.inputs.path()).status()?;
        ensure!(made.success(), "the inputs cannot be made");
        std::fs::copy("sim-litmus/recordings/all.n2t", at("cases.n2t"))?;
        let replay = ["litmus", "replay", "cases.n2t", "-o", "model.json"].map(str::to_owned);
        let made = bench.command(&replay, bench.inputs.path()).status()?;
        ensure!(made.success(), "the recording of the litmus cases cannot be replayed");
        std::fs::write(at("program.c"), PROGRAM)?;
        let mut compiler = Command::new(COMPILER);
        compiler.args(["-O1", "-static", "-o"]).arg(at("program")).arg(at("program.c"));
        let compiled = compiler.status().with_context(|| format!("{COMPILER} does not start"))?;
        ensure!(compiled.success(), "the program to record does not compile");
        Ok(bench)
    }

    /// Returns the words of a command.
    pub(super) fn words(&self, command: &Writing) -> Vec<String> {
        let inputs = self.inputs.path().display().to_string();
        command.words.iter().map(|word| word.replace("IN", &inputs)).collect()
    }

    /// Returns the command in a directory, with its output discarded.
    pub(super) fn command(&self, words: &[String], folder: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words).current_dir(folder).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Makes a short run in the directory, which removes leftovers of dead processes there.
    pub(super) fn next_run(&self, folder: &Path) -> Result<()> {
        let input = self.inputs.path().join("in.n2t").display().to_string();
        let words = ["stat", "--limit", "1k", &input, "-o", "out.next"].map(str::to_owned);
        ensure!(self.command(&words, folder).status()?.success(), "the next run failed");
        std::fs::remove_file(folder.join("out.next")).context("the next run wrote nothing")
    }

    /// Returns true if the result ends as a whole one does.
    pub(super) fn is_whole(&self, path: &Path) -> Result<bool> {
        if path.is_dir() {
            // A directory gets its name after its last file.
            let parts = match path.extension().is_some_and(|ending| ending == "litmus") {
                true => ["README.md", "litmus.c", "CASES.md"],
                false => ["README.md", "answers.toml", "traces/matrix.n2t"],
            };
            return Ok(parts.iter().all(|part| path.join(part).is_file()));
        }
        let bytes = std::fs::read(path)?;
        Ok(match path.extension().and_then(|ending| ending.to_str()) {
            Some("n2t") => {
                let words = ["trace", "verify", &path.display().to_string()].map(str::to_owned);
                self.command(&words, Path::new(".")).status()?.success()
            }
            Some("json") => serde_json::from_slice::<serde_json::Value>(&bytes).is_ok(),
            Some("toml") => toml::from_slice::<toml::Table>(&bytes).is_ok(),
            Some("perf") => bytes.starts_with(b"PERFILE2"),
            Some("elf") => bytes.starts_with(b"\x7fELF"),
            Some("html") => bytes.trim_ascii_end().ends_with(b"</html>"),
            Some("txt" | "text" | "csv") => bytes.ends_with(b"\n"),
            // Finished runs of a sweep: the last line may be cut, and is run again.
            Some("runs") => true,
            _ => !bytes.is_empty(),
        })
    }

    /// Returns true if `trace recover` makes a whole trace from a recording.
    pub(super) fn is_recoverable(&self, path: &Path) -> Result<bool> {
        let output = path.with_extension("recovered.n2t");
        let words = ["trace", "recover", &path.display().to_string(), "-o"].map(str::to_owned);
        let mut command = self.command(&words, Path::new("."));
        let is_good = command.arg(&output).status()?.success() && self.is_whole(&output)?;
        std::fs::remove_file(&output).ok();
        Ok(is_good)
    }
}

/// Returns the names of the files in a directory.
pub(super) fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = folder.read_dir()?.collect::<Result<Vec<_>, _>>()?;
    Ok(entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
}
