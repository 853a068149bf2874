//! Who may use which register of the profiling extension, and which register a name reaches (SPE
//! supplement 3.2.3, 3.4.6, 4.3).

use crate::access::{Access, AccessError};
use crate::pe_state::ExceptionLevel;

use super::context::{SpeContext, mdcr};
use super::registers::SpeRegister;

/// Checks an access; the register that it reaches. A host at EL2 finds its own control register under
/// the name of EL1's.
pub(crate) fn admit(
    register: SpeRegister,
    access: Access,
    state: &SpeContext,
) -> Result<SpeRegister, AccessError> {
    use SpeRegister::{PMBIDR_EL1, PMSCR_EL1, PMSCR_EL2, PMSCR_EL12};
    let level = state.privilege.level;
    let is_write = access == Access::Write;
    if state.aarch32 || level < lowest_level(register) || is_write && register.is_read_only() {
        return Err(AccessError::Undefined);
    }
    let is_host = state.privilege.e2h;
    if register == PMSCR_EL12 && (!is_host || state.privilege.secure) {
        return Err(AccessError::Undefined);
    }
    if register != PMBIDR_EL1 {
        check_traps(register, state)?;
    }
    Ok(match register {
        PMSCR_EL1 if is_host && level == 2 => PMSCR_EL2,
        PMSCR_EL12 => PMSCR_EL1,
        direct => direct,
    })
}

fn lowest_level(register: SpeRegister) -> u8 {
    match register {
        SpeRegister::PMSCR_EL2 | SpeRegister::PMSCR_EL12 => 2,
        _ => 1,
    }
}

/// EL2 keeps the sampling registers from EL1 by one control and those of the buffer by another; EL3
/// keeps both from the security state that it has not given them to.
fn check_traps(register: SpeRegister, state: &SpeContext) -> Result<(), AccessError> {
    use SpeRegister::{PMBLIMITR_EL1, PMBPTR_EL1, PMBSR_EL1};
    let is_of_buffer = matches!(register, PMBLIMITR_EL1 | PMBPTR_EL1 | PMBSR_EL1);
    let keeps = match is_of_buffer {
        true => state.e2pb() & 1 == 0,
        false => state.mdcr_el2 & mdcr::TPMS != 0,
    };
    let (level, secure) = (state.privilege.level, state.privilege.secure);
    if level == 1 && !secure && keeps {
        return Err(AccessError::Trap { to: ExceptionLevel::El2 });
    }
    let given_to = 1 | if secure { 0 } else { 0b10 };
    if level < 3 && state.nspb() != given_to {
        return Err(AccessError::Trap { to: ExceptionLevel::El3 });
    }
    Ok(())
}
