//! Sample records as rows: one table for each kind of operation, in the columns of Arm's own
//! decoder, so that readers of its tables read these too.

use sim_pmu::spe::{AccessClass, InstAddress, OperationClass, OperationType, SpeRecord, SveShape};

use super::profile::source_name;

/// Table of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// Loads, stores and atomics.
    Accesses,
    /// Branches.
    Branches,
    /// Everything else.
    Others,
}

/// Value in a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Not recorded.
    Missing,
    /// Number.
    Number(u64),
    /// True or false.
    Flag(bool),
    /// Address or name.
    Text(String),
}

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// [`Value::Number`].
    Number,
    /// [`Value::Flag`].
    Flag,
    /// [`Value::Text`].
    Text,
}

/// Record with its CPU and symbol.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Record.
    pub record: &'a SpeRecord,
    /// CPU that wrote the record.
    pub cpu: Option<u32>,
    /// Function at the PC.
    pub symbol: Option<&'a str>,
}

const ACCESSES: [&str; 21] = [
    "cpu",
    "op",
    "pc",
    "el",
    "atomic",
    "excl",
    "ar",
    "subclass",
    "sve_evl",
    "sve_pred",
    "sve_sg",
    "event",
    "issue_lat",
    "total_lat",
    "vaddr",
    "xlat_lat",
    "paddr",
    "data_source",
    "context",
    "ts",
    "symbol",
];
const BRANCHES: [&str; 16] = [
    "cpu",
    "op",
    "pc",
    "el",
    "condition",
    "indirect",
    "event",
    "issue_lat",
    "total_lat",
    "br_tgt",
    "br_tgt_lvl",
    "pbt",
    "pbt_lvl",
    "context",
    "ts",
    "symbol",
];
const OTHERS: [&str; 15] = [
    "cpu",
    "op",
    "pc",
    "el",
    "subclass",
    "sve_evl",
    "sve_pred",
    "sve_fp",
    "condition",
    "event",
    "issue_lat",
    "total_lat",
    "context",
    "ts",
    "symbol",
];

impl Table {
    /// All tables.
    pub const ALL: [Table; 3] = [Table::Accesses, Table::Branches, Table::Others];

    /// Returns the table of a record.
    pub fn of(record: &SpeRecord) -> Table {
        match record.operation.unwrap_or_default().class {
            OperationClass::Access => Table::Accesses,
            OperationClass::Branch => Table::Branches,
            OperationClass::Other | OperationClass::Reserved => Table::Others,
        }
    }

    /// Returns the end of its file name.
    pub fn suffix(self) -> &'static str {
        match self {
            Table::Accesses => "ldst",
            Table::Branches => "br",
            Table::Others => "other",
        }
    }

    /// Returns its columns.
    pub fn columns(self) -> &'static [&'static str] {
        match self {
            Table::Accesses => &ACCESSES,
            Table::Branches => &BRANCHES,
            Table::Others => &OTHERS,
        }
    }
}

/// Returns the type of a column.
pub fn kind(column: &str) -> Kind {
    match column {
        "cpu" | "el" | "br_tgt_lvl" | "pbt_lvl" | "issue_lat" | "total_lat" | "xlat_lat" | "ts"
        | "sve_evl" => Kind::Number,
        "atomic" | "excl" | "ar" | "condition" | "indirect" | "sve_pred" | "sve_sg" | "sve_fp" => {
            Kind::Flag
        }
        _ => Kind::Text,
    }
}

/// Returns the value of a record in a column.
pub fn value(row: &Row<'_>, column: &str) -> Value {
    let record = row.record;
    let kind = record.operation.unwrap_or_default();
    match column {
        "cpu" => number(row.cpu),
        "op" => Value::Text(operation_name(kind).to_owned()),
        "pc" => place(record.pc),
        "el" => number(record.pc.map(|pc| pc.level)),
        "event" => {
            let names: Vec<_> = record.events.unwrap_or_default().names().collect();
            Value::Text(names.join(":"))
        }
        "issue_lat" => number(record.issue_latency),
        "total_lat" => number(record.total_latency),
        "xlat_lat" => number(record.translation_latency),
        "vaddr" => hex(record.virtual_address),
        "paddr" => hex(record.physical_address.map(|at| at.address)),
        "data_source" => text(record.data_source.map(source_name)),
        "br_tgt" => place(record.branch_target),
        "br_tgt_lvl" => number(record.branch_target.map(|to| to.level)),
        "pbt" => place(record.previous_target),
        "pbt_lvl" => number(record.previous_target.map(|to| to.level)),
        "context" => hex(record.context_el1.or(record.context_el2)),
        "ts" => number(record.timestamp),
        "symbol" => text(row.symbol),
        "condition" => Value::Flag(kind.is_conditional()),
        "indirect" => Value::Flag(kind.is_indirect()),
        "subclass" => text(subclass(kind)),
        _ => shape(kind, column),
    }
}

