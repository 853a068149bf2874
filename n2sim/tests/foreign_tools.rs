//! Texts that QEMU itself prints, by a plugin with the layout of its `execlog`, against the
//! recorder of this program: the same instructions, the same counts, and a mark on every count that
//! differs.
//!
//! Where a tool is absent, the test checks that `n2sim doctor` says how to get it.

#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::recording::{COMPILER, HERE, N2SIM, compile, in_path, must_not_be_required};

fn done(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {message}");
    String::from_utf8(output.stdout).unwrap()
}

/// Builds a program of `tests/programs/pitfalls.c` and the printing plugin in `folder`.
fn build(folder: &Path, pitfall: &str) {
    compile(pitfall, &folder.join("program"));
    let mut plugin = Command::new("cc");
    plugin.args(["-shared", "-fPIC", "-o", "execlog.so"]);
    done(plugin.arg(format!("{HERE}/tests/programs/execlog_plugin.c")).current_dir(folder));
}

/// Every event of a trace: its count, and why it is doubtful.
fn events(folder: &Path, trace: &str) -> BTreeMap<String, (u64, Option<String>)> {
    let text = done(Command::new(N2SIM).args(["report", "--json", trace]).current_dir(folder));
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    let event = |event: &serde_json::Value| {
        let doubt = event["doubt"].as_str().map(str::to_owned);
        (event["event"].as_str().unwrap().to_owned(), (event["count"].as_u64().unwrap(), doubt))
    };
    report["events"].as_array().unwrap().iter().map(event).collect()
}

#[test]
fn what_qemu_prints_counts_as_what_is_recorded() {
    if ![COMPILER, "qemu-aarch64", "cc"].into_iter().all(|tool| in_path(tool).is_some()) {
        let text = done(Command::new(N2SIM).arg("doctor"));
        assert!(text.contains("apt-get install"), "{text}");
        must_not_be_required("qemu-aarch64, the cross compiler or cc");
        return;
    }
    for (pitfall, lack) in
        [("PLAIN", None), ("HANDLED_FAULT", None), ("ZERO_LINES", Some("no addresses of DC ZVA"))]
    {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        build(folder, pitfall);
        // The same variables for both: they lie on the program's stack.
        let run = |tool: &str, words: &[&str]| {
            let mut command = Command::new(tool);
            command.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
            command.args(words).current_dir(folder);
            command.output().unwrap()
        };
        let cpu = ["-cpu", "neoverse-n1"];
        let printing = ["-plugin", "./execlog.so", "-d", "plugin", "-D", "text", "./program"];
        run("qemu-aarch64", &[&cpu[..], &printing].concat());
        let recording = ["capture", "--cpu", "neoverse-n1", "-o", "native.n2t", "--", "./program"];
        run(N2SIM, &recording);
        let import = ["trace", "import", "--elf", "program", "text", "-o", "text.n2t"];
        let message = done(Command::new(N2SIM).args(import).current_dir(folder));
        assert!(message.contains("QEMU execlog text"), "{message}");
        let (native, printed) = (events(folder, "native.n2t"), events(folder, "text.n2t"));
        assert_eq!(native["INST_RETIRED"], printed["INST_RETIRED"], "{pitfall}");
        assert!(native["INST_RETIRED"].0 > 4000, "{native:?}");
        let differs = |name: &&String| native[*name].0 != printed[*name].0;
        let differing: Vec<&String> = native.keys().filter(differs).collect();
        assert_eq!(differing.is_empty(), lack.is_none(), "{pitfall}: {differing:?}");
        for name in differing {
            assert_eq!(printed[name].1.as_deref(), lack, "{pitfall}: {name}");
        }
    }
}
