//! Known tables, inside and outside, and the two forms of the space against each other.

mod forms;
mod known;
