//! Access rights of the registers of the profiling extension, and the register that each name
//! accesses (SPE supplement 3.2.3, 3.4.6, 4.3).

use crate::access::{Access, AccessError};
use crate::pe_state::ExceptionLevel;

use super::context::{SpeContext, mdcr};
use super::registers::SpeRegister;

/// Checks an access and returns the accessed register. A host at EL2 accesses its own control
/// register under the EL1 name.
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

/// Checks the traps of an access. EL2 denies EL1 the sampling registers by one control and the
/// buffer registers by another. EL3 denies both to the security state that does not own them.
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
