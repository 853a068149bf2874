//! The core: owns the units and passes each operation through the stages once, in program order.
//!
//! fetch, decode -> rename -> dispatch -> issue -> execute or memory -> complete -> retire. Only
//! `Pipeline::schedule_by` in `stage_list.rs` contains the order of the stages.

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
use crate::units::slots::{SLOTS, SlotLedger};
use crate::units::steering::Steering;
use crate::units::wait_timeline::WaitTimeline;
use sim_core::{Cycle, EventSink, InstId, LostSlots, NullSink, OpTimeline, Privilege, StallCause};
use sim_isa::Fusion;

/// Instruction fetched last, as the possible first half of a fused pair. The default fuses with
/// nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FusionLead {
    pub(crate) id: InstId,
    /// Address of the following instruction.
    pub(crate) next_pc: u64,
    pub(crate) fusion: Fusion,
}

/// More MOPs than an instruction has.
const MOPS_OF_INST_MAX: u64 = 64;

/// Out-of-order core.
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
    /// Input that each operation in flight waited for.
    pub(crate) path: CriticalPath,
    pub(crate) waits: WaitTimeline,
    pub(crate) addresses: AddressPredictor,
    pub(crate) last_elements: LastElements,
    pub(crate) fusion_lead: FusionLead,
    /// Exception level and the state that routes exceptions.
    pub(crate) exceptions: ExceptionState,
    pub(crate) clocks: Clocks,
    /// Exception level that the sink received last.
    pub(crate) reported_privilege: Option<Privilege>,
    /// Correct-path instructions begun, counted while a sink observes operations.
    pub(crate) begun: u64,
    /// Timeline of the instruction scheduled last.
    pub(crate) timeline: OpTimeline,
}

