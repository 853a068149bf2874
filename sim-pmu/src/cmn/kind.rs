//! Kinds of nodes of a CMN-700 mesh, and of devices at a port that have no node of their own.

/// Declares the kinds: name, number of the type, prefix of events in Arm's telemetry, in Linux.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal $number:expr, $arm:literal, $linux:literal;)*) => {
        /// Kind of a node, or of a device at a port.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum NodeKind { $($(#[$doc])* $kind,)* }

        impl NodeKind {
            /// Every kind.
            pub const ALL: &'static [NodeKind] = &[$(NodeKind::$kind),*];

            /// Returns the name in Arm's documents, such as `HN-F`.
            pub fn name(self) -> &'static str {
                match self { $(NodeKind::$kind => $name,)* }
            }

            /// Returns the number of the type, the field `type` of an event. Devices that have no
            /// node have no number.
            pub fn number(self) -> Option<u16> {
                match self { $(NodeKind::$kind => $number,)* }
            }

            /// Returns the beginning of the names of events in Arm's telemetry.
            pub(crate) fn arm_prefix(self) -> &'static str {
                match self { $(NodeKind::$kind => $arm,)* }
            }

            /// Returns the beginning of the names of events in Linux.
            pub(crate) fn linux_prefix(self) -> &'static str {
                match self { $(NodeKind::$kind => $linux,)* }
            }
        }
    };
}

kinds! {
    /// The DVM node, which distributes maintenance of TLBs and instruction caches.
    Dn = "DN" Some(0x1), "PMU_DN_", "dn_";
    /// The controller of debug and trace, with the cycle counter.
    Dtc = "DTC" Some(0x3), "SYS_CMN_", "dtc_";
    /// The home node of devices.
    HnI = "HN-I" Some(0x4), "PMU_HNI_", "hni_";
    /// A home node with a slice of the system level cache.
    HnF = "HN-F" Some(0x5), "PMU_HNF_", "hnf_";
    /// A crosspoint.
    Xp = "XP" Some(0x6), "CMN_XP_", "mxp_";
    /// A bridge to memory that has AXI.
    Sbsx = "SBSX" Some(0x7), "PMU_SBSX_", "sbsx_";
    /// A bridge of I/O agents.
    RnI = "RN-I" Some(0xA), "PMU_RNI_", "rnid_";
    /// A bridge of I/O agents with TLBs. Linux counts it as an RN-I.
    RnD = "RN-D" Some(0xD), "PMU_RND_", "rnid_";
    /// The home node of devices that write to each other.
    HnP = "HN-P" Some(0x11), "PMU_HNP_", "hnp_";
    /// The half of a gateway that sends requests to the other chip.
    CcgRa = "CCG-RA" Some(0x103), "PMU_CCGRA_", "ccra_";
    /// The half of a gateway that serves requests of the other chip.
    CcgHa = "CCG-HA" Some(0x104), "PMU_CCGHA_", "ccha_";
    /// The link of a gateway.
    Ccla = "CCLA" Some(0x105), "PMU_CCLA_", "ccla_";
    /// The home node of later revisions, in place of HN-F.
    HnS = "HN-S" Some(0x200), "PMU_HNS_", "hns_";
    /// A core with its caches.
    RnF = "RN-F" None, "", "";
    /// A memory controller.
    SnF = "SN-F" None, "", "";
    /// A gateway to the other chip.
    Ccg = "CCG" None, "", "";
}

impl NodeKind {
    /// Returns the kind with this name.
    pub fn with_name(name: &str) -> Option<NodeKind> {
        NodeKind::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// Returns the kind with this number of the type.
    pub fn with_number(number: u16) -> Option<NodeKind> {
        NodeKind::ALL.iter().copied().find(|kind| kind.number() == Some(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_unique() {
        for kind in NodeKind::ALL {
            assert_eq!(NodeKind::with_name(kind.name()), Some(*kind));
            if let Some(number) = kind.number() {
                assert_eq!(NodeKind::with_number(number), Some(*kind));
            }
        }
    }
}
