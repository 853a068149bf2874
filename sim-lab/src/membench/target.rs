//! Published values of silicon that the model must meet.

/// Unit of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Core cycles per load.
    Cycles,
    /// Bytes per core cycle.
    BytesPerCycle,
    /// Bytes per nanosecond; the core's clock converts it to bytes per cycle.
    GigabytesPerSecond,
}

/// A published value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// Measured quantity.
    pub quantity: &'static str,
    /// Smallest published value.
    pub low: f64,
    /// Largest published value.
    pub high: f64,
    /// Unit of the values.
    pub unit: Unit,
    /// Accepted relative deviation of the model.
    pub tolerance: f64,
    /// Publisher and platform.
    pub source: &'static str,
}

impl Target {
    /// Returns the relative deviation of the model from the published range; 0 inside.
    pub fn error(&self, model: f64) -> f64 {
        if model < self.low {
            model / self.low - 1.0
        } else if model > self.high {
            model / self.high - 1.0
        } else {
            0.0
        }
    }

    /// Returns true if the deviation is within the tolerance.
    pub fn is_met_by(&self, model: f64) -> bool {
        self.error(model).abs() <= self.tolerance
    }
}

const fn latency(quantity: &'static str, low: f64, high: f64, source: &'static str) -> Target {
    Target { quantity, low, high, unit: Unit::Cycles, tolerance: 0.05, source }
}

const fn rate(quantity: &'static str, value: f64, unit: Unit, source: &'static str) -> Target {
    Target { quantity, low: value, high: value, unit, tolerance: 0.15, source }
}

/// Load-to-use latency of an L1 D-cache hit.
pub const L1D_LATENCY: Target =
    latency("L1D load-to-use", 4.0, 4.0, "Chips and Cheese, Cortex-A710");
/// Load-to-use latency of an L2 hit.
pub const L2_LATENCY: Target =
    latency("L2 load-to-use", 13.0, 14.0, "Chips and Cheese, Neoverse N2 (Yitian 710)");
/// Load-to-use latency at a footprint of 16 MB with 2 MB pages: 35.48 ns at 2.75 GHz.
pub const SLC_LATENCY: Target = latency(
    "system level cache load-to-use, 16 MB",
    97.6,
    97.6,
    "Chips and Cheese, Neoverse N2 (Yitian 710)",
);
/// Load-to-use latency far beyond the system level cache: 141 ns at 2.75 GHz.
pub const DRAM_LATENCY: Target =
    latency("DRAM load-to-use", 388.0, 388.0, "Chips and Cheese, Neoverse N2 (Yitian 710)");
/// Read bandwidth of one core from its L1 D-cache: 95.98 GB/s at 2.2 GHz.
pub const L1D_BANDWIDTH: Target =
    rate("L1D read bandwidth", 43.6, Unit::BytesPerCycle, "Chips and Cheese, Cortex-A710");
/// Read bandwidth of one core from its L2: 45.84 GB/s at 2.2 GHz.
pub const L2_BANDWIDTH: Target =
    rate("L2 read bandwidth", 20.0, Unit::BytesPerCycle, "Chips and Cheese, Cortex-A710");
/// Read bandwidth of one core from the system level cache: 36.5 GB/s at 2.75 GHz.
pub const SLC_BANDWIDTH: Target = rate(
    "system level cache read bandwidth",
    13.3,
    Unit::BytesPerCycle,
    "Chips and Cheese, Neoverse N2",
);
/// Read bandwidth of one core from LPDDR5, as a rate in time: memory has no core clock.
pub const DRAM_BANDWIDTH: Target =
    rate("DRAM read bandwidth", 21.64, Unit::GigabytesPerSecond, "Chips and Cheese, Cortex-A710");

/// Two cores that alternate compare-and-swaps of one line: 50 to 60 ns at 2.75 GHz.
pub const CORE_TO_CORE: Target = Target {
    quantity: "core-to-core CAS",
    low: 138.0,
    high: 165.0,
    unit: Unit::Cycles,
    tolerance: 0.15,
    source: "Chips and Cheese, Neoverse N2 (Yitian 710)",
};

/// All targets.
pub const TARGETS: [Target; 9] = [
    L1D_LATENCY,
    L2_LATENCY,
    SLC_LATENCY,
    DRAM_LATENCY,
    L1D_BANDWIDTH,
    L2_BANDWIDTH,
    SLC_BANDWIDTH,
    DRAM_BANDWIDTH,
    CORE_TO_CORE,
];
