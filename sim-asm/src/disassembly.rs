//! Disassembly of an instruction word, for printing only: the model has its own decoder.

use fARM64::format::{FmtFormatter, Formatter};
use fARM64::{Decoder, DecoderOptions};

/// Returns the instruction in assembler syntax, or `.inst` with the word if it has no name.
///
/// ```
/// use sim_asm::disassembly::text;
/// assert_eq!(text(0x1000, 0xf940_0441), "ldr x1, [x2, #0x8]");
/// assert_eq!(text(0x1000, 0x1400_0002), "b 0x1008");
/// assert_eq!(text(0x1000, 0xffff_ffff), ".inst 0xffffffff");
/// ```
pub fn text(pc: u64, word: u32) -> String {
    let bytes = word.to_le_bytes();
    let inst = Decoder::new(&bytes, pc, DecoderOptions::default()).decode();
    if inst.is_invalid() {
        return format!(".inst {word:#010x}");
    }
    let mut text = String::new();
    FmtFormatter::new().format(&inst, &mut text);
    // The disassembler aligns columns; callers do that themselves.
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
