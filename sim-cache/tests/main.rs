//! The memory system from outside: directed cases, and an independent second model.

mod directed;
mod oracle;
mod prefetch_stats;
