//! Parts of a trace, each counted for itself, on one machine that goes from one to the next.
//!
//! Between two parts the pipeline stands still. Of what is far from the next part only the last touch of each line
//! goes through the memory system; what is near goes through caches, TLBs, prefetchers and branch predictors in
//! order. The last instructions in front of each part run without being counted.

use super::Session;
use crate::approach::Places;
use crate::error::MachineError;
use crate::estimate::Estimate;
use crate::outcome::Outcome;
use crate::region::RegionWatch;
use crate::regions::{Region, Regions, only_thread};
use crate::touches::Touches;
use sim_core::{Cycle, NullSink};

/// A part of a thread that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Instructions before it.
    pub begin: u64,
    /// Its instructions.
    pub length: u64,
    /// Instructions in front of it that run and are not counted, if there are so many.
    pub warmup: u64,
    /// Instructions in front of those that go through caches, TLBs, prefetchers and branch predictors in order.
    pub lesson: u64,
}

impl Session {
    /// Runs windows, which come in the order of the trace and do not overlap; an outcome for each.
    /// `progress` hears now and then how far in the trace it is. Random choices, and so the result, are the
    /// same each time.
    ///
    /// # Errors
    /// If the trace is damaged, or has instructions of several threads.
    pub fn run_windows(
        &self,
        windows: &[Window],
        progress: &mut dyn FnMut(u64),
    ) -> Result<Vec<Outcome>, MachineError> {
        only_thread(&self.trace)?;
        let mut program = self.program()?;
        let mut cores = self.cores(&Default::default(), false)?;
        let mut memory = self.memory(cores.len())?;
        let mut touches = Touches::new(self.trace.statics(), &program);
        let places = Places::new(self.trace.statics(), &program);
        let mut outcomes = Vec::with_capacity(windows.len());
        for window in windows {
            let core = &mut cores[0];
            let begin = window.begin.saturating_sub(window.warmup);
            let learn_from = begin.saturating_sub(window.lesson);
            core.skip_to(begin, learn_from, &places, &mut touches, &mut program, &mut memory)?;
            let warmup = window.begin.saturating_sub(core.position());
            core.begin_window(RegionWatch::window(warmup, window.length));
            while !core.ended() {
                core.advance(Cycle::MAX, &mut program, &mut memory, &mut NullSink)?;
                progress(core.position());
            }
            outcomes.push(self.outcome(&cores, &program, Vec::new()));
        }
        Ok(outcomes)
    }

    /// Runs the windows of a file and says what they tell of the whole trace; nothing without a window.
    ///
    /// # Errors
    /// As [`Session::run_windows`].
    pub fn run_regions(
        &self,
        regions: &Regions,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Option<Estimate>, MachineError> {
        let window = |one: &Region| Window {
            begin: one.begin,
            length: one.length,
            warmup: regions.warmup,
            lesson: regions.lesson,
        };
        let windows: Vec<Window> = regions.windows.iter().map(window).collect();
        Ok(Estimate::new(&self.run_windows(&windows, progress)?, regions))
    }
}
