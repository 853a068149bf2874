//! Elements of an SVE step: governing predicate and element addresses after the instruction's name.
//!
//! `ADD Z.S/M 1 of 4` has the first of four elements active, `ADD Z.S/M none` no element, `ADD
//! Z.S/M` and `ADD Z.S/M all` every one. `LD1W Z.S 0x8000 2 of 4` reads two words. A gather or
//! scatter lists the address of each active element: `GATHER Z.S 0x8000 0x9000 all` is complete if
//! its vector has two elements.

use sim_core::{Activity, InstFlags, MAX_FURTHER};

use super::cursor::{Cursor, Names};
use super::error::{Fault, Problem};

/// Active elements of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Elements {
    /// Number of active elements: all, some, none.
    pub activity: Activity,
    /// Active elements, if only some are.
    pub active: u16,
    /// Number of elements, if the step states it.
    pub of: Option<u8>,
    further: [u64; MAX_FURTHER],
    count: usize,
}

impl Elements {
    /// Returns the addresses after the first one.
    pub fn further(&self) -> &[u64] {
        &self.further[..self.count]
    }

    /// Returns the flags of a record with these elements.
    pub fn flags(&self) -> InstFlags {
        InstFlags::default().with_predicate(self.activity, self.active).with_further(self.count)
    }

    /// Returns the elements with all addresses moved by `by` bytes.
    pub(super) fn moved(mut self, by: u64) -> Elements {
        for addr in &mut self.further {
            *addr = addr.wrapping_add(by);
        }
        self
    }

    /// Reads further addresses.
    pub(super) fn addresses(cursor: &mut Cursor, names: &Names) -> Result<Elements, Fault> {
        let mut elements = Elements::default();
        while starts_address(cursor, names) {
            let offset = cursor.offset();
            let addr = cursor.address(names)?;
            let Some(slot) = elements.further.get_mut(elements.count) else {
                let (what, range) = ("a vector", "at most 4 addresses");
                let value = elements.count as u64 + 2;
                return Err(Fault::new(offset, Problem::OutOfRange { what, range, value }));
            };
            *slot = addr;
            elements.count += 1;
        }
        Ok(elements)
    }

    /// Reads `none`, `all` or `1 of 4`, if one of them is next.
    pub(super) fn predicate(mut self, cursor: &mut Cursor) -> Result<Elements, Fault> {
        if cursor.take_word("all") {
            return Ok(self);
        }
        if cursor.take_word("none") {
            self.activity = Activity::None;
            return Ok(self);
        }
        if let Some((active, of)) = part(&mut cursor.clone())? {
            let offset = cursor.offset();
            part(cursor)?;
            if of == 0 || of > 16 || active > of {
                let (what, range) = ("the number of active elements", "0 to 16, as in 1 of 4");
                return Err(Fault::new(offset, Problem::OutOfRange { what, range, value: active }));
            }
            self.activity = match active {
                0 => Activity::None,
                _ if active == of => Activity::All,
                _ => Activity::Partial,
            };
            self.of = Some(of as u8);
            self.active = ((1u32 << active) - 1) as u16;
        }
        Ok(self)
    }
}

/// Returns true if an address is next, and not `1 of 4`.
fn starts_address(cursor: &mut Cursor, names: &Names) -> bool {
    let is_address = cursor.peek_word().is_some_and(|word| {
        word.starts_with(|c: char| c.is_ascii_digit()) || names.contains_key(word)
    });
    is_address && part(&mut cursor.clone()).is_ok_and(|part| part.is_none())
}

/// Reads `1 of 4`, if it is next. Otherwise the cursor must not be used further.
fn part(cursor: &mut Cursor) -> Result<Option<(u64, u64)>, Fault> {
    let Some(active) = cursor.number()? else { return Ok(None) };
    if !cursor.take_word("of") {
        return Ok(None);
    }
    Ok(Some((active, cursor.need_number("how many elements there are, after 'of'")?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Elements, Fault> {
        let names = Names::default();
        let mut cursor = Cursor::new(text, 0);
        Elements::addresses(&mut cursor, &names)?.predicate(&mut cursor)
    }

    #[test]
    fn a_predicate_follows_further_addresses() {
        let elements = read("0x9000 16 2 of 4").expect("well formed");
        assert_eq!(elements.further(), [0x9000, 16]);
        assert_eq!((elements.activity, elements.active), (Activity::Partial, 0b11));
        assert_eq!(elements.of, Some(4));
        let flags = elements.flags();
        assert_eq!((flags.further(), flags.activity()), (2, Activity::Partial));
        assert_eq!(read("0 of 4").expect("well formed").activity, Activity::None);
        assert_eq!(read("4 of 4").expect("well formed").activity, Activity::All);
        assert_eq!(read("all").expect("well formed"), Elements::default());
        assert_eq!(read("").expect("nothing need stand there"), Elements::default());
    }

    #[test]
    fn impossible_predicates_are_refused() {
        for text in ["5 of 4", "1 of 17", "1 of 0", "1 of", "1 2 3 4"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
