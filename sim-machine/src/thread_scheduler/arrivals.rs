//! Finds what the tickets of one thread belong to: the instruction, its bytes, the system call. For
//! that it reads the stream a second time, block by block, and checks only synchronizing
//! instructions.

use std::collections::VecDeque;
use std::ops::Range;

use sim_isa::{MemOp, Ordering, Special, Synchronizes};
use sim_trace::{
    BlockVisitor, Call, OrderNote, StaticTable, StreamReader, Ticket, TicketReader, TraceFile,
};

use super::calls;
use super::edges::{Arrival, Arrivals, Scope};
use crate::error::MachineError;

/// Fewest instructions that are read at once.
const STEP: u64 = 4096;

/// Tickets of one instruction, and its system call.
type Group = (Vec<Ticket>, Option<Call>);

/// Synchronization properties of a static instruction.
#[derive(Clone, Copy, Debug, Default)]
struct Kind {
    synchronizes: Synchronizes,
    /// Tickets taken before and after its access.
    before: bool,
    after: bool,
    is_call: bool,
    /// A store-exclusive: without an address it did not store.
    may_fail: bool,
    bytes: u16,
}

impl Kind {
    fn of(word: u32) -> Kind {
        let inst = sim_isa::decode(word);
        let ordering = Ordering::of(word).unwrap_or(Ordering { before: false, after: false });
        let mut synchronizes = Synchronizes::of(word);
        let stores = inst.mem.exclusive && inst.mem.op == MemOp::Store;
        // An engine that compares values lets a store-exclusive pass although others stored since
        // its load. Their releases before the store come before it too.
        synchronizes.acquires |= stores;
        Kind {
            synchronizes,
            before: ordering.before,
            after: ordering.after,
            is_call: inst.special == Special::SupervisorCall,
            may_fail: stores,
            bytes: inst.mem.bytes,
        }
    }

    fn matters(&self) -> bool {
        self.before || self.after || self.is_call
    }

    /// Returns what the instruction acquires and releases at its address.
    fn scopes(&self, addr: Option<u64>) -> (Scope, Scope) {
        let Synchronizes { acquires, releases, is_fence } = self.synchronizes;
        let has_failed = self.may_fail && addr.is_none();
        let scope = match addr {
            Some(addr) if !is_fence => Scope::Bytes(addr, self.bytes),
            _ => Scope::Everywhere,
        };
        let given = |is: bool| if is { scope } else { Scope::Nowhere };
        (given(acquires && !has_failed), given(releases && !has_failed))
    }
}

/// Synchronizing instructions of a trace, shared by all threads.
pub(super) struct Kinds {
    /// Properties by place in [`StaticTable::places`].
    kinds: Vec<Kind>,
    matters: Vec<bool>,
    /// Places of synchronizing instructions.
    places: Vec<u32>,
    /// Index in `places` of each block's first one.
    blocks: Vec<u32>,
}

impl Kinds {
    pub(super) fn of(statics: &StaticTable) -> Kinds {
        let known: Vec<Kind> = statics.insts().iter().map(|code| Kind::of(code.word)).collect();
        let kinds: Vec<Kind> = statics.places().iter().map(|id| known[*id as usize]).collect();
        let matters: Vec<bool> = kinds.iter().map(Kind::matters).collect();
        let all = 0..kinds.len() as u32;
        let places: Vec<u32> = all.filter(|place| matters[*place as usize]).collect();
        let first = |start: &u32| places.partition_point(|place| place < start) as u32;
        let blocks = statics.starts().iter().map(first).collect();
        Kinds { kinds, matters, places, blocks }
    }

    fn of_block(&self, block: u32) -> &[u32] {
        &self.places[self.blocks[block as usize] as usize..self.blocks[block as usize + 1] as usize]
    }
}

/// An executed instruction that synchronizes.
#[derive(Clone, Copy, Debug)]
struct SyncInst {
    position: u64,
    place: u32,
    addr: Option<u64>,
}

/// Visitor that collects synchronizing instructions.
struct Walk<'a> {
    kinds: &'a Kinds,
    position: u64,
    found: &'a mut VecDeque<SyncInst>,
    /// Index of the first synchronizing instruction of the current block.
    fresh: usize,
}

