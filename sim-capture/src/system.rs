//! Recording of a whole system: the kernel, exceptions, operands of system instructions, physical
//! pages.
//!
//! Until the recording begins, translated code only checks for its start, so a system boots at the
//! engine's full speed. Then the engine drops all translations and translates again with all
//! callbacks.

use crate::counting;
use crate::plugin::{IS_OFF, Plugin, Vcpu, active, on_exit, publish_all, send_pages, with_vcpu};
use crate::qemu::{self, Block, Insn, MemInfo, PluginId};
use crate::registers;
use crate::wire::{
    self, MAX_BLOCK, NEXT_BLOCK, PAGE_BYTES, START_MARKER, STOP_MARKER, Word, control, page,
};
use crate::{tickets, turns};
use sim_isa::{
    AddressOperand, ContextRegister, Governing, Ordering as Order, Special, decode, may_access,
};
use std::ffi::{c_int, c_uint, c_void};
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
/// The system has several processors, which must keep their order.
static HAS_SEVERAL: AtomicBool = AtomicBool::new(false);
/// Number of the next report on a page, among those of all processors.
static NEXT_PAGE: AtomicU64 = AtomicU64::new(0);

/// State of one virtual CPU in the recording of a whole system.
#[derive(Debug, Default)]
pub(crate) struct SystemVcpu {
    /// The translation table at the start of the recording was recorded.
    has_table: bool,
    /// The running block ends in an instruction after which other processors may run.
    sleeps: bool,
    /// Address of the running block as it was translated.
    block_pc: u64,
    /// Recently used pages, by a hash of their address: virtual page with its uses, physical page.
    pages: Vec<(u64, u64)>,
}

impl SystemVcpu {
    /// Forgets the pages of the lower half, because another address space begins.
    fn leave_space(&mut self) {
        for entry in self.pages.iter_mut().filter(|(virt, _)| virt >> 63 == 0) {
            *entry = (0, 0);
        }
    }
}

/// Registers the callbacks that are needed until the recording of a system with this number of
/// processors begins.
///
/// # Errors
/// If the engine does not show which of several processors runs.
pub(crate) fn register(id: PluginId, start: Start, processors: c_int) -> Result<(), String> {
    HAS_SEVERAL.store(processors > 1, Ordering::Relaxed);
    if has_several() && !turns::are_shown() {
        return Err("this build of the engine does not show which of several processors runs (it \
                    exports no `current_cpu`, as Debian's does): record one processor"
            .to_owned());
    }
    // SAFETY: the identity comes from the engine; callbacks live as long as the process.
    unsafe {
        qemu::qemu_plugin_register_vcpu_init_cb(id, on_vcpu);
    }
    match start {
        Start::Boot => begin(id),
        Start::Marker => wait(id),
        Start::At(pc) => {
            START_AT.store(pc, Ordering::Relaxed);
            wait(id);
        }
    }
    Ok(())
}

/// Returns whether the system has several processors.
#[inline]
pub(crate) fn has_several() -> bool {
    HAS_SEVERAL.load(Ordering::Relaxed)
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
    if has_several() {
        // The others may run already.
        tickets::share();
    }
    // SAFETY: as in `register`.
    unsafe {
        qemu::qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
        qemu::qemu_plugin_register_atexit_cb(id, on_exit, std::ptr::null_mut());
    }
}

extern "C" fn on_vcpu(_id: PluginId, vcpu: c_uint) {
    if has_several() {
        turns::announce(vcpu);
    }
    if let Some(plugin) = active() {
        let found = u64::from(registers::find());
        plugin.memory.control(control::HAS_REGISTERS).store(found, Ordering::Relaxed);
    }
}

