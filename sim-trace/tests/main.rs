//! The trace file from outside: what is written is read, and damage is found.

mod common;
mod corruptions;
mod damage;
mod execlog;
mod format_doc;
mod large;
mod page_map;
mod read_ahead;
mod rewrite;
mod round_trip;
mod tickets;
mod tools;
