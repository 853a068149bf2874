//! Lessons, sheets of answers, and the faults of both.

mod format;
mod lessons;
mod sheets;
