//! Trace for <https://ui.perfetto.dev>, in Perfetto's own format (its `protos/perfetto/trace`). A
//! cycle is a nanosecond.
//!
//! Every stage is a track, and every operation a slice of each stage that it passes. A track of
//! Perfetto holds one slice at a time, so that a stage has as many tracks as operations at once;
//! they have one name, by which Perfetto shows them as one.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};
use std::io::{self, Write};

use sim_core::{Cycle, Shown, Span};
use sim_machine::observe::Need;

use super::notes::notes;
use super::protobuf::Message;
use super::{PipeView, TracedOp};
use crate::symbols::Symbols;

/// Identity of the track above the stages. Those of the stages follow.
const ROOT: u64 = 1;
/// All packets are of one writer.
const SEQUENCE: u64 = 1;
/// Names of a writer are interned: the first packet begins with none, and all others need them.
const STATE_CLEARED: u64 = 1;
const NEEDS_STATE: u64 = 2;
/// Children are shown by their rank.
const BY_RANK: u64 = 3;
/// Kinds of events on a track.
const SLICE_BEGIN: u64 = 1;
const SLICE_END: u64 = 2;

/// Numbers of the fields of Perfetto's messages.
mod field {
    pub(super) const TRACE_PACKET: u64 = 1;

    pub(super) const PACKET_TIMESTAMP: u64 = 8;
    pub(super) const PACKET_SEQUENCE: u64 = 10;
    pub(super) const PACKET_EVENT: u64 = 11;
    pub(super) const PACKET_INTERNED: u64 = 12;
    pub(super) const PACKET_FLAGS: u64 = 13;
    pub(super) const PACKET_TRACK: u64 = 60;

    pub(super) const TRACK_UUID: u64 = 1;
    pub(super) const TRACK_NAME: u64 = 2;
    pub(super) const TRACK_PARENT: u64 = 5;
    pub(super) const TRACK_CHILD_ORDERING: u64 = 11;
    pub(super) const TRACK_RANK: u64 = 12;
    pub(super) const TRACK_DESCRIPTION: u64 = 14;

    pub(super) const EVENT_CATEGORY: u64 = 3;
    pub(super) const EVENT_ARGUMENT: u64 = 4;
    pub(super) const EVENT_TYPE: u64 = 9;
    pub(super) const EVENT_NAME: u64 = 10;
    pub(super) const EVENT_TRACK: u64 = 11;
    pub(super) const EVENT_FLOW: u64 = 47;
    pub(super) const EVENT_FLOW_END: u64 = 48;

    pub(super) const INTERNED_CATEGORY: u64 = 1;
    pub(super) const INTERNED_EVENT_NAME: u64 = 2;
    pub(super) const INTERNED_ARGUMENT_NAME: u64 = 3;
    pub(super) const INTERNED_ARGUMENT_TEXT: u64 = 29;
    /// Number and text of an interned name.
    pub(super) const NAME_IID: u64 = 1;
    pub(super) const NAME_TEXT: u64 = 2;

    pub(super) const ARGUMENT_NAME: u64 = 1;
    pub(super) const ARGUMENT_UINT: u64 = 3;
    pub(super) const ARGUMENT_ADDRESS: u64 = 7;
    pub(super) const ARGUMENT_ELEMENT: u64 = 12;
    pub(super) const ARGUMENT_TEXT: u64 = 17;
}

/// Writes the trace.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Write, view: &PipeView, symbols: &Symbols) -> io::Result<()> {
    let stages: Vec<Vec<Span>> = view.ops.iter().map(TracedOp::spans).collect();
    let tracks = Tracks::of(view, &stages);
    let common = view.ops.iter().map(|_| None).collect();
    let mut writer = Writer { out, names: HashMap::new(), common, has_begun: false };
    writer.describe(view, &tracks)?;
    let mut flows: HashMap<(usize, usize), Arrows> = HashMap::new();
    for (id, arrow) in (1..).zip(arrows(view, &stages)) {
        flows.entry(arrow.from).or_default().begin.push(id);
        flows.entry(arrow.to).or_default().end.push(id);
    }
    for edge in edges(&stages) {
        let Edge { cycle, is_begin, place, at } = edge;
        let track = tracks.of_span[place][at];
        if is_begin {
            let arrows = flows.get(&(place, at));
            writer.begin(view, place, symbols, (cycle, track), arrows)?;
        } else {
            writer.end(cycle, track)?;
        }
    }
    Ok(())
}

/// Begin or end of a slice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    cycle: Cycle,
    /// Ends come first: the track is free in that cycle.
    is_begin: bool,
    /// Index of the operation.
    place: usize,
    /// Index of its stage.
    at: usize,
}

