//! Side events of a stream: what happened between two instructions that no instruction word tells.
//! Written explicitly, so that a reader never has to guess why control went elsewhere.

use sim_core::{Activity, MAX_FURTHER};

use crate::varint::{Bytes, put_varint, unzigzag, zigzag};

/// Something that happened between two instructions of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StreamEvent {
    /// The instruction before it (an `SVC`) called the operating system.
    Syscall {
        /// Number of the call (X8).
        number: u64,
        /// Its arguments (X0 to X5).
        args: [u64; 6],
        /// What came back in X0, if the recorder saw the return.
        result: Option<i64>,
    },
    /// A signal was delivered: the next instruction is the handler's first.
    Signal {
        /// Number of the signal.
        number: u32,
        /// The instruction before it did not complete (it faulted or was interrupted).
        abandoned: bool,
    },
    /// An exception was taken to a kernel that is in the trace too.
    Exception {
        /// Offset of the vector (low 11 bits of the handler's address).
        vector: u32,
        /// The instruction before it did not complete.
        abandoned: bool,
        /// Exception level that it was taken to, 1 to 3; 0 if the recorder does not know.
        level: u8,
        /// `ESR_ELx` of that level; 0 if the recorder does not know.
        syndrome: u64,
        /// With a level: bit 0 `HCR_EL2.E2H`, bit 1 `HCR_EL2.TGE`, bit 2 Secure state below EL3.
        state: u8,
    },
    /// Control goes on where the architecture does not explain it, and the recorder does not know
    /// why (a return from a signal handler into the middle of a block, for example).
    Redirect,
    /// Instructions were not recorded here.
    Gap {
        /// How many, if known.
        instructions: Option<u64>,
    },
    /// The thread of this stream begins.
    ThreadStart {
        /// Its number in the traced system.
        thread: u64,
    },
    /// The thread of this stream ends.
    ThreadEnd {
        /// Its number in the traced system.
        thread: u64,
    },
    /// The program or the user marked a place (start or end of a region of interest).
    Marker {
        /// The number that the program gave.
        id: u64,
    },
    /// Order among streams: an instruction that synchronizes ran as number `order` of all such ones.
    Ticket {
        /// Rises over all streams of the file; each number is there once.
        order: u64,
        /// Which instruction: 0 = the next one, 1 = the one just before this event.
        back: u16,
    },
    /// Outcome of a store-exclusive where the presence of an access does not tell it.
    StoreExclusive {
        /// 1 = the instruction just before this event, 2 = the one before that.
        back: u16,
        /// True if it did not store.
        failed: bool,
    },
    /// The processor goes on in another process.
    ContextSwitch {
        /// Address space identifier or process number.
        space: u64,
    },
    /// The address map of the process changed.
    Mapping {
        /// First byte.
        addr: u64,
        /// Length in bytes.
        bytes: u64,
        /// False when the range was removed.
        mapped: bool,
    },
    /// What the governing predicate of an SVE instruction let work, where that is not every element, and
    /// where the elements of a gather or scatter were behind the first.
    Elements {
        /// 1 = the instruction just before this event, 2 = the one before that.
        back: u16,
        /// How many elements were active.
        activity: Activity,
        /// Which they were if only a part was, bit 0 the first; 0 if that is not known.
        active: u16,
        /// Addresses of the further active elements.
        further: Further,
    },
    /// The instruction before it, an `MRS` or `MSR` that completed, read or wrote this system register.
    Register {
        /// `op0`, `op1`, `CRn`, `CRm` and `op2`, as in bits 20 to 5 of the word.
        encoding: u16,
        /// What was read or written.
        value: u64,
        /// `MSR`.
        is_write: bool,
    },
    /// An event of a later minor version of the format; its arguments were skipped.
    Unknown {
        /// Its number.
        kind: u64,
    },
}

/// Addresses of active elements behind the first, as distances from the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Further {
    distances: [i64; MAX_FURTHER],
    count: u8,
}

impl Further {
    /// The elements at `addrs`, the first of which is the instruction's own address. `None` if they are
    /// more than a vector has.
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

    /// The distances that `args` hold; those of a longer vector are dropped.
    fn decode(args: &[u64]) -> Further {
        let mut further = Further::default();
        for (slot, arg) in further.distances.iter_mut().zip(args) {
            *slot = unzigzag(*arg).cast_signed();
            further.count += 1;
        }
        further
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count.into()
    }

    /// Their addresses, given the first.
    pub fn addrs(&self, first: u64) -> impl Iterator<Item = u64> {
        let count = self.count();
        self.distances.into_iter().take(count).map(move |d| first.wrapping_add_signed(d))
    }
}

impl StreamEvent {
    /// True if the instruction after the event does not follow architecturally from the one before.
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

    /// True if the instruction before the event did not complete.
    pub fn abandons(&self) -> bool {
        matches!(
            self,
            StreamEvent::Signal { abandoned: true, .. }
                | StreamEvent::Exception { abandoned: true, .. }
        )
    }

    /// Number in the file, and arguments; the arguments in use come first.
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
                // What is not known is left out: such an event is that of version 1.0.
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

    /// The event that `kind` and its arguments mean; absent arguments read as zero.
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

    /// Appends kind, argument count and arguments. A ticket is written as the distance from `ticket`, the
    /// last one of the chunk.
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

    /// Reads what [`put`](StreamEvent::put) wrote; `None` if the bytes end early or an event has
    /// more arguments than any version may write.
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

/// Most arguments that an event of any minor version of format 1 may have.
const MAX_ARGS: usize = 12;

/// Most bytes that one event takes: position, kind, count and arguments of nine bytes each.
pub(crate) const MAX_EVENT_BYTES: usize = 9 * (3 + MAX_ARGS);

/// Numbers of the events in the file.
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

    /// One of each kind, with every argument in use.
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
    fn every_event_comes_back_and_is_in_the_document() {
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
    fn a_ticket_is_the_distance_from_the_one_before() {
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
