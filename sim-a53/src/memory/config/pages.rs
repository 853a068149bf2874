//! `[memory.pages]`: what the translation tables say, and the memory map of the machine.

use serde::Deserialize;
use sim_core::config::Problem;

use super::{check_range, refuse};

/// Bytes of the smallest page.
const PAGE_BYTES: u64 = 4096;

/// Addresses from `first` to before `end`, in whole pages of 4 KB. Written `"0x8000..0x9000"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct AddressRange {
    /// First address.
    pub first: u64,
    /// Address after the last one.
    pub end: u64,
}

impl TryFrom<String> for AddressRange {
    type Error = String;

    fn try_from(text: String) -> Result<AddressRange, String> {
        let parsed = text.split_once("..").and_then(|(first, end)| {
            let (first, end) = (address(first)?, address(end)?);
            let is_whole = first.is_multiple_of(PAGE_BYTES) && end.is_multiple_of(PAGE_BYTES);
            (first < end && is_whole).then_some(AddressRange { first, end })
        });
        parsed.ok_or_else(|| {
            format!(
                "\"{text}\" is not a range of pages; write two multiples of 0x1000, the end excluded: \
                 \"0x8000..0x9000\""
            )
        })
    }
}

fn address(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Table base register that has the ASID.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AsidFrom {
    /// `TTBR0_EL1`.
    #[default]
    Lower,
    /// `TTBR1_EL1`.
    Upper,
}

/// `[memory.pages]`: pages, blocks, stage 2, and memory that no cache keeps. A page map of the
/// trace says more about single pages.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PagesConfig {
    /// Granule of stage 1: bytes of a page.
    pub page_bytes: u64,
    /// Bytes of the blocks that stage 1 maps in place of pages; 0 is pages.
    pub block_bytes: u64,
    /// Granule of stage 2; 0 is no stage 2.
    pub stage2_page_bytes: u64,
    /// Register whose write changes the ASID (`TCR_EL1.A1`).
    pub asid_from: AsidFrom,
    /// Normal memory that is not cacheable.
    pub non_cacheable: Vec<AddressRange>,
    /// Memory of devices.
    pub device: Vec<AddressRange>,
}

impl PagesConfig {
    pub(super) fn check(&self, found: &mut Vec<Problem>) {
        let granules = "use 4096 or 65536, the granules of a Cortex-A53";
        if !is_granule(self.page_bytes) {
            let wrong = format!("{} bytes is not a granule", self.page_bytes);
            refuse(found, "memory.pages.page-bytes", &wrong, granules);
        }
        if self.stage2_page_bytes != 0 && !is_granule(self.stage2_page_bytes) {
            let wrong = format!("{} bytes is not a granule", self.stage2_page_bytes);
            let right = format!("{granules}, or 0 for no stage 2");
            refuse(found, "memory.pages.stage2-page-bytes", &wrong, &right);
        }
        let (blocks, right): (&[u64], _) = match self.page_bytes {
            65_536 => (&[0, 512 << 20], "use 536870912 with pages of 65536, or 0 for pages"),
            _ => (&[0, 2 << 20, 1 << 30], "use 2097152 or 1073741824, or 0 for pages"),
        };
        if !blocks.contains(&self.block_bytes) {
            let wrong = format!("{} bytes is not a block", self.block_bytes);
            refuse(found, "memory.pages.block-bytes", &wrong, right);
        }
        let ranges = (self.non_cacheable.len() + self.device.len()) as u64;
        check_range(found, "memory.pages.device", ranges, 0, 1024);
    }
}

fn is_granule(bytes: u64) -> bool {
    matches!(bytes, 4096 | 65_536)
}
