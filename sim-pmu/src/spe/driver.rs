//! What an operating system does with the unit: programs it for a user's request, serves its interrupt,
//! hands its buffer over (as Linux' driver of the extension does; SPE supplement 3.4 to 3.6).

use sim_core::{Counts, Cycle, EventSink, Operation, PmuEvent, Privilege};

use super::config::{MAX_RECORD_BYTES, SpeConfig};
use super::context::mdcr;
use super::registers::SpeRegister::*;
use super::registers::{MINLAT, pmblimitr, pmbsr, pmscr, pmsfcr, pmsirr};
use super::unit::Spe;

/// Where the driver has its buffer: any page of the kernel's half.
const BUFFER_ADDRESS: u64 = 0xffff_8000_1000_0000;
/// `PMSIDR_EL1.Interval` begins here; the shortest interval that each value means.
const INTERVAL_SHIFT: u32 = 8;
const MIN_INTERVALS: [u64; 9] = [256, 256, 512, 768, 1024, 1536, 2048, 3072, 4096];
/// The interval that makes the unit take every operation. No driver writes it.
pub const EVERY_OPERATION: u64 = 1;

/// What a user asks for, by the names that Linux gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpeRequest {
    /// Records have the time.
    pub ts_enable: bool,
    /// Records have physical addresses.
    pub pa_enable: bool,
    /// The time is the physical counter's.
    pub pct_enable: bool,
    /// The interval is random in its low byte, unless every operation is taken.
    pub jitter: bool,
    /// Branches are kept; without any of the three, everything is.
    pub branch_filter: bool,
    /// Loads are kept.
    pub load_filter: bool,
    /// Stores are kept.
    pub store_filter: bool,
    /// Events that a record must have to be kept.
    pub event_filter: u64,
    /// Least total latency of a record that is kept.
    pub min_latency: u64,
    /// Operations from one sample to the next; [`EVERY_OPERATION`] is taken at its word.
    pub period: u64,
    /// EL0 is not sampled.
    pub exclude_user: bool,
    /// The kernel is not sampled.
    pub exclude_kernel: bool,
}

impl SpeRequest {
    /// The interval that the unit will have: in its range, a multiple of 256.
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

/// Shortest interval of a unit with this identity.
pub fn min_interval(pmsidr: u64) -> u64 {
    let value = (pmsidr >> INTERVAL_SHIFT & 0xF) as usize;
    MIN_INTERVALS.get(value).copied().unwrap_or(pmsirr::INTERVAL)
}

/// The clocks of a core, and what `CNTVCT_EL0` is in cycle 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clocks {
    /// Core clock in Hz.
    pub core_hz: u64,
    /// Generic timer in Hz.
    pub counter_hz: u64,
    /// Reading of the generic timer in cycle 0.
    pub start: u64,
}

impl Clocks {
    /// Reading of the generic timer in a cycle.
    pub fn ticks(&self, cycle: Cycle) -> u64 {
        let ticks =
            u128::from(cycle) * u128::from(self.counter_hz) / u128::from(self.core_hz.max(1));
        self.start.wrapping_add(ticks as u64)
    }
}

/// What one service of the interrupt, or the end, handed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferDrain {
    /// When, as the generic timer reads.
    pub time: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// A part of a record behind them was lost (`PMBSR_EL1.DL`).
    pub truncated: bool,
    /// Samples collided since the service before.
    pub collided: bool,
}

/// The unit of one core in the hands of its driver.
#[derive(Clone, Debug)]
pub struct SpeDriver {
    spe: Spe,
    request: SpeRequest,
    clocks: Clocks,
    /// The four events of guide 4.14, while the run was counted.
    counts: Counts,
    drains: Vec<BufferDrain>,
    buffer_bytes: u64,
    /// Bytes of the buffer that are handed over already.
    head: u64,
    now: Cycle,
    is_running: bool,
    /// `PMBSR_EL1` of the fault that ended profiling.
    fault: Option<u64>,
}

