//! Reads what the tickets of one thread belong to: the instruction, the bytes that it accesses, the system call. The
//! stream is walked over once more for it, block by block; only instructions that synchronize are looked at.

use std::collections::VecDeque;

use sim_isa::{MemOp, Ordering, Special, Synchronizes};
use sim_trace::{
    Call, OrderNote, Skim, StaticTable, StreamReader, Ticket, TicketReader, TraceFile,
};

use super::calls;
use super::edges::{Arrival, Arrivals, Scope};
use crate::error::MachineError;

/// Instructions that are walked over at once, at least.
const STEP: u64 = 4096;

/// The tickets of one instruction, and its system call.
type Group = (Vec<Ticket>, Option<Call>);

/// What a static instruction has to do with order.
#[derive(Clone, Copy, Debug, Default)]
struct Kind {
    synchronizes: Synchronizes,
    /// Tickets that it takes before and behind its access.
    before: bool,
    behind: bool,
    is_call: bool,
    /// Without an address it did not store.
    may_fail: bool,
    bytes: u16,
}

impl Kind {
    fn of(word: u32) -> Kind {
        let inst = sim_isa::decode(word);
        let ordering = Ordering::of(word).unwrap_or(Ordering { before: false, behind: false });
        let mut synchronizes = Synchronizes::of(word);
        let stores = inst.mem.exclusive && inst.mem.op == MemOp::Store;
        // An engine that compares values lets a store-exclusive pass although others had the location since its
        // load: what they released before the store comes before it too.
        synchronizes.acquires |= stores;
        Kind {
            synchronizes,
            before: ordering.before,
            behind: ordering.behind,
            is_call: inst.special == Special::SupervisorCall,
            may_fail: stores,
            bytes: inst.mem.bytes,
        }
    }

    fn matters(&self) -> bool {
        self.before || self.behind || self.is_call
    }

    /// What the instruction acquires and releases, given its address.
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

/// The instructions of a trace that matter, found once for all threads.
pub(super) struct Kinds {
    /// By place in [`StaticTable::places`].
    kinds: Vec<Kind>,
    matters: Vec<bool>,
    /// Places that matter, and which of them are of which block.
    places: Vec<u32>,
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

/// An instruction that ran and matters.
#[derive(Clone, Copy, Debug)]
struct Met {
    position: u64,
    place: u32,
    addr: Option<u64>,
}

/// Collects what matters of a stretch.
struct Walk<'a> {
    kinds: &'a Kinds,
    position: u64,
    met: &'a mut VecDeque<Met>,
    /// Those of the block that runs.
    fresh: usize,
}

impl Skim for Walk<'_> {
    const ACCESSES: bool = true;

    #[inline]
    fn block(&mut self, block: u32, place: u32, executed: u16) {
        let begin = self.position;
        self.position += u64::from(executed);
        self.fresh = self.met.len();
        for &found in self.kinds.of_block(block) {
            if found - place < u32::from(executed) {
                let position = begin + u64::from(found - place);
                self.met.push_back(Met { position, place: found, addr: None });
            }
        }
    }

    #[inline]
    fn access(&mut self, place: u32, addr: u64) {
        if self.kinds.matters[place as usize]
            && let Some(met) = self.met.range_mut(self.fresh..).find(|met| met.place == place)
        {
            met.addr = Some(addr);
        }
    }
}

/// The arrivals of one stream, whose readers are open from the first to the last of them.
pub(crate) struct StreamArrivals<'t> {
    trace: &'t TraceFile,
    stream: u32,
    kinds: std::rc::Rc<Kinds>,
    end: u64,
    walk: Option<Box<Arriving>>,
}

impl<'t> StreamArrivals<'t> {
    /// The arrivals of the instructions of `stream` whose numbers are below `end`. A ticket at the end of the stream belongs
    /// to an instruction that was not recorded: no thread comes to pass it.
    pub(super) fn new(
        trace: &'t TraceFile,
        stream: u32,
        kinds: std::rc::Rc<Kinds>,
        end: u64,
    ) -> StreamArrivals<'t> {
        let streams = trace.streams();
        let found = streams.binary_search_by_key(&stream, |info| info.stream);
        let end = end.min(found.map_or(0, |at| streams[at].instructions));
        StreamArrivals { trace, stream, kinds, end, walk: None }
    }
}

