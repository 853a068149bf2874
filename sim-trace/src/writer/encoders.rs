//! The encoders of all threads of a trace.

use super::stream_encoder::StreamEncoder;

/// Encoders in order of their stream numbers.
#[derive(Default)]
pub(crate) struct Encoders {
    list: Vec<StreamEncoder>,
    /// Index of the encoder used last: most executions are of the thread of the previous one.
    last: usize,
}

impl Encoders {
    /// Returns the encoder of `stream`; a new one at its first use.
    #[inline]
    pub(crate) fn of(&mut self, stream: u32) -> &mut StreamEncoder {
        if self.list.get(self.last).is_none_or(|encoder| encoder.stream() != stream) {
            self.find(stream);
        }
        &mut self.list[self.last]
    }

    /// Returns all encoders, by stream number.
    pub(crate) fn all(&self) -> &[StreamEncoder] {
        &self.list
    }

    #[cold]
    fn find(&mut self, stream: u32) {
        self.last = match self.list.binary_search_by_key(&stream, StreamEncoder::stream) {
            Ok(at) => at,
            Err(at) => {
                self.list.insert(at, StreamEncoder::new(stream));
                at
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stream_keeps_its_encoder_and_they_stay_in_order() {
        let mut encoders = Encoders::default();
        for stream in [7, 2, 7, 9, 2, 0] {
            assert_eq!(encoders.of(stream).stream(), stream);
        }
        let numbers: Vec<u32> = encoders.all().iter().map(StreamEncoder::stream).collect();
        assert_eq!(numbers, [0, 2, 7, 9]);
    }
}
