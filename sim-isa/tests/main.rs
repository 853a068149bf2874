//! Decoding from outside: instructions by hand and by corpus, and what holds for every word.

mod instructions;
mod invariants;
mod system;
