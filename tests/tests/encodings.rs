//! Only `sim-isa` takes instruction words apart: no other crate masks or shifts one.
//!
//! Unit tests are left out, because they check words that they assemble. Words are also assembled
//! outside `sim-isa`, for kernels and scenarios; that needs no mask of a word.
//!
//! Uses nothing but the standard library: `CARGO_MANIFEST_DIR=$PWD/tests rustc --edition 2024
//! --test tests/tests/encodings.rs` builds it alone.

use std::fs;
use std::path::{Path, PathBuf};

/// The crate that contains the encodings.
const OWNER: &str = "sim-isa";
/// Names of an instruction word in code. `words` are also those of a saved state.
const NAMES: [&str; 4] = ["word", "w", "insn", "opcode"];
/// Functions that take a part of their argument.
const PARTS: [&str; 5] = ["field(", "signed(", "bit(", "bits(", "register("];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ has a parent").to_owned()
}

/// The source files below a directory.
fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|own| own == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

/// The code of a source on one line, without its comments and unit tests.
fn code_of(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default().trim());
    lines.collect::<Vec<_>>().join(" ")
}

/// The identifier at the end of an operand, which may be in parentheses of its own.
fn last_name(operand: &str) -> &str {
    let operand = operand.trim_end().trim_end_matches(')');
    let start = operand.rfind(|c| !is_part(c)).map_or(0, |at| at + 1);
    let is_argument = operand[..start].ends_with('(') && operand[..start - 1].ends_with(is_part);
    if is_argument { "" } else { &operand[start..] }
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns whether code begins with a mask of 32 bits and a comparison: `0xffff_ffe0 == ...`.
fn is_compared_mask(code: &str) -> bool {
    let Some((mask, _)) = code.split_once(" == ") else { return false };
    let mut digits = mask.strip_prefix("0x").unwrap_or_default().split('_');
    let is_half = |part: Option<&str>| {
        part.is_some_and(|part| part.len() == 4 && part.chars().all(|c| c.is_ascii_hexdigit()))
    };
    is_half(digits.next()) && is_half(digits.next()) && digits.next().is_none()
}

/// The places where code takes a part of an instruction word, each with a little of the code.
fn parts_of_words(code: &str) -> Vec<String> {
    let shown = |at: usize| {
        let before = code[..at].char_indices().rev().take(30).last().map_or(at, |(start, _)| start);
        code[before..].chars().take(70).collect::<String>()
    };
    let operators = [" & ", " >> "].into_iter().flat_map(|operator| code.match_indices(operator));
    let masked = operators.filter_map(|(at, operator)| {
        let after = &code[at + operator.len()..];
        (NAMES.contains(&last_name(&code[..at])) || is_compared_mask(after)).then(|| shown(at))
    });
    let calls = PARTS.into_iter().flat_map(|part| code.match_indices(part));
    let called = calls.filter_map(|(at, part)| {
        let argument = code[at + part.len()..].split([',', ')']).next().unwrap_or_default();
        let is_whole = !code[..at].ends_with(is_part);
        (is_whole && NAMES.contains(&last_name(argument))).then(|| shown(at))
    });
    masked.chain(called).collect()
}

#[test]
fn only_one_crate_takes_instruction_words_apart() {
    let root = repository();
    let mut files = Vec::new();
    for member in fs::read_dir(&root).expect("the repository").flatten() {
        if member.file_name() != OWNER && member.path().join("Cargo.toml").is_file() {
            sources(&member.path().join("src"), &mut files);
        }
    }
    assert!(files.len() > 300, "only {} files were found", files.len());
    files.sort();
    let mut faults = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).expect("a source is UTF-8");
        let name = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy().into_owned();
        faults.extend(parts_of_words(&code_of(&text)).iter().map(|part| format!("{name}: {part}")));
    }
    assert!(
        faults.is_empty(),
        "ask {OWNER} what the word means, or add a function there\n{}",
        faults.join("\n")
    );
}

#[test]
fn the_check_finds_parts_of_words_only() {
    for code in [
        "let is_sve = word & 0x1e00_0000 == 0x0400_0000;",
        "let is_write = match word >> 20 { 0xd51 => true }",
        "matches!(word & !0x1f, DC_ZVA)",
        "words.iter().position(|w| w & 0xff00_001f == 0xb500_0000)",
        "info.words[index] & 0xffff_fc1f == RET",
        "(*word) >> 5 & 31",
        "inst.word >> 25 == 0b111_0010",
        "debugger.x(field(word, 5, 5))",
        "signed(inst.word, 12, 9)",
    ] {
        assert!(!parts_of_words(code).is_empty(), "{code}");
    }
    for code in [
        "let word = 0xd280_0000 | value & 0xffff;",
        "let low = head & 0xffff_ffff;",
        "index << 32 | u64::from(word)",
        "set_field(word, 3)",
        "u64::from_le_bytes(word) >> length",
        "MemoryType::of(words[3] & 3)",
        "match word { START_MARKER => 1 }",
    ] {
        assert!(parts_of_words(code).is_empty(), "{code}");
    }
    assert_eq!(code_of("a(); // word & 1\n#[cfg(test)]\nmod tests {\n word & 1 }"), "a();");
}
