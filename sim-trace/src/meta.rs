//! Metadata of a trace: its origin, and the data that it does not contain.

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
    /// Recorded command line.
    pub command: Vec<String>,
    /// Engine that executed the program: name, version, mode.
    pub engine: String,
    /// CPU that the engine emulated.
    pub cpu: String,
    /// Sentences on data that the recorder could not record ("PRFM addresses are absent").
    pub gaps: Vec<String>,
    /// Missing data that makes counts doubtful. Reports mark such counts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<MissingData>,
    /// Instructions to make the trace again, if possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipe: Option<String>,
    /// Functions of the program, and those of its libraries on executed pages, for regions of
    /// interest and reports; addresses as executed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub symbols: Vec<Symbol>,
    /// Mapped files that hold executed code, in the order of their first execution.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<MappedFile>,
    /// Any other information of the producer.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, String>,
    /// The traced machine, stored in the file header, not in the JSON text.
    #[serde(skip)]
    pub machine: MachineInfo,
}

/// Key of the note with the number of maintenance operands that the recorder rebuilt or read.
/// Absent in recordings of older versions, which rebuilt none.
pub const OPERANDS: &str = "operands-of-maintenance";

/// A named range of code.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Symbol {
    /// Name in the symbol table.
    pub name: String,
    /// Address of the first byte, as executed.
    pub addr: u64,
    /// Length in bytes.
    pub size: u64,
}

/// A file of which a part was mapped and executed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct MappedFile {
    /// Path on the machine of the recording.
    pub path: String,
    /// Build identity that the linker gave it, in hexadecimal digits, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
    /// Address of the first byte of the part, as executed.
    pub start: u64,
    /// Length of the part in bytes.
    pub bytes: u64,
    /// Offset of the part in the file.
    pub offset: u64,
    /// Address at which address 0 of the file was, if the recorder could read the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<u64>,
}

/// Properties of the traced machine that affect the behavior of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineInfo {
    /// Size of an IMAGE page in bytes: a power of two from 1 KiB to 64 KiB.
    pub page_bytes: u32,
    /// Size of an SVE vector in bytes; 0 without SVE.
    pub vector_bytes: u32,
    /// Number of bytes that one `DC ZVA` zeroes.
    pub dc_zva_bytes: u32,
    /// Main ID register of the traced CPU; 0 if unknown.
    pub midr: u64,
    /// True if the trace contains the kernel (recorded in full-system mode).
    pub full_system: bool,
}

impl Default for MachineInfo {
    /// Returns a Neoverse N2 that runs user programs: 4 KiB pages, 128-bit vectors, 64-byte `DC
    /// ZVA`.
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
    /// Returns the symbol of the function `name`.
    pub fn symbol(&self, name: &str) -> Option<&Symbol> {
        self.symbols.iter().find(|symbol| symbol.name == name)
    }
}