impl BlockVisitor for Walk<'_> {
    const ACCESSES: bool = true;

    #[inline]
    fn block(&mut self, block: u32, place: u32, executed: u16) {
        let begin = self.position;
        self.position += u64::from(executed);
        self.fresh = self.found.len();
        for &found in self.kinds.of_block(block) {
            if found - place < u32::from(executed) {
                let position = begin + u64::from(found - place);
                self.found.push_back(SyncInst { position, place: found, addr: None });
            }
        }
    }

    #[inline]
    fn access(&mut self, place: u32, addr: u64) {
        if self.kinds.matters[place as usize]
            && let Some(found) =
                self.found.range_mut(self.fresh..).find(|found| found.place == place)
        {
            found.addr = Some(addr);
        }
    }
}

/// Arrivals of one stream. Its readers are open from the first arrival to the last.
pub(crate) struct StreamArrivals<'t> {
    trace: &'t TraceFile,
    stream: u32,
    kinds: std::rc::Rc<Kinds>,
    range: Range<u64>,
    walk: Option<Box<Arriving>>,
}

impl<'t> StreamArrivals<'t> {
    /// Creates the arrivals of the instructions of `stream` with numbers in `range`. A ticket at
    /// the end of the stream belongs to an instruction that was not recorded, so no thread passes
    /// it.
    pub(super) fn new(
        trace: &'t TraceFile,
        stream: u32,
        kinds: std::rc::Rc<Kinds>,
        range: Range<u64>,
    ) -> StreamArrivals<'t> {
        let streams = trace.streams();
        let found = streams.binary_search_by_key(&stream, |info| info.stream);
        let end = range.end.min(found.map_or(0, |at| streams[at].instructions));
        StreamArrivals { trace, stream, kinds, range: range.start..end, walk: None }
    }
}

impl Arrivals for StreamArrivals<'_> {
    fn next_arrival(&mut self) -> Result<Option<Arrival>, MachineError> {
        let walk = match &mut self.walk {
            Some(walk) => walk,
            none => {
                let walk = Arriving::new(self.trace, self.stream, &self.kinds, &self.range)?;
                none.insert(Box::new(walk))
            }
        };
        walk.next_arrival()
    }

    fn first_order(&self) -> Result<Option<u64>, MachineError> {
        let mut tickets = self.trace.tickets_at(self.stream, self.range.start)?;
        loop {
            let Some(Ticket { position, order, .. }) = tickets.next_ticket()? else {
                return Ok(None);
            };
            if position >= self.range.start {
                return Ok((position < self.range.end).then_some(order));
            }
        }
    }

    fn begins_later(&self) -> bool {
        self.range.start > 0
    }
}

/// Open readers of one stream's arrivals.
struct Arriving {
    kinds: std::rc::Rc<Kinds>,
    reader: StreamReader,
    notes: TicketReader,
    /// A note that was read ahead.
    ahead: Option<OrderNote>,
    found: VecDeque<SyncInst>,
    /// Resolved arrivals of one instruction.
    ready: VecDeque<Arrival>,
    last_call: Option<Call>,
    is_first: bool,
    /// Number of the first instruction that does not run.
    end: u64,
}

impl Arriving {
    fn new(
        trace: &TraceFile,
        stream: u32,
        kinds: &std::rc::Rc<Kinds>,
        range: &Range<u64>,
    ) -> Result<Arriving, MachineError> {
        let reader = trace.reader_at(stream, range.start)?;
        let (found, ready, kinds) = (VecDeque::new(), VecDeque::new(), kinds.clone());
        let (ahead, last_call, is_first) = (None, None, range.start == 0);
        let notes = trace.tickets_at(stream, range.start)?;
        let mut arriving = Arriving {
            kinds,
            reader,
            notes,
            ahead,
            found,
            ready,
            last_call,
            is_first,
            end: range.end,
        };
        arriving.skip_to(range.start)?;
        Ok(arriving)
    }

    /// Passes the notes of the instructions before `position`.
    fn skip_to(&mut self, position: u64) -> Result<(), MachineError> {
        if position == 0 {
            return Ok(());
        }
        loop {
            match self.notes.next_note()? {
                Some(OrderNote::Ticket(ticket)) if ticket.position < position => {}
                Some(OrderNote::Call(call)) if call.after <= position => {
                    self.last_call = Some(call);
                }
                next => {
                    self.ahead = next;
                    return Ok(());
                }
            }
        }
    }

