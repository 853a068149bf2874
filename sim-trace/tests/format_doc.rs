//! Tests that `docs/trace-format.md` matches the code: header tables, and the example byte by byte.

#![allow(missing_docs, clippy::unwrap_used)]

use std::fmt::Write;
use std::fs;
use std::io::Cursor;
use std::path::PathBuf;

use crate::common::*;
use sim_trace::{Access, ChunkKind, Meta, StreamEvent, TraceWriter, WriterOptions};

fn doc_path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/trace-format.md")
}

fn doc() -> String {
    fs::read_to_string(doc_path()).unwrap()
}

/// A row of a header table: offset, length, name.
type Field = (usize, usize, String);

/// Returns the header table under `heading`.
fn table(doc: &str, heading: &str) -> Vec<Field> {
    let section = doc.split(heading).nth(1).expect("the heading is in the document");
    let rows = section.lines().skip_while(|line| !line.starts_with("| ---")).skip(1);
    rows.take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            (cells[1].parse().unwrap(), cells[2].parse().unwrap(), cells[3].to_string())
        })
        .collect()
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b))
}

/// Checks that the table covers 64 bytes without gaps, and that `value` matches the bytes of each
/// field.
fn check(table: &[Field], header: &[u8], value: impl Fn(&str) -> Option<u64>) {
    let mut end = 0;
    for (offset, bytes, name) in table {
        assert_eq!(*offset, end, "{name} leaves a gap");
        end = offset + bytes;
        let found = &header[*offset..end];
        match value(name) {
            Some(expected) => assert_eq!(number(found), expected, "{name}"),
            None => panic!("the document has a field {name} that the code does not have"),
        }
    }
    assert_eq!(end, 64);
}

#[test]
fn the_file_header_is_as_described() {
    let bytes = example();
    let machine = example_meta().machine;
    let checksum = xxhash_rust::xxh3::xxh3_64(&bytes[..56]);
    check(&table(&doc(), "## 2. File header"), &bytes, |name| {
        Some(match name {
            "magic" => u64::from_le_bytes(*b"\x89N2T\r\n\x1a\n"),
            "major" | "isa" => 1,
            "minor" | "reserved" => 0,
            "flags" => 1,
            "page bytes" => machine.page_bytes.into(),
            "vector bytes" => machine.vector_bytes.into(),
            "DC ZVA bytes" => machine.dc_zva_bytes.into(),
            "MIDR" => machine.midr,
            "checksum" => checksum,
            _ => return None,
        })
    });
}

#[test]
fn chunk_headers_are_as_described() {
    let bytes = sample().write();
    let file = open(bytes.clone()).unwrap();
    let table = table(&doc(), "## 3. Chunk header");
    assert!(file.chunks().iter().any(|c| c.header.sequence > 0 && c.header.first > 0));
    for entry in file.chunks() {
        let at = entry.offset as usize;
        let header = &bytes[at..at + 64];
        let payload = &bytes[at + 64..at + 64 + entry.header.payload_bytes as usize];
        let checksum = xxhash_rust::xxh3::xxh3_64(&header[..56]);
        check(&table, header, |name| {
            let h = &entry.header;
            Some(match name {
                "magic" => number(b"N2CK"),
                "kind" => h.kind.number().into(),
                "codec" => h.codec.into(),
                "columns" => h.columns.into(),
                "stream" => h.stream.into(),
                "sequence" => h.sequence.into(),
                "payload bytes" => h.payload_bytes.into(),
                "blocks" => h.blocks.into(),
                "instructions" => h.instructions.into(),
                "accesses" => h.accesses.into(),
                "events" => h.events.into(),
                "reserved" => 0,
                "first" => h.first,
                "payload checksum" => xxhash_rust::xxh3::xxh3_64(payload),
                "checksum" => checksum,
                _ => return None,
            })
        });
    }
}

/// Returns the metadata of a machine with every header field in use.
fn example_meta() -> Meta {
    let mut meta = Meta { producer: "doc".into(), command: vec!["./a".into()], ..Meta::default() };
    meta.machine.full_system = true;
    meta
}

/// Returns the trace of the last section of the document.
fn example() -> Vec<u8> {
    let sink = Cursor::new(Vec::new());
    let options = WriterOptions::default();
    let mut writer = TraceWriter::new(sink, path(), example_meta(), options).unwrap();
    let block = writer.define_block(0x1000, &[LDR, SVC]).unwrap();
    let exit = StreamEvent::Syscall { number: 93, args: [0; 6], result: None };
    for (addr, event) in [(0x8000, StreamEvent::Redirect), (0x8008, exit)] {
        writer.push_block(0, block, 2, &[Access { index: 0, addr }], Some(event)).unwrap();
    }
    writer.finish_into().unwrap().1.into_inner()
}

