//! Header of a result as `#` lines: everything that is needed to repeat the run.

use std::io::{self, Write};

use serde_json::json;
use sim_machine::{Mode, RunHeader};

/// Writes version, configuration, trace and seed, one per line. The order of several threads, the
/// mode with its missing results, and data missing from the trace follow if they apply.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Write, header: &RunHeader) -> io::Result<()> {
    writeln!(out, "# n2sim {}", header.version)?;
    writeln!(out, "# configuration {} (hash {:016x})", header.config, header.config_hash)?;
    writeln!(out, "# trace {} (hash {:016x})", header.trace, header.trace_hash)?;
    writeln!(out, "# seed {}", header.seed)?;
    if let Some(order) = header.order {
        writeln!(out, "# threads in {} order: {}", order.kept().name(), order.describe())?;
    }
    if header.mode != Mode::Full {
        writeln!(out, "# mode {}: {}", header.mode.name(), header.mode.describe())?;
        writeln!(out, "# not given: {}", header.mode.not_given().join("; "))?;
    }
    if !header.lacks.is_empty() {
        let labels: Vec<_> = header.lacks.iter().map(|lack| lack.label()).collect();
        writeln!(out, "# gaps of the recording: {}", labels.join(", "))?;
    }
    Ok(())
}

/// Writes the same as a JSON object on one line, for a file of JSON lines.
///
/// # Errors
/// The output cannot be written.
pub fn write_json(out: &mut impl Write, header: &RunHeader) -> io::Result<()> {
    let mut object = json!({
        "n2sim": header.version,
        "configuration": header.config,
        "configuration-hash": format!("{:016x}", header.config_hash),
        "trace": header.trace,
        "trace-hash": format!("{:016x}", header.trace_hash),
        "seed": header.seed,
    });
    if let Some(order) = header.order {
        object["threads-order"] = json!(order.kept().name());
    }
    if header.mode != Mode::Full {
        object["mode"] = json!(header.mode.name());
        object["not-given"] = json!(header.mode.not_given());
    }
    if !header.lacks.is_empty() {
        let labels: Vec<_> = header.lacks.iter().map(|lack| lack.label()).collect();
        object["lacks"] = json!(labels);
    }
    writeln!(out, "{object}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_machine::{OrderOfRun, ThreadOrder};
    use sim_trace::MissingData;

    #[test]
    fn the_header_holds_everything_that_a_repetition_needs() {
        let header = RunHeader {
            version: "0.1.0".into(),
            config: "neoverse-n2.toml + --set core.revision=\"r0p0\"".into(),
            config_hash: 0xABC,
            trace: "traces/hash.n2t".into(),
            program: None,
            trace_hash: u64::MAX,
            seed: 7,
            mode: Mode::Full,
            lacks: vec![MissingData::Words, MissingData::Image],
            order: Some(OrderOfRun { order: ThreadOrder::Recorded, is_known: true }),
            contended_exclusives: 0,
        };
        let mut out = Vec::new();
        write(&mut out, &header).expect("memory can be written");
        let expected = "\
# n2sim 0.1.0
# configuration neoverse-n2.toml + --set core.revision=\"r0p0\" (hash 0000000000000abc)
# trace traces/hash.n2t (hash ffffffffffffffff)
# seed 7
# threads in recorded order: all that synchronizes as it came on the recording machine, in its time slices
# gaps of the recording: no opcodes, executed code only
";
        assert_eq!(String::from_utf8(out).expect("text"), expected);
        let mut out = Vec::new();
        write_json(&mut out, &header).expect("memory can be written");
        let object: serde_json::Value = serde_json::from_slice(&out).expect("an object");
        assert_eq!(object["n2sim"], "0.1.0");
        assert_eq!(object["configuration-hash"], "0000000000000abc");
        assert_eq!(object["threads-order"], "recorded");
        assert_eq!(object["lacks"][1], "executed code only");
        assert_eq!(out.iter().filter(|byte| **byte == b'\n').count(), 1, "one line");
    }
}
