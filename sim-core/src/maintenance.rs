//! Operations that manage caches and translations instead of moving data (Arm architecture, system
//! instructions `DC`, `IC`, `TLBI`, `AT` and writes of translation table base registers).
//!
//! The operand is the value of Xt as the architecture lays it out: a virtual address for operations
//! by address and `AT`; level, way and set for those by set and way; page number and ASID for `TLBI`;
//! the register's value (ASID in bits 63 to 48) for a table base.

/// One operation.
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
        /// Which entries.
        scope: TlbScope,
        /// Inner or outer shareable: all cores.
        broadcast: bool,
    },
    /// `AT S1E0R` ... : translates without an access; `write` for the forms that end in W.
    Translate {
        /// Permission that is asked for.
        write: bool,
    },
    /// Write of `TTBR0_EL1` or `TTBR1_EL1` (under any name): another table, another ASID.
    TableBase {
        /// Upper half of the addresses (`TTBR1`).
        upper: bool,
    },
    /// Write of `VTTBR_EL2`: another stage 2 table, another VMID.
    Stage2TableBase,
}

impl Maintenance {
    /// False when the whole operation is in its name, so that it needs no Xt.
    pub fn has_operand(self) -> bool {
        !matches!(
            self,
            Maintenance::InstAll { .. }
                | Maintenance::Tlb { scope: TlbScope::All | TlbScope::Vmid { .. }, .. }
        )
    }
}

/// What `DC` does to a line.
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

/// Which TLB entries a `TLBI` takes away.
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
        /// Only entries of the last level: partial walk entries stay.
        last_level: bool,
    },
    /// One page of every ASID (`VAAE1`, `VAALE1`).
    PageAnyAsid {
        /// Only entries of the last level.
        last_level: bool,
    },
    /// Stage 2 of one intermediate page (`IPAS2E1`).
    IntermediatePage,
}

/// What another agent wants of a line that this core may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Snoop {
    /// Another reader: the copy here becomes shared, dirty data is given back (`SNP-S`).
    Shared,
    /// Another writer: the copy here goes, dirty data is given along (`SNP-U`).
    Unique,
    /// As `Shared`, with the data sent straight to the reader (`SNP-FWD`).
    Forward,
    /// Another core's clean by address, broadcast: dirty data goes out, the copy stays clean.
    Clean,
    /// Another core's clean and invalidate by address.
    CleanInvalidate,
    /// Another core's invalidation by address: the copy goes, its data is lost.
    Invalidate,
    /// A whole-line write by another agent: the copy goes without giving data.
    MakeInvalid,
}
