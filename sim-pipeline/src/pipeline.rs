//! The core: owns the units and passes each operation once through the stages, in program order.
//!
//! fetch, decode -> rename -> dispatch -> issue -> execute or memory -> complete -> retire. The order
//! of the stages lives in `Pipeline::schedule` and nowhere else.

use crate::config::PipelineConfig;
use crate::units::address_predictor::AddressPredictor;
use crate::units::branch::BranchUnit;
use crate::units::clocks::Clocks;
use crate::units::critical_path::CriticalPath;
use crate::units::exception_state::ExceptionState;
use crate::units::frontend::FrontEnd;
use crate::units::last_elements::LastElements;
use crate::units::load_banks::LoadBanks;
use crate::units::lsu::LoadStoreUnit;
use crate::units::pipes::PipeReservations;
use crate::units::rename::RenameStage;
use crate::units::retire::InOrderStage;
use crate::units::scoreboard::Scoreboard;
use crate::units::slots::SlotLedger;
use crate::units::steering::Steering;
use crate::units::wait_timeline::WaitTimeline;
use sim_core::{Cycle, EventSink, InstId, LostSlots, NullSink, OpLife, Privilege, StallCause};
use sim_isa::Fusion;

/// The instruction before, for fusion; by default none that may take a partner.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Previous {
    pub(crate) id: InstId,
    /// Address of the instruction that follows it.
    pub(crate) next_pc: u64,
    pub(crate) fusion: Fusion,
}

/// The out-of-order core.
#[derive(Clone, Debug)]
pub struct Pipeline {
    pub(crate) config: PipelineConfig,
    pub(crate) front: FrontEnd,
    pub(crate) branches: BranchUnit,
    pub(crate) rename_stage: RenameStage,
    pub(crate) pipes: PipeReservations,
    pub(crate) steering: Steering,
    pub(crate) load_banks: LoadBanks,
    pub(crate) scoreboard: Scoreboard,
    pub(crate) lsu: LoadStoreUnit,
    pub(crate) retire: InOrderStage,
    pub(crate) slots: SlotLedger,
    /// What each operation in flight waited for, and what rename did.
    pub(crate) path: CriticalPath,
    pub(crate) waits: WaitTimeline,
    pub(crate) addresses: AddressPredictor,
    pub(crate) last_elements: LastElements,
    pub(crate) previous: Previous,
    /// Level, and where exceptions go.
    pub(crate) exceptions: ExceptionState,
    pub(crate) clocks: Clocks,
    /// The level that a follower of the run was told last.
    pub(crate) reported_privilege: Option<Privilege>,
    /// Instructions of the right path that began, while somebody follows the run.
    pub(crate) begun: u64,
    /// The life of the instruction placed last.
    pub(crate) life: OpLife,
}

impl Pipeline {
    /// An empty core at cycle 0. The configuration must have no [`PipelineConfig::problems`].
    pub fn new(config: &PipelineConfig) -> Pipeline {
        let config = &config.built();
        Pipeline {
            front: FrontEnd::new(&config.front_end, &config.branch, config.ideal.fetch),
            branches: BranchUnit::new(&config.branch),
            rename_stage: RenameStage::new(config),
            pipes: PipeReservations::new(config.ideal.pipes),
            steering: Steering::new(config.dispatch.integer_pipe),
            load_banks: LoadBanks::new(config.execute.load_banks),
            scoreboard: Scoreboard::default(),
            lsu: LoadStoreUnit::new(&config.execute),
            retire: InOrderStage::new(config.window.retire_width),
            slots: SlotLedger::default(),
            path: CriticalPath::new(config.window.rob),
            waits: WaitTimeline::default(),
            addresses: AddressPredictor::default(),
            last_elements: LastElements::default(),
            config: config.clone(),
            previous: Previous::default(),
            exceptions: ExceptionState::default(),
            clocks: Clocks::new(),
            reported_privilege: None,
            begun: 0,
            life: OpLife::default(),
        }
    }

    /// Rates of the system counter and of the core, for `CNT_CYCLES`; without them it stays 0.
    pub fn set_clocks(&mut self, counter_hz: u64, core_hz: u64) {
        self.clocks.set_rates(counter_hz, core_hz);
    }

    /// Does not find the roots of lost slots: all of the back end are [`sim_core::RootCause::Latency`]. Counts, cycles and
    /// causes stay the same, and the run takes less time.
    pub fn skip_roots(&mut self) {
        self.path.turn_off();
        self.rename_stage.queues().forget_inputs();
    }

    /// The rename clock: the machine advances the core on which it is lowest.
    #[inline]
    pub fn cycle(&self) -> Cycle {
        self.rename_stage.cycle()
    }

    /// Empty rename slots so far, by cause and root.
    pub fn lost_slots(&self) -> &LostSlots {
        self.slots.lost()
    }

    /// RenameResources of buffers, queues and registers that operations still hold in `cycle`.
    pub fn entries_held(&self, cycle: Cycle) -> usize {
        self.rename_stage.held(cycle)
    }

    /// Counts both clocks up to the first slot that is not settled; what they count in all is the same.
    pub fn settle_clocks<S: EventSink>(&mut self, sink: &mut S) {
        self.clocks.close(self.slots.next_cycle(), sink);
    }

    /// Ends a counting window: all slots before the returned cycle are settled and counted.
    pub fn cut_window<S: EventSink>(&mut self, sink: &mut S) -> Cycle {
        let end = self.slots.cut(StallCause::FetchWidth, sink);
        self.front.not_before(end);
        self.clocks.close(end, sink);
        end
    }

    /// The core stays awake with nothing to do until this cycle.
    pub fn idle_until<S: EventSink>(&mut self, cycle: Cycle, sink: &mut S) -> Cycle {
        let end = cycle.max(self.retire.cycle() + 1).max(self.clocks.awake_from());
        let end = self.slots.run_dry(end, StallCause::FetchEnd, sink);
        self.front.not_before(end);
        end
    }

    /// Time outside the counted part, up to `cycle`: its slots are counted nowhere. Returns how long it is.
    pub fn pause_until(&mut self, cycle: Cycle) -> Cycle {
        let from = self.slots.next_cycle();
        let end = self.slots.run_dry(cycle, StallCause::FetchEnd, &mut NullSink);
        self.clocks.close(end, &mut NullSink);
        self.front.not_before(end);
        end - from
    }

    /// Ends the run: the window drains, the last slots are settled and counted.
    pub fn finish<S: EventSink>(&mut self, sink: &mut S) -> Cycle {
        self.drain(sink)
    }

    /// The window drains, nothing behind it: its slots and the clocks are counted up to the returned cycle.
    pub fn drain<S: EventSink>(&mut self, sink: &mut S) -> Cycle {
        let end = self.idle_until(0, sink);
        self.clocks.close(end, sink);
        end
    }
}
