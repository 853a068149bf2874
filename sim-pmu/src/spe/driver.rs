//! Driver of the unit, like that of an operating system: programs the unit for a user's request,
//! serves its interrupt and drains its buffer. It follows the Linux driver of the extension (SPE
//! supplement 3.4 to 3.6).

use sim_core::{Counts, Cycle, EventSink, Notice, Operation, PmuEvent, Privilege};

use super::config::{MAX_RECORD_BYTES, SpeConfig};
use super::context::mdcr;
use super::registers::SpeRegister::*;
use super::registers::{MINLAT, pmblimitr, pmbsr, pmscr, pmsfcr, pmsirr};
use super::unit::Spe;

/// Address of the driver's buffer: any page in the kernel's half of the address space.
const BUFFER_ADDRESS: u64 = 0xffff_8000_1000_0000;
/// Shift of `PMSIDR_EL1.Interval`, whose values select the shortest interval.
const INTERVAL_SHIFT: u32 = 8;
const MIN_INTERVALS: [u64; 9] = [256, 256, 512, 768, 1024, 1536, 2048, 3072, 4096];
/// Interval that makes the unit sample every operation. No real driver writes it.
pub const EVERY_OPERATION: u64 = 1;

/// User's request, with the names that Linux gives its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpeRequest {
    /// Records have a timestamp.
    pub ts_enable: bool,
    /// Records have physical addresses.
    pub pa_enable: bool,
    /// The timestamp comes from the physical counter.
    pub pct_enable: bool,
    /// The interval is random in its low byte, unless every operation is sampled.
    pub jitter: bool,
    /// Branches are kept. Without any of the three type filters, all operations are kept.
    pub branch_filter: bool,
    /// Loads are kept.
    pub load_filter: bool,
    /// Stores are kept.
    pub store_filter: bool,
    /// Events that a record must have to be kept.
    pub event_filter: u64,
    /// Smallest total latency of a record that is kept.
    pub min_latency: u64,
    /// Operations from one sample to the next. [`EVERY_OPERATION`] is not rounded up.
    pub period: u64,
    /// EL0 is not sampled.
    pub exclude_user: bool,
    /// The kernel is not sampled.
    pub exclude_kernel: bool,
}

impl SpeRequest {
    /// Returns the interval that the unit will have: in its range, and a multiple of 256.
    pub fn interval(&self, pmsidr: u64) -> u64 {
        if self.period == EVERY_OPERATION {
            return 0;
        }
        self.period.clamp(min_interval(pmsidr), pmsirr::INTERVAL) & pmsirr::INTERVAL
    }

    fn pmscr(&self) -> u64 {
        let bit = |is_set: bool, bit: u64| if is_set { bit } else { 0 };
        bit(!self.exclude_user, pmscr::E0)
            | bit(!self.exclude_kernel, pmscr::OWN)
            | bit(self.ts_enable, pmscr::TS)
            | bit(self.pa_enable, pmscr::PA)
            | bit(self.pct_enable, pmscr::PCT)
            | pmscr::CX
    }

    fn pmsfcr(&self) -> u64 {
        let bit = |is_set: bool, bit: u64| if is_set { bit } else { 0 };
        let types = bit(self.branch_filter, pmsfcr::B)
            | bit(self.load_filter, pmsfcr::LD)
            | bit(self.store_filter, pmsfcr::ST);
        types
            | bit(types != 0, pmsfcr::FT)
            | bit(self.event_filter != 0, pmsfcr::FE)
            | bit(self.min_latency != 0, pmsfcr::FL)
    }
}

/// Returns the shortest interval of a unit with this `PMSIDR_EL1`.
pub fn min_interval(pmsidr: u64) -> u64 {
    let value = (pmsidr >> INTERVAL_SHIFT & 0xF) as usize;
    MIN_INTERVALS.get(value).copied().unwrap_or(pmsirr::INTERVAL)
}

/// Clock rates of a core, and the generic timer in cycle 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clocks {
    /// Frequency of the core clock in Hz.
    pub core_hz: u64,
    /// Frequency of the generic timer in Hz.
    pub counter_hz: u64,
    /// Value of the generic timer in cycle 0.
    pub start: u64,
}

impl Clocks {
    /// Returns the value of the generic timer in a cycle.
    pub fn ticks(&self, cycle: Cycle) -> u64 {
        let ticks =
            u128::from(cycle) * u128::from(self.counter_hz) / u128::from(self.core_hz.max(1));
        self.start.wrapping_add(ticks as u64)
    }
}

/// Bytes that one service of the interrupt, or the final stop, drained from the buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferDrain {
    /// Time of the drain, in ticks of the generic timer.
    pub time: u64,
    /// Drained bytes.
    pub bytes: Vec<u8>,
    /// Part of the following record was lost (`PMBSR_EL1.DL`).
    pub truncated: bool,
    /// Samples collided since the previous drain.
    pub collided: bool,
}

