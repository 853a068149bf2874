//! Traces of other tools on the command line: exported, imported, run as they are, and refused.

#![allow(missing_docs, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn n2sim(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_n2sim"))
        .args(words)
        .current_dir(repository())
        .output()
        .unwrap()
}

/// Standard output and standard error of a command that succeeds.
fn done(words: &[&str]) -> (String, String) {
    let output = n2sim(words);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let message = text(output.stderr);
    assert!(output.status.success(), "{words:?}: {message}");
    (text(output.stdout), message)
}

/// Returns the message of a command that refuses its input.
fn refused(words: &[&str]) -> String {
    let output = n2sim(words);
    assert_eq!(output.status.code(), Some(2), "{words:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// The value of an event in `stat -x,`, and whether it is marked.
fn count(csv: &str, event: &str) -> (u64, bool) {
    let fields = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
    let row = csv.lines().map(fields).find(|row| row.get(2).is_some_and(|name| name == event));
    let row = row.unwrap_or_else(|| panic!("{event} in {csv}"));
    (row[0].parse().unwrap(), row[6].contains("doubtful"))
}

#[test]
fn an_exported_trace_comes_back_and_runs_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let events = "instructions,br_retired,ld_spec,l1d_cache,cycles";
    let stat = |trace: &str| {
        done(&["stat", trace, "--limit", "50k", "--no-multiplex", "-x,", "-e", events])
    };
    let (native, message) = stat("traces/vector.n2t");
    assert!(!message.contains("doubtful") && !message.contains("# gaps"), "{message}");
    for (format, has_words) in [("text", true), ("champsim", false)] {
        let (exported, again) = (at(format), at("again.n2t"));
        done(&["trace", "export", "--to", format, "traces/vector.n2t", "-o", &exported]);
        let (message, _) = done(&["trace", "import", &exported, "-o", &again, "--limit", "60k"]);
        assert!(message.contains("60000 instructions"), "{message}");
        for trace in [&exported, &again] {
            let (found, message) = stat(trace);
            assert!(
                message.contains("# gaps of the recording: ") && message.contains("n2sim: note: "),
                "{message}"
            );
            for event in ["instructions", "br_retired"] {
                assert_eq!(count(&found, event), count(&native, event), "{format}: {event}");
            }
            assert!(count(&found, "ld_spec").1, "{found}");
            assert_eq!(count(&found, "cycles").1, !has_words, "{found}");
        }
    }
}

#[test]
fn every_form_of_a_report_marks_doubtful_counts() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("t").display().to_string();
    done(&["trace", "export", "--to", "text", "traces/vector.n2t", "-o", &trace]);
    let line = |text: &str, event: &str| {
        let is_inside = |c: char| !c.is_alphanumeric() && c != '_';
        let is_it = |line: &&str| line.split(is_inside).any(|word| word == event);
        text.lines().find(is_it).unwrap_or_else(|| panic!("{event} in {text}")).to_owned()
    };
    let forms = [
        (&["--all"][..], "# doubtful: executed code only"),
        (&["-x,"], "doubtful: executed code only"),
        (&["-j"], "\"doubt\" : \"executed code only\""),
    ];
    for (form, mark) in forms {
        let text = done(&[&["stat", &trace, "--limit", "5k"], form].concat()).0;
        assert!(line(&text, "br_indirect_spec").contains(mark), "{text}");
        assert!(!line(&text, "inst_retired").contains("doubt"), "{text}");
        // What we print can be checked by ourselves.
        let counts = folder.path().join("counts");
        std::fs::write(&counts, &text).unwrap();
        done(&["check", &counts.display().to_string()]);
    }
    let (report, _) = done(&["report", &trace, "--limit", "5k", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let doubt = |event: &str| {
        let events = report["events"].as_array().unwrap();
        events.iter().find(|one| one["event"] == event).unwrap()["doubt"].clone()
    };
    assert_eq!(doubt("INST_SPEC"), "executed code only");
    assert_eq!(doubt("INST_RETIRED"), serde_json::Value::Null);
}

#[test]
fn what_follows_from_doubtful_counts_is_marked_too() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("t").display().to_string();
    let native = "traces/vector.n2t";
    done(&["trace", "export", "--to", "champsim", native, "-o", &trace]);
    let said = |words: &[&str]| done(words).0.split_whitespace().collect::<Vec<_>>().join(" ");
    let cases: [(&[&str], &str); 6] = [
        (&["stat", "TRACE", "-M", "ipc", "--limit", "5k"], "# doubtful: no opcodes"),
        (&["stat", "TRACE", "-M", "ipc", "-x,", "--limit", "5k"], "(doubtful: no opcodes)"),
        (&["pipeline", "TRACE", "--window", "100..110"], "(doubtful: no opcodes)"),
        (&["flow", "TRACE", "--limit", "5k"], "5.5 L1 D-cache, write: doubtful, no opcodes"),
        (&["flow", "TRACE", "--limit", "5k"], "# doubtful: no opcodes"),
        (&["flow", "TRACE", "--limit", "5k", "--svg"], "doubtful, no opcodes"),
    ];
    for (words, mark) in cases {
        let of = |trace: &str| {
            let is_trace = |word: &&str| *word == "TRACE";
            let put = |word: &&'static str| {
                if is_trace(word) { trace.to_owned() } else { (*word).to_owned() }
            };
            let words: Vec<String> = words.iter().map(put).collect();
            said(&words.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let text = of(&trace);
        assert!(text.contains(mark), "{words:?}: {text}");
        assert!(!of(native).contains("doubtful"), "{words:?}");
    }
    let text = said(&["diff", "--runs", native, &trace, "--limit", "5k"]);
    assert!(
        text.contains("# gaps of the recording: no opcodes")
            && text.contains("# doubtful: no opcodes"),
        "{text}"
    );
    let page = done(&["diff", "--runs", native, &trace, "--limit", "5k", "--html"]).0;
    assert!(page.contains("Data is missing from the trace of the second run"), "{page}");
}

#[test]
fn what_cannot_be_read_is_refused_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let output = folder.path().join("out.n2t");
    let out = output.display().to_string();
    let lackey = file("lackey", "==1== Lackey\nI  04001090,4\n L 1ffeff7e0,8\n");
    assert!(refused(&["stat", &lackey]).contains("--elf PROGRAM"));
    let arm = file("arm", "1 clk IT (1) 00008000 e3a00001 A svc_s : MOV r0,#1\n");
    assert!(refused(&["trace", "import", &arm, "-o", &out]).contains("32-bit code"));
    let odd = file("odd", "0, 0x1002, 0xd503201f, \"nop\"\n");
    assert!(refused(&["stat", &odd]).contains("a multiple of 4"));
    let import = |words: &[&str]| refused(&[&["trace", "import", "-o", &out], words].concat());
    assert!(import(&["/nowhere/x"]).contains("no such trace"));
    assert!(import(&["/dev/zero"]).contains("a device or a pipe"));
    assert!(import(&[&odd, "--from", "qemu"]).contains("known are drmemtrace"));
    assert!(import(&[&lackey, "--elf", &odd]).contains("not a program of a trace"));
    let message = refused(&["trace", "export", "--to", "champsim", "traces/atomics.n2t"]);
    assert!(message.contains("choose --stream from 0, 1"), "{message}");
    assert!(!output.exists(), "no partial file is left");
}

#[test]
fn a_folder_is_one_trace_of_several_threads() {
    let folder = tempfile::tempdir().unwrap();
    let trace = "traces/atomics.n2t";
    for stream in ["0", "1"] {
        let part = folder.path().join(format!("thread{stream}")).display().to_string();
        done(&["trace", "export", "--to", "champsim", trace, "--stream", stream, "-o", &part]);
    }
    let out = tempfile::tempdir().unwrap();
    let out = out.path().join("both.n2t").display().to_string();
    let (message, _) = done(&["trace", "import", &folder.path().display().to_string(), "-o", &out]);
    assert!(message.contains("2 threads"), "{message}");
    assert!(message.contains("3129778 instructions"), "{message}");
}
