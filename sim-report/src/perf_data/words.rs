//! Writer of consecutive little-endian words, of which all parts of a perf.data file consist.

/// Alignment of paths and names in records, in bytes.
const ALIGN: usize = 8;
/// Alignment of the strings of features, in bytes.
const STRING_ALIGN: usize = 64;

/// Buffer of bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words(pub(crate) Vec<u8>);

impl Words {
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Words {
        self.0.extend_from_slice(bytes);
        self
    }

    pub(crate) fn u16(&mut self, value: u16) -> &mut Words {
        self.bytes(&value.to_le_bytes())
    }

    pub(crate) fn u32(&mut self, value: u32) -> &mut Words {
        self.bytes(&value.to_le_bytes())
    }

    pub(crate) fn u64(&mut self, value: u64) -> &mut Words {
        self.bytes(&value.to_le_bytes())
    }

    /// Appends a name with its terminating zero, padded with zeros.
    pub(crate) fn name(&mut self, name: &[u8]) -> &mut Words {
        self.bytes(name);
        let end = (self.0.len() + 1).next_multiple_of(ALIGN);
        self.0.resize(end, 0);
        self
    }

    /// Appends a name in a field of fixed length: cut if it is too long, with at least one zero.
    pub(crate) fn field(&mut self, name: &str, bytes: usize) -> &mut Words {
        let end = self.0.len() + bytes;
        let kept = name.len().min(bytes.saturating_sub(1));
        self.bytes(&name.as_bytes()[..kept]);
        self.0.resize(end, 0);
        self
    }

    /// Appends a string of a feature: its padded length, then the text.
    pub(crate) fn string(&mut self, text: &str) -> &mut Words {
        let bytes = (text.len() + 1).next_multiple_of(STRING_ALIGN);
        self.u32(bytes as u32).field(text, bytes)
    }
}
