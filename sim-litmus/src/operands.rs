//! Operands of a step: registers, predicates and addresses that it needs, as the program can
//! prepare them.

use sim_core::{Activity, LINE_BYTES};
use sim_isa::{Addressing, BranchKind, Inst, MemOp, Reg, RegFile, decode};
use sim_scenario::{Action, Elements, Step, Xt};

use crate::plan::{CASE_BYTES, PAGE_BYTES};
use crate::reason::Reason;

/// Bytes of the vectors of the core that the claims are about.
const VECTOR_BYTES: u8 = 16;
/// General registers that a step may use: X0 to the one before this, and X30.
const FREE_REGISTERS: u8 = 6;

/// Address that a register gets before a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaseRegister {
    /// Number of the general register.
    pub register: u8,
    /// Offset in the program's memory.
    pub offset: u64,
}

/// Active elements of the governing predicate P0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Predicate {
    /// All.
    All,
    /// None.
    None,
    /// The first ones.
    First {
        /// Their number.
        active: u8,
        /// Bytes of an element.
        bytes: u8,
    },
}

/// Offsets of the elements of a gather or scatter from the base register, in Z3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offsets {
    /// Bytes of an element.
    pub bytes: u8,
    /// Offsets of the elements, in order.
    pub values: Vec<u64>,
}

/// Operands of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operands {
    /// The address register, for a step with a data address.
    pub base: Option<BaseRegister>,
    /// The governing predicate.
    pub predicate: Predicate,
    /// Offsets of a gather or scatter.
    pub offsets: Option<Offsets>,
}

impl Operands {
    /// Returns the operands of a step that executes an instruction.
    ///
    /// # Errors
    ///
    /// If the program needs one of the registers itself, or an address is outside its memory.
    pub(crate) fn of(
        step: &Step,
        inst: &Inst,
        operand: Option<Xt>,
        elements: &Elements,
    ) -> Result<Operands, Reason> {
        check_registers(step, inst)?;
        let refused = || Reason::Operands(step.text.clone());
        let predicate = predicate(elements).ok_or_else(refused)?;
        let address = match operand {
            None if inst.mem.op == MemOp::None => {
                return Ok(Operands { base: None, predicate, offsets: None });
            }
            None => return Err(refused()),
            Some(Xt::Address(address)) => address,
            Some(_) => return Err(Reason::NeedsEl1),
        };
        if inst.mem.scattered {
            return scattered(inst, address, elements, predicate).ok_or_else(refused);
        }
        let (register, displacement) = match Addressing::of(inst.word) {
            Some(form) => (form.base as u8, form.offset),
            None if sim_isa::is_prfm(inst.word) => {
                (inst.srcs().first().map(|reg| reg.0).ok_or_else(refused)?, 0)
            }
            // The base is X1 in every step that has a name; the index of a first-fault load is XZR.
            None if sim_isa::is_sve(inst.word) || inst.n_addr_srcs <= 1 => (1, 0),
            None => return Err(refused()),
        };
        let offset = address.checked_add_signed(-displacement).ok_or_else(refused)?;
        let end = address.checked_add(inst.mem.bytes.max(1).into()).ok_or_else(refused)?;
        if register >= FREE_REGISTERS || !is_inside(offset) || end > CASE_BYTES {
            return Err(refused());
        }
        let base = Some(BaseRegister { register, offset });
        Ok(Operands { base, predicate, offsets: None })
    }
}

fn is_inside(offset: u64) -> bool {
    (PAGE_BYTES..CASE_BYTES).contains(&offset)
}

/// Returns the predicate of a step; `None` if the number of elements is unknown.
fn predicate(elements: &Elements) -> Option<Predicate> {
    match elements.activity {
        Activity::All => Some(Predicate::All),
        Activity::None => Some(Predicate::None),
        Activity::Partial => {
            let bytes = VECTOR_BYTES / elements.of?;
            Some(Predicate::First { active: elements.active.count_ones() as u8, bytes })
        }
    }
}

/// Returns the operands of a gather or scatter: its smallest address in X1, the distances in Z3.
fn scattered(
    inst: &Inst,
    first: u64,
    elements: &Elements,
    predicate: Predicate,
) -> Option<Operands> {
    let bytes = VECTOR_BYTES.checked_div(inst.mem.elements)?;
    let addresses: Vec<u64> =
        std::iter::once(first).chain(elements.further().iter().copied()).collect();
    let offset = *addresses.iter().min()?;
    let end = addresses.iter().max()?.checked_add(bytes.into())?;
    if !is_inside(offset) || end > CASE_BYTES {
        return None;
    }
    let values = addresses.iter().map(|address| address - offset).collect();
    Some(Operands {
        base: Some(BaseRegister { register: 1, offset }),
        predicate,
        offsets: Some(Offsets { bytes, values }),
    })
}

/// Refuses registers that hold something of the loop: all general ones but X0 to X5 and X30, and
/// vector registers that a call preserves.
fn check_registers(step: &Step, inst: &Inst) -> Result<(), Reason> {
    // An authenticated return signs and checks its address with the stack pointer.
    let is_return = inst.branch == BranchKind::Return;
    let is_free = |reg: &Reg| match reg.file() {
        RegFile::General => reg.0 < FREE_REGISTERS || reg.0 == 30 || is_return && reg.0 == 31,
        RegFile::Flags => true,
        RegFile::Vector => !(Reg::v(8).0..=Reg::v(15).0).contains(&reg.0),
    };
    let used = inst.srcs().iter().chain(inst.dsts());
    if used.into_iter().all(is_free) { Ok(()) } else { Err(Reason::Operands(step.text.clone())) }
}

/// Returns one address of each line that a step uses.
pub(crate) fn used_lines(step: &Step) -> Vec<u64> {
    let Action::Execute { word, operand: Some(Xt::Address(first)), elements, .. } = step.action
    else {
        return Vec::new();
    };
    let shape = decode(word).mem;
    let bytes = match shape.scattered {
        true => u64::from(VECTOR_BYTES / shape.elements.max(1)),
        false => u64::from(shape.bytes.max(1)),
    };
    let lines_of = |addr: u64| {
        let lines = addr / LINE_BYTES..=(addr + bytes - 1) / LINE_BYTES;
        lines.map(move |line| addr.max(line * LINE_BYTES))
    };
    std::iter::once(first).chain(elements.further().iter().copied()).flat_map(lines_of).collect()
}
