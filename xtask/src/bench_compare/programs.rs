//! Outputs of two programs on random programs: counts, stall causes and samples must be the same.
//!
//! A random program is a graph of basic blocks and a walk through it. A trace contains several, on
//! one to four threads. They were never executed.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use sim_trace::{Access, BlockId, Meta, TraceError, TraceWriter};

/// Programs of one trace.
const PER_TRACE: u64 = 50;
const BLOCKS: usize = 12;
/// Block executions of a program.
const STEPS: u32 = 80;
const CODE: u64 = 0x40_0000;
/// Distance of the code of two programs.
const APART: u64 = 0x4000;
const DATA: u64 = 0x10_0000_0000;

/// Instructions of the blocks: integer and vector arithmetic, divisions, loads and stores of all
/// widths, exclusive pairs, atomics, acquire and release, barriers.
const WORDS: [u32; 30] = [
    0x9100_0428, // add x8, x1, #1
    0x8b08_0042, // add x2, x2, x8
    0xeb02_011f, // cmp x8, x2
    0x9b01_7c28, // mul x8, x1, x1
    0x9ac1_0800, // udiv x0, x0, x1
    0x9ac1_0d0a, // sdiv x10, x8, x1
    0x1e61_1800, // fdiv d0, d0, d1
    0x1e61_c001, // fsqrt d1, d0
    0x4e22_d428, // fadd v8.4s, v1.4s, v2.4s
    0x4ea2_8503, // add v3.4s, v8.4s, v2.4s
    0x6e61_fc00, // fdiv v0.2d, v0.2d, v1.2d
    0x04d5_0028, // udiv z8.d, p0/m, z8.d, z1.d
    0xf940_0008, // ldr x8, [x0]
    0xf940_0042, // ldr x2, [x2]
    0xa940_2408, // ldp x8, x9, [x0]
    0x3dc0_0008, // ldr q8, [x0]
    0x4c40_0000, // ld4 {v0.16b-v3.16b}, [x0]
    0x3940_0008, // ldrb w8, [x0]
    0xf900_0008, // str x8, [x0]
    0x3900_0008, // strb w8, [x0]
    0x3d80_0008, // str q8, [x0]
    0xc85f_7c08, // ldxr x8, [x0]
    0xc809_7c08, // stxr w9, x8, [x0]
    0xf821_0008, // ldadd x1, x8, [x0]
    0xc8a8_7c01, // cas x8, x1, [x0]
    0xc8df_fc08, // ldar x8, [x0]
    0xc89f_fc08, // stlr x8, [x0]
    0xd503_3bbf, // dmb ish
    0xd503_3fdf, // isb
    0xd503_201f, // nop
];
/// The first plain access in [`WORDS`], and the first word after the last.
const PLAIN: std::ops::Range<usize> = 12..21;
const TBZ: u32 = 0x3600_0002; // tbz w2, #0
const BNE: u32 = 0x5400_0001; // b.ne
const B: u32 = 0x1400_0000;
const BL: u32 = 0x9400_0000;
const BR: u32 = 0xd61f_0060; // br x3
const RET: u32 = 0xd65f_03c0;

/// Results of n2sim that are compared; `{}` is the file of the samples.
const COMMANDS: [(&str, &[&str]); 5] = [
    ("counts", &["stat", "-j"]),
    ("counts of the memory system", &["stat", "-j", "--mode", "memory"]),
    ("counts of the front end", &["stat", "-j", "--mode", "frontend"]),
    ("stalls", &["stat", "--stalls", "--per-thread"]),
    ("samples", &["record", "-e", "arm_spe_0//", "-c", "100", "--raw", "-o", "{}"]),
];

/// A basic block: its number in the trace, places of its accesses, and its successors.
struct Block {
    id: BlockId,
    length: u16,
    /// Index of each access, and whether it may have any address.
    accesses: Vec<(u16, bool)>,
    exit: Exit,
}

#[derive(Clone, Copy)]
enum Exit {
    /// A conditional branch to this block, or the next one.
    Either(usize),
    Jump(usize),
    Call(usize),
    Anywhere,
    Return,
}

