//! Plugin entry points: instrumentation at translation, and the callbacks of running code.
//!
//! At translation a block gets its number, a callback on execution, and a callback for each
//! instruction that may access memory. Running code only appends words to the shared memory.

use crate::code::CodeTable;
use crate::counting;
use crate::gate::{Gate, Marks};
use crate::guest;
use crate::memory::{self, SharedMemory, StreamWriter};
use crate::qemu::{self, Block, Counter, Info, Insn, MemInfo, PluginId};
use crate::system::{self, SystemVcpu};
use crate::wire::{self, PAGE_BYTES, Word, control};
use crate::{tickets, turns};
use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// API version, which the engine reads before it calls [`qemu_plugin_install`].
// SAFETY: the engine looks up this name, as a C int.
#[unsafe(no_mangle)]
#[allow(unreachable_pub, reason = "exported by name")]
pub static qemu_plugin_version: c_int = qemu::VERSION;

/// Largest number of virtual CPUs. Numbers are reused after a thread ended.
const MAX_VCPUS: usize = wire::MAX_VCPUS;

/// System call that sets a signal handler. Its second argument points to the handler's address.
const RT_SIGACTION: i64 = 134;

/// Lowest bit of the marks in the user data of a block callback. Below them are the number of
/// instructions and the block number.
const MARKS_SHIFT: u32 = 48;

pub(crate) struct Plugin {
    pub(crate) memory: SharedMemory,
    pub(crate) counter: Counter,
    pub(crate) code: Mutex<CodeTable>,
    gate: Gate,
    count_only: bool,
    /// The engine runs a whole system. Its virtual CPUs run in turn, on one thread.
    is_system: bool,
}

impl Plugin {
    /// Returns the number of instructions started so far by `vcpu`, or by all processors of a
    /// system that has several.
    #[inline]
    pub(crate) fn now(&self, vcpu: c_uint) -> u64 {
        if system::has_several() { turns::started() } else { self.counter.now(vcpu) }
    }
}

pub(crate) static PLUGIN: OnceLock<Plugin> = OnceLock::new();
/// Set when recording has ended: in a forked child, or once the reader is gone.
pub(crate) static IS_OFF: AtomicBool = AtomicBool::new(false);
/// Host address of the guest's address 0.
static GUEST_BASE: AtomicU64 = AtomicU64::new(0);
static VCPUS: [VcpuCell; MAX_VCPUS] = [const { VcpuCell(UnsafeCell::new(None)) }; MAX_VCPUS];

/// Recording state of one virtual CPU.
pub(crate) struct Vcpu {
    pub(crate) stream: StreamWriter,
    /// State that only the recording of a whole system needs.
    pub(crate) system: SystemVcpu,
    /// Value of the counter at the end of the running block.
    expected_count: u64,
    /// The end of the running block was recorded with the end of the processor's turn.
    has_paused_turn: bool,
    /// Value of the counter at the start of the running block; for a paused thread, at the pause.
    block_start: u64,
    /// True outside the recorded regions.
    is_paused: bool,
}

impl Vcpu {
    /// Records that the thread continues unrecorded with block `id`.
    #[cold]
    fn pause(&mut self, id: u32, now: u64, is_exact: impl Fn() -> bool) -> bool {
        if self.is_paused {
            return true;
        }
        self.note_partial_block(now, is_exact);
        self.is_paused = true;
        self.block_start = now;
        self.stream.push(Word::Paused(id).encode())
    }

    /// Takes a ticket for instruction `index` of the running block.
    #[inline]
    pub(crate) fn ticket(&mut self, index: u32) -> bool {
        self.is_paused || tickets::take(index).is_none_or(|words| self.stream.push_record(&words))
    }

    /// Records that the thread is recorded again.
    #[cold]
    fn resume(&mut self, now: u64, is_exact: impl Fn() -> bool) {
        let unrecorded = if is_exact() { now - self.block_start } else { wire::UNKNOWN };
        self.is_paused = false;
        self.expected_count = now;
        self.stream.push_record(&[Word::Resumed.encode(), unrecorded]);
    }

    /// Records the length of the previous block if it was left early. The count must be exact.
    #[inline]
    fn note_partial_block(&mut self, now: u64, is_exact: impl Fn() -> bool) {
        if now != self.expected_count && is_exact() {
            let started = now.wrapping_sub(self.block_start) as u32;
            self.stream.push(Word::Started(started).encode());
        }
    }

