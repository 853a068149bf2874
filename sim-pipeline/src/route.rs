//! Routes: what decode has proved of an instruction, so that the stage list need not ask.
//!
//! The stage list (`schedule.rs`) is compiled once for each route; what a route rules out is a
//! constant there. [`General`] rules out nothing and takes every instruction: it is the oracle that
//! `tests/routes.rs` holds all others against. Each other route takes the instructions of one
//! [`PathClass`] and promises what its constants say.

use crate::units::dispatch::RenameOutcome;
use sim_isa::{Inst, PathClass, Role};

/// Rename slots of an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slots {
    /// One of its own.
    One,
    /// Two of its own.
    Two,
    /// That of its fusion partner.
    Shared,
    /// As many as it has MOPs, or that of its fusion partner.
    Any,
}

/// Who executes an instruction.
#[derive(Clone, Copy)]
pub(crate) enum Executes {
    /// Rename.
    Rename,
    /// The micro-operation of its fusion partner.
    Partner,
    /// One micro-operation that computes.
    Alu,
    /// One ordinary load.
    Load,
    /// The micro-operations of one ordinary access, each of which takes its pipe for one cycle. All
    /// roles but that of a load have one micro-operation.
    Roles(&'static [Role]),
    /// Any micro-operations.
    Any,
}

/// A specialization of the stage list.
pub(crate) trait Route {
    /// Rename slots.
    const SLOTS: Slots;
    /// Who executes it.
    const EXECUTES: Executes;
    /// False without an access to memory.
    const MAY_ACCESS: bool = true;
    /// False for what takes no entry of the store queue.
    const MAY_STORE: bool = false;
    /// No promise at all: rename decides the outcome, and every special rule is asked for.
    const IS_GENERAL: bool = false;
    /// Each role of [`Executes::Roles`] has one micro-operation.
    const ONE_EACH: bool = false;

    /// One access of consecutive bytes that orders nothing, is not exclusive, and goes to no
    /// accumulator.
    const IS_ORDINARY: bool = matches!(Self::EXECUTES, Executes::Load | Executes::Roles(_));
    /// The roles of its micro-operations; empty if they are not known.
    const ROLES: &'static [Role] =
        if let Executes::Roles(roles) = Self::EXECUTES { roles } else { &[] };

    /// Returns what rename does with the instruction, where the route says it.
    #[inline(always)]
    fn outcome() -> RenameOutcome {
        match Self::EXECUTES {
            Executes::Rename => RenameOutcome::Eliminated,
            Executes::Partner => RenameOutcome::Fused,
            _ => RenameOutcome::Dispatched,
        }
    }

    /// True if the instruction keeps the promises of the route; asked in debug builds.
    fn holds_for(inst: &Inst) -> bool {
        let mops = match Self::SLOTS {
            Slots::One => inst.n_mops == 1,
            Slots::Two => inst.n_mops == 2,
            Slots::Shared | Slots::Any => true,
        };
        let roles = Self::ROLES;
        let has_roles =
            roles.is_empty() || inst.uops().iter().map(|uop| uop.role).eq(roles.iter().copied());
        let one_each = !Self::ONE_EACH || inst.uops().iter().all(|uop| uop.is_one());
        let is_dispatched = Self::outcome() == RenameOutcome::Dispatched;
        let stores = Self::MAY_STORE || !(inst.stores && is_dispatched);
        Self::IS_GENERAL
            || inst.path_class != PathClass::General && mops && has_roles && one_each && stores
    }
}

/// Every instruction: no promise.
pub(crate) struct General;

impl Route for General {
    const SLOTS: Slots = Slots::Any;
    const EXECUTES: Executes = Executes::Any;
    const MAY_STORE: bool = true;
    const IS_GENERAL: bool = true;
}

/// [`PathClass::Alu`] in a slot of its own; also a move that rename does not eliminate.
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

/// [`PathClass::Alu`] as the second half of a fused pair, without one.
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
    const ONE_EACH: bool = true;
}

/// [`PathClass::TwoMopLoadUpdate`].
pub(crate) struct TwoMopLoadUpdate;

impl Route for TwoMopLoadUpdate {
    const SLOTS: Slots = Slots::Two;
    const EXECUTES: Executes = Executes::Roles(&[Role::Load, Role::BaseUpdate]);
}

/// [`PathClass::Store`].
pub(crate) struct Store;

impl Route for Store {
    const SLOTS: Slots = Slots::One;
    const EXECUTES: Executes = Executes::Roles(&[Role::StoreAddr, Role::StoreData]);
    const MAY_STORE: bool = true;
    const ONE_EACH: bool = true;
}

/// [`PathClass::TwoMopStoreUpdate`].
pub(crate) struct TwoMopStoreUpdate;

impl Route for TwoMopStoreUpdate {
    const SLOTS: Slots = Slots::Two;
    const EXECUTES: Executes =
        Executes::Roles(&[Role::StoreAddr, Role::StoreData, Role::BaseUpdate]);
    const MAY_STORE: bool = true;
    const ONE_EACH: bool = true;
}

/// [`PathClass::OneMop`].
pub(crate) struct OneMop;

impl Route for OneMop {
    const SLOTS: Slots = Slots::One;
    const EXECUTES: Executes = Executes::Any;
    const MAY_STORE: bool = true;
}

/// [`PathClass::TwoMops`].
pub(crate) struct TwoMops;

impl Route for TwoMops {
    const SLOTS: Slots = Slots::Two;
    const EXECUTES: Executes = Executes::Any;
    const MAY_STORE: bool = true;
}
