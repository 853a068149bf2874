//! Scalar floating point and a few vector instructions.

use sim_isa::encode::{FloatBinary, FloatUnary, Instruction, VectorKind, Width};

use super::args::{Args, Thirty1};
use super::form::{Form, row};
use crate::error::Fault;
use crate::parse::Operand;

type Built = Result<Instruction, Fault>;

pub(super) const FORMS: &[Form] = &[
    row("fadd", "fadd d0, d1, d2", |args| binary(args, FloatBinary::Fadd, VectorKind::Fadd)),
    row("fmul", "fmul d0, d1, d2", |args| binary(args, FloatBinary::Fmul, VectorKind::Fmul)),
    row("fsub", "fsub d0, d1, d2", |args| scalar(args, FloatBinary::Fsub)),
    row("fdiv", "fdiv d0, d1, d2", |args| scalar(args, FloatBinary::Fdiv)),
    row("fmadd", "fmadd d0, d1, d2, d3", |args| multiply_add(args, false)),
    row("fmsub", "fmsub d0, d1, d2, d3", |args| multiply_add(args, true)),
    row("fmov", "fmov d0, #1.5", fmov),
    row("fabs", "fabs d0, d1", |args| unary(args, FloatUnary::Fabs)),
    row("fneg", "fneg d0, d1", |args| unary(args, FloatUnary::Fneg)),
    row("fsqrt", "fsqrt d0, d1", |args| unary(args, FloatUnary::Fsqrt)),
    row("fcmp", "fcmp d0, d1", compare),
    row("scvtf", "scvtf d0, x1", from_integer),
    row("fcvtzs", "fcvtzs x0, d1", to_integer),
    row("fmla", "fmla v0.4s, v1.4s, v2.4s", |args| vector(args, VectorKind::Fmla)),
    row("movi", "movi v0.2d, #0", zero),
];

fn scalar(args: &mut Args<'_>, kind: FloatBinary) -> Built {
    let (is_double, [d, n, m]) = args.scalars()?;
    Ok(Instruction::FloatBinary { is_double, kind, d, n, m })
}

fn binary(args: &mut Args<'_>, kind: FloatBinary, of_vectors: VectorKind) -> Built {
    match args.peek() {
        Some(Operand::Vector { .. }) => vector(args, of_vectors),
        _ => scalar(args, kind),
    }
}

/// Reads the three vectors of an operation on elements.
pub(super) fn vector(args: &mut Args<'_>, kind: VectorKind) -> Built {
    let (element, [d, n, m]) = args.vectors()?;
    Ok(Instruction::Vector { kind, element, d, n, m })
}

fn zero(args: &mut Args<'_>) -> Built {
    let (element, [d]) = args.vectors()?;
    if element != 8 || args.integer()? != 0 {
        return Err(args.fault_before("only movi v0.2d, #0 is known"));
    }
    Ok(Instruction::VectorZero { d })
}

fn multiply_add(args: &mut Args<'_>, is_sub: bool) -> Built {
    let (is_double, [d, n, m, a]) = args.scalars()?;
    Ok(Instruction::FloatMultiplyAdd { is_double, is_sub, d, n, m, a })
}

fn unary(args: &mut Args<'_>, kind: FloatUnary) -> Built {
    let (is_double, [d, n]) = args.scalars()?;
    Ok(Instruction::FloatUnary { is_double, kind, d, n })
}

fn compare(args: &mut Args<'_>) -> Built {
    let (is_double, [n]) = args.scalars()?;
    if !matches!(args.peek(), Some(Operand::Value(_))) {
        let (other, [m]) = args.scalars()?;
        if other != is_double {
            return Err(args.fault_before("all registers are d, or all are s"));
        }
        return Ok(Instruction::FloatCompare { is_double, n, m: Some(m) });
    }
    if args.float()? != 0.0 {
        return Err(args.fault_before("fcmp compares with a register or with #0.0"));
    }
    Ok(Instruction::FloatCompare { is_double, n, m: None })
}

fn fmov(args: &mut Args<'_>) -> Built {
    if let Some(Operand::General(_)) = args.peek() {
        let d = args.general(Thirty1::Zero)?;
        let (is_double, [n]) = args.scalars()?;
        pairs_up(args, d.width, is_double)?;
        return Ok(Instruction::FloatTransfer { is_double, to_general: true, d: d.number, n });
    }
    let (is_double, [d]) = args.scalars()?;
    match args.peek() {
        Some(Operand::General(_)) => {
            let n = args.general(Thirty1::Zero)?;
            pairs_up(args, n.width, is_double)?;
            Ok(Instruction::FloatTransfer { is_double, to_general: false, d, n: n.number })
        }
        Some(Operand::Scalar { .. }) => {
            let (other, [n]) = args.scalars()?;
            if other != is_double {
                return Err(args.fault_before("all registers are d, or all are s"));
            }
            Ok(Instruction::FloatUnary { is_double, kind: FloatUnary::Fmov, d, n })
        }
        _ => Ok(Instruction::FloatConstant { is_double, d, value: args.float()? }),
    }
}

fn pairs_up(args: &Args<'_>, width: Width, is_double: bool) -> Result<(), Fault> {
    if (width == Width::X) == is_double {
        return Ok(());
    }
    Err(args.fault_before("fmov moves between x and d registers, or w and s"))
}

fn from_integer(args: &mut Args<'_>) -> Built {
    let (is_double, [d]) = args.scalars()?;
    let n = args.general(Thirty1::Zero)?;
    Ok(Instruction::FromInteger { is_double, width: n.width, d, n: n.number })
}

fn to_integer(args: &mut Args<'_>) -> Built {
    let d = args.general(Thirty1::Zero)?;
    let (is_double, [n]) = args.scalars()?;
    Ok(Instruction::ToInteger { is_double, width: d.width, d: d.number, n })
}
