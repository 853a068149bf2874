//! Memory in pages that exist from their first use.

use std::collections::HashMap;

use crate::error::RunFault;
use crate::program::{CODE, Program};

const PAGE: u64 = 4096;
/// Addresses below are never mapped, so that a forgotten base register is found.
const LOWEST: u64 = 0x1000;
const HIGHEST: u64 = 1 << 48;

/// Memory of a run.
pub(crate) struct Memory {
    numbers: HashMap<u64, usize>,
    pages: Vec<Box<[u8; PAGE as usize]>>,
    /// The page of the last access: its address divided by the page size, and its index.
    last: (u64, usize),
    limit: u64,
    code_end: u64,
}

impl Memory {
    /// Memory with the code and data of a program.
    pub(crate) fn new(program: &Program, limit: u64) -> Result<Memory, RunFault> {
        let last = (u64::MAX, 0);
        let (numbers, pages) = (HashMap::new(), Vec::new());
        let mut memory = Memory { numbers, pages, last, limit, code_end: CODE };
        for (address, bytes) in &program.data {
            memory.write(*address, bytes)?;
        }
        for (at, code) in program.code.iter().enumerate() {
            memory.write(CODE + 4 * at as u64, &code.word.to_le_bytes())?;
        }
        memory.code_end = program.end();
        Ok(memory)
    }

    /// Reads 1 to 16 bytes as a little-endian number.
    pub(crate) fn load(&mut self, address: u64, bytes: u8) -> Result<u128, RunFault> {
        check(address, bytes)?;
        let mut value = [0; 16];
        for (at, byte) in value.iter_mut().enumerate().take(usize::from(bytes)) {
            let address = address + at as u64;
            if let Some(page) = self.find(address / PAGE) {
                *byte = self.pages[page][(address % PAGE) as usize];
            }
        }
        Ok(u128::from_le_bytes(value))
    }

    /// Writes the low 1 to 16 bytes of a value.
    pub(crate) fn store(&mut self, address: u64, bytes: u8, value: u128) -> Result<(), RunFault> {
        check(address, bytes)?;
        let end = address + u64::from(bytes);
        if address < self.code_end && end > CODE {
            return Err(RunFault::Code(address));
        }
        self.write(address, &value.to_le_bytes()[..usize::from(bytes)])
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), RunFault> {
        for (at, byte) in bytes.iter().enumerate() {
            let address = address + at as u64;
            let page = match self.find(address / PAGE) {
                Some(page) => page,
                None => self.map(address / PAGE)?,
            };
            self.pages[page][(address % PAGE) as usize] = *byte;
        }
        Ok(())
    }

    fn find(&mut self, number: u64) -> Option<usize> {
        if self.last.0 != number {
            self.last = (number, *self.numbers.get(&number)?);
        }
        Some(self.last.1)
    }

    fn map(&mut self, number: u64) -> Result<usize, RunFault> {
        let index = self.pages.len();
        if (index as u64 + 1) * PAGE > self.limit {
            return Err(RunFault::Memory(self.limit));
        }
        self.pages.push(Box::new([0; PAGE as usize]));
        self.numbers.insert(number, index);
        self.last = (number, index);
        Ok(index)
    }
}

/// Fails for addresses that no page has.
pub(crate) fn check(address: u64, bytes: u8) -> Result<(), RunFault> {
    let end = address.checked_add(u64::from(bytes));
    if address < LOWEST || end.is_none_or(|end| end > HIGHEST) {
        return Err(RunFault::Address(address));
    }
    Ok(())
}
