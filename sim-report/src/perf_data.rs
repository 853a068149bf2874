//! Files of Linux' `perf record` (perf.data), so that unmodified `perf` reads the output of the
//! model.
//!
//! [`PerfData`] is the container: event attributes, records in order, features. [`attr`] describes
//! an event, [`records`] adds each kind of record, and [`machine`] describes the machine. [`spe`]
//! and [`overflow`] store the two kinds of profiles, [`counts`] the output of `perf stat record`.

pub mod attr;
pub mod counts;
pub mod machine;
pub mod overflow;
pub mod records;
pub mod spe;
pub(crate) mod words;

use std::collections::BTreeMap;
use std::io::{self, Write};

pub use attr::Attr;
pub use machine::Machine;
pub use records::{Mapping, Stamp};

use words::Words;

/// Bytes of the header of the file.
const HEADER_BYTES: u64 = 104;
/// Bits of the bitmap of features.
const FEATURE_BITS: usize = 256;

/// Contents of a perf.data file.
#[derive(Clone, Debug, Default)]
pub struct PerfData {
    attrs: Vec<Attr>,
    data: Vec<u8>,
    features: BTreeMap<u8, Vec<u8>>,
    /// Offset of each AUXTRACE record in the data, and the length of its header.
    auxtraces: Vec<(u64, u64)>,
    first_time: Option<u64>,
    last_time: u64,
}

impl PerfData {
    /// Creates a file with these events and no records.
    pub fn new(attrs: Vec<Attr>) -> PerfData {
        PerfData { attrs, ..PerfData::default() }
    }

    /// Adds or replaces a feature by its number.
    pub fn feature(&mut self, bit: u8, body: Vec<u8>) {
        self.features.insert(bit, body);
    }

    /// Returns the events of the file.
    pub fn attrs(&self) -> &[Attr] {
        &self.attrs
    }

    /// Writes the file.
    ///
    /// # Errors
    /// Fails if `out` cannot be written.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let ids_at = |index: usize| {
            let before = self.attrs[..index].iter().map(|attr| attr.ids.len() as u64 * 8);
            HEADER_BYTES + before.sum::<u64>()
        };
        let attrs_at = ids_at(self.attrs.len());
        let data_at = attrs_at + self.attrs.len() as u64 * attr::ENTRY_BYTES;
        out.write_all(&self.header(attrs_at, data_at))?;
        let mut words = Words::default();
        for id in self.attrs.iter().flat_map(|attr| &attr.ids) {
            words.u64(*id);
        }
        for (index, attr) in self.attrs.iter().enumerate() {
            words.bytes(&attr.encode()).u64(ids_at(index)).u64(attr.ids.len() as u64 * 8);
        }
        out.write_all(&words.0)?;
        out.write_all(&self.data)?;
        self.write_features(data_at, out)
    }

    fn header(&self, attrs_at: u64, data_at: u64) -> Vec<u8> {
        let mut bitmap = [0; FEATURE_BITS / 8];
        for bit in self.all_features(0).keys() {
            bitmap[usize::from(bit / 8)] |= 1 << (bit % 8);
        }
        let mut words = Words::default();
        words.bytes(b"PERFILE2").u64(HEADER_BYTES).u64(attr::ENTRY_BYTES);
        words.u64(attrs_at).u64(self.attrs.len() as u64 * attr::ENTRY_BYTES);
        words.u64(data_at).u64(self.data.len() as u64);
        // The section of event types is empty: EVENT_DESC has the names.
        words.u64(0).u64(0).bytes(&bitmap);
        words.0
    }

    /// Returns the given features, and those that follow from the records.
    fn all_features(&self, data_at: u64) -> BTreeMap<u8, Vec<u8>> {
        let mut all = self.features.clone();
        all.insert(machine::feature::EVENT_DESC, attr::descriptions(&self.attrs));
        if !self.auxtraces.is_empty() {
            let mut words = Words::default();
            words.u64(self.auxtraces.len() as u64);
            for (at, bytes) in &self.auxtraces {
                words.u64(data_at + at).u64(*bytes);
            }
            all.insert(machine::feature::AUXTRACE, words.0);
        }
        if let Some(first) = self.first_time {
            let mut words = Words::default();
            words.u64(first).u64(self.last_time);
            all.insert(machine::feature::SAMPLE_TIME, words.0);
        }
        all
    }

    fn write_features(&self, data_at: u64, out: &mut impl Write) -> io::Result<()> {
        let features = self.all_features(data_at);
        let mut at = data_at + self.data.len() as u64 + features.len() as u64 * 16;
        let mut table = Words::default();
        for body in features.values() {
            table.u64(at).u64(body.len() as u64);
            at += body.len() as u64;
        }
        out.write_all(&table.0)?;
        features.values().try_for_each(|body| out.write_all(body))
    }
}

#[cfg(test)]
mod tests;
