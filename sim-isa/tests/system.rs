//! Cache, TLB and context maintenance: every such instruction up to Armv9.0, and neighboring
//! encodings that are not maintenance.

use sim_core::{CacheOp, Maintenance, TagUse, TlbScope};
use sim_isa::{BankName, ContextWrite, Inst, MemOp, decode};

const SYSTEM: &str = include_str!("corpus/system.txt");

fn cache_op(op: CacheOp) -> &'static str {
    match op {
        CacheOp::Invalidate => "invalidate",
        CacheOp::Clean => "clean",
        CacheOp::CleanToUnification => "clean-to-unification",
        CacheOp::CleanInvalidate => "clean-invalidate",
    }
}

fn tlb_scope(scope: TlbScope) -> String {
    let last = |last_level| if last_level { " last" } else { "" };
    match scope {
        TlbScope::All => "all".to_owned(),
        TlbScope::Vmid { stage2 } => format!("vmid{}", if stage2 { " stage2" } else { "" }),
        TlbScope::Asid => "asid".to_owned(),
        TlbScope::Page { last_level } => format!("page{}", last(last_level)),
        TlbScope::PageAnyAsid { last_level } => format!("page-any{}", last(last_level)),
        TlbScope::IntermediatePage => "intermediate".to_owned(),
    }
}

fn bank(name: BankName) -> &'static str {
    match name {
        BankName::El1 => "el1",
        BankName::El12 => "el12",
        BankName::El2 => "el2",
    }
}

/// Returns the maintenance of an instruction, in the words of the corpus.
fn managed(inst: &Inst) -> String {
    let everywhere = |broadcast| if broadcast { " broadcast" } else { "" };
    match (inst.maintenance, inst.context_write) {
        (None, None) => "nothing".to_owned(),
        (None, Some(ContextWrite::ContextId(name))) => format!("context {}", bank(name)),
        (Some(Maintenance::TableBase { upper }), Some(ContextWrite::TableBase(name))) => {
            format!("table {} {}", if upper { "upper" } else { "lower" }, bank(name))
        }
        (Some(Maintenance::Stage2TableBase), None) => "stage2-table".to_owned(),
        (Some(Maintenance::DataByAddress(op)), None) => format!("line {}", cache_op(op)),
        (Some(Maintenance::DataBySetWay(op)), None) => format!("set-way {}", cache_op(op)),
        (Some(Maintenance::InstByAddress), None) => "inst-line".to_owned(),
        (Some(Maintenance::InstAll { broadcast }), None) => {
            format!("inst-all{}", everywhere(broadcast))
        }
        (Some(Maintenance::Tlb { scope, broadcast }), None) => {
            format!("tlb {}{}", tlb_scope(scope), everywhere(broadcast))
        }
        (Some(Maintenance::Translate { write }), None) => {
            format!("translate {}", if write { "write" } else { "read" })
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn system_instructions_have_the_maintenance_of_their_names() {
    let rows = SYSTEM.lines().filter(|line| !line.starts_with('#'));
    let mut seen = 0;
    for row in rows {
        let fields: Vec<&str> = row.split('|').map(str::trim).collect();
        let word = u32::from_str_radix(fields[0], 16).expect("a row begins with a word");
        assert_eq!(managed(&decode(word)), fields[2], "{}", fields[1]);
        seen += 1;
    }
    assert!(seen > 120, "the corpus has only {seen} rows");
}

#[test]
fn only_operations_on_a_line_by_address_take_the_address_pipe() {
    assert_eq!(decode(0xd50b_7a23).mem.op, MemOp::Maintenance, "dc cvac, x3");
    assert_eq!(decode(0xd50b_7523).mem.op, MemOp::Maintenance, "ic ivau, x3");
    assert_eq!(decode(0xd508_7e43).mem.op, MemOp::None, "dc cisw, x3");
    assert_eq!(decode(0xd508_8723).mem.op, MemOp::None, "tlbi vae1, x3");
}

#[test]
fn registers_of_an_access_are_not_confused_with_its_bytes() {
    for (word, bytes, register, text) in [
        (0xa940_0440_u32, 16, 8, "ldp x0, x1, [x2]"),
        (0x2940_0440, 8, 4, "ldp w0, w1, [x2]"),
        (0x3dc0_0040, 16, 16, "ldr q0, [x2]"),
        (0xad40_0440, 32, 16, "ldp q0, q1, [x2]"),
        (0x6d40_0440, 16, 8, "ldp d0, d1, [x2]"),
        (0x4c40_8840, 32, 16, "ld2 { v0.4s, v1.4s }, [x2]"),
        (0x4d40_c840, 4, 4, "ld1r { v0.4s }, [x2]"),
        (0xa540_a040, 16, 16, "ld1w { z0.s }, p0/z, [x2]"),
        (0xf940_0040, 8, 8, "ldr x0, [x2]"),
    ] {
        let mem = decode(word).mem;
        assert_eq!((mem.bytes, mem.register_bytes), (bytes, register), "{text}");
    }
}

#[test]
fn stack_accesses_and_literals_are_exempt_from_tag_checks() {
    for (word, tags, text) in [
        (0xf940_0040_u32, TagUse::Checked, "ldr x0, [x2]"),
        (0xf940_07e0, TagUse::Unchecked, "ldr x0, [sp, #8]"),
        (0xf861_6be0, TagUse::Checked, "ldr x0, [sp, x1]"),
        (0xf840_87e0, TagUse::Checked, "ldr x0, [sp], #8"),
        (0x5800_0040, TagUse::Unchecked, "ldr x0, #8"),
        (0xa9bf_07e0, TagUse::Checked, "stp x0, x1, [sp, #-16]!"),
        (0xa900_07e0, TagUse::Unchecked, "stp x0, x1, [sp]"),
        (0xd920_0800, TagUse::Writes, "stg x0, [x0]"),
        (0xd9e0_0800, TagUse::Writes, "stz2g x0, [x0]"),
        (0x6900_0440, TagUse::Writes, "stgp x0, x1, [x2]"),
        (0xd960_0020, TagUse::Reads, "ldg x0, [x1]"),
        (0xd50b_7423, TagUse::Checked, "dc zva, x3"),
    ] {
        assert_eq!(decode(word).mem.tags, tags, "{text}");
    }
}
