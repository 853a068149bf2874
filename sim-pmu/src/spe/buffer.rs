//! Profiling buffer: destination of the records, and the events that stop collection (SPE
//! supplement 3.4 and 3.5).

use super::buffer_memory::{BufferFault, BufferMemory, FaultKind};
use super::config::{MAX_RECORD_BYTES, SpeConfig};
use super::registers::{pmblimitr, pmbsr};

/// `PMBPTR_EL1`, `PMBLIMITR_EL1` and `PMBSR_EL1`, with the buffer's memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProfilingBuffer {
    pub(crate) pointer: u64,
    pub(crate) limit: u64,
    pub(crate) status: u64,
    align: u64,
    pub(crate) memory: BufferMemory,
}

impl ProfilingBuffer {
    pub(crate) fn new(config: &SpeConfig) -> ProfilingBuffer {
        ProfilingBuffer { align: config.align_bytes.into(), ..ProfilingBuffer::default() }
    }

    /// Returns whether software enabled the buffer and no event has stopped it.
    pub(crate) fn is_open(&self) -> bool {
        self.limit & pmblimitr::E != 0 && !self.requests_service()
    }

    /// Returns the level of `PMBIRQ`: set after an event has stopped the buffer.
    pub(crate) fn requests_service(&self) -> bool {
        self.status & pmbsr::S != 0
    }

    /// Writes a record if the buffer is open. Returns whether the whole record was written.
    pub(crate) fn write(&mut self, record: &[u8]) -> bool {
        if !self.is_open() {
            return false;
        }
        let (start, bytes) = (self.pointer, record.len() as u64);
        if start & (self.align - 1) != 0 {
            let fault = BufferFault { kind: FaultKind::Alignment, stage_2: false };
            self.fault(start, fault);
            return false;
        }
        // Software set the pointer where no record fits, so no byte is written.
        if self.room() < bytes {
            self.fill();
            return false;
        }
        if let Some((at, fault)) = self.memory.first_fault(start, bytes) {
            self.memory.write(start, &record[..at.wrapping_sub(start) as usize]);
            self.fault(at, fault);
            return false;
        }
        self.memory.write(start, record);
        self.pointer = start.wrapping_add(bytes);
        if let Some(abort) = self.memory.late_abort(start, bytes) {
            self.report(pmbsr::EA | pmbsr::DL, abort);
        } else if self.room() < MAX_RECORD_BYTES {
            self.fill();
        }
        true
    }

    /// Returns the bytes from the pointer to the limit. Returns 0 if the pointer lies in another
    /// part of the address space, that is, if its top byte differs.
    fn room(&self) -> u64 {
        let limit = self.limit & pmblimitr::LIMIT;
        match limit >> 56 == self.pointer >> 56 {
            true => limit.saturating_sub(self.pointer),
            false => 0,
        }
    }

    /// Stops the buffer because there is no room for another record.
    fn fill(&mut self) {
        self.status = self.status & !(pmbsr::EC | pmbsr::MSS) | pmbsr::S | pmbsr::FULL;
    }

    /// Stops the buffer because the record that begins at the pointer caused a fault or a
    /// synchronous abort at `at`.
    fn fault(&mut self, at: u64, fault: BufferFault) {
        let lost = if at == self.pointer { 0 } else { pmbsr::DL };
        let abort = if fault.kind.is_external() { pmbsr::EA } else { 0 };
        self.pointer = at;
        self.report(lost | abort, fault);
    }

