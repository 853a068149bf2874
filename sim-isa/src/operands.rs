//! The registers of an encoding, written as `destinations = [address sources] sources`.
//!
//! An operand is a file letter and the letter of a bit field. File letters are `x` general or zero
//! register, `s` general or stack pointer, `v` vector, `p` predicate. `vt+2` is the register two
//! numbers above, `vt*4` four consecutive registers. `f` is NZCV, `ffr` the first-fault register,
//! `lr` X30; `x16`, `x17` and `sp` name themselves. A `+` before a source marks the accumulator
//! that may receive a late result.

use crate::fields::Pattern;
use crate::inst::{Inst, MAX_DSTS, MAX_SRCS, Reg};

/// The parsed operand text of one row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Operands {
    dsts: Vec<Operand>,
    address: Vec<Operand>,
    data: Vec<Operand>,
}

#[derive(Clone, Copy, Debug)]
struct Operand {
    place: Place,
    /// Distance from the register that the field names, in register numbers.
    distance: u32,
    is_accumulator: bool,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Fixed(Reg),
    General(u8),
    GeneralOrSp(u8),
    Vector(u8),
    Predicate(u8),
}

impl Operands {
    /// Parses an operand text. Panics on a malformed one: the texts are constants of this crate.
    pub(crate) fn parse(text: &str) -> Operands {
        let (dsts, sources) = text.split_once('=').expect("an operand text has an equals sign");
        let (address, data) = match sources.split_once(']') {
            Some((address, data)) => (address.trim().trim_start_matches('['), data),
            None => ("", sources),
        };
        Operands { dsts: parse_list(dsts), address: parse_list(address), data: parse_list(data) }
    }

    /// Fills the register lists of `inst` from its word.
    pub(crate) fn fill(&self, pattern: &Pattern, inst: &mut Inst) {
        let word = inst.word;
        for operand in &self.address {
            push_src(inst, operand.resolve(pattern, word));
        }
        inst.n_addr_srcs = inst.n_srcs;
        for operand in &self.data {
            if operand.is_accumulator {
                inst.accumulate.src = inst.n_srcs;
            }
            push_src(inst, operand.resolve(pattern, word));
        }
        for operand in &self.dsts {
            push_dst(inst, operand.resolve(pattern, word));
        }
    }

    /// Returns the fields that the operands read.
    pub(crate) fn letters(&self) -> impl Iterator<Item = u8> {
        self.dsts.iter().chain(&self.address).chain(&self.data).filter_map(|o| o.letter())
    }
}

impl Operand {
    fn letter(&self) -> Option<u8> {
        match self.place {
            Place::Fixed(_) => None,
            Place::General(letter)
            | Place::GeneralOrSp(letter)
            | Place::Vector(letter)
            | Place::Predicate(letter) => Some(letter),
        }
    }

    fn resolve(self, pattern: &Pattern, word: u32) -> Option<Reg> {
        let number = |letter| pattern.field(word, letter);
        match self.place {
            Place::Fixed(reg) => Some(reg),
            Place::GeneralOrSp(letter) => Some(Reg::x(number(letter))),
            Place::General(letter) => match number(letter) + self.distance {
                n @ 0..31 => Some(Reg::x(n)),
                _ => None,
            },
            Place::Vector(letter) => Some(Reg::v((number(letter) + self.distance) % 32)),
            Place::Predicate(letter) => Some(Reg::p((number(letter) + self.distance) % 16)),
        }
    }
}

fn push_src(inst: &mut Inst, reg: Option<Reg>) {
    if let Some(reg) = reg {
        assert!((inst.n_srcs as usize) < MAX_SRCS, "too many sources");
        inst.srcs[inst.n_srcs as usize] = reg;
        inst.n_srcs += 1;
    }
}

fn push_dst(inst: &mut Inst, reg: Option<Reg>) {
    if let Some(reg) = reg {
        assert!((inst.n_dsts as usize) < MAX_DSTS, "too many destinations");
        inst.dsts[inst.n_dsts as usize] = reg;
        inst.n_dsts += 1;
    }
}

fn parse_list(text: &str) -> Vec<Operand> {
    text.split_whitespace().flat_map(parse_operand).collect()
}

fn parse_operand(text: &str) -> Vec<Operand> {
    let (is_accumulator, text) = match text.strip_prefix('+') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (text, count) = match text.split_once('*') {
        Some((head, count)) => (head, count.parse().expect("a count follows the star")),
        None => (text, 1),
    };
    let (text, first) = match text.split_once('+') {
        Some((head, n)) => (head, n.parse().expect("a number follows the plus")),
        None => (text, 0),
    };
    let place = parse_place(text);
    (first..first + count).map(|distance| Operand { place, distance, is_accumulator }).collect()
}

fn parse_place(text: &str) -> Place {
    match (text, text.as_bytes()) {
        ("f", _) => Place::Fixed(Reg::NZCV),
        ("ffr", _) => Place::Fixed(Reg::FFR),
        ("lr", _) => Place::Fixed(Reg::x(30)),
        ("sp", _) => Place::Fixed(Reg::SP),
        ("x16", _) => Place::Fixed(Reg::x(16)),
        ("x17", _) => Place::Fixed(Reg::x(17)),
        (_, [b'x', field]) => Place::General(*field),
        (_, [b's', field]) => Place::GeneralOrSp(*field),
        (_, [b'v', field]) => Place::Vector(*field),
        (_, [b'p', field]) => Place::Predicate(*field),
        _ => panic!("{text} is not an operand"),
    }
}
