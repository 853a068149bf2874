//! Return stack: predicts the target of a return (16 entries; 14 measured on this family).

use sim_core::{StateVisitor, WarmState};

/// Largest number of entries in a configuration.
pub const MAX_ENTRIES: usize = 64;

/// Stack that drops its oldest entry when it is full.
#[derive(Clone, Debug)]
pub struct ReturnStack {
    entries: [u64; MAX_ENTRIES],
    size: usize,
    top: usize,
    depth: usize,
}

impl ReturnStack {
    /// Returns an empty stack of `size` entries.
    pub fn new(size: usize) -> ReturnStack {
        ReturnStack {
            entries: [0; MAX_ENTRIES],
            size: size.clamp(1, MAX_ENTRIES),
            top: 0,
            depth: 0,
        }
    }

    /// Pushes a return address.
    pub fn push(&mut self, address: u64) {
        self.top = (self.top + 1) % self.size;
        self.entries[self.top] = address;
        self.depth = (self.depth + 1).min(self.size);
    }

    /// Pops the youngest return address, if the stack still has one.
    pub fn pop(&mut self) -> Option<u64> {
        if self.depth == 0 {
            return None;
        }
        let address = self.entries[self.top];
        self.top = (self.top + self.size - 1) % self.size;
        self.depth -= 1;
        Some(address)
    }
}

impl WarmState for ReturnStack {
    fn visit<V: StateVisitor>(&mut self, visitor: &mut V) {
        visitor.words(&mut self.entries);
        let mut place = (self.top as u64, self.depth as u64);
        visitor.one(&mut place);
        self.top = place.0 as usize % self.size;
        self.depth = (place.1 as usize).min(self.size);
    }
}

#[cfg(test)]
mod tests {
    use super::ReturnStack;

    #[test]
    fn a_full_stack_drops_the_oldest_call() {
        let mut stack = ReturnStack::new(2);
        for address in [1, 2, 3] {
            stack.push(address);
        }
        assert_eq!([stack.pop(), stack.pop(), stack.pop()], [Some(3), Some(2), None]);
    }
}