    /// Records the end of the running block, because another processor runs now.
    pub(crate) fn end_turn(&mut self, now: u64) {
        self.note_partial_block(now, || true);
        self.has_paused_turn = true;
    }

    /// Begins another turn of the processor.
    #[inline]
    pub(crate) fn begin_turn(&mut self, now: u64) {
        if std::mem::take(&mut self.has_paused_turn) {
            self.expected_count = now;
        }
    }

    /// Records that block `id` of `n_insns` instructions begins at counter value `now`. First
    /// records the length of the previous block if it was left early and the count is exact
    /// (`is_exact`).
    #[inline]
    pub(crate) fn begin_block(
        &mut self,
        id: u32,
        n_insns: u64,
        now: u64,
        is_exact: impl Fn() -> bool,
    ) -> bool {
        self.note_partial_block(now, is_exact);
        self.block_start = now;
        self.expected_count = now + n_insns;
        self.stream.push(Word::Block(id).encode())
    }
}

struct VcpuCell(UnsafeCell<Option<Vcpu>>);

// SAFETY: only callbacks of its virtual CPU use a cell, and they run on that CPU's thread. The
// virtual CPUs of a system share one thread.
unsafe impl Sync for VcpuCell {}

/// Installs the plugin. The engine calls it once.
///
/// # Safety
/// The engine passes a valid `info` and `argc` valid C strings.
#[unsafe(no_mangle)]
#[allow(unreachable_pub, reason = "exported by name")]
pub unsafe extern "C" fn qemu_plugin_install(
    id: PluginId,
    info: *const Info,
    argc: c_int,
    argv: *const *const c_char,
) -> c_int {
    let arguments = (0..argc.max(0) as usize).map(|index| {
        // SAFETY: the engine passes `argc` valid C strings.
        unsafe { CStr::from_ptr(*argv.add(index)) }.to_string_lossy().into_owned()
    });
    // SAFETY: the engine passes a valid description of itself.
    let (version, processors) = unsafe { (&(*info).version, (*info).smp_vcpus) };
    match install(version, arguments) {
        Ok(None) => {
            register(id);
            0
        }
        Ok(Some(start)) => match system::register(id, start, processors) {
            Ok(()) => 0,
            Err(message) => {
                turns::fail();
                print_error(&message);
                -1
            }
        },
        Err(message) => {
            print_error(&message);
            -1
        }
    }
}

#[allow(clippy::print_stderr, reason = "a plugin that cannot start has no other channel")]
fn print_error(message: &str) {
    eprintln!("sim-capture: {message}");
}

fn install(
    version: &qemu::VersionRange,
    arguments: impl Iterator<Item = String>,
) -> Result<Option<system::Start>, String> {
    let mut path = None;
    let mut count_only = false;
    let mut system = None;
    for argument in arguments {
        match argument.split_once('=') {
            Some(("memory", value)) => path = Some(value.to_owned()),
            // The plugin was loaded from this descriptor.
            Some(("plugin", descriptor)) => memory::close(descriptor)?,
            Some(("mode", "count")) => count_only = true,
            Some(("mode", "trace")) => {}
            Some(("system", start)) => system = Some(system::Start::parse(start)?),
            _ => return Err(format!("unknown argument {argument:?}")),
        }
    }
    let path = path.ok_or("no memory=PATH given: this plugin is started by `n2sim capture`")?;
    let memory = SharedMemory::map(&path)?;
    end_with_the_reader();
    let definitions = StreamWriter::new(memory, wire::DEFINITIONS).ok_or("no free slot")?;
    let plugin = Plugin {
        memory,
        counter: Counter::new(),
        code: Mutex::new(CodeTable::new(definitions)),
        gate: Gate::new(memory),
        count_only,
        is_system: system.is_some(),
    };
    memory.control(control::API_MIN).store(version.min as u64, Ordering::Relaxed);
    memory.control(control::API_MAX).store(version.cur as u64, Ordering::Relaxed);
    memory.control(control::MAGIC).store(wire::MAGIC, Ordering::Release);
    PLUGIN.set(plugin).map_err(|_| "loaded twice into one process".to_owned())?;
    Ok(system)
}

