//! Text that strangers wrote, in everything that a terminal or a reader of tables may see.
//!
//! Given a trace whose notes, command and symbols hold escape sequences and ends of lines, under
//! such a name; a program and a metric file of the same kind. Whatever is printed as text holds no
//! control character, and no line is forged.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use sim_trace::{Meta, Symbol, TraceWriter};

/// Sets a terminal's clipboard, clears it, turns the writing around, and pretends to be a line of
/// its own.
const HOSTILE: &str =
    "x\u{1b}]52;c;aGk=\u{7}\u{1b}[2J\u{202e}\u{9b}m\nforged 999\r\nforged,999,,cpu_cycles";

struct Bench {
    folder: tempfile::TempDir,
    trace: PathBuf,
}

impl Bench {
    fn new() -> Bench {
        let folder = tempfile::tempdir().expect("a folder");
        let trace = folder.path().join("t\u{1b}[31m\nforged.n2t");
        let text = || HOSTILE.to_owned();
        let symbol = |addr, size| Symbol { name: text(), addr, size };
        let meta = Meta {
            producer: text(),
            command: vec![text()],
            engine: text(),
            cpu: text(),
            gaps: vec![text()],
            recipe: Some(text()),
            symbols: vec![symbol(0x40_0000, 8), symbol(0x40_0008, 0x100)],
            notes: [(text(), text())].into(),
            ..Meta::default()
        };
        let mut writer = TraceWriter::create(&trace, meta).expect("a new file");
        let words = [0x9100_0421, 0xf940_0041, 0x9100_0421, 0x17ff_fffd];
        let block = writer.define_block(0x40_0000, &words).expect("a block");
        for n in 0..500 {
            let load = sim_trace::Access { index: 1, addr: 0x8000 + 64 * n };
            writer.push_block(0, block, 4, &[load], None).expect("a known block");
        }
        writer.finish().expect("a whole trace");
        let metric = serde_json::json!([{
            "MetricName": HOSTILE, "MetricExpr": "CPU_CYCLES / INST_RETIRED", "BriefDescription": HOSTILE,
            "MetricGroup": HOSTILE, "ScaleUnit": format!("1{HOSTILE}"),
        }, { "MetricName": "broken", "MetricExpr": HOSTILE }]);
        std::fs::write(folder.path().join("m.json"), metric.to_string()).expect("room");
        Bench { folder, trace }
    }

    fn run(&self, words: &[&str]) -> Output {
        let trace = |word: &&str| match *word {
            "TRACE" => self.trace.clone(),
            word => PathBuf::from(word),
        };
        let mut command = Command::new(env!("CARGO_BIN_EXE_n2sim"));
        command.args(words.iter().map(trace)).current_dir(self.folder.path());
        command.output().expect("n2sim runs")
    }
}

/// No control character but ends of lines and tabulators, no mark of writing direction, no forged
/// line.
fn assert_safe(words: &[&str], text: &[u8]) {
    let text = String::from_utf8(text.to_vec()).expect("text is UTF-8");
    let acts = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || c == '\u{202e}';
    if let Some(line) = text.lines().find(|line| line.contains(acts)) {
        panic!("{words:?} prints {line:?}");
    }
    let forged = text.lines().find(|line| line.trim_start().starts_with("forged"));
    assert!(forged.is_none(), "{words:?} prints the line {forged:?}");
}

#[test]
fn no_text_reaches_a_terminal_or_a_table_as_it_is() {
    let bench = Bench::new();
    for words in [
        "trace info TRACE",
        "trace dump TRACE",
        "trace verify TRACE",
        "trace export --to text TRACE",
        "stat TRACE",
        "stat -x, TRACE",
        "stat --per-function TRACE",
        "stat --per-function -x, TRACE",
        "stat --per-thread TRACE",
        "stat --stalls TRACE",
        "stat -M all --metrics m.json TRACE",
        "stat --counterfactual TRACE",
        "report TRACE",
        "check TRACE",
        "diff --profiles guide,silicon TRACE",
        "pipeline TRACE",
        "pipeline --window 100..120 TRACE",
        "flow TRACE",
        "bus TRACE",
        "explain l1d_cache --trace TRACE",
        "explain --why l1d_cache_refill TRACE",
        "validate m.json TRACE",
        "validate m.json TRACE --markdown -",
        "lint m.json",
        "trace regions TRACE -o w.toml",
        "record TRACE -o p.perf",
        "record TRACE --format folded -o -",
        "record TRACE --format speedscope -o -",
        "spe --compare-with TRACE",
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let output = bench.run(&words);
        assert_ne!(output.status.code(), Some(101), "{words:?}");
        assert!(!output.stdout.is_empty() || !output.stderr.is_empty(), "{words:?} says something");
        assert_safe(&words, &output.stdout);
        assert_safe(&words, &output.stderr);
    }
}

#[test]
fn messages_show_what_was_typed_and_do_not_obey_it() {
    let bench = Bench::new();
    let missing = "no\u{1b}[2J\nforged.n2t";
    let setting = format!("{HOSTILE}=1");
    for words in [
        vec!["stat", missing],
        vec!["stat", "TRACE", "--config", missing],
        vec!["stat", "TRACE", "--set", &setting],
        vec!["stat", "TRACE", "-o", "no\u{1b}[2J\nforged/x"],
        vec!["validate", missing, "TRACE"],
        vec!["trace", "info", missing],
    ] {
        let output = bench.run(&words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert_safe(&words, &output.stderr);
    }
}

#[test]
fn a_name_is_escaped_and_still_shown() {
    let bench = Bench::new();
    let output = bench.run(&["stat", "--per-function", "TRACE"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains(r"x\x1b]52;c;aGk=\x07"), "{text}");
    assert!(text.contains(r"t\x1b[31m\nforged.n2t"), "{text}");
    assert!(Path::new(&bench.trace).is_file());
}
