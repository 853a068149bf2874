//! Steps that need EL1: those that a module of the Linux kernel can run, and what it does before
//! them.

use sim_core::{Maintenance, TlbScope};
use sim_isa::{BankName, BranchKind, ContextWrite, Inst, Special};
use sim_scenario::{Given, Step, Xt};

use crate::reason::Reason;

/// Preparation of a step, in the functions with and without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Before {
    /// X1 gets the value of this register, so that writing it changes nothing.
    OwnValue(String),
    /// X1 gets the number of the page with this offset.
    Page(u64),
    /// The exception return leads to what follows it, with the same level, masks and PAN.
    /// SSBS, DIT, TCO, UAO and the flags are clear until the kernel is entered again.
    Return,
    /// The exception of the step leads to what follows it.
    Vector,
    /// Nothing.
    Nothing,
}

/// The module could fetch from its own code alone.
pub(crate) const CODE: &str = "needs EL1 and code in chosen memory";
/// The way of a cache that holds a line cannot be known, nor what else it holds.
const WAY: &str = "needs EL1 and the way that holds a line";
/// The memory of the module belongs to every address space, and Linux has the ASID in TTBR1_EL1.
const ADDRESS_SPACE: &str = "needs EL1 and an address space of its own";
/// The exception goes to EL2 or EL3, or the case begins there.
const ABOVE: &str = "needs EL2, EL3 or a hypervisor";
/// A step takes an exception from EL0. Other cases of EL0 do not need it.
pub(crate) const FROM_EL0: &str = "needs EL0 below a kernel of its own";
/// The rest, none of it in a module.
const OTHER: &str = "needs EL1 and a step that a module must not do";

/// Refuses a case that does not begin at EL1 or EL0, or leaves them.
pub(crate) fn check_machine(given: &Given) -> Result<(), Reason> {
    let is_above = given.privilege.level > 1 || given.exceptions != Default::default();
    if is_above || given.stage2 {
        return Err(Reason::NotInModule(ABOVE));
    }
    Ok(())
}

/// Returns what a step that EL0 may not execute needs before it.
///
/// # Errors
///
/// If a module cannot, or must not, execute it.
pub(crate) fn before(step: &Step, inst: &Inst, operand: Option<Xt>) -> Result<Before, Reason> {
    let refused = |what| Err(Reason::NotInModule(what));
    if let Some(Maintenance::Tlb { scope, .. }) = inst.maintenance
        && matches!(
            scope,
            TlbScope::All | TlbScope::Vmid { stage2: true } | TlbScope::IntermediatePage
        )
    {
        return refused(ABOVE);
    }
    match (inst.maintenance, operand) {
        (_, Some(Xt::SetAndWay { .. })) => return refused(WAY),
        (_, Some(Xt::Asid(_) | Xt::Page { asid: Some(_), .. })) => return refused(ADDRESS_SPACE),
        (Some(Maintenance::Tlb { .. }), Some(Xt::Page { addr, .. })) => {
            return Ok(Before::Page(addr));
        }
        (Some(Maintenance::DataByAddress(_) | Maintenance::Translate { .. }), Some(_))
        | (Some(Maintenance::Tlb { .. } | Maintenance::InstAll { .. }), None) => {
            return Ok(Before::Nothing);
        }
        _ => {}
    }
    let register = step.text.trim_matches(['[', ']']).split_whitespace().nth(1);
    let named = register.unwrap_or_default().to_lowercase();
    match (inst.context_write, inst.special) {
        (Some(ContextWrite::TableBase(name) | ContextWrite::ContextId(name)), _) => match name {
            BankName::El1 if operand.is_none() => Ok(Before::OwnValue(named)),
            // Not of EL1, so undefined there.
            BankName::El2 if operand.is_none() && !step.wrong_path => Ok(Before::Vector),
            _ => refused(OTHER),
        },
        (None, Special::SupervisorCall) => Ok(Before::Vector),
        (None, Special::SystemRead) if named.ends_with("_el1") => Ok(Before::Nothing),
        (None, Special::DataSyncBarrier) => Ok(Before::Nothing),
        (None, Special::HypervisorCall | Special::SecureMonitorCall) => refused(ABOVE),
        _ if inst.branch == BranchKind::ExceptionReturn && step.wrong_path => Ok(Before::Nothing),
        _ if inst.branch == BranchKind::ExceptionReturn => Ok(Before::Return),
        _ => refused(OTHER),
    }
}
