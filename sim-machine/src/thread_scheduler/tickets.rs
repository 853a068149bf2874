//! Tickets of the threads, for the recorded order.

use crate::error::MachineError;
use sim_core::Cycle;
use sim_trace::{Ticket, TicketReader};

/// Tickets of one thread, in order.
pub(crate) trait Tickets {
    /// Returns the next ticket; `None` after the last.
    fn next_ticket(&mut self) -> Result<Option<Ticket>, MachineError>;
}

/// Tickets of the instructions of a thread from a position on.
pub(crate) struct LaterTickets {
    reader: TicketReader,
    from: u64,
}

impl LaterTickets {
    pub(super) fn new(reader: TicketReader, from: u64) -> LaterTickets {
        LaterTickets { reader, from }
    }
}

impl Tickets for LaterTickets {
    fn next_ticket(&mut self) -> Result<Option<Ticket>, MachineError> {
        loop {
            let next = self.reader.next_ticket()?;
            if next.is_none_or(|ticket| ticket.position >= self.from) {
                return Ok(next);
            }
        }
    }
}

/// Tickets of a thread.
pub(crate) struct Thread<T> {
    tickets: T,
    /// Lowest ticket that the thread has not passed.
    pub(super) next: Option<Ticket>,
    /// Cycle until which the thread waits.
    pub(super) wait: Cycle,
}

impl<T: Tickets> Thread<T> {
    pub(super) fn new(mut tickets: T) -> Result<Thread<T>, MachineError> {
        let next = tickets.next_ticket()?;
        Ok(Thread { tickets, next, wait: 0 })
    }

    pub(super) fn place(&self) -> u64 {
        self.next.map_or(u64::MAX, |ticket| ticket.position)
    }

    /// Advances to the next ticket, which belongs to an instruction that has not run.
    pub(super) fn pass(&mut self) -> Result<(), MachineError> {
        let passed = self.place();
        self.next = self.tickets.next_ticket()?;
        if let Some(ticket) = &mut self.next {
            ticket.position = ticket.position.max(passed);
        }
        Ok(())
    }
}