/// Unit of one core with its driver.
#[derive(Clone, Debug)]
pub struct SpeDriver {
    spe: Spe,
    request: SpeRequest,
    clocks: Clocks,
    /// Counts of the four events of guide 4.14, while the run was counted.
    counts: Counts,
    drains: Vec<BufferDrain>,
    buffer_bytes: u64,
    /// Offset in the buffer up to which bytes are drained.
    head: u64,
    now: Cycle,
    is_running: bool,
    /// Value of `PMBSR_EL1` at the fault that ended profiling.
    fault: Option<u64>,
}

impl SpeDriver {
    /// Creates the driver for the unit of core `core`. `buffer_bytes` is rounded up to two pages.
    pub fn new(
        config: &SpeConfig,
        core: usize,
        request: &SpeRequest,
        clocks: Clocks,
        buffer_bytes: u64,
    ) -> SpeDriver {
        let mut spe = Spe::new(config, core);
        spe.set_clocks(clocks.core_hz, clocks.counter_hz, clocks.start);
        // The secure monitor assigns the buffer to the non-secure state.
        spe.set_mdcr_el3(mdcr::NSPB);
        let page = 1 << pmblimitr::LIMIT.trailing_zeros();
        SpeDriver {
            spe,
            request: request.clone(),
            clocks,
            counts: Counts::default(),
            drains: Vec::new(),
            buffer_bytes: buffer_bytes.clamp(page, 1 << 40).next_multiple_of(2 * page),
            head: 0,
            now: 0,
            is_running: false,
            fault: None,
        }
    }

    /// Returns the unit, for settings that only its owner may change.
    pub fn unit(&mut self) -> &mut Spe {
        &mut self.spe
    }

    /// Returns the counts of the four events of guide 4.14 so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Returns `PMBSR_EL1` at the fault that ended profiling, if one did.
    pub fn fault(&self) -> Option<u64> {
        self.fault
    }

    /// Takes the drains so far, in order.
    pub fn take_drains(&mut self) -> Vec<BufferDrain> {
        std::mem::take(&mut self.drains)
    }

    /// Returns the rename cycle of the last operation.
    pub fn now(&self) -> Cycle {
        self.now
    }

    /// Sets the program's level and state. A kernel at EL2 owns the buffer itself.
    pub fn set_privilege(&mut self, privilege: Privilege) {
        self.spe.set_mdcr_el2(if privilege.e2h { 0 } else { mdcr::E2PB });
        self.spe.set_privilege(privilege);
    }

    /// Starts profiling: sets the filters, the interval, the buffer, and finally the enables.
    pub fn start(&mut self) {
        let request = &self.request;
        let interval = request.interval(self.spe.get(PMSIDR_EL1));
        let jitter = if request.jitter && interval > 0 { pmsirr::RND } else { 0 };
        self.spe.set(PMSFCR_EL1, request.pmsfcr());
        self.spe.set(PMSEVFR_EL1, request.event_filter);
        self.spe.set(PMSLATFR_EL1, request.min_latency.min(MINLAT));
        self.spe.set(PMSIRR_EL1, interval | jitter);
        self.spe.set(PMSICR_EL1, 0);
        let pmscr = request.pmscr();
        self.open_buffer();
        self.spe.set(PMSCR_EL2, pmscr);
        self.spe.set(PMSCR_EL1, pmscr);
        self.is_running = true;
    }

    /// Stops profiling: takes no new samples, writes those in flight, and drains the buffer.
    pub fn stop(&mut self) {
        if !self.is_running {
            return;
        }
        self.spe.set(PMSCR_EL1, 0);
        self.spe.set(PMSCR_EL2, 0);
        self.finish(Cycle::MAX);
        self.spe.synchronize(&mut self.counts);
        self.drain_buffer();
        self.spe.set(PMBLIMITR_EL1, 0);
        self.is_running = false;
    }

    /// Passes one operation of the core to the unit.
    #[inline]
    pub fn operation(&mut self, operation: &Operation) {
        self.now = operation.timeline.rename;
        self.spe.resolve_target(operation);
        if operation.timeline.mops > 0 {
            self.finish(self.now);
        }
        self.spe.operation(operation, &mut self.counts);
    }

    /// Writes completed samples one by one, so that each one finds the buffer served.
    #[inline]
    fn finish(&mut self, now: Cycle) {
        while self.spe.finish_one(now, &mut self.counts) {
            if self.spe.interrupt() {
                self.serve();
            }
        }
    }

