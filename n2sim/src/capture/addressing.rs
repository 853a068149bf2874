//! Address formation of loads and stores, and their effects on general registers.

use super::a64;

/// Returns bits `low..low + bits` of `word`.
pub(crate) fn field(word: u32, low: u32, bits: u32) -> usize {
    (word >> low & ((1 << bits) - 1)) as usize
}

/// Returns bits `low..low + bits` of `word` as a signed number.
pub(crate) fn signed(word: u32, low: u32, bits: u32) -> i64 {
    i64::from((word << (32 - low - bits)).cast_signed() >> (32 - bits))
}

/// The address formation of an access, and its effects on general registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Addressing {
    /// The base register; 31 is SP.
    pub(crate) base: usize,
    /// Added to the base before the access.
    pub(crate) offset: i64,
    /// Added to the base by the end of the instruction; `None`: the base becomes unknown.
    pub(crate) update: Option<i64>,
    /// General registers that it changes.
    pub(crate) loaded: [Option<usize>; 4],
    /// Bytes that it may write, at most; 0 for a load.
    pub(crate) written: u64,
    /// General registers that it loads or stores whole, in the order of memory.
    pub(crate) whole: [Option<usize>; 2],
}

impl Addressing {
    /// Returns the addressing of a load or store of one or two registers.
    fn plain(word: u32, offset: i64, update: i64, is_load: bool, bytes: u64) -> Addressing {
        let written = if is_load { 0 } else { bytes };
        let base = field(word, 5, 5);
        Addressing {
            base,
            offset,
            update: Some(update),
            loaded: [None; 4],
            written,
            whole: [None; 2],
        }
    }

    /// Returns the addressing of an access with the general registers `rt`, of 64 bits each if they
    /// are `whole`.
    fn of_general(mut self, rt: [Option<usize>; 2], is_load: bool, is_whole: bool) -> Addressing {
        if is_load {
            self.loaded = [rt[0], rt[1], None, None];
        }
        if is_whole {
            self.whole = rt;
        }
        self
    }
}

/// Returns the addressing of a load or store; `None` for forms that are not followed.
pub(crate) fn addressing(word: u32) -> Option<Addressing> {
    if a64::is_sve(word) {
        return None;
    }
    // LDP, STP and related pairs.
    if word & 0x3a00_0000 == 0x2800_0000 {
        return Some(pair(word));
    }
    // Unsigned offset; unscaled, post-indexed, unprivileged, pre-indexed.
    if word & 0x3b00_0000 == 0x3900_0000 || word & 0x3b20_0000 == 0x3800_0000 {
        return Some(single(word));
    }
    // Atomics of LSE; exclusives, CAS, ordered accesses. Both return values in rt or rs, CASP in rs
    // and the next.
    let rt = field(word, 0, 5);
    let (rt2, rs) = (field(word, 10, 5), field(word, 16, 5));
    let is_atomic = word & 0x3f20_0c00 == 0x3820_0000;
    let is_exclusive = word & 0x3f00_0000 == 0x0800_0000;
    if is_atomic || is_exclusive {
        let next = (rs + 1) & 31;
        let loaded = match is_exclusive {
            true => [Some(rt), Some(rt2), Some(rs), Some(next)],
            false => [Some(rt), None, None, None],
        };
        return Some(Addressing { loaded, ..Addressing::plain(word, 0, 0, false, 64) });
    }
    // SIMD structures: the post-index amount is not followed.
    if word & 0xbe00_0000 == 0x0c00_0000 {
        let is_post = field(word, 23, 1) == 1;
        let is_load = field(word, 22, 1) == 1;
        let plain = Addressing::plain(word, 0, 0, is_load, 64);
        return Some(Addressing { update: (!is_post).then_some(0), ..plain });
    }
    None
}

fn pair(word: u32) -> Addressing {
    let is_vector = field(word, 26, 1) == 1;
    let is_load = field(word, 22, 1) == 1;
    let size = field(word, 30, 2) as u32;
    let scale = match (is_vector, size) {
        (true, _) => 2 + size,
        (false, 0b10) => 3,
        (false, 0b01) if !is_load => 4,
        (false, _) => 2,
    };
    let amount = signed(word, 15, 7) << scale;
    let (offset, update) = match field(word, 23, 2) {
        0b01 => (0, amount),
        0b11 => (amount, amount),
        _ => (amount, 0),
    };
    let plain = Addressing::plain(word, offset, update, is_load, 2 << scale);
    if is_vector {
        return plain;
    }
    let rt = [Some(field(word, 0, 5)), Some(field(word, 10, 5))];
    plain.of_general(rt, is_load, size == 0b10)
}

fn single(word: u32) -> Addressing {
    let is_vector = field(word, 26, 1) == 1;
    let (size, opc) = (field(word, 30, 2) as u32, field(word, 22, 2));
    let is_load = if is_vector { opc & 1 == 1 } else { opc != 0 };
    let scale = if is_vector && opc & 2 != 0 { 4 } else { size };
    let (offset, update) = match (field(word, 24, 1), field(word, 10, 2)) {
        (1, _) => ((field(word, 10, 12) as i64) << scale, 0),
        (_, 0b01) => (0, signed(word, 12, 9)),
        (_, 0b11) => (signed(word, 12, 9), signed(word, 12, 9)),
        _ => (signed(word, 12, 9), 0),
    };
    let plain = Addressing::plain(word, offset, update, is_load, 1 << scale);
    if is_vector {
        return plain;
    }
    plain.of_general([Some(field(word, 0, 5)), None], is_load, size == 0b11)
}
