//! Words of loads, stores, prefetches and atomics.

use super::fields::{Unencodable, at, flag, signed, unsigned};
use super::instruction::Instruction;
use super::operand::{Address, Extend, Order, PairAddress, Transfer, Width};

/// The word of an instruction of this file, or `None` for the others.
pub(super) fn word(instruction: &Instruction) -> Option<Result<u32, Unencodable>> {
    use Instruction as I;
    Some(match *instruction {
        I::Access { transfer, t, base, address } => access(transfer, t, base, address),
        I::Pair { transfer, t, t2, base, address } => pair(transfer, t, t2, base, address),
        I::LoadExclusive { bytes, order, t, base } => {
            let head = 0x085f_7c00 | flag(order.acquires, 15);
            Ok(head | size(bytes) << 30 | at(base, 5) | at(t, 0))
        }
        I::StoreExclusive { bytes, order, s, t, base } => {
            let head = 0x0800_7c00 | flag(order.releases, 15) | at(s, 16);
            Ok(head | size(bytes) << 30 | at(base, 5) | at(t, 0))
        }
        I::Ordered { bytes, is_load, t, base } => {
            let head = 0x089f_fc00 | flag(is_load, 22);
            Ok(head | size(bytes) << 30 | at(base, 5) | at(t, 0))
        }
        I::Atomic { bytes, kind, order, s, t, base } => {
            let Order { acquires, releases } = order;
            let head = 0x3820_0000 | flag(acquires, 23) | flag(releases, 22) | at(s, 16);
            Ok(head | (kind as u32) << 12 | size(bytes) << 30 | at(base, 5) | at(t, 0))
        }
        I::CompareSwap { bytes, order, s, t, base } => {
            let Order { acquires, releases } = order;
            let head = 0x08a0_7c00 | flag(acquires, 22) | flag(releases, 15) | at(s, 16);
            Ok(head | size(bytes) << 30 | at(base, 5) | at(t, 0))
        }
        _ => return None,
    })
}

/// The field of an access of 1, 2, 4 or 8 bytes.
fn size(bytes: u8) -> u32 {
    bytes.trailing_zeros() & 3
}

/// Size, register file and operation of a transfer of one register.
fn head(transfer: Transfer) -> u32 {
    let (bytes, is_vector, operation) = match transfer {
        Transfer::Store { bytes } => (bytes, false, 0),
        Transfer::Load { bytes } => (bytes, false, 1),
        Transfer::LoadSigned { bytes, to: Width::X } => (bytes, false, 2),
        Transfer::LoadSigned { bytes, to: Width::W } => (bytes, false, 3),
        Transfer::StoreVector { bytes: 16 } => (1, true, 2),
        Transfer::LoadVector { bytes: 16 } => (1, true, 3),
        Transfer::StoreVector { bytes } => (bytes, true, 0),
        Transfer::LoadVector { bytes } => (bytes, true, 1),
        Transfer::Prefetch => (8, false, 2),
    };
    0x3800_0000 | size(bytes) << 30 | flag(is_vector, 26) | operation << 22
}

fn access(transfer: Transfer, t: u8, base: u8, address: Address) -> Result<u32, Unencodable> {
    let head = head(transfer) | at(base, 5) | at(t, 0);
    let nine = |offset| signed("the offset", offset, 9, 1).map(|field| field << 12);
    let bytes = i64::from(transfer.bytes());
    let is_plain = !matches!(transfer, Transfer::Prefetch);
    Ok(match address {
        Address::Scaled(offset) => {
            head | 1 << 24 | unsigned("the offset", offset, 12, bytes)? << 10
        }
        Address::Unscaled(offset) => head | nine(offset)?,
        Address::Post(offset) if is_plain => head | nine(offset)? | 1 << 10,
        Address::Pre(offset) if is_plain => head | nine(offset)? | 3 << 10,
        Address::Pre(_) | Address::Post(_) => {
            return Err(Unencodable("a prefetch does not change its base".to_owned()));
        }
        Address::Register { m, extend, is_scaled } => {
            if !matches!(extend, Extend::Uxtw | Extend::Uxtx | Extend::Sxtw | Extend::Sxtx) {
                let text = "an index is extended by lsl, uxtw, sxtw or sxtx";
                return Err(Unencodable(text.to_owned()));
            }
            head | 1 << 21 | at(m, 16) | (extend as u32) << 13 | flag(is_scaled, 12) | 2 << 10
        }
    })
}

fn pair(
    transfer: Transfer,
    t: u8,
    t2: u8,
    base: u8,
    address: PairAddress,
) -> Result<u32, Unencodable> {
    let (kind, is_vector, is_load) = match transfer {
        Transfer::Store { bytes: 4 } => (0, false, false),
        Transfer::Load { bytes: 4 } => (0, false, true),
        Transfer::LoadSigned { bytes: 4, to: Width::X } => (1, false, true),
        Transfer::Store { bytes: 8 } => (2, false, false),
        Transfer::Load { bytes: 8 } => (2, false, true),
        Transfer::StoreVector { bytes: bytes @ (4 | 8 | 16) } => (size(bytes / 4), true, false),
        Transfer::LoadVector { bytes: bytes @ (4 | 8 | 16) } => (size(bytes / 4), true, true),
        _ => return Err(Unencodable("pairs have registers of 4, 8 or 16 bytes".to_owned())),
    };
    let (mode, offset) = match address {
        PairAddress::Post(offset) => (1, offset),
        PairAddress::Offset(offset) => (2, offset),
        PairAddress::Pre(offset) => (3, offset),
    };
    let field = signed("the offset", offset, 7, i64::from(transfer.bytes()))?;
    let head = 0x2800_0000 | kind << 30 | flag(is_vector, 26) | mode << 23 | flag(is_load, 22);
    Ok(head | field << 15 | at(t2, 10) | at(base, 5) | at(t, 0))
}