/// Finds the host address of physical memory from the first block, which runs with address
/// translation off. The engine keeps one callback of a kind, so those of translation call this.
///
/// # Safety
/// `block` must come from the translation callback that is running.
unsafe fn note_memory(block: *mut Block) {
    if HOST_OF_PHYSICAL.load(Ordering::Relaxed) != 0 {
        return;
    }
    // SAFETY: as promised by the caller; a block has at least one instruction.
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
        note_memory(block);
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
    with_vcpu(plugin, turns::running(vcpu), |state| {
        state.stream.push(Word::Started(index + 1).encode())
    });
    publish_all();
    let value = registers::x(0).unwrap_or(u64::MAX);
    plugin.memory.control(control::DONE_VALUE).store(value, Ordering::Relaxed);
    plugin.memory.control(control::DONE).store(1, Ordering::Release);
    IS_OFF.store(true, Ordering::Relaxed);
}

extern "C" fn on_translate(_id: PluginId, block: *mut Block) {
    let Some(plugin) = active() else { return };
    // SAFETY: `block` and its instructions are valid while this callback runs.
    unsafe {
        note_memory(block);
        instrument(plugin, block, &instructions(block));
    }
}

/// A translated block, kept for as long as the engine may run it.
#[derive(Debug)]
struct Translated {
    id: u32,
    n_insns: u64,
    pc: u64,
    /// Physical address of its first word, if the engine's memory was found.
    physical: Option<u64>,
    /// Its last instruction may end the turn of the processor: `WFI`, `WFE`, or a call of the
    /// firmware, which may turn the processor off or suspend it.
    sleeps: bool,
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
        let base = HOST_OF_PHYSICAL.load(Ordering::Relaxed);
        let physical = host.checked_sub(base).filter(|_| host != 0 && base != 0);
        let sleeps = words.last().is_some_and(|word| may_sleep(*word));
        let kept = Box::new(Translated { id, n_insns: insns.len() as u64, pc, physical, sleeps });
        let data = std::ptr::from_ref::<Translated>(Box::leak(kept)).cast_mut().cast();
        // Any block may be the first of a processor. At its start no register needs to be saved.
        let flags = qemu::CB_READ_REGS;
        qemu::qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, flags, data);
        for (index, amount) in counting::points(&words, sim_isa::never_traps) {
            if has_several() {
                let (flags, amount) = (qemu::CB_NO_REGS, amount as *mut c_void);
                let insn = pointers[index];
                qemu::qemu_plugin_register_vcpu_insn_exec_cb(insn, on_count, flags, amount);
            } else {
                plugin.counter.count(pointers[index], amount);
            }
        }
        for (index, &(insn, word)) in insns.iter().enumerate() {
            instrument_one(insn, word, index as u64, pc);
        }
    }
}

/// Returns true if another processor may have to wake or start this one after the instruction.
fn may_sleep(word: u32) -> bool {
    matches!(
        decode(word).special,
        Special::Wait | Special::HypervisorCall | Special::SecureMonitorCall
    )
}

