//! Labels of a program and the values of operands that name them.

use std::collections::BTreeMap;

use crate::error::Fault;
use crate::parse::Value;
use crate::program::Label;

/// Labels by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Labels {
    all: BTreeMap<String, Label>,
}

impl Labels {
    /// Adds a label, whose name must be new.
    pub(crate) fn add(&mut self, label: Label, column: u32) -> Result<(), Fault> {
        if let Some(old) = self.all.get(&label.name) {
            let text = format!("the label {} is already in line {}", label.name, old.line);
            return Err(Fault::new(column, text));
        }
        self.all.insert(label.name.clone(), label);
        Ok(())
    }

    /// Changes the address of a label that is there.
    pub(crate) fn place(&mut self, name: &str, address: u64) {
        if let Some(label) = self.all.get_mut(name) {
            label.address = address;
        }
    }

    pub(crate) fn get(&self, name: &str, column: u32) -> Result<&Label, Fault> {
        self.all.get(name).ok_or_else(|| {
            let names = self.all.keys().map(String::as_str);
            let like = crate::nearest::nearest(name, names);
            let hint = like.map(|like| format!(" (the nearest is {like}:)")).unwrap_or_default();
            Fault::new(column, format!("no line begins with the label {name}:{hint}"))
        })
    }

    /// Returns the 64 bits of a value.
    pub(crate) fn bits(&self, value: &Value, column: u32) -> Result<u64, Fault> {
        match value {
            Value::Number(number) => pattern(*number, 64, column),
            Value::Float(number) => Ok(number.to_bits()),
            Value::Label { name, plus } => {
                Ok(self.get(name, column)?.address.wrapping_add_signed(*plus))
            }
        }
    }

    /// Returns true if the value is the address of an instruction.
    pub(crate) fn is_code(&self, value: &Value) -> bool {
        match value {
            Value::Label { name, .. } => self.all.get(name).is_some_and(|label| label.is_code),
            _ => false,
        }
    }

    pub(crate) fn into_sorted(self) -> Vec<Label> {
        let mut all: Vec<Label> = self.all.into_values().collect();
        all.sort_by(|a, b| (a.address, &a.name).cmp(&(b.address, &b.name)));
        all
    }
}

/// Returns the low `bits` bits of a number that fits them, with or without a sign.
pub(crate) fn pattern(number: i128, bits: u32, column: u32) -> Result<u64, Fault> {
    let (low, high) = (-(1_i128 << (bits - 1)), (1_i128 << bits) - 1);
    if !(low..=high).contains(&number) {
        return Err(Fault::new(column, format!("{number} does not fit {bits} bits")));
    }
    Ok(u64::try_from(number & high).unwrap_or_default())
}
