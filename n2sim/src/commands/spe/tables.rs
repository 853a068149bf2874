//! Every record as a row of one of three files, and every packet as a line.

use std::io::Write;
use std::path::{Path, PathBuf};

use sim_pmu::spe::decode::packets_at;
use sim_pmu::spe::{Packet, SpeRecord};
use sim_report::spe::columns::{Row, Table};
use sim_report::spe::csv;
use sim_report::spe::input::{Buffer, Input};
use sim_report::symbols::Symbols;

use crate::files::output::Output;

/// Every file that takes records one by one.
#[derive(Default)]
pub(super) struct RecordFiles {
    csv: Option<CsvFiles>,
    #[cfg(feature = "parquet")]
    parquet: Option<super::parquet::ParquetFiles>,
}

impl RecordFiles {
    /// Opens the CSV files `PREFIX-*.csv`, if there is a prefix.
    pub(super) fn with_csv(prefix: Option<&Path>) -> anyhow::Result<RecordFiles> {
        let csv = prefix.map(CsvFiles::create).transpose()?;
        Ok(RecordFiles {
            csv,
            #[cfg(feature = "parquet")]
            parquet: None,
        })
    }

    /// Opens the Parquet files `PREFIX-*.parquet` too, if there is a prefix.
    #[cfg(feature = "parquet")]
    pub(super) fn with_parquet(self, prefix: Option<&Path>) -> anyhow::Result<RecordFiles> {
        let parquet = prefix.map(super::parquet::ParquetFiles::create).transpose()?;
        Ok(RecordFiles { parquet, ..self })
    }

    /// Adds a record.
    pub(super) fn write(
        &mut self,
        record: &SpeRecord,
        cpu: Option<u32>,
        symbols: &Symbols,
    ) -> anyhow::Result<()> {
        if let Some(csv) = &mut self.csv {
            csv.write(record, cpu, symbols)?;
        }
        #[cfg(feature = "parquet")]
        if let Some(parquet) = &mut self.parquet {
            parquet.write(record, cpu, symbols)?;
        }
        Ok(())
    }

    /// Puts the files in their places.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        if let Some(csv) = self.csv {
            csv.finish()?;
        }
        #[cfg(feature = "parquet")]
        if let Some(parquet) = self.parquet {
            parquet.finish()?;
        }
        Ok(())
    }
}

/// The three tables as files that appear together when they are complete.
struct CsvFiles {
    files: [Output; 3],
}

impl CsvFiles {
    /// Opens `PREFIX-ldst.csv` and the two other tables.
    fn create(prefix: &Path) -> anyhow::Result<CsvFiles> {
        let open = |table: Table| -> anyhow::Result<Output> {
            let mut file = Output::create(Some(&named(prefix, table, "csv")))?;
            csv::write_head(&mut file, table)?;
            Ok(file)
        };
        let [accesses, branches, others] = Table::ALL.map(open);
        Ok(CsvFiles { files: [accesses?, branches?, others?] })
    }

    /// Adds a record to its table.
    fn write(
        &mut self,
        record: &SpeRecord,
        cpu: Option<u32>,
        symbols: &Symbols,
    ) -> anyhow::Result<()> {
        let table = Table::of(record);
        let row = Row { record, cpu, symbol: symbol_of(record, symbols) };
        Ok(csv::write_row(&mut self.files[table as usize], table, &row)?)
    }

    /// Puts the files in their places.
    fn finish(self) -> anyhow::Result<()> {
        self.files.into_iter().try_for_each(Output::finish)
    }
}

/// Returns the function of a record's operation.
pub(super) fn symbol_of<'a>(record: &SpeRecord, symbols: &'a Symbols) -> Option<&'a str> {
    let place = symbols.function(record.pc?.canonical())?;
    Some(place.function.name.as_str())
}

/// Returns the file name of a table, such as `PREFIX-ldst.csv`.
pub(super) fn named(prefix: &Path, table: Table, extension: &str) -> PathBuf {
    let mut name = prefix.as_os_str().to_owned();
    name.push(format!("-{}.{extension}", table.suffix()));
    PathBuf::from(name)
}

/// Lists every packet but padding, buffer by buffer, with its offset in the file.
pub(super) fn write_packets(
    out: &mut impl Write,
    bytes: &[u8],
    input: &Input,
) -> anyhow::Result<()> {
    for Buffer { cpu, bytes: range, address } in &input.buffers {
        let cpu = cpu.map_or(String::new(), |cpu| format!(" of CPU {cpu}"));
        writeln!(out, "buffer{cpu}: {} bytes at {:#x}", range.len(), range.start)?;
        for (offset, packet) in packets_at(&bytes[range.clone()], *address) {
            match packet {
                Ok(Packet::Padding) => {}
                Ok(packet) => writeln!(out, "{:08x}  {packet}", range.start + offset)?,
                Err(error) => writeln!(out, "{:08x}  damaged: {error}", range.start + offset)?,
            }
        }
    }
    Ok(())
}
