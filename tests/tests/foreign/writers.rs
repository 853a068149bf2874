//! Writers of other tools' trace formats, made from the formats' descriptions and without code of
//! the readers. They write a real program: instructions of a committed trace.

use std::fmt::Write;
use std::path::Path;

use sim_core::InstFlags;
use sim_isa::{BranchKind, Inst, MemOp, Reg};
use sim_trace::TraceFile;

/// One executed instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) stream: u32,
    pub(crate) pc: u64,
    pub(crate) word: u32,
    pub(crate) addr: Option<u64>,
}

impl Step {
    pub(crate) fn inst(&self) -> Inst {
        sim_isa::decode(self.word)
    }

    fn reads_memory(&self) -> bool {
        !matches!(self.inst().mem.op, MemOp::Store | MemOp::AtomicStore | MemOp::ZeroLine)
    }

    fn writes_memory(&self) -> bool {
        let reads_only = [MemOp::None, MemOp::Load, MemOp::PrefetchLoad, MemOp::PrefetchStore];
        !reads_only.contains(&self.inst().mem.op)
    }
}

/// Returns the first `limit` instructions of every thread, one thread after the other.
pub(crate) fn steps(trace: &TraceFile, limit: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    for info in trace.streams() {
        let (mut reader, mut batch, mut own) = (trace.reader(info.stream).unwrap(), Vec::new(), 0);
        while own < limit && reader.next_batch(&mut batch).unwrap() {
            for inst in batch.iter().take(limit - own) {
                let code = trace.statics().insts()[inst.id as usize];
                let addr = inst.flags.has(InstFlags::HAS_ADDR).then_some(inst.addr);
                steps.push(Step { stream: info.stream, pc: code.pc, word: code.word, addr });
            }
            own += batch.len().min(limit - own);
        }
    }
    steps
}

/// Returns an ELF file with fixed addresses and the code pages of `trace`, each run of pages a
/// segment.
pub(crate) fn elf(trace: &TraceFile) -> Vec<u8> {
    let mut segments: Vec<(u64, Vec<u8>)> = Vec::new();
    for (va, bytes) in trace.image().pages() {
        match segments.last_mut() {
            Some((start, all)) if *start + all.len() as u64 == va => all.extend(bytes),
            _ => segments.push((va, bytes.to_vec())),
        }
    }
    let mut file = Vec::new();
    file.extend(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    file.extend(2u16.to_le_bytes()); // ET_EXEC
    file.extend(183u16.to_le_bytes()); // EM_AARCH64
    file.extend(1u32.to_le_bytes());
    file.extend(segments[0].0.to_le_bytes());
    file.extend(64u64.to_le_bytes()); // program headers
    file.extend([0; 12]); // no section headers, no flags
    for number in [64u16, 56, segments.len() as u16, 64, 0, 0] {
        file.extend(number.to_le_bytes());
    }
    let mut offset = 64 + 56 * segments.len() as u64;
    for (va, bytes) in &segments {
        let length = bytes.len() as u64;
        file.extend(1u32.to_le_bytes()); // PT_LOAD
        file.extend(5u32.to_le_bytes()); // readable, executable
        for number in [offset, *va, *va, length, length, 1] {
            file.extend(number.to_le_bytes());
        }
        offset += length;
    }
    file.extend(segments.into_iter().flat_map(|(_, bytes)| bytes));
    file
}

/// Writes QEMU's execlog: one entry for each register of an access, as QEMU 7.2 does.
pub(crate) fn execlog(steps: &[Step]) -> Vec<u8> {
    let mut text = String::from("Linking TBs 0x7f00 index 0\n");
    for step in steps {
        let Step { stream, pc, word, addr } = step;
        write!(text, "{stream}, 0x{pc:x}, 0x{word:x}, \"op x0, [x1, #8]\"").unwrap();
        if let Some(addr) = addr {
            let mem = step.inst().mem;
            let pieces = (u64::from(mem.bytes) / u64::from(mem.register_bytes.max(1))).clamp(1, 4);
            for piece in 0..pieces {
                let addr = addr + piece * u64::from(mem.register_bytes);
                for (is, name) in [(step.reads_memory(), "load"), (step.writes_memory(), "store")] {
                    if is {
                        write!(text, ", {name}, 0x{addr:08x}").unwrap();
                    }
                }
            }
        }
        text.push('\n');
    }
    text.into_bytes()
}

/// Writes valgrind's lackey format.
pub(crate) fn lackey(steps: &[Step]) -> Vec<u8> {
    let mut text = String::from("==4711== Lackey, an example Valgrind tool\n==4711== \n");
    for step in steps {
        writeln!(text, "I  {:08x},4", step.pc).unwrap();
        if let Some(addr) = step.addr {
            let kind = match (step.reads_memory(), step.writes_memory()) {
                (true, true) => 'M',
                (_, true) => 'S',
                _ => 'L',
            };
            writeln!(text, " {kind} {addr:08x},{}", step.inst().mem.bytes).unwrap();
        }
    }
    text.into_bytes()
}

/// A dialect of Tarmac.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `IT`, followed by `MR`/`MW`, the higher half of a wide access first.
    Model,
    /// `IT` with accesses before their instruction.
    ModelBefore,
    /// `ES`, followed by windows of 16 bytes.
    Rtl,
}