/// Compares both programs on `count` random programs. Returns the number of traces with a
/// difference, which are kept in `folder`.
///
/// # Errors
/// If a trace cannot be written, or if one of the two fails where the other does not.
pub(super) fn compare(
    programs: &[PathBuf; 2],
    count: u64,
    seed: u64,
    folder: &Path,
) -> anyhow::Result<usize> {
    std::fs::create_dir_all(folder)?;
    let (mut differ, mut instructions) = (0, 0);
    for number in 0..count.div_ceil(PER_TRACE) {
        let trace = folder.join(format!("programs-{seed}-{number}.n2t"));
        let here = PER_TRACE.min(count - number * PER_TRACE);
        instructions += write(&trace, here, seed.wrapping_add(number << 32))?;
        let mut is_same = true;
        for (name, arguments) in COMMANDS {
            let before = output(&programs[0], arguments, &trace, folder)?;
            let now = output(&programs[1], arguments, &trace, folder)?;
            if before != now {
                println!("{}: other {name}", trace.display());
                is_same = false;
            }
        }
        differ += usize::from(!is_same);
        if is_same {
            std::fs::remove_file(&trace)?;
        }
    }
    println!(
        "{count} random programs, {instructions} instructions, seed {seed}: counts, stalls and \
         samples differ in {differ} of {} traces",
        count.div_ceil(PER_TRACE)
    );
    Ok(differ)
}

/// Returns the output of a command, with the file that it writes and its exit status.
fn output(
    program: &Path,
    arguments: &[&str],
    trace: &Path,
    folder: &Path,
) -> anyhow::Result<(Vec<u8>, Vec<u8>)> {
    let file = folder.join("samples");
    let mut command = Command::new(program);
    // Samples contain the command line; it must be the same for both.
    command.arg0("n2sim");
    for argument in arguments {
        match *argument {
            "{}" => command.arg(&file),
            other => command.arg(other),
        };
    }
    let ran = command.arg(trace).stdin(Stdio::null()).output();
    let ran = ran.with_context(|| program.display().to_string())?;
    let errors = String::from_utf8_lossy(&ran.stderr);
    ensure!(
        ran.status.success(),
        "{}: {} fails: {}",
        trace.display(),
        program.display(),
        errors.trim()
    );
    let written = if arguments.contains(&"{}") { take_samples(folder)? } else { Vec::new() };
    Ok((ran.stdout, written))
}

/// Reads and removes the files of samples, one for each thread. Returns their contents in order.
fn take_samples(folder: &Path) -> anyhow::Result<Vec<u8>> {
    let entries: Vec<_> = std::fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    let is_ours =
        |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with("samples");
    let mut files: Vec<PathBuf> =
        entries.into_iter().filter(is_ours).map(|entry| entry.path()).collect();
    files.sort();
    ensure!(!files.is_empty(), "{}: no samples were written", folder.display());
    let mut all = Vec::new();
    for file in files {
        all.extend(std::fs::read(&file)?);
        std::fs::remove_file(&file)?;
    }
    Ok(all)
}

/// Writes a trace of `count` random programs. Returns its number of instructions.
fn write(path: &Path, count: u64, seed: u64) -> Result<u64, TraceError> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let meta = Meta { command: vec![format!("random-{seed}")], ..Meta::default() };
    let mut writer = TraceWriter::create(path, meta)?;
    let threads = random.random_range(1..=4u32);
    for number in 0..count {
        let blocks = define(&mut writer, CODE + number * APART, &mut random)?;
        walk(&mut writer, number as u32 % threads, &blocks, &mut random)?;
    }
    Ok(writer.finish()?.instructions)
}

