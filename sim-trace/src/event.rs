//! Side events of a stream: events between two instructions that no instruction word shows. They
//! explain every change of control flow explicitly.

use sim_core::{Activity, MAX_FURTHER};

use crate::varint::{Bytes, put_varint, unzigzag, zigzag};

/// Event between two instructions of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamEvent {
    /// System call by the previous instruction, an `SVC`.
    Syscall {
        /// Number of the system call (X8).
        number: u64,
        /// Arguments of the system call (X0 to X5).
        args: [u64; 6],
        /// Result in X0, if the return was recorded.
        result: Option<i64>,
    },
    /// Delivery of a signal. The next instruction is the first of the handler.
    Signal {
        /// Number of the signal.
        number: u32,
        /// True if the previous instruction did not complete (it faulted or was interrupted).
        abandoned: bool,
    },
    /// Exception taken to a kernel that is in the trace, too.
    Exception {
        /// Offset of the vector (low 11 bits of the address of the handler).
        vector: u32,
        /// True if the previous instruction did not complete.
        abandoned: bool,
        /// Target exception level, 1 to 3; 0 if unknown.
        level: u8,
        /// `ESR_ELx` of the target level; 0 if unknown.
        syndrome: u64,
        /// State bits, if the level is known: bit 0 `HCR_EL2.E2H`, bit 1 `HCR_EL2.TGE`, bit 2
        /// Secure state below EL3.
        state: u8,
    },
    /// Change of control flow without a known reason, for example a return from a signal handler
    /// into the middle of a block.
    Redirect,
    /// Instructions that were not recorded.
    Gap {
        /// Number of absent instructions, if known.
        instructions: Option<u64>,
    },
    /// Start of the thread of this stream.
    ThreadStart {
        /// Number of the thread in the traced system.
        thread: u64,
    },
    /// End of the thread of this stream.
    ThreadEnd {
        /// Number of the thread in the traced system.
        thread: u64,
    },
    /// Mark by the program or the user (start or end of a region of interest).
    Marker {
        /// Number that the program gave.
        id: u64,
    },
    /// Ticket of a synchronizing instruction: its position among those of all streams.
    Ticket {
        /// Number of the ticket, unique and increasing over all streams of the file.
        order: u64,
        /// Distance to the instruction: 0 is the next one, 1 the previous one.
        back: u16,
    },
    /// Outcome of a store-exclusive if the presence of an access does not show it.
    StoreExclusive {
        /// Distance back to the instruction: 1 is the previous one, 2 the one before it.
        back: u16,
        /// True if it did not store.
        failed: bool,
    },
    /// Switch of the CPU to another process.
    ContextSwitch {
        /// Address space identifier or process number.
        space: u64,
    },
    /// Change of the address map of the process.
    Mapping {
        /// Address of the first byte.
        addr: u64,
        /// Length in bytes.
        bytes: u64,
        /// False if the range was removed.
        mapped: bool,
    },
    /// Active elements of an SVE instruction if not all are active, and further addresses of a
    /// gather or scatter.
    Elements {
        /// Distance back to the instruction: 1 is the previous one, 2 the one before it.
        back: u16,
        /// Share of active elements: all, none or some.
        activity: Activity,
        /// Active elements if only some are, bit 0 for the first element; 0 if unknown.
        active: u16,
        /// Addresses of the active elements after the first.
        further: Further,
    },
    /// Read or write of a system register by the previous instruction, a completed `MRS` or `MSR`.
    Register {
        /// Register: `op0`, `op1`, `CRn`, `CRm` and `op2`, as in bits 20 to 5 of the word.
        encoding: u16,
        /// Value read or written.
        value: u64,
        /// True for `MSR`.
        is_write: bool,
    },
    /// Event of a later minor version of the format. Its arguments were skipped.
    Unknown {
        /// Number of the event kind.
        kind: u64,
    },
}

/// A side event and its position in the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventAt {
    /// Number of instructions of the batch before the event, which precedes `batch[position]`.
    pub position: u32,
    /// The side event.
    pub event: StreamEvent,
}

/// Addresses of the active elements after the first, as distances from the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Further {
    distances: [i64; MAX_FURTHER],
    count: u8,
}

