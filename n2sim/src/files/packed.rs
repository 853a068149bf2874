//! Texts that the build script packs into the program: sources of the book, scenarios.

use std::collections::BTreeMap;
use std::io::Read;

use anyhow::Context;
use flate2::read::ZlibDecoder;

/// Returns the packed texts by their paths in the repository.
///
/// # Errors
/// If the bytes are damaged.
pub(crate) fn unpack(packed: &[u8]) -> anyhow::Result<BTreeMap<String, String>> {
    let mut text = String::new();
    ZlibDecoder::new(packed).read_to_string(&mut text).context("the texts in this program")?;
    let mut parts = text.split_terminator('\0');
    let mut texts = BTreeMap::new();
    while let (Some(name), Some(text)) = (parts.next(), parts.next()) {
        texts.insert(name.to_owned(), text.to_owned());
    }
    Ok(texts)
}
