//! Recording of a whole system: the kernel, exceptions, operands of system instructions, physical
//! pages.
//!
//! Until the recording begins, translated code only checks for its start, so a system boots at the
//! engine's full speed. Then the engine drops all translations and translates again with all
//! callbacks.

use crate::counting;
use crate::plugin::{IS_OFF, Plugin, Vcpu, active, on_exit, send_pages, with_vcpu};
use crate::qemu::{self, Block, Insn, MemInfo, PluginId};
use crate::registers;
use crate::wire::{MAX_BLOCK, PAGE_BYTES, START_MARKER, STOP_MARKER, Word, control, page};
use sim_isa::{AddressOperand, Governing, may_access};
use std::ffi::{c_uint, c_void};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Number of recently used pages that are remembered. A remembered page is not recorded again.
const PAGES: usize = 4096;
/// Bytes between two entries of a vector table.
const VECTOR_BYTES: u64 = 0x80;
/// Bytes of a vector table.
const VECTORS_BYTES: u64 = 0x800;

/// Point at which the recording of a system begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// The first instruction.
    Boot,
    /// The start marker, run by the guest.
    Marker,
    /// The instruction at this address.
    At(u64),
}

impl Start {
    /// Reads `boot`, `marker` or a hexadecimal address.
    pub(crate) fn parse(text: &str) -> Result<Start, String> {
        match text {
            "boot" => Ok(Start::Boot),
            "marker" => Ok(Start::Marker),
            _ => u64::from_str_radix(text, 16)
                .map(Start::At)
                .map_err(|_| format!("unknown start {text:?}")),
        }
    }
}

/// Address of the instruction at which the recording begins; 0 for the marker. No code is at 0.
static START_AT: AtomicU64 = AtomicU64::new(0);
/// Host address of the guest's physical address 0; 0 until it is known.
static HOST_OF_PHYSICAL: AtomicU64 = AtomicU64::new(0);

/// State of one virtual CPU in the recording of a whole system.
#[derive(Debug, Default)]
pub(crate) struct SystemVcpu {
    /// Address of the running block as it was translated.
    block_pc: u64,
    /// Recently used pages, by a hash of their address: virtual page with its uses, physical page.
    pages: Vec<(u64, u64)>,
}

/// Registers the callbacks that are needed until the recording begins.
pub(crate) fn register(id: PluginId, start: Start) {
    // SAFETY: the identity comes from the engine; callbacks live as long as the process.
    unsafe {
        qemu::qemu_plugin_register_vcpu_init_cb(id, on_vcpu);
        qemu::qemu_plugin_register_vcpu_tb_trans_cb(id, note_memory);
    }
    match start {
        Start::Boot => begin(id),
        Start::Marker => wait(id),
        Start::At(pc) => {
            START_AT.store(pc, Ordering::Relaxed);
            wait(id);
        }
    }
}

fn wait(id: PluginId) {
    PLUGIN_ID.store(id, Ordering::Relaxed);
    // SAFETY: as in `register`.
    unsafe { qemu::qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate_waiting) }
}

/// Identity of the plugin, for the callback that begins the recording.
static PLUGIN_ID: AtomicU64 = AtomicU64::new(0);

/// Registers the callbacks of the recording.
extern "C" fn begin(id: PluginId) {
    let Some(plugin) = active() else { return };
    plugin.memory.control(control::BEGUN).store(1, Ordering::Relaxed);
    // SAFETY: as in `register`.
    unsafe {
        qemu::qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
        qemu::qemu_plugin_register_atexit_cb(id, on_exit, std::ptr::null_mut());
    }
}

extern "C" fn on_vcpu(_id: PluginId, _vcpu: c_uint) {
    if let Some(plugin) = active() {
        let found = u64::from(registers::find());
        plugin.memory.control(control::HAS_REGISTERS).store(found, Ordering::Relaxed);
    }
}

/// Finds the host address of physical memory from the first block, which runs with address
/// translation off.
extern "C" fn note_memory(_id: PluginId, block: *mut Block) {
    if HOST_OF_PHYSICAL.load(Ordering::Relaxed) != 0 {
        return;
    }
    // SAFETY: `block` is valid while this callback runs and has at least one instruction.
    let (va, host) = unsafe {
        let insn = qemu::qemu_plugin_tb_get_insn(block, 0);
        (qemu::qemu_plugin_insn_vaddr(insn), qemu::qemu_plugin_insn_haddr(insn) as u64)
    };
    if host != 0 {
        HOST_OF_PHYSICAL.store(host.wrapping_sub(va), Ordering::Relaxed);
    }
}

/// # Safety
/// `block` must come from the translation callback that is running.
unsafe fn instructions(block: *mut Block) -> Vec<(*mut Insn, u32)> {
    // SAFETY: as promised by the caller.
    unsafe {
        let n = qemu::qemu_plugin_tb_n_insns(block);
        let insns = (0..n).map(|index| qemu::qemu_plugin_tb_get_insn(block, index));
        insns.map(|insn| (insn, qemu::word(insn))).collect()
    }
}