impl Further {
    /// Returns the elements at `addrs`, the first of which is the address of the instruction.
    /// Returns `None` if there are more than a vector has.
    pub fn of(addrs: &[u64]) -> Option<Further> {
        let mut further = Further::default();
        let Some((first, rest)) = addrs.split_first() else { return Some(further) };
        for addr in rest {
            *further.distances.get_mut(usize::from(further.count))? =
                addr.wrapping_sub(*first).cast_signed();
            further.count += 1;
        }
        Some(further)
    }

    /// Returns the distances in `args`. Drops those beyond the length of a vector.
    fn decode(args: &[u64]) -> Further {
        let mut further = Further::default();
        for (slot, arg) in further.distances.iter_mut().zip(args) {
            *slot = unzigzag(*arg).cast_signed();
            further.count += 1;
        }
        further
    }

    /// Returns the number of elements after the first.
    pub fn count(&self) -> usize {
        self.count.into()
    }

    /// Returns the addresses of the elements after the first, given the address of the first.
    pub fn addrs(&self, first: u64) -> impl Iterator<Item = u64> {
        let count = self.count();
        self.distances.into_iter().take(count).map(move |d| first.wrapping_add_signed(d))
    }
}

impl StreamEvent {
    /// Returns true if the next instruction does not follow architecturally from the previous one.
    pub fn breaks_flow(&self) -> bool {
        matches!(
            self,
            StreamEvent::Signal { .. }
                | StreamEvent::Exception { .. }
                | StreamEvent::Redirect
                | StreamEvent::Gap { .. }
                | StreamEvent::ContextSwitch { .. }
        )
    }

    /// Returns true if the previous instruction did not complete.
    pub fn abandons(&self) -> bool {
        matches!(
            self,
            StreamEvent::Signal { abandoned: true, .. }
                | StreamEvent::Exception { abandoned: true, .. }
        )
    }

    /// Returns the number of the kind, the arguments, and the number of arguments in use. Arguments
    /// in use come first.
    fn encode(&self) -> (u64, [u64; MAX_ARGS], usize) {
        let mut a = [0; MAX_ARGS];
        let mut set = |values: &[u64]| {
            a[..values.len()].copy_from_slice(values);
            values.len()
        };
        let (kind, n) = match *self {
            StreamEvent::Syscall { number, args: [p, q, r, s, t, u], result } => {
                let result = result.map_or([0, 0], |value| [1, value.cast_unsigned()]);
                (kind::SYSCALL, set(&[number, p, q, r, s, t, u, result[0], result[1]]))
            }
            StreamEvent::Signal { number, abandoned } => {
                (kind::SIGNAL, set(&[u64::from(number), u64::from(abandoned)]))
            }
            StreamEvent::Exception { vector, abandoned, level, syndrome, state } => {
                let known = [vector.into(), abandoned.into(), level.into(), syndrome, state.into()];
                // Unknown values are omitted: such an event has the form of version 1.0.
                let n = if (level, syndrome, state) == (0, 0, 0) { 2 } else { 5 };
                (kind::EXCEPTION, set(&known[..n]))
            }
            StreamEvent::Redirect => (kind::REDIRECT, 0),
            StreamEvent::Gap { instructions: None } => (kind::GAP, 0),
            StreamEvent::Gap { instructions: Some(n) } => (kind::GAP, set(&[n])),
            StreamEvent::ThreadStart { thread } => (kind::THREAD_START, set(&[thread])),
            StreamEvent::ThreadEnd { thread } => (kind::THREAD_END, set(&[thread])),
            StreamEvent::Marker { id } => (kind::MARKER, set(&[id])),
            StreamEvent::Ticket { order, back: 0 } => (kind::TICKET, set(&[order])),
            StreamEvent::Ticket { order, back } => (kind::TICKET, set(&[order, back.into()])),
            StreamEvent::StoreExclusive { back, failed } => {
                (kind::STORE_EXCLUSIVE, set(&[u64::from(back), u64::from(failed)]))
            }
            StreamEvent::ContextSwitch { space } => (kind::CONTEXT_SWITCH, set(&[space])),
            StreamEvent::Mapping { addr, bytes, mapped } => {
                (kind::MAPPING, set(&[addr, bytes, u64::from(mapped)]))
            }
            StreamEvent::Elements { back, activity, active, further } => {
                let activity = match activity {
                    Activity::All => 0,
                    Activity::None => 1,
                    Activity::Partial => 2,
                };
                let head = set(&[back.into(), activity, active.into()]);
                let distances = &further.distances[..further.count()];
                for (slot, distance) in a[head..].iter_mut().zip(distances) {
                    *slot = zigzag(distance.cast_unsigned());
                }
                (kind::ELEMENTS, head + distances.len())
            }
            StreamEvent::Register { encoding, value, is_write } => {
                (kind::REGISTER, set(&[encoding.into(), is_write.into(), value]))
            }
            StreamEvent::Unknown { kind } => (kind, 0),
        };
        (kind, a, n)
    }