/// Requests `SIGKILL` for this process when its parent ends, however it ends. Otherwise the
/// program, which runs only to be recorded, would continue unnoticed.
fn end_with_the_reader() {
    // SAFETY: sets an attribute of this process; a kernel without it returns an error.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

fn register(id: PluginId) {
    // SAFETY: the identity comes from the engine, and all callbacks live as long as the process.
    // The fork handlers use only atomics.
    unsafe {
        qemu::qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
        qemu::qemu_plugin_register_vcpu_exit_cb(id, on_vcpu_exit);
        qemu::qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
        qemu::qemu_plugin_register_vcpu_syscall_ret_cb(id, on_syscall_return);
        qemu::qemu_plugin_register_atexit_cb(id, on_exit, std::ptr::null_mut());
        libc::pthread_atfork(None, Some(after_fork_in_parent), Some(after_fork_in_child));
    }
}

/// Stops recording in the child of a fork, which shares the memory but has no reader.
extern "C" fn after_fork_in_child() {
    IS_OFF.store(true, Ordering::Relaxed);
}

extern "C" fn after_fork_in_parent() {
    if let Some(plugin) = active() {
        plugin.memory.control(control::FORKS).fetch_add(1, Ordering::Relaxed);
    }
}

#[inline]
pub(crate) fn active() -> Option<&'static Plugin> {
    if IS_OFF.load(Ordering::Relaxed) { None } else { PLUGIN.get() }
}

extern "C" fn on_translate(_id: PluginId, block: *mut Block) {
    let Some(plugin) = active() else { return };
    let start = plugin.memory.control(control::START_CODE);
    // SAFETY: `block` and its instructions are valid while this callback runs. The program is
    // loaded before its code is translated.
    unsafe {
        if start.load(Ordering::Relaxed) == 0 {
            start.store(qemu::qemu_plugin_start_code(), Ordering::Relaxed);
        }
        let n = qemu::qemu_plugin_tb_n_insns(block);
        let insns: Vec<*mut Insn> =
            (0..n).map(|index| qemu::qemu_plugin_tb_get_insn(block, index)).collect();
        let words: Vec<u32> = insns.iter().map(|&insn| qemu::word(insn)).collect();
        for (index, amount) in counting::points(&words, sim_isa::never_faults) {
            plugin.counter.count(insns[index], amount);
        }
        if !plugin.count_only {
            instrument(plugin, block, &insns, &words);
        }
    }
}

/// # Safety
/// `block` and `insns` must come from the translation callback that is running. `words` are the
/// instructions.
unsafe fn instrument(plugin: &Plugin, block: *mut Block, insns: &[*mut Insn], words: &[u32]) {
    // SAFETY: as promised by the caller; user data are numbers, never dereferenced.
    unsafe {
        let pc = qemu::qemu_plugin_tb_vaddr(block);
        let id = {
            let mut code = plugin.code.lock().unwrap_or_else(PoisonError::into_inner);
            send_pages(plugin, &mut code, insns);
            send_files(&mut code, insns);
            code.block(pc, words)
        };
        let Some(id) = id else { return };
        let start = plugin.memory.control(control::START_CODE).load(Ordering::Relaxed);
        let marks = plugin.gate.marks(pc, words, start);
        let data = (marks as usize) << MARKS_SHIFT | insns.len() << 32 | id as usize;
        let flags = qemu::CB_NO_REGS;
        qemu::qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, flags, data as *mut c_void);
        for (index, (&insn, &word)) in insns.iter().zip(words).enumerate() {
            let (data, ordering) = (index as *mut c_void, sim_isa::Ordering::of(word));
            if ordering.is_some_and(|ordering| ordering.before) {
                qemu::qemu_plugin_register_vcpu_insn_exec_cb(insn, on_ordered, flags, data);
            }
            if sim_isa::may_access(word) {
                let is_ordered = ordering.is_some_and(|ordering| ordering.after);
                let callback = if is_ordered { on_ordered_access } else { on_access };
                qemu::qemu_plugin_register_vcpu_mem_cb(insn, callback, flags, qemu::MEM_RW, data);
            }
        }
    }
}

/// Sends the pages of a block: the wrong path fetches from them.
///
/// # Safety
/// `insns` must come from the translation callback that is running.
pub(crate) unsafe fn send_pages(plugin: &Plugin, code: &mut CodeTable, insns: &[*mut Insn]) {
    let mut last_page = None;
    for &insn in insns {
        // SAFETY: as promised by the caller.
        let (va, host) = unsafe {
            (qemu::qemu_plugin_insn_vaddr(insn), qemu::qemu_plugin_insn_haddr(insn) as usize)
        };
        let page = va & !(PAGE_BYTES - 1);
        if last_page == Some(page) {
            continue;
        }
        last_page = Some(page);
        let offset = (va - page) as usize;
        if host == 0 || host % PAGE_BYTES as usize != offset {
            plugin.memory.control(control::PAGES_LOST).fetch_add(1, Ordering::Relaxed);
            continue;
        }
        let words = PAGE_BYTES as usize / size_of::<u64>();
        // SAFETY: host and guest page have the same offset, so the whole host page that holds the
        // instruction is mapped and readable.
        let content = unsafe { guest::copy((host - offset) as *const u64, words) };
        code.page(page, host as u64, &content);
        GUEST_BASE.store((host as u64).wrapping_sub(va), Ordering::Relaxed);
    }
}

