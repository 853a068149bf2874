//! One word in both decoders: registers read and written, memory read and written.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};

use fARM64::info::{OpAccess, instruction_info};
use fARM64::register::{RegClass, Register};
use fARM64::{Decoder, DecoderOptions, Instruction};
use sim_isa::{Inst, MemOp, Reg, Special, decode};

/// Result of the comparison for a word.
pub(super) enum Verdict {
    Agree,
    Differ(Difference),
    /// `fARM64` rejects it.
    OnlyOurs,
    /// `sim-isa` does not know it.
    OnlyTheirs(Difference),
    NeitherKnows,
}

/// A kind of difference. Register numbers are replaced by the role of the register in the
/// instruction.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Difference {
    /// Mnemonic as `fARM64` names it.
    pub(super) mnemonic: String,
    /// Architecture extension as `fARM64` names it.
    pub(super) feature: String,
    /// Set when `sim-isa` does not know the word.
    pub(super) is_unknown: bool,
    /// Effects that only `sim-isa` sees: `reads flags`, `writes destination`, `loads` ...
    pub(super) only_ours: BTreeSet<String>,
    /// Effects that only `fARM64` sees.
    pub(super) only_theirs: BTreeSet<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(", ");
        match self.is_unknown {
            true => write!(f, "{} ({}): unknown to sim-isa", self.mnemonic, self.feature),
            false => write!(
                f,
                "{}: only sim-isa {{{}}}, only fARM64 {{{}}}",
                self.mnemonic,
                join(&self.only_ours),
                join(&self.only_theirs)
            ),
        }
    }
}

/// Effects of an instruction on registers and memory.
#[derive(Default, PartialEq, Eq)]
struct Effects {
    reads: BTreeSet<Reg>,
    writes: BTreeSet<Reg>,
    loads: bool,
    stores: bool,
}

/// Compares both decoders on `word`.
pub(super) fn compare(word: u32) -> Verdict {
    let inst = decode(word);
    let theirs = their_instruction(word);
    let known = inst.special != Special::Unknown;
    match (known, theirs.is_invalid()) {
        (false, true) => Verdict::NeitherKnows,
        (true, true) => Verdict::OnlyOurs,
        (false, false) => Verdict::OnlyTheirs(Difference {
            mnemonic: theirs.mnemonic().name().to_owned(),
            feature: feature(&theirs),
            is_unknown: true,
            only_ours: BTreeSet::new(),
            only_theirs: BTreeSet::new(),
        }),
        (true, false) => {
            let (a, b) = (our_effects(&inst), their_effects(&theirs));
            if a == b {
                Verdict::Agree
            } else {
                Verdict::Differ(difference(&inst, &theirs, &a, &b))
            }
        }
    }
}

fn their_instruction(word: u32) -> Instruction {
    Decoder::new(&word.to_le_bytes(), 0, DecoderOptions::NONE).decode()
}

fn our_effects(inst: &Inst) -> Effects {
    let (loads, stores) = match inst.mem.op {
        MemOp::Load => (true, false),
        MemOp::Store | MemOp::ZeroLine => (false, true),
        MemOp::AtomicLoad | MemOp::AtomicStore | MemOp::AtomicSwap => (true, true),
        _ => (false, false),
    };
    Effects {
        reads: inst.srcs().iter().copied().collect(),
        writes: inst.dsts().iter().copied().collect(),
        loads,
        stores,
    }
}

fn their_effects(instruction: &Instruction) -> Effects {
    let info = instruction_info(instruction);
    let mut effects = Effects::default();
    for used in info.used_registers() {
        let Some(reg) = our_name(used.register) else { continue };
        let (reads, writes) = directions(used.access);
        if reads {
            effects.reads.insert(reg);
        }
        if writes {
            effects.writes.insert(reg);
        }
    }
    for used in info.used_memory() {
        let (reads, writes) = directions(used.access);
        effects.loads |= reads;
        effects.stores |= writes;
    }
    effects
}

