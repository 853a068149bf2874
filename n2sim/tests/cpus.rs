//! `n2sim stat --cpus`: threads that run at the same time on CPUs of the host.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::path::{Path, PathBuf};
use std::process::Command;

fn trace(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces").join(name)
}

/// Returns the exit code, the standard output and the messages of `stat`.
fn stat(trace: &Path, args: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_n2sim"));
    let output = command.arg("stat").arg(trace).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn any_number_of_cpus_prints_the_same() {
    let trace = trace("parallel/samplesort.n2t");
    let (code, exact, _) = stat(&trace, &["--all", "--per-thread"]);
    assert_eq!(code, 0);
    for cpus in ["1", "2", "7"] {
        let (code, out, messages) = stat(&trace, &["--all", "--per-thread", "--cpus", cpus]);
        assert_eq!((code, out == exact), (0, true), "{cpus} CPUs: {messages}");
        let note = "% of the instructions ran at the same time as others";
        assert!(messages.contains(note), "{messages}");
    }
}

#[test]
fn a_run_in_exact_order_says_why() {
    let eight = trace("parallel/samplesort.n2t");
    let few = ["-e", "cycles,instructions"];
    let many =
        "cycles,instructions,l1d_cache,l1d_cache_refill,l2d_cache,br_pred,br_mis_pred,op_spec";
    let cases: [(&Path, &[&str], &str); 4] = [
        (&trace("hash.n2t"), &["--limit", "1k"], "a single thread runs"),
        (&eight, &["--order", "recorded"], "the recorded order is one of all threads"),
        (&eight, &["-e", "arm_cmn_0/hnf_cache_miss/"], "the mesh counts the messages of all cores"),
        (&eight, &["-e", many], "counters need the time of each event"),
    ];
    for (trace, args, why) in cases {
        let (code, _, messages) = stat(trace, &[args, &["--cpus", "2"]].concat());
        assert_eq!(code, 0, "{messages}");
        let note = format!("n2sim: note: no threads ran at the same time: {why}\n");
        assert!(messages.contains(&note), "{args:?}: {messages}");
    }
    let (_, _, messages) = stat(&eight, &[&few[..], &["--cpus", "2"]].concat());
    assert!(!messages.contains("no threads ran"), "{messages}");
}

#[test]
fn wrong_numbers_and_other_cores_are_refused() {
    let trace = trace("parallel/queue.n2t");
    for (args, problem) in [
        (&["--cpus", "0"][..], "invalid value '0' for '--cpus <N>'"),
        (&["--cpus", "many"], "invalid value 'many' for '--cpus <N>'"),
        (&["--cpus", "2", "--core", "cortex-a53"], "--cpus works with --core neoverse-n2 only"),
    ] {
        let (code, out, messages) = stat(&trace, args);
        assert_eq!((code, out.as_str()), (2, ""), "{messages}");
        assert!(messages.contains(problem), "{messages}");
    }
}

#[test]
fn damage_gives_the_same_message_at_the_same_time() {
    let folder = tempfile::tempdir().unwrap();
    let damaged = folder.path().join("damaged.n2t");
    let good = std::fs::read(trace("parallel/samplesort.n2t")).unwrap();
    let mut refused = 0;
    for part in 1..8 {
        let mut bytes = good.clone();
        let place = bytes.len() * part / 8;
        bytes[place] ^= 0x10;
        std::fs::write(&damaged, bytes).unwrap();
        let (exact, parallel) = (stat(&damaged, &[]), stat(&damaged, &["--cpus", "2"]));
        assert_eq!(exact.0, parallel.0, "{} {}", exact.2, parallel.2);
        if exact.0 != 0 {
            refused += 1;
            assert_eq!((exact.0, &exact.2), (2, &parallel.2));
        }
    }
    assert!(refused > 2, "{refused} of 7 damaged files were refused");
}