extern "C" fn on_translate_waiting(_id: PluginId, block: *mut Block) {
    let start = START_AT.load(Ordering::Relaxed);
    // SAFETY: `block` and its instructions are valid while this callback runs.
    unsafe {
        for (insn, word) in instructions(block) {
            let is_start = match start {
                0 => word == START_MARKER,
                at => qemu::qemu_plugin_insn_vaddr(insn) == at,
            };
            if is_start {
                let nothing = std::ptr::null_mut();
                qemu::qemu_plugin_register_vcpu_insn_exec_cb(
                    insn,
                    on_start,
                    qemu::CB_NO_REGS,
                    nothing,
                );
            }
        }
    }
}

/// Callback of the start: the recording begins with the next block.
extern "C" fn on_start(_vcpu: c_uint, _data: *mut c_void) {
    let id = PLUGIN_ID.swap(0, Ordering::Relaxed);
    if id != 0 {
        // SAFETY: the identity comes from the engine, which calls `begin` when no translated code
        // runs.
        unsafe { qemu::qemu_plugin_reset(id, begin) }
    }
}

extern "C" fn on_stop(vcpu: c_uint, data: *mut c_void) {
    let Some(plugin) = active() else { return };
    let index = (data as usize >> 32) as u32;
    with_vcpu(plugin, vcpu, |state| {
        state.stream.push(Word::Started(index + 1).encode());
        state.stream.publish();
        true
    });
    let value = registers::x(0).unwrap_or(u64::MAX);
    plugin.memory.control(control::DONE_VALUE).store(value, Ordering::Relaxed);
    plugin.memory.control(control::DONE).store(1, Ordering::Release);
    IS_OFF.store(true, Ordering::Relaxed);
}

extern "C" fn on_translate(_id: PluginId, block: *mut Block) {
    let Some(plugin) = active() else { return };
    // SAFETY: `block` and its instructions are valid while this callback runs.
    unsafe { instrument(plugin, block, &instructions(block)) }
}

/// Set once the first block of the recording, which runs at once, was translated.
static HAS_FIRST_BLOCK: AtomicBool = AtomicBool::new(false);

/// A translated block, kept for as long as the engine may run it.
#[derive(Debug)]
struct Translated {
    id: u32,
    n_insns: u64,
    pc: u64,
    /// Physical address of its first word, if the engine's memory was found.
    physical: Option<u64>,
    /// True for the first block of the recording.
    is_first: bool,
}

/// # Safety
/// `block` and `insns` must come from the translation callback that is running.
unsafe fn instrument(plugin: &Plugin, block: *mut Block, insns: &[(*mut Insn, u32)]) {
    let words: Vec<u32> = insns.iter().map(|(_, word)| *word).collect();
    let pointers: Vec<*mut Insn> = insns.iter().map(|(insn, _)| *insn).collect();
    // SAFETY: as promised by the caller; user data are numbers or live as long as the process.
    unsafe {
        let pc = qemu::qemu_plugin_tb_vaddr(block);
        let host = qemu::qemu_plugin_insn_haddr(pointers[0]) as u64;
        let id = {
            let mut code = plugin.code.lock().unwrap_or_else(PoisonError::into_inner);
            send_pages(plugin, &mut code, &pointers);
            code.block(pc, &words)
        };
        let Some(id) = id else { return };
        let physical = host.checked_sub(HOST_OF_PHYSICAL.load(Ordering::Relaxed));
        let physical = physical.filter(|_| host != 0);
        let is_first = !HAS_FIRST_BLOCK.swap(true, Ordering::Relaxed);
        let kept = Box::new(Translated { id, n_insns: insns.len() as u64, pc, physical, is_first });
        let data = std::ptr::from_ref::<Translated>(Box::leak(kept)).cast_mut().cast();
        let is_vector = pc.is_multiple_of(VECTOR_BYTES);
        let flags = if is_vector || is_first { qemu::CB_READ_REGS } else { qemu::CB_NO_REGS };
        qemu::qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, flags, data);
        for (index, amount) in counting::points(&words, sim_isa::never_traps) {
            plugin.counter.count(pointers[index], amount);
        }
        for (index, &(insn, word)) in insns.iter().enumerate() {
            instrument_one(insn, word, index as u64, pc);
        }
    }
}

/// # Safety
/// `insn` must come from the translation callback that is running.
unsafe fn instrument_one(insn: *mut Insn, word: u32, index: u64, block_pc: u64) {
    let place = (index << 32 | u64::from(word)) as *mut c_void;
    // SAFETY: as promised by the caller; user data are numbers, never dereferenced.
    unsafe {
        if may_access(word) {
            // Pass the address, not the index: the engine may run the instruction again in a block
            // of its own.
            let (pc, flags) = ((block_pc + 4 * index) as *mut c_void, qemu::CB_NO_REGS);
            qemu::qemu_plugin_register_vcpu_mem_cb(insn, on_access, flags, qemu::MEM_RW, pc);
        }
        let reads = qemu::CB_READ_REGS;
        if AddressOperand::of(word).is_some() {
            qemu::qemu_plugin_register_vcpu_insn_exec_cb(insn, on_operand, reads, place);
        }
        if let Some(governing) = Governing::of(word) {
            let place = (index << 32 | u64::from(governing.register)) as *mut c_void;
            qemu::qemu_plugin_register_vcpu_insn_exec_cb(insn, on_predicate, reads, place);
        }
        if word == STOP_MARKER {
            qemu::qemu_plugin_register_vcpu_insn_exec_cb(insn, on_stop, reads, place);
        }
    }
}

