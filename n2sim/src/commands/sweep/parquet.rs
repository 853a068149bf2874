//! The table of a sweep as a Parquet file: varied values as text, counts as whole numbers, metrics
//! as fractions. Only in a build with the feature `parquet`.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use super::table::Table;
use crate::files::output::Output;
use sim_core::Shown;

/// Writes the table to `path`.
pub(super) fn write(table: &Table<'_>, path: &Path) -> anyhow::Result<()> {
    let place = || format!("cannot write {}", path.shown());
    let properties = Arc::new(WriterProperties::builder().build());
    let output = Output::create(Some(path))?;
    let mut file =
        SerializedFileWriter::new(output, schema(table)?, properties).with_context(place)?;
    let mut group = file.next_row_group().with_context(place)?;
    write_columns(&mut group, table).with_context(place)?;
    group.close().with_context(place)?;
    file.into_inner().with_context(place)?.finish()
}

fn write_columns(
    group: &mut SerializedRowGroupWriter<'_, Output>,
    table: &Table<'_>,
) -> Result<(), ParquetError> {
    let records = &table.records;
    let keys: Vec<Vec<String>> = records.iter().map(|record| table.key_values(record)).collect();
    for column in 0..table.keys().len() {
        let texts: Vec<ByteArray> = keys.iter().map(|row| row[column].as_str().into()).collect();
        let Some(mut writer) = group.next_column()? else { return Ok(()) };
        writer.typed::<ByteArrayType>().write_batch(&texts, None, None)?;
        writer.close()?;
    }
    for column in 0..table.grid.events.len() {
        let counts: Vec<i64> = records.iter().map(|record| record.counts[column] as i64).collect();
        let Some(mut writer) = group.next_column()? else { return Ok(()) };
        writer.typed::<Int64Type>().write_batch(&counts, None, None)?;
        writer.close()?;
    }
    for column in 0..table.grid.metrics.len() {
        let values: Vec<f64> = records.iter().filter_map(|record| record.metrics[column]).collect();
        let present: Vec<i16> =
            records.iter().map(|record| i16::from(record.metrics[column].is_some())).collect();
        let Some(mut writer) = group.next_column()? else { return Ok(()) };
        writer.typed::<DoubleType>().write_batch(&values, Some(&present), None)?;
        writer.close()?;
    }
    Ok(())
}

fn schema(table: &Table<'_>) -> Result<TypePtr, ParquetError> {
    let field = |name: &str, physical, logical, repetition| {
        let builder = Type::primitive_type_builder(name, physical);
        builder.with_repetition(repetition).with_logical_type(logical).build().map(Arc::new)
    };
    let mut fields = Vec::new();
    for key in table.keys() {
        let text = Some(LogicalType::String);
        fields.push(field(key, Physical::BYTE_ARRAY, text, Repetition::REQUIRED)?);
    }
    for event in &table.grid.events {
        fields.push(field(&event.name, Physical::INT64, None, Repetition::REQUIRED)?);
    }
    for metric in &table.grid.metrics {
        fields.push(field(&metric.name, Physical::DOUBLE, None, Repetition::OPTIONAL)?);
    }
    Type::group_type_builder("runs").with_fields(fields).build().map(Arc::new)
}
