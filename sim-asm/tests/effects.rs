//! Effects of instructions on registers and memory: those that another emulator computed, and those
//! that the decoder of the model expects.

use std::collections::BTreeMap;
use std::fmt::Write;

use sim_asm::{Limits, Registers, Run, run};
use sim_isa::{Inst, MemOp, Reg, decode};

use crate::encoding::single;

/// Bytes of memory from the first data that the instructions use.
const BYTES: u64 = 4096;

/// Registers before an instruction.
#[derive(Clone)]
struct State {
    nzcv: u8,
    sp: u64,
    x: Vec<u64>,
    v: Vec<u128>,
}

/// One row of the recorded effects.
struct Row {
    state: &'static str,
    text: &'static str,
    changes: &'static str,
}

fn hex(text: &str) -> u128 {
    u128::from_str_radix(text, 16).expect("a hexadecimal number")
}

fn recorded() -> (BTreeMap<&'static str, State>, Vec<Row>) {
    let (mut states, mut rows) = (BTreeMap::new(), Vec::new());
    for line in include_str!("effects.txt").lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        if let Some(name) = fields[0].strip_prefix("state ") {
            let x = fields[3].split(' ').map(|value| hex(value) as u64).collect();
            let v = fields[4].split(' ').map(hex).collect();
            let nzcv = fields[1].parse().expect("four flags");
            states.insert(name, State { nzcv, sp: hex(fields[2]) as u64, x, v });
        } else {
            rows.push(Row { state: fields[0], text: fields[1], changes: fields[2] });
        }
    }
    (states, rows)
}

fn initial_byte(offset: u64) -> u8 {
    ((offset * 37 + 11) ^ (offset >> 3)) as u8
}

/// A program that sets all registers and then runs some instructions.
fn program(state: &State, text: &str) -> String {
    let bytes: Vec<u8> = (0..BYTES).map(initial_byte).collect();
    let quads: Vec<String> = words(&bytes).map(|word| word.to_string()).collect();
    let mut out = format!(".data\nbytes: .quad {}\nvectors:\n", quads.join(", "));
    for value in &state.v {
        writeln!(out, ".quad {:#x}, {:#x}", *value as u64, (value >> 64) as u64).expect("a string");
    }
    out += ".text\nldr x0, =vectors\n";
    for pair in 0..16 {
        writeln!(out, "ldp q{}, q{}, [x0], #32", 2 * pair, 2 * pair + 1).expect("a string");
    }
    writeln!(out, "ldr x0, ={:#x}\nmov sp, x0", state.sp).expect("a string");
    // Operands of an addition or subtraction that sets these flags.
    out += match state.nzcv {
        2 => "mov x0, #2\ncmp x0, #1\n",
        6 => "cmp x0, x0\n",
        7 => "mov x0, #0x8000000000000000\ncmn x0, x0\n",
        8 => "mov x0, #0\ncmp x0, #1\n",
        other => panic!("no operands are known for the flags {other}"),
    };
    for (number, value) in state.x.iter().enumerate() {
        writeln!(out, "ldr x{number}, ={value:#x}").expect("a string");
    }
    out + text
}

