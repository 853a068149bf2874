//! What produced a result, as `#` lines: enough to repeat it.

use std::io::{self, Write};

use sim_machine::{Mode, RunHeader};

/// Writes version, configuration, trace, seed, the mode with what it does not give, and what the trace lacks,
/// one per line.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Write, header: &RunHeader) -> io::Result<()> {
    writeln!(out, "# n2sim {}", header.version)?;
    writeln!(out, "# configuration {} (hash {:016x})", header.config, header.config_hash)?;
    writeln!(out, "# trace {} (hash {:016x})", header.trace, header.trace_hash)?;
    writeln!(out, "# seed {}", header.seed)?;
    if header.mode != Mode::Full {
        writeln!(out, "# mode {}: {}", header.mode.name(), header.mode.describe())?;
        writeln!(out, "# not given: {}", header.mode.not_given().join("; "))?;
    }
    if !header.lacks.is_empty() {
        let labels: Vec<_> = header.lacks.iter().map(|lack| lack.label()).collect();
        writeln!(out, "# lacks {}", labels.join(", "))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_trace::Lack;

    #[test]
    fn the_header_names_all_that_a_repetition_needs() {
        let header = RunHeader {
            version: "0.1.0".into(),
            config: "neoverse-n2.toml + --set core.revision=\"r0p0\"".into(),
            config_hash: 0xABC,
            trace: "traces/hash.n2t".into(),
            trace_hash: u64::MAX,
            seed: 7,
            mode: Mode::Full,
            lacks: vec![Lack::Words, Lack::Image],
        };
        let mut out = Vec::new();
        write(&mut out, &header).expect("memory can be written");
        let expected = "\
# n2sim 0.1.0
# configuration neoverse-n2.toml + --set core.revision=\"r0p0\" (hash 0000000000000abc)
# trace traces/hash.n2t (hash ffffffffffffffff)
# seed 7
# lacks no opcodes, executed code only
";
        assert_eq!(String::from_utf8(out).expect("text"), expected);
    }
}
