//! Trace formats of other tools.

/// Trace format of another tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Offline trace of DynamoRIO.
    Drmemtrace,
    /// Tarmac text of Arm.
    Tarmac,
    /// Text of the execlog plugin of QEMU.
    Execlog,
    /// Protobuf instruction trace of gem5.
    Gem5Inst,
    /// Text of the Exec flag of gem5.
    Gem5Exec,
    /// Trace of the first Championship Value Prediction.
    Cvp1,
    /// ChampSim trace with records of 64 bytes.
    Champsim,
    /// ChampSim trace with records of 96 bytes.
    Cloudsuite,
    /// Text of the lackey tool of valgrind.
    Lackey,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 9] = [
        Format::Drmemtrace,
        Format::Tarmac,
        Format::Execlog,
        Format::Gem5Inst,
        Format::Gem5Exec,
        Format::Cvp1,
        Format::Champsim,
        Format::Cloudsuite,
        Format::Lackey,
    ];

    /// Returns the name of the format on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Drmemtrace => "drmemtrace",
            Format::Tarmac => "tarmac",
            Format::Execlog => "execlog",
            Format::Gem5Inst => "gem5-inst",
            Format::Gem5Exec => "gem5-exec",
            Format::Cvp1 => "cvp1",
            Format::Champsim => "champsim",
            Format::Cloudsuite => "cloudsuite",
            Format::Lackey => "lackey",
        }
    }

    /// Returns the name of the format in messages.
    pub fn title(self) -> &'static str {
        match self {
            Format::Drmemtrace => "DynamoRIO drmemtrace",
            Format::Tarmac => "Arm Tarmac text",
            Format::Execlog => "QEMU execlog text",
            Format::Gem5Inst => "gem5 instruction trace",
            Format::Gem5Exec => "gem5 Exec text",
            Format::Cvp1 => "CVP-1 trace",
            Format::Champsim => "ChampSim trace",
            Format::Cloudsuite => "ChampSim trace (cloudsuite records)",
            Format::Lackey => "valgrind lackey text",
        }
    }

    /// Returns the format with this command-line name.
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Returns true if all instruction words must come from the program file.
    pub fn needs_elf(self) -> bool {
        matches!(self, Format::Gem5Exec | Format::Lackey)
    }
}
