//! Reasons for which an event of the mesh is always zero in the model.

/// Declares the reasons: name in the table, text.
macro_rules! reasons {
    ($($(#[$doc:meta])* $reason:ident = $name:literal, $text:literal;)*) => {
        /// Reason for which an event is always zero.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Reason { $($(#[$doc])* $reason,)* }

        impl Reason {
            /// Every reason.
            pub const ALL: &'static [Reason] = &[$(Reason::$reason),*];

            /// Returns the name in the table of events.
            pub fn name(self) -> &'static str {
                match self { $(Reason::$reason => $name,)* }
            }

            /// Returns a sentence for people, without a period.
            pub fn text(self) -> &'static str {
                match self { $(Reason::$reason => $text,)* }
            }
        }
    };
}

reasons! {
    /// Flits wait for links if the configuration says so.
    NoContention = "no-contention", "flits do not wait for each other (memory.mesh.link-contention is false)";
    /// Flits enter and leave the mesh at once.
    NoCredits = "no-credits", "flits do not wait for credits at the ports of devices and gateways";
    /// Agents send whole data flits.
    NoPartialFlits = "no-partial-flits", "every agent of the model sends data flits of 32 bytes";
    /// The channel for internal messages.
    NoPublicChannel = "no-public-channel", "the model has no messages of the channel PUB";
    /// Second sub-channels are an option of the build.
    NoSecondChannel = "no-second-channel", "every channel of the mesh is built once";
    /// A port beyond the last one.
    NoPort = "no-port", "no device of the mesh is connected to this port";
    /// Queues of home nodes, which the configuration may limit.
    UnlimitedQueue = "unlimited-queue", "a home node takes any number of requests (memory.slc.queue-entries is 0)";
    /// Requests to one line, which the configuration may let wait for each other.
    NoLineHazards = "no-line-hazards", "requests to one line do not wait for each other (memory.slc.line-hazards is false)";
    /// Queues of the operands of atomics.
    NoDataQueue = "no-data-queue", "a home node takes the operands of any number of atomics";
    /// Trackers of other nodes.
    UnlimitedTrackers = "unlimited-trackers", "the trackers of the node take any number of requests";
    /// Queues of memory controllers, which the configuration may limit.
    MemoryAcceptsAll = "memory-accepts-all", "memory controllers accept every request (memory.dram.write-entries is 0)";
    /// Requests of home nodes to busy memory.
    NoThrottle = "no-throttle", "home nodes hold no request back because a memory controller is busy";
    /// Quality of service.
    OneClass = "one-class", "requests have no classes of quality of service";
    /// Partitions.
    NoMpam = "no-mpam", "the system level cache has no partitions by MPAM";
    /// Snoop filter.
    ExactFilter = "exact-filter", "the snoop filter follows each core by itself";
    /// Snoop filter victims.
    InstantEviction = "instant-eviction", "an eviction from the snoop filter ends before the next request";
    /// Operations of atomics.
    AnyAtomic = "any-atomic", "the model does not distinguish operations such as additions and swaps";
    /// Atomics at a home node.
    NoAtomicForward = "no-atomic-forward", "atomics to one line take it from the cache one by one";
    /// Exclusive monitors.
    NoHomeMonitor = "no-home-monitor", "home nodes have no exclusive monitors";
    /// Branch predictors.
    NoBranchInvalidation = "no-branch-invalidation", "no instruction of the cores invalidates the branch predictors of others";
    /// Barriers after maintenance.
    NoDvmSync = "no-dvmsync", "a barrier does not wait for maintenance in other cores (memory.dvm.sync is false)";
    /// Invalidation of instruction caches.
    ByPhysicalAddress = "by-physical-address", "instruction caches are invalidated by physical address";
    /// Filters of the DVM node.
    NoDvmFilter = "no-dvm-filter", "maintenance is sent to every core";
    /// DVM nodes.
    OneDvmNode = "one-dvm-node", "the mesh has one DVM node";
    /// The other chip.
    NoRemoteRequests = "no-remote-requests", "the cores of the other chip are idle";
    /// The link between chips.
    NoLinkFlits = "no-link-flits", "the link between chips has a latency and no flits";
    /// Devices.
    NoAxi = "no-axi", "the model ends at the mesh, before the AXI bus of devices";
    /// Devices.
    NoDeviceOrder = "no-device-order", "requests to devices do not wait for each other";
    /// I/O agents.
    NoIoRetries = "no-io-retries", "each request of an I/O agent is sent once";
    /// A message that the model lacks.
    NoSuchMessage = "no-such-message", "the model has no message that the watchpoint matches";
    /// A node that the mesh lacks.
    NoHnS = "no-hn-s", "the home nodes of the mesh are HN-F, with the same events as type 5";
    /// A node that the mesh lacks.
    NoHnP = "no-hn-p", "the mesh has no HN-P";
    /// A node that the mesh lacks.
    NoRnD = "no-rn-d", "the mesh has no RN-D; its I/O agent is an RN-I";
    /// A node that the mesh lacks.
    NoSbsx = "no-sbsx", "the mesh has no SBSX; its memory controllers are SN-F";
}

impl Reason {
    /// Returns the reason with this name in the table.
    pub(crate) fn with_name(name: &str) -> Option<Reason> {
        Reason::ALL.iter().copied().find(|reason| reason.name() == name)
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.text())
    }
}
