//! The part of QEMU's plugin interface that the recorder uses, declared from its documented ABI.
//!
//! The source supports two families: API 1 (QEMU 6 to 8) and, with the feature `api-v2`, API 3 and
//! later (from QEMU 9.1). The latter has counters in scoreboards and copies instruction words out.

use std::ffi::{c_char, c_int, c_uint, c_void};

/// Identity of the plugin in the engine.
pub(crate) type PluginId = u64;
/// Description of an access, passed to a memory callback; opaque.
pub(crate) type MemInfo = u32;

/// Physical address of an access; opaque.
#[repr(C)]
pub(crate) struct Physical {
    _private: [u8; 0],
}

/// A block being translated; opaque.
#[repr(C)]
pub(crate) struct Block {
    _private: [u8; 0],
}

/// An instruction being translated; opaque.
#[repr(C)]
pub(crate) struct Insn {
    _private: [u8; 0],
}

/// Range of API versions that an engine supports, from the oldest to its own.
#[repr(C)]
pub(crate) struct VersionRange {
    pub(crate) min: c_int,
    pub(crate) cur: c_int,
}

/// Description of the engine, passed at installation.
#[repr(C)]
pub(crate) struct Info {
    pub(crate) target_name: *const c_char,
    pub(crate) version: VersionRange,
    pub(crate) system_emulation: bool,
    pub(crate) smp_vcpus: c_int,
    pub(crate) max_vcpus: c_int,
}

/// Flag of a callback that neither reads nor writes guest registers.
pub(crate) const CB_NO_REGS: c_int = 0;
/// Flag of a callback that reads guest registers.
pub(crate) const CB_READ_REGS: c_int = 1;
/// Kind of a memory callback on reads and writes.
pub(crate) const MEM_RW: c_int = 3;
/// Inline operation that adds to a 64-bit word.
pub(crate) const INLINE_ADD_U64: c_int = 0;

pub(crate) type TranslateCb = extern "C" fn(PluginId, *mut Block);
pub(crate) type ExecCb = extern "C" fn(c_uint, *mut c_void);
pub(crate) type MemCb = extern "C" fn(c_uint, MemInfo, u64, *mut c_void);
pub(crate) type VcpuCb = extern "C" fn(PluginId, c_uint);
pub(crate) type ExitCb = extern "C" fn(PluginId, *mut c_void);
pub(crate) type SyscallCb =
    extern "C" fn(PluginId, c_uint, i64, u64, u64, u64, u64, u64, u64, u64, u64);
pub(crate) type SyscallRetCb = extern "C" fn(PluginId, c_uint, i64, i64);

unsafe extern "C" {
    pub(crate) fn qemu_plugin_register_vcpu_tb_trans_cb(id: PluginId, cb: TranslateCb);
    pub(crate) fn qemu_plugin_register_vcpu_exit_cb(id: PluginId, cb: VcpuCb);
    pub(crate) fn qemu_plugin_register_atexit_cb(id: PluginId, cb: ExitCb, data: *mut c_void);
    pub(crate) fn qemu_plugin_register_vcpu_syscall_cb(id: PluginId, cb: SyscallCb);
    pub(crate) fn qemu_plugin_register_vcpu_syscall_ret_cb(id: PluginId, cb: SyscallRetCb);
    pub(crate) fn qemu_plugin_register_vcpu_tb_exec_cb(
        block: *mut Block,
        cb: ExecCb,
        flags: c_int,
        data: *mut c_void,
    );
    pub(crate) fn qemu_plugin_register_vcpu_mem_cb(
        insn: *mut Insn,
        cb: MemCb,
        flags: c_int,
        read_write: c_int,
        data: *mut c_void,
    );
    pub(crate) fn qemu_plugin_register_vcpu_init_cb(id: PluginId, cb: VcpuCb);
    pub(crate) fn qemu_plugin_register_vcpu_insn_exec_cb(
        insn: *mut Insn,
        cb: ExecCb,
        flags: c_int,
        data: *mut c_void,
    );
    pub(crate) fn qemu_plugin_reset(id: PluginId, cb: extern "C" fn(PluginId));
    pub(crate) fn qemu_plugin_get_hwaddr(info: MemInfo, addr: u64) -> *mut Physical;
    pub(crate) fn qemu_plugin_hwaddr_is_io(physical: *const Physical) -> bool;
    pub(crate) fn qemu_plugin_hwaddr_phys_addr(physical: *const Physical) -> u64;
    pub(crate) fn qemu_plugin_mem_is_store(info: MemInfo) -> bool;
    pub(crate) fn qemu_plugin_start_code() -> u64;
    pub(crate) fn qemu_plugin_tb_n_insns(block: *const Block) -> usize;
    pub(crate) fn qemu_plugin_tb_vaddr(block: *const Block) -> u64;
    pub(crate) fn qemu_plugin_tb_get_insn(block: *const Block, index: usize) -> *mut Insn;
    pub(crate) fn qemu_plugin_insn_vaddr(insn: *const Insn) -> u64;
    pub(crate) fn qemu_plugin_insn_haddr(insn: *const Insn) -> *mut c_void;
}

#[cfg(not(feature = "api-v2"))]
mod family {
    //! API 1: all virtual CPUs share one counter, a plain word.

    use super::{INLINE_ADD_U64, Insn};
    use std::ffi::{c_int, c_uint, c_void};
    use std::sync::atomic::{AtomicU64, Ordering};

    /// API version that this build requests.
    pub(crate) const VERSION: c_int = 1;
    /// True if [`Counter`] counts each virtual CPU separately.
    pub(crate) const COUNTS_PER_VCPU: bool = false;

