//! `n2sim pipeline` on real traces: its logs follow the grammars of their readers, and all forms
//! show the same timelines. The parsers here are written from the descriptions of the formats.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

fn trace(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces").join(name);
    path.display().to_string()
}

fn n2sim(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_n2sim")).args(args).output().unwrap()
}

fn printed(args: &[&str]) -> String {
    let output = n2sim(args);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{args:?}: {message}");
    String::from_utf8(output.stdout).unwrap()
}

/// An instruction of a Kanata log.
#[derive(Debug, Default)]
struct Logged {
    number: u64,
    fetched: u64,
    left: u64,
    flushed: bool,
    label: String,
    /// Stages of lane 0 with their first cycles.
    stages: Vec<(String, u64)>,
    /// Open stages of each lane.
    open: BTreeMap<String, String>,
    needs: Vec<u64>,
}

/// A reader of Kanata logs that forgives nothing.
#[derive(Default)]
struct Kanata {
    cycle: u64,
    alive: BTreeMap<u64, Logged>,
    done: BTreeMap<u64, Logged>,
    retired: BTreeSet<u64>,
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("'{text}' is not a number"))
}

impl Kanata {
    fn read(log: &str) -> BTreeMap<u64, Logged> {
        let mut lines = log.lines();
        assert_eq!(lines.next(), Some("Kanata\t0004"));
        let begin = lines.next().unwrap().strip_prefix("C=\t").unwrap();
        let mut reader = Kanata { cycle: number(begin), ..Kanata::default() };
        for line in lines {
            let fields: Vec<&str> = line.split('\t').collect();
            reader.command(&fields);
        }
        assert!(reader.alive.is_empty(), "every instruction retires or is flushed");
        reader.done
    }

    fn command(&mut self, fields: &[&str]) {
        match *fields {
            ["C", cycles] => {
                assert!(number(cycles) > 0, "time goes forward");
                self.cycle += number(cycles);
            }
            ["I", id, of_simulator, thread] => {
                let next = (self.alive.len() + self.done.len()) as u64;
                assert_eq!(number(id), next, "ids count up from 0");
                let _ = number(thread);
                let (number, fetched) = (number(of_simulator), self.cycle);
                self.alive.insert(next, Logged { number, fetched, ..Logged::default() });
            }
            ["L", id, kind @ ("0" | "1"), text] => {
                let op = self.op(id);
                if kind == "0" {
                    op.label.push_str(text);
                }
            }
            ["S", id, lane, stage] => {
                let cycle = self.cycle;
                let op = self.op(id);
                op.open.insert(lane.to_owned(), stage.to_owned());
                if lane == "0" {
                    op.stages.push((stage.to_owned(), cycle));
                }
            }
            ["E", id, lane, stage] => {
                let closed = self.op(id).open.remove(lane);
                assert_eq!(closed.as_deref(), Some(stage), "only what was begun can end");
            }
            ["W", consumer, producer, "0"] => {
                let known = number(producer);
                assert!(self.alive.contains_key(&known) || self.done.contains_key(&known));
                self.op(consumer).needs.push(known);
            }
            ["R", id, retire_id, kind @ ("0" | "1")] => self.leave(number(id), retire_id, kind),
            _ => panic!("no command: {fields:?}"),
        }
    }

    fn op(&mut self, id: &str) -> &mut Logged {
        self.alive.get_mut(&number(id)).unwrap_or_else(|| panic!("{id} is not alive"))
    }

    fn leave(&mut self, id: u64, retire_id: &str, kind: &str) {
        let mut op = self.alive.remove(&id).expect("it is alive");
        (op.left, op.flushed) = (self.cycle, kind == "1");
        if !op.flushed {
            let expected = self.retired.len() as u64;
            assert_eq!(number(retire_id), expected, "retirement is in order, without gaps");
            self.retired.insert(expected);
        }
        assert!(op.left > op.fetched && !op.stages.is_empty() && !op.label.is_empty(), "{op:?}");
        self.done.insert(id, op);
    }
}

/// An instruction of gem5's text: the ticks of its seven lines, and of its write.
#[derive(Debug)]
struct Viewed {
    ticks: [u64; 7],
    stored: u64,
    text: String,
}

fn read_o3(text: &str) -> Vec<Viewed> {
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len() % 7, 0);
    let stages = ["fetch", "decode", "rename", "dispatch", "issue", "complete", "retire"];
    let viewed = |(place, lines): (usize, &[&str])| {
        let mut ticks = [0; 7];
        let fields: Vec<Vec<&str>> =
            lines.iter().map(|line| line.splitn(7, ':').collect()).collect();
        for (i, (stage, fields)) in stages.iter().zip(&fields).enumerate() {
            assert_eq!(fields[..2], ["O3PipeView", stage]);
            ticks[i] = number(fields[2]);
            assert_eq!(ticks[i] % 1000, 0);
        }
        assert!(fields[1..6].iter().all(|fields| fields.len() == 3), "{lines:?}");
        let [_, _, _, pc, _, number_of, text] = fields[0][..] else { panic!("{lines:?}") };
        assert!(u64::from_str_radix(pc.strip_prefix("0x").unwrap(), 16).is_ok());
        assert_eq!(number(number_of), place as u64);
        assert_eq!(fields[6][3], "store");
        Viewed { ticks, stored: number(fields[6][4]), text: text.trim_start().to_owned() }
    };
    lines.chunks(7).enumerate().map(viewed).collect()
}