/// Writes Arm's Tarmac.
pub(crate) fn tarmac(steps: &[Step], dialect: Dialect) -> Vec<u8> {
    let mut text = String::from("Tarmac Text Rev 3t\n");
    for (n, step) in steps.iter().enumerate() {
        let Step { stream, pc, word, .. } = step;
        let head = format!("{n} clk cpu{stream}");
        let inst = match dialect {
            Dialect::Rtl => format!("{head} ES ({pc:016x}:{word:08x}) O el0t_n:  OP x0,x1\n"),
            _ => {
                format!("{head} IT ({n}) {pc:016x}:000080{pc:08x}_NS {word:08x} O EL0t_n : OP x0\n")
            }
        };
        let accesses = step.addr.map(|addr| access(step, addr, dialect, &head)).unwrap_or_default();
        text += &match dialect {
            Dialect::ModelBefore => format!("{accesses}{inst}"),
            _ => format!("{inst}{head} R X0 0000000000000001\n{accesses}"),
        };
    }
    text.into_bytes()
}

fn access(step: &Step, addr: u64, dialect: Dialect, head: &str) -> String {
    let bytes = u64::from(step.inst().mem.bytes.clamp(1, 64));
    let is_store = step.writes_memory() && !step.reads_memory();
    if dialect != Dialect::Rtl {
        let kind = if is_store { "MW" } else { "MR" };
        if bytes <= 8 {
            return format!("{head} {kind}{bytes} {addr:016x}:000080{addr:08x}_NS 00\n");
        }
        let halves = [addr + bytes / 2, addr];
        return halves
            .map(|addr| format!("{head} {kind}8 {addr:016x} 00000000_00000000\n"))
            .concat();
    }
    let kind = if is_store { "ST" } else { "LD" };
    let (mut text, end) = (String::new(), addr + bytes);
    for window in (addr & !15..end).step_by(16) {
        let digits = (window..window + 16)
            .rev()
            .map(|byte| if (addr..end).contains(&byte) { "a5" } else { ".." });
        let digits: Vec<&str> = digits.collect();
        let words: Vec<String> = digits.chunks(4).map(<[&str]>::concat).collect();
        writeln!(text, "{head}     {kind} {window:016x} {}", words.join(" ")).unwrap();
    }
    text
}

/// Writes gem5's Exec text; pairs are two micro-operations with a line of their own before them.
pub(crate) fn gem5_exec(steps: &[Step]) -> Vec<u8> {
    let mut text = String::from("warn: instruction 'bti' unimplemented\n");
    for (n, step) in steps.iter().enumerate() {
        let tick = 500 * n;
        let place =
            format!("{tick:>7}: system.cpu{}: A0 T0 : 0x{:x} @main+{n}", step.stream, step.pc);
        let mem = step.inst().mem;
        let is_pair = step.addr.is_some() && mem.bytes > u16::from(mem.register_bytes);
        if !is_pair {
            let data = step
                .addr
                .map(|addr| format!("D=0x0000000000000001 A=0x{addr:x} "))
                .unwrap_or_default();
            writeln!(text, "{place}    :   op   x0, x1  : IntAlu :  {data} flags=(IsInteger)")
                .unwrap();
            continue;
        }
        writeln!(text, "{place}    :   ldp   x0, x1").unwrap();
        for uop in 0..2 {
            let addr = step.addr.unwrap() + uop * u64::from(mem.register_bytes);
            writeln!(
                text,
                "{place}.{uop:>2} :   ldp_uop x0 : MemRead :  A=0x{addr:x}  flags=(IsMicroop)"
            )
            .unwrap();
        }
    }
    text.into_bytes()
}

