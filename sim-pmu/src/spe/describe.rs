//! Text of packets and operation kinds, in the words that Linux perf prints.

use std::fmt;

use super::events::Events;
use super::operation_type::{AccessClass, OperationClass, OperationType, SveShape};
use super::packet::{AddressKind, CounterKind, Packet};
use super::record::{ADDRESS_MASK, InstAddress, PhysicalAddress};

impl AccessClass {
    /// Returns the name of the registers or memory involved, or `None` for atomics and related
    /// operations.
    pub fn name(self) -> Option<&'static str> {
        Some(match self {
            AccessClass::General => "GP-REG",
            AccessClass::Simd => "SIMD-FP",
            AccessClass::Sve(_) => "SVE",
            AccessClass::UnspecifiedRegister => "UNSPEC-REG",
            AccessClass::SystemRegister => "NV-SYSREG",
            AccessClass::Tag => "MTE-TAG",
            AccessClass::Copy => "MEMCPY",
            AccessClass::Set => "MEMSET",
            AccessClass::Extended { .. } | AccessClass::Unknown => return None,
        })
    }
}

impl fmt::Display for OperationType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.class {
            OperationClass::Other => fmt_other(*self, f),
            OperationClass::Access => fmt_access(*self, f),
            OperationClass::Branch => {
                let condition = if self.is_conditional() { " COND" } else { "" };
                let indirect = if self.is_indirect() { " IND" } else { "" };
                write!(f, "B{condition}{indirect}")
            }
            OperationClass::Reserved => write!(f, "OP-TYPE {:#x} (3)", self.payload),
        }
    }
}

fn fmt_other(kind: OperationType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match kind.other_sve_shape() {
        Some(SveShape { vector_bits, predicated, gather_or_float }) => {
            let float = if gather_or_float { " FP" } else { "" };
            let predicate = if predicated { " PRED" } else { "" };
            write!(f, "SVE-OTHER EVLEN {vector_bits}{float}{predicate}")
        }
        None if kind.is_conditional() => f.write_str("OTHER COND-SELECT"),
        None => f.write_str("OTHER INSN-OTHER"),
    }
}

fn fmt_access(kind: OperationType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(if kind.is_store() { "ST" } else { "LD" })?;
    match kind.access_class() {
        Some(AccessClass::Extended { atomic, exclusive, ordered }) => {
            for (is_so, name) in [(atomic, " AT"), (exclusive, " EXCL"), (ordered, " AR")] {
                f.write_str(if is_so { name } else { "" })?;
            }
            Ok(())
        }
        Some(AccessClass::Sve(SveShape { vector_bits, predicated, gather_or_float })) => {
            let predicate = if predicated { " PRED" } else { "" };
            let scattered = if gather_or_float { " SG" } else { "" };
            write!(f, " EVLEN {vector_bits}{predicate}{scattered}")
        }
        Some(AccessClass::Unknown) => write!(f, " {:#x}", kind.payload),
        class => match class.and_then(AccessClass::name) {
            Some(name) => write!(f, " {name}"),
            None => Ok(()),
        },
    }
}

impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Packet::Padding => f.write_str("PAD"),
            Packet::End => f.write_str("END"),
            Packet::Alignment { size } => write!(f, "ALIGN {}", 2_u32 << size),
            Packet::Timestamp(time) => write!(f, "TS {time}"),
            Packet::Events { bits, .. } => {
                f.write_str("EV")?;
                Events(bits).names().try_for_each(|name| write!(f, " {name}"))
            }
            Packet::DataSource { value, .. } => write!(f, "DATA-SOURCE {value}"),
            Packet::Context { index, value } => write!(f, "CONTEXT {value:#x} el{}", index + 1),
            Packet::Operation(kind) => kind.fmt(f),
            Packet::Counter { index, value, .. } => fmt_counter(index, value, f),
            Packet::Address { index, value, .. } => fmt_address(index, value, f),
            Packet::Unknown { header, prefix, value } => {
                let prefix = prefix.map_or(String::new(), |prefix| format!("{prefix:02x} "));
                write!(f, "unknown packet {prefix}{header:02x}: {value:#x}")
            }
        }
    }
}

