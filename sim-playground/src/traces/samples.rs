//! Samples of the profiling unit beside all operations, by instruction.

use std::collections::BTreeMap;

use serde::Serialize;
use sim_core::{EventSink, Notice, NullSink, PmuEvent};
use sim_pmu::spe::context::mdcr;
use sim_pmu::spe::registers::{pmblimitr, pmscr, pmsirr};
use sim_pmu::spe::{SampleOutcome, Spe, SpeRegister};

use super::Part;
use crate::fault::Fault;

/// Start and limit of a buffer that is too large to fill.
const BUFFER: u64 = 1 << 20;
const BUFFER_END: u64 = 1 << 48;
/// Most instructions of the answer.
const MOST: usize = 40;

/// Result of a run with samples.
#[derive(Debug, Serialize)]
pub(crate) struct Samples {
    operations: u64,
    written: u64,
    collided: u64,
    squashed: u64,
    /// Instructions with most operations or samples.
    rows: Vec<Row>,
}

/// One instruction: all of its operations, and those that were sampled.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Row {
    pc: u64,
    operations: u64,
    /// Sum of the cycles from dispatch to completion.
    cycles: u64,
    sampled: u64,
    sampled_cycles: u64,
}

/// Runs the trace with a unit that samples every `interval` operations, without jitter.
pub(crate) fn samples(trace: &[u8], part: &Part, interval: u64) -> Result<Samples, Fault> {
    if interval == 0 || interval & !pmsirr::INTERVAL != 0 {
        let text = format!("interval {interval}: give a multiple of 256, such as 1024");
        return Err(Fault::of("interval", text));
    }
    let session = part.session(trace)?;
    let config = session.config();
    let mut unit = Spe::new(&config.spe, 0);
    unit.set_clocks(config.core.clock_hz, config.core.counter_hz, 0);
    // EL2 owns the buffer, so all levels below EL3 can be profiled.
    unit.set_mdcr_el3(mdcr::NSPB);
    unit.set_mdcr_el2(0);
    unit.set(SpeRegister::PMSIRR_EL1, interval);
    unit.set(SpeRegister::PMSCR_EL1, pmscr::E0 | pmscr::OWN);
    unit.set(SpeRegister::PMSCR_EL2, pmscr::E0 | pmscr::OWN | pmscr::PA | pmscr::TS);
    unit.set(SpeRegister::PMBPTR_EL1, BUFFER);
    unit.set(SpeRegister::PMBLIMITR_EL1, BUFFER_END | pmblimitr::E);
    unit.keep_sampled_ops();
    let mut watch =
        Watch { unit, core: 0, is_counted: false, rows: BTreeMap::new(), totals: [0; 4] };
    session
        .run_with_sink(&part.options(), &mut |_| {}, &mut watch)
        .map_err(|error| Fault::of("trace", error))?;
    watch.unit.synchronize(&mut NullSink);
    watch.collect();
    let [operations, written, collided, squashed] = watch.totals;
    let mut rows: Vec<Row> = watch.rows.into_values().collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.operations, row.sampled)));
    rows.truncate(MOST);
    Ok(Samples { operations, written, collided, squashed, rows })
}

/// Sink that samples the first core and counts all of its operations.
struct Watch {
    unit: Spe,
    core: usize,
    /// The first core is in its counted part.
    is_counted: bool,
    rows: BTreeMap<u64, Row>,
    /// Operations; samples written, collided, squashed.
    totals: [u64; 4],
}

impl Watch {
    fn row(&mut self, pc: u64) -> &mut Row {
        self.rows.entry(pc).or_insert(Row { pc, ..Row::default() })
    }

    fn collect(&mut self) {
        for sampled in self.unit.take_sampled_ops() {
            match sampled.outcome {
                SampleOutcome::Written => self.totals[1] += 1,
                SampleOutcome::Collided => self.totals[2] += 1,
                SampleOutcome::Squashed => self.totals[3] += 1,
                _ => {}
            }
            if let (SampleOutcome::Written, Some(record)) = (sampled.outcome, sampled.record)
                && let Some(pc) = record.pc
            {
                let row = self.row(pc.canonical());
                row.sampled += 1;
                row.sampled_cycles += u64::from(record.total_latency.unwrap_or_default());
            }
        }
    }
}

impl EventSink for Watch {
    const OBSERVES_OPS: bool = true;

    fn count(&mut self, _event: PmuEvent, _n: u64) {}

    fn notify(&mut self, notice: Notice<'_>) {
        match notice {
            Notice::Core(core) => self.core = core,
            Notice::Privilege(privilege) if self.core == 0 => self.unit.set_privilege(privilege),
            Notice::Counting(is_counted) if self.core == 0 => self.is_counted = is_counted,
            Notice::Operation(operation) if self.core == 0 && self.is_counted => {
                self.unit.operation(operation, &mut NullSink);
                let timeline = &operation.timeline;
                if timeline.retired {
                    self.totals[0] += 1;
                    let row = self.row(timeline.pc);
                    row.operations += 1;
                    row.cycles += timeline.complete.saturating_sub(timeline.rename);
                }
                if self.totals[0].is_multiple_of(4096) {
                    self.collect();
                }
            }
            _ => {}
        }
    }
}
