//! Routes: properties of an instruction that decode has proved, so that the stage list need not
//! check them.
//!
//! The stage list (`stage_list.rs`) is compiled once for each route, and each case that a route
//! rules out is a constant there. [`General`] rules out nothing and takes every instruction:
//! `tests/routes.rs` compares all other routes with it. Each other route takes the instructions of
//! one [`PathClass`], and its constants state the guarantees.

use crate::units::dispatch::RenameOutcome;
use sim_isa::{Inst, PathClass, Role};

/// Number of rename slots that an instruction takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slots {
    /// One slot of its own.
    One,
    /// Two slots of its own.
    Two,
    /// No slot of its own: the instruction shares the slot of its fusion partner.
    Shared,
    /// One slot for each MOP, or the shared slot of its fusion partner.
    Any,
}

/// Part of the core that executes an instruction.
#[derive(Clone, Copy)]
pub(crate) enum Executes {
    /// The rename stage.
    Rename,
    /// The micro-operation of its fusion partner.
    Partner,
    /// One computing micro-operation.
    Alu,
    /// One load without special rules.
    Load,
    /// The micro-operations of one access without special rules. Each role has one, which
    /// occupies its pipe for one cycle.
    Roles(&'static [Role]),
    /// Any micro-operations.
    Any,
}

/// Specialization of the stage list.
pub(crate) trait Route {
    /// Number of rename slots.
    const SLOTS: Slots;
    /// Part of the core that executes the instruction.
    const EXECUTES: Executes;
    /// Set if the instruction may access memory.
    const MAY_ACCESS: bool = true;
    /// Set if the instruction may take an entry of the store queue.
    const MAY_STORE: bool = false;
    /// Set if the route guarantees nothing: rename decides the outcome, and each special rule is
    /// checked.
    const IS_GENERAL: bool = false;

    /// Set if the instruction makes one access of consecutive bytes that orders nothing, is not
    /// exclusive, and has no accumulator as its destination.
    const IS_ORDINARY: bool = matches!(Self::EXECUTES, Executes::Load | Executes::Roles(_));
    /// Roles of the micro-operations; empty if they are not known.
    const ROLES: &'static [Role] =
        if let Executes::Roles(roles) = Self::EXECUTES { roles } else { &[] };

    /// Returns the rename outcome that the route guarantees.
    #[inline(always)]
    fn outcome() -> RenameOutcome {
        match Self::EXECUTES {
            Executes::Rename => RenameOutcome::Eliminated,
            Executes::Partner => RenameOutcome::Fused,
            _ => RenameOutcome::Dispatched,
        }
    }

    /// Returns whether the instruction satisfies the guarantees of the route. Only debug builds
    /// check it.
    fn holds_for(inst: &Inst) -> bool {
        let mops = match Self::SLOTS {
            Slots::One => inst.n_mops == 1,
            Slots::Two => inst.n_mops == 2,
            Slots::Shared | Slots::Any => true,
        };
        let roles = Self::ROLES;
        let has_roles = roles.is_empty()
            || inst.uops().iter().map(|uop| uop.role).eq(roles.iter().copied())
                && inst.uops().iter().all(|uop| uop.is_one());
        let is_dispatched = Self::outcome() == RenameOutcome::Dispatched;
        let stores = Self::MAY_STORE || !(inst.stores && is_dispatched);
        Self::IS_GENERAL || inst.path_class != PathClass::General && mops && has_roles && stores
    }
}

/// Any instruction, without a guarantee.
pub(crate) struct General;

impl Route for General {
    const SLOTS: Slots = Slots::Any;
    const EXECUTES: Executes = Executes::Any;
    const MAY_STORE: bool = true;
    const IS_GENERAL: bool = true;
}

/// [`PathClass::Alu`] in its own slot, or a register move that rename does not eliminate.
pub(crate) struct Alu;

impl Route for Alu {
    const SLOTS: Slots = Slots::One;
    const EXECUTES: Executes = Executes::Alu;
    const MAY_ACCESS: bool = false;
}

/// [`PathClass::Alu`] as the second half of a fused pair, with a micro-operation of its own.
pub(crate) struct FusedAlu;

impl Route for FusedAlu {
    const SLOTS: Slots = Slots::Shared;
    const EXECUTES: Executes = Executes::Alu;
    const MAY_ACCESS: bool = false;
}

/// [`PathClass::Alu`] as the second half of a fused pair, without a micro-operation of its own.
pub(crate) struct FusedNoUop;

impl Route for FusedNoUop {
    const SLOTS: Slots = Slots::Shared;
    const EXECUTES: Executes = Executes::Partner;
    const MAY_ACCESS: bool = false;
}

/// [`PathClass::Eliminated`] that rename completes.
pub(crate) struct Eliminated;

impl Route for Eliminated {
    const SLOTS: Slots = Slots::One;
    const EXECUTES: Executes = Executes::Rename;
    const MAY_ACCESS: bool = false;
}

/// [`PathClass::Load`].
pub(crate) struct Load;

impl Route for Load {
    const SLOTS: Slots = Slots::One;
    const EXECUTES: Executes = Executes::Load;
}

/// [`PathClass::LoadUpdate`].
pub(crate) struct LoadUpdate;

impl Route for LoadUpdate {
    const SLOTS: Slots = Slots::One;
    const EXECUTES: Executes = Executes::Roles(&[Role::Load, Role::BaseUpdate]);
}

/// [`PathClass::Store`].
pub(crate) struct Store;

impl Route for Store {
    const SLOTS: Slots = Slots::One;
    const EXECUTES: Executes = Executes::Roles(&[Role::StoreAddr, Role::StoreData]);
    const MAY_STORE: bool = true;
}

/// [`PathClass::TwoMopStoreUpdate`].
pub(crate) struct TwoMopStoreUpdate;

impl Route for TwoMopStoreUpdate {
    const SLOTS: Slots = Slots::Two;
    const EXECUTES: Executes =
        Executes::Roles(&[Role::StoreAddr, Role::StoreData, Role::BaseUpdate]);
    const MAY_STORE: bool = true;
}
