//! The bit picture of an A64 encoding: fixed bits, named fields and limits on them (Arm ARM, C4).
//!
//! A picture is 32 characters from bit 31 down to bit 0. `0` and `1` are fixed, `.` is free, and a
//! letter names a field. The bits of a field may be apart; they are concatenated from high to low.
//! `_` has no meaning and improves legibility.
//!
//! Limits may follow, separated by blanks:
//! - `z!=3`, `i<5`, `h>0`, `e>=z`, `n==m`, `n!=m`: comparisons of fields.
//! - `no1d`: no 64-bit element (field `z` 3 or of four bits above 7, `y` 1) in a 64-bit vector
//!   (field `q` 0).
//! - `mask`: fields `a` (N) and `s` (imms) describe a bit mask.

/// A parsed bit picture.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    mask: u32,
    value: u32,
    /// Bits of each field, by letter.
    fields: [u32; 26],
    limits: Vec<Limit>,
    /// Set for the limit `no1d`.
    refuses_one_d: bool,
    /// Set for the limit `mask`.
    is_bit_mask: bool,
}

/// A condition on a field besides the fixed bits.
#[derive(Clone, Copy, Debug)]
struct Limit {
    field: u8,
    relation: Relation,
    against: Against,
}

#[derive(Clone, Copy, Debug)]
enum Relation {
    Equal,
    Differs,
    Below,
    Above,
    AtLeast,
}

#[derive(Clone, Copy, Debug)]
enum Against {
    Number(u32),
    Field(u8),
}

impl Pattern {
    /// Parses a picture. Panics on a malformed one: pictures are constants of this crate, and a
    /// test parses them all.
    pub(crate) fn parse(picture: &str) -> Pattern {
        let mut words = picture.split_whitespace();
        let bits = words.next().expect("a picture begins with its bits");
        let mut pattern = Pattern {
            mask: 0,
            value: 0,
            fields: [0; 26],
            limits: Vec::new(),
            refuses_one_d: false,
            is_bit_mask: false,
        };
        let mut bit = 32;
        for c in bits.bytes().filter(|&c| c != b'_') {
            assert!(bit > 0, "the picture {picture} has more than 32 bits");
            bit -= 1;
            match c {
                b'0' | b'1' => {
                    pattern.mask |= 1 << bit;
                    pattern.value |= u32::from(c - b'0') << bit;
                }
                b'.' => {}
                _ => pattern.fields[letter_index(c)] |= 1 << bit,
            }
        }
        assert!(bit == 0, "the picture {picture} lacks {bit} bits");
        for word in words {
            match word {
                "no1d" => pattern.refuses_one_d = true,
                "mask" => pattern.is_bit_mask = true,
                _ => pattern.limits.push(Limit::parse(word)),
            }
        }
        pattern
    }

    /// Returns true when `word` has the fixed bits and satisfies every limit.
    pub(crate) fn matches(&self, word: u32) -> bool {
        word & self.mask == self.value
            && self.limits.iter().all(|limit| limit.holds(self, word))
            && !(self.refuses_one_d && self.is_one_d(word))
            && (!self.is_bit_mask || self.has_bit_mask(word))
    }

    /// Returns true when `N:imms` describes a bit mask: an element of 2 to 64 bits, not all ones
    /// (Arm ARM, `DecodeBitMasks`).
    fn has_bit_mask(&self, word: u32) -> bool {
        let imms = self.field(word, b's');
        let size_code = self.field(word, b'a') << 6 | (!imms & 0x3f);
        match size_code.checked_ilog2() {
            None | Some(0) => false,
            Some(log_size) => {
                let all_ones = (1 << log_size) - 1;
                imms & all_ones != all_ones
            }
        }
    }

