//! Effect of Linux system calls on the order among threads. A call that is not listed releases to
//! every later one, because it may write what another call reads.

use sim_trace::Call;

use super::edges::Scope;

/// Size of a futex in bytes.
const FUTEX_BYTES: u16 = 4;
/// `CLONE_THREAD`: a thread of this program, not a process.
const CLONE_THREAD: u64 = 0x1_0000;
/// `CLONE_CHILD_CLEARTID`: the kernel clears a word and wakes its waiters when the thread ends.
const CLONE_CHILD_CLEARTID: u64 = 0x20_0000;

/// System call numbers on AArch64.
mod number {
    pub(super) const EXIT: u64 = 93;
    pub(super) const FUTEX: u64 = 98;
    pub(super) const CLONE: u64 = 220;
    pub(super) const CLONE3: u64 = 435;
    /// Calls without effect on other threads: `exit_group`, `set_tid_address`, `set_robust_list`,
    /// `nanosleep`, `clock_gettime`, `clock_nanosleep`, `sched_setaffinity` to `sched_yield`,
    /// `sigaltstack`, `rt_sigaction`, `rt_sigprocmask`, `rt_sigreturn`, `getrusage`,
    /// `gettimeofday`, `getpid` to `gettid`, `sysinfo`, `brk`, `munmap`, `mremap`, `mmap`,
    /// `mprotect`, `madvise`, `prlimit64`, `getcpu`, `getrandom`, `rseq`.
    pub(super) const SILENT: [u64; 35] = [
        94, 96, 99, 101, 113, 115, 122, 123, 124, 132, 134, 135, 139, 165, 168, 169, 172, 173, 174,
        175, 176, 177, 178, 179, 214, 215, 216, 222, 226, 233, 261, 278, 293, 100, 136,
    ];
}

/// Futex operations without their flags.
mod futex {
    pub(super) const WAIT: u64 = 0;
    pub(super) const WAKE: u64 = 1;
    pub(super) const LOCK_PI: u64 = 6;
    pub(super) const UNLOCK_PI: u64 = 7;
    pub(super) const WAIT_BITSET: u64 = 9;
    pub(super) const WAKE_BITSET: u64 = 10;
}

/// Returns what a call releases when it begins, and what it acquires when it returns.
pub(super) fn scopes(call: &Call) -> (Scope, Scope) {
    match call.number {
        number::EXIT => (Scope::Exit, Scope::Nowhere),
        number::CLONE if call.args[0] & CLONE_THREAD == 0 => (Scope::Nowhere, Scope::Nowhere),
        number::CLONE => {
            let ending = (call.args[0] & CLONE_CHILD_CLEARTID != 0).then_some(call.args[4]);
            (Scope::Creation(ending), Scope::Nowhere)
        }
        number::CLONE3 => (Scope::Creation(None), Scope::Nowhere),
        number::FUTEX => futex_scopes(call),
        number if number::SILENT.contains(&number) => (Scope::Nowhere, Scope::Nowhere),
        _ => (Scope::Kernel, Scope::Kernel),
    }
}

/// Returns the scopes of a futex call: a wait comes after a wake of the same word. Other operations
/// move waiters to another word and are taken to wake anywhere.
fn futex_scopes(call: &Call) -> (Scope, Scope) {
    let word = Scope::Bytes(call.args[0], FUTEX_BYTES);
    match call.args[1] & 0x7f {
        futex::WAKE | futex::WAKE_BITSET | futex::UNLOCK_PI => (word, Scope::Nowhere),
        futex::WAIT | futex::WAIT_BITSET | futex::LOCK_PI => (Scope::Nowhere, word),
        _ => (Scope::Everywhere, Scope::Everywhere),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(number: u64, args: [u64; 6]) -> (Scope, Scope) {
        scopes(&Call { after: 1, number, args })
    }

    #[test]
    fn each_call_has_its_scopes() {
        let word = Scope::Bytes(0x8000, 4);
        let private = 0x80;
        let cases = [
            (of(98, [0x8000, private, 1, 0, 0, 0]), (Scope::Nowhere, word)),
            (of(98, [0x8000, 0x189, 1, 0, 0, 0]), (Scope::Nowhere, word)),
            (of(98, [0x8000, private | 1, 1, 0, 0, 0]), (word, Scope::Nowhere)),
            (
                of(98, [0x8000, private | 4, 1, 1, 0x9000, 0]),
                (Scope::Everywhere, Scope::Everywhere),
            ),
            (of(93, [0; 6]), (Scope::Exit, Scope::Nowhere)),
            (
                of(220, [0x3d_0f00, 0, 0, 0, 0x8000, 0]),
                (Scope::Creation(Some(0x8000)), Scope::Nowhere),
            ),
            (of(220, [0x1_0f00, 0, 0, 0, 0x8000, 0]), (Scope::Creation(None), Scope::Nowhere)),
            (of(220, [0x11, 0, 0, 0, 0, 0]), (Scope::Nowhere, Scope::Nowhere)),
            (of(435, [0x8000, 88, 0, 0, 0, 0]), (Scope::Creation(None), Scope::Nowhere)),
            (of(222, [0; 6]), (Scope::Nowhere, Scope::Nowhere)),
            (of(64, [1, 0x8000, 5, 0, 0, 0]), (Scope::Kernel, Scope::Kernel)),
        ];
        for (i, (found, expected)) in cases.into_iter().enumerate() {
            assert_eq!(found, expected, "case {i}");
        }
    }
}
