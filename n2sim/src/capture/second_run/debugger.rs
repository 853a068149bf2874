//! The remote protocol of GDB, as QEMU supports it: breakpoints, steps, registers.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::super::setup::SHORT_VECTORS;
use anyhow::{Context, Result, bail};

/// Register numbers of the engine: X0 to X30, SP and PC, then those of SVE.
const PC: usize = 32;
const Z0: usize = 34;
const P0: usize = 68;
const FFR: usize = 84;

/// Stop of a breakpoint or a step; any other number is a signal for the program.
const TRAP: u8 = 5;
/// Pause between two attempts to reach the engine.
const PAUSE: Duration = Duration::from_millis(20);

/// A program under the engine's debugger interface.
pub(super) struct Debugger {
    stream: UnixStream,
    pending: Vec<u8>,
    /// The signal that the program gets when it continues.
    signal: Option<u8>,
}

impl Debugger {
    /// Waits until the engine accepts a connection at `socket`, with the program stopped at its
    /// first instruction. Returns `None` if `is_over` is set first.
    pub(super) fn connect(socket: &Path, is_over: &AtomicBool) -> Result<Option<Debugger>> {
        while !is_over.load(Ordering::Relaxed) {
            if let Ok(stream) = UnixStream::connect(socket) {
                let mut debugger = Debugger { stream, pending: Vec::new(), signal: None };
                // The engine provides the registers of SVE only after a request for the
                // description.
                debugger.ask("qXfer:features:read:target.xml:0,fff")?;
                return Ok(Some(debugger));
            }
            std::thread::sleep(PAUSE);
        }
        Ok(None)
    }

    /// Stops the program whenever it reaches `pc`.
    pub(super) fn stop_at(&mut self, pc: u64) -> Result<()> {
        match self.ask(&format!("Z0,{pc:x},4"))?.as_str() {
            "OK" => Ok(()),
            other => bail!("no breakpoint at {pc:#x}: {other:?}"),
        }
    }

    /// Runs to the next stop. Returns whether the program still runs. From a breakpoint, call
    /// [`Debugger::step`] first, or the program stays there.
    pub(super) fn resume(&mut self) -> Result<bool> {
        let packet = match self.signal.take() {
            None => "c".to_owned(),
            Some(signal) => format!("C{signal:02x}"),
        };
        self.run(&packet)
    }

    /// Runs one instruction. Returns whether the program still runs.
    pub(super) fn step(&mut self) -> Result<bool> {
        self.run("s")
    }

    /// Returns whether the program gets a signal when it continues.
    pub(super) fn has_signal(&self) -> bool {
        self.signal.is_some()
    }

    /// Ends the program.
    pub(super) fn kill(&mut self) {
        // The program may have ended already.
        let _ = self.stream.write_all(b"$k#6b");
    }

    fn run(&mut self, packet: &str) -> Result<bool> {
        let stop = self.ask(packet)?;
        let number = stop.get(1..3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        self.signal = number.filter(|number| *number != TRAP);
        Ok(!stop.starts_with(['W', 'X']))
    }

    /// Returns the program counter.
    pub(super) fn pc(&mut self) -> Result<u64> {
        self.number(PC)
    }

    /// Returns X`n`; 31 is SP.
    pub(super) fn x(&mut self, n: u32) -> Result<u64> {
        self.number(n as usize)
    }

    /// Returns a vector of 16 bytes.
    pub(super) fn z(&mut self, n: u32) -> Result<[u8; 16]> {
        let bytes = self.register(Z0 + n as usize)?;
        bytes.try_into().map_err(|_| {
            anyhow::anyhow!("its vectors are not the N2's, of 128 bits: `--cpu {SHORT_VECTORS}`")
        })
    }

    /// Returns a predicate: one bit for each byte of a vector.
    pub(super) fn p(&mut self, n: u32) -> Result<u16> {
        Ok(self.number(P0 + n as usize)? as u16)
    }

    /// Returns the first-fault register.
    pub(super) fn ffr(&mut self) -> Result<u16> {
        Ok(self.number(FFR)? as u16)
    }

    fn number(&mut self, register: usize) -> Result<u64> {
        let bytes = self.register(register)?;
        Ok(bytes.iter().take(8).rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    fn register(&mut self, number: usize) -> Result<Vec<u8>> {
        let text = self.ask(&format!("p{number:x}"))?;
        let byte = |i| text.get(i..i + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
        let bytes: Option<Vec<u8>> = (0..text.len()).step_by(2).map(byte).collect();
        bytes.with_context(|| format!("register {number}: {text:?}"))
    }

    /// Sends a packet and returns the reply.
    fn ask(&mut self, packet: &str) -> Result<String> {
        let sum = packet.bytes().fold(0u8, u8::wrapping_add);
        self.stream.write_all(format!("${packet}#{sum:02x}").as_bytes())?;
        loop {
            if let Some(answer) = self.take_packet() {
                self.stream.write_all(b"+")?;
                return Ok(answer);
            }
            let mut buffer = [0; 4096];
            match self.stream.read(&mut buffer)? {
                0 => return Ok("W00".to_owned()),
                n => self.pending.extend_from_slice(&buffer[..n]),
            }
        }
    }

    /// Returns the first whole packet received, without its frame.
    fn take_packet(&mut self) -> Option<String> {
        let end = self.pending.iter().position(|byte| *byte == b'#')?;
        let start = self.pending.iter().position(|byte| *byte == b'$')? + 1;
        (self.pending.len() > end + 2).then(|| {
            let text = String::from_utf8_lossy(&self.pending[start..end]).into_owned();
            self.pending.drain(..end + 3);
            text
        })
    }
}
