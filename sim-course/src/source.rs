//! Names of the sources of data.

use sim_core::DataSource;

/// All sources of data, each with more words that name it: small letters and digits only.
const SOURCES: [(DataSource, &[&str]); 8] = [
    (DataSource::StoreQueue, &["storequeue", "store"]),
    (DataSource::L1, &["l1d", "l1cache", "l1dcache", "l1datacache", "level1", "level1cache"]),
    (DataSource::L2, &["l2cache", "level2", "level2cache"]),
    (DataSource::Slc, &["slc", "llc", "systemcache", "lastlevelcache"]),
    (DataSource::Peer, &["peer", "othercore"]),
    (DataSource::Remote, &["remote", "otherchip"]),
    (DataSource::Dram, &["memory", "ram", "mainmemory", "localmemory"]),
    (DataSource::Device, &["noncacheable"]),
];

/// Reads a source of data by any of its names: `L1`, `L1 D-cache`, `the main memory`.
pub(crate) fn named(typed: &str) -> Option<&'static str> {
    let typed = typed.to_lowercase();
    let typed = typed.trim_start_matches("from ").trim_start_matches("the ");
    let bare = letters(typed);
    let is = |label: &str, more: &[&str]| letters(label) == bare || more.contains(&&*bare);
    SOURCES.iter().find(|(own, more)| is(own.label(), more)).map(|(own, _)| own.label())
}

/// Returns the letters and digits of a text, in small letters.
fn letters(text: &str) -> String {
    text.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect()
}

/// Returns the names of all sources, the nearest to the core first.
pub(crate) fn names() -> Vec<&'static str> {
    SOURCES.iter().map(|(source, _)| source.label()).collect()
}

/// Returns the names of all sources as a list in words.
pub fn list() -> String {
    names().join(", ")
}
