//! System instructions that manage caches, translations and contexts: the fields of their words
//! (Arm ARM C5.3 to C5.5, "System instructions", and D17, "System registers").
//!
//! Operations on tags (`DC CGVAC`, `DC CGDSW` ...) act on the line that carries the tags, so their
//! descriptions equal those of the corresponding data operations. Out of scope: extensions after
//! Armv9.0 (`TLBI ...NXS`, `PAALL`).

use sim_core::{CacheOp, Maintenance, TlbScope};

/// Name under which a register that exists for several exception levels is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BankName {
    /// `..._EL1`; accesses the EL2 register from an EL2 with `HCR_EL2.E2H`.
    El1,
    /// `..._EL12`: the EL1 register, written from an EL2 with `HCR_EL2.E2H`.
    El12,
    /// `..._EL2`.
    El2,
}

/// A register write that the PMU counts when it retires (PMU guide 4.1.3, 4.12.1, 4.12.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextWrite {
    /// `TTBR0` or `TTBR1`.
    TableBase(BankName),
    /// `CONTEXTIDR`.
    ContextId(BankName),
    /// `PMSWINC_EL0`: the register operand names the counters.
    SoftwareIncrement,
}

/// Returns the fields of a `SYS` or `MSR` word: `op0, op1, CRn, CRm, op2`.
fn fields(word: u32) -> (u32, u32, u32, u32, u32) {
    (word >> 19 & 3, word >> 16 & 7, word >> 12 & 15, word >> 8 & 15, word >> 5 & 7)
}

/// Returns the maintenance operation of the word, or `None` for every other system instruction.
pub(crate) fn maintenance(word: u32) -> Option<Maintenance> {
    match fields(word) {
        (1, op1, 7, 5 | 1, op2) => inst_cache(word, op1, op2),
        (1, op1, 7, 8 | 9, op2) => translate(word, op1, op2),
        (1, op1, 7, crm, op2) => data_cache(op1, crm, op2),
        (1, op1, 8, crm, op2) => {
            let scope = tlb_scope(op1, crm, op2)?;
            Some(Maintenance::Tlb { scope, broadcast: is_broadcast(crm, op2) })
        }
        (3, 4, 2, 1, 0) => Some(Maintenance::Stage2TableBase),
        (3, 0 | 4 | 5, 2, 0, op2 @ (0 | 1)) => Some(Maintenance::TableBase { upper: op2 == 1 }),
        _ => None,
    }
}

/// Returns the counted register that an `MSR` writes, if any.
pub(crate) fn context_write(word: u32) -> Option<ContextWrite> {
    let (op0, op1, crn, crm, op2) = fields(word);
    if (op0, op1, crn, crm, op2) == (3, 3, 9, 12, 4) {
        return Some(ContextWrite::SoftwareIncrement);
    }
    let name = match op1 {
        0 => BankName::El1,
        4 => BankName::El2,
        5 => BankName::El12,
        _ => return None,
    };
    match (op0, crn, crm, op2) {
        (3, 2, 0, 0 | 1) => Some(ContextWrite::TableBase(name)),
        (3, 13, 0, 1) => Some(ContextWrite::ContextId(name)),
        _ => None,
    }
}

/// Returns the operation of `IC IALLUIS`, `IALLU`, `IVAU`.
fn inst_cache(word: u32, op1: u32, op2: u32) -> Option<Maintenance> {
    match (op1, word >> 8 & 15, op2) {
        (0, 1, 0) => Some(Maintenance::InstAll { broadcast: true }),
        (0, 5, 0) => Some(Maintenance::InstAll { broadcast: false }),
        (3, 5, 1) => Some(Maintenance::InstByAddress),
        _ => None,
    }
}

/// Returns the operation of `AT S1E0R` ... `S12E1W`, `S1E1RP`, `S1E1WP`.
fn translate(word: u32, op1: u32, op2: u32) -> Option<Maintenance> {
    let known = match (op1, word >> 8 & 15) {
        (0, 8) => op2 < 4,
        (0, 9) | (6, 8) => op2 < 2,
        (4, 8) => !matches!(op2, 2 | 3),
        _ => false,
    };
    known.then_some(Maintenance::Translate { write: op2 & 1 == 1 })
}

/// Returns the operation of `DC` by address (odd `op2`) and by set and way.
fn data_cache(op1: u32, crm: u32, op2: u32) -> Option<Maintenance> {
    let op = match crm {
        6 => CacheOp::Invalidate,
        10 | 12 | 13 => CacheOp::Clean,
        11 => CacheOp::CleanToUnification,
        14 => CacheOp::CleanInvalidate,
        _ => return None,
    };
    let has_tag_forms = crm != 11;
    match (op1, crm, op2) {
        (0, 6 | 10 | 14, 2 | 4 | 6) => Some(Maintenance::DataBySetWay(op)),
        (0, 6, 1 | 3 | 5) => Some(Maintenance::DataByAddress(op)),
        (3, 10..=14, 1) => Some(Maintenance::DataByAddress(op)),
        (3, 10..=14, 3 | 5) if has_tag_forms => Some(Maintenance::DataByAddress(op)),
        _ => None,
    }
}

/// Returns true for inner or outer shareable forms. Forms by intermediate address have their own
/// encodings.
fn is_broadcast(crm: u32, op2: u32) -> bool {
    match crm {
        0..=3 | 5 => true,
        4 => matches!(op2, 0 | 3 | 4 | 7),
        _ => false,
    }
}

/// Returns the scope of a `TLBI`. Range forms (`RVAE1` ...) are described by the first page of
/// their operand; the page count of the operand is not evaluated.
fn tlb_scope(op1: u32, crm: u32, op2: u32) -> Option<TlbScope> {
    let is_range = matches!(crm, 2 | 5 | 6);
    let last_level = op2 & 4 != 0;
    let scope = match (op1, crm, op2) {
        (4, 0, 1 | 2 | 5 | 6) | (4, 4, 0..=7) => TlbScope::IntermediatePage,
        (_, 0 | 4 | 8.., _) => return None,
        (0, _, 0) if !is_range => TlbScope::Vmid { stage2: false },
        (0, _, 2) if !is_range => TlbScope::Asid,
        (0, _, 1 | 5) => TlbScope::Page { last_level },
        (0, _, 3 | 7) => TlbScope::PageAnyAsid { last_level },
        (4, _, 6) if !is_range => TlbScope::Vmid { stage2: true },
        (4, _, 0 | 4) | (6, _, 0) if !is_range => TlbScope::All,
        // The tables of EL2 and EL3 have no ASID.
        (4 | 6, _, 1 | 5) => TlbScope::PageAnyAsid { last_level },
        _ => return None,
    };
    Some(scope)
}
