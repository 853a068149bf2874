//! Sums over the sample records of a profile.

use std::collections::{BTreeMap, HashMap};

use sim_core::{DataSource, LINE_SHIFT};
use sim_pmu::spe::{Events, SpeRecord};

/// Number of values of a 12-bit latency.
const LATENCIES: usize = 0x1000;

/// Group of operations; loads are divided by data source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    /// Loads, swaps and atomics with result, by data source; `None` if it was not recorded.
    Load(Option<u16>),
    /// Stores and atomics without result.
    Store,
    /// Branches and exception returns.
    Branch,
    /// Everything else.
    Other,
}

impl Group {
    /// Returns the group of a record.
    pub fn of(record: &SpeRecord) -> Group {
        match record.operation.unwrap_or_default() {
            kind if kind.is_load() => Group::Load(record.data_source),
            kind if kind.is_store() => Group::Store,
            kind if kind.is_branch() => Group::Branch,
            _ => Group::Other,
        }
    }

    /// Returns the name in reports.
    pub fn name(self) -> String {
        match self {
            Group::Load(Some(source)) => format!("load, {}", source_label(source)),
            Group::Load(None) => String::from("load, source unknown"),
            Group::Store => String::from("store"),
            Group::Branch => String::from("branch"),
            Group::Other => String::from("other"),
        }
    }
}

/// Returns the name of a data source in reports. Clusters, which the model does not have, get the
/// name of Arm's decoder.
fn source_label(source: u16) -> String {
    let source_of = |source: DataSource| source.label().to_owned();
    match source {
        0x0 => source_of(DataSource::L1),
        0x8 => source_of(DataSource::L2),
        0x9 => source_of(DataSource::Peer),
        0xb => source_of(DataSource::Slc),
        0xd => source_of(DataSource::Remote),
        0xe => source_of(DataSource::Dram),
        other => source_name(other),
    }
}

/// Returns the name of a data source of this family of cores, as in Arm's decoder, or its number.
pub fn source_name(source: u16) -> String {
    let name = match source {
        0x0 => "L1D",
        0x8 => "L2D",
        0x9 => "PEER-CPU",
        0xa => "LOCAL-CLUSTER",
        0xb => "LL-CACHE",
        0xc => "PEER-CLUSTER",
        0xd => "REMOTE",
        0xe => "DRAM",
        _ => return format!("{source:#x}"),
    };
    name.to_owned()
}

/// Samples by number of cycles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Latencies {
    counts: Vec<u64>,
}

impl Default for Latencies {
    fn default() -> Latencies {
        Latencies { counts: vec![0; LATENCIES] }
    }
}

impl Latencies {
    /// Adds a sample. A latency beyond the counter counts as its largest value.
    pub fn add(&mut self, cycles: u16) {
        self.counts[usize::from(cycles).min(LATENCIES - 1)] += 1;
    }

    /// Adds the samples of another core.
    pub fn merge(&mut self, other: &Latencies) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, more)| *sum += more);
    }

    /// Returns the number of samples.
    pub fn samples(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the sum of the cycles of all samples.
    pub fn cycles(&self) -> u64 {
        self.counts.iter().zip(0..).map(|(count, cycles)| count * cycles).sum()
    }

    /// Returns the sum of the squared cycles of all samples.
    pub fn squares(&self) -> f64 {
        self.counts.iter().zip(0_u64..).map(|(count, it)| *count as f64 * (it * it) as f64).sum()
    }

    /// Returns the mean, or 0 without samples.
    pub fn mean(&self) -> f64 {
        self.cycles() as f64 / self.samples().max(1) as f64
    }

    /// Returns the smallest latency that `share` of the samples do not exceed, or 0 without
    /// samples.
    pub fn percentile(&self, share: f64) -> u64 {
        let wanted = (self.samples() as f64 * share).ceil() as u64;
        let mut seen = 0;
        let reached = self.counts.iter().zip(0..).find(|(count, _)| {
            seen += *count;
            seen >= wanted && seen > 0
        });
        reached.map_or(0, |(_, cycles)| cycles)
    }

    /// Returns the samples by powers of two: the first has 0 and 1 cycles, the last 2048 and more.
    pub fn octaves(&self) -> [u64; 12] {
        let mut octaves = [0; 12];
        for (cycles, count) in self.counts.iter().enumerate() {
            octaves[cycles.max(1).ilog2() as usize] += count;
        }
        octaves
    }
}