/// Defines the blocks of a program, one after the other.
fn define(
    writer: &mut TraceWriter,
    code: u64,
    random: &mut Xoshiro256PlusPlus,
) -> Result<Vec<Block>, TraceError> {
    let mut lengths = [0u16; BLOCKS];
    lengths.fill_with(|| random.random_range(2..=12));
    let start = |block: usize| -> i64 { lengths[..block].iter().map(|n| i64::from(*n)).sum() };
    let mut blocks = Vec::new();
    for (at, &length) in lengths.iter().enumerate() {
        let target = random.random_range(0..BLOCKS);
        let distance = start(target) - (start(at + 1) - 1);
        let (last, exit) = match random.random_range(0..10) {
            // The last block has no next one.
            0..=5 if at + 1 < BLOCKS => {
                let word = if random.random_bool(0.5) { TBZ } else { BNE };
                let field = if word == TBZ { 0x3fff } else { 0x7_ffff };
                (word | (distance as u32 & field) << 5, Exit::Either(target))
            }
            6 if at + 1 < BLOCKS => (BL | (distance as u32 & 0x3ff_ffff), Exit::Call(target)),
            7 => (BR, Exit::Anywhere),
            8 => (RET, Exit::Return),
            _ => (B | (distance as u32 & 0x3ff_ffff), Exit::Jump(target)),
        };
        let chosen: Vec<usize> = (1..length).map(|_| random.random_range(0..WORDS.len())).collect();
        let words: Vec<u32> = chosen.iter().map(|&one| WORDS[one]).chain([last]).collect();
        let accesses = (0u16..)
            .zip(&chosen)
            .filter(|(_, one)| sim_isa::decode(WORDS[**one]).mem.op != sim_isa::MemOp::None)
            .map(|(index, one)| (index, PLAIN.contains(one)))
            .collect();
        let id = writer.define_block(code + 4 * start(at) as u64, &words)?;
        blocks.push(Block { id, length, accesses, exit });
    }
    Ok(blocks)
}

/// Executes a program from its first block.
fn walk(
    writer: &mut TraceWriter,
    thread: u32,
    blocks: &[Block],
    random: &mut Xoshiro256PlusPlus,
) -> Result<(), TraceError> {
    let (mut at, mut stack) = (0, Vec::new());
    // Some programs branch at random, others mostly one way.
    let taken = [0.05, 0.5, 0.95][random.random_range(0..3usize)];
    let footprint = [4 << 10, 256 << 10, 64 << 20][random.random_range(0..3usize)];
    for _ in 0..STEPS {
        let block = &blocks[at];
        let mut access = |&(index, is_plain): &(u16, bool)| {
            let offset = random.random_range(0..footprint);
            let align = if is_plain && random.random_bool(0.1) { 1 } else { 16u64 };
            Access { index, addr: DATA + offset / align * align }
        };
        let accesses: Vec<Access> = block.accesses.iter().map(&mut access).collect();
        writer.push_block(thread, block.id, block.length, &accesses, None)?;
        at = match block.exit {
            Exit::Either(target) if random.random_bool(taken) => target,
            Exit::Either(_) => at + 1,
            Exit::Jump(target) => target,
            Exit::Call(target) => {
                stack.push(at + 1);
                target
            }
            Exit::Return => stack.pop().unwrap_or(0),
            Exit::Anywhere => random.random_range(0..blocks.len()),
        };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_programs_and_another_gives_others() {
        let folder = tempfile::tempdir().expect("a directory");
        let bytes = |seed: u64| {
            let path = folder.path().join(seed.to_string());
            let instructions = write(&path, 4, seed).expect("a trace");
            assert!(instructions > 4 * u64::from(STEPS));
            std::fs::read(path).expect("the trace")
        };
        let first = bytes(1);
        assert_eq!(first, bytes(1));
        assert_ne!(first, bytes(2));
    }

    #[test]
    fn programs_have_loads_stores_and_every_kind_of_word() {
        for word in WORDS.into_iter().chain([TBZ, BNE, B, BL, BR, RET]) {
            assert_ne!(sim_isa::decode(word).special, sim_isa::Special::Unknown, "{word:#x}");
        }
        let is_access = |word: &u32| sim_isa::decode(*word).mem.op != sim_isa::MemOp::None;
        assert!(WORDS[PLAIN].iter().all(is_access));
        assert_eq!(WORDS.iter().filter(|word| is_access(word)).count(), 15);
    }
}
