//! Writer of protocol buffers: the few kinds of fields that Perfetto's messages need.

/// Wire types: how the value of a field is written.
const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const BYTES: u64 = 2;

/// A message in its written form.
#[derive(Debug, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    /// Adds an integer, in as many bytes as it needs.
    pub(super) fn uint(&mut self, field: u64, value: u64) -> &mut Message {
        self.varint(field << 3 | VARINT);
        self.varint(value);
        self
    }

    /// Adds an integer of eight bytes.
    pub(super) fn fixed64(&mut self, field: u64, value: u64) -> &mut Message {
        self.varint(field << 3 | FIXED64);
        self.0.extend(value.to_le_bytes());
        self
    }

    /// Adds a text.
    pub(super) fn text(&mut self, field: u64, text: &str) -> &mut Message {
        self.bytes(field, text.as_bytes())
    }

    /// Adds a message.
    pub(super) fn message(&mut self, field: u64, message: &Message) -> &mut Message {
        self.bytes(field, &message.0)
    }

    /// Adds the fields of another message to this one.
    pub(super) fn fields(&mut self, other: &Message) -> &mut Message {
        self.0.extend_from_slice(&other.0);
        self
    }

    /// Returns the written form.
    pub(super) fn written(&self) -> &[u8] {
        &self.0
    }

    /// Returns whether the message has no field.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) -> &mut Message {
        self.varint(field << 3 | BYTES);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// Writes seven bits a byte, the lowest first; the top bit says that more follow.
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the description of the encoding at <https://protobuf.dev>.
    #[test]
    fn fields_have_the_bytes_of_the_description() {
        let mut inner = Message::default();
        inner.uint(1, 150);
        assert_eq!(inner.written(), [0x08, 0x96, 0x01]);
        let mut outer = Message::default();
        outer.text(2, "testing").message(3, &inner);
        assert_eq!(outer.written(), b"\x12\x07testing\x1a\x03\x08\x96\x01");
        let mut fixed = Message::default();
        fixed.fixed64(47, 1);
        assert_eq!(fixed.written(), [0xf9, 0x02, 1, 0, 0, 0, 0, 0, 0, 0]);
    }
}
