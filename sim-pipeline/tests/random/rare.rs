//! Settings that few users choose: other predictors, other pipes for the same instructions, ideal
//! parts.

use sim_core::exception::{hcr_el2, scr_el3};
use sim_core::{EventSink, ExceptionControls, ExceptionKind, Privilege};
use sim_pipeline::config::{CarryPipes, Direction, Divide, IntegerPipe};
use sim_pipeline::{Pipeline, PipelineConfig, RecordedException};

use crate::random::Random;

/// Returns a machine with some of these settings changed.
pub(crate) fn rare(seed: u64, default: &PipelineConfig) -> PipelineConfig {
    // A different sequence from that of the program.
    let mut random = Random(!seed);
    let mut config = default.clone();
    let (e, b) = (&mut config.execute, &mut config.branch);
    if random.one_in(3) {
        b.direction = [Direction::Gshare, Direction::Perfect][random.below(2) as usize];
    }
    if random.one_in(4) {
        (b.bimodal_bits, b.tagged_bits, b.folded_bits) = (4, 4, 4);
        (b.indirect_path_bits, b.indirect_targets, b.return_stack) = (4, 64, 2);
    }
    for (cycles, most) in [
        (&mut b.btb_cycles, 4),
        (&mut b.btb_bubble_cycles, 6),
        (&mut b.resteer_cycles, 12),
        (&mut b.redirect_cycles, 12),
        (&mut e.forward_cycles, 9),
        (&mut e.forward_fail_cycles, 20),
        (&mut e.barrier_cycles, 30),
        (&mut e.system_write_cycles, 20),
        (&mut e.hash_forward_cycles, 5),
        (&mut config.window.rename_to_issue_cycles, 5),
        (&mut config.front_end.fetch_to_rename_cycles, 12),
    ] {
        if random.one_in(5) {
            *cycles = 1 + random.below(most);
        }
    }
    e.divide = [Divide::Worst, Divide::Typical, Divide::Best][random.below(3) as usize];
    e.carry = [CarryPipes::All, CarryPipes::Multi][random.below(2) as usize];
    e.load_banks = [0, 2, 8][random.below(3) as usize];
    e.store_drain_bytes = [16, 32, 64][random.below(3) as usize];
    if random.one_in(3) {
        e.dependence_entries = 1 + random.below(8) as usize;
    }
    if random.one_in(2) {
        config.dispatch.integer_pipe = IntegerPipe::InTurn;
    }
    let ideal = &mut config.ideal;
    for part in [
        &mut ideal.fetch,
        &mut ideal.window,
        &mut ideal.pipes,
        &mut ideal.latency,
        &mut ideal.ordering,
    ] {
        *part = random.one_in(10);
    }
    config
}

/// Raises an external exception before the next instruction, one time in sixty: an interrupt, or an
/// exception that a recorder saw before or right after that instruction.
pub(crate) fn disturb<S: EventSink>(random: &mut Random, pipeline: &mut Pipeline, sink: &mut S) {
    use ExceptionKind::{Fiq, Irq, SystemError, VirtualFiq, VirtualIrq};
    if !random.one_in(60) {
        return;
    }
    let recorded = RecordedException {
        vector: 0x80 * random.below(16) as u32,
        abandoned: random.one_in(2),
        to: random.one_in(3).then(|| Privilege { level: 1, ..Privilege::default() }),
        syndrome: if random.one_in(2) { random.below(64) << 26 } else { 0 },
    };
    match random.below(3) {
        0 => {
            let kind = [Irq, Fiq, SystemError, VirtualIrq, VirtualFiq][random.below(5) as usize];
            let now = pipeline.cycle() + random.below(300);
            pipeline.interrupt(kind, now, sink);
        }
        1 => pipeline.take_recorded(recorded, sink),
        _ => pipeline.expect_exception(recorded),
    }
}

/// Returns a core at some exception level with some controls; half of the time at the default of a
/// user program.
pub(crate) fn begin(seed: u64, config: &PipelineConfig) -> Pipeline {
    let mut pipeline = Pipeline::new(config);
    pipeline.set_clocks(1_000, 2_700);
    let mut random = Random(seed ^ 0x5555);
    if random.one_in(2) {
        return pipeline;
    }
    let mut bits = |named: &[u64]| {
        let chosen = named.iter().filter(|_| random.one_in(4));
        chosen.fold(0, |all, bit| all | bit)
    };
    let hcr_el2 = bits(&[
        hcr_el2::IMO,
        hcr_el2::TWI,
        hcr_el2::TWE,
        hcr_el2::TSC,
        hcr_el2::TIDCP,
        hcr_el2::TVM,
        hcr_el2::HCD,
    ]);
    let scr_el3 = bits(&[scr_el3::EA, scr_el3::SMD, scr_el3::EEL2]);
    pipeline.set_exceptions(ExceptionControls { hcr_el2, scr_el3 }, random.one_in(2));
    let (level, is_host) = (random.below(4) as u8, random.one_in(3));
    let secure = random.one_in(4);
    pipeline.set_privilege(Privilege { level, e2h: is_host, tge: is_host && level != 1, secure });
    pipeline
}
