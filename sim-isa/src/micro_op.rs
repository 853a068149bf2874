//! Micro-operations of an instruction: their pipes and their roles (PMU guide 3.2.2).

/// The thirteen issue pipes (PMU guide 3.2.2; names of the optimization guide), as a mask.
///
/// An operation with a choice takes the lowest free bit. A pipe that others depend on therefore has
/// a higher bit than its peers: M0 above M1, the store address pipes above L2, V0 above V1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PipeMask(pub u16);

impl PipeMask {
    /// Branch pipes B0, B1.
    pub const B: PipeMask = PipeMask(0b11);
    /// Single-cycle integer pipes S0, S1.
    pub const S: PipeMask = PipeMask(0b11 << 2);
    /// Multi-cycle integer pipe M0 (divide, CRC, transfers).
    pub const M0: PipeMask = PipeMask(1 << 5);
    /// Multi-cycle integer pipe M1.
    pub const M1: PipeMask = PipeMask(1 << 4);
    /// Load or store address pipes L0, L1.
    pub const L01: PipeMask = PipeMask(0b11 << 7);
    /// Load-only pipe L2.
    pub const L2: PipeMask = PipeMask(1 << 6);
    /// Integer store data pipes D0, D1.
    pub const D: PipeMask = PipeMask(0b11 << 9);
    /// Vector pipe V0.
    pub const V0: PipeMask = PipeMask(1 << 12);
    /// Vector pipe V1.
    pub const V1: PipeMask = PipeMask(1 << 11);
    /// Both multi-cycle integer pipes.
    pub const M: PipeMask = PipeMask(0b11 << 4);
    /// All four integer pipes.
    pub const I: PipeMask = PipeMask(0b1111 << 2);
    /// All three load pipes.
    pub const L: PipeMask = PipeMask(0b111 << 6);
    /// Both vector pipes.
    pub const V: PipeMask = PipeMask(0b11 << 11);
    /// No pipe.
    pub const NONE: PipeMask = PipeMask(0);
    /// Number of pipes.
    pub const COUNT: usize = 13;
}

/// Role of a micro-operation: its inputs and its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Waits for all sources and writes all destinations.
    #[default]
    Compute,
    /// Waits for the address sources (the first `n_addr_srcs`) and reads memory.
    Load,
    /// Waits for the loads of the same instruction (permute, sign extension, authentication
    /// result).
    AfterLoad,
    /// Waits for the address sources and translates the store address.
    StoreAddr,
    /// Waits for the data sources and provides store data.
    StoreData,
    /// Waits for the address sources and writes the base register (the last destination).
    BaseUpdate,
    /// Waits for all sources and precedes the memory access or branch (`RETAA`, `LDRAA`:
    /// authentication).
    Before,
}

/// A group of `count` equal micro-operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UopGroup {
    /// Pipes; each micro-operation takes one of them.
    pub pipes: PipeMask,
    /// Role of each micro-operation.
    pub role: Role,
    /// Number of micro-operations.
    pub count: u8,
    /// Cycles from issue to the result. For `Load`, the L1-hit load-to-use latency (4 or 6). For
    /// `AfterLoad`, the cycles added after the loaded data.
    pub latency: u8,
    /// Cycles for which the pipe is blocked, at least 1.
    pub occupancy: u8,
    /// True if it writes NZCV in a single-cycle integer pipe (at most 3 such writes per cycle).
    pub flag_port: bool,
}

impl UopGroup {
    /// Returns true for one micro-operation that takes a pipe for one cycle.
    #[inline]
    pub fn is_one(&self) -> bool {
        self.count == 1 && self.takes_a_cycle()
    }

    /// Returns true if each micro-operation takes a pipe for one cycle.
    #[inline]
    pub fn takes_a_cycle(&self) -> bool {
        self.pipes != PipeMask::NONE && self.occupancy == 1
    }

    /// Returns true if each micro-operation takes a pipe for one cycle and nothing else.
    #[inline]
    pub fn takes_only_a_cycle(&self) -> bool {
        self.takes_a_cycle() && !self.flag_port
    }
}