/// Returns all bytes of `file` as text, field by field.
fn annotate(doc: &str, file: &[u8]) -> String {
    let chunk_fields = table(doc, "## 3. Chunk header");
    let mut out = String::from("file header\n");
    fields(&mut out, file, 0, &table(doc, "## 2. File header"));
    let mut at = 64;
    while at < file.len() {
        let kind = number(&file[at + 4..at + 6]);
        let names = ["", "META", "IMAGE", "BLOCKS", "STREAM", "MAP", "INDEX", "END"];
        writeln!(out, "{} header", names[kind as usize]).unwrap();
        fields(&mut out, file, at, &chunk_fields);
        let payload = at + 64;
        at = payload + number(&file[at + 16..at + 20]) as usize;
        if kind == u64::from(ChunkKind::End.number()) {
            line(&mut out, file, payload, at - payload, "totals");
        } else {
            columns(&mut out, file, payload, column_names(kind));
        }
    }
    out
}

fn column_names(kind: u64) -> &'static [&'static str] {
    match kind {
        1 => &["JSON text"],
        2 => &["page numbers", "pages"],
        3 => &["block heads", "words"],
        4 => &["control", "block numbers", "shapes", "addresses", "events"],
        _ => &["entries"],
    }
}

fn fields(out: &mut String, file: &[u8], base: usize, table: &[Field]) {
    for (offset, bytes, name) in table {
        line(out, file, base + offset, *bytes, name);
    }
}

fn columns(out: &mut String, file: &[u8], payload: usize, names: &[&str]) {
    for (i, name) in names.iter().enumerate() {
        line(out, file, payload + 8 * i, 8, &format!("lengths of {name}: raw, stored"));
    }
    let mut at = payload + 8 * names.len();
    for (i, name) in names.iter().enumerate() {
        let raw = number(&file[payload + 8 * i..payload + 8 * i + 4]);
        let stored = number(&file[payload + 8 * i + 4..payload + 8 * i + 8]);
        let how = if raw == stored { "" } else { " (zstd)" };
        line(out, file, at, stored as usize, &format!("{name}{how}"));
        at += stored as usize;
    }
}

/// Appends bytes, at most 16 a line, with the name of their field.
fn line(out: &mut String, file: &[u8], at: usize, length: usize, name: &str) {
    for (i, bytes) in file[at..at + length].chunks(16).enumerate() {
        let hex: Vec<String> = bytes.iter().map(|b| format!("{b:02x}")).collect();
        let name = if i == 0 { name } else { "" };
        let text = format!("  {:04x}  {:<47}  {name}", at + 16 * i, hex.join(" "));
        writeln!(out, "{}", text.trim_end()).unwrap();
    }
}

/// Compares the example of the document with the bytes of the writer. `BLESS=1 cargo test -p
/// sim-trace` writes it to the document.
#[test]
fn the_example_matches_the_output_of_the_writer() {
    let doc = doc();
    let (before, rest) = doc.split_once("```text\n").expect("the example is fenced");
    let (example_text, after) = rest.split_once("```").expect("the example is fenced");
    let expected = annotate(&doc, &example());
    if std::env::var_os("BLESS").is_some() {
        fs::write(doc_path(), format!("{before}```text\n{expected}```{after}")).unwrap();
    } else {
        assert_eq!(example_text, expected, "run with BLESS=1 and review the difference");
    }
}

/// Returns the seed traces of the fuzzer. `BLESS=1` writes them again.
fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let mut long = sample();
    long.chunk_instructions = 1 << 20;
    let mut ordered = sample();
    for (order, run) in (0..).zip(&mut ordered.runs).filter(|(_, run)| run.event.is_none()) {
        run.event = Some(StreamEvent::Ticket { order, back: run.executed.min(1) });
    }
    vec![
        ("empty", Recording::default().write()),
        ("chunks", sample().write()),
        ("one", long.write()),
        ("tickets", ordered.write()),
    ]
}

#[test]
fn committed_seeds_stay_readable() {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds/n2t_reader");
    for (name, bytes) in seeds() {
        // The fuzz target removes the first byte. If it is 1, the target corrects all checksums.
        for (choice, kind) in [(0, "as-is"), (1, "resealed")] {
            let path = directory.join(format!("{name}-{kind}"));
            if std::env::var_os("BLESS").is_some() {
                fs::write(&path, [&[choice], &bytes[..]].concat()).unwrap();
            }
            let committed = fs::read(&path).unwrap();
            let same =
                play_all(committed[1..].to_vec()).unwrap() == play_all(bytes.clone()).unwrap();
            assert!(same, "{} reads differently than it was written", path.display());
        }
    }
}
