//! Fields of an event of the driver `arm_cmn`, and their bits in `config`, `config1` and `config2`.

/// A field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigField {
    /// Name.
    pub name: &'static str,
    /// Number of the word: `config` is 0.
    pub word: usize,
    /// First bit.
    pub first: u32,
    /// Bits.
    pub bits: u32,
}

impl ConfigField {
    /// Returns the largest value.
    pub fn largest(self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    /// Returns the text of the file below `format` in sysfs, such as `config:0-15`.
    pub fn format(self) -> String {
        let word = if self.word == 0 { String::new() } else { self.word.to_string() };
        match self.bits {
            1 => format!("config{word}:{}", self.first),
            bits => format!("config{word}:{}-{}", self.first, self.first + bits - 1),
        }
    }
}

const fn field(name: &'static str, word: usize, first: u32, bits: u32) -> ConfigField {
    ConfigField { name, word, first, bits }
}

/// Every field, as current kernels have them.
pub const FIELDS: [ConfigField; 12] = [
    field("type", 0, 0, 16),
    field("eventid", 0, 16, 11),
    field("occupid", 0, 27, 4),
    field("bynodeid", 0, 31, 1),
    field("nodeid", 0, 32, 16),
    field("wp_dev_sel", 0, 48, 3),
    field("wp_chn_sel", 0, 51, 5),
    field("wp_grp", 0, 56, 2),
    field("wp_exclusive", 0, 58, 1),
    field("wp_combine", 0, 27, 4),
    field("wp_val", 1, 0, 64),
    field("wp_mask", 2, 0, 64),
];

/// Names of the words.
pub const WORDS: [&str; 3] = ["config", "config1", "config2"];

/// The three words of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Config(pub [u64; 3]);

impl Config {
    /// Returns the value of a field.
    ///
    /// # Panics
    ///
    /// If there is no such field.
    pub fn get(self, name: &str) -> u64 {
        let field = field_with_name(name).unwrap_or_else(|| panic!("no field {name}"));
        (self.0[field.word] >> field.first) & field.largest()
    }

    /// Sets a field to a value that fits.
    pub fn set(&mut self, field: ConfigField, value: u64) {
        let mask = field.largest() << field.first;
        let bits = &mut self.0[field.word];
        *bits = (*bits & !mask) | ((value << field.first) & mask);
    }
}

/// Returns the field with this name.
pub fn field_with_name(name: &str) -> Option<ConfigField> {
    FIELDS.iter().copied().find(|field| field.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_set_and_read_by_name() {
        let mut config = Config::default();
        for (number, field) in FIELDS.into_iter().enumerate() {
            config.set(field, number as u64 & field.largest());
        }
        assert_eq!(config.get("nodeid"), 4);
        assert_eq!(config.get("occupid"), config.get("wp_combine"), "the same bits");
        assert_eq!(config.0[1..], [10, 11]);
    }

    #[test]
    fn formats_are_those_of_sysfs() {
        let format = |name| field_with_name(name).map(ConfigField::format);
        assert_eq!(format("eventid").as_deref(), Some("config:16-26"));
        assert_eq!(format("bynodeid").as_deref(), Some("config:31"));
        assert_eq!(format("wp_mask").as_deref(), Some("config2:0-63"));
    }
}