/// Returns begins and ends of all slices, in order of time.
fn edges(stages: &[Vec<Span>]) -> Vec<Edge> {
    let mut edges = Vec::with_capacity(stages.len() * 16);
    for (place, own) in stages.iter().enumerate() {
        for (at, span) in own.iter().enumerate() {
            edges.push(Edge { cycle: span.from, is_begin: true, place, at });
            edges.push(Edge { cycle: span.to, is_begin: false, place, at });
        }
    }
    edges.sort_unstable();
    edges
}

/// Tracks of the stages.
struct Tracks {
    /// Rank of the stage of each track, from the track after the root on.
    ranks: Vec<usize>,
    /// Track of each stage of each operation.
    of_span: Vec<Vec<u64>>,
}

impl Tracks {
    /// Gives every slice the first track of its stage that is free.
    fn of(view: &PipeView, stages: &[Vec<Span>]) -> Tracks {
        let mut of_span: Vec<Vec<u64>> = stages.iter().map(|own| vec![0; own.len()]).collect();
        let mut ranks = Vec::new();
        for (rank, stage) in view.stages().iter().enumerate() {
            let mut slices: Vec<(Span, usize, usize)> = Vec::new();
            for (place, own) in stages.iter().enumerate() {
                let own = own.iter().enumerate().filter(|(_, span)| span.stage == *stage);
                slices.extend(own.map(|(at, span)| (*span, place, at)));
            }
            slices.sort_by_key(|(span, place, _)| (span.from, *place));
            let (mut busy, mut free) = (BinaryHeap::new(), BTreeSet::new());
            for (span, place, at) in slices {
                while let Some(&Reverse((end, track))) = busy.peek()
                    && end <= span.from
                {
                    free.insert(track);
                    busy.pop();
                }
                let track = free.pop_first().unwrap_or_else(|| {
                    ranks.push(rank);
                    ROOT + ranks.len() as u64
                });
                busy.push(Reverse((span.to, track)));
                of_span[place][at] = track;
            }
        }
        Tracks { ranks, of_span }
    }
}

/// Arrow from the stage that computes a result to the first stage of the execution that reads it.
struct Arrow {
    /// Indices of an operation and its stage.
    from: (usize, usize),
    to: (usize, usize),
}

/// Numbers of the arrows of a slice.
#[derive(Default)]
struct Arrows {
    begin: Vec<u64>,
    end: Vec<u64>,
}

fn arrows(view: &PipeView, stages: &[Vec<Span>]) -> Vec<Arrow> {
    let mut arrows = Vec::new();
    for (place, op) in view.ops.iter().enumerate() {
        for need in op.needs.iter().filter(|need| is_drawn(view, need)) {
            let (from, to) = (&stages[need.place], &stages[place]);
            let at = |own: &[Span], cycle| {
                own.iter().position(|span| span.from <= cycle && cycle < span.to)
            };
            let computed = need.ready.min(view.ops[need.place].operation.timeline.complete);
            let ends = [at(from, computed.saturating_sub(1)), at(to, op.operation.timeline.issue)];
            if let [Some(first), Some(last)] = ends
                && from[first].from <= to[last].from
            {
                arrows.push(Arrow { from: (need.place, first), to: (place, last) });
            }
        }
    }
    arrows
}

/// Returns whether the stage in which a result becomes ready ends with it: an updated base register
/// is ready long before the data of its load.
fn is_drawn(view: &PipeView, need: &Need) -> bool {
    let producer = &view.ops[need.place];
    producer.in_order.is_some() || need.ready >= producer.operation.timeline.complete
}

/// Writer of packets.
struct Writer<'a, W> {
    out: &'a mut W,
    /// Numbers of the interned names, with the field that lists them.
    names: HashMap<(u64, String), u64>,
    /// Fields of the slices of each operation, after its first one.
    common: Vec<Option<Message>>,
    has_begun: bool,
}

