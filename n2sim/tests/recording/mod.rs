//! Records real programs under QEMU and reads the traces back: what the tests of `n2sim capture`
//! share.
//!
//! Where QEMU or the cross compiler is absent, [`Bench::new`] checks the message that says what to
//! install instead. With `N2SIM_TOOLS=required`, as in CI, their absence is a failure.

#![allow(dead_code, missing_docs, reason = "each test uses its part")]

use sim_core::{InstFlags, TraceInst};
use sim_trace::{EventAt, StreamEvent, TraceFile, verify};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub(crate) const N2SIM: &str = env!("CARGO_BIN_EXE_n2sim");
pub(crate) const HERE: &str = env!("CARGO_MANIFEST_DIR");
pub(crate) const COMPILER: &str = "aarch64-linux-gnu-gcc";
/// Loads between the markers of one walk.
pub(crate) const LOADS: usize = 1000;

/// The file of a command in PATH.
pub(crate) fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Fails for a tool that is absent where all tools must be there.
pub(crate) fn must_not_be_required(tool: &str) {
    let required = std::env::var("N2SIM_TOOLS").is_ok_and(|value| value == "required");
    assert!(!required, "{tool} is missing: n2sim doctor says how to install it");
}

/// Compiles a pitfall to `program`.
pub(crate) fn compile(pitfall: &str, program: &Path) {
    let status = Command::new(COMPILER)
        .args(["-O1", "-march=armv8.2-a", "-ffreestanding", "-fno-builtin", "-nostdlib"])
        .args(["-static", "-no-pie", "-fno-pic", "-fno-stack-protector", "-Wl,--build-id=none"])
        .arg(format!("-I{HERE}/../traces/src"))
        .arg(format!("-DPITFALL={pitfall}"))
        .arg("-o")
        .arg(program)
        .arg(format!("{HERE}/tests/programs/pitfalls.c"))
        .status()
        .expect("the compiler runs");
    assert!(status.success(), "the test program does not compile");
}

/// Assembles `tests/programs/SOURCE` to `program`.
pub(crate) fn assemble(source: &str, program: &Path) {
    let status = Command::new(COMPILER)
        .args(["-nostdlib", "-static", "-Wl,--build-id=none", "-o"])
        .arg(program)
        .arg(format!("{HERE}/tests/programs/{source}"))
        .status()
        .expect("the compiler runs");
    assert!(status.success(), "the test program does not assemble");
}

/// A scratch folder with one compiled pitfall in it.
pub(crate) struct Bench {
    pub(crate) folder: tempfile::TempDir,
}

impl Bench {
    /// `None` where a tool is absent, after checking that `n2sim` says how to get it.
    pub(crate) fn new(pitfall: &str) -> Option<Bench> {
        Bench::made(|program| compile(pitfall, program))
    }

    /// The same with `tests/programs/SOURCE`.
    pub(crate) fn of(source: &str) -> Option<Bench> {
        Bench::made(|program| assemble(source, program))
    }

    pub(crate) fn made(build: impl FnOnce(&Path)) -> Option<Bench> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        if in_path(COMPILER).is_none() {
            let output = Command::new(N2SIM).arg("doctor").output().expect("n2sim runs");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(text.contains("apt-get install gcc-aarch64-linux-gnu"), "{text}");
            must_not_be_required(COMPILER);
            return None;
        }
        build(&folder.path().join("program"));
        let bench = Bench { folder };
        if in_path("qemu-aarch64").is_none() {
            let output = bench.capture(&[]).output().expect("n2sim runs");
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{text}");
            assert!(text.contains("apt-get install qemu-user"), "{text}");
            must_not_be_required("qemu-aarch64");
            return None;
        }
        Some(bench)
    }

    pub(crate) fn trace(&self) -> PathBuf {
        self.folder.path().join("program.n2t")
    }

    pub(crate) fn capture(&self, options: &[&str]) -> Command {
        let mut command = Command::new(N2SIM);
        command.env_remove("N2SIM_PLUGIN").arg("capture").args(options);
        if !options.contains(&"--count-only") {
            command.arg("-o").arg(self.trace());
        }
        command.arg("--").arg(self.folder.path().join("program"));
        command.stdin(Stdio::null());
        command
    }

    /// Records, and reads the trace back.
    pub(crate) fn record(&self, options: &[&str]) -> Recording {
        let output = self.capture(options).output().expect("n2sim runs");
        self.read(&output)
    }

    pub(crate) fn read(&self, output: &Output) -> Recording {
        Recording::of(output, &self.trace())
    }
}