    /// Serves `PMBIRQ`: drains the buffer, and continues unless a fault stopped it.
    #[cold]
    fn serve(&mut self) {
        let status = self.spe.get(PMBSR_EL1);
        self.drain_buffer();
        let is_full = status & (pmbsr::EC | pmbsr::MSS) == pmbsr::FULL;
        if is_full && self.fault.is_none() {
            self.open_buffer();
        } else {
            self.fault.get_or_insert(status);
            self.spe.set(PMBLIMITR_EL1, 0);
            self.spe.set(PMBSR_EL1, 0);
        }
    }

    /// Moves the bytes up to the pointer to the list of drains.
    fn drain_buffer(&mut self) {
        let status = self.spe.get(PMBSR_EL1);
        let pointer = self.spe.get(PMBPTR_EL1);
        let start = BUFFER_ADDRESS + self.head;
        let bytes = self.spe.memory().read(start, pointer.wrapping_sub(start) as usize);
        self.spe.memory_mut().discard_below(pointer);
        self.head += bytes.len() as u64;
        let (truncated, collided) = (status & pmbsr::DL != 0, status & pmbsr::COLL != 0);
        if !bytes.is_empty() || truncated {
            let time = self.clocks.ticks(self.now);
            self.drains.push(BufferDrain { time, bytes, truncated, collided });
        }
    }

    /// Gives the next half of the ring to the unit, so that the reader can drain one half while the
    /// unit fills the other.
    fn open_buffer(&mut self) {
        let half = self.buffer_bytes / 2;
        let room = half - self.head % half;
        if room < MAX_RECORD_BYTES {
            self.head += room;
        }
        self.head %= self.buffer_bytes;
        let limit = (self.head / half + 1) * half;
        self.spe.set(PMBPTR_EL1, BUFFER_ADDRESS + self.head);
        self.spe.set(PMBSR_EL1, 0);
        self.spe.set(PMBLIMITR_EL1, (BUFFER_ADDRESS + limit) | pmblimitr::E);
    }
}

/// Drivers of all cores of a run, in one sink. They profile while the run is counted.
#[derive(Clone, Debug)]
pub struct SpeDrivers {
    cores: Vec<SpeDriver>,
    at: usize,
}

impl SpeDrivers {
    /// Creates the sink from the drivers of the cores, in their order; at least one.
    pub fn new(cores: Vec<SpeDriver>) -> SpeDrivers {
        SpeDrivers { cores, at: 0 }
    }

    /// Returns the drivers after the run.
    pub fn into_cores(self) -> Vec<SpeDriver> {
        self.cores
    }
}

impl EventSink for SpeDrivers {
    const OBSERVES_OPS: bool = true;
    const SKIPS_OPS: bool = true;

    #[inline]
    fn unneeded_mops(&self) -> u64 {
        self.cores[self.at].spe.unneeded_mops()
    }

