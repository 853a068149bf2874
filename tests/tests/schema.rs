//! Validation by the part of JSON Schema that the schema of a report uses. A keyword that is not
//! known here fails, so that no rule is passed over in silence.

use serde_json::Value;

/// A schema with its definitions.
pub(crate) struct Schema(Value);

/// Keywords that describe and do not restrict. Formats of numbers come with limits.
const NOTES: [&str; 6] = ["$schema", "$defs", "title", "description", "default", "format"];

impl Schema {
    pub(crate) fn new(schema: Value) -> Schema {
        Schema(schema)
    }

    /// Returns what is wrong with a value, each fault with its place.
    pub(crate) fn faults(&self, value: &Value) -> Vec<String> {
        let mut faults = Vec::new();
        self.check(&self.0, value, "", &mut faults);
        faults
    }

    fn check(&self, schema: &Value, value: &Value, place: &str, faults: &mut Vec<String>) {
        for (keyword, rule) in schema.as_object().expect("a schema is an object") {
            match keyword.as_str() {
                "type" if !types(rule).any(|name| is_of_type(value, name)) => {
                    faults.push(format!("{place}: {value} is not of type {rule}"));
                }
                "minimum" if value.as_f64() < rule.as_f64() && value.is_number() => {
                    faults.push(format!("{place}: {value} is less than {rule}"));
                }
                "maximum" if value.as_f64() > rule.as_f64() => {
                    faults.push(format!("{place}: {value} is more than {rule}"));
                }
                "required" => {
                    let names = rule.as_array().expect("a list").iter().filter_map(Value::as_str);
                    let missing =
                        names.filter(|name| value.is_object() && value.get(name).is_none());
                    faults.extend(missing.map(|name| format!("{place}: there is no {name}")));
                }
                "properties" => {
                    for (name, rule) in rule.as_object().expect("an object") {
                        if let Some(part) = value.get(name) {
                            self.check(rule, part, &format!("{place}/{name}"), faults);
                        }
                    }
                }
                "items" => {
                    for (i, part) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(rule, part, &format!("{place}/{i}"), faults);
                    }
                }
                "$ref" => self.check(self.definition(rule), value, place, faults),
                "anyOf" => {
                    let is_met = |one: &Value| {
                        let mut faults = Vec::new();
                        self.check(one, value, place, &mut faults);
                        faults.is_empty()
                    };
                    if !rule.as_array().expect("a list").iter().any(is_met) {
                        faults.push(format!("{place}: {value} meets none of {rule}"));
                    }
                }
                "type" | "minimum" | "maximum" => {}
                note if NOTES.contains(&note) => {}
                unknown => panic!("{place}: this test does not know the keyword {unknown}"),
            }
        }
    }

    fn definition(&self, reference: &Value) -> &Value {
        let path = reference.as_str().and_then(|text| text.strip_prefix('#'));
        path.and_then(|path| self.0.pointer(path)).expect("a definition of this schema")
    }
}

/// Returns the names in a rule: one or a list.
fn types(rule: &Value) -> impl Iterator<Item = &str> {
    let list = rule.as_array().map_or(std::slice::from_ref(rule), Vec::as_slice);
    list.iter().filter_map(Value::as_str)
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        unknown => panic!("JSON has no type {unknown}"),
    }
}

#[test]
fn each_rule_finds_its_fault() {
    let schema = serde_json::json!({
        "$defs": { "small": { "type": "integer", "minimum": 0, "maximum": 9 } },
        "type": "object",
        "required": ["list"],
        "properties": {
            "list": { "type": "array", "items": { "$ref": "#/$defs/small" } },
            "one": { "anyOf": [{ "$ref": "#/$defs/small" }, { "type": "null" }] },
        },
    });
    let schema = Schema::new(schema);
    let faults = |value| schema.faults(&value).len();
    assert_eq!(faults(serde_json::json!({ "list": [0, 9], "one": null })), 0);
    assert_eq!(faults(serde_json::json!({ "list": [-1, 10, 1.5], "one": 1 })), 3);
    assert_eq!(faults(serde_json::json!({ "one": "1" })), 2);
    assert_eq!(faults(serde_json::json!([])), 1);
}
