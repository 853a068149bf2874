//! Operations that manage caches and translations instead of moving data (Arm architecture, system
//! instructions `DC`, `IC`, `TLBI`, `AT` and writes of translation table base registers).
//!
//! The operand is the value of Xt in the architected format:
//!
//! - Operations by address and `AT`: a virtual address.
//! - Operations by set and way: level, way and set.
//! - `TLBI`: page number and ASID.
//! - Table base: the register's value, with the ASID in bits 63 to 48.

/// One maintenance operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Maintenance {
    /// `DC` by virtual address.
    DataByAddress(CacheOp),
    /// `DC` by set and way: `ISW`, `CSW`, `CISW`.
    DataBySetWay(CacheOp),
    /// `IC IVAU`.
    InstByAddress,
    /// `IC IALLU`; `broadcast` for `IALLUIS`.
    InstAll {
        /// Inner shareable: all cores.
        broadcast: bool,
    },
    /// `TLBI`.
    Tlb {
        /// TLB entries to invalidate.
        scope: TlbScope,
        /// Inner or outer shareable: all cores.
        broadcast: bool,
    },
    /// `AT S1E0R` ...: translates without an access. `write` is set for the forms that end in W.
    Translate {
        /// Whether write permission is checked.
        write: bool,
    },
    /// Write to `TTBR0_EL1` or `TTBR1_EL1` (under any name): another table, another ASID.
    TableBase {
        /// Upper half of the addresses (`TTBR1`).
        upper: bool,
    },
    /// Write to `VTTBR_EL2`: another stage 2 table, another VMID.
    Stage2TableBase,
}

impl Maintenance {
    /// Returns false when the name defines the whole operation, so that it needs no Xt.
    pub fn has_operand(self) -> bool {
        !matches!(
            self,
            Maintenance::InstAll { .. }
                | Maintenance::Tlb { scope: TlbScope::All | TlbScope::Vmid { .. }, .. }
        )
    }
}

/// Effect of `DC` on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CacheOp {
    /// `IVAC`, `ISW`.
    Invalidate,
    /// `CVAC`, `CSW`, `CVAP`, `CVADP`: to the point of coherency (or persistence).
    Clean,
    /// `CVAU`: to the point of unification, the L2.
    CleanToUnification,
    /// `CIVAC`, `CISW`.
    CleanInvalidate,
}

/// TLB entries that a `TLBI` invalidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TlbScope {
    /// Everything (`ALLE1`, `ALLE2`, `ALLE3`).
    All,
    /// Stage 1 of the current VMID (`VMALLE1`); with stage 2, `VMALLS12E1`.
    Vmid {
        /// Stage 2 entries too.
        stage2: bool,
    },
    /// One ASID (`ASIDE1`).
    Asid,
    /// One page of one ASID (`VAE1`, `VALE1`).
    Page {
        /// Only last-level entries; partial walk entries stay.
        last_level: bool,
    },
    /// One page of every ASID (`VAAE1`, `VAALE1`).
    PageAnyAsid {
        /// Only last-level entries.
        last_level: bool,
    },
    /// Stage 2 of one intermediate page (`IPAS2E1`).
    IntermediatePage,
}

/// Request of another agent for a line that this core may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Snoop {
    /// Read by another agent: the copy here becomes shared, and dirty data is returned (`SNP-S`).
    Shared,
    /// Write by another agent: the copy here is invalidated, and dirty data is returned (`SNP-U`).
    Unique,
    /// Read by another agent, with the data sent straight to the reader (`SNP-FWD`). The copy
    /// becomes shared.
    Forward,
    /// Clean by address from another core, broadcast: dirty data is written back, and a clean copy
    /// stays.
    Clean,
    /// Clean and invalidate by address from another core.
    CleanInvalidate,
    /// Invalidate by address from another core: the copy is invalidated, and its data is lost.
    Invalidate,
    /// Whole-line write by another agent: the copy is invalidated, and no data is returned.
    MakeInvalid,
}
