//! Tables as Parquet files.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};

use crate::table::{Column, Table, Values};

/// Writes the table and returns the output.
pub(crate) fn write<W: Write + Send>(table: &Table, out: W) -> Result<W, ParquetError> {
    let properties = Arc::new(WriterProperties::builder().build());
    let mut file = SerializedFileWriter::new(out, schema(table)?, properties)?;
    let mut group = file.next_row_group()?;
    for column in table.columns() {
        match &column.values {
            Values::Text(texts) => {
                let texts: Vec<ByteArray> = texts.iter().map(|text| text.as_str().into()).collect();
                add::<ByteArrayType, W>(&mut group, &texts, None)?;
            }
            Values::Count(counts) => {
                let present = (table.failed() > 0).then(|| present(counts));
                let counts: Vec<i64> = counts.iter().flatten().map(|count| *count as i64).collect();
                add::<Int64Type, W>(&mut group, &counts, present.as_deref())?;
            }
            Values::Number(numbers) => {
                let present = Some(present(numbers));
                let numbers: Vec<f64> = numbers.iter().flatten().copied().collect();
                add::<DoubleType, W>(&mut group, &numbers, present.as_deref())?;
            }
        }
    }
    group.close()?;
    file.into_inner()
}

/// Returns 1 for each value that is there, and 0 for each that is not.
fn present<T>(values: &[Option<T>]) -> Vec<i16> {
    values.iter().map(|value| i16::from(value.is_some())).collect()
}

fn add<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    present: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let Some(mut writer) = group.next_column()? else { return Ok(()) };
    writer.typed::<T>().write_batch(values, present, None)?;
    writer.close()
}

fn schema(table: &Table) -> Result<TypePtr, ParquetError> {
    let field = |column: &Column| {
        let (physical, logical, repetition) = match column.values {
            Values::Text(_) => {
                (Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED)
            }
            // Only a run that failed has no counts.
            Values::Count(_) if table.failed() == 0 => {
                (Physical::INT64, None, Repetition::REQUIRED)
            }
            Values::Count(_) => (Physical::INT64, None, Repetition::OPTIONAL),
            Values::Number(_) => (Physical::DOUBLE, None, Repetition::OPTIONAL),
        };
        let builder = Type::primitive_type_builder(&column.name, physical);
        builder.with_repetition(repetition).with_logical_type(logical).build().map(Arc::new)
    };
    let fields = table.columns().iter().map(field).collect::<Result<Vec<_>, _>>()?;
    Type::group_type_builder("runs").with_fields(fields).build().map(Arc::new)
}
