//! Division of an operation's timeline into stages that do not overlap, for viewers.

use crate::operation::{AccessKind, Operation, OperationKind};
use crate::time::Cycle;

/// Stage of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Fetch of the instruction word.
    Fetch,
    /// Between fetch and rename: decode, or delivery from the MOP cache.
    Decode,
    /// At rename, without a slot: older operations use the slots, or a resource is not free.
    Queue,
    /// Rename slot.
    Rename,
    /// In an issue queue, waiting for operands or a pipe.
    Wait,
    /// Execution.
    Execute,
    /// Execution: translation of the address after an L1 TLB miss.
    Translate,
    /// Execution: read of the data.
    Memory,
    /// Completed, waiting for older operations to retire.
    Done,
    /// Retirement.
    Retire,
    /// Retired store that is not yet in the cache.
    Drain,
    /// In the instruction queue of a core in order.
    InOrderQueue,
    /// Issue in a core in order, as the first instruction of its cycle.
    Issue0,
    /// Issue as the second instruction of its cycle.
    Issue1,
    /// Execution stages of a core in order.
    Stages,
    /// After execution, while older instructions are in write-back.
    WaitsForOlder,
    /// Write-back, held by a miss or the store buffer.
    Held,
}

impl Stage {
    /// Stages of a core in order.
    pub const IN_ORDER: [Stage; 9] = [
        Stage::Fetch,
        Stage::Decode,
        Stage::InOrderQueue,
        Stage::Issue0,
        Stage::Issue1,
        Stage::Stages,
        Stage::WaitsForOlder,
        Stage::Held,
        Stage::Retire,
    ];

    /// Stages of the Neoverse N2, in pipeline order.
    pub const ALL: [Stage; 11] = [
        Stage::Fetch,
        Stage::Decode,
        Stage::Queue,
        Stage::Rename,
        Stage::Wait,
        Stage::Execute,
        Stage::Translate,
        Stage::Memory,
        Stage::Done,
        Stage::Retire,
        Stage::Drain,
    ];

    /// Returns the letter in text and figures.
    pub fn letter(self) -> char {
        match self {
            Stage::Fetch => 'F',
            Stage::Decode => 'D',
            Stage::Queue => 'q',
            Stage::Rename => 'R',
            Stage::Wait => 'i',
            Stage::Execute => 'X',
            Stage::Translate => 'T',
            Stage::Memory => 'M',
            Stage::Done => 'w',
            Stage::Retire => 'C',
            Stage::Drain => 's',
            Stage::InOrderQueue => 'q',
            Stage::Issue0 => '0',
            Stage::Issue1 => '1',
            Stage::Stages => 'X',
            Stage::WaitsForOlder => 'w',
            Stage::Held => 'W',
        }
    }

    /// Returns the name in logs. Konata treats a name that contains X as execution.
    pub fn short(self) -> &'static str {
        match self {
            Stage::Fetch => "F",
            Stage::Decode => "Dc",
            Stage::Queue => "Q",
            Stage::Rename => "Rn",
            Stage::Wait => "Is",
            Stage::Execute => "X",
            Stage::Translate => "Xt",
            Stage::Memory => "Xm",
            Stage::Done => "Cm",
            Stage::Retire => "Rt",
            Stage::Drain => "St",
            Stage::InOrderQueue => "Q",
            Stage::Issue0 => "I0",
            Stage::Issue1 => "I1",
            Stage::Stages => "X",
            Stage::WaitsForOlder => "Wo",
            Stage::Held => "Wb",
        }
    }

    /// Returns the label, in a word or two.
    pub fn label(self) -> &'static str {
        match self {
            Stage::Fetch => "fetch",
            Stage::Decode => "decode",
            Stage::Queue => "no slot yet",
            Stage::Rename => "rename",
            Stage::Wait => "issue queue",
            Stage::Execute => "execute",
            Stage::Translate => "translate",
            Stage::Memory => "memory",
            Stage::Done => "waits to retire",
            Stage::Retire => "retire",
            Stage::Drain => "store written",
            Stage::InOrderQueue => "queue",
            Stage::Issue0 => "issue (first)",
            Stage::Issue1 => "issue (second)",
            Stage::Stages => "execute",
            Stage::WaitsForOlder => "waits for older",
            Stage::Held => "held in write-back",
        }
    }
}

/// Stage with its cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Stage.
    pub stage: Stage,
    /// First cycle.
    pub from: Cycle,
    /// First cycle after the stage.
    pub to: Cycle,
}

/// Builder of consecutive stages: a stage begins no earlier than the previous one ends.
#[derive(Clone, Debug)]
pub struct Cutter {
    spans: Vec<Span>,
    at: Cycle,
    /// Cycle of the squash, at which every stage ends.
    end: Cycle,
}

