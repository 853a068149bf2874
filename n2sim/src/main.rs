//! The program `n2sim`. All of it is in the library of this package.

use std::process::ExitCode;

fn main() -> ExitCode {
    n2sim::program(std::env::args_os().collect()).into()
}