    fn report(&mut self, flags: u64, fault: BufferFault) {
        let class = if fault.stage_2 { pmbsr::STAGE_2 } else { pmbsr::STAGE_1 };
        let kept = self.status & !(pmbsr::EC | pmbsr::MSS);
        let syndrome = class << pmbsr::EC_SHIFT | u64::from(fault.kind.status());
        self.status = kept | pmbsr::S | flags | syndrome;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENABLED: u64 = 1;

    fn buffer(align_bytes: u32, pointer: u64, limit: u64) -> ProfilingBuffer {
        let config = SpeConfig { align_bytes, ..SpeConfig::default() };
        let mut buffer = ProfilingBuffer::new(&config);
        (buffer.pointer, buffer.limit) = (pointer, limit | ENABLED);
        buffer
    }

    fn faulty(kind: FaultKind, stage_2: bool, at: u64) -> ProfilingBuffer {
        let mut buffer = buffer(64, 0x10000, 0x11000);
        buffer.memory.inject_fault(at, BufferFault { kind, stage_2 });
        assert!(!buffer.write(&[0xAA; 64]) || kind == FaultKind::LateAbort);
        buffer
    }

    /// S.BUF.1 and S.BUF.2.
    #[test]
    fn the_buffer_is_full_when_no_further_record_fits() {
        let mut buffer = buffer(64, 0x10F80, 0x11000);
        assert!(buffer.write(&[1; 64]));
        assert_eq!((buffer.pointer, buffer.status), (0x10FC0, 0));
        assert!(buffer.write(&[2; 64]));
        assert_eq!((buffer.pointer, buffer.status), (0x11000, pmbsr::S | pmbsr::FULL));
        assert!(!buffer.write(&[3; 64]));
        assert_eq!(buffer.memory.read(0x11000, 1), [0]);
        assert_eq!(buffer.pointer, 0x11000, "the pointer is frozen");
    }

    /// S.BUF.3: the room for the largest record decides, not the room for the last one.
    #[test]
    fn a_short_record_may_fill_the_buffer() {
        let mut buffer = buffer(1, 0x10FA0, 0x11000);
        assert!(buffer.write(&[1; 40]));
        assert_eq!((buffer.pointer, buffer.status), (0x10FC8, pmbsr::S | pmbsr::FULL));
    }

    /// S.BUF.6 to S.BUF.12, and every other status code.
    #[test]
    fn faults_and_aborts_are_reported_with_their_address() {
        use FaultKind::*;
        let syndrome = |class: u64, code: u64| pmbsr::S | class << pmbsr::EC_SHIFT | code;
        for (kind, code) in [
            (AddressSize(1), 0b00_0001),
            (Translation(3), 0b00_0111),
            (AccessFlag(2), 0b00_1010),
            (Permission(3), 0b00_1111),
            (TlbConflict, 0b11_0000),
            (UnsupportedAccess, 0b11_0101),
        ] {
            let first = faulty(kind, false, 0x10000);
            assert_eq!((first.pointer, first.status), (0x10000, syndrome(pmbsr::STAGE_1, code)));
            let middle = faulty(kind, true, 0x10020);
            let expected = syndrome(pmbsr::STAGE_2, code) | pmbsr::DL;
            assert_eq!((middle.pointer, middle.status), (0x10020, expected));
            assert_eq!(middle.memory.read(0x1001F, 2), [0xAA, 0]);
        }
        for (kind, code) in [(ExternalAbort, 0b01_0000), (WalkAbort(1), 0b01_0101)] {
            let first = faulty(kind, false, 0x10000);
            assert_eq!(first.status, syndrome(pmbsr::STAGE_1, code) | pmbsr::EA);
            assert_eq!(faulty(kind, false, 0x10001).status, first.status | pmbsr::DL);
        }
        let late = faulty(LateAbort, false, 0x10020);
        let expected = syndrome(pmbsr::STAGE_1, 0b01_0001) | pmbsr::EA | pmbsr::DL;
        assert_eq!((late.pointer, late.status), (0x10040, expected));
    }

    /// S.BUF.9.
    #[test]
    fn a_misaligned_pointer_is_an_alignment_fault() {
        let mut buffer = buffer(64, 0x10020, 0x11000);
        assert!(!buffer.write(&[1; 64]));
        let expected = pmbsr::S | pmbsr::STAGE_1 << pmbsr::EC_SHIFT | 0b10_0001;
        assert_eq!((buffer.pointer, buffer.status), (0x10020, expected));
    }

    /// S.BUF.13.
    #[test]
    fn a_fault_has_priority_over_a_full_buffer() {
        let mut buffer = buffer(64, 0x10FC0, 0x11000);
        buffer
            .memory
            .inject_fault(0x10FE0, BufferFault { kind: FaultKind::Translation(3), stage_2: false });
        assert!(!buffer.write(&[1; 64]));
        assert_eq!(buffer.pointer, 0x10FE0);
        assert_eq!(buffer.status >> pmbsr::EC_SHIFT, pmbsr::STAGE_1);
    }

    /// Nothing is written at or above the limit, wherever software sets the pointers.
    #[test]
    fn a_pointer_above_the_limit_fills_the_buffer_at_once() {
        for (pointer, limit) in [(0x11000, 0x11000), (0x20000, 0x11000), (u64::MAX - 63, 0x1000)] {
            let mut buffer = buffer(64, pointer, limit);
            assert!(!buffer.write(&[1; 64]));
            assert_eq!((buffer.pointer, buffer.status), (pointer, pmbsr::S | pmbsr::FULL));
            assert_eq!(buffer.memory.read(pointer, 64), [0; 64]);
        }
    }

    #[test]
    fn an_address_outside_the_address_space_is_a_translation_fault() {
        let mut buffer = buffer(64, 0x0001_0000_0000_0000, 0x0001_0000_0000_1000);
        assert!(!buffer.write(&[1; 64]));
        let expected = pmbsr::S | pmbsr::STAGE_1 << pmbsr::EC_SHIFT | 0b00_0100;
        assert_eq!(buffer.status, expected);
    }
}
