//! The lessons of n2sim.

/// File name and text of every lesson, in their order.
pub const LESSONS: &[(&str, &str)] = &[
    ("01-first-touch.toml", include_str!("../lessons/01-first-touch.toml")),
    ("02-line.toml", include_str!("../lessons/02-line.toml")),
    ("03-set-conflict.toml", include_str!("../lessons/03-set-conflict.toml")),
    ("04-refill-once.toml", include_str!("../lessons/04-refill-once.toml")),
    ("05-lmiss.toml", include_str!("../lessons/05-lmiss.toml")),
    ("06-tlb.toml", include_str!("../lessons/06-tlb.toml")),
    ("07-write-streaming.toml", include_str!("../lessons/07-write-streaming.toml")),
    ("08-prefetch.toml", include_str!("../lessons/08-prefetch.toml")),
    ("09-false-sharing.toml", include_str!("../lessons/09-false-sharing.toml")),
    ("10-wrong-path.toml", include_str!("../lessons/10-wrong-path.toml")),
    ("11-top-down.toml", include_str!("../lessons/11-top-down.toml")),
    ("12-multiplexing.toml", include_str!("../lessons/12-multiplexing.toml")),
];