fn directions(access: OpAccess) -> (bool, bool) {
    match access {
        OpAccess::None => (false, false),
        OpAccess::Read | OpAccess::CondRead => (true, false),
        OpAccess::Write | OpAccess::CondWrite => (false, true),
        OpAccess::ReadWrite => (true, true),
    }
}

/// Returns the dependency name of a register, `None` for the zero register and for operands that
/// are not registers.
fn our_name(register: Register) -> Option<Reg> {
    let name = register.name();
    let number = || name.trim_start_matches(|c: char| c.is_alphabetic()).parse::<u32>().ok();
    match register.class() {
        RegClass::Gp if name.ends_with("sp") => Some(Reg::SP),
        RegClass::Gp if name.ends_with("zr") => None,
        RegClass::Gp => number().map(Reg::x),
        RegClass::ScalarFp | RegClass::Vector | RegClass::Sve => number().map(Reg::v),
        RegClass::Predicate => number().map(Reg::p),
        RegClass::Special if register == Register::Nzcv => Some(Reg::NZCV),
        RegClass::Special if register == Register::Ffr => Some(Reg::FFR),
        _ => None,
    }
}

fn difference(inst: &Inst, theirs: &Instruction, a: &Effects, b: &Effects) -> Difference {
    Difference {
        mnemonic: theirs.mnemonic().name().to_owned(),
        feature: feature(theirs),
        is_unknown: false,
        only_ours: beyond(inst, a, b),
        only_theirs: beyond(inst, b, a),
    }
}

fn feature(instruction: &Instruction) -> String {
    format!("{:?}", instruction.code().feature())
}

/// Returns the effects of `a` that `b` does not have.
fn beyond(inst: &Inst, a: &Effects, b: &Effects) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    for reg in a.reads.difference(&b.reads) {
        seen.insert(format!("reads {}", part(inst, *reg)));
    }
    for reg in a.writes.difference(&b.writes) {
        seen.insert(format!("writes {}", part(inst, *reg)));
    }
    if a.loads && !b.loads {
        seen.insert("loads".to_owned());
    }
    if a.stores && !b.stores {
        seen.insert("stores".to_owned());
    }
    seen
}

/// Returns the role of a register in the instruction.
fn part(inst: &Inst, reg: Reg) -> &'static str {
    match reg {
        Reg::NZCV => "flags",
        Reg::FFR => "ffr",
        Reg::SP if !inst.dsts().contains(&reg) => "sp",
        _ if inst.srcs()[..inst.n_addr_srcs as usize].contains(&reg) => "address",
        _ if inst.dsts().contains(&reg) => "destination",
        _ if inst.srcs().contains(&reg) => "source",
        _ => "other",
    }
}

/// Returns test rows of agreed words, up to `depth` of each mnemonic: word, reads, writes, bytes,
/// operation.
pub(super) fn corpus<'a>(words: impl Iterator<Item = &'a u32>, depth: usize) -> String {
    let mut by_mnemonic: BTreeMap<&'static str, Vec<u32>> = BTreeMap::new();
    for &word in words {
        let rows = by_mnemonic.entry(their_instruction(word).mnemonic().name()).or_default();
        if rows.len() < depth && matches!(compare(word), Verdict::Agree) {
            rows.push(word);
        }
    }
    let mut text = String::from(
        "# Words on whose registers and memory direction two decoders of different origin agree.\n\
         # word | reads | writes | bytes | memory operation\n",
    );
    for word in by_mnemonic.values().flatten() {
        let inst = decode(*word);
        let list = |regs: &[Reg]| {
            let names: BTreeSet<u8> = regs.iter().map(|reg| reg.0).collect();
            names.iter().map(u8::to_string).collect::<Vec<_>>().join(" ")
        };
        let (reads, writes) = (list(inst.srcs()), list(inst.dsts()));
        writeln!(text, "{word:08x} | {reads} | {writes} | {} | {:?}", inst.mem.bytes, inst.mem.op)
            .expect("writing to a string does not fail");
    }
    text
}
