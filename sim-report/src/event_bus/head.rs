//! Description of a bus, which every form writes first.

use sim_pmu::event_bus::Wire;

/// Description of a bus.
#[derive(Clone, Debug)]
pub struct BusHead<'a> {
    /// Bits of the bus.
    pub wires: Vec<Wire>,
    /// Thread of each core.
    pub streams: &'a [u32],
    /// Core that exports the bus.
    pub core: &'a str,
    /// Name of the trace.
    pub source: &'a str,
}

/// Returns the name of a wire: its event, or the condition that two instructions retired.
pub(super) fn name(wire: &Wire) -> &'static str {
    wire.event.unwrap_or("TWO_INST_RETIRED")
}
