//! Programs for a first look at the model.

/// Example programs: a name, and the text with two lines of comment that say which counts to read.
pub const EXAMPLES: &[(&str, &str)] = &[
    ("sum of an array", include_str!("../examples-asm/sum.s")),
    ("pointer chase", include_str!("../examples-asm/chase.s")),
    ("stride over sets", include_str!("../examples-asm/stride.s")),
    ("unpredictable branch", include_str!("../examples-asm/branch.s")),
    ("dependent and independent divides", include_str!("../examples-asm/divide.s")),
    ("store forwarding", include_str!("../examples-asm/forward.s")),
];
