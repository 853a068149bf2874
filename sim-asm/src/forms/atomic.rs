//! Exclusive, ordered and atomic accesses.

use sim_isa::encode::{AtomicKind, Instruction, Order, Width};

use super::args::{Args, Thirty1};
use super::form::{Form, row};
use crate::error::Fault;

type Built = Result<Instruction, Fault>;

const RELAXED: Order = Order { acquires: false, releases: false };
const ACQUIRE: Order = Order { acquires: true, releases: false };
const RELEASE: Order = Order { acquires: false, releases: true };
const BOTH: Order = Order { acquires: true, releases: true };

pub(super) const FORMS: &[Form] = &[
    row("ldxr", "ldxr x0, [x1]", |args| load_exclusive(args, RELAXED)),
    row("ldaxr", "ldaxr x0, [x1]", |args| load_exclusive(args, ACQUIRE)),
    row("stxr", "stxr w2, x0, [x1]", |args| store_exclusive(args, RELAXED)),
    row("stlxr", "stlxr w2, x0, [x1]", |args| store_exclusive(args, RELEASE)),
    row("ldar", "ldar x0, [x1]", |args| ordered(args, true)),
    row("stlr", "stlr x0, [x1]", |args| ordered(args, false)),
    row("ldadd", "ldadd x0, x2, [x1]", |args| atomic(args, AtomicKind::Add, RELAXED)),
    row("ldadda", "ldadda x0, x2, [x1]", |args| atomic(args, AtomicKind::Add, ACQUIRE)),
    row("ldaddl", "ldaddl x0, x2, [x1]", |args| atomic(args, AtomicKind::Add, RELEASE)),
    row("ldaddal", "ldaddal x0, x2, [x1]", |args| atomic(args, AtomicKind::Add, BOTH)),
    row("stadd", "stadd x0, [x1]", store_add),
    row("ldclr", "ldclr x0, x2, [x1]", |args| atomic(args, AtomicKind::Clear, RELAXED)),
    row("ldeor", "ldeor x0, x2, [x1]", |args| atomic(args, AtomicKind::Eor, RELAXED)),
    row("ldset", "ldset x0, x2, [x1]", |args| atomic(args, AtomicKind::Set, RELAXED)),
    row("swp", "swp x0, x2, [x1]", |args| atomic(args, AtomicKind::Swap, RELAXED)),
    row("swpal", "swpal x0, x2, [x1]", |args| atomic(args, AtomicKind::Swap, BOTH)),
    row("cas", "cas x0, x2, [x1]", |args| compare_swap(args, RELAXED)),
    row("casal", "casal x0, x2, [x1]", |args| compare_swap(args, BOTH)),
];

fn bytes(width: Width) -> u8 {
    if width == Width::X { 8 } else { 4 }
}

fn load_exclusive(args: &mut Args<'_>, order: Order) -> Built {
    let (width, [t]) = args.generals()?;
    Ok(Instruction::LoadExclusive { bytes: bytes(width), order, t, base: args.base_only()? })
}

fn store_exclusive(args: &mut Args<'_>, order: Order) -> Built {
    let s = args.w()?;
    let t = args.general(Thirty1::Zero)?;
    let base = args.base_only()?;
    if s == t.number || (s == base && base != 31) {
        return Err(args.fault_before("the register of the status differs from the other two"));
    }
    Ok(Instruction::StoreExclusive { bytes: bytes(t.width), order, s, t: t.number, base })
}

fn ordered(args: &mut Args<'_>, is_load: bool) -> Built {
    let (width, [t]) = args.generals()?;
    Ok(Instruction::Ordered { bytes: bytes(width), is_load, t, base: args.base_only()? })
}

fn atomic(args: &mut Args<'_>, kind: AtomicKind, order: Order) -> Built {
    let (width, [s, t]) = args.generals()?;
    let base = args.base_only()?;
    Ok(Instruction::Atomic { bytes: bytes(width), kind, order, s, t, base })
}

fn store_add(args: &mut Args<'_>) -> Built {
    let (width, [s]) = args.generals()?;
    let base = args.base_only()?;
    let (kind, order) = (AtomicKind::Add, RELAXED);
    Ok(Instruction::Atomic { bytes: bytes(width), kind, order, s, t: 31, base })
}

fn compare_swap(args: &mut Args<'_>, order: Order) -> Built {
    let (width, [s, t]) = args.generals()?;
    Ok(Instruction::CompareSwap { bytes: bytes(width), order, s, t, base: args.base_only()? })
}