impl Arrivals for StreamArrivals<'_> {
    fn next_arrival(&mut self) -> Result<Option<Arrival>, MachineError> {
        let walk = match &mut self.walk {
            Some(walk) => walk,
            none => {
                let walk = Arriving::new(self.trace, self.stream, self.kinds.clone(), self.end)?;
                none.insert(Box::new(walk))
            }
        };
        walk.next_arrival()
    }

    fn first_order(&self) -> Result<Option<u64>, MachineError> {
        let first = self.trace.tickets(self.stream)?.next_ticket()?;
        Ok(first.filter(|ticket| ticket.position < self.end).map(|ticket| ticket.order))
    }
}

/// The arrivals of one stream while they are read.
struct Arriving {
    kinds: std::rc::Rc<Kinds>,
    reader: StreamReader,
    notes: TicketReader,
    /// A note that was read and not used.
    ahead: Option<OrderNote>,
    met: VecDeque<Met>,
    /// Tickets of one instruction, with what they stand for.
    ready: VecDeque<Arrival>,
    last_call: Option<Call>,
    is_first: bool,
    /// Instructions from here on do not run.
    end: u64,
}

impl Arriving {
    fn new(
        trace: &TraceFile,
        stream: u32,
        kinds: std::rc::Rc<Kinds>,
        end: u64,
    ) -> Result<Arriving, MachineError> {
        let (reader, notes) = (trace.reader(stream)?, trace.tickets(stream)?);
        let (met, ready) = (VecDeque::new(), VecDeque::new());
        let (ahead, last_call, is_first) = (None, None, true);
        Ok(Arriving { kinds, reader, notes, ahead, met, ready, last_call, is_first, end })
    }

    fn next_note(&mut self) -> Result<Option<OrderNote>, MachineError> {
        match self.ahead.take() {
            Some(note) => Ok(Some(note)),
            None => Ok(self.notes.next_note()?),
        }
    }

    /// The tickets of the next instruction that has any, and the call that it is.
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
                (OrderNote::Call(call), Some(at)) if call.behind == at + 1 => {
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

    /// The instruction at a place of the stream, if it matters, and its address.
    fn meet(&mut self, position: u64) -> Result<Option<Met>, MachineError> {
        while self.reader.position() <= position {
            while self.met.front().is_some_and(|met| met.position < position) {
                self.met.pop_front();
            }
            let before = self.reader.position();
            let Self { kinds, met, reader, .. } = self;
            let mut walk = Walk { kinds, position: before, met, fresh: 0 };
            reader.skim(before + STEP, &mut walk)?;
            if self.reader.position() == before {
                return Ok(None);
            }
        }
        while self.met.front().is_some_and(|met| met.position < position) {
            self.met.pop_front();
        }
        Ok(self.met.front().copied().filter(|met| met.position == position))
    }

    /// What the tickets of one instruction stand for, in their order.
    fn settle(&mut self, tickets: &[Ticket], call: Option<Call>) -> Result<(), MachineError> {
        let position = tickets[0].position;
        let met = self.meet(position)?;
        let kind = met.map(|met| self.kinds.kinds[met.place as usize]).unwrap_or_default();
        let (acquires, releases) = kind.scopes(met.and_then(|met| met.addr));
        let own = match (kind.before, kind.behind) {
            _ if kind.is_call => vec![(Scope::Nowhere, call.map_or(Scope::Everywhere, released))],
            (true, true) => vec![(Scope::Nowhere, releases), (acquires, Scope::Nowhere)],
            (false, false) => Vec::new(),
            _ => vec![(acquires, releases)],
        };
        let entry = self.entry(position);
        self.is_first = false;
        for (i, ticket) in tickets.iter().enumerate() {
            // Those of the place come before those of the instruction.
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

    /// What a ticket stands for that an instruction has beside its own: its thread begins there, or a call is back.
    fn entry(&self, position: u64) -> (Scope, Scope) {
        match self.last_call.filter(|call| call.behind == position) {
            Some(call) => (calls::scopes(&call).1, Scope::Nowhere),
            None if self.is_first && position == 0 => (Scope::Creation(None), Scope::Nowhere),
            None => (Scope::Everywhere, Scope::Everywhere),
        }
    }
}

/// What a call releases.
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
            self.settle(&tickets, call)?;
        }
    }
}