    /// Returns the event of this kind and these arguments. Absent arguments read as zero.
    fn decode(kind: u64, a: [u64; MAX_ARGS], n: usize) -> StreamEvent {
        match kind {
            kind::SYSCALL => StreamEvent::Syscall {
                number: a[0],
                args: [a[1], a[2], a[3], a[4], a[5], a[6]],
                result: (a[7] != 0).then_some(a[8].cast_signed()),
            },
            kind::SIGNAL => StreamEvent::Signal { number: a[0] as u32, abandoned: a[1] != 0 },
            kind::EXCEPTION => StreamEvent::Exception {
                vector: a[0] as u32,
                abandoned: a[1] != 0,
                level: a[2] as u8,
                syndrome: a[3],
                state: a[4] as u8,
            },
            kind::REDIRECT => StreamEvent::Redirect,
            kind::GAP => StreamEvent::Gap { instructions: (n > 0).then_some(a[0]) },
            kind::THREAD_START => StreamEvent::ThreadStart { thread: a[0] },
            kind::THREAD_END => StreamEvent::ThreadEnd { thread: a[0] },
            kind::MARKER => StreamEvent::Marker { id: a[0] },
            kind::TICKET => StreamEvent::Ticket { order: a[0], back: a[1] as u16 },
            kind::STORE_EXCLUSIVE => {
                StreamEvent::StoreExclusive { back: a[0] as u16, failed: a[1] != 0 }
            }
            kind::CONTEXT_SWITCH => StreamEvent::ContextSwitch { space: a[0] },
            kind::MAPPING => StreamEvent::Mapping { addr: a[0], bytes: a[1], mapped: a[2] != 0 },
            kind::ELEMENTS => StreamEvent::Elements {
                back: a[0] as u16,
                activity: match a[1] {
                    0 => Activity::All,
                    1 => Activity::None,
                    _ => Activity::Partial,
                },
                active: a[2] as u16,
                further: Further::decode(&a[3..n.max(3)]),
            },
            kind::REGISTER => {
                StreamEvent::Register { encoding: a[0] as u16, is_write: a[1] != 0, value: a[2] }
            }
            kind => StreamEvent::Unknown { kind },
        }
    }

    /// Appends kind, number of arguments, and arguments. Writes a ticket as the distance from
    /// `ticket`, the last one of the chunk.
    pub(crate) fn put(&self, ticket: &mut u64, out: &mut Vec<u8>) {
        let (kind, mut args, n) = self.encode();
        if let StreamEvent::Ticket { order, .. } = *self {
            args[0] = order.wrapping_sub(std::mem::replace(ticket, order));
        }
        put_varint(out, kind);
        put_varint(out, n as u64);
        for &arg in &args[..n] {
            put_varint(out, arg);
        }
    }

    /// Reads an event written by [`put`](StreamEvent::put). Returns `None` if the bytes end early
    /// or the event has more arguments than any version may write.
    pub(crate) fn take(bytes: &mut Bytes<'_>, ticket: &mut u64) -> Option<StreamEvent> {
        let kind = bytes.varint()?;
        let n = usize::try_from(bytes.varint()?).ok().filter(|&n| n <= MAX_ARGS)?;
        let mut args = [0; MAX_ARGS];
        for arg in &mut args[..n] {
            *arg = bytes.varint()?;
        }
        if kind == kind::TICKET {
            args[0] = args[0].wrapping_add(*ticket);
            *ticket = args[0];
        }
        Some(StreamEvent::decode(kind, args, n))
    }
}

/// Largest number of arguments of an event in any minor version of format 1.
const MAX_ARGS: usize = 12;

