//! n2sim: machine.
