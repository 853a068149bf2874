//! Every record as a row of one of three Parquet files, with the columns of the CSV tables. Only in
//! a build with the feature `parquet`: the format's crates are large.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use sim_pmu::spe::SpeRecord;
use sim_report::spe::columns::{Kind, Row, Table, Value, kind, value};
use sim_report::symbols::Symbols;

use super::tables::{named, symbol_of};
use crate::files::output::Output;
use sim_core::Shown;

/// Rows of a row group.
const GROUP_ROWS: usize = 1 << 16;

/// The three tables as files that appear when they are complete.
pub(super) struct ParquetFiles {
    files: Vec<TableFile>,
}

struct TableFile {
    table: Table,
    file: SerializedFileWriter<Output>,
    /// The values of the row group at hand, column by column.
    columns: Vec<Vec<Value>>,
}

impl ParquetFiles {
    /// Opens `PREFIX-ldst.parquet` and the two other tables.
    pub(super) fn create(prefix: &Path) -> anyhow::Result<ParquetFiles> {
        let open = |table: Table| -> anyhow::Result<TableFile> {
            let path = named(prefix, table, "parquet");
            let place = || format!("cannot write {}", path.shown());
            let properties = Arc::new(WriterProperties::builder().build());
            let output = Output::create(Some(&path))?;
            let file = SerializedFileWriter::new(output, schema(table)?, properties);
            let columns = vec![Vec::new(); table.columns().len()];
            Ok(TableFile { table, file: file.with_context(place)?, columns })
        };
        let files = Table::ALL.map(open).into_iter().collect::<anyhow::Result<_>>()?;
        Ok(ParquetFiles { files })
    }

    /// Adds a record to its table.
    pub(super) fn write(
        &mut self,
        record: &SpeRecord,
        cpu: Option<u32>,
        symbols: &Symbols,
    ) -> anyhow::Result<()> {
        let row = Row { record, cpu, symbol: symbol_of(record, symbols) };
        self.files[Table::of(record) as usize].add(&row)
    }

    /// Puts the files in their places.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        self.files.into_iter().try_for_each(TableFile::finish)
    }
}

impl TableFile {
    fn add(&mut self, row: &Row<'_>) -> anyhow::Result<()> {
        for (values, column) in self.columns.iter_mut().zip(self.table.columns()) {
            values.push(value(row, column));
        }
        if self.columns[0].len() == GROUP_ROWS { self.write_group() } else { Ok(()) }
    }

    fn write_group(&mut self) -> anyhow::Result<()> {
        let mut group = self.file.next_row_group()?;
        for values in &mut self.columns {
            let values = std::mem::take(values);
            let Some(mut column) = group.next_column()? else { break };
            write_column(&mut column, &values)?;
            column.close()?;
        }
        group.close()?;
        Ok(())
    }

    fn finish(mut self) -> anyhow::Result<()> {
        if !self.columns[0].is_empty() {
            self.write_group()?;
        }
        self.file.into_inner()?.finish()
    }
}

/// Returns one optional column for each column of the table.
fn schema(table: Table) -> Result<TypePtr, ParquetError> {
    let field = |name: &&str| {
        let (physical, logical) = match kind(name) {
            Kind::Number => (Physical::INT64, None),
            Kind::Flag => (Physical::BOOLEAN, None),
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let builder = Type::primitive_type_builder(name, physical);
        let builder = builder.with_repetition(Repetition::OPTIONAL).with_logical_type(logical);
        builder.build().map(Arc::new)
    };
    let fields = table.columns().iter().map(field).collect::<Result<Vec<_>, _>>()?;
    Type::group_type_builder("samples").with_fields(fields).build().map(Arc::new)
}

/// Writes the existing values, and for every row whether it has one.
fn write_column(
    column: &mut SerializedColumnWriter<'_>,
    values: &[Value],
) -> Result<(), ParquetError> {
    let present: Vec<i16> =
        values.iter().map(|value| i16::from(*value != Value::Missing)).collect();
    let levels = Some(&present[..]);
    match column.untyped() {
        ColumnWriter::Int64ColumnWriter(writer) => {
            let numbers: Vec<i64> = values.iter().filter_map(number).collect();
            writer.write_batch(&numbers, levels, None)?;
        }
        ColumnWriter::BoolColumnWriter(writer) => {
            let flags: Vec<bool> = values.iter().filter_map(flag).collect();
            writer.write_batch(&flags, levels, None)?;
        }
        ColumnWriter::ByteArrayColumnWriter(writer) => {
            let texts: Vec<ByteArray> = values.iter().filter_map(text).collect();
            writer.write_batch(&texts, levels, None)?;
        }
        _ => {}
    }
    Ok(())
}

fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => Some(*number as i64),
        _ => None,
    }
}

fn flag(value: &Value) -> Option<bool> {
    match value {
        Value::Flag(flag) => Some(*flag),
        _ => None,
    }
}

fn text(value: &Value) -> Option<ByteArray> {
    match value {
        Value::Text(text) => Some(ByteArray::from(text.as_str())),
        _ => None,
    }
}