    #[inline]
    fn count(&mut self, _event: PmuEvent, _n: u64) {}

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Core(core) => {
                self.at = core;
            }
            Notice::Counting(is_counted) => {
                let driver = &mut self.cores[self.at];
                if is_counted { driver.start() } else { driver.stop() }
            }
            Notice::Privilege(privilege) => {
                self.cores[self.at].set_privilege(privilege);
            }
            Notice::Operation(operation) => {
                self.cores[self.at].operation(operation);
            }
            Notice::Skipped(mops) => {
                let SpeDriver { spe, counts, .. } = &mut self.cores[self.at];
                spe.skip(mops, counts);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spe::{Item, Records};
    use sim_core::OpTimeline;

    const CLOCKS: Clocks =
        Clocks { core_hz: 2_000_000_000, counter_hz: 1_000_000_000, start: 1_000_000_000 };

    fn request(period: u64) -> SpeRequest {
        SpeRequest { ts_enable: true, period, ..SpeRequest::default() }
    }

    fn driver(request: &SpeRequest, buffer_bytes: u64) -> SpeDriver {
        driver_of(&SpeConfig::default(), request, buffer_bytes)
    }

    fn driver_of(config: &SpeConfig, request: &SpeRequest, buffer_bytes: u64) -> SpeDriver {
        let mut driver = SpeDriver::new(config, 0, request, CLOCKS, buffer_bytes);
        driver.set_privilege(Privilege::default());
        driver.start();
        driver
    }

    /// Runs one operation per cycle.
    fn run(driver: &mut SpeDriver, cycles: std::ops::Range<u64>) {
        for cycle in cycles {
            let timeline = OpTimeline {
                pc: 0x1000 + cycle * 4,
                rename: cycle,
                issue: cycle,
                complete: cycle + 1,
                // Sixteen operations retire together.
                retire: (cycle + 1).next_multiple_of(16),
                retired: true,
                mops: 1,
                ..OpTimeline::default()
            };
            driver.operation(&Operation { timeline, ..Operation::default() });
        }
    }

    #[test]
    fn periods_are_clamped_to_the_range_of_the_unit() {
        let pmsidr = Spe::new(&SpeConfig::default(), 0).get(PMSIDR_EL1);
        let interval = |period| request(period).interval(pmsidr);
        assert_eq!(min_interval(pmsidr), 1024);
        assert_eq!([0, 2, 1024, 1279, 1280].map(interval), [1024, 1024, 1024, 1024, 1280]);
        assert_eq!(interval(u64::MAX), 0xFFFF_FF00);
        assert_eq!(interval(EVERY_OPERATION), 0);
    }

    /// A buffer of two pages is drained half by half, and nothing is lost or written twice.
    /// Unaligned records leave unused bytes at the end of a half.
    #[test]
    fn a_full_buffer_is_drained_and_the_unit_continues() {
        for (align_bytes, samples_in_flight) in [(64, 1), (1, 1), (64, 0)] {
            let config = SpeConfig { align_bytes, samples_in_flight, ..SpeConfig::default() };
            let mut driver = driver_of(&config, &request(EVERY_OPERATION), 1);
            run(&mut driver, 0..10_000);
            driver.stop();
            assert_eq!(driver.fault(), None);
            let drains = driver.take_drains();
            let longest = drains.iter().map(|part| part.bytes.len()).max();
            assert!(drains.len() > 5 && longest > Some(4096 - 64), "{longest:?}");
            let bytes: Vec<u8> = drains.iter().flat_map(|part| part.bytes.clone()).collect();
            assert_eq!(driver.counts().value(PmuEvent::SAMPLE_POP), 10_000);
            let mut pcs = Vec::new();
            for item in Records::new(&bytes) {
                let Item::Record(found) = item else { panic!("damage: {item:?}") };
                pcs.push(found.record.pc.expect("every record has it").address);
            }
            assert_eq!(pcs.len() as u64, driver.counts().value(PmuEvent::SAMPLE_FILTRATE));
            assert!(pcs.is_sorted_by(|a, b| a < b), "each once, in order");
            let times: Vec<u64> = drains.iter().map(|part| part.time).collect();
            assert!(times.is_sorted() && times[0] > CLOCKS.start, "{times:?}");
        }
    }

    #[test]
    fn requested_filters_reach_the_unit() {
        let asked = SpeRequest {
            load_filter: true,
            min_latency: 0x1_0000,
            event_filter: 1 << 5,
            jitter: true,
            exclude_kernel: true,
            ..request(4096)
        };
        let mut driver = driver(&asked, 1 << 20);
        let get = |driver: &mut SpeDriver, register| driver.unit().get(register);
        let filters = pmsfcr::FE | pmsfcr::FT | pmsfcr::FL | pmsfcr::LD;
        assert_eq!(get(&mut driver, PMSFCR_EL1), filters);
        assert_eq!(get(&mut driver, PMSEVFR_EL1), 1 << 5);
        assert_eq!(get(&mut driver, PMSLATFR_EL1), 0xFFF);
        assert_eq!(get(&mut driver, PMSIRR_EL1), 4096 | 1);
        assert_eq!(get(&mut driver, PMSCR_EL1), pmscr::E0 | pmscr::TS | pmscr::CX);
        driver.stop();
        assert_eq!(get(&mut driver, PMSCR_EL1) | get(&mut driver, PMBLIMITR_EL1), 0);
        run(&mut driver, 0..10_000);
        assert_eq!(driver.counts().value(PmuEvent::SAMPLE_POP), 0, "the driver has stopped");
    }

    /// A kernel at EL2 with applications under it profiles through its own registers.
    #[test]
    fn a_host_at_el2_owns_the_buffer() {
        let mut driver = driver(&request(1024), 1 << 20);
        let host = Privilege { level: 0, e2h: true, tge: true, secure: false };
        driver.set_privilege(host);
        assert!(driver.unit().is_profiling());
        driver.set_privilege(Privilege { level: 2, ..host });
        assert!(driver.unit().is_profiling());
        assert_eq!(driver.unit().owner().level, 2);
    }

    #[test]
    fn a_fault_ends_profiling_and_is_reported() {
        use crate::spe::{BufferFault, FaultKind};
        let mut driver = driver(&request(EVERY_OPERATION), 1 << 20);
        let fault = BufferFault { kind: FaultKind::Translation(3), stage_2: false };
        driver.unit().memory_mut().inject_fault(BUFFER_ADDRESS + 64 * 3 + 8, fault);
        run(&mut driver, 0..100);
        driver.stop();
        let status = driver.fault().expect("the unit reports the fault");
        assert_eq!(status >> pmbsr::EC_SHIFT & 0x3F, pmbsr::STAGE_1);
        let drains = driver.take_drains();
        assert_eq!(drains.len(), 1);
        assert!(drains[0].truncated && drains[0].bytes.len() == 64 * 3 + 8);
    }
}