/// Sends the files that hold the first and the last instruction of a block: they name its code.
///
/// # Safety
/// `insns` must come from the translation callback that is running.
unsafe fn send_files(code: &mut CodeTable, insns: &[*mut Insn]) {
    for &insn in [insns.first(), insns.last()].into_iter().flatten() {
        // SAFETY: as promised by the caller.
        let (va, host) = unsafe {
            (qemu::qemu_plugin_insn_vaddr(insn), qemu::qemu_plugin_insn_haddr(insn) as u64)
        };
        if host != 0 {
            code.file(va, host);
        }
    }
}

/// Runs `work` on the state of `vcpu`. The first use begins its stream.
#[inline]
pub(crate) fn with_vcpu(
    plugin: &'static Plugin,
    vcpu: c_uint,
    work: impl FnOnce(&mut Vcpu) -> bool,
) {
    let Some(cell) = VCPUS.get(vcpu as usize) else {
        plugin.memory.control(control::BEYOND).store(1, Ordering::Relaxed);
        return;
    };
    // SAFETY: only this virtual CPU's thread uses the cell, and callbacks do not nest.
    let state = unsafe { &mut *cell.0.get() };
    if state.is_none() {
        *state = begin_stream(plugin, vcpu);
    }
    if let Some(vcpu) = state
        && !work(vcpu)
    {
        IS_OFF.store(true, Ordering::Relaxed);
    }
}

/// Publishes the streams of all virtual CPUs of a system at the end of its recording.
pub(crate) fn publish_all() {
    for cell in &VCPUS {
        // SAFETY: the virtual CPUs of a system run in turn on this thread, and callbacks do not
        // nest.
        if let Some(state) = unsafe { &mut *cell.0.get() } {
            state.stream.publish();
        }
    }
}

#[cold]
fn begin_stream(plugin: &Plugin, vcpu: c_uint) -> Option<Vcpu> {
    let streams = plugin.memory.control(control::STREAMS);
    let number = if plugin.is_system {
        // A processor keeps its number, whenever it begins.
        streams.fetch_max(u64::from(vcpu) + 1, Ordering::Relaxed);
        u64::from(vcpu)
    } else {
        streams.fetch_add(1, Ordering::Relaxed)
    };
    let now = plugin.now(vcpu);
    let stream = StreamWriter::new(plugin.memory, number);
    if stream.is_none() {
        plugin.memory.control(control::DROPPED).fetch_add(1, Ordering::Relaxed);
        IS_OFF.store(true, Ordering::Relaxed);
    }
    let stream = stream?;
    let system = SystemVcpu::default();
    let is_paused = !plugin.gate.is_open();
    tickets::thread_begins();
    let (expected_count, block_start, has_paused_turn) = (now, now, false);
    let mut vcpu = Vcpu { stream, system, expected_count, has_paused_turn, block_start, is_paused };
    vcpu.ticket(wire::NEXT_BLOCK).then_some(vcpu)
}

extern "C" fn on_block(vcpu: c_uint, data: *mut c_void) {
    let Some(plugin) = active() else { return };
    let data = data as usize;
    let (id, n_insns) = (data as u32, (data >> 32) as u64 & 0xffff);
    let now = plugin.counter.now(vcpu);
    // One counter for all threads does not give the count of a single one.
    let is_exact = || {
        qemu::COUNTS_PER_VCPU
            || plugin.memory.control(control::STREAMS).load(Ordering::Relaxed) == 1
    };
    // A new thread starts paused if the gate is closed before this block opens it.
    with_vcpu(plugin, vcpu, |state| {
        if !plugin.gate.admits((data >> MARKS_SHIFT) as Marks) {
            return state.pause(id, now, is_exact);
        }
        if state.is_paused {
            state.resume(now, is_exact);
        }
        state.begin_block(id, n_insns, now, is_exact)
    });
}

