//! The table of the kernels in C, and their functions.

use std::fmt::Write;

use super::assembly::{self, caller, functions_of, peer};
use super::kernel::{Kernel, Layout};
use crate::c_text::{TAKES, c_string};
use crate::pages::Pages;

/// Returns the functions of a kernel.
pub(crate) fn functions(number: usize, kernel: &Kernel) -> String {
    functions_of(number, kernel)
}

/// Returns the function that touches the memory of a kernel.
pub(crate) fn touch() -> String {
    assembly::touch("litmus_touch")
}

/// Writes the table of the kernels.
pub(crate) fn write_table(text: &mut String, kernels: &[Kernel]) {
    *text += "\n// ---- Kernels ----\n\n";
    for (number, kernel) in kernels.iter().enumerate() {
        let has_peer = !kernel.code.peer.is_empty();
        let peer = has_peer.then(|| peer(number));
        for function in [caller(number)].into_iter().chain(peer) {
            writeln!(text, "void {function}(void *memory, unsigned long rounds);").expect(TAKES);
        }
    }
    *text += "\nstatic const struct kernel KERNELS[] = {\n";
    for (number, kernel) in kernels.iter().enumerate() {
        let (id, caller) = (c_string(&kernel.id), caller(number));
        let Kernel { rounds, counted_rounds, bytes, touch, .. } = kernel;
        let (distance, bits) = match kernel.layout {
            Layout::Empty => (0, 0),
            Layout::Cycle { distance } => (distance, 0),
            Layout::Bits => (0, 1),
        };
        let peer = match kernel.code.peer.as_str() {
            "" => "NULL".to_owned(),
            _ => peer(number),
        };
        let blocks = u8::from(kernel.pages == Pages::Blocks);
        writeln!(
            text,
            "    {{{id}, {caller}, {rounds}, {counted_rounds}, {bytes}, {distance}, {touch}, {bits}, \
             {blocks}, {peer}}},"
        )
        .expect(TAKES);
    }
    *text += "};\n";
}
