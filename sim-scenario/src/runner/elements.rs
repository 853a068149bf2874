//! Refuses predicates and addresses that do not fit the elements of a step's instruction.

use crate::language::{Action, Case, Step};
use sim_core::Activity;

use super::error::CaseError;

/// Checks all steps of a case, on every path.
///
/// # Errors
///
/// If a step names more addresses than its access takes, or another number of elements.
pub(super) fn check(case: &Case) -> Result<(), CaseError> {
    case.steps
        .iter()
        .flat_map(|step| [step].into_iter().chain(&step.other_path))
        .try_for_each(check_step)
}

fn check_step(step: &Step) -> Result<(), CaseError> {
    let Action::Execute { word, operand: Some(_), elements, .. } = step.action else {
        return Ok(());
    };
    let shape = sim_isa::decode(word).mem;
    let refused = |what, limit: u8, given: usize| {
        Err(CaseError::Elements { step: step.text.clone(), what, limit, given })
    };
    if let Some(of) = elements.of
        && of != shape.elements
    {
        return refused("elements under a predicate", shape.elements, of.into());
    }
    let active = match elements.activity {
        Activity::All => shape.elements,
        Activity::Partial => elements.active.count_ones() as u8,
        Activity::None => 0,
    };
    // Without active elements the one address only says where the access would be.
    let limit = if shape.scattered { active.max(1) } else { 1 };
    let given = elements.further().len() + 1;
    if given > limit.into() { refused("addresses", limit, given) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use crate::runner::run_case;
    use sim_machine::config::ConfigSource;

    /// Returns the error message of `steps`, or `None` if they run.
    fn message(steps: &str) -> Option<String> {
        let text = format!(
            "guide = 'g'\nclaim = 'c'\ntest = 't'\ngiven = 'K3'\ndo = '{steps}'\n\
             expect = 'LD_SPEC >= 0'\nothers = 'any'"
        );
        let cases = crate::language::parse("a.toml", &text).expect("it can be read");
        run_case(&cases[0], &ConfigSource::default()).err().map(|error| error.to_string())
    }

    #[test]
    fn elements_that_do_not_fit_the_access_are_refused() {
        for (steps, wanted) in [
            ("LD1D GATHER 0x8000 0x9000 0xA000", "3 addresses for an access that has 2"),
            (
                "LD1D GATHER 0x8000 0x9000 2 of 4",
                "4 elements under a predicate for an access that has 2",
            ),
            ("ST1W SCATTER 0x8000 0x9000 1 of 4", "2 addresses for an access that has 1"),
            ("LD1W Z.S 0x8000 0x9000", "2 addresses for an access that has 1"),
            ("word 0xC5C3C020 0x8000 0x9000 0xA000", "3 addresses for an access that has 2"),
            ("B.EQ taken else { LD1D GATHER 0x8000 0x9000 2 of 4 }", "4 elements"),
        ] {
            let found = message(steps).unwrap_or_default();
            assert!(found.contains(wanted), "{steps}: {found}");
        }
        for steps in [
            "LD1D GATHER 0x8000 0x9000",
            "LD1W GATHER 0x8000 0x9000 2 of 4",
            "LD1W GATHER 0x8000 none",
            "LD1W Z.S 0x8000 2 of 4",
        ] {
            assert_eq!(message(steps), None, "{steps}");
        }
    }

    #[test]
    fn a_sleep_of_any_length_runs() {
        for cycles in [1 << 40, 1 << 60, 9_000_000_000_000_000_000, u64::MAX - 15, u64::MAX] {
            let wfi = format!("word 0xD503207F {cycles} & ADD &x 30 ; LD8 0x8000");
            assert_eq!(message(&format!("{wfi} ; {wfi}")), None, "{cycles}");
        }
    }
}
