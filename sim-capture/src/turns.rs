//! The turns of the processors of a system that has several.
//!
//! From version 10.0 on, QEMU gives callbacks the number of the virtual CPU that translated the
//! code if all of them run in turn on one thread, and its inline counters then write outside their
//! memory. So this module finds the processor that runs from the engine's own variable, and counts
//! in callbacks.

use crate::plugin::{IS_OFF, active};
use crate::wire::{MAX_PROCESSORS, control};
use std::ffi::{c_uint, c_void};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// The address of the engine's variable, of the thread that runs all processors. Null for a system
/// of one processor.
static RUNNING: AtomicPtr<AtomicPtr<c_void>> = AtomicPtr::new(std::ptr::null_mut());
/// The processors, as the engine's variable names them.
static PROCESSORS: [AtomicPtr<c_void>; MAX_PROCESSORS] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; MAX_PROCESSORS];
/// Number of instructions that all processors started.
static STARTED: AtomicU64 = AtomicU64::new(0);
/// Number of the processor whose turn it is.
static TURN: AtomicU32 = AtomicU32::new(u32::MAX);

/// Returns the engine's variable of this thread; null if the engine does not export it.
fn variable() -> *mut AtomicPtr<c_void> {
    // SAFETY: the name is a C string. The engine's variable is a pointer, and lives as long as the
    // thread.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"current_cpu".as_ptr()) }.cast()
}

/// Returns whether the engine shows which processor runs.
pub(crate) fn are_shown() -> bool {
    !variable().is_null()
}

/// Notes the processor with number `vcpu`, which the engine has just announced on its thread. Ends
/// the recording if the engine's variable does not name it.
pub(crate) fn announce(vcpu: c_uint) {
    let variable = variable();
    // SAFETY: `variable` is null or the engine's variable of this thread.
    let Some(running) = (unsafe { variable.as_ref() }) else { return fail() };
    let running = running.load(Ordering::Relaxed);
    match PROCESSORS.get(vcpu as usize) {
        Some(place) if !running.is_null() && number_of(running).is_none() => {
            place.store(running, Ordering::Relaxed);
            RUNNING.store(variable, Ordering::Relaxed);
        }
        _ => fail(),
    }
}

/// Returns the number of the processor with this name.
#[inline]
fn number_of(name: *mut c_void) -> Option<c_uint> {
    let is_it = |place: &AtomicPtr<c_void>| place.load(Ordering::Relaxed) == name;
    PROCESSORS.iter().position(is_it).map(|number| number as c_uint)
}

/// Ends the recording, because it is not known which processor runs. The reader refuses it.
#[cold]
pub(crate) fn fail() {
    if let Some(plugin) = active() {
        plugin.memory.control(control::UNKNOWN_PROCESSOR).store(1, Ordering::Relaxed);
        plugin.memory.control(control::DONE).store(1, Ordering::Release);
    }
    IS_OFF.store(true, Ordering::Relaxed);
}

/// Returns the number of the processor that runs, instead of `given`, the one for the callback.
/// Ends the recording if it is not known.
#[inline]
pub(crate) fn running(given: c_uint) -> c_uint {
    // SAFETY: null, or the variable of the thread that runs all processors, which is this one.
    let Some(running) = (unsafe { RUNNING.load(Ordering::Relaxed).as_ref() }) else { return given };
    let number = number_of(running.load(Ordering::Relaxed));
    number.unwrap_or_else(|| {
        fail();
        given
    })
}

/// Counts started instructions.
#[inline]
pub(crate) fn count(instructions: u64) {
    STARTED.store(started() + instructions, Ordering::Relaxed);
}

/// Returns the number of instructions that all processors started.
#[inline]
pub(crate) fn started() -> u64 {
    STARTED.load(Ordering::Relaxed)
}

/// Records that a block of processor `vcpu` begins. Returns the processor whose turn ended.
#[inline]
pub(crate) fn begin(vcpu: c_uint) -> Option<c_uint> {
    let before = TURN.swap(vcpu, Ordering::Relaxed);
    (before != vcpu && before != u32::MAX).then_some(before)
}