    unsafe extern "C" {
        fn qemu_plugin_insn_data(insn: *const Insn) -> *const c_void;
        fn qemu_plugin_register_vcpu_insn_exec_inline(
            insn: *mut Insn,
            op: c_int,
            word: *mut c_void,
            amount: u64,
        );
    }

    /// Returns the A64 word of an instruction.
    ///
    /// # Safety
    /// `insn` must come from the translation callback that is running.
    pub(crate) unsafe fn word(insn: *const Insn) -> u32 {
        // SAFETY: the engine returns a pointer to the instruction's bytes, four for A64; they may
        // be unaligned.
        unsafe { qemu_plugin_insn_data(insn).cast::<u32>().read_unaligned() }
    }

    static COUNT: AtomicU64 = AtomicU64::new(0);

    /// Counter of started instructions, updated by translated code without a callback.
    #[derive(Clone, Copy)]
    pub(crate) struct Counter;

    impl Counter {
        /// Returns the process-wide counter.
        pub(crate) fn new() -> Counter {
            Counter
        }

        /// Makes `insn` add `amount` whenever it starts. Loses counts if several threads run.
        ///
        /// # Safety
        /// `insn` must come from the translation callback that is running.
        pub(crate) unsafe fn count(self, insn: *mut Insn, amount: u64) {
            // SAFETY: the word lives as long as the process; translated code adds to it.
            unsafe {
                qemu_plugin_register_vcpu_insn_exec_inline(
                    insn,
                    INLINE_ADD_U64,
                    COUNT.as_ptr().cast(),
                    amount,
                );
            }
        }

        /// Returns the number of instructions started so far.
        pub(crate) fn now(self, _vcpu: c_uint) -> u64 {
            COUNT.load(Ordering::Relaxed)
        }

        /// Returns the number of instructions started so far by all virtual CPUs.
        pub(crate) fn total(self) -> u64 {
            COUNT.load(Ordering::Relaxed)
        }
    }
}

#[cfg(feature = "api-v2")]
mod family {
    //! API 3 and later: counters are in scoreboards, with one entry for each virtual CPU.

    use super::{INLINE_ADD_U64, Insn};
    use std::ffi::{c_int, c_uint, c_void};
    use std::sync::atomic::{AtomicPtr, Ordering};

    /// API version that this build requests; it copies instruction words out since version 3.
    pub(crate) const VERSION: c_int = 3;
    /// True if [`Counter`] counts each virtual CPU separately.
    pub(crate) const COUNTS_PER_VCPU: bool = true;

    /// A scoreboard; opaque.
    #[repr(C)]
    struct Scoreboard {
        _private: [u8; 0],
    }

    /// One 64-bit entry of a scoreboard; passed by value.
    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Entry {
        score: *mut Scoreboard,
        offset: usize,
    }

    unsafe extern "C" {
        fn qemu_plugin_insn_data(insn: *const Insn, to: *mut c_void, len: usize) -> usize;
        fn qemu_plugin_scoreboard_new(element_bytes: usize) -> *mut Scoreboard;
        fn qemu_plugin_u64_get(entry: Entry, vcpu: c_uint) -> u64;
        fn qemu_plugin_u64_sum(entry: Entry) -> u64;
        fn qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(
            insn: *mut Insn,
            op: c_int,
            entry: Entry,
            amount: u64,
        );
    }

    /// Returns the A64 word of an instruction.
    ///
    /// # Safety
    /// `insn` must come from the translation callback that is running.
    pub(crate) unsafe fn word(insn: *const Insn) -> u32 {
        let mut bytes = [0u8; 4];
        // SAFETY: the engine copies at most `len` bytes to the buffer.
        unsafe { qemu_plugin_insn_data(insn, bytes.as_mut_ptr().cast(), bytes.len()) };
        u32::from_le_bytes(bytes)
    }

    static SCORE: AtomicPtr<Scoreboard> = AtomicPtr::new(std::ptr::null_mut());

    /// Counter of started instructions, updated by translated code without a callback.
    #[derive(Clone, Copy)]
    pub(crate) struct Counter;

    impl Counter {
        /// Creates the process-wide counter. Called once, from the install function.
        pub(crate) fn new() -> Counter {
            // SAFETY: the engine creates a scoreboard at any time; it is never freed.
            let score = unsafe { qemu_plugin_scoreboard_new(size_of::<u64>()) };
            SCORE.store(score, Ordering::Release);
            Counter
        }

        fn entry(self) -> Entry {
            Entry { score: SCORE.load(Ordering::Acquire), offset: 0 }
        }

        /// Makes `insn` add `amount` whenever it starts.
        ///
        /// # Safety
        /// `insn` must come from the translation callback that is running.
        pub(crate) unsafe fn count(self, insn: *mut Insn, amount: u64) {
            // SAFETY: the scoreboard is never freed.
            unsafe {
                qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(
                    insn,
                    INLINE_ADD_U64,
                    self.entry(),
                    amount,
                );
            }
        }

        /// Returns the number of instructions started so far by `vcpu`.
        pub(crate) fn now(self, vcpu: c_uint) -> u64 {
            // SAFETY: the scoreboard has an entry for every virtual CPU that runs.
            unsafe { qemu_plugin_u64_get(self.entry(), vcpu) }
        }

        /// Returns the number of instructions started so far by all virtual CPUs.
        pub(crate) fn total(self) -> u64 {
            // SAFETY: the scoreboard is never freed.
            unsafe { qemu_plugin_u64_sum(self.entry()) }
        }
    }
}

pub(crate) use family::{COUNTS_PER_VCPU, Counter, VERSION, word};
