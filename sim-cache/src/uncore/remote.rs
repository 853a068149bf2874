//! Selection of the lines whose home is on the second chip. PMU guide 3.2.21, 4.6.4.

use sim_core::LineAddr;

use crate::config::ChipsConfig;

/// log2 of the lines of a page, the unit in which homes are assigned.
const PAGE_LINES_SHIFT: u32 = 6;

/// Fixed share of all physical pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RemotePages {
    per_256: u64,
}

impl RemotePages {
    /// Creates the selection; empty with one chip.
    pub(crate) fn new(config: &ChipsConfig) -> RemotePages {
        RemotePages { per_256: u64::from(config.remote_pages_per_256) }
    }

    /// Returns whether the home of a line is on the other chip.
    pub(crate) fn has(self, line: LineAddr) -> bool {
        let page = line.0 >> PAGE_LINES_SHIFT;
        self.per_256 > 0 && page.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56 < self.per_256
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configured_share_of_pages_is_remote_and_pages_are_not_split() {
        for share in [0, 64, 128, 256] {
            let config = ChipsConfig { count: 2, link_cycles: 1, remote_pages_per_256: share };
            let remote = RemotePages::new(&config);
            let pages = (0..4096).filter(|page| remote.has(LineAddr(page << 6))).count();
            assert!(pages.abs_diff(16 * share as usize) < 64, "{pages} pages of {share}");
            assert!((0..64).all(|line| remote.has(LineAddr(line)) == remote.has(LineAddr(0))));
        }
    }
}