    fn next_note(&mut self) -> Result<Option<OrderNote>, MachineError> {
        match self.ahead.take() {
            Some(note) => Ok(Some(note)),
            None => Ok(self.notes.next_note()?),
        }
    }

    /// Returns the tickets of the next instruction that has any, and its system call.
    fn next_group(&mut self) -> Result<Option<Group>, MachineError> {
        let mut tickets: Vec<Ticket> = Vec::new();
        while let Some(note) = self.next_note()? {
            let first = tickets.first().map(|ticket| ticket.position);
            match (note, first) {
                (OrderNote::Ticket(ticket), None) if ticket.position >= self.end => {
                    return Ok(None);
                }
                (OrderNote::Ticket(ticket), None) => tickets.push(ticket),
                (OrderNote::Ticket(ticket), Some(at)) if ticket.position == at => {
                    tickets.push(ticket);
                }
                (OrderNote::Call(call), None) => self.last_call = Some(call),
                (OrderNote::Call(call), Some(at)) if call.after == at + 1 => {
                    return Ok(Some((tickets, Some(call))));
                }
                _ => {
                    self.ahead = Some(note);
                    break;
                }
            }
        }
        Ok((!tickets.is_empty()).then_some((tickets, None)))
    }

    /// Returns the synchronizing instruction at a position of the stream, with its address.
    fn find_inst(&mut self, position: u64) -> Result<Option<SyncInst>, MachineError> {
        while self.reader.position() <= position {
            while self.found.front().is_some_and(|found| found.position < position) {
                self.found.pop_front();
            }
            let before = self.reader.position();
            let Self { kinds, found, reader, .. } = self;
            let mut walk = Walk { kinds, position: before, found, fresh: 0 };
            reader.skim(before + STEP, &mut walk)?;
            if self.reader.position() == before {
                return Ok(None);
            }
        }
        while self.found.front().is_some_and(|found| found.position < position) {
            self.found.pop_front();
        }
        Ok(self.found.front().copied().filter(|found| found.position == position))
    }

    /// Resolves the tickets of one instruction, in their order.
    fn resolve(&mut self, tickets: &[Ticket], call: Option<Call>) -> Result<(), MachineError> {
        let position = tickets[0].position;
        let found = self.find_inst(position)?;
        let kind = found.map(|found| self.kinds.kinds[found.place as usize]).unwrap_or_default();
        let (acquires, releases) = kind.scopes(found.and_then(|found| found.addr));
        let own = match (kind.before, kind.after) {
            _ if kind.is_call => vec![(Scope::Nowhere, call.map_or(Scope::Everywhere, released))],
            (true, true) => vec![(Scope::Nowhere, releases), (acquires, Scope::Nowhere)],
            (false, false) => Vec::new(),
            _ => vec![(acquires, releases)],
        };
        let entry = self.entry(position);
        self.is_first = false;
        for (i, ticket) in tickets.iter().enumerate() {
            // Tickets of the position come before those of the instruction.
            let entries = tickets.len().saturating_sub(own.len());
            let (acquires, releases) = match i.checked_sub(entries) {
                None => entry,
                Some(_) if tickets.len() < own.len() => (acquires, releases),
                Some(n) => own[n],
            };
            self.ready.push_back(Arrival { position, order: ticket.order, acquires, releases });
        }
        if let Some(call) = call {
            self.last_call = Some(call);
        }
        Ok(())
    }

    /// Returns the scopes of a ticket beyond the instruction's own: a thread begins, or a call
    /// returns.
    fn entry(&self, position: u64) -> (Scope, Scope) {
        match self.last_call.filter(|call| call.after == position) {
            Some(call) => (calls::scopes(&call).1, Scope::Nowhere),
            None if self.is_first && position == 0 => (Scope::Creation(None), Scope::Nowhere),
            None => (Scope::Everywhere, Scope::Everywhere),
        }
    }
}

/// Returns what a call releases.
fn released(call: Call) -> Scope {
    calls::scopes(&call).0
}

impl Arriving {
    fn next_arrival(&mut self) -> Result<Option<Arrival>, MachineError> {
        loop {
            if let Some(arrival) = self.ready.pop_front() {
                return Ok(Some(arrival));
            }
            let Some((tickets, call)) = self.next_group()? else { return Ok(None) };
            self.resolve(&tickets, call)?;
        }
    }
}