extern "C" fn on_access(vcpu: c_uint, _info: MemInfo, addr: u64, data: *mut c_void) {
    let index = data as usize as u32;
    // SAFETY: only this virtual CPU's thread uses the cell, and callbacks do not nest. The block
    // has begun before, so a stream is there unless none could be begun.
    let state = VCPUS.get(vcpu as usize).and_then(|cell| unsafe { &mut *cell.0.get() }.as_mut());
    if let Some(state) = state
        && !IS_OFF.load(Ordering::Relaxed)
        && !state.is_paused
        && !state.stream.push(Word::Access { index, addr }.encode())
    {
        IS_OFF.store(true, Ordering::Relaxed);
    }
}

/// Callback of a release: an instruction that publishes data to other threads is about to run.
extern "C" fn on_ordered(vcpu: c_uint, data: *mut c_void) {
    let Some(plugin) = active() else { return };
    with_vcpu(plugin, vcpu, |state| state.ticket(data as usize as u32));
}

/// Callback of an acquire: an instruction has read data of other threads.
extern "C" fn on_ordered_access(vcpu: c_uint, info: MemInfo, addr: u64, data: *mut c_void) {
    on_access(vcpu, info, addr, data);
    on_ordered(vcpu, data);
}

#[allow(clippy::too_many_arguments, reason = "the engine's signature")]
extern "C" fn on_syscall(
    _id: PluginId,
    vcpu: c_uint,
    number: i64,
    x0: u64,
    x1: u64,
    x2: u64,
    x3: u64,
    x4: u64,
    x5: u64,
    _: u64,
    _: u64,
) {
    let Some(plugin) = active() else { return };
    let total = plugin.counter.total();
    plugin.memory.control(control::ENGINE_COUNT).store(total, Ordering::Relaxed);
    if plugin.count_only {
        return;
    }
    tickets::note_syscall(number, x0);
    with_vcpu(plugin, vcpu, |state| {
        let word = Word::SyscallEnter(number as u32).encode();
        if number == RT_SIGACTION
            && let Some(handler) = guest_word(x1)
        {
            let word = Word::Handler(x0 as u32).encode();
            state.stream.push_record(&[word, handler]);
        }
        if state.is_paused {
            return true;
        }
        // The system call is the last instruction of its block.
        let call = (state.expected_count - state.block_start).saturating_sub(1) as u32;
        state.ticket(call) && state.stream.push_record(&[word, x0, x1, x2, x3, x4, x5])
    });
}

/// Reads the 64-bit word at a guest address. Reads through the operating system, so that a bad
/// address returns `None` instead of raising a fault.
fn guest_word(addr: u64) -> Option<u64> {
    if addr == 0 {
        return None;
    }
    let mut value = 0u64;
    let host = addr.wrapping_add(GUEST_BASE.load(Ordering::Relaxed));
    let to = libc::iovec { iov_base: (&raw mut value).cast(), iov_len: size_of::<u64>() };
    let from = libc::iovec { iov_base: host as *mut c_void, iov_len: size_of::<u64>() };
    // SAFETY: the kernel checks the remote range and writes at most eight bytes to `value`.
    let read = unsafe { libc::process_vm_readv(libc::getpid(), &to, 1, &from, 1, 0) };
    (read == size_of::<u64>() as isize).then_some(value)
}

extern "C" fn on_syscall_return(_id: PluginId, vcpu: c_uint, number: i64, result: i64) {
    let Some(plugin) = active() else { return };
    if plugin.count_only {
        return;
    }
    with_vcpu(plugin, vcpu, |state| {
        let word = Word::SyscallReturn(number as u32).encode();
        // Other threads may have caused the return.
        state.is_paused
            || state.stream.push_record(&[word, result as u64]) && state.ticket(wire::NEXT_BLOCK)
    });
}

extern "C" fn on_vcpu_exit(_id: PluginId, vcpu: c_uint) {
    if active().is_none() {
        return;
    }
    if let Some(cell) = VCPUS.get(vcpu as usize) {
        // SAFETY: called on the thread of this virtual CPU, which runs no more code.
        let state = unsafe { &mut *cell.0.get() };
        if let Some(mut ended) = state.take() {
            ended.stream.publish();
        }
    }
}

pub(crate) extern "C" fn on_exit(_id: PluginId, _data: *mut c_void) {
    if let Some(plugin) = active() {
        let total = plugin.counter.total();
        plugin.memory.control(control::ENGINE_COUNT).store(total, Ordering::Relaxed);
        plugin.memory.control(control::EXITED).store(1, Ordering::Release);
    }
}
