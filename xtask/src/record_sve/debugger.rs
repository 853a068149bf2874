//! The remote protocol of GDB, as far as QEMU speaks it: breakpoints, steps, registers.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// Register numbers of the engine: X0 to X30, SP and PC, then those of SVE.
const PC: usize = 32;
const Z0: usize = 34;
const P0: usize = 68;
const FFR: usize = 84;

/// A program under the engine's debugger interface.
pub(super) struct Debugger {
    engine: Child,
    stream: TcpStream,
    pending: Vec<u8>,
}

impl Debugger {
    /// Starts `program`, stopped at its first instruction.
    pub(super) fn start(engine: &str, cpu: &str, program: &Path) -> Result<Debugger> {
        // A port that is free now.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let engine = Command::new(engine)
            .args(["-cpu", cpu, "-g", &port.to_string()])
            .arg(program)
            .stdout(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot run {engine}: install qemu-user"))?;
        for _ in 0..100 {
            if let Ok(stream) = TcpStream::connect(("127.0.0.1", port)) {
                stream.set_nodelay(true)?;
                let mut debugger = Debugger { engine, stream, pending: Vec::new() };
                // The engine shows the registers of SVE to those who have read the description.
                debugger.ask("qXfer:features:read:target.xml:0,fff")?;
                return Ok(debugger);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        bail!("the engine opened no debugger port");
    }

    /// Stops the program whenever it reaches `pc`.
    pub(super) fn stop_at(&mut self, pc: u64) -> Result<()> {
        match self.ask(&format!("Z0,{pc:x},4"))?.as_str() {
            "OK" => Ok(()),
            other => bail!("no breakpoint at {pc:#x}: {other:?}"),
        }
    }

    /// Runs to the next stop; false at the end of the program. One that stands at a breakpoint would stay
    /// there: [`Debugger::step`] first.
    pub(super) fn resume(&mut self) -> Result<bool> {
        Ok(!self.ask("c")?.starts_with(['W', 'X']))
    }

    /// Runs one instruction.
    pub(super) fn step(&mut self) -> Result<()> {
        self.ask("s").map(drop)
    }

    /// The program counter.
    pub(super) fn pc(&mut self) -> Result<u64> {
        self.number(PC)
    }

    /// X0 to X30; 31 is SP.
    pub(super) fn x(&mut self, n: u32) -> Result<u64> {
        self.number(n as usize)
    }

    /// A vector of 16 bytes.
    pub(super) fn z(&mut self, n: u32) -> Result<[u8; 16]> {
        let bytes = self.register(Z0 + n as usize)?;
        bytes.try_into().map_err(|_| anyhow::anyhow!("the engine's vectors are not of 128 bits"))
    }

    /// A predicate: one bit for each byte of a vector.
    pub(super) fn p(&mut self, n: u32) -> Result<u16> {
        Ok(self.number(P0 + n as usize)? as u16)
    }

    /// The first-fault register.
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

    /// Sends a packet and returns what comes back.
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

    /// The first whole packet that has come, without its frame.
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

impl Drop for Debugger {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.engine.kill();
        let _ = self.engine.wait();
    }
}
