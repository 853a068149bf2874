//! A thread's run during a quantum, in which cores run at the same time on CPUs of the host
//! ([`crate::quanta`]), and the return to its beginning.

use super::CoreRun;

impl CoreRun {
    /// Returns a copy of everything but the reader, which marks its place.
    pub(crate) fn save(&mut self) -> CoreRun {
        self.reader.mark();
        self.clone()
    }

    /// Returns to a saved state.
    pub(crate) fn restore(&mut self, saved: CoreRun) {
        let mut now = std::mem::replace(self, saved);
        std::mem::swap(&mut self.reader, &mut now.reader);
        self.reader.return_to_mark();
    }

    /// Notes that there is no return to a saved state.
    pub(crate) fn release(&mut self) {
        self.reader.release();
    }

    /// Returns whether the thread must wait for another one or has ended.
    pub(crate) fn stops(&self) -> bool {
        self.ended || self.position() >= self.hold_at
    }
}