impl Pipeline {
    /// Returns an empty core at cycle 0. The configuration must have no
    /// [`PipelineConfig::problems`].
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
            fusion_lead: FusionLead::default(),
            exceptions: ExceptionState::default(),
            clocks: Clocks::new(),
            reported_privilege: None,
            begun: 0,
            timeline: OpTimeline::default(),
        }
    }

    /// Sets the rates of the system counter and of the core, in Hz, for `CNT_CYCLES`. Without them,
    /// `CNT_CYCLES` stays 0.
    pub fn set_clocks(&mut self, counter_hz: u64, core_hz: u64) {
        self.clocks.set_rates(counter_hz, core_hz);
    }

    /// Stops the search for root causes of lost slots, to save time. All slots lost to the back end
    /// then have the root [`sim_core::RootCause::Latency`]. Counts, cycles and stall causes stay
    /// the same.
    pub fn skip_roots(&mut self) {
        self.path.turn_off();
        self.rename_stage.queues().skip_inputs();
    }

    /// Returns the rename clock. The machine advances the core whose rename clock is lowest.
    #[inline]
    pub fn cycle(&self) -> Cycle {
        self.rename_stage.cycle()
    }

    /// Returns for how many cycles of the rename clock the core may run until it has renamed `mops`
    /// MOPs. The instruction that passes the last of these cycles may bring a whole reorder buffer
    /// of wrong-path MOPs with it; they are allowed for.
    pub fn cycles_within(&self, mops: u64) -> Cycle {
        let last_inst = self.config.window.rob as u64 + MOPS_OF_INST_MAX;
        (mops.saturating_sub(last_inst) / SLOTS as u64).saturating_sub(1)
    }

    /// Returns whether the next load may issue before the address of an older store is known. The
    /// core then executes it twice, and the first time a wrong path follows it.
    pub fn loads_may_pass(&self) -> bool {
        self.lsu.some_address_unknown(self.front.last_arrival())
    }

    /// Returns whether the sink has the present exception level, so that instructions may run
    /// without reports.
    pub fn has_reported_level(&self) -> bool {
        self.reported_privilege == Some(self.exceptions.privilege)
    }

    /// Notes correct-path instructions that ran without reports to a sink that observes operations.
    pub fn note_unreported(&mut self, instructions: u64) {
        self.begun += instructions;
    }

    /// Returns the empty rename slots so far, by stall cause and root cause.
    pub fn lost_slots(&self) -> &LostSlots {
        self.slots.lost()
    }

    /// Returns how many entries of buffers, queues and registers operations still hold in `cycle`.
    pub fn entries_held(&self, cycle: Cycle) -> usize {
        self.rename_stage.held(cycle)
    }

    /// Counts core cycles and counter ticks up to the first slot that is still open. The totals of
    /// the run do not change.
    pub fn settle_clocks<S: EventSink>(&mut self, sink: &mut S) {
        self.clocks.close(self.slots.next_cycle(), sink);
    }

    /// Returns the first cycle whose slots are all still open, up to which the clocks can be
    /// counted.
    #[inline]
    pub fn clock(&self) -> Cycle {
        self.slots.next_cycle()
    }

    /// Counts core cycles and counter ticks up to `cycle`, an earlier value of [`Pipeline::clock`].
    /// Counts nothing if they have been counted further already.
    pub fn settle_clocks_to<S: EventSink>(&mut self, cycle: Cycle, sink: &mut S) {
        self.clocks.close_by(cycle, sink);
    }

    /// Returns the ticks of the system counter in this many cycles.
    pub fn ticks_in(&self, cycles: Cycle) -> u64 {
        self.clocks.ticks_in(cycles)
    }

    /// Counts the slots beside the last operation while it waited, as those of operations that wait
    /// with it. Without this, the end of a window counts them as lost to the front end.
    pub fn settle_wait<S: EventSink>(&mut self, sink: &mut S) {
        self.slots.settle_wait(sink);
        self.front.not_before(self.slots.next_cycle());
    }

    /// Ends a counting window. All slots before the returned cycle are closed and counted.
    pub fn cut_window<S: EventSink>(&mut self, sink: &mut S) -> Cycle {
        let end = self.slots.cut(StallCause::FetchWidth, sink);
        self.front.not_before(end);
        self.clocks.close(end, sink);
        end
    }

    /// Keeps the core awake and idle until `cycle`, with nothing to fetch. Returns the cycle in
    /// which the core can continue.
    pub fn idle_until<S: EventSink>(&mut self, cycle: Cycle, sink: &mut S) -> Cycle {
        let end = cycle.max(self.retire.cycle() + 1).max(self.clocks.awake_from());
        let end = self.slots.run_dry(end, StallCause::FetchEnd, sink);
        self.front.not_before(end);
        end
    }

    /// Exchanges the cores of two threads, none of which has an operation in flight: predictors,
    /// buffers and clock change their place. What belongs to the thread stays: its exception level,
    /// what the sink has of it, and the number of its instructions.
    pub fn exchange_core(&mut self, other: &mut Pipeline) {
        std::mem::swap(self, other);
        std::mem::swap(&mut self.exceptions, &mut other.exceptions);
        std::mem::swap(&mut self.reported_privilege, &mut other.reported_privilege);
        std::mem::swap(&mut self.begun, &mut other.begun);
        // No pair of instructions of two threads is fused.
        (self.fusion_lead, other.fusion_lead) = <(FusionLead, FusionLead)>::default();
    }

    /// Advances the core to `cycle` outside the counted part, without counting slots. Returns how
    /// many cycles it skipped.
    pub fn pause_until(&mut self, cycle: Cycle) -> Cycle {
        let from = self.slots.next_cycle();
        let end = self.slots.run_dry(cycle, StallCause::FetchEnd, &mut NullSink);
        self.clocks.close(end, &mut NullSink);
        self.front.not_before(end);
        end - from
    }

    /// Ends the run: drains the core, then closes and counts the last slots. Returns the last
    /// cycle.
    pub fn finish<S: EventSink>(&mut self, sink: &mut S) -> Cycle {
        self.drain(sink)
    }

    /// Drains the core with no younger operation. Counts slots and clocks up to the returned cycle.
    pub fn drain<S: EventSink>(&mut self, sink: &mut S) -> Cycle {
        let end = self.idle_until(0, sink);
        self.clocks.close(end, sink);
        end
    }
}
