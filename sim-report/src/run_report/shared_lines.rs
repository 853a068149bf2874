//! Table of the lines that cores take from one another: data, code, and use of the bytes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim_core::LINE_BYTES;

use super::code::Place;
use super::line_sharing::{Accesses, Line, UsedBytes};
use super::mesh::CorePairCount;
use super::profiled::N2Profile;
use super::ratio::percent;

/// Line of 64 bytes that accesses took from another core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SharedLine {
    /// Virtual address, in hexadecimal.
    pub address: String,
    /// First variable in the line, `table+0x40`, if a program given with the trace names it.
    pub variable: Option<String>,
    /// Retired loads and atomics whose data came from another core.
    pub loads: u64,
    /// Sum of their cycles, from issue to data.
    pub cycles: u64,
    /// Share of these cycles among those of all such lines, in percent.
    pub percent: f64,
    /// Cores with an access to the line after it first came from another core.
    pub cores: u64,
    /// Cores among these that wrote to it.
    pub writers: u64,
    /// Loads among `loads` that read a byte which another core had written since the reader last
    /// used the line. The others needed the line only.
    pub data_loads: u64,
    /// Use of the line by each core that reads or writes it, by number.
    #[serde(default)]
    pub users: Vec<LineUse>,
    /// Pairs of cores, of which requests of one for this line made the home node snoop the other;
    /// empty if the mesh was not counted, and incomplete if `mesh.line_pairs_are_cut` is set.
    #[serde(default)]
    pub core_pairs: Vec<CorePairCount>,
    /// Instructions that most of the loads belong to, most first.
    pub loaded_at: Vec<SharedPlace>,
    /// Instructions with most writes to the line, most first.
    pub written_at: Vec<SharedPlace>,
}

/// Use of a shared line by one core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LineUse {
    /// Number of the core.
    pub core: u32,
    /// Its retired loads and atomics whose data came from another core.
    pub loads: u64,
    /// Sum of their cycles, from issue to data.
    pub cycles: u64,
    /// Whether it wrote to the line.
    pub writes: bool,
}

/// Instruction that accesses a shared line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SharedPlace {
    /// Place in the program.
    pub place: Place,
    /// Its loads from another core, or its writes.
    pub accesses: u64,
}

/// Fewest loads of a line whose sharing is judged.
const LEAST_LOADS: u64 = 16;
/// Most lines listed.
const LINES: usize = 20;
/// Most instructions listed with a line.
const PLACES: usize = 3;

impl SharedLine {
    /// Returns whether cores write the line, and most loads needed the line only, not its new data.
    pub fn is_false_sharing(&self) -> bool {
        let is_shared = self.cores > 1 && self.writers > 0;
        self.is_judged() && is_shared && self.data_loads * 2 < self.loads
    }

    /// Returns whether the loads say which kind of sharing it is. A few say nothing: for the first
    /// one, it is not known what was written before.
    pub fn is_judged(&self) -> bool {
        self.loads >= LEAST_LOADS
    }

    /// Returns the lines with loads from another core, those with most cycles first.
    pub(super) fn all(profile: &N2Profile<'_>) -> Vec<SharedLine> {
        let lines = profile.observed.sharing.lines();
        let mut lines: Vec<_> = lines.iter().filter(|(_, line)| line.loads > 0).collect();
        lines.sort_by_key(|(_, line)| std::cmp::Reverse(line.cycles));
        let cycles = lines.iter().map(|(_, line)| line.cycles).sum();
        let row = |(address, line): (&u64, &Line)| SharedLine {
            percent: percent(line.cycles, cycles),
            ..SharedLine::of(*address, line, profile)
        };
        lines.into_iter().take(LINES).map(row).collect()
    }

    fn of(address: u64, line: &Line, profile: &N2Profile<'_>) -> SharedLine {
        let variable = |byte| profile.symbols.data_name(address | byte);
        SharedLine {
            address: format!("{address:#x}"),
            variable: (0..LINE_BYTES).find_map(variable),
            loads: line.loads,
            cycles: line.cycles,
            percent: 0.0,
            cores: line.used.len() as u64,
            writers: line.used.values().filter(|used| used.written != 0).count() as u64,
            data_loads: line.data_loads,
            users: line.used.iter().map(LineUse::of).collect(),
            core_pairs: pairs(line, profile),
            loaded_at: places(line, profile, |accesses| accesses.from_peer),
            written_at: places(line, profile, |accesses| accesses.writes),
        }
    }
}

impl LineUse {
    fn of((core, used): (&usize, &UsedBytes)) -> LineUse {
        let UsedBytes { loads, cycles, written, .. } = *used;
        LineUse { core: *core as u32, loads, cycles, writes: written != 0 }
    }
}

/// Returns what requests for a line caused at other cores.
fn pairs(line: &Line, profile: &N2Profile<'_>) -> Vec<CorePairCount> {
    let pairs = &profile.observed.outcome.mesh.pairs;
    let of_line = line.physical.into_iter().flat_map(|physical| pairs.of_line(physical));
    of_line.map(CorePairCount::of).collect()
}

/// Returns the instructions with most of some accesses to a line.
fn places(line: &Line, profile: &N2Profile<'_>, of: fn(&Accesses) -> u64) -> Vec<SharedPlace> {
    let used = line.by_pc.iter().filter(|(_, accesses)| of(accesses) > 0);
    let mut used: Vec<(u64, u64)> = used.map(|(pc, accesses)| (*pc, of(accesses))).collect();
    used.sort_by_key(|(_, accesses)| std::cmp::Reverse(*accesses));
    let place = |(pc, accesses)| SharedPlace { place: profile.place_at(pc), accesses };
    used.into_iter().take(PLACES).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_loads_are_not_judged() {
        let line = |loads, data_loads| SharedLine {
            address: String::from("0x1000"),
            variable: None,
            loads,
            cycles: 140 * loads,
            percent: 100.0,
            cores: 2,
            writers: 1,
            data_loads,
            users: Vec::new(),
            core_pairs: Vec::new(),
            loaded_at: Vec::new(),
            written_at: Vec::new(),
        };
        let verdict = |line: SharedLine| (line.is_judged(), line.is_false_sharing());
        assert_eq!(verdict(line(15, 0)), (false, false));
        assert_eq!(verdict(line(16, 7)), (true, true));
        assert_eq!(verdict(line(16, 8)), (true, false));
    }
}