impl<W: Write> Writer<'_, W> {
    fn describe(&mut self, view: &PipeView, tracks: &Tracks) -> io::Result<()> {
        let mut root = Message::default();
        root.uint(field::TRACK_UUID, ROOT).text(field::TRACK_NAME, &view.title());
        root.uint(field::TRACK_CHILD_ORDERING, BY_RANK);
        root.text(field::TRACK_DESCRIPTION, "A nanosecond is a cycle of the core.");
        self.track(&root)?;
        for (uuid, rank) in (ROOT + 1..).zip(&tracks.ranks) {
            let mut track = Message::default();
            track.uint(field::TRACK_UUID, uuid).uint(field::TRACK_PARENT, ROOT);
            track.text(field::TRACK_NAME, view.stages()[*rank].label());
            track.uint(field::TRACK_RANK, *rank as u64);
            self.track(&track)?;
        }
        Ok(())
    }

    fn track(&mut self, track: &Message) -> io::Result<()> {
        let mut packet = Message::default();
        packet.message(field::PACKET_TRACK, track);
        self.packet(packet)
    }

    /// Writes the begin of a slice. `arrows` are those that leave and enter it.
    fn begin(
        &mut self,
        view: &PipeView,
        place: usize,
        symbols: &Symbols,
        (cycle, track): (Cycle, u64),
        arrows: Option<&Arrows>,
    ) -> io::Result<()> {
        let mut interned = Message::default();
        let mut event = Message::default();
        event.uint(field::EVENT_TYPE, SLICE_BEGIN).uint(field::EVENT_TRACK, track);
        let common = match self.common[place].take() {
            Some(common) => common,
            None => self.common_of(&mut interned, view, place, symbols),
        };
        event.fields(&common);
        self.common[place] = Some(common);
        for flow in arrows.iter().flat_map(|arrows| &arrows.begin) {
            event.fixed64(field::EVENT_FLOW, *flow);
        }
        for flow in arrows.iter().flat_map(|arrows| &arrows.end) {
            event.fixed64(field::EVENT_FLOW_END, *flow);
        }
        let mut packet = Message::default();
        packet.uint(field::PACKET_TIMESTAMP, cycle);
        if !interned.is_empty() {
            packet.message(field::PACKET_INTERNED, &interned);
        }
        packet.message(field::PACKET_EVENT, &event);
        self.packet(packet)
    }

    /// Returns the fields that all slices of an operation have: category, name and arguments.
    fn common_of(
        &mut self,
        interned: &mut Message,
        view: &PipeView,
        place: usize,
        symbols: &Symbols,
    ) -> Message {
        let op = &view.ops[place];
        let category = if op.number().is_some() { "correct path" } else { "wrong path" };
        let category = self.name(interned, field::INTERNED_CATEGORY, category);
        let name = self.name(interned, field::INTERNED_EVENT_NAME, &op.instruction());
        let mut common = Message::default();
        common.uint(field::EVENT_CATEGORY, category).uint(field::EVENT_NAME, name);
        self.arguments(&mut common, interned, op, view, symbols);
        common
    }

    fn end(&mut self, cycle: Cycle, track: u64) -> io::Result<()> {
        let mut event = Message::default();
        event.uint(field::EVENT_TYPE, SLICE_END).uint(field::EVENT_TRACK, track);
        let mut packet = Message::default();
        packet.uint(field::PACKET_TIMESTAMP, cycle).message(field::PACKET_EVENT, &event);
        self.packet(packet)
    }

    /// Adds number, place and notes of an operation.
    fn arguments(
        &mut self,
        event: &mut Message,
        interned: &mut Message,
        op: &TracedOp,
        view: &PipeView,
        symbols: &Symbols,
    ) {
        let named = |writer: &mut Self, interned: &mut Message, name| {
            let mut argument = Message::default();
            let name = writer.name(interned, field::INTERNED_ARGUMENT_NAME, name);
            argument.uint(field::ARGUMENT_NAME, name);
            argument
        };
        if let Some(number) = op.number() {
            let mut argument = named(self, interned, "instruction");
            event.message(field::EVENT_ARGUMENT, argument.uint(field::ARGUMENT_UINT, number));
        }
        let mut argument = named(self, interned, "address");
        argument.uint(field::ARGUMENT_ADDRESS, op.operation.timeline.pc);
        event.message(field::EVENT_ARGUMENT, &argument);
        let mut argument = named(self, interned, "place");
        let place = view.place(op, symbols);
        let place = self.name(interned, field::INTERNED_ARGUMENT_TEXT, &place);
        event.message(field::EVENT_ARGUMENT, argument.uint(field::ARGUMENT_TEXT, place));
        let notes = notes(view, op);
        if !notes.is_empty() {
            let mut list = named(self, interned, "notes");
            for note in notes {
                let text = self.name(interned, field::INTERNED_ARGUMENT_TEXT, &note);
                let mut element = Message::default();
                list.message(field::ARGUMENT_ELEMENT, element.uint(field::ARGUMENT_TEXT, text));
            }
            event.message(field::EVENT_ARGUMENT, &list);
        }
    }

    /// Returns the number of a name in its list, and adds it to the packet if it is new.
    fn name(&mut self, interned: &mut Message, list: u64, text: &str) -> u64 {
        let next = self.names.len() as u64 + 1;
        let key = (list, text.shown().to_string());
        if let Some(known) = self.names.get(&key) {
            return *known;
        }
        let mut entry = Message::default();
        entry.uint(field::NAME_IID, next).text(field::NAME_TEXT, &key.1);
        interned.message(list, &entry);
        self.names.insert(key, next);
        next
    }

    fn packet(&mut self, mut packet: Message) -> io::Result<()> {
        let flags = if self.has_begun { NEEDS_STATE } else { STATE_CLEARED | NEEDS_STATE };
        self.has_begun = true;
        packet.uint(field::PACKET_SEQUENCE, SEQUENCE).uint(field::PACKET_FLAGS, flags);
        let mut trace = Message::default();
        trace.message(field::TRACE_PACKET, &packet);
        self.out.write_all(trace.written())
    }
}

#[cfg(test)]
mod tests;
