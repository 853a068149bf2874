//! Commands that run a Cortex-A53 several times or in parts, and the program's own use of its PMU.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::Path;
use std::process::{Command, Output};

use sim_pmu::Register;
use sim_trace::{Meta, StreamEvent, TraceWriter};

fn n2sim(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_n2sim")).args(args).output().unwrap()
}

fn printed(args: &[&str]) -> String {
    let output = n2sim(args);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{args:?}: {message}");
    String::from_utf8(output.stdout).unwrap()
}

fn refused(args: &[&str]) -> String {
    let output = n2sim(args);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Writes a trace of a driver at EL1 that counts twenty instructions and reads the counter.
fn record_driver(path: &Path) {
    let mut meta = Meta::default();
    meta.machine.full_system = true;
    let mut writer = TraceWriter::create(path, meta).unwrap();
    let mut pc = 0xffff_8000_0001_0000;
    let mut run = |word: u32, event: Option<StreamEvent>| {
        let block = writer.define_block(pc, &[word]).unwrap();
        pc += 4;
        writer.push_block(0, block, 1, &[], event).unwrap();
    };
    let mut access = |register: Register, is_write: bool, value: u64| {
        let encoding = register.encoding().bits();
        let base: u32 = if is_write { 0xD500_0001 } else { 0xD520_0000 };
        let event = StreamEvent::Register { encoding, value, is_write };
        (base | u32::from(encoding) << 5, Some(event))
    };
    for (register, value) in [
        (Register::PMEVTYPER_EL0(2), 0x08),
        (Register::PMEVTYPER_EL0(3), 0xE7),
        (Register::PMCNTENSET_EL0, 0b1100),
        (Register::PMCR_EL0, 1),
    ] {
        let (word, event) = access(register, true, value);
        run(word, event);
    }
    (0..20).for_each(|_| run(0xd503_201f, None));
    let (word, event) = access(Register::PMEVCNTR_EL0(2), false, 21);
    run(word, event);
    writer.finish().unwrap();
}

/// The counter has the twenty instructions and its own read.
#[test]
fn a_program_reads_the_counters_that_it_programs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("driver.n2t");
    record_driver(&path);
    let args = ["program-pmu", path.to_str().unwrap(), "--core", "cortex-a53"];
    let text = printed(&args);
    for line in [
        "   0              1  EL1        MSR PMEVTYPER2_EL0 = 0x8\n",
        "   0             25  EL1        MRS PMEVCNTR2_EL0 gives 21, as recorded\n",
        "\ncore 0, at the end:\n",
        "  counter 2  0x0008 INST_RETIRED                               21\n",
        "  counter 3  0x00e7 LD_DEP_STALL                                0\n",
        "  overflow interrupts requested: 0\n",
    ] {
        assert!(text.contains(line), "{line:?} is not in\n{text}");
    }
    let short = printed(&[&args[..], &["--limit", "10"]].concat());
    assert!(short.contains("INST_RETIRED                                6\n"), "{short}");
    for option in [&["--warmup", "5"][..], &["--roi", "40,41"]] {
        let message = refused(&[&args[..], option].concat());
        let expected = format!("{} works with --core neoverse-n2 only", option[0]);
        assert!(message.contains(&expected), "{message}");
    }
}
