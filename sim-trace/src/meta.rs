//! What a trace says about itself: where it comes from and what it does not contain.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::missing_data::MissingData;

/// Origin and limits of a trace, kept as JSON in the META chunk. Keys that this version does not
/// know are ignored, so that a later minor version may add some.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Meta {
    /// Program and version that wrote the trace.
    pub producer: String,
    /// The recorded command line.
    pub command: Vec<String>,
    /// What executed the program: name, version, mode.
    pub engine: String,
    /// The processor that the engine was told to be.
    pub cpu: String,
    /// Plain sentences on what the recorder could not see ("PRFM addresses are absent").
    pub gaps: Vec<String>,
    /// What the trace lacks that makes counts doubtful; reports mark those.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<MissingData>,
    /// How to make the trace again, if it can be made again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipe: Option<String>,
    /// Functions of the main program, for regions of interest and reports; addresses as executed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub symbols: Vec<Symbol>,
    /// Anything else that a producer wants to keep.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, String>,
    /// The traced machine; stands in the file header, not in the JSON text.
    #[serde(skip)]
    pub machine: MachineInfo,
}

/// Key of a note that recordings have since their recorder rebuilds operands of maintenance: how many it knew.
pub const OPERANDS: &str = "operands-of-maintenance";

/// A named range of code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    /// Name as in the symbol table.
    pub name: String,
    /// First byte, as executed.
    pub addr: u64,
    /// Length in bytes.
    pub size: u64,
}

/// Properties of the traced machine that change what instructions do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineInfo {
    /// Bytes of an IMAGE page: a power of two from 1 KiB to 64 KiB.
    pub page_bytes: u32,
    /// Bytes of an SVE vector; 0 without SVE.
    pub vector_bytes: u32,
    /// Bytes that one `DC ZVA` clears.
    pub dc_zva_bytes: u32,
    /// Main ID register of the traced processor; 0 if unknown.
    pub midr: u64,
    /// The trace contains the kernel (recorded in full-system mode).
    pub full_system: bool,
}

impl Default for MachineInfo {
    /// A Neoverse N2 running user programs: 4 KiB pages, 128-bit vectors, 64-byte `DC ZVA`.
    fn default() -> Self {
        MachineInfo {
            page_bytes: 4096,
            vector_bytes: 16,
            dc_zva_bytes: 64,
            midr: 0x410f_d493,
            full_system: false,
        }
    }
}

impl Meta {
    /// Address range of the function `name`.
    pub fn symbol(&self, name: &str) -> Option<&Symbol> {
        self.symbols.iter().find(|symbol| symbol.name == name)
    }
}
