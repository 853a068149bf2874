//! Refused requests.

/// Reason why a request has no answer.
#[derive(Debug)]
pub(crate) struct Fault {
    /// Field of the page with the wrong value, by its name in the request; `trace` for the trace.
    pub(crate) field: Option<&'static str>,
    /// One sentence for the reader.
    pub(crate) text: String,
}

impl Fault {
    /// Reason that belongs to a field.
    pub(crate) fn of(field: &'static str, text: impl ToString) -> Fault {
        Fault { field: Some(field), text: text.to_string() }
    }
}

impl From<String> for Fault {
    fn from(text: String) -> Fault {
        Fault { field: None, text }
    }
}
