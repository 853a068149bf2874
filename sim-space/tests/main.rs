//! Known tables, inside and outside.

mod explore;
