//! Operations as the pipeline view draws them: a timeline, the operations whose results they read,
//! and the rename slots that stayed empty before them.

use fARM64::format::{FmtFormatter, Formatter};
use fARM64::{Decoder, DecoderOptions};
use serde::Serialize;
use sim_core::{Lost, Operation, OperationKind, RootCause, StallCause};
use sim_isa::{Program, Reg};

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
    translation: u32,
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

/// Follows registers from the operations that write them to those that read them.
#[derive(Debug)]
pub(crate) struct Follower {
    writers: [Option<usize>; Reg::COUNT],
    /// Writers before the present wrong path.
    before: Option<Box<[Option<usize>; Reg::COUNT]>>,
    count: usize,
}

impl Follower {
    pub(crate) fn new() -> Follower {
        Follower { writers: [None; Reg::COUNT], before: None, count: 0 }
    }

    /// Returns the operation of a word as the page draws it.
    pub(crate) fn draw(
        &mut self,
        operation: &Operation,
        word: Option<u32>,
        text: Option<&str>,
        lost: &[Lost],
    ) -> Drawn {
        let timeline = &operation.timeline;
        match (timeline.wrong_path, &self.before) {
            (true, None) => self.before = Some(Box::new(self.writers)),
            (false, Some(before)) => {
                self.writers = **before;
                self.before = None;
            }
            _ => {}
        }
        let mut needs = word.map(|word| self.needs(timeline.pc, word)).unwrap_or_default();
        needs.sort_unstable();
        needs.dedup();
        self.count += 1;
        let is_access = matches!(operation.kind, OperationKind::Access(_));
        let text = match (text, word) {
            (Some(text), _) => text.to_owned(),
            (None, Some(word)) => disassembled(timeline.pc, word),
            (None, None) => String::from("(no code in the trace)"),
        };
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
            translation: timeline.translation_cycles,
            source: is_access.then(|| timeline.source.label()),
            wrong: timeline.wrong_path,
            retired: timeline.retired,
            mispredicted: timeline.mispredicted,
            needs,
            lost: lost.iter().map(|lost| Slots::new(lost.cause, lost.root, lost.slots)).collect(),
        }
    }

    fn needs(&mut self, pc: u64, word: u32) -> Vec<usize> {
        let mut program = Program::new();
        let id = program.intern(pc, word);
        let inst = program.inst(id);
        let writer = |reg: &Reg| self.writers[usize::from(reg.0)];
        let needs = inst.srcs().iter().filter_map(writer).collect();
        for reg in inst.dsts() {
            self.writers[usize::from(reg.0)] = Some(self.count);
        }
        needs
    }
}

/// Returns the instruction in assembler syntax.
fn disassembled(pc: u64, word: u32) -> String {
    let inst = Decoder::new(&word.to_le_bytes(), pc, DecoderOptions::default()).decode();
    if inst.is_invalid() {
        return format!(".inst {word:#010x}");
    }
    let mut text = String::new();
    FmtFormatter::new().format(&inst, &mut text);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