impl SpeDriver {
    /// Takes the unit of core `core`. `buffer_bytes` is rounded up to two pages.
    pub fn new(
        config: &SpeConfig,
        core: usize,
        request: &SpeRequest,
        clocks: Clocks,
        buffer_bytes: u64,
    ) -> SpeDriver {
        let mut spe = Spe::new(config, core);
        spe.set_clocks(clocks.core_hz, clocks.counter_hz, clocks.start);
        // The monitor gives the buffer to the non-secure state.
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

    /// The unit, for what only its owner may set.
    pub fn unit(&mut self) -> &mut Spe {
        &mut self.spe
    }

    /// The four events of guide 4.14 so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// `PMBSR_EL1` of the fault that ended profiling, if one did.
    pub fn fault(&self) -> Option<u64> {
        self.fault
    }

    /// What was handed over so far, in order.
    pub fn take_drains(&mut self) -> Vec<BufferDrain> {
        std::mem::take(&mut self.drains)
    }

    /// The cycle heard last.
    pub fn now(&self) -> Cycle {
        self.now
    }

    /// Where the program runs. A kernel at EL2 owns the buffer itself.
    pub fn set_privilege(&mut self, privilege: Privilege) {
        self.spe.set_mdcr_el2(if privilege.e2h { 0 } else { mdcr::E2PB });
        self.spe.set_privilege(privilege);
    }

    /// Begins to profile: the filters, the interval, the buffer, and at last the enables.
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

    /// Ends: no new samples, those in flight are written, the buffer is handed over.
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

    /// An instruction went through the core.
    #[inline]
    pub fn operation(&mut self, operation: &Operation) {
        self.now = operation.life.rename;
        self.spe.before(operation);
        if operation.life.mops > 0 {
            self.finish(self.now);
        }
        self.spe.operation(operation, &mut self.counts);
    }

    /// Samples that are over are written one by one, so that none meets a buffer that waits for service.
    #[inline]
    fn finish(&mut self, now: Cycle) {
        while self.spe.finish_one(now, &mut self.counts) {
            if self.spe.interrupt() {
                self.serve();
            }
        }
    }

    /// `PMBIRQ`: hands over what is there; goes on unless a fault ended it.
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

    /// Gives the bytes up to the pointer to the reader, who takes them at once.
    fn drain_buffer(&mut self) {
        let status = self.spe.get(PMBSR_EL1);
        let pointer = self.spe.get(PMBPTR_EL1);
        let start = BUFFER_ADDRESS + self.head;
        let bytes = self.spe.memory().read(start, pointer.wrapping_sub(start) as usize);
        self.spe.memory_mut().forget_below(pointer);
        self.head += bytes.len() as u64;
        let (truncated, collided) = (status & pmbsr::DL != 0, status & pmbsr::COLL != 0);
        if !bytes.is_empty() || truncated {
            let time = self.clocks.ticks(self.now);
            self.drains.push(BufferDrain { time, bytes, truncated, collided });
        }
    }

    /// The next half of the ring is the unit's, so that the reader is woken while the other is free.
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

/// The drivers of all cores of a run, as one sink: they profile while the run is counted.
#[derive(Clone, Debug)]
pub struct SpeDrivers {
    cores: Vec<SpeDriver>,
    at: usize,
}

impl SpeDrivers {
    /// The drivers of the cores, in their order; at least one.
    pub fn new(cores: Vec<SpeDriver>) -> SpeDrivers {
        SpeDrivers { cores, at: 0 }
    }

    /// The drivers, when the run is over.
    pub fn into_cores(self) -> Vec<SpeDriver> {
        self.cores
    }
}

impl EventSink for SpeDrivers {
    const FOLLOWS_RUN: bool = true;

    #[inline]
    fn count(&mut self, _event: PmuEvent, _n: u64) {}

    #[inline]
    fn core(&mut self, core: usize) {
        self.at = core;
    }

    fn counting(&mut self, is_counted: bool) {
        let driver = &mut self.cores[self.at];
        if is_counted { driver.start() } else { driver.stop() }
    }

    fn privilege(&mut self, privilege: Privilege) {
        self.cores[self.at].set_privilege(privilege);
    }

    #[inline]
    fn operation(&mut self, operation: &Operation) {
        self.cores[self.at].operation(operation);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spe::{Item, Records};
    use sim_core::OpLife;

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

    /// One operation a cycle.
    fn run(driver: &mut SpeDriver, cycles: std::ops::Range<u64>) {
        for cycle in cycles {
            let life = OpLife {
                pc: 0x1000 + cycle * 4,
                rename: cycle,
                issue: cycle,
                complete: cycle + 1,
                // Sixteen retire together.
                retire: (cycle + 1).next_multiple_of(16),
                retired: true,
                mops: 1,
                ..OpLife::default()
            };
            driver.operation(&Operation { life, ..Operation::default() });
        }
    }

    #[test]
    fn periods_are_brought_into_the_range_of_the_unit() {
        let pmsidr = Spe::new(&SpeConfig::default(), 0).get(PMSIDR_EL1);
        let interval = |period| request(period).interval(pmsidr);
        assert_eq!(min_interval(pmsidr), 1024);
        assert_eq!([0, 2, 1024, 1279, 1280].map(interval), [1024, 1024, 1024, 1024, 1280]);
        assert_eq!(interval(u64::MAX), 0xFFFF_FF00);
        assert_eq!(interval(EVERY_OPERATION), 0);
    }

    /// A buffer of two pages is handed over half by half, and nothing is lost or written twice; records
    /// that are not aligned leave a rest at the end of a half.
    #[test]
    fn a_full_buffer_is_handed_over_and_the_unit_goes_on() {
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
    fn the_filters_of_a_user_reach_the_unit() {
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
        assert_eq!(driver.counts().value(PmuEvent::SAMPLE_POP), 0, "it has stopped");
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
    fn a_fault_ends_profiling_and_is_told() {
        use crate::spe::{BufferFault, FaultKind};
        let mut driver = driver(&request(EVERY_OPERATION), 1 << 20);
        let fault = BufferFault { kind: FaultKind::Translation(3), stage_2: false };
        driver.unit().memory_mut().spoil(BUFFER_ADDRESS + 64 * 3 + 8, fault);
        run(&mut driver, 0..100);
        driver.stop();
        let status = driver.fault().expect("the unit met the fault");
        assert_eq!(status >> pmbsr::EC_SHIFT & 0x3F, pmbsr::STAGE_1);
        let drains = driver.take_drains();
        assert_eq!(drains.len(), 1);
        assert!(drains[0].truncated && drains[0].bytes.len() == 64 * 3 + 8);
    }
}
