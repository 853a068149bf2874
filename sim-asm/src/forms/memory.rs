//! Loads, stores, pairs and prefetches.

use sim_isa::encode::{Address, Instruction, PairAddress, Transfer, Width};

use super::args::{Args, Place, Thirty1};
use super::form::{Form, row};
use crate::error::Fault;
use crate::parse::{Operand, Value};

type Built = Result<Instruction, Fault>;

pub(super) const FORMS: &[Form] = &[
    row("ldr", "ldr x0, [x1, #8]", |args| whole(args, true, false)),
    row("str", "str x0, [x1], #8", |args| whole(args, false, false)),
    row("ldur", "ldur x0, [x1, #-8]", |args| whole(args, true, true)),
    row("stur", "stur x0, [x1, #-8]", |args| whole(args, false, true)),
    row("ldrb", "ldrb w0, [x1]", |args| narrow(args, Transfer::Load { bytes: 1 }, false)),
    row("ldrh", "ldrh w0, [x1]", |args| narrow(args, Transfer::Load { bytes: 2 }, false)),
    row("strb", "strb w0, [x1]", |args| narrow(args, Transfer::Store { bytes: 1 }, false)),
    row("strh", "strh w0, [x1]", |args| narrow(args, Transfer::Store { bytes: 2 }, false)),
    row("ldurb", "ldurb w0, [x1]", |args| narrow(args, Transfer::Load { bytes: 1 }, true)),
    row("ldurh", "ldurh w0, [x1]", |args| narrow(args, Transfer::Load { bytes: 2 }, true)),
    row("sturb", "sturb w0, [x1]", |args| narrow(args, Transfer::Store { bytes: 1 }, true)),
    row("sturh", "sturh w0, [x1]", |args| narrow(args, Transfer::Store { bytes: 2 }, true)),
    row("ldrsb", "ldrsb x0, [x1]", |args| signed(args, 1, false)),
    row("ldrsh", "ldrsh x0, [x1]", |args| signed(args, 2, false)),
    row("ldrsw", "ldrsw x0, [x1]", |args| signed(args, 4, false)),
    row("ldursb", "ldursb x0, [x1]", |args| signed(args, 1, true)),
    row("ldursh", "ldursh x0, [x1]", |args| signed(args, 2, true)),
    row("ldursw", "ldursw x0, [x1]", |args| signed(args, 4, true)),
    row("ldp", "ldp x0, x1, [sp], #16", |args| pair(args, true)),
    row("stp", "stp x0, x1, [sp, #-16]!", |args| pair(args, false)),
    row("prfm", "prfm pldl1keep, [x1, #256]", prefetch),
];

/// Takes the register of a transfer of its whole width.
fn register(args: &mut Args<'_>, is_load: bool) -> Result<(Transfer, u8), Fault> {
    if let Some(Operand::Scalar { .. }) = args.peek() {
        let (bytes, t) = args.scalar()?;
        let load = Transfer::LoadVector { bytes };
        return Ok((if is_load { load } else { Transfer::StoreVector { bytes } }, t));
    }
    let register = args.general(Thirty1::Zero)?;
    let bytes = if register.width == Width::X { 8 } else { 4 };
    let transfer = if is_load { Transfer::Load { bytes } } else { Transfer::Store { bytes } };
    Ok((transfer, register.number))
}

fn whole(args: &mut Args<'_>, is_load: bool, is_unscaled: bool) -> Built {
    let (transfer, t) = register(args, is_load)?;
    access(args, transfer, t, is_unscaled)
}

fn narrow(args: &mut Args<'_>, transfer: Transfer, is_unscaled: bool) -> Built {
    let t = args.w()?;
    access(args, transfer, t, is_unscaled)
}

fn signed(args: &mut Args<'_>, bytes: u8, is_unscaled: bool) -> Built {
    let t = args.general(Thirty1::Zero)?;
    if bytes == 4 && t.width == Width::W {
        return Err(args.fault_before("ldrsw loads an x register"));
    }
    access(args, Transfer::LoadSigned { bytes, to: t.width }, t.number, is_unscaled)
}