/// Returns the value of a column that comes from the payload of the operation type.
fn shape(kind: OperationType, column: &str) -> Value {
    let (atomic, exclusive, ordered) = match kind.access_class() {
        Some(AccessClass::Extended { atomic, exclusive, ordered }) => (atomic, exclusive, ordered),
        _ => (false, false, false),
    };
    let sve = match kind.access_class() {
        Some(AccessClass::Sve(shape)) => Some(shape),
        _ => kind.other_sve_shape(),
    };
    let of_sve = |field: fn(SveShape) -> bool| Value::Flag(sve.is_some_and(field));
    match column {
        "atomic" => Value::Flag(atomic),
        "excl" => Value::Flag(exclusive),
        "ar" => Value::Flag(ordered),
        "sve_evl" => number(sve.map(|shape| shape.vector_bits)),
        "sve_pred" => of_sve(|shape| shape.predicated),
        "sve_sg" | "sve_fp" => of_sve(|shape| shape.gather_or_float),
        _ => Value::Missing,
    }
}

fn operation_name(kind: OperationType) -> &'static str {
    match kind.class {
        OperationClass::Access if kind.is_store() => "ST",
        OperationClass::Access => "LD",
        OperationClass::Branch => "B",
        OperationClass::Other | OperationClass::Reserved => "OTHER",
    }
}

fn subclass(kind: OperationType) -> Option<&'static str> {
    match kind.access_class() {
        None if kind.other_sve_shape().is_some() => Some("SVE"),
        None => Some("OTHER"),
        Some(class) => class.name(),
    }
}

fn number<T: Into<u64>>(value: Option<T>) -> Value {
    value.map_or(Value::Missing, |value| Value::Number(value.into()))
}

fn text<T: Into<String>>(value: Option<T>) -> Value {
    value.map_or(Value::Missing, |value| Value::Text(value.into()))
}

fn hex<T: Into<u64>>(value: Option<T>) -> Value {
    text(value.map(|value| format!("{:#x}", value.into())))
}

fn place(at: Option<InstAddress>) -> Value {
    hex(at.map(InstAddress::canonical))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_pmu::spe::{Events, SpeRecord};

    fn row_of(record: &SpeRecord, table: Table) -> Vec<String> {
        let row = Row { record, cpu: Some(2), symbol: Some("main") };
        let shown = |column: &&str| match value(&row, column) {
            Value::Missing => String::from("-"),
            Value::Number(number) => number.to_string(),
            Value::Flag(flag) => flag.to_string(),
            Value::Text(text) => text,
        };
        table.columns().iter().map(shown).collect()
    }

    #[test]
    fn each_kind_of_record_has_its_columns() {
        let at = |address| Some(InstAddress { address, level: 1, non_secure: true });
        let common = SpeRecord {
            pc: at(0xff_8000_0000_0040),
            events: Some(Events::RETIRED.with(Events::NOT_TAKEN)),
            issue_latency: Some(3),
            total_latency: Some(4),
            timestamp: Some(99),
            ..SpeRecord::default()
        };
        let branch = SpeRecord {
            operation: Some(OperationType::branch(true, false)),
            branch_target: at(0x44),
            ..common
        };
        assert_eq!(Table::of(&branch), Table::Branches);
        let expected =
            "2 B 0xffff800000000040 1 true false RETIRED:NOT-TAKEN 3 4 0x44 1 - - - 99 main";
        assert_eq!(row_of(&branch, Table::Branches).join(" "), expected);
        let extended = AccessClass::Extended { atomic: true, exclusive: false, ordered: true };
        let atomic = SpeRecord {
            operation: Some(OperationType::access(false, extended)),
            virtual_address: Some(0x8000),
            data_source: Some(0xb),
            context_el2: Some(0x10),
            ..common
        };
        let expected = "2 LD 0xffff800000000040 1 true false true - - false false \
                        RETIRED:NOT-TAKEN 3 4 0x8000 - - LL-CACHE 0x10 99 main";
        assert_eq!(row_of(&atomic, Table::of(&atomic)).join(" "), expected);
        let sve = SveShape { vector_bits: 128, predicated: true, gather_or_float: false };
        let other = SpeRecord { operation: Some(OperationType::other_sve(sve)), ..common };
        let expected = "2 OTHER 0xffff800000000040 1 SVE 128 true false false \
                        RETIRED:NOT-TAKEN 3 4 - 99 main";
        assert_eq!(row_of(&other, Table::of(&other)).join(" "), expected);
    }
}