/// Samples of one instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Number of samples.
    pub samples: u64,
    /// Sum of their total latencies.
    pub cycles: u64,
    /// Samples that refilled the L1 D-cache.
    pub refills: u64,
    /// Mispredicted branches.
    pub mispredicted: u64,
}

/// Samples of one cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Loads.
    pub loads: u64,
    /// Stores.
    pub stores: u64,
    /// Accesses that refilled the L1 D-cache.
    pub refills: u64,
    /// Loads with data from another core or chip.
    pub from_others: u64,
    /// Sum of the total latencies of its loads.
    pub cycles: u64,
    /// Lowest virtual address used, for its name.
    pub virtual_address: Option<u64>,
}

impl Line {
    /// Returns the number of loads and stores.
    pub fn samples(&self) -> u64 {
        self.loads + self.stores
    }

    /// Includes a virtual address.
    fn use_address(&mut self, address: Option<u64>) {
        self.virtual_address = match (self.virtual_address, address) {
            (Some(own), Some(other)) => Some(own.min(other)),
            (own, other) => own.or(other),
        };
    }
}

/// Sums over sample records.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// Number of records.
    pub records: u64,
    /// Packets without a known meaning.
    pub unknown_packets: u64,
    /// Records with each event.
    pub events: [u64; 32],
    /// Total latency of each group.
    pub total: BTreeMap<Group, Latencies>,
    /// Sum of the issue latencies of each group.
    pub issue_cycles: BTreeMap<Group, u64>,
    /// Translation latency of loads and stores.
    pub translation: Latencies,
    /// Samples by program counter.
    pub places: HashMap<u64, Place>,
    /// Samples by line of the physical address, or of the virtual address if the former was not
    /// recorded.
    pub lines: HashMap<u64, Line>,
}

impl Profile {
    /// Adds a record.
    pub fn add(&mut self, record: &SpeRecord) {
        self.records += 1;
        let events = record.events.unwrap_or_default();
        for (bit, count) in self.events.iter_mut().enumerate() {
            *count += events.0 >> bit & 1;
        }
        let group = Group::of(record);
        let cycles = record.total_latency.unwrap_or_default();
        self.total.entry(group).or_default().add(cycles);
        *self.issue_cycles.entry(group).or_default() +=
            u64::from(record.issue_latency.unwrap_or_default());
        if let Some(cycles) = record.translation_latency {
            self.translation.add(cycles);
        }
        if let Some(pc) = record.pc {
            let place = self.places.entry(pc.canonical()).or_default();
            place.samples += 1;
            place.cycles += u64::from(cycles);
            place.refills += u64::from(events.has(Events::L1D_REFILL));
            place.mispredicted += u64::from(events.has(Events::MISPREDICTED));
        }
        self.add_line(record, events, u64::from(cycles));
    }

    fn add_line(&mut self, record: &SpeRecord, events: Events, cycles: u64) {
        let physical = record.physical_address.map(|at| at.address);
        let Some(address) = physical.or(record.virtual_address) else { return };
        let line = self.lines.entry(address >> LINE_SHIFT).or_default();
        line.refills += u64::from(events.has(Events::L1D_REFILL));
        line.use_address(record.virtual_address);
        match Group::of(record) {
            Group::Load(source) => {
                line.loads += 1;
                line.cycles += cycles;
                line.from_others += u64::from(matches!(source, Some(0x9 | 0xa | 0xc | 0xd)));
            }
            _ => line.stores += 1,
        }
    }

    /// Adds the records of another core.
    pub fn merge(&mut self, other: &Profile) {
        self.records += other.records;
        self.unknown_packets += other.unknown_packets;
        self.events.iter_mut().zip(other.events).for_each(|(sum, more)| *sum += more);
        for (group, total) in &other.total {
            self.total.entry(*group).or_default().merge(total);
        }
        for (group, cycles) in &other.issue_cycles {
            *self.issue_cycles.entry(*group).or_default() += cycles;
        }
        self.translation.merge(&other.translation);
        for (pc, more) in &other.places {
            let place = self.places.entry(*pc).or_default();
            place.samples += more.samples;
            place.cycles += more.cycles;
            place.refills += more.refills;
            place.mispredicted += more.mispredicted;
        }
        for (number, more) in &other.lines {
            let line = self.lines.entry(*number).or_default();
            line.use_address(more.virtual_address);
            line.loads += more.loads;
            line.stores += more.stores;
            line.refills += more.refills;
            line.from_others += more.from_others;
            line.cycles += more.cycles;
        }
    }