fn execute(state: &State, text: &str) -> Run {
    let limits = Limits { instructions: 10_000, memory: 1 << 20 };
    run(&single(&program(state, text)), limits).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn nzcv(registers: &Registers) -> u8 {
    let Registers { negative, zero, carry, overflow, .. } = *registers;
    u8::from(negative) << 3 | u8::from(zero) << 2 | u8::from(carry) << 1 | u8::from(overflow)
}

/// Registers that differ, each with the name and the value of the recorded effects.
fn changes(state: &State, after: &Registers) -> Vec<String> {
    let x = (0..31).filter(|n| state.x[*n] != after.x[*n]);
    let mut all: Vec<String> = x.map(|n| format!("x{n}={:x}", after.x[n])).collect();
    if after.sp != state.sp {
        all.push(format!("sp={:x}", after.sp));
    }
    if nzcv(after) != state.nzcv {
        all.push(format!("nzcv={}", nzcv(after)));
    }
    let v = (0..32).filter(|n| state.v[*n] != after.v[*n]);
    all.extend(v.map(|n| format!("v{n}={:x}", after.v[n])));
    all
}

/// Returns a sum of the words of memory after an instruction that depends on their order.
fn memory_after(state: &State, text: &str) -> u64 {
    let reading = "ldr x1, =bytes\nmov x2, #512\nmov x0, #0\nmov x3, #31\n\
        sum: ldr x4, [x1], #8\nmadd x0, x0, x3, x4\nsubs x2, x2, #1\nb.ne sum";
    execute(state, &format!("{text}\n{reading}")).registers.x[0]
}

/// The same sum with the recorded change: `m` and an offset, `=`, and the bytes from there.
fn memory_with(change: Option<&str>) -> u64 {
    let mut bytes: Vec<u8> = (0..BYTES).map(initial_byte).collect();
    if let Some((offset, digits)) = change.and_then(|change| change[1..].split_once('=')) {
        let offset: usize = offset.parse().expect("an offset");
        for at in 0..digits.len() / 2 {
            bytes[offset + at] = hex(&digits[2 * at..2 * at + 2]) as u8;
        }
    }
    words(&bytes).fold(0, |sum, word| sum.wrapping_mul(31).wrapping_add(word))
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.chunks_exact(8).map(|part| u64::from_le_bytes(part.try_into().expect("eight bytes")))
}

#[test]
fn registers_change_as_another_emulator_changes_them() {
    let (states, rows) = recorded();
    assert!(rows.len() > 1200);
    let faults: Vec<String> = rows
        .iter()
        .filter_map(|row| {
            let state = &states[row.state];
            let registers = row.changes.split(' ').filter(|one| !one.starts_with('m'));
            let expected: Vec<&str> = registers.filter(|one| !one.is_empty()).collect();
            let own = changes(state, &execute(state, row.text).registers);
            (own != expected).then(|| format!("{} {}: {expected:?} {own:?}", row.state, row.text))
        })
        .collect();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn memory_changes_as_another_emulator_changes_it() {
    let (states, rows) = recorded();
    let stores: Vec<&Row> = rows.iter().filter(|row| row.changes.contains('m')).collect();
    assert!(stores.len() > 100);
    for row in stores {
        let change = row.changes.split(' ').find(|one| one.starts_with('m'));
        let state = &states[row.state];
        assert_eq!(memory_after(state, row.text), memory_with(change), "{}", row.text);
    }
}

/// Names of registers in the recorded effects for those of the decoder.
fn name(reg: Reg) -> String {
    match reg {
        Reg::SP => "sp".to_owned(),
        Reg::NZCV => "nzcv".to_owned(),
        Reg(n @ 0..=30) => format!("x{n}"),
        Reg(n) => format!("v{}", n - 33),
    }
}

/// The state with other values in all registers that an instruction does not read.
fn others_changed(state: &State, inst: &Inst) -> State {
    let mut other = state.clone();
    for (n, value) in (0..).zip(&mut other.x) {
        if !inst.srcs().contains(&Reg::x(n)) {
            *value ^= 0x5a5a_5a5a;
        }
    }
    for (n, value) in (0..).zip(&mut other.v) {
        if !inst.srcs().contains(&Reg::v(n)) {
            *value ^= 0x5a5a << 40;
        }
    }
    if !inst.srcs().contains(&Reg::NZCV) {
        other.nzcv = if state.nzcv == 6 { 8 } else { 6 };
    }
    other
}

/// The value of a register that the decoder names.
fn value(registers: &Registers, reg: Reg) -> u128 {
    match reg {
        Reg::SP => registers.sp.into(),
        Reg::NZCV => nzcv(registers).into(),
        Reg(n @ 0..=30) => registers.x[usize::from(n)].into(),
        Reg(n) => registers.v[usize::from(n) - 33],
    }
}

#[test]
fn the_decoder_knows_the_registers_that_an_instruction_reads_and_writes() {
    let (states, rows) = recorded();
    let mut faults = Vec::new();
    for row in rows {
        let state = &states[row.state];
        let first = execute(state, row.text);
        let last = first.executed.last().expect("one instruction is executed");
        let inst = decode(last.word);
        let written: Vec<String> = inst.dsts().iter().map(|reg| name(*reg)).collect();
        let changed = changes(state, &first.registers);
        let names = changed.iter().filter_map(|one| one.split('=').next());
        for unknown in names.filter(|name| !written.iter().any(|written| written == name)) {
            faults.push(format!("{}: {unknown} changes, {written:?} are known", row.text));
        }
        let second = execute(&others_changed(state, &inst), row.text);
        for reg in inst.dsts() {
            if value(&first.registers, *reg) != value(&second.registers, *reg) {
                faults.push(format!("{}: {} has another source", row.text, name(*reg)));
            }
        }
        let accesses = inst.mem.op != MemOp::None;
        if last.addr.is_some() != accesses {
            faults.push(format!("{}: {:?} and {:?}", row.text, last.addr, inst.mem.op));
        }
        let addr = second.executed.last().and_then(|executed| executed.addr);
        if last.addr != addr {
            faults.push(format!("{}: its address has another source", row.text));
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn a_store_exclusive_succeeds_and_writes() {
    let text = "ldr x1, =0x10000\nmov x2, #7\nldxr x3, [x1]\nstxr w4, x2, [x1]\nldr x5, [x1]";
    let registers = run(&single(text), Limits::default()).expect("mapped").registers;
    assert_eq!((registers.x[4], registers.x[5]), (0, 7));
}

#[test]
fn a_conditional_branch_is_taken_if_its_condition_selects() {
    let conditions = "eq ne cs cc mi pl vs vc hi ls ge lt gt le hs lo".split(' ');
    for condition in conditions {
        for [a, b] in [[0_i64, 0], [1, 2], [2, 1], [-1, 1], [1, -1], [i64::MIN, 1], [i64::MAX, -1]]
        {
            let text = format!(
                "ldr x1, ={a}\nldr x2, ={b}\ncmp x1, x2\ncset x3, {condition}\n\
                 b.{condition} end\nmov x4, #1\nend: nop"
            );
            let run = run(&single(&text), Limits::default()).expect("no access");
            let branches = run.executed.iter().filter(|executed| executed.line == 5);
            let taken: Vec<bool> = branches.map(|branch| branch.taken).collect();
            assert_eq!(taken, [run.registers.x[3] == 1], "{condition} {a} {b}");
            assert_eq!(run.registers.x[4] == 0, taken[0], "{condition} {a} {b}");
        }
    }
}

#[test]
fn compare_and_test_branches_depend_on_the_register() {
    let taken = |text: &str| {
        let run =
            run(&single(&format!("ldr x1, =0x100000000\n{text}\nend: nop")), Limits::default());
        run.expect("no access").executed[1].taken
    };
    assert!(!taken("cbz x1, end") && taken("cbnz x1, end"));
    assert!(taken("cbz w1, end") && !taken("cbnz w1, end"));
    assert!(taken("tbz x1, #31, end") && !taken("tbz x1, #32, end"));
    assert!(!taken("tbnz x1, #31, end") && taken("tbnz x1, #32, end"));
}

#[test]
fn calls_link_and_returns_go_back() {
    let text =
        "ldr x1, =g\nbl f\nblr x1\nmov x3, #3\nsvc #0\nf: mov x4, #4\nret\ng: mov x5, #5\nret";
    let run = run(&single(text), Limits::default()).expect("no access");
    assert_eq!(run.registers.x[3..6], [3, 4, 5]);
    let lines: Vec<u32> = run.executed.iter().skip(2).map(|executed| executed.line).collect();
    assert_eq!(lines, [2, 6, 7, 3, 8, 9, 4, 5]);
}
