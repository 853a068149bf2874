//! Last access to every line and block in a part of a trace that is not run. Replayed in order,
//! these accesses leave nearly the contents that the whole part would leave in caches and TLBs.
//!
//! The table grows with the accessed pages up to a limit: a full table is replayed and emptied.

use crate::line_table::{LINE_SHIFT, LineTable, PAGE_SHIFT, line_of};
use sim_cache::{MemorySystem, Touch, TouchKind};
use sim_core::{Cycle, InstFlags, Maintenance, MemKind, TraceInst, VirtAddr};
use sim_isa::Program;
use sim_trace::{BlockVisitor, StaticTable};

/// Pages of a full table: 256 MB of accessed memory, 34 MB of table.
const MOST_PAGES: usize = 1 << 16;
/// Maintenance operations of a full table.
const MOST_MAINTENANCE: usize = 1 << 14;
/// Clock of a full table.
const LATEST: u32 = 1 << 31;

/// Effect of an instruction on the line that it accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Reads,
    Writes,
    Maintains(Maintenance),
    Nothing,
}

/// Table of last accesses.
pub(crate) struct LastAccesses {
    /// Effect by an instruction's place among those of all blocks.
    effects: Vec<Effect>,
    /// Address of the first instruction of each block.
    blocks: Vec<u64>,
    /// Time of each block's last execution, and the most instructions of it that ran.
    ran: Vec<(u32, u16)>,
    ran_blocks: Vec<u32>,
    lines: LineTable,
    maintenance: Vec<(u32, u64, Maintenance)>,
    clock: u32,
}

impl LastAccesses {
    /// Creates an empty table for a trace with these blocks.
    pub(crate) fn new(statics: &StaticTable, program: &Program) -> LastAccesses {
        let effects = statics.places().iter().map(|id| effect(program, *id)).collect();
        let of_block = |number: usize| {
            let insts = statics.block(sim_trace::BlockId(number as u32)).unwrap_or_default();
            insts.first().map_or(0, |id| program.pc(*id))
        };
        let blocks: Vec<u64> = (0..statics.blocks()).map(of_block).collect();
        LastAccesses {
            effects,
            ran: vec![(0, 0); blocks.len()],
            blocks,
            ran_blocks: Vec::new(),
            lines: LineTable::new(),
            maintenance: Vec::new(),
            clock: 0,
        }
    }

    /// Returns true when the table must be replayed before it grows further.
    pub(crate) fn is_full(&self) -> bool {
        self.lines.len() >= MOST_PAGES
            || self.maintenance.len() >= MOST_MAINTENANCE
            || self.clock >= LATEST
    }

    /// Records the access of an instruction that does not run.
    pub(crate) fn record(&mut self, inst: &TraceInst, program: &Program) {
        if inst.flags.has(InstFlags::HAS_ADDR) {
            self.record_access(effect(program, inst.id), inst.addr);
        }
    }

    #[inline]
    fn record_access(&mut self, effect: Effect, addr: u64) {
        self.clock += 1;
        let written = match effect {
            Effect::Reads => 0,
            Effect::Writes => 1,
            Effect::Maintains(what) => return self.maintenance.push((self.clock, addr, what)),
            Effect::Nothing => return,
        };
        let line = line_of(addr);
        let page = self.lines.page(addr);
        page.stamps[line] = self.clock;
        page.written |= written << line;
    }

    /// Replays all accesses on core `core`, oldest first, and empties the table. Returns the cycle
    /// after the last one.
    pub(crate) fn replay(&mut self, core: usize, memory: &mut MemorySystem, now: Cycle) -> Cycle {
        let mut touches = Vec::new();
        self.take_pages(&mut touches);
        self.take_blocks(&mut touches);
        let operation = |(at, addr, what)| {
            (at, Touch { addr: VirtAddr(addr), kind: TouchKind::Maintain(what) })
        };
        touches.extend(self.maintenance.drain(..).map(operation));
        self.clock = 0;
        // Every access has its own time. The lines of a block share one and are in address order.
        touches.sort_unstable_by_key(|(at, touch)| (*at, touch.addr.0));
        let reach = usize::try_from(memory.reach()).unwrap_or(usize::MAX);
        let newest = &touches[touches.len().saturating_sub(reach)..];
        memory.touch(core, newest.iter().map(|(_, touch)| *touch), now)
    }

    fn take_pages(&mut self, touches: &mut Vec<(u32, Touch)>) {
        for page in self.lines.take() {
            for (line, at) in page.stamps.iter().enumerate().filter(|(_, at)| **at > 0) {
                let addr = page.number << PAGE_SHIFT | (line as u64) << LINE_SHIFT;
                let is_written = page.written >> line & 1 == 1;
                let kind = if is_written { TouchKind::Write } else { TouchKind::Read };
                touches.push((*at, Touch { addr: VirtAddr(addr), kind }));
            }
        }
    }

    /// Adds the lines of the blocks that ran, each at the time of its last block.
    fn take_blocks(&mut self, touches: &mut Vec<(u32, Touch)>) {
        let mut lines: Vec<(u64, u32)> = Vec::new();
        for block in self.ran_blocks.drain(..) {
            let (at, executed) = std::mem::take(&mut self.ran[block as usize]);
            let pc = self.blocks[block as usize];
            let last = pc + 4 * u64::from(executed.max(1) - 1);
            lines.extend((pc >> LINE_SHIFT..=last >> LINE_SHIFT).map(|line| (line, at)));
        }
        lines.sort_unstable();
        let last_of_line = lines.chunk_by(|a, b| a.0 == b.0).filter_map(|group| group.last());
        touches.extend(last_of_line.map(|(line, at)| {
            (*at, Touch { addr: VirtAddr(line << LINE_SHIFT), kind: TouchKind::Fetch })
        }));
    }
}

impl BlockVisitor for LastAccesses {
    const ACCESSES: bool = true;

    #[inline]
    fn block(&mut self, block: u32, _place: u32, executed: u16) {
        self.clock += 1;
        let (at, most) = &mut self.ran[block as usize];
        if *at == 0 {
            self.ran_blocks.push(block);
        }
        (*at, *most) = (self.clock, executed.max(*most));
    }

    #[inline]
    fn access(&mut self, place: u32, addr: u64) {
        self.record_access(self.effects[place as usize], addr);
    }
}

fn effect(program: &Program, id: u32) -> Effect {
    match program.inst(id).recorded_access_kind() {
        None => Effect::Nothing,
        Some(MemKind::Maintain(what)) => Effect::Maintains(what),
        Some(kind) if kind.only_reads() => Effect::Reads,
        Some(_) => Effect::Writes,
    }
}
