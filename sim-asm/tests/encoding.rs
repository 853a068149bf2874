//! The words of single instructions: as another assembler makes them, as a disassembler reads them,
//! and as the decoder of the model understands them.

use fARM64::format::{FmtFormatter, Formatter};
use fARM64::{Decoder, DecoderOptions};
use sim_asm::{CODE, FORMS, Program, assemble};
use sim_isa::{BranchKind, MemOp, Reg, decode};

/// Instructions with their words.
pub(crate) fn corpus() -> impl Iterator<Item = (u32, &'static str)> {
    include_str!("corpus.txt").lines().filter(|line| !line.starts_with('#')).map(|line| {
        let (word, text) = line.split_once(" | ").expect("a row has a word and a text");
        (u32::from_str_radix(word, 16).expect("the word is hexadecimal"), text)
    })
}

pub(crate) fn single(text: &str) -> Program {
    assemble(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn word_of(text: &str) -> u32 {
    let words: Vec<u32> = single(text).words().collect();
    assert_eq!(words.len(), 1, "{text}");
    words[0]
}

fn disassembled(word: u32) -> String {
    let bytes = word.to_le_bytes();
    let inst = Decoder::new(&bytes, CODE, DecoderOptions::default()).decode();
    assert!(!inst.is_invalid(), "{word:#010x} has no name");
    let mut text = String::new();
    FmtFormatter::new().format(&inst, &mut text);
    text
}

#[test]
fn words_are_those_of_another_assembler() {
    let faults: Vec<String> = corpus()
        .filter_map(|(word, text)| match assemble(text).map(|p| p.words().collect::<Vec<_>>()) {
            Ok(words) if words == [word] => None,
            other => Some(format!("{text}: {word:08x} but {other:08x?}")),
        })
        .collect();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert!(corpus().count() > 1000);
}

#[test]
fn the_disassembly_of_each_word_assembles_to_the_same_word() {
    let faults: Vec<String> = corpus()
        .filter_map(|(word, text)| {
            let read = disassembled(word);
            match assemble(&read).map(|program| program.words().collect::<Vec<_>>()) {
                Ok(words) if words == [word] => None,
                other => Some(format!("{text}: {read}: {word:08x} but {other:08x?}")),
            }
        })
        .collect();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn every_example_of_a_form_assembles_and_the_corpus_has_every_form() {
    for form in FORMS.iter().flat_map(|forms| forms.iter()) {
        let labels = "\nloop: end: function: nop\n.data\narray: .quad 1";
        single(&format!("{}{labels}", form.example));
        let first = form.example.split(' ').next();
        assert_eq!(first, Some(form.name), "the example is one of its form");
        let is_known = corpus().any(|(_, text)| text.split(' ').next() == Some(form.name));
        assert!(is_known || form.name == "adrp", "{} is not in the corpus", form.name);
    }
}

/// The memory operation and bytes that a mnemonic and its first register promise.
fn access_of(text: &str) -> (MemOp, u16) {
    let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
    let register = match rest.chars().next() {
        Some('w' | 's') => 4,
        Some('q') => 16,
        Some('b') => 1,
        Some('h') => 2,
        _ => 8,
    };
    let data = if rest[rest.find(' ').map_or(0, |at| at + 1)..].starts_with('w') { 4 } else { 8 };
    match name {
        "ldr" | "ldur" | "ldxr" | "ldaxr" | "ldar" => (MemOp::Load, register),
        "str" | "stur" | "stlr" => (MemOp::Store, register),
        "ldrb" | "ldrsb" | "ldurb" | "ldursb" => (MemOp::Load, 1),
        "ldrh" | "ldrsh" | "ldurh" | "ldursh" => (MemOp::Load, 2),
        "ldrsw" | "ldursw" => (MemOp::Load, 4),
        "strb" | "sturb" => (MemOp::Store, 1),
        "strh" | "sturh" => (MemOp::Store, 2),
        "stxr" | "stlxr" => (MemOp::Store, data),
        "ldp" => (MemOp::Load, 2 * register),
        "stp" => (MemOp::Store, 2 * register),
        "stadd" => (MemOp::AtomicStore, register),
        "swp" | "swpal" => (MemOp::AtomicSwap, register),
        "cas" | "casal" => (MemOp::AtomicLoad, register),
        "dc" => (MemOp::ZeroLine, 64),
        "prfm" if rest.starts_with("pld") => (MemOp::PrefetchLoad, 0),
        "prfm" if rest.starts_with("pst") => (MemOp::PrefetchStore, 0),
        "prfm" => (MemOp::PrefetchInst, 0),
        _ if name.starts_with("ldadd") => (MemOp::AtomicLoad, register),
        "ldclr" | "ldeor" | "ldset" => (MemOp::AtomicLoad, register),
        _ => (MemOp::None, 0),
    }
}

fn branch_of(text: &str) -> BranchKind {
    match text.split(' ').next().unwrap_or_default() {
        "b" => BranchKind::Direct,
        "bl" => BranchKind::Call,
        "br" => BranchKind::Indirect,
        "blr" => BranchKind::IndirectCall,
        "ret" => BranchKind::Return,
        "cbz" | "cbnz" | "tbz" | "tbnz" => BranchKind::Conditional,
        name if name.starts_with("b.") => BranchKind::Conditional,
        _ => BranchKind::None,
    }
}

#[test]
fn the_decoder_sees_the_access_and_branch_of_the_mnemonic() {
    for (word, text) in corpus() {
        let inst = decode(word);
        let (op, bytes) = access_of(text);
        assert_eq!(inst.mem.op, op, "{text}");
        if bytes > 0 {
            assert_eq!(inst.mem.bytes, bytes, "{text}");
        }
        // Always taken, but it is encoded as a conditional branch.
        if text.split(' ').next() != Some("b.al") {
            assert_eq!(inst.branch, branch_of(text), "{text}");
        }
    }
}

#[test]
fn the_decoder_sees_the_registers_of_the_operands() {
    let inst = |text: &str| decode(word_of(text));
    assert_eq!(inst("madd x1, x2, x3, x4").dsts(), [Reg::x(1)]);
    assert_eq!(inst("ldp x1, x2, [x3], #16").dsts(), [Reg::x(1), Reg::x(2), Reg::x(3)]);
    assert_eq!(inst("subs x1, x2, #3").dsts(), [Reg::x(1), Reg::NZCV]);
    assert_eq!(inst("fmadd d1, d2, d3, d4").dsts(), [Reg::v(1)]);
    assert_eq!(inst("str x5, [x6, x7, lsl #3]").srcs(), [Reg::x(6), Reg::x(7), Reg::x(5)]);
}