fn access(args: &mut Args<'_>, transfer: Transfer, t: u8, is_unscaled: bool) -> Built {
    if let Some(Operand::Value(Value::Label { .. })) = args.peek() {
        return Err(args.fault("an address is in brackets: load it first, ldr x1, =label"));
    }
    let (base, place) = args.address()?;
    let bytes = i64::from(transfer.bytes());
    let address = match place {
        Place::Offset(offset) if is_unscaled => Address::Unscaled(offset),
        Place::Offset(offset) => {
            let is_scaled = offset >= 0 && offset % bytes == 0;
            let is_near = (-256..256).contains(&offset);
            if is_scaled || !is_near { Address::Scaled(offset) } else { Address::Unscaled(offset) }
        }
        _ if is_unscaled => return Err(args.fault_before("the offset is a number in the brackets")),
        Place::Pre(offset) => Address::Pre(offset),
        Place::Post(offset) => Address::Post(offset),
        Place::Index { m, extend, amount } => {
            let log = i64::from(bytes.trailing_zeros());
            if amount.is_some_and(|amount| amount != 0 && amount != log) {
                return Err(args.fault_before(format!("the index is shifted by 0 or {log}")));
            }
            // A written shift by 0 differs from none only for single bytes.
            let is_scaled = amount.is_some_and(|amount| amount == log);
            Address::Register { m, extend, is_scaled }
        }
    };
    let changes = matches!(address, Address::Pre(_) | Address::Post(_));
    if changes && is_general(transfer) && t == base && base != 31 {
        return Err(args.fault_before("the changed base is also the register of the transfer"));
    }
    Ok(Instruction::Access { transfer, t, base, address })
}

fn is_general(transfer: Transfer) -> bool {
    !matches!(transfer, Transfer::LoadVector { .. } | Transfer::StoreVector { .. })
}

fn pair(args: &mut Args<'_>, is_load: bool) -> Built {
    let (transfer, t) = register(args, is_load)?;
    let (second, t2) = register(args, is_load)?;
    if transfer != second || transfer.bytes() < 4 {
        return Err(args.fault_before("both registers are of one kind: x, w, s, d or q"));
    }
    let (base, place) = args.address()?;
    let address = match place {
        Place::Offset(offset) => PairAddress::Offset(offset),
        Place::Pre(offset) => PairAddress::Pre(offset),
        Place::Post(offset) => PairAddress::Post(offset),
        Place::Index { .. } => return Err(args.fault_before("a pair has no register offset")),
    };
    let changes = !matches!(address, PairAddress::Offset(_));
    if changes && is_general(transfer) && (t == base || t2 == base) && base != 31 {
        return Err(args.fault_before("the changed base is also a register of the pair"));
    }
    if is_load && t == t2 {
        return Err(args.fault_before("a pair loads two different registers"));
    }
    Ok(Instruction::Pair { transfer, t, t2, base, address })
}

fn prefetch(args: &mut Args<'_>) -> Built {
    let name = args.word("an operation such as pldl1keep")?;
    let kind = |prefix: &str, first: u8| {
        let rest = name.strip_prefix(prefix)?;
        let level = match rest.get(..2)? {
            "l1" => 0,
            "l2" => 2,
            "l3" => 4,
            _ => return None,
        };
        match rest.get(2..)? {
            "keep" => Some(first + level),
            "strm" => Some(first + level + 1),
            _ => None,
        }
    };
    let operation = kind("pld", 0).or_else(|| kind("pli", 8)).or_else(|| kind("pst", 16));
    let Some(t) = operation else {
        let text = format!("{name} is not an operation: pldl1keep, pldl2keep, pstl1keep ...");
        return Err(args.fault_before(text));
    };
    let (base, place) = args.address()?;
    let address = match place {
        Place::Offset(offset) if offset >= 0 && offset % 8 == 0 => Address::Scaled(offset),
        Place::Offset(offset) => Address::Unscaled(offset),
        Place::Pre(offset) => Address::Pre(offset),
        Place::Post(offset) => Address::Post(offset),
        Place::Index { m, extend, amount } => match amount {
            None | Some(0) => Address::Register { m, extend, is_scaled: false },
            Some(3) => Address::Register { m, extend, is_scaled: true },
            Some(_) => return Err(args.fault_before("the index is shifted by 0 or 3")),
        },
    };
    Ok(Instruction::Access { transfer: Transfer::Prefetch, t, base, address })
}
