//! Every field of the description of instructions with hand-written facts, and the registers of
//! words on which two decoders agree.

use sim_core::PmuEvent;
use sim_isa::{Inst, MemOp, PipeMask, Reg, Rename, Special, StaticEvents, UopGroup, decode};

const BY_HAND: &str = include_str!("corpus/by_hand.txt");
const CLASSES: &str = include_str!("corpus/classes.txt");
const AGREED: &str = include_str!("corpus/agreed.txt");

/// Returns the lines of a corpus: number and fields.
fn rows(text: &str) -> impl Iterator<Item = (usize, Vec<&str>)> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.starts_with('#') && !line.is_empty())
        .map(|(i, line)| (i + 1, line.split('|').map(str::trim).collect()))
}

fn word_of(row: &[&str]) -> u32 {
    u32::from_str_radix(row[0], 16).expect("a row begins with a word")
}

fn reg_name(reg: Reg) -> String {
    match reg {
        Reg::SP => "sp".to_owned(),
        Reg::NZCV => "nzcv".to_owned(),
        Reg::FFR => "ffr".to_owned(),
        Reg(n @ 0..=30) => format!("x{n}"),
        Reg(n @ 33..=64) => format!("v{}", n - 33),
        Reg(n) => format!("p{}", n - 65),
    }
}

fn reg_names(regs: &[Reg]) -> String {
    regs.iter().map(|reg| reg_name(*reg)).collect::<Vec<_>>().join(" ")
}

fn memory(inst: &Inst) -> String {
    let mem = &inst.mem;
    if mem.op == MemOp::None {
        return "-".to_owned();
    }
    let mut text = format!("{:?} {}/{}", mem.op, mem.bytes, mem.align);
    for (holds, name) in
        [(mem.ordered, "ordered"), (mem.exclusive, "exclusive"), (mem.scattered, "scattered")]
    {
        if holds {
            text.push(' ');
            text.push_str(name);
        }
    }
    text
}

fn pipe_name(pipes: PipeMask) -> &'static str {
    [
        (PipeMask::B, "B"),
        (PipeMask::S, "S"),
        (PipeMask::M, "M"),
        (PipeMask::M0, "M0"),
        (PipeMask::I, "I"),
        (PipeMask::L, "L"),
        (PipeMask::L01, "L01"),
        (PipeMask::D, "D"),
        (PipeMask::V, "V"),
        (PipeMask::V0, "V0"),
        (PipeMask::V1, "V1"),
    ]
    .iter()
    .find(|(mask, _)| *mask == pipes)
    .map_or("?", |(_, name)| name)
}

fn uop(group: &UopGroup) -> String {
    let count = if group.count == 1 { String::new() } else { group.count.to_string() };
    let blocked =
        if group.occupancy == 1 { String::new() } else { format!("/{}", group.occupancy) };
    let flags = if group.flag_port { "f" } else { "" };
    format!("{count}{}:{}{blocked}{flags}", pipe_name(group.pipes), group.latency)
}

fn uops(inst: &Inst) -> String {
    if inst.special == Special::Unknown {
        return "unknown".to_owned();
    }
    let at_rename = match inst.rename {
        Rename::Normal => None,
        Rename::Move => Some("move"),
        Rename::Zero => Some("zero"),
        Rename::Nop => Some("nop"),
    };
    let groups = inst.uops().iter().map(uop);
    at_rename.map(str::to_owned).into_iter().chain(groups).collect::<Vec<_>>().join(" ")
}

/// Returns the events of a set, sorted, by their names in the corpus.
fn events(inst: &Inst) -> Vec<String> {
    let mut names: Vec<String> = StaticEvents::LIST
        .iter()
        .filter(|event| inst.events.contains(**event))
        .map(|event| short_name(*event))
        .collect();
    names.sort();
    names
}

fn short_name(event: PmuEvent) -> String {
    let name = format!("{event:?}");
    let name = name.strip_suffix("_SPEC").unwrap_or(&name);
    name.strip_prefix("ASE_SVE_").unwrap_or(name).to_owned()
}

#[test]
fn vector_instructions_count_by_their_largest_element() {
    let mut faults = Vec::new();
    let mut count = 0;
    for (number, row) in rows(CLASSES) {
        let inst = decode(word_of(&row));
        let mut wanted: Vec<&str> = row[2].split_whitespace().collect();
        wanted.sort_unstable();
        let found = (events(&inst), inst.fp_element_ops.to_string());
        if found.0 != wanted || found.1 != row[3] {
            faults.push(format!("line {number}, {}: {found:?}, not {wanted:?} {}", row[1], row[3]));
        }
        count += 1;
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count >= 290, "only {count} rows");
}

#[test]
fn instructions_match_the_hand_written_facts() {
    let mut faults = Vec::new();
    let mut count = 0;
    for (number, row) in rows(BY_HAND) {
        let inst = decode(word_of(&row));
        let mut wanted: Vec<&str> = row[6].split_whitespace().collect();
        wanted.sort_unstable();
        let found = [
            reg_names(inst.srcs()),
            reg_names(inst.dsts()),
            memory(&inst),
            uops(&inst),
            events(&inst).join(" "),
            inst.fp_element_ops.to_string(),
        ];
        let wanted = [row[2], row[3], row[4], row[5], &wanted.join(" "), row[7]];
        for (found, wanted) in found.iter().zip(wanted) {
            if found != wanted {
                faults.push(format!("line {number}, {}: {found:?}, not {wanted:?}", row[1]));
            }
        }
        count += 1;
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count >= 300, "only {count} rows");
}

#[test]
fn registers_and_memory_match_the_agreed_corpus() {
    let mut count = 0;
    for (number, row) in rows(AGREED) {
        let inst = decode(word_of(&row));
        let list = |regs: &[Reg]| {
            let mut names: Vec<u8> = regs.iter().map(|reg| reg.0).collect();
            names.sort_unstable();
            names.dedup();
            names.iter().map(u8::to_string).collect::<Vec<_>>().join(" ")
        };
        let found = [
            list(inst.srcs()),
            list(inst.dsts()),
            inst.mem.bytes.to_string(),
            format!("{:?}", inst.mem.op),
        ];
        assert_eq!(found, row[1..5], "line {number}: {}", row[0]);
        count += 1;
    }
    assert!(count >= 2000, "only {count} rows");
}

#[test]
fn direct_branches_and_literals_have_their_distance() {
    let distances = [
        (0x362c_0003, -32_768),      // TBZ w3, #5
        (0x5480_0001, -1_048_576),   // B.NE
        (0xb57f_ffe1, 1_048_572),    // CBNZ x1
        (0x1600_0000, -134_217_728), // B
        (0x95ff_ffff, 134_217_724),  // BL
        (0x5880_0000, -1_048_576),   // LDR x0
        (0xd800_0200, 64),           // PRFM pldl1keep
        (0x9c7f_ffe3, 1_048_572),    // LDR q3
        (0xd65f_03c0, 0),            // RET has none
        (0x1000_8003, 0),            // ADR is not a branch
    ];
    for (word, distance) in distances {
        assert_eq!(decode(word).offset, distance, "{word:08x}");
    }
}
