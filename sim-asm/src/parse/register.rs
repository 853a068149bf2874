//! Names of registers.

use sim_isa::encode::Width;

use super::operand::Operand;

/// A general register as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct General {
    pub(crate) width: Width,
    /// 0 to 30; 31 for SP and the zero register.
    pub(crate) number: u8,
    pub(crate) is_sp: bool,
}

impl General {
    pub(crate) fn is_zero(self) -> bool {
        self.number == 31 && !self.is_sp
    }
}

/// Returns the register with a name, in any case.
pub(super) fn register(name: &str) -> Option<Operand> {
    let name = name.to_ascii_lowercase();
    let general = |width, number, is_sp| Some(Operand::General(General { width, number, is_sp }));
    match name.as_str() {
        "sp" => return general(Width::X, 31, true),
        "wsp" => return general(Width::W, 31, true),
        "xzr" => return general(Width::X, 31, false),
        "wzr" => return general(Width::W, 31, false),
        "fp" => return general(Width::X, 29, false),
        "lr" => return general(Width::X, 30, false),
        "ip0" => return general(Width::X, 16, false),
        "ip1" => return general(Width::X, 17, false),
        _ => {}
    }
    let file = name.chars().next()?;
    let rest = name.get(file.len_utf8()..)?;
    let (digits, arrangement) = rest.split_once('.').unwrap_or((rest, ""));
    let is_number = matches!(digits.len(), 1 | 2)
        && digits.chars().all(|c| c.is_ascii_digit())
        && !(digits.len() == 2 && digits.starts_with('0'));
    let number: u8 = digits.parse().ok().filter(|number| is_number && *number < 32)?;
    let scalar = |bytes| Some(Operand::Scalar { bytes, number });
    match (file, arrangement) {
        ('x', "") if number < 31 => general(Width::X, number, false),
        ('w', "") if number < 31 => general(Width::W, number, false),
        ('b', "") => scalar(1),
        ('h', "") => scalar(2),
        ('s', "") => scalar(4),
        ('d', "") => scalar(8),
        ('q', "") => scalar(16),
        ('v', "16b") => Some(Operand::Vector { element: 1, number }),
        ('v', "8h") => Some(Operand::Vector { element: 2, number }),
        ('v', "4s") => Some(Operand::Vector { element: 4, number }),
        ('v', "2d") => Some(Operand::Vector { element: 8, number }),
        _ => None,
    }
}
