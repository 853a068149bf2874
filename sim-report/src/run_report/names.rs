//! Names of data sources, slot classes and kinds of code.

use sim_core::StallCause;
use sim_machine::observe::{BranchKind, CodeKind, SlotClass};

/// Returns the identifier of a cause.
pub(super) fn cause_id(cause: StallCause) -> String {
    snake_case(&format!("{cause:?}"))
}

/// Returns the identifier of a slot class, the same in every report, and its readable name.
pub(super) fn class_names(class: SlotClass) -> (String, &'static str) {
    match class {
        SlotClass::Retired => ("retired".to_owned(), "operations that retired"),
        SlotClass::SquashedByBranch => {
            ("squashed_by_branch".to_owned(), "squashed: branch mispredict")
        }
        SlotClass::SquashedOther => ("squashed_other".to_owned(), "squashed: other"),
        SlotClass::Empty(cause) => (cause_id(cause), cause.label()),
        SlotClass::Stalled(root) => (snake_case(&format!("{root:?}")), root.label()),
    }
}

/// Converts `FetchL1iMiss` to `fetch_l1i_miss`.
fn snake_case(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

/// Returns the name of a kind of instruction.
pub(super) fn kind_name(kind: CodeKind) -> &'static str {
    match kind {
        CodeKind::Other => "other",
        CodeKind::Load => "load",
        CodeKind::Store => "store",
        CodeKind::Atomic => "atomic",
        CodeKind::Branch(_) => "branch",
    }
}

/// Returns the name of a kind of branch.
pub(super) fn branch_name(kind: BranchKind) -> &'static str {
    match kind {
        BranchKind::Conditional => "conditional",
        BranchKind::Direct => "direct",
        BranchKind::Call => "call",
        BranchKind::Indirect => "indirect",
        BranchKind::IndirectCall => "indirect call",
        BranchKind::Return => "return",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_core::RootCause;

    #[test]
    fn every_slot_class_has_a_unique_identifier() {
        let id = |cause| class_names(SlotClass::Empty(cause)).0;
        assert_eq!(id(StallCause::FetchL1iMiss), "fetch_l1i_miss");
        assert_eq!(class_names(SlotClass::Stalled(RootCause::LoadDram)).0, "load_dram");
        let mut ids: Vec<String> = SlotClass::all().map(|class| class_names(class).0).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), SlotClass::COUNT);
    }
}
