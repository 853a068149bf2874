//! Tables of sample records as CSV: a line of column names, then a line per record.

use std::io::{self, Write};

use super::columns::{Row, Table, Value, value};

/// Writes the line of column names.
///
/// # Errors
/// Fails if `out` cannot be written.
pub fn write_head(out: &mut impl Write, table: Table) -> io::Result<()> {
    let quoted: Vec<String> = table.columns().iter().map(|name| format!("\"{name}\"")).collect();
    writeln!(out, "{}", quoted.join(","))
}

/// Writes a line. Values that were not recorded stay empty.
///
/// # Errors
/// Fails if `out` cannot be written.
pub fn write_row(out: &mut impl Write, table: Table, row: &Row<'_>) -> io::Result<()> {
    for (i, column) in table.columns().iter().enumerate() {
        let separator = if i == 0 { "" } else { "," };
        match value(row, column) {
            Value::Missing => write!(out, "{separator}")?,
            Value::Number(number) => write!(out, "{separator}{number}")?,
            Value::Flag(flag) => write!(out, "{separator}{flag}")?,
            Value::Text(text) => write!(out, "{separator}{}", quoted(&text))?,
        }
    }
    writeln!(out)
}

/// Quotes a text that a reader could take for more than one field.
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_pmu::spe::{InstAddress, OperationType, SpeRecord};

    #[test]
    fn a_branch_is_written_as_arms_decoder_writes_it() {
        let place = |address| Some(InstAddress { address, level: 0, non_secure: true });
        let record = SpeRecord {
            pc: place(0x7ffd_bf21_43e0),
            operation: Some(OperationType::branch(true, false)),
            events: Some(sim_pmu::spe::Events::RETIRED),
            issue_latency: Some(41),
            total_latency: Some(42),
            branch_target: place(0x7ffd_bf21_4408),
            timestamp: Some(3_913_207_673_451),
            ..SpeRecord::default()
        };
        let mut out = Vec::new();
        write_head(&mut out, Table::Branches).expect("room");
        let row = Row { record: &record, cpu: Some(0), symbol: Some("a<b, c>") };
        write_row(&mut out, Table::Branches, &row).expect("room");
        let expected = "\"cpu\",\"op\",\"pc\",\"el\",\"condition\",\"indirect\",\"event\",\
            \"issue_lat\",\"total_lat\",\"br_tgt\",\"br_tgt_lvl\",\"pbt\",\"pbt_lvl\",\"context\",\
            \"ts\",\"symbol\"\n0,B,0x7ffdbf2143e0,0,true,false,RETIRED,41,42,0x7ffdbf214408,0,,,,\
            3913207673451,\"a<b, c>\"\n";
        assert_eq!(String::from_utf8(out).expect("text"), expected);
    }
}
