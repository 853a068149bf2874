//! Kernels of two cores: while one core counts, another one runs a loop on the same memory.

use super::kernel::Kernel;

/// LSE atomics as words, for assemblers that do not have them switched on.
const OWN_ADD: &str = ".inst 0xf8230004 // ldadd x3, x4, [x0]";
const OTHER_ADD: &str = "add x5, x0, #128\n.inst 0xf82300a4 // ldadd x3, x4, [x5]";

/// Name, the body that counts, that of the other core, cycles of a round, meaning.
type Pair = (&'static str, &'static str, &'static str, f64, &'static str);

const PAIRS: [Pair; 4] = [
    (
        "pair-apart",
        OWN_ADD,
        OTHER_ADD,
        14.0,
        "an atomic addition, while another core adds in another line; both own their lines",
    ),
    (
        "pair-add",
        OWN_ADD,
        OWN_ADD,
        150.0,
        "an atomic addition, while another core adds to the same word; the line moves between the cores",
    ),
    (
        "pair-false-sharing",
        "ldr x4, [x0]\nadd x4, x4, #1\nstr x4, [x0]",
        "ldr x4, [x0, #32]\nadd x4, x4, #1\nstr x4, [x0, #32]",
        60.0,
        "a load, an addition and a store of a word, while another core does the same with another word of the line",
    ),
    (
        "pair-read",
        "ldr x4, [x0]",
        "str x3, [x0]",
        60.0,
        "a load of a word that another core stores to again and again",
    ),
];

/// Returns the kernels.
pub(super) fn kernels() -> Vec<Kernel> {
    PAIRS.into_iter().map(pair).collect()
}

fn pair((id, body, peer, cycles, what): Pair) -> Kernel {
    Kernel::new(id, format!("a round is {what}"), body, 8)
        .entered_by("mov x3, #1")
        .with_peer(&format!(
            "mov x3, #1\n1:\n.rept 8\n{peer}\n.endr\nsubs x1, x1, #8\nb.hi 1b\nret"
        ))
        .timed(512, cycles)
}
