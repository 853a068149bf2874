//! Messages of the CHI protocol between cores, home nodes, memory and the DVM node, by name.
//!
//! A list of what agents of a machine with Neoverse N2 cores exchange, with the operation codes of
//! the AMBA CHI specification (IHI 0050, issue E). The mesh has four channels. A message is one
//! flit, but a line of data is two, and a `SnpDVMOp` is two.

/// Channel of the mesh. CHI, chapter 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Channel {
    /// Requests.
    Req,
    /// Responses without data.
    Rsp,
    /// Snoops.
    Snp,
    /// Data.
    Dat,
}

impl Channel {
    /// All channels, in the order of their numbers in the registers of CMN-700.
    pub const ALL: [Channel; 4] = [Channel::Req, Channel::Rsp, Channel::Snp, Channel::Dat];

    /// Returns the name in events of a crosspoint, such as `dat`.
    pub fn name(self) -> &'static str {
        ["req", "rsp", "snp", "dat"][self as usize]
    }
}

/// Declares the messages: name, channel, operation code, flits.
macro_rules! messages {
    ($($(#[$doc:meta])* $name:ident = $channel:ident $opcode:literal $flits:literal,)*) => {
        /// A message of the protocol.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Message { $($(#[$doc])* $name,)* }

        impl Message {
            /// Every message, in the order of declaration.
            pub const ALL: [Message; [$(stringify!($name)),*].len()] = [$(Message::$name),*];

            /// Returns the name in the CHI specification.
            pub fn name(self) -> &'static str {
                match self {
                    Message::PartWrData => "NonCopyBackWrData",
                    Message::PartCompData => "CompData",
                    _ => [$(stringify!($name)),*][self as usize],
                }
            }

            /// Returns the channel that carries it.
            pub fn channel(self) -> Channel {
                [$(Channel::$channel),*][self as usize]
            }

            /// Returns its operation code, which is unique within its channel.
            pub fn opcode(self) -> u8 {
                [$($opcode),*][self as usize]
            }

            /// Returns the flits that it takes: two for a line of 64 bytes.
            pub fn flits(self) -> u64 {
                [$($flits),*][self as usize]
            }
        }
    };
}

messages! {
    /// Read of a line that memory does not snoop: by a home node from memory, or of a device.
    ReadNoSnp = Req 0x04 1,
    /// Read of a line by a load, a prefetch, a fetch or a table walk.
    ReadNotSharedDirty = Req 0x26 1,
    /// Read of a line that is then written.
    ReadUnique = Req 0x07 1,
    /// Ownership of a line that the core may hold a shared copy of; with data if it lost the copy.
    MakeReadUnique = Req 0x41 1,
    /// Ownership of a line whose bytes are all written.
    MakeUnique = Req 0x0C 1,
    /// Write-back of a modified line that leaves the cache.
    WriteBackFull = Req 0x1B 1,
    /// Write-back of a modified line that stays as a clean one.
    WriteCleanFull = Req 0x17 1,
    /// A clean line leaves the cache; the home node decides whether it takes the data.
    WriteEvictOrEvict = Req 0x42 1,
    /// A clean line leaves the cache without data.
    Evict = Req 0x0D 1,
    /// Write of a part of a line that memory does not snoop.
    WriteNoSnpPtl = Req 0x1C 1,
    /// Write of a whole line that memory does not snoop: by a home node to memory.
    WriteNoSnpFull = Req 0x1D 1,
    /// Write of a whole line by an I/O agent that sends it on to a core.
    WriteUniqueFullStash = Req 0x20 1,
    /// Maintenance: every modified copy is written to memory and stays clean.
    CleanShared = Req 0x08 1,
    /// Maintenance: every modified copy is written to memory, and no copy stays.
    CleanInvalid = Req 0x09 1,
    /// Maintenance: no copy stays, and modified data may be lost.
    MakeInvalid = Req 0x0A 1,
    /// Atomic operation at the home node without a result.
    AtomicStore = Req 0x28 1,
    /// Atomic operation at the home node that returns the old value.
    AtomicLoad = Req 0x30 1,
    /// Swap at the home node.
    AtomicSwap = Req 0x38 1,
    /// Maintenance of TLBs or instruction caches of all cores, or its synchronization.
    DVMOp = Req 0x14 1,

    /// Answer to a snoop without data.
    SnpResp = Rsp 0x01 1,
    /// The requester has its data or its ownership.
    CompAck = Rsp 0x02 1,
    /// The request has to be sent again when a credit is granted.
    RetryAck = Rsp 0x03 1,
    /// The request is complete.
    Comp = Rsp 0x04 1,
    /// The request is complete; a buffer for its data is free.
    CompDBIDResp = Rsp 0x05 1,
    /// A buffer for the data of the request is free.
    DBIDResp = Rsp 0x06 1,
    /// A credit for a request that has to be sent again.
    PCrdGrant = Rsp 0x07 1,
    /// Answer to a snoop without data; the data went to the requester.
    SnpRespFwded = Rsp 0x09 1,

    /// Snoop for a reader; modified data comes to the home node.
    SnpNotSharedDirty = Snp 0x04 1,
    /// Snoop for a reader; the data goes to it directly.
    SnpNotSharedDirtyFwd = Snp 0x14 1,
    /// Snoop for a writer; modified data comes to the home node.
    SnpUnique = Snp 0x07 1,
    /// Snoop for a writer; the data goes to it directly.
    SnpUniqueFwd = Snp 0x17 1,
    /// Snoop that cleans.
    SnpCleanShared = Snp 0x08 1,
    /// Snoop that cleans and invalidates.
    SnpCleanInvalid = Snp 0x09 1,
    /// Snoop that invalidates without returning data.
    SnpMakeInvalid = Snp 0x0A 1,
    /// Snoop that announces a line to a core, which may read it at once.
    SnpMakeInvalidStash = Snp 0x06 1,
    /// Maintenance of TLBs or instruction caches, sent to each core.
    SnpDVMOp = Snp 0x0D 2,

    /// Answer to a snoop with the line.
    SnpRespData = Dat 0x01 2,
    /// Line of a copy-back.
    CopyBackWrData = Dat 0x02 2,
    /// Line of a write that is no copy-back.
    NonCopyBackWrData = Dat 0x03 2,
    /// Line for a requester.
    CompData = Dat 0x04 2,
    /// Answer to a snoop with the line, which also went to the requester.
    SnpRespDataFwded = Dat 0x06 2,
    /// Operand of an atomic, payload of a maintenance operation, or part of a line to write.
    PartWrData = Dat 0x03 1,
    /// Result of an atomic, or part of a line.
    PartCompData = Dat 0x04 1,
}

impl Message {
    /// Number of messages.
    pub const COUNT: usize = Message::ALL.len();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_of_a_channel_has_one_name() {
        for one in Message::ALL {
            let code = |message: Message| (message.channel(), message.opcode());
            let same = Message::ALL.into_iter().filter(|other| code(*other) == code(one));
            assert!(same.clone().all(|other| other.name() == one.name()), "{}", one.name());
            let parts = same.filter(|other| other.flits() == one.flits()).count();
            assert_eq!(parts, 1, "{}: a line and a part of one at most", one.name());
        }
    }
}