    /// Returns true for a 64-bit vector of one 64-bit element.
    fn is_one_d(&self, word: u32) -> bool {
        let is_d = match self.width(b'z') {
            2 => self.field(word, b'z') == 3,
            4 => self.field(word, b'z') > 7,
            _ => self.field(word, b'y') == 1,
        };
        is_d && self.field(word, b'q') == 0
    }

    /// Returns true when some word whose bits under `mask` equal `value` may match.
    pub(crate) fn may_match(&self, mask: u32, value: u32) -> bool {
        (self.value ^ value) & self.mask & mask == 0
    }

    /// Returns the value of a field, or 0 when the picture has no such letter.
    pub(crate) fn field(&self, word: u32, letter: u8) -> u32 {
        self.gather(word, letter_index(letter))
    }

    /// Returns the value of a field as a two's-complement number.
    pub(crate) fn signed_field(&self, word: u32, letter: u8) -> i32 {
        let width = self.width(letter);
        assert!(width > 0, "the picture has no field {}", letter as char);
        (self.field(word, letter) << (32 - width)) as i32 >> (32 - width)
    }

    /// Returns the number of bits of a field.
    pub(crate) fn width(&self, letter: u8) -> u32 {
        self.fields[letter_index(letter)].count_ones()
    }

    fn gather(&self, word: u32, index: usize) -> u32 {
        let mut left = self.fields[index];
        let mut value = 0;
        let mut place = 0;
        while left != 0 {
            value |= (word >> left.trailing_zeros() & 1) << place;
            place += 1;
            left &= left - 1;
        }
        value
    }
}

impl Limit {
    fn parse(text: &str) -> Limit {
        let field = letter_index(text.as_bytes()[0]) as u8;
        let (relation, rest) = match &text[1..] {
            t if t.starts_with("==") => (Relation::Equal, &t[2..]),
            t if t.starts_with("!=") => (Relation::Differs, &t[2..]),
            t if t.starts_with(">=") => (Relation::AtLeast, &t[2..]),
            t if t.starts_with('<') => (Relation::Below, &t[1..]),
            t if t.starts_with('>') => (Relation::Above, &t[1..]),
            _ => panic!("the limit {text} has no relation"),
        };
        let against = match rest.parse() {
            Ok(number) => Against::Number(number),
            Err(_) => Against::Field(letter_index(rest.as_bytes()[0]) as u8),
        };
        Limit { field, relation, against }
    }

    fn holds(self, pattern: &Pattern, word: u32) -> bool {
        let left = pattern.gather(word, self.field as usize);
        let right = match self.against {
            Against::Number(number) => number,
            Against::Field(index) => pattern.gather(word, index as usize),
        };
        match self.relation {
            Relation::Equal => left == right,
            Relation::Differs => left != right,
            Relation::Below => left < right,
            Relation::Above => left > right,
            Relation::AtLeast => left >= right,
        }
    }
}

fn letter_index(letter: u8) -> usize {
    assert!(letter.is_ascii_lowercase(), "{} is not the letter of a field", letter as char);
    usize::from(letter - b'a')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_field_is_gathered_from_high_to_low() {
        let p = Pattern::parse("0ll10000hhhhhhhhhhhhhhhhhhhddddd");
        assert_eq!(p.field(0x5000_0023, b'l'), 2);
        let q = Pattern::parse("........_h......................h");
        assert_eq!(q.field(1 << 23 | 1, b'h'), 3);
    }

    #[test]
    fn limits_compare_with_numbers_and_fields() {
        let p = Pattern::parse("......................nnnnnmmmmm n==m n!=3");
        assert!(p.matches(4 << 5 | 4));
        assert!(!p.matches(3 << 5 | 3));
        assert!(!p.matches(4 << 5 | 5));
    }

    #[test]
    fn a_signed_field_extends_its_top_bit() {
        let p = Pattern::parse("000101iiiiiiiiiiiiiiiiiiiiiiiiii");
        assert_eq!(p.signed_field(0x17ff_ffff, b'i'), -1);
    }
}
