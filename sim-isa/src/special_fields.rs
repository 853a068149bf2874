//! Fields of system instructions, barriers and ordered accesses that the core reads when one of
//! them runs (Arm ARM C5, C6).

use crate::inst::{Inst, MemOp};

/// Accesses that a `DMB` or `DSB` orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierScope {
    /// `LD`: orders older loads before all younger accesses.
    Loads,
    /// `ST`: orders older stores before younger stores.
    Stores,
    /// All kinds.
    All,
}

impl Inst {
    /// Returns the accesses that a `DMB` or `DSB` orders (bits 9 and 8 of its option).
    pub fn barrier_scope(&self) -> BarrierScope {
        match self.word >> 8 & 0b11 {
            0b01 => BarrierScope::Loads,
            0b10 => BarrierScope::Stores,
            _ => BarrierScope::All,
        }
    }

    /// Returns true for `LDAPR` and `LDAPUR`, which may pass an older store-release.
    pub fn is_rcpc(&self) -> bool {
        self.mem.op == MemOp::Load && self.word >> 24 & 0x3f != 0b00_1000
    }

    /// Returns true for `STGM` and `STZGM`, whose block is aligned by hardware.
    pub fn stores_tag_block(&self) -> bool {
        self.word >> 24 == 0xD9 && self.word >> 10 & 0b11 == 0
    }

    /// Returns true for `WFI` and `WFIT`, false for `WFE` and `WFET`.
    pub fn waits_for_interrupt(&self) -> bool {
        self.word >> 5 & 1 == 1
    }

    /// Returns true for `S3_<op1>_C11_...` and `S3_<op1>_C15_...`, which are implementation
    /// defined.
    pub fn is_implementation_defined(&self) -> bool {
        self.word >> 19 & 1 == 1 && matches!(self.word >> 12 & 15, 11 | 15)
    }

    /// Returns true when a system register or operation exists at exception level `level`.
    /// `is_host` is `HCR_EL2.E2H` (Arm ARM, "op1 encodings used to access System registers by
    /// Exception level").
    pub fn exists_at(&self, level: u8, is_host: bool) -> bool {
        match self.word >> 16 & 7 {
            0..=2 => level >= 1,
            3 => true,
            4 => level >= 2,
            // `..._EL12` and `..._EL02` exist for a host only.
            5 => level >= 2 && is_host,
            _ => level >= 3,
        }
    }
}
