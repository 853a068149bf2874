//! Warms the caches and TLBs of a core to the state that a skipped part of a program would have
//! left. The last touch of each line goes through the normal access path, in order.
//!
//! Caches and TLBs with recency-based replacement hold roughly the lines that were touched last,
//! whatever came before. Prefetchers are off during warming, and time advances as the accesses need
//! it.

use sim_core::{Cycle, Maintenance, MemKind, MemRequest, MemoryPort, NullSink, VirtAddr};

use crate::memory_system::MemorySystem;

/// Kind of the last access to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TouchKind {
    /// The program ran instructions of the line.
    Fetch,
    /// The program read the line.
    Read,
    /// The program wrote the line, and perhaps read it.
    Write,
    /// The program maintained caches or translations; the address is the operand.
    Maintain(Maintenance),
}

/// Line that was touched, by the address of one of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// Virtual address.
    pub addr: VirtAddr,
    /// Kind of the touch.
    pub kind: TouchKind,
}

/// Bytes of the access that represents a touch.
const BYTES: u32 = 4;

impl MemorySystem {
    /// Returns the capacity of all caches in lines, as one core sees them. Touches before that many
    /// lines have no effect.
    pub fn reach(&self) -> u64 {
        let config = &self.config;
        let slc = config.slc.slice_bytes * u64::from(config.slc.slices);
        let private = config.l1i.size_bytes + config.l1d.size_bytes + config.l2.line_bytes();
        (slc + private) / sim_core::LINE_BYTES
    }

    /// Performs these touches in order, starting at `now`, without reporting events. Returns when
    /// they are done.
    pub fn touch(
        &mut self,
        core: usize,
        touches: impl IntoIterator<Item = Touch>,
        now: Cycle,
    ) -> Cycle {
        let awake = self.cores[core].prefetch;
        let asleep = &mut self.cores[core].prefetch;
        (asleep.l1d, asleep.l1i, asleep.l2, asleep.stores) = (false, false, false, false);
        let end = touches.into_iter().fold(now, |now, touch| self.touch_one(core, touch, now));
        self.cores[core].prefetch = awake;
        end
    }

    fn touch_one(&mut self, core: usize, touch: Touch, now: Cycle) -> Cycle {
        let mut port = self.port(core);
        let sink = &mut NullSink;
        let addr = VirtAddr(touch.addr.0 & !u64::from(BYTES - 1));
        let kind = match touch.kind {
            TouchKind::Fetch => return port.fetch(addr, now, sink).done.max(now + 1),
            TouchKind::Read | TouchKind::Write => MemKind::Load,
            TouchKind::Maintain(what) => MemKind::Maintain(what),
        };
        let addr = if kind == MemKind::Load { addr } else { touch.addr };
        let request = MemRequest::new(addr, addr, BYTES, kind);
        let mut done = port.access(request, now, sink).done.max(now + 1);
        if touch.kind == TouchKind::Write {
            // The line is present now: the store hits it and changes no store stream.
            let request = MemRequest { kind: MemKind::Store, ..request };
            done = port.translate_store(request, done, sink).done.max(done + 1);
            done = port.access(request, done, sink).done.max(done + 1);
        }
        done
    }
}