/// The first stream of a trace, decoded.
pub(crate) struct Recording {
    pub(crate) file: TraceFile,
    pub(crate) insts: Vec<TraceInst>,
    pub(crate) events: Vec<EventAt>,
    pub(crate) said: String,
}

impl Recording {
    /// Returns the recording that `n2sim capture` wrote to `trace`, which must be intact.
    pub(crate) fn of(output: &Output, trace: &Path) -> Recording {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{said}");
        let report = verify(trace).expect("the trace opens");
        assert!(report.is_good(), "{report:?}\n{said}");
        let file = TraceFile::open(trace).expect("the trace opens");
        let mut reader = file.reader(0).expect("there is a first thread");
        let (mut insts, mut events, mut batch) = (Vec::new(), Vec::new(), Vec::new());
        while reader.next_batch(&mut batch).expect("the stream decodes") {
            let base = insts.len() as u32;
            let here = reader.events().iter();
            events.extend(here.map(|e| EventAt { position: e.position + base, event: e.event }));
            insts.extend_from_slice(&batch);
        }
        Recording { file, insts, events, said }
    }

    pub(crate) fn word(&self, inst: &TraceInst) -> u32 {
        self.file.statics().insts()[inst.id as usize].word
    }

    /// Addresses or operands of all executions of a word.
    pub(crate) fn addresses(&self, word: u32) -> Vec<u64> {
        self.insts.iter().filter(|inst| self.word(inst) == word).map(|inst| inst.addr).collect()
    }

    pub(crate) fn pc(&self, index: usize) -> u64 {
        self.file.statics().insts()[self.insts[index].id as usize].pc
    }

    /// Data addresses between the markers, for each time that they were passed.
    pub(crate) fn walks(&self) -> Vec<Vec<u64>> {
        let mut walks: Vec<Vec<u64>> = Vec::new();
        let mut is_inside = false;
        for inst in &self.insts {
            match self.word(inst) {
                0xd503_251f => {
                    walks.push(Vec::new());
                    is_inside = true;
                }
                0xd503_253f => is_inside = false,
                _ if is_inside && inst.flags.has(InstFlags::HAS_ADDR) => {
                    walks.last_mut().expect("a walk has begun").push(inst.addr);
                }
                _ => {}
            }
        }
        walks
    }

    /// Checks that the program walked its array `times` times, address by address.
    pub(crate) fn assert_walks(&self, times: usize) {
        let walks = self.walks();
        assert_eq!(walks.len(), times, "{}", self.said);
        for walk in walks {
            assert_eq!(walk.len(), LOADS);
            assert!(walk.windows(2).all(|pair| pair[1] == pair[0] + 8));
        }
    }

    pub(crate) fn note(&self, key: &str) -> Option<&str> {
        self.file.meta().notes.get(key).map(String::as_str)
    }

    pub(crate) fn signals(&self) -> Vec<(u32, bool)> {
        let signal = |at: &EventAt| match at.event {
            StreamEvent::Signal { number, abandoned } => Some((number, abandoned)),
            _ => None,
        };
        self.events.iter().filter_map(signal).collect()
    }

    pub(crate) fn syscalls(&self) -> Vec<(u64, Option<i64>)> {
        let call = |at: &EventAt| match at.event {
            StreamEvent::Syscall { number, result, .. } => Some((number, result)),
            _ => None,
        };
        self.events.iter().filter_map(call).collect()
    }
}
