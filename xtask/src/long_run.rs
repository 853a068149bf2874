//! Counts past 32 bits. A trace is replayed until an event has passed 2^32, with three chained
//! pairs of counters and with six single ones whose overflows software adds up. Both must give the
//! true counts. PMU guide 4.12.5 (CHAIN); Arm ARM D11 (overflow).

use std::path::PathBuf;

use sim_core::{Counts, EventSink, Notice, PmuEvent};
use sim_machine::{ConfigSource, MachineConfig, RunHeader, RunOptions, Session};
use sim_pmu::{CounterIndex, Pmu};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Trace; one that waits for memory passes 2^32 stalled slots soonest
    #[arg(default_value = "traces/chase.n2t")]
    trace: PathBuf,
    /// Number of the events that must pass 2^32 before the run ends
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=3))]
    events: u8,
}

/// The events of the three pairs.
const EVENTS: [PmuEvent; 3] =
    [PmuEvent::STALL_SLOT, PmuEvent::STALL_SLOT_BACKEND, PmuEvent::CPU_CYCLES];
/// Instructions between two services of the overflow flags.
const SERVICE_EVERY: u64 = 1 << 20;

/// Two units that observe the same run, and the true counts.
struct LongRun {
    chained: Pmu,
    single: Pmu,
    /// Overflows of the single counters that software has seen.
    overflows: [u64; 3],
    truth: Counts,
    is_counted: bool,
    operations: u64,
}

fn counter(n: usize) -> CounterIndex {
    CounterIndex::new(n as u8).expect("three pairs are six counters")
}

impl LongRun {
    fn new() -> LongRun {
        let (mut chained, mut single) = (Pmu::new(), Pmu::new());
        for (pair, event) in EVENTS.into_iter().enumerate() {
            chained.program(counter(2 * pair), event);
            chained.program(counter(2 * pair + 1), PmuEvent::CHAIN);
            single.program(counter(pair), event);
        }
        for pmu in [&mut chained, &mut single] {
            pmu.start(u32::MAX);
            pmu.control(true, true);
        }
        let (truth, overflows) = (Counts::default(), [0; 3]);
        LongRun { chained, single, overflows, truth, is_counted: false, operations: 0 }
    }

    /// Acts as an interrupt handler: adds an overflow to each counter whose flag is set.
    fn serve(&mut self) {
        let flags = self.single.overflowed();
        for (pair, overflows) in self.overflows.iter_mut().enumerate() {
            *overflows += u64::from(flags >> pair & 1);
        }
        self.single.clear_overflowed(flags);
    }

    fn chained(&self, pair: usize) -> u64 {
        let half = |n: usize| u64::from(self.chained.read(counter(n)));
        half(2 * pair + 1) << 32 | half(2 * pair)
    }

    fn served(&self, pair: usize) -> u64 {
        self.overflows[pair] << 32 | u64::from(self.single.read(counter(pair)))
    }

    fn passed(&self) -> usize {
        EVENTS.iter().filter(|event| self.truth.value(**event) >> 32 > 0).count()
    }

    /// Prints all four values of each event. Returns true if they are equal.
    fn report(&self) -> bool {
        let mut all_equal = true;
        println!("{:<20} {:>16} {:>16} {:>16}", "event", "truth", "chained", "by overflows");
        for (pair, event) in EVENTS.into_iter().enumerate() {
            let values = [self.truth.value(event), self.chained(pair), self.served(pair)];
            all_equal &= values.iter().all(|value| *value == values[0]);
            let [truth, chained, served] = values;
            println!("{:<20} {truth:>16} {chained:>16} {served:>16}", event.mnemonic());
        }
        let cycles = self.chained.read_cycles();
        println!(
            "{:<20} {:>16} {cycles:>16}",
            "cycle counter",
            self.truth.value(PmuEvent::CPU_CYCLES)
        );
        all_equal && cycles == self.truth.value(PmuEvent::CPU_CYCLES)
    }
}

impl EventSink for LongRun {
    const OBSERVES_OPS: bool = true;

    fn count(&mut self, event: PmuEvent, n: u64) {
        if self.is_counted {
            (&mut self.chained, (&mut self.single, &mut self.truth)).count(event, n);
        }
    }

    #[inline]
    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Counting(is_counted) => {
                self.is_counted = is_counted;
                self.serve();
            }
            Notice::Operation(_operation) => {
                self.operations += 1;
                if self.operations.is_multiple_of(SERVICE_EVERY) {
                    self.serve();
                }
            }
            _ => {}
        }
    }
}

/// Runs until enough events have passed 2^32. Returns true if all values are equal.
pub(crate) fn run(args: &Args) -> anyhow::Result<bool> {
    let document = ConfigSource::default().document()?;
    let config = MachineConfig::from_document(&document)?;
    let session = Session::open(&args.trace, config, RunHeader::default())?;
    let (mut long, mut runs) = (LongRun::new(), 0);
    let mut outcomes = Counts::default();
    while long.passed() < usize::from(args.events) {
        let outcome = session.run_with_sink(&RunOptions::default(), &mut |_| {}, &mut long)?;
        outcomes.add(&outcome.total());
        runs += 1;
    }
    println!(
        "{} replayed {runs} times, {} instructions",
        args.trace.display(),
        long.truth.value(PmuEvent::INST_RETIRED)
    );
    let agrees = long.report();
    let is_true = EVENTS.iter().all(|event| outcomes.value(*event) == long.truth.value(*event));
    println!("{}", if agrees && is_true { "all values are equal" } else { "VALUES DIFFER" });
    Ok(agrees && is_true)
}