extern "C" fn on_block(vcpu: c_uint, data: *mut c_void) {
    let Some(plugin) = active() else { return };
    // SAFETY: the pointer is to a `Translated` that is never freed.
    let block = unsafe { &*data.cast::<Translated>() };
    let now = plugin.counter.now(vcpu);
    with_vcpu(plugin, vcpu, |state| {
        state.system.block_pc = block.pc;
        if block.is_first
            && let Some(table) = registers::table()
        {
            state.stream.push_record(&[Word::Table.encode(), table]);
        }
        if block.pc.is_multiple_of(VECTOR_BYTES) {
            note_exception(state, block.pc);
        }
        let goes_on = state.begin_block(block.id, block.n_insns, now, || true);
        if let Some(physical) = block.physical {
            note_page(state, block.pc, physical, page::EXECUTE);
        }
        goes_on
    });
}

/// Records an exception if `pc` is an entry of the vector table.
fn note_exception(state: &mut Vcpu, pc: u64) {
    let is_entry = registers::vectors().is_some_and(|table| pc.wrapping_sub(table) < VECTORS_BYTES);
    if is_entry && let Some((syndrome, link)) = registers::exception() {
        let word = Word::Exception((pc % VECTORS_BYTES) as u32).encode();
        state.stream.push_record(&[word, syndrome, link]);
    }
}

/// Records a page at its first use and at its first use of another kind.
#[inline]
fn note_page(state: &mut Vcpu, virt: u64, physical: u64, usage: u32) {
    if state.system.pages.is_empty() {
        state.system.pages = vec![(0, 0); PAGES];
    }
    let (virt, physical) = (virt & !(PAGE_BYTES - 1), physical & !(PAGE_BYTES - 1));
    let entry = &mut state.system.pages[(virt / PAGE_BYTES) as usize % PAGES];
    let is_same = entry.0 & !(PAGE_BYTES - 1) == virt && entry.1 == physical;
    let known = if is_same { entry.0 as u32 & (PAGE_BYTES as u32 - 1) } else { 0 };
    if known & usage == usage {
        return;
    }
    *entry = (virt | u64::from(known | usage), physical);
    state.stream.push_record(&[Word::Page(usage).encode(), virt, physical]);
}

extern "C" fn on_access(vcpu: c_uint, info: MemInfo, addr: u64, data: *mut c_void) {
    let Some(plugin) = active() else { return };
    // SAFETY: `info` describes the access of this callback.
    let (physical, usage) = unsafe {
        let usage = if qemu::qemu_plugin_mem_is_store(info) { page::WRITE } else { page::READ };
        match qemu::qemu_plugin_get_hwaddr(info, addr).as_ref() {
            Some(at) if qemu::qemu_plugin_hwaddr_is_io(at) => {
                (Some(qemu::qemu_plugin_hwaddr_phys_addr(at)), usage | page::DEVICE)
            }
            Some(at) => (Some(qemu::qemu_plugin_hwaddr_phys_addr(at)), usage),
            None => (None, usage),
        }
    };
    with_vcpu(plugin, vcpu, |state| {
        if let Some(physical) = physical {
            note_page(state, addr, physical, usage);
        }
        // A block does not cross a page boundary.
        let distance = (data as u64).wrapping_sub(state.system.block_pc) % PAGE_BYTES;
        let word = Word::Access { index: (distance / 4) as u32 % MAX_BLOCK as u32, addr };
        state.stream.push(word.encode())
    });
}

extern "C" fn on_operand(vcpu: c_uint, data: *mut c_void) {
    let Some(plugin) = active() else { return };
    let (word, index) = (data as usize as u32, (data as usize >> 32) as u32);
    with_vcpu(plugin, vcpu, |state| {
        let pc = state.system.block_pc + 4 * u64::from(index);
        let value = AddressOperand::of(word)
            .and_then(|operand| operand.value(pc, registers::x, registers::x_or_sp));
        value.is_none_or(|value| state.stream.push_record(&[Word::Operand(index).encode(), value]))
    });
}

/// Callback of a predicated SVE instruction that is about to run.
extern "C" fn on_predicate(vcpu: c_uint, data: *mut c_void) {
    let Some(plugin) = active() else { return };
    let (number, index) = (data as usize as u32, (data as usize >> 32) as u32);
    let Some(bits) = registers::p(number) else { return };
    plugin.memory.control(control::HAS_PREDICATES).store(1, Ordering::Relaxed);
    with_vcpu(plugin, vcpu, |state| {
        state.stream.push_record(&[Word::Predicate(index).encode(), u64::from(bits)])
    });
}
