//! Branches, barriers and system instructions.

use sim_isa::encode::{BarrierKind, BranchRegister, Instruction};

use super::args::{Args, Thirty1, condition};
use super::form::{Form, row};
use crate::error::Fault;

type Built = Result<Instruction, Fault>;

pub(super) const FORMS: &[Form] = &[
    row("nop", "nop", |_| Ok(Instruction::Nop)),
    row("b", "b loop", |args| branch(args, false)),
    row("bl", "bl function", |args| branch(args, true)),
    row("b.eq", "b.eq loop", branch_if),
    row("b.ne", "b.ne loop", branch_if),
    row("b.cs", "b.cs loop", branch_if),
    row("b.hs", "b.hs loop", branch_if),
    row("b.cc", "b.cc loop", branch_if),
    row("b.lo", "b.lo loop", branch_if),
    row("b.mi", "b.mi loop", branch_if),
    row("b.pl", "b.pl loop", branch_if),
    row("b.vs", "b.vs loop", branch_if),
    row("b.vc", "b.vc loop", branch_if),
    row("b.hi", "b.hi loop", branch_if),
    row("b.ls", "b.ls loop", branch_if),
    row("b.ge", "b.ge loop", branch_if),
    row("b.lt", "b.lt loop", branch_if),
    row("b.gt", "b.gt loop", branch_if),
    row("b.le", "b.le loop", branch_if),
    row("b.al", "b.al loop", branch_if),
    row("cbz", "cbz x0, end", |args| compare(args, true)),
    row("cbnz", "cbnz x0, loop", |args| compare(args, false)),
    row("tbz", "tbz x0, #3, end", |args| test(args, true)),
    row("tbnz", "tbnz x0, #3, loop", |args| test(args, false)),
    row("br", "br x0", |args| branch_to(args, BranchRegister::Br)),
    row("blr", "blr x0", |args| branch_to(args, BranchRegister::Blr)),
    row("ret", "ret", |args| branch_to(args, BranchRegister::Ret)),
    row("svc", "svc #0", |args| number(args, Instruction::Svc)),
    row("hlt", "hlt #0", |args| number(args, Instruction::Hlt)),
    row("dmb", "dmb ish", |args| barrier(args, BarrierKind::Dmb)),
    row("dsb", "dsb sy", |args| barrier(args, BarrierKind::Dsb)),
    row("isb", "isb", |args| barrier(args, BarrierKind::Isb)),
    row("dc", "dc zva, x0", zero_line),
];

fn branch(args: &mut Args<'_>, links: bool) -> Built {
    Ok(Instruction::Branch { links, offset: args.target()? })
}

fn branch_if(args: &mut Args<'_>) -> Built {
    let name = args.name().strip_prefix("b.").unwrap_or_default();
    let condition = condition(name).ok_or_else(|| args.fault_before("an unknown condition"))?;
    Ok(Instruction::BranchIf { condition, offset: args.target()? })
}

fn compare(args: &mut Args<'_>, if_zero: bool) -> Built {
    let t = args.general(Thirty1::Zero)?;
    Ok(Instruction::CompareBranch { width: t.width, if_zero, t: t.number, offset: args.target()? })
}

fn test(args: &mut Args<'_>, if_zero: bool) -> Built {
    let t = args.general(Thirty1::Zero)?;
    let bit = args.up_to(i64::from(t.width.bits()) - 1)?;
    Ok(Instruction::TestBranch { if_zero, t: t.number, bit, offset: args.target()? })
}

fn branch_to(args: &mut Args<'_>, kind: BranchRegister) -> Built {
    let n = if kind == BranchRegister::Ret && args.is_last() { 30 } else { args.x()? };
    Ok(Instruction::BranchTo { kind, n })
}

fn number(args: &mut Args<'_>, build: fn(u16) -> Instruction) -> Built {
    Ok(build(u16::try_from(args.up_to(0xffff)?).unwrap_or_default()))
}

fn barrier(args: &mut Args<'_>, kind: BarrierKind) -> Built {
    const DOMAINS: [(&str, u8); 12] = [
        ("oshld", 1),
        ("oshst", 2),
        ("osh", 3),
        ("nshld", 5),
        ("nshst", 6),
        ("nsh", 7),
        ("ishld", 9),
        ("ishst", 10),
        ("ish", 11),
        ("ld", 13),
        ("st", 14),
        ("sy", 15),
    ];
    if kind == BarrierKind::Isb && args.is_last() {
        return Ok(Instruction::Barrier { kind, domain: 15 });
    }
    let name = args.word("a domain such as ish, ishld, ishst or sy")?;
    let known = DOMAINS.iter().find(|(own, _)| *own == name);
    match known {
        Some((_, domain)) if kind != BarrierKind::Isb || *domain == 15 => {
            Ok(Instruction::Barrier { kind, domain: *domain })
        }
        _ => Err(args.fault_before(format!("{name} is not a domain (ish, ishld, ishst, sy ...)"))),
    }
}

fn zero_line(args: &mut Args<'_>) -> Built {
    let operation = args.word("zva")?;
    if operation != "zva" {
        return Err(args.fault_before("zva is the only known operation of dc"));
    }
    Ok(Instruction::ZeroLine { t: args.x()? })
}
