//! Placeholder of the first hour.
fn main() {}
