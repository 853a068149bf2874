//! Sample record: all packets that SPE supplement 5.3 defines for one operation.

use super::events::Events;
use super::operation_type::OperationType;

/// Bits of an address in an address packet (SPE supplement 5.3.1).
pub const ADDRESS_MASK: u64 = (1 << 56) - 1;

/// Address of an instruction or of a branch target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InstAddress {
    /// Bits 55:0 of the address.
    pub address: u64,
    /// Exception level, 0 to 3.
    pub level: u8,
    /// The state is non-secure.
    pub non_secure: bool,
}

impl InstAddress {
    /// Returns the payload: NS in bit 63, the level in bits 62:61.
    pub fn payload(self) -> u64 {
        self.address & ADDRESS_MASK
            | u64::from(self.level & 3) << 61
            | u64::from(self.non_secure) << 63
    }

    /// Returns the address for a payload.
    pub fn from_payload(payload: u64) -> InstAddress {
        InstAddress {
            address: payload & ADDRESS_MASK,
            level: (payload >> 61 & 3) as u8,
            non_secure: payload >> 63 == 1,
        }
    }

    /// Returns the virtual address with bits 63:56 copied from bit 55, so that it is comparable to
    /// symbol addresses.
    pub fn canonical(self) -> u64 {
        ((self.address << 8) as i64 >> 8) as u64
    }
}

/// Physical address of data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PhysicalAddress {
    /// Bits 55:0 of the address.
    pub address: u64,
    /// The physical address space is non-secure.
    pub non_secure: bool,
    /// The tags of the location were checked (Memory Tagging Extension).
    pub checked: bool,
    /// Tag of the address, bits 59:56, if it was checked.
    pub tag: u8,
}

impl PhysicalAddress {
    /// Returns the payload: NS in bit 63, CH in bit 62, PAT in bits 59:56.
    pub fn payload(self) -> u64 {
        self.address & ADDRESS_MASK
            | u64::from(self.tag & 0xf) << 56
            | u64::from(self.checked) << 62
            | u64::from(self.non_secure) << 63
    }

    /// Returns the address for a payload.
    pub fn from_payload(payload: u64) -> PhysicalAddress {
        PhysicalAddress {
            address: payload & ADDRESS_MASK,
            non_secure: payload >> 63 == 1,
            checked: payload >> 62 & 1 == 1,
            tag: (payload >> 56 & 0xf) as u8,
        }
    }
}

/// Sample record. A field that was not collected is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpeRecord {
    /// Address of the operation.
    pub pc: Option<InstAddress>,
    /// Value of `CONTEXTIDR_EL1`.
    pub context_el1: Option<u32>,
    /// Value of `CONTEXTIDR_EL2`.
    pub context_el2: Option<u32>,
    /// Kind of operation.
    pub operation: Option<OperationType>,
    /// Events of the operation. Every record that hardware writes has them.
    pub events: Option<Events>,
    /// Cycles from dispatch to issue; [`LATENCY_MAX`] means this value or more.
    pub issue_latency: Option<u16>,
    /// Cycles from dispatch to completion.
    pub total_latency: Option<u16>,
    /// Cycles of the address translation.
    pub translation_latency: Option<u16>,
    /// Branch target.
    pub branch_target: Option<InstAddress>,
    /// Target of the previous taken branch (SPEv1p2; never on N2).
    pub previous_target: Option<InstAddress>,
    /// Virtual address of an access, with its top-byte tag where tags are ignored.
    pub virtual_address: Option<u64>,
    /// Physical address of an access.
    pub physical_address: Option<PhysicalAddress>,
    /// Data source of a load.
    pub data_source: Option<u16>,
    /// Time of the sample, in ticks of the generic timer.
    pub timestamp: Option<u64>,
}

/// Value of a saturated 12-bit counter.
pub const LATENCY_MAX: u16 = 0xfff;

/// Returns a number of cycles as a 12-bit saturating counter holds it.
pub fn latency(cycles: u64) -> u16 {
    u16::try_from(cycles).map_or(LATENCY_MAX, |cycles| cycles.min(LATENCY_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_saturate_and_addresses_keep_their_fields() {
        let cycles = [0, 0xffe, 0xfff, 5000, u64::MAX].map(latency);
        assert_eq!(cycles, [0, 0xffe, 0xfff, 0xfff, 0xfff]);
        let kernel = InstAddress::from_payload(0xc0ff_8000_1234_5678);
        assert_eq!((kernel.level, kernel.non_secure), (2, true));
        assert_eq!(kernel.canonical(), 0xffff_8000_1234_5678);
        assert_eq!(kernel.payload(), 0xc0ff_8000_1234_5678);
        let tagged = PhysicalAddress::from_payload(0xc500_0000_8000_0040);
        assert!(tagged.checked && tagged.non_secure && tagged.tag == 5);
        assert_eq!(tagged.payload(), 0xc500_0000_8000_0040);
    }
}
