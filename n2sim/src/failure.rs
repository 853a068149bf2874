//! Errors of commands as the user reads them.

use std::io;

use crate::files::output;

/// Returns the error and its causes as one sentence, each cause once.
pub(crate) fn message(error: &anyhow::Error) -> String {
    let sentence = sim_runs::sentence(&**error);
    let first = error.chain().next().and_then(|cause| cause.downcast_ref::<io::Error>());
    match first.is_some_and(|first| !output::is_named(first)) {
        // Only the writers of reports fail without naming a file.
        true => format!("cannot write the output: {sentence}"),
        false => sentence,
    }
}

/// Returns whether the reader of the output has closed it, as `head` does.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_standard_output_is_named() {
        let error = anyhow::Error::from(io::Error::other("no room"));
        assert_eq!(message(&error), "cannot write the output: no room");
        assert_eq!(message(&error.context("x.csv")), "x.csv: no room");
    }

    #[test]
    fn a_repeated_cause_is_printed_once() {
        let error = anyhow::anyhow!("no room").context("writing: no room").context("x.n2t");
        assert_eq!(message(&error), "x.n2t: writing: no room");
    }
}