fn varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn message(out: &mut Vec<u8>, fields: &[u8]) {
    varint(out, fields.len() as u64);
    out.extend(fields);
}

/// Writes gem5's protobuf instruction trace; odd instructions have their word as bytes.
pub(crate) fn gem5_inst(steps: &[Step]) -> Vec<u8> {
    let mut out = b"gem5".to_vec();
    let mut header = b"\x0a\x06system\x10\x01\x18".to_vec();
    varint(&mut header, 1_000_000_000_000);
    header.extend([0x20, 1]);
    message(&mut out, &header);
    for (n, step) in steps.iter().enumerate() {
        let mut fields = vec![0x08];
        varint(&mut fields, step.pc);
        if n % 2 == 0 {
            fields.push(0x15);
            fields.extend(step.word.to_le_bytes());
        } else {
            fields.extend([0x4a, 4]);
            fields.extend(step.word.to_le_bytes());
        }
        fields.push(0x20);
        varint(&mut fields, step.stream.into());
        fields.push(0x29);
        fields.extend((500 * n as u64).to_le_bytes());
        if let Some(addr) = step.addr {
            let mut access = vec![0x08];
            varint(&mut access, addr);
            access.push(0x10);
            varint(&mut access, step.inst().mem.bytes.into());
            fields.push(0x42);
            message(&mut fields, &access);
        }
        message(&mut out, &fields);
    }
    out
}

fn record(out: &mut Vec<u8>, kind: u16, size: u16, value: u64) {
    out.extend(kind.to_le_bytes());
    out.extend(size.to_le_bytes());
    out.extend(value.to_le_bytes());
}

/// Writes DynamoRIO's drmemtrace, with words or without.
pub(crate) fn drmemtrace(steps: &[Step], has_words: bool) -> Vec<u8> {
    let mut out = Vec::new();
    record(&mut out, 25, 0, 5);
    record(&mut out, 28, 12, 5);
    record(&mut out, 28, 9, 0x8 | if has_words { 0x200 } else { 0 });
    record(&mut out, 28, 10, 64);
    let (mut thread, mut seen) = (None, std::collections::BTreeMap::new());
    for (n, step) in steps.iter().enumerate() {
        if thread != Some(step.stream) {
            record(&mut out, 22, 0, 4711 + u64::from(step.stream));
            record(&mut out, 24, 0, 4711);
            record(&mut out, 28, 2, 13_000_000);
            thread = Some(step.stream);
        }
        if has_words && seen.insert(step.pc, step.word) != Some(step.word) {
            record(&mut out, 47, 4, step.word.into());
        }
        let next = steps.get(n + 1).map(|next| next.pc);
        let kind = match step.inst().branch {
            BranchKind::None | BranchKind::ExceptionReturn => 10,
            BranchKind::Direct => 11,
            BranchKind::Indirect => 12,
            BranchKind::Conditional if next == Some(step.pc + 4) => 49,
            BranchKind::Conditional => 48,
            BranchKind::Call => 14,
            BranchKind::IndirectCall => 15,
            BranchKind::Return => 16,
        };
        record(&mut out, kind, 4, step.pc);
        let bytes = step.inst().mem.bytes;
        if let Some(addr) = step.addr {
            if step.reads_memory() {
                record(&mut out, 0, bytes, addr);
            }
            if step.writes_memory() {
                record(&mut out, 1, bytes, addr);
            }
        }
    }
    record(&mut out, 23, 0, 4711);
    record(&mut out, 26, 0, 0);
    out
}

/// Returns the register number of CVP-1: 0 to 30 general, 31 SP, 32 to 63 vector, 64 flags.
fn cvp1_reg(reg: &Reg) -> Option<u8> {
    match reg.0 {
        0..=31 => Some(reg.0),
        32 => Some(64),
        33..=64 => Some(reg.0 - 1),
        _ => None,
    }
}