/// # Safety
/// `insn` must come from the translation callback that is running.
unsafe fn instrument_one(insn: *mut Insn, word: u32, index: u64, block_pc: u64) {
    let place = (index << 32 | u64::from(word)) as *mut c_void;
    // SAFETY: as promised by the caller; user data are numbers, never dereferenced.
    unsafe {
        let flags = qemu::CB_NO_REGS;
        let order = Order::of(word).filter(|_| has_several());
        if order.is_some_and(|order| order.before) {
            qemu::qemu_plugin_register_vcpu_insn_exec_cb(insn, on_ordered, flags, place);
        }
        if may_access(word) {
            // Pass the address, not the index: the engine may run the instruction again in a block
            // of its own.
            let pc = (block_pc + 4 * index) as *mut c_void;
            let is_ordered = order.is_some_and(|order| order.after);
            let callback = if is_ordered { on_ordered_access } else { on_access };
            qemu::qemu_plugin_register_vcpu_mem_cb(insn, callback, flags, qemu::MEM_RW, pc);
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
    let vcpu = turns::running(vcpu);
    let now = plugin.now(vcpu);
    if let Some(before) = turns::begin(vcpu) {
        with_vcpu(plugin, before, |state| {
            state.end_turn(now);
            true
        });
    }
    with_vcpu(plugin, vcpu, |state| {
        state.begin_turn(now);
        state.system.block_pc = block.pc;
        if !std::mem::replace(&mut state.system.has_table, true)
            && let Some(table) = registers::table()
        {
            state.stream.push_record(&[Word::Table.encode(), table]);
        }
        let wakes = std::mem::replace(&mut state.system.sleeps, block.sleeps);
        let is_entry = block.pc.is_multiple_of(VECTOR_BYTES);
        let is_interrupted = is_entry && note_exception(state, block.pc);
        if wakes || is_interrupted {
            // Another processor may be the reason.
            state.ticket(NEXT_BLOCK);
        }
        let goes_on = state.begin_block(block.id, block.n_insns, now, || true);
        if let Some(physical) = block.physical {
            note_page(state, block.pc, physical, page::EXECUTE);
        }
        goes_on
    });
}

/// Records an exception if `pc` is an entry of the vector table. Returns true if it is an
/// interrupt.
fn note_exception(state: &mut Vcpu, pc: u64) -> bool {
    let is_entry = registers::vectors().is_some_and(|table| pc.wrapping_sub(table) < VECTORS_BYTES);
    let vector = (pc % VECTORS_BYTES) as u32;
    if is_entry && let Some((syndrome, link)) = registers::exception() {
        state.stream.push_record(&[Word::Exception(vector).encode(), syndrome, link]);
    }
    is_entry && wire::is_interrupt(vector)
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
    let order = NEXT_PAGE.fetch_add(1, Ordering::Relaxed);
    state.stream.push_record(&[Word::Page(usage).encode(), virt, physical, order]);
}

extern "C" fn on_access(vcpu: c_uint, info: MemInfo, addr: u64, data: *mut c_void) {
    access(vcpu, info, addr, data, false);
}

/// Callback of an acquire: an instruction has read data of other processors.
extern "C" fn on_ordered_access(vcpu: c_uint, info: MemInfo, addr: u64, data: *mut c_void) {
    access(vcpu, info, addr, data, true);
}

/// Callback of a release: an instruction that others may observe is about to run.
extern "C" fn on_ordered(vcpu: c_uint, data: *mut c_void) {
    let Some(plugin) = active() else { return };
    with_vcpu(plugin, turns::running(vcpu), |state| state.ticket((data as usize >> 32) as u32));
}

/// Records an access, and the ticket of one that acquires.
#[inline]
fn access(vcpu: c_uint, info: MemInfo, addr: u64, data: *mut c_void, acquires: bool) {
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
    with_vcpu(plugin, turns::running(vcpu), |state| {
        if let Some(physical) = physical {
            note_page(state, addr, physical, usage);
        }
        // A block does not cross a page boundary.
        let distance = (data as u64).wrapping_sub(state.system.block_pc) % PAGE_BYTES;
        let index = (distance / 4) as u32 % MAX_BLOCK as u32;
        let word = Word::Access { index, addr };
        state.stream.push(word.encode()) && (!acquires || state.ticket(index))
    });
}

/// Callback that counts instructions of a system with several processors.
extern "C" fn on_count(_vcpu: c_uint, amount: *mut c_void) {
    turns::count(amount as u64);
}

extern "C" fn on_operand(vcpu: c_uint, data: *mut c_void) {
    let Some(plugin) = active() else { return };
    let (word, index) = (data as usize as u32, (data as usize >> 32) as u32);
    with_vcpu(plugin, turns::running(vcpu), |state| {
        if ContextRegister::written_by(word) == Some(ContextRegister::TableBase0) {
            state.system.leave_space();
        }
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
    with_vcpu(plugin, turns::running(vcpu), |state| {
        state.stream.push_record(&[Word::Predicate(index).encode(), u64::from(bits)])
    });
}