/// Returns the parts of a figure between two marks.
fn between<'a>(text: &'a str, from: &str, to: &str) -> impl Iterator<Item = &'a str> {
    text.split(from).skip(1).map(move |rest| rest.split(to).next().unwrap())
}

const WINDOWS: [(&str, &str); 4] = [
    ("hash.n2t", "100000..100200"),
    ("btree.n2t", "100k..101k"),
    ("interp.n2t", "0..300"),
    ("vector.n2t", "5000..5300"),
];

#[test]
fn logs_follow_their_grammars_and_show_the_same_timelines() {
    for (name, window) in WINDOWS {
        let base = ["pipeline", &trace(name), "--window", window];
        let with = |form| printed(&[&base[..], &[form]].concat());
        let kanata = Kanata::read(&with("--kanata"));
        let o3 = read_o3(&with("--o3"));
        assert_eq!(kanata.len(), o3.len());
        let begin = kanata.values().map(|op| op.fetched).min().unwrap();
        assert_eq!(o3.iter().map(|op| op.ticks[0] / 1000 - 1).min(), Some(begin));
        for (op, viewed) in kanata.values().zip(&o3) {
            assert_eq!(viewed.ticks[0] / 1000 - 1, op.fetched, "{op:?}");
            assert_eq!(viewed.ticks[6] == 0, op.flushed, "{op:?} {viewed:?}");
            assert!(op.label.ends_with(&viewed.text), "{op:?} {viewed:?}");
            let reached: Vec<u64> = viewed.ticks.into_iter().filter(|tick| *tick > 0).collect();
            assert!(reached.is_sorted(), "{viewed:?}");
            if !op.flushed {
                assert_eq!(viewed.ticks[6] / 1000 - 1, op.left - 1, "{op:?}");
                assert!(viewed.stored == 0 || viewed.stored >= viewed.ticks[6], "{viewed:?}");
            }
            assert!(op.stages.is_sorted_by_key(|(_, cycle)| *cycle), "{op:?}");
        }
    }
}

#[test]
fn each_instruction_of_the_window_is_shown_once() {
    let log = printed(&["pipeline", &trace("hash.n2t"), "--window", "100000..100200", "--kanata"]);
    let ops = Kanata::read(&log);
    let numbers: Vec<u64> = ops.values().filter(|op| !op.flushed).map(|op| op.number).collect();
    assert_eq!(numbers, (100_000..100_200).collect::<Vec<_>>());
    let wrong: Vec<&Logged> = ops.values().filter(|op| op.flushed).collect();
    assert!(!wrong.is_empty() && wrong.iter().all(|op| op.label.contains("(wrong path)")));
    assert!(ops.values().any(|op| !op.needs.is_empty()));
    // A result is there before those who need it end.
    for op in ops.values() {
        assert!(op.needs.iter().all(|producer| ops[producer].fetched <= op.left), "{op:?}");
    }
}

#[test]
fn a_window_does_not_depend_on_later_instructions() {
    let timelines = |window: &str| {
        let log = printed(&["pipeline", &trace("btree.n2t"), "--window", window, "--o3"]);
        let lines = log.lines().map(|line| line.split(':').skip(1).take(2).collect::<String>());
        lines.collect::<Vec<_>>()
    };
    let (short, long) = (timelines("2000..2100"), timelines("2000..3000"));
    assert_eq!(short[..], long[..short.len()]);
}

#[test]
fn the_picture_shows_every_operation() {
    let base = ["pipeline", &trace("hash.n2t"), "--window", "100000..100040"];
    let svg = printed(&[&base[..], &["--svg"]].concat());
    let ops = Kanata::read(&printed(&[&base[..], &["--kanata"]].concat()));
    assert_eq!(svg.matches("<g class=\"row\">").count(), ops.len());
    assert!(!svg.contains("<script") && !svg.contains("href"), "self-contained");
    let size = |name| number(between(&svg, name, "\"").next().unwrap());
    let (width, height) = (size(" width=\""), size(" height=\""));
    for rect in between(&svg, "<rect class=\"bar", "/>") {
        let value = |name| number(between(rect, name, "\"").next().unwrap());
        assert!(value(" width=\"") > 0 && value(" x=\"") + value(" width=\"") <= width, "{rect}");
        assert!(value(" y=\"") + value(" height=\"") <= height, "{rect}");
    }
    labels_do_not_overlap(&svg, width);
}

