//! Compact storage for tables of mostly zeros, used for the counts of threads that have ended.

use std::marker::PhantomData;

/// A table of numbers in a fixed order.
pub trait Numbers: Default {
    /// Returns each number, in order.
    fn numbers(&self) -> impl Iterator<Item = u64>;
    /// Returns each number for writing, in the order of [`Numbers::numbers`].
    fn numbers_mut(&mut self) -> impl Iterator<Item = &mut u64>;
}

/// A table that stores only its nonzero numbers.
#[derive(Debug, PartialEq, Eq)]
pub struct Packed<T> {
    /// For each nonzero number, the count of zeros before it and its value, both in groups of seven
    /// bits.
    bytes: Box<[u8]>,
    table: PhantomData<T>,
}

impl<T> Clone for Packed<T> {
    fn clone(&self) -> Packed<T> {
        Packed { bytes: self.bytes.clone(), table: PhantomData }
    }
}

impl<T> Default for Packed<T> {
    fn default() -> Packed<T> {
        Packed { bytes: Box::default(), table: PhantomData }
    }
}

impl<T: Numbers> From<&T> for Packed<T> {
    fn from(table: &T) -> Packed<T> {
        let (mut bytes, mut zeros) = (Vec::new(), 0);
        for number in table.numbers() {
            if number == 0 {
                zeros += 1;
            } else {
                put(&mut bytes, std::mem::take(&mut zeros));
                put(&mut bytes, number);
            }
        }
        Packed { bytes: bytes.into_boxed_slice(), table: PhantomData }
    }
}

impl<T: Numbers> Packed<T> {
    /// Returns the full table.
    pub fn unpack(&self) -> T {
        let mut table = T::default();
        let (mut numbers, mut bytes) = (table.numbers_mut(), self.bytes.iter());
        while let Some(zeros) = take(&mut bytes)
            && let Some(number) = numbers.nth(zeros as usize)
        {
            *number = take(&mut bytes).unwrap_or_default();
        }
        drop(numbers);
        table
    }

    /// Returns the bytes that this table takes on the heap.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }
}

fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take<'a>(bytes: &mut impl Iterator<Item = &'a u8>) -> Option<u64> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = *bytes.next()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    struct Table([u64; 9]);

    impl Numbers for Table {
        fn numbers(&self) -> impl Iterator<Item = u64> {
            self.0.into_iter()
        }

        fn numbers_mut(&mut self) -> impl Iterator<Item = &mut u64> {
            self.0.iter_mut()
        }
    }

    #[test]
    fn zeros_take_no_bytes() {
        assert_eq!(Packed::from(&Table::default()).bytes(), 0);
        assert_eq!(Packed::from(&Table([0, 0, 127, 0, 0, 0, 0, 0, 128])).bytes(), 5);
    }

    proptest! {
        #[test]
        fn unpacking_returns_the_packed_table(
            table in prop::array::uniform9(prop_oneof![Just(0), 1..300u64, any::<u64>()])
        ) {
            let table = Table(table);
            prop_assert_eq!(Packed::from(&table).unpack(), table);
        }
    }
}
