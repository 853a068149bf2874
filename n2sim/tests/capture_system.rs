//! Recordings of a whole system: a kernel of our own, which enters EL0, is called, is interrupted by nobody,
//! faults, and turns the machine off. Where the engine or the compiler is absent, what `n2sim` says of it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use sim_core::{Activity, InstFlags, TraceInst};
use sim_trace::{EventAt, StreamEvent, TraceFile, verify};

const N2SIM: &str = env!("CARGO_BIN_EXE_n2sim");
const HERE: &str = env!("CARGO_MANIFEST_DIR");
const COMPILER: &str = "aarch64-linux-gnu-gcc";
const OBJCOPY: &str = "aarch64-linux-gnu-objcopy";

/// The engine: one named by the environment, or the one in PATH.
fn engine() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("N2SIM_SYSTEM_ENGINE") {
        return Some(path.into());
    }
    in_path("qemu-system-aarch64")
}

fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// The plugin for QEMU 9.1 and later, built into the target folder of this test.
fn plugin() -> &'static Path {
    static PLUGIN: OnceLock<PathBuf> = OnceLock::new();
    PLUGIN.get_or_init(|| {
        let target =
            Path::new(N2SIM).ancestors().nth(2).expect("target/debug/n2sim").join("api-v2");
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo)
            .args(["build", "--quiet", "-p", "sim-capture", "--features", "api-v2", "--target-dir"])
            .arg(&target)
            .current_dir(HERE)
            .status()
            .expect("cargo runs");
        assert!(status.success(), "the plugin does not build");
        target.join("debug/libsim_capture.so")
    })
}

/// A folder with the kernel in it.
struct Bench {
    folder: tempfile::TempDir,
    engine: PathBuf,
}

impl Bench {
    fn new() -> Option<Bench> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let Some(engine) = engine() else {
            let output = Command::new(N2SIM).arg("doctor").output().expect("n2sim runs");
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(said.contains("apt-get install qemu-system-arm"), "{said}");
            return None;
        };
        in_path(COMPILER)?;
        let (object, kernel) = (folder.path().join("kernel.elf"), folder.path().join("kernel"));
        let status = Command::new(COMPILER)
            .args(["-nostdlib", "-static", "-Wl,-Ttext=0", "-Wl,--build-id=none", "-o"])
            .arg(&object)
            .arg(format!("{HERE}/tests/programs/kernel.S"))
            .status()
            .expect("the compiler runs");
        assert!(status.success(), "the kernel does not assemble");
        let status = Command::new(OBJCOPY).args(["-O", "binary"]).arg(object).arg(kernel).status();
        assert!(status.expect("objcopy runs").success());
        std::fs::write(folder.path().join("initrd"), []).expect("writes");
        Some(Bench { folder, engine })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn record(&self, options: &[&str]) -> Output {
        Command::new(N2SIM)
            .env("N2SIM_PLUGIN", plugin())
            .args(["capture", "--system", "--memory", "128", "--kernel"])
            .arg(self.path("kernel"))
            .arg("--initrd")
            .arg(self.path("initrd"))
            .arg("--engine")
            .arg(&self.engine)
            .arg("-o")
            .arg(self.path("kernel.n2t"))
            .args(options)
            .stdin(Stdio::null())
            .output()
            .expect("n2sim runs")
    }
}

/// A trace, decoded.
struct Recording {
    file: TraceFile,
    insts: Vec<TraceInst>,
    events: Vec<EventAt>,
    said: String,
}

impl Recording {
    fn of(bench: &Bench, output: &Output) -> Recording {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{said}");
        let path = bench.path("kernel.n2t");
        let report = verify(&path).expect("the trace opens");
        assert!(report.is_good(), "{report:?}\n{said}");
        let file = TraceFile::open(&path).expect("the trace opens");
        let mut reader = file.reader(0).expect("there is a stream");
        let (mut insts, mut events, mut batch) = (Vec::new(), Vec::new(), Vec::new());
        while reader.next_batch(&mut batch).expect("the stream decodes") {
            let base = insts.len() as u32;
            let here = reader.events().iter();
            events.extend(here.map(|e| EventAt { position: e.position + base, event: e.event }));
            insts.extend_from_slice(&batch);
        }
        Recording { file, insts, events, said }
    }

    fn word(&self, inst: &TraceInst) -> u32 {
        self.file.statics().insts()[inst.id as usize].word
    }

    /// Addresses or operands of all executions of a word.
    fn addresses(&self, word: u32) -> Vec<u64> {
        self.insts.iter().filter(|inst| self.word(inst) == word).map(|inst| inst.addr).collect()
    }
}

