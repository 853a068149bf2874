//! Operations as the pipeline view draws them: stages, the operations whose results they read, and
//! the rename slots that stayed empty before them.

use serde::Serialize;
use sim_asm::disassembly;
use sim_core::{Lost, Operation, OperationKind, RootCause, StallCause, op_stage};
use sim_machine::observe::{Need, SeenOp};

/// One operation. Cycles are those of the model.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Drawn {
    /// Text of the instruction or of the step.
    text: String,
    pc: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    addr: Option<u64>,
    fetch: u64,
    decoded: u64,
    rename: u64,
    issue: u64,
    complete: u64,
    retire: u64,
    written: u64,
    /// Stages without gaps: letter, first cycle, first cycle after it.
    stages: Vec<(char, u64, u64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'static str>,
    wrong: bool,
    retired: bool,
    mispredicted: bool,
    /// Places of the operations whose results it reads.
    needs: Vec<usize>,
    /// Slots lost before it, with their causes.
    lost: Vec<Slots>,
}

/// Empty rename slots with one cause.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Slots {
    pub(crate) cause: &'static str,
    pub(crate) root: &'static str,
    pub(crate) slots: u64,
}

impl Slots {
    pub(crate) fn new(cause: StallCause, root: RootCause, slots: u64) -> Slots {
        Slots { cause: cause.label(), root: root.label(), slots }
    }
}

impl From<SeenOp> for Drawn {
    fn from(op: SeenOp) -> Drawn {
        let text = match op.word {
            Some(word) => disassembly::text(op.operation.timeline.pc, word),
            None => String::from("(no code in the trace)"),
        };
        Drawn::new(&op.operation, text, &op.needs, &op.lost)
    }
}

impl Drawn {
    /// Creates the drawing of an operation, whose instruction or step has this text.
    pub(crate) fn new(operation: &Operation, text: String, needs: &[Need], lost: &[Lost]) -> Drawn {
        let timeline = &operation.timeline;
        let is_access = matches!(operation.kind, OperationKind::Access(_));
        let stages = op_stage::spans(operation).into_iter();
        Drawn {
            text,
            pc: timeline.pc,
            addr: is_access.then_some(timeline.addr),
            fetch: timeline.fetch,
            decoded: timeline.front_end,
            rename: timeline.rename,
            issue: timeline.issue,
            complete: timeline.complete,
            retire: timeline.retire,
            written: timeline.written,
            stages: stages.map(|span| (span.stage.letter(), span.from, span.to)).collect(),
            source: is_access.then(|| timeline.source.label()),
            wrong: timeline.wrong_path,
            retired: timeline.retired,
            mispredicted: timeline.mispredicted,
            needs: needs.iter().map(|need| need.place).collect(),
            lost: lost.iter().map(|lost| Slots::new(lost.cause, lost.root, lost.slots)).collect(),
        }
    }
}