/// Labels with one place, as boxes of generous width: none reaches into another.
fn labels_do_not_overlap(svg: &str, width: u64) {
    let mut boxes: Vec<(u64, u64, u64, &str)> = Vec::new();
    for text in between(svg, "<text", "</text>") {
        let (attributes, words) = text.split_once('>').unwrap();
        let value = |name| between(attributes, name, "\"").next();
        let (Some(x), Some(y)) = (value(" x=\""), value(" y=\"")) else { panic!("{text}") };
        let Ok(x) = x.parse::<u64>() else { continue };
        // The widest glyphs of the font at 11 pixels: 6.7.
        let long = words.chars().count() as u64 * if words.len() > 60 && y == "26" { 9 } else { 7 };
        let from = match value("text-anchor=\"") {
            Some("end") => x - long,
            Some("middle") => x - long / 2,
            _ => x,
        };
        assert!(from + long <= width, "cut off: {words}");
        boxes.push((number(y), from, from + long, words));
    }
    boxes.sort_unstable();
    for pair in boxes.windows(2) {
        let ((y, _, end, a), (other, from, _, b)) = (pair[0], pair[1]);
        assert!(y != other || end <= from, "'{a}' and '{b}' overlap at {y}");
    }
    assert!(boxes.len() > 100);
}

#[test]
fn the_text_has_rows_of_eighty_columns_and_says_why() {
    let text = printed(&["pipeline", &trace("hash.n2t"), "--window", "100000..100040"]);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for expected in
        ["slots lost: misprediction recovery", "---", "mispredicted", "40 instructions in"]
    {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let rows = (100_000..100_040).filter(|n| text.contains(&format!("\n     {n} ")));
    assert_eq!(rows.count(), 40, "{text}");
}

#[test]
fn the_figure_of_the_document_is_what_the_program_draws() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let figure = std::fs::read_to_string(root.join("docs/figures/pipeline.svg")).unwrap();
    let args = ["pipeline", "traces/hash.n2t", "--window", "100000..100040", "--svg"];
    let drawn = Command::new(env!("CARGO_BIN_EXE_n2sim")).args(args).current_dir(root).output();
    let drawn = String::from_utf8(drawn.unwrap().stdout).unwrap();
    assert!(drawn == figure, "draw docs/figures/pipeline.svg again: n2sim {}", args.join(" "));
}

#[test]
fn every_form_shows_a_thousand_operations() {
    for (form, begins) in [("--kanata", "I\t"), ("--o3", "O3PipeView:fetch:")] {
        let text = printed(&["pipeline", &trace("btree.n2t"), "--window", "1000..2000", form]);
        let shown = text.lines().filter(|line| line.starts_with(begins)).count();
        assert!(shown >= 1000, "{form}: {shown}");
    }
    assert!(
        printed(&["pipeline", &trace("btree.n2t"), "--window", "1000..2000", "--svg"])
            .contains("</svg>")
    );
}

#[test]
fn what_cannot_be_shown_is_refused() {
    let trace = trace("hash.n2t");
    let refused = |args: &[&str]| {
        let output = n2sim(&[&["pipeline", &trace], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty(), "{args:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    for window in ["5", "5..5", "9..2", "..", "a..b", "0..18446744073709551615", "-1..4"] {
        assert!(refused(&["--window", window]).contains("--window"), "{window}");
    }
    let message = refused(&["--window", "18446744073709551000..18446744073709551001"]);
    assert!(message.contains("thread 0 has"), "{message}");
    assert!(refused(&["--thread", "7"]).contains("its threads are 0"));
    assert!(refused(&["--window", "0..20k", "--svg"]).contains("too many for one figure"));
    assert!(refused(&["--kanata", "--svg"]).contains("cannot be used with"));
    assert!(refused(&["--perfetto", "--o3"]).contains("cannot be used with"));
    assert!(refused(&["--elf", "/nowhere"]).contains("/nowhere"));
    assert!(refused(&["-o", "/nowhere/x.svg", "--svg"]).contains("/nowhere"));
}

#[test]
fn the_first_and_the_last_instructions_can_be_shown() {
    let trace = trace("aes_sha.n2t");
    let info = printed(&["trace", "info", &trace]);
    assert!(!info.is_empty());
    let first = Kanata::read(&printed(&["pipeline", &trace, "--window", "0..1", "--kanata"]));
    assert_eq!(first.values().filter(|op| !op.flushed).count(), 1);
    let whole = printed(&["pipeline", &trace, "--window", "228200..1M", "--kanata"]);
    let last = Kanata::read(&whole).len() as u64;
    assert!(last >= 74, "the window ends with the thread: {last}");
    assert!(printed(&["pipeline", &trace]).contains("48 instructions in"), "some in the middle");
}
