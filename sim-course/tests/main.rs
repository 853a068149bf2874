//! Lessons, sheets of answers, and the faults of both.

mod lessons;