fn fmt_counter(index: u8, value: u16, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    const TOTAL: u8 = CounterKind::Total as u8;
    const ISSUE: u8 = CounterKind::Issue as u8;
    const TRANSLATION: u8 = CounterKind::Translation as u8;
    match index {
        TOTAL => write!(f, "LAT {value} TOT"),
        ISSUE => write!(f, "LAT {value} ISSUE"),
        TRANSLATION => write!(f, "LAT {value} XLAT"),
        _ => write!(f, "LAT {value} ({index})"),
    }
}

fn fmt_address(index: u8, value: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    const VIRTUAL: u8 = AddressKind::Virtual as u8;
    const PHYSICAL: u8 = AddressKind::Physical as u8;
    let names = ["PC", "TGT", "VA", "PA", "PBT"];
    match (index, names.get(usize::from(index))) {
        (VIRTUAL, _) => write!(f, "VA {value:#x}"),
        (PHYSICAL, _) => {
            let PhysicalAddress { address, non_secure, checked, tag } =
                PhysicalAddress::from_payload(value);
            let (ns, ch) = (u8::from(non_secure), u8::from(checked));
            write!(f, "PA {address:#x} ns={ns} ch={ch} pat={tag:x}")
        }
        (_, Some(name)) => {
            let InstAddress { level, non_secure, .. } = InstAddress::from_payload(value);
            let ns = u8::from(non_secure);
            write!(f, "{name} {:#x} el{level} ns={ns}", value & ADDRESS_MASK)
        }
        (_, None) => write!(f, "ADDR {value:#x} ({index})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> String {
        Packet::decode(bytes).expect("a whole packet").0.to_string()
    }

    #[test]
    fn packets_are_described_in_the_words_of_perf() {
        let cases: [(&[u8], &str); 16] = [
            (
                &[0xb0, 0x5c, 0x8b, 0x8c, 0x86, 0xc2, 0xc0, 0xff, 0xc0],
                "PC 0xffc0c2868c8b5c el2 ns=1",
            ),
            (&[0xb1, 0xe0, 0, 0, 0, 0, 0, 0, 0x20], "TGT 0xe0 el1 ns=0"),
            (&[0xb2, 0xc0, 0x26, 0, 0, 0, 0, 0, 0xb4], "VA 0xb4000000000026c0"),
            (&[0xb3, 0xe8, 9, 0, 0, 0, 0, 0, 0x80], "PA 0x9e8 ns=1 ch=0 pat=0"),
            (&[0x22, 0xb6, 1, 0, 0, 0, 0, 0, 0, 0], "ADDR 0x1 (22)"),
            (&[0x99, 7, 0], "LAT 7 ISSUE"),
            (&[0x98, 0xff, 0x0f], "LAT 4095 TOT"),
            (&[0x52, 0x1e, 3], "EV RETIRED L1D-ACCESS L1D-REFILL TLB-ACCESS LLC-ACCESS LLC-REFILL"),
            (&[0x43, 11], "DATA-SOURCE 11"),
            (&[0x65, 0x92, 0x10, 0, 0], "CONTEXT 0x1092 el2"),
            (&[0x71, 1, 0, 0, 0, 0, 0, 0, 0], "TS 1"),
            (&[0x49, 0x16], "LD AT AR"),
            (&[0x49, 0xac], "LD EVLEN 128 PRED SG"),
            (&[0x48, 0x01], "OTHER COND-SELECT"),
            (&[0x4a, 0x02], "B IND"),
            (&[0x23, 0], "ALIGN 16"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(text(bytes), expected);
        }
        assert_eq!(text(&[0x21, 0xc0, 5]), "unknown packet 21 c0: 0x5");
    }
}