    /// Returns the samples of a group.
    pub fn samples(&self, group: Group) -> u64 {
        self.total.get(&group).map_or(0, Latencies::samples)
    }

    /// Returns the number of records with an event.
    pub fn with_event(&self, event: Events) -> u64 {
        self.events.get(event.0.trailing_zeros() as usize).copied().unwrap_or(0)
    }

    /// Returns the instructions with most samples; of equal ones the lower address comes first.
    pub fn hot_places(&self, top: usize) -> Vec<(u64, Place)> {
        most(&self.places, top, |place| place.samples)
    }

    /// Returns the lines with most loads and stores.
    pub fn hot_lines(&self, top: usize) -> Vec<(u64, Line)> {
        most(&self.lines, top, Line::samples)
    }
}

fn most<T: Copy>(all: &HashMap<u64, T>, top: usize, weight: impl Fn(&T) -> u64) -> Vec<(u64, T)> {
    let mut sorted: Vec<(u64, T)> = all.iter().map(|(at, own)| (*at, *own)).collect();
    sorted.sort_by_key(|(at, own)| (std::cmp::Reverse(weight(own)), *at));
    sorted.truncate(top);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_pmu::spe::{AccessClass, InstAddress, OperationType};

    fn load(pc: u64, source: u16, cycles: u16) -> SpeRecord {
        SpeRecord {
            pc: Some(InstAddress { address: pc, level: 0, non_secure: true }),
            operation: Some(OperationType::access(false, AccessClass::General)),
            events: Some(Events::RETIRED.with_if(source > 0, Events::L1D_REFILL)),
            total_latency: Some(cycles),
            virtual_address: Some(0x1000 + pc),
            data_source: Some(source),
            ..SpeRecord::default()
        }
    }

    #[test]
    fn records_are_summed_by_group_place_and_line() {
        let mut profile = Profile::default();
        for record in [load(4, 0, 4), load(4, 0xc, 100), load(8, 0xc, 300)] {
            profile.add(&record);
        }
        profile.add(&SpeRecord { events: Some(Events(1)), ..SpeRecord::default() });
        assert_eq!(profile.records, 4);
        assert_eq!(profile.samples(Group::Load(Some(0xc))), 2);
        assert_eq!(profile.samples(Group::Other), 1);
        assert_eq!(profile.with_event(Events::L1D_REFILL), 2);
        let place = Place { samples: 2, cycles: 104, refills: 1, mispredicted: 0 };
        assert_eq!(profile.hot_places(1), [(4, place)]);
        let virtual_address = Some(0x1004);
        let line =
            Line { loads: 3, stores: 0, refills: 2, from_others: 2, cycles: 404, virtual_address };
        assert_eq!(profile.hot_lines(9), [(0x40, line)]);
    }

    #[test]
    fn merged_profiles_of_two_cores_equal_one_profile() {
        let records = [load(4, 0, 4), load(4, 8, 9), load(8, 0, 7)];
        let sum = |records: &[SpeRecord]| {
            let mut profile = Profile::default();
            records.iter().for_each(|record| profile.add(record));
            profile
        };
        let (both, mut first, second) = (sum(&records), sum(&records[..1]), sum(&records[1..]));
        first.merge(&second);
        assert_eq!(first, both);
    }

    #[test]
    fn percentiles_and_octaves_follow_the_samples() {
        let mut latencies = Latencies::default();
        assert_eq!((latencies.percentile(0.5), latencies.mean()), (0, 0.0));
        for cycles in [0, 1, 2, 3, 4, 5000] {
            latencies.add(cycles);
        }
        assert_eq!(latencies.percentile(0.5), 2);
        assert_eq!(latencies.percentile(1.0), 4095);
        assert_eq!(latencies.octaves(), [2, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(latencies.cycles(), 10 + 4095);
    }
}
