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
    /// Returns the operand of maintenance, the value of Xt: `recorded`, or 0 if Xt is the zero
    /// register, which recordings leave out, or if the operation takes no operand. `None` if it is
    /// not known.
    pub fn maintenance_operand(&self, recorded: Option<u64>) -> Option<u64> {
        let takes_one = self.maintenance.is_some_and(|what| what.has_operand());
        let is_zero = !takes_one || self.word & 31 == 31;
        recorded.or(is_zero.then_some(0))
    }

    /// Returns the accesses that a `DMB` or `DSB` orders (bits 9 and 8 of its option).
    pub fn barrier_scope(&self) -> BarrierScope {
        match self.word >> 8 & 0b11 {
            0b01 => BarrierScope::Loads,
            0b10 => BarrierScope::Stores,
            _ => BarrierScope::All,
        }
    }

    /// Returns true for a `DSB` that completes older maintenance of TLBs and instruction caches in
    /// all cores: its option orders reads and writes, and not for this core alone (Arm ARM B2.3).
    /// Inner and outer shareable are one domain in the model. A `DSB` with nXS leaves older
    /// operations without nXS out.
    pub fn completes_maintenance(&self) -> bool {
        const DSB: u32 = 0xd503_309f;
        const OPTION: u32 = 0xf00;
        // Reserved options without types are like `SY`; 0 and 4 are `SSBB` and `PSSBB`.
        let option = self.word >> 8 & 0xf;
        self.word & !OPTION == DSB && matches!(option, 0b0011 | 0b1011 | 0b1111 | 0b1000 | 0b1100)
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

#[cfg(test)]
mod tests {
    use crate::decode;

    #[test]
    fn the_operand_of_maintenance_is_zero_if_its_register_is_the_zero_register() {
        let operand = |word, recorded| decode(word).maintenance_operand(recorded);
        assert_eq!(operand(0xd508_83bf, None), Some(0), "tlbi vale1is, xzr");
        assert_eq!(operand(0xd508_83a1, None), None, "tlbi vale1is, x1, not recorded");
        assert_eq!(operand(0xd508_83a1, Some(7)), Some(7), "tlbi vale1is, x1");
        assert_eq!(operand(0xd508_831f, None), Some(0), "tlbi vmalle1is");
    }

    #[test]
    fn only_a_shareable_dsb_for_reads_and_writes_completes_maintenance() {
        let cases: [(u32, bool, &str); 15] = [
            (0xd503_3f9f, true, "dsb sy"),
            (0xd503_3b9f, true, "dsb ish"),
            (0xd503_339f, true, "dsb osh"),
            (0xd503_389f, true, "dsb #8, reserved"),
            (0xd503_3c9f, true, "dsb #12, reserved"),
            (0xd503_379f, false, "dsb nsh"),
            (0xd503_3e9f, false, "dsb st"),
            (0xd503_3a9f, false, "dsb ishst"),
            (0xd503_3d9f, false, "dsb ld"),
            (0xd503_309f, false, "ssbb"),
            (0xd503_349f, false, "pssbb"),
            (0xd503_3e3f, false, "dsb synxs"),
            (0xd503_3fbf, false, "dmb sy"),
            (0xd503_221f, false, "esb"),
            (0xd503_225f, false, "tsb csync"),
        ];
        for (word, completes, text) in cases {
            assert_eq!(decode(word).completes_maintenance(), completes, "{text}");
        }
    }
}