/// Largest size of an event in bytes: position, kind, count and arguments of nine bytes each.
pub(crate) const MAX_EVENT_BYTES: usize = 9 * (3 + MAX_ARGS);

/// Numbers of the event kinds in the file.
mod kind {
    pub(super) const SYSCALL: u64 = 1;
    pub(super) const SIGNAL: u64 = 2;
    pub(super) const EXCEPTION: u64 = 3;
    pub(super) const REDIRECT: u64 = 4;
    pub(super) const GAP: u64 = 5;
    pub(super) const THREAD_START: u64 = 6;
    pub(super) const THREAD_END: u64 = 7;
    pub(super) const MARKER: u64 = 8;
    pub(super) const TICKET: u64 = 9;
    pub(super) const STORE_EXCLUSIVE: u64 = 10;
    pub(super) const CONTEXT_SWITCH: u64 = 11;
    pub(super) const MAPPING: u64 = 12;
    pub(super) const ELEMENTS: u64 = 13;
    pub(super) const REGISTER: u64 = 14;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns one event of each kind, with every argument in use.
    fn one_of_each() -> Vec<StreamEvent> {
        vec![
            StreamEvent::Syscall { number: 64, args: [1, 2, 3, 4, 5, 6], result: Some(-11) },
            StreamEvent::Signal { number: 11, abandoned: true },
            StreamEvent::Exception {
                vector: 0x400,
                abandoned: true,
                level: 2,
                syndrome: 0x9200_0007,
                state: 3,
            },
            StreamEvent::Redirect,
            StreamEvent::Gap { instructions: Some(1000) },
            StreamEvent::ThreadStart { thread: 2 },
            StreamEvent::ThreadEnd { thread: 2 },
            StreamEvent::Marker { id: 7 },
            StreamEvent::Ticket { order: u64::MAX, back: 2 },
            StreamEvent::StoreExclusive { back: 3, failed: true },
            StreamEvent::ContextSwitch { space: 42 },
            StreamEvent::Mapping { addr: 0x1000, bytes: 4096, mapped: true },
            StreamEvent::Elements {
                back: 2,
                activity: Activity::Partial,
                active: 0b1011,
                further: Further::of(&[0x1000, 0x1040, u64::MAX]).expect("three of a vector"),
            },
            StreamEvent::Register { encoding: 0xDCE0, value: u64::MAX, is_write: true },
        ]
    }

    #[test]
    fn decoding_returns_every_event_and_the_document_describes_it() {
        let doc = include_str!("../../docs/trace-format.md");
        for (event, number) in one_of_each().into_iter().zip(1..) {
            let mut out = Vec::new();
            event.put(&mut 7, &mut out);
            assert_eq!(StreamEvent::take(&mut Bytes::new(&out), &mut 7), Some(event));
            assert_eq!(event.encode().0, number);
            let debug = format!("{event:?}");
            let name = debug.split([' ', '{']).next().unwrap_or_default();
            assert!(doc.contains(&format!("| {number} | {name} |")), "{name} is not described");
        }
    }

    #[test]
    fn a_later_event_is_skipped_with_its_arguments() {
        let mut out = Vec::new();
        for number in [99, 3, 7, 7, 7, kind::REDIRECT, 0] {
            put_varint(&mut out, number);
        }
        let mut bytes = Bytes::new(&out);
        assert_eq!(StreamEvent::take(&mut bytes, &mut 0), Some(StreamEvent::Unknown { kind: 99 }));
        assert_eq!(StreamEvent::take(&mut bytes, &mut 0), Some(StreamEvent::Redirect));
        assert!(bytes.is_empty());
    }

    #[test]
    fn a_ticket_is_written_as_the_distance_from_the_previous_one() {
        let tickets =
            [1 << 40, (1 << 40) + 1, 5].map(|order| StreamEvent::Ticket { order, back: 1 });
        let (mut out, mut last) = (Vec::new(), 0);
        let lengths = tickets.map(|ticket| {
            let before = out.len();
            ticket.put(&mut last, &mut out);
            out.len() - before
        });
        assert_eq!(lengths, [9, 4, 12], "kind, count, distance, back");
        let (mut bytes, mut last) = (Bytes::new(&out), 0);
        for ticket in tickets {
            assert_eq!(StreamEvent::take(&mut bytes, &mut last), Some(ticket));
        }
    }
}