impl Cutter {
    /// Creates a builder of the stages from cycle `at` to cycle `end`.
    pub fn new(at: Cycle, end: Cycle) -> Cutter {
        Cutter { spans: Vec::with_capacity(8), at, end }
    }

    /// Adds a stage that ends at cycle `to`, if cycles are left for it.
    pub fn cut(&mut self, stage: Stage, to: Cycle) {
        let to = to.min(self.end);
        if to > self.at {
            self.spans.push(Span { stage, from: self.at, to });
            self.at = to;
        }
    }

    /// Returns the stages.
    pub fn spans(self) -> Vec<Span> {
        self.spans
    }
}

/// Returns the stages of an operation of the Neoverse N2, in order and without gaps from its fetch
/// to [`OpTimeline::end`]. [`Stage::Drain`] follows for a store.
///
/// [`OpTimeline::end`]: crate::OpTimeline::end
pub fn spans(operation: &Operation) -> Vec<Span> {
    let timeline = &operation.timeline;
    let end = timeline.end();
    let last = if timeline.wrong_path { end } else { end - 1 };
    let mut cutter = Cutter::new(timeline.fetch, last);
    cutter.cut(Stage::Fetch, timeline.fetch + 1);
    cutter.cut(Stage::Decode, timeline.front_end);
    if timeline.rename > 0 {
        cutter.cut(Stage::Queue, timeline.rename);
        cutter.cut(Stage::Rename, timeline.rename + 1);
        cutter.cut(Stage::Wait, timeline.issue);
        if timeline.translation_cycles > 1 {
            let translated = timeline.issue + Cycle::from(timeline.translation_cycles);
            cutter.cut(Stage::Translate, translated.min(timeline.complete));
        }
        cutter.cut(execution(operation), timeline.complete);
    }
    cutter.cut(Stage::Done, last);
    if !timeline.wrong_path {
        cutter.end = end;
        cutter.cut(Stage::Retire, end);
        cutter.end = timeline.last();
        cutter.cut(Stage::Drain, timeline.written);
    }
    cutter.spans()
}

/// Returns the stage of the execution. A store computes its address and reads its data when it
/// executes; it writes later.
fn execution(operation: &Operation) -> Stage {
    match operation.kind {
        OperationKind::Access(access)
            if operation.timeline.written == 0
                && !matches!(access.kind, AccessKind::Store | AccessKind::ZeroLine) =>
        {
            Stage::Memory
        }
        _ => Stage::Execute,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AccessOutcome, DataSource, OpTimeline};

    fn drawn(timeline: OpTimeline) -> String {
        let spans = spans(&Operation { timeline, ..Operation::default() });
        assert!(spans.windows(2).all(|pair| pair[0].to == pair[1].from), "{spans:?}");
        let cell =
            |span: &Span| String::from(span.stage.letter()).repeat((span.to - span.from) as usize);
        spans.iter().map(cell).collect()
    }

    const LIFE: OpTimeline = OpTimeline {
        inst: 0,
        pc: 0,
        addr: 0,
        fetch: 10,
        front_end: 13,
        rename: 15,
        issue: 18,
        complete: 20,
        retire: 24,
        written: 0,
        translation_cycles: 0,
        source: DataSource::L1,
        outcome: AccessOutcome(0),
        retired: true,
        wrong_path: false,
        mispredicted: false,
        mops: 1,
    };

    #[test]
    fn stages_have_no_gaps() {
        assert_eq!(drawn(LIFE), "FDDqqRiiXXwwwwC");
        assert_eq!(drawn(OpTimeline { written: 27, ..LIFE }), "FDDqqRiiXXwwwwCss");
    }

    #[test]
    fn no_stage_ends_after_the_squash() {
        let wrong = OpTimeline { retired: false, wrong_path: true, ..LIFE };
        assert_eq!(drawn(OpTimeline { retire: 17, ..wrong }), "FDDqqRi");
        assert_eq!(drawn(OpTimeline { retire: 10, ..wrong }), "F", "a cycle of fetch at least");
    }

    #[test]
    fn an_operation_done_at_rename_uses_no_pipe() {
        let moved = OpTimeline { issue: 15, complete: 15, ..LIFE };
        assert_eq!(drawn(moved), "FDDqqRwwwwwwwwC");
    }

    #[test]
    fn a_translation_is_part_of_the_execution() {
        let walked = OpTimeline { translation_cycles: 4, complete: 25, retire: 26, ..LIFE };
        assert_eq!(drawn(walked), "FDDqqRiiTTTTXXXwC");
    }
}
