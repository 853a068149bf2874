//! Recordings of a whole system. A kernel of our own enters EL0, is called, faults, and turns the
//! machine off, without interrupts. Without the engine or the compiler, the tests check the message
//! of `n2sim`; with `N2SIM_TOOLS=required`, as in CI, their absence is a failure.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::recording::{COMPILER, HERE, N2SIM, Recording, in_path, must_not_be_required};
use sim_core::{Activity, InstFlags, TraceInst};
use sim_trace::StreamEvent;

const OBJCOPY: &str = "aarch64-linux-gnu-objcopy";

/// The engine: one named by the environment, or the one in PATH.
fn engine() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("N2SIM_SYSTEM_ENGINE") {
        return Some(path.into());
    }
    in_path("qemu-system-aarch64")
}

/// A folder with the kernel in it.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
    engine: PathBuf,
}

impl Bench {
    fn new() -> Option<Bench> {
        Bench::of("kernel.S")
    }

    /// Returns the bench of the kernel `tests/programs/SOURCE`.
    pub(crate) fn of(source: &str) -> Option<Bench> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let Some(engine) = engine() else {
            let output = Command::new(N2SIM).arg("doctor").output().expect("n2sim runs");
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(said.contains("apt-get install qemu-system-arm"), "{said}");
            must_not_be_required("qemu-system-aarch64");
            return None;
        };
        if in_path(COMPILER).is_none() {
            must_not_be_required(COMPILER);
            return None;
        }
        let (object, kernel) = (folder.path().join("kernel.elf"), folder.path().join("kernel"));
        let status = Command::new(COMPILER)
            .args(["-nostdlib", "-static", "-Wl,-Ttext=0", "-Wl,--build-id=none", "-o"])
            .arg(&object)
            .arg("-march=armv8.2-a")
            .arg(format!("{HERE}/tests/programs/{source}"))
            .status()
            .expect("the compiler runs");
        assert!(status.success(), "the kernel does not assemble");
        let status = Command::new(OBJCOPY).args(["-O", "binary"]).arg(object).arg(kernel).status();
        assert!(status.expect("objcopy runs").success());
        std::fs::write(folder.path().join("initrd"), []).expect("writes");
        Some(Bench { folder, engine })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn record(&self, options: &[&str]) -> Output {
        Command::new(N2SIM)
            .env_remove("N2SIM_PLUGIN")
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

    /// Records, and reads the trace back.
    pub(crate) fn read(&self, options: &[&str]) -> Recording {
        Recording::of(&self.record(options), &self.path("kernel.n2t"))
    }
}

#[test]
fn a_kernel_and_its_program_are_recorded_from_marker_to_marker() {
    let Some(bench) = Bench::new() else { return };
    let recording = bench.read(&[]);
    let said = &recording.said;
    let meta = recording.file.meta();
    assert!(meta.machine.full_system);
    assert_eq!(meta.notes.get("program-end").map(String::as_str), Some("stop marker, x0 = 0x300"));

    // The call, the load from a page that is not there, the word that is no instruction, the call
    // again.
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
    // The faulting load is recorded as abandoned and without address; it runs again when its page
    // is there.
    let loads: Vec<&TraceInst> =
        recording.insts.iter().filter(|inst| recording.word(inst) == 0xf940_0041).collect();
    assert_eq!(loads.len(), 2);
    assert!(loads[0].flags.has(InstFlags::ABANDONED) && !loads[1].flags.has(InstFlags::ABANDONED));
    assert!(!loads[0].flags.has(InstFlags::HAS_ADDR));
    assert_eq!(loads[1].addr, 0x20_0000);
    // Operands: tlbi vaae1, x4; dc zva, x5; msr ttbr0_el1, x6; msr contextidr_el1, x7; prfm [x5,
    // #8].
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
    let code = entry(0x20_1000).expect("the page of the program");
    assert_eq!(Some(code.phys), entry(0x4020_1000).map(|e| e.phys), "the kernel has it too");
    assert!(!said.contains("several physical pages"), "{said}");
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
    let message: Vec<(Activity, u16)> = recording
        .events
        .iter()
        .filter_map(|at| match at.event {
            StreamEvent::Elements { activity, active, .. } => Some((activity, active)),
            _ => None,
        })
        .collect();
    assert_eq!(message, [(Activity::Partial, 0b0111), (Activity::None, 0)]);
}

#[test]
fn where_it_begins_can_be_chosen_and_must_be_reached() {
    let Some(bench) = Bench::new() else { return };
    let whole = bench.read(&["--start", "boot"]).insts.len();
    let part = bench.read(&[]).insts.len();
    assert!(whole > part, "{whole} {part}");
    let output = bench.record(&["--start", "0xffff800000000000"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("before it came to the start"), "{said}");
    // Two recordings are the same.
    let again = bench.read(&[]);
    let first = bench.read(&[]);
    let steps = |recording: &Recording| -> Vec<(u32, u64)> {
        recording.insts.iter().map(|inst| (recording.word(inst), inst.addr)).collect()
    };
    assert_eq!(steps(&first), steps(&again));
    assert_eq!(first.events.len(), again.events.len());
    bench.read(&[]);
    let bytes = || std::fs::read(bench.path("kernel.n2t")).expect("the trace");
    let before = bytes();
    bench.read(&[]);
    assert!(before == bytes(), "byte for byte");
}

#[test]
fn what_cannot_be_recorded_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = folder.path().join("text");
    std::fs::write(&text, "no kernel").expect("writes");
    let text = text.to_str().expect("a plain name");
    let system = ["--system", "--kernel", text, "--initrd", text];
    let with = |more: [&'static str; 2]| [&system[..], &more].concat();
    let several = [&with(["--processors", "2"])[..], &["--skip", "5"]].concat();
    let cases: [(&[&str], &str); 10] = [
        (&several, "--skip 5 with --processors 2"),
        (&["--system", "--", "x"], "--kernel"),
        (&["--kernel", text, "--", "x"], "--system"),
        (&["--system", "--kernel", text, "--initrd", text], "not a Linux kernel"),
        (&["--system", "--kernel", "/absent", "--initrd", text], "cannot read /absent"),
        (&["--system", "--kernel", text, "--start", "x", "--initrd", text], "--kernel-symbols"),
        (&["--system", "--kernel", text, "--memory", "1", "--initrd", text], "64..=3072"),
        (&with(["--processors", "0"]), "1..=16"),
        (&with(["--processors", "17"]), "1..=16"),
        (&["--processors", "2", "--", "x"], "--system"),
    ];
    for (options, message) in cases {
        let output = Command::new(N2SIM).arg("capture").args(options).output();
        let output = output.expect("n2sim runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(message), "{options:?}: {said}");
    }
}
