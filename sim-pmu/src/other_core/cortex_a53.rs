//! Events of the Cortex-A53 and their bits on its event bus (Cortex-A53 manual, table 12.28).

use super::OtherEvent;

/// Title of the condition that two instructions retired in one cycle. `INST_RETIRED` is raised with
/// it.
pub(super) const TWO_RETIRED: &str = "two instructions retired in one cycle";

const fn event(
    code: Option<u16>,
    mnemonic: Option<&'static str>,
    bus_bit: Option<u8>,
    trace_bit: Option<u8>,
    title: &'static str,
) -> OtherEvent {
    OtherEvent { code, mnemonic, bus_bit, trace_bit, title }
}

/// All rows of the table: numbered events and conditions of the bus.
#[rustfmt::skip]
pub(super) const EVENTS: &[OtherEvent] = &[
    event(Some(0x00), Some("SW_INCR"), None, None, "write to the software increment register"),
    event(Some(0x01), Some("L1I_CACHE_REFILL"), Some(0), Some(0), "refill of the L1 I-cache"),
    event(Some(0x02), Some("L1I_TLB_REFILL"), Some(1), Some(1), "refill of the L1 I-side TLB"),
    event(Some(0x03), Some("L1D_CACHE_REFILL"), Some(2), Some(2), "refill of the L1 D-cache"),
    event(Some(0x04), Some("L1D_CACHE"), Some(3), Some(3), "access to the L1 D-cache"),
    event(Some(0x05), Some("L1D_TLB_REFILL"), Some(4), Some(4), "refill of the L1 D-side TLB"),
    event(Some(0x06), Some("LD_RETIRED"), Some(5), Some(5), "retired load that passed its condition"),
    event(Some(0x07), Some("ST_RETIRED"), Some(6), Some(6), "retired store that passed its condition"),
    event(Some(0x08), Some("INST_RETIRED"), Some(7), Some(7), "retired instruction"),
    event(None, None, Some(8), Some(8), TWO_RETIRED),
    event(Some(0x09), Some("EXC_TAKEN"), Some(9), Some(9), "exception taken"),
    event(Some(0x0A), Some("EXC_RETURN"), Some(10), Some(10), "exception return"),
    event(Some(0x0B), Some("CID_WRITE_RETIRED"), Some(11), Some(11), "retired write to the context ID"),
    event(Some(0x0C), Some("PC_WRITE_RETIRED"), Some(12), Some(12), "retired write to the PC by software that passed its condition"),
    event(Some(0x0D), Some("BR_IMMED_RETIRED"), Some(13), Some(13), "retired immediate branch"),
    event(Some(0x0E), Some("BR_RETURN_RETIRED"), None, None, "retired procedure return that passed its condition"),
    event(Some(0x0F), Some("UNALIGNED_LDST_RETIRED"), Some(14), Some(14), "retired unaligned load or store that passed its condition"),
    event(Some(0x10), Some("BR_MIS_PRED"), Some(15), Some(15), "branch, mispredicted or not predicted"),
    event(Some(0x11), Some("CPU_CYCLES"), None, None, "cycle"),
    event(Some(0x12), Some("BR_PRED"), Some(16), Some(16), "branch that can be predicted"),
    event(Some(0x13), Some("MEM_ACCESS"), Some(17), Some(17), "data access to memory"),
    event(Some(0x14), Some("L1I_CACHE"), Some(18), Some(18), "access to the L1 I-cache"),
    event(Some(0x15), Some("L1D_CACHE_WB"), Some(19), Some(19), "write-back from the L1 D-cache"),
    event(Some(0x16), Some("L2D_CACHE"), Some(20), Some(20), "access to the L2 cache"),
    event(Some(0x17), Some("L2D_CACHE_REFILL"), Some(21), Some(21), "refill of the L2 cache"),
    event(Some(0x18), Some("L2D_CACHE_WB"), Some(22), Some(22), "write-back from the L2 cache"),
    event(Some(0x19), Some("BUS_ACCESS"), None, None, "access to the bus"),
    event(Some(0x1A), Some("MEMORY_ERROR"), None, None, "error in a memory of the core"),
    event(Some(0x1D), Some("BUS_CYCLES"), None, None, "cycle of the bus"),
    event(Some(0x1E), Some("CHAIN"), None, None, "overflow of the even counter below"),
    event(Some(0x60), Some("BUS_ACCESS_LD"), None, None, "access to the bus, read"),
    event(Some(0x61), Some("BUS_ACCESS_ST"), None, None, "access to the bus, write"),
    event(Some(0x7A), Some("BR_INDIRECT_SPEC"), None, None, "indirect branch, speculatively executed"),
    event(Some(0x86), Some("EXC_IRQ"), None, None, "IRQ taken"),
    event(Some(0x87), Some("EXC_FIQ"), None, None, "FIQ taken"),
    event(Some(0xC0), None, None, None, "request to external memory"),
    event(Some(0xC1), None, None, None, "request to external memory, not cacheable"),
    event(Some(0xC2), None, None, None, "refill by a prefetch"),
    event(Some(0xC3), None, None, None, "I-cache throttled"),
    event(Some(0xC4), None, None, None, "read-allocate mode entered"),
    event(Some(0xC5), None, None, None, "read-allocate mode"),
    event(Some(0xC6), None, None, None, "pre-decode error"),
    event(Some(0xC7), None, None, None, "store that stalls the pipeline, the store buffer being full"),
    event(Some(0xC8), None, None, None, "data snooped from another core for this one"),
    event(Some(0xC9), None, None, None, "conditional branch"),
    event(Some(0xCA), None, None, None, "indirect branch mispredicted"),
    event(Some(0xCB), None, None, None, "indirect branch mispredicted by its address"),
    event(Some(0xCC), None, None, None, "conditional branch mispredicted"),
    event(Some(0xD0), None, Some(23), Some(23), "memory error in the L1 I-cache"),
    event(Some(0xD1), None, Some(24), Some(24), "memory error in the L1 D-cache"),
    event(Some(0xD2), None, Some(25), Some(25), "memory error in the TLB"),
    event(Some(0xE0), None, None, None, "cycle with an empty queue of instructions and none of the causes below"),
    event(Some(0xE1), None, None, None, "cycle with an empty queue of instructions, an I-cache miss being served"),
    event(Some(0xE2), None, None, None, "cycle with an empty queue of instructions, a miss of the I-side micro-TLB being served"),
    event(Some(0xE3), None, None, None, "cycle with an empty queue of instructions, a pre-decode error being served"),
    event(Some(0xE4), None, None, None, "cycle with an interlock, neither of vector work nor of an address"),
    event(Some(0xE5), None, None, None, "cycle with an interlock by a load or store that waits for its address"),
    event(Some(0xE6), None, None, None, "cycle with an interlock by Advanced SIMD or floating-point work"),
    event(Some(0xE7), None, None, None, "cycle stalled at write-back by a load miss"),
    event(Some(0xE8), None, None, None, "cycle stalled at write-back by a store"),
    event(None, None, Some(26), None, "memory error in the L2 cache"),
    event(None, None, Some(27), None, "memory error in the snoop filter"),
    event(None, None, Some(28), None, "retention of the vector unit"),
    event(None, None, None, None, "retention of the core"),
];