#[test]
fn a_kernel_and_its_program_are_recorded_from_marker_to_marker() {
    let Some(bench) = Bench::new() else { return };
    let recording = Recording::of(&bench, &bench.record(&[]));
    let said = &recording.said;
    let meta = recording.file.meta();
    assert!(meta.machine.full_system);
    assert_eq!(meta.notes.get("program-end").map(String::as_str), Some("stop marker, x0 = 0x300"));

    // The call, the load from a page that is not there, the word that is no instruction, the call again.
    let exceptions: Vec<(u32, u64, bool)> = recording
        .events
        .iter()
        .filter_map(|at| match at.event {
            StreamEvent::Exception { vector, abandoned, level: 1, syndrome, .. } => {
                Some((vector, syndrome >> 26, abandoned))
            }
            _ => None,
        })
        .collect();
    let (call, fault, undefined) = (0x15, 0x24, 0);
    let expected = [
        (0x400, call, false),
        (0x400, fault, true),
        (0x400, undefined, true),
        (0x200, 0x25, true),
        (0x400, call, false),
    ];
    assert_eq!(exceptions, expected, "{said}");
    // The faulting load stands, abandoned and without address; it runs again when its page is there.
    let loads: Vec<&TraceInst> =
        recording.insts.iter().filter(|inst| recording.word(inst) == 0xf940_0041).collect();
    assert_eq!(loads.len(), 2);
    assert!(loads[0].flags.has(InstFlags::ABANDONED) && !loads[1].flags.has(InstFlags::ABANDONED));
    assert!(!loads[0].flags.has(InstFlags::HAS_ADDR));
    assert_eq!(loads[1].addr, 0x20_0000);
    // Operands: tlbi vaae1, x4; dc zva, x5; msr ttbr0_el1, x6; msr contextidr_el1, x7; prfm [x5, #8].
    assert_eq!(recording.addresses(0xd508_8764), [0x200]);
    assert_eq!(recording.addresses(0xd50b_7425), [0x20_0040]);
    assert_eq!(recording.addresses(0xf980_04a0), [0x20_0048]);
    assert_eq!(recording.addresses(0xd518_2006).len(), 1);
    let written: Vec<(u16, u64)> = recording
        .events
        .iter()
        .filter_map(|at| match at.event {
            StreamEvent::Register { encoding, value, is_write: true } => Some((encoding, value)),
            _ => None,
        })
        .collect();
    let table = recording.addresses(0xd518_2006)[0];
    assert_eq!(
        written,
        [((0xd518_2006u32 >> 5) as u16, table), ((0xd518_d027u32 >> 5) as u16, 77)]
    );
    check_elements(&recording);
    // The device was written once, at its physical address, which is its virtual one.
    let device: Vec<u64> = recording.addresses(0xb900_0128);
    assert_eq!(device, [0x0900_0000], "{said}");
    let map = recording.file.page_map().expect("pages were seen");
    let entry = |virt: u64| map.entries().iter().find(|entry| entry.virt == virt).copied();
    let data = entry(0x20_0000).expect("the page of the load");
    assert!(data.write && !data.execute && data.phys != 0x20_0000, "{data:?}");
    assert_eq!(entry(0x0900_0000).map(|e| e.memory), Some(sim_trace::PageMemory::Device));
}

/// Three elements of four, then none, where the engine's processor has vectors.
fn check_elements(recording: &Recording) {
    let (load, store) = (0xa540_a4a0, 0xe540_e8a0);
    let runs = |word: u32| recording.insts.iter().filter(move |inst| recording.word(inst) == word);
    if runs(load).count() == 0 {
        assert!(recording.file.meta().cpu != "neoverse-n2", "it has vectors");
        return;
    }
    assert_eq!(recording.addresses(load), [0x20_0040]);
    assert!(runs(store).all(|inst| !inst.flags.has(InstFlags::HAS_ADDR)));
    let told: Vec<(Activity, u16)> = recording
        .events
        .iter()
        .filter_map(|at| match at.event {
            StreamEvent::Elements { activity, active, .. } => Some((activity, active)),
            _ => None,
        })
        .collect();
    assert_eq!(told, [(Activity::Partial, 0b0111), (Activity::None, 0)]);
}

#[test]
fn where_it_begins_can_be_chosen_and_must_be_reached() {
    let Some(bench) = Bench::new() else { return };
    let whole = Recording::of(&bench, &bench.record(&["--start", "boot"])).insts.len();
    let part = Recording::of(&bench, &bench.record(&[])).insts.len();
    assert!(whole > part, "{whole} {part}");
    let output = bench.record(&["--start", "0xffff800000000000"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("before it came to the start"), "{said}");
    // Two recordings are the same.
    let again = Recording::of(&bench, &bench.record(&[]));
    let first = Recording::of(&bench, &bench.record(&[]));
    let steps = |recording: &Recording| -> Vec<(u32, u64)> {
        recording.insts.iter().map(|inst| (recording.word(inst), inst.addr)).collect()
    };
    assert_eq!(steps(&first), steps(&again));
    assert_eq!(first.events.len(), again.events.len());
}

#[test]
fn what_cannot_be_recorded_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = folder.path().join("text");
    std::fs::write(&text, "no kernel").expect("writes");
    let text = text.to_str().expect("a plain name");
    let cases: [(&[&str], &str); 6] = [
        (&["--system", "--", "x"], "--kernel"),
        (&["--kernel", text, "--", "x"], "--system"),
        (&["--system", "--kernel", text, "--initrd", text], "not a Linux kernel"),
        (&["--system", "--kernel", "/absent", "--initrd", text], "cannot read /absent"),
        (&["--system", "--kernel", text, "--start", "x", "--initrd", text], "--kernel-symbols"),
        (&["--system", "--kernel", text, "--memory", "1", "--initrd", text], "64..=3072"),
    ];
    for (options, message) in cases {
        let output = Command::new(N2SIM).arg("capture").args(options).output();
        let output = output.expect("n2sim runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(message), "{options:?}: {said}");
    }
}
