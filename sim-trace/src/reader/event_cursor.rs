//! Cursor over the events of a chunk, used by all readers of chunks.

use crate::event::StreamEvent;
use crate::varint::Bytes;

/// A position in the column of events.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EventCursor {
    /// Number of bytes read.
    pub(crate) at: usize,
    /// Number of events read.
    pub(crate) count: u32,
    /// Number of instructions of the chunk before the last event.
    pub(crate) place: u32,
    /// Number of the last ticket.
    ticket: u64,
}

impl EventCursor {
    /// Returns the next event of `column` if at most `until` instructions of the chunk precede it.
    pub(crate) fn next(
        &mut self,
        column: &[u8],
        until: u32,
    ) -> Result<Option<StreamEvent>, &'static str> {
        let mut bytes = Bytes::new(&column[self.at..]);
        if bytes.is_empty() {
            return Ok(None);
        }
        let distance = bytes.varint().ok_or("the events end early")?;
        let place = u64::from(self.place).saturating_add(distance);
        if place > u64::from(until) {
            return Ok(None);
        }
        let event = StreamEvent::take(&mut bytes, &mut self.ticket);
        let event = event.ok_or("an event is truncated or too long")?;
        self.at = column.len() - bytes.remaining();
        self.count += 1;
        self.place = place as u32;
        Ok(Some(event))
    }
}
