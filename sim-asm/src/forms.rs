//! Known mnemonics: the operands of each, and an example of its use.

mod args;
mod arithmetic;
mod atomic;
mod control;
mod float;
mod form;
mod logic;
mod memory;
mod wide;

pub(crate) use args::Args;
pub use form::Form;
pub(crate) use wide::move_sequence;

/// Every known mnemonic, by kind.
pub const FORMS: [&[Form]; 7] = [
    arithmetic::FORMS,
    wide::FORMS,
    logic::FORMS,
    control::FORMS,
    memory::FORMS,
    atomic::FORMS,
    float::FORMS,
];

/// Returns the form of a mnemonic.
pub(crate) fn form(name: &str) -> Option<&'static Form> {
    all().find(|form| form.name == name)
}

/// Returns all forms.
pub(crate) fn all() -> impl Iterator<Item = &'static Form> {
    FORMS.into_iter().flatten()
}