/// Writes CVP-1, a stream of classes.
pub(crate) fn cvp1(steps: &[Step]) -> Vec<u8> {
    let mut out = Vec::new();
    for (n, step) in steps.iter().enumerate() {
        let inst = step.inst();
        let next = steps.get(n + 1).map_or(step.pc + 4, |next| next.pc);
        let class = match (inst.branch, step.addr, step.writes_memory()) {
            (BranchKind::Conditional, ..) => 3,
            (BranchKind::Direct | BranchKind::Call, ..) => 4,
            (BranchKind::None, Some(_), false) => 1,
            (BranchKind::None, Some(_), true) => 2,
            (BranchKind::None, None, _) if inst.srcs().iter().any(|reg| reg.0 > 32) => 6,
            (BranchKind::None, None, _) => 0,
            _ => 5,
        };
        out.extend(step.pc.to_le_bytes());
        out.push(class);
        if let (1 | 2, Some(addr)) = (class, step.addr) {
            out.extend(addr.to_le_bytes());
            out.push(inst.mem.register_bytes);
        }
        if (3..=5).contains(&class) {
            let taken = class != 3 || next != step.pc + 4;
            out.push(taken.into());
            if taken {
                out.extend(next.to_le_bytes());
            }
        }
        let reads: Vec<u8> = inst.srcs().iter().filter_map(cvp1_reg).collect();
        let writes: Vec<u8> = inst.dsts().iter().filter_map(cvp1_reg).collect();
        out.push(reads.len() as u8);
        out.extend(&reads);
        out.push(writes.len() as u8);
        out.extend(&writes);
        for reg in writes {
            // A base update leaves the base near the address; other values are not known here.
            let is_base = reads.contains(&reg) && reg < 32;
            let value = step.addr.filter(|_| is_base && (1..=2).contains(&class)).unwrap_or(7);
            out.extend(value.to_le_bytes());
            if (32..64).contains(&reg) {
                out.extend(0u64.to_le_bytes());
            }
        }
    }
    out
}

/// Writes ChampSim's records; `long` selects those of 96 bytes.
pub(crate) fn champsim(steps: &[Step], long: bool) -> Vec<u8> {
    let written = if long { 4 } else { 2 };
    let mut out = Vec::new();
    for (n, step) in steps.iter().enumerate() {
        let inst = step.inst();
        let next = steps.get(n + 1).map_or(step.pc + 4, |next| next.pc);
        let special = |reg: &Reg| match reg.0 {
            31 => 6,
            32 => 25,
            reg => reg + 64,
        };
        let (mut reads, mut writes): (Vec<u8>, Vec<u8>) =
            (inst.srcs().iter().map(special).collect(), inst.dsts().iter().map(special).collect());
        match inst.branch {
            BranchKind::None => {}
            BranchKind::Direct => (reads, writes) = (vec![], vec![26]),
            BranchKind::Conditional => (reads, writes) = (vec![26, 25], vec![26]),
            BranchKind::Call => (reads, writes) = (vec![6, 26], vec![6, 26]),
            BranchKind::IndirectCall => (reads, writes) = (vec![6, 26, 70], vec![6, 26]),
            BranchKind::Return => (reads, writes) = (vec![6], vec![6, 26]),
            _ => (reads, writes) = (vec![70], vec![26]),
        }
        let is_branch = inst.branch != BranchKind::None;
        reads.resize(4, 0);
        writes.resize(written, 0);
        let taken = is_branch && (inst.branch != BranchKind::Conditional || next != step.pc + 4);
        out.extend(step.pc.to_le_bytes());
        out.extend([u8::from(is_branch), u8::from(taken)]);
        out.extend(writes);
        out.extend(reads);
        out.resize(out.len().next_multiple_of(8), 0);
        let mut addresses = vec![0u64; written + 4];
        if step.writes_memory() {
            addresses[0] = step.addr.unwrap_or(0);
        }
        if step.reads_memory() {
            addresses[written] = step.addr.unwrap_or(0);
        }
        out.extend(addresses.into_iter().flat_map(u64::to_le_bytes));
        if long {
            out.extend([0; 8]); // address space
        }
    }
    out
}

/// Opens a trace of the repository, with its program.
pub(crate) fn committed(name: &str) -> TraceFile {
    let path = sim_tests::repository().join("traces").join(name).with_extension("n2t");
    TraceFile::open(Path::new(&path)).unwrap()
}
