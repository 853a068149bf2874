//! The tree of issue slots: the causes in each part, with descriptions.

use sim_a53::A53Event::{self, *};
use sim_a53::profile::SlotUse;
use sim_a53::slots::LostTo;

use super::code::CodeCosts;
use crate::run_report::profiled::Profiled;
use crate::run_report::ratio::percent;
use crate::run_report::slots::{SlotNode, hottest};

/// Part of a core's slots in time charts and costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Category {
    Issued,
    BadSpeculation,
    Frontend,
    Backend,
    End,
}

impl Category {
    pub(super) const ALL: [Category; 5] = [
        Category::Issued,
        Category::BadSpeculation,
        Category::Frontend,
        Category::Backend,
        Category::End,
    ];

    /// Returns the category of a use.
    pub(super) fn of(slot: SlotUse) -> Category {
        match slot {
            SlotUse::Issued => Category::Issued,
            SlotUse::Misprediction => Category::BadSpeculation,
            SlotUse::Lost(LostTo::InstCache | LostTo::InstTlb | LostTo::FrontEnd) => {
                Category::Frontend
            }
            SlotUse::Lost(LostTo::End) => Category::End,
            SlotUse::Lost(_) => Category::Backend,
        }
    }

    /// Returns the identifier and the name.
    pub(super) fn names(self) -> (&'static str, &'static str) {
        match self {
            Category::Issued => ("issued", "issued"),
            Category::BadSpeculation => ("bad_speculation", "bad speculation"),
            Category::Frontend => ("frontend", "front end"),
            Category::Backend => ("backend", "back end"),
            Category::End => ("end", "end of the program"),
        }
    }
}

/// Node of the tree without counts.
enum Shape {
    Part(&'static str, &'static str, &'static str, &'static [Shape]),
    Cause(SlotUse),
}

const fn lost(cause: LostTo) -> Shape {
    Shape::Cause(SlotUse::Lost(cause))
}

const TREE: Shape = Shape::Part(
    "slots",
    "all issue slots",
    "The core issues up to two instructions in each cycle. Every one of these slots is used or has a cause.",
    &[
        Shape::Cause(SlotUse::Issued),
        Shape::Part(
            "bad_speculation",
            "bad speculation",
            "Slots that stayed empty while the correct path was fetched.",
            &[Shape::Cause(SlotUse::Misprediction)],
        ),
        Shape::Part(
            "frontend",
            "front end",
            "The instruction queue was empty, for another reason than a misprediction.",
            &[lost(LostTo::InstCache), lost(LostTo::InstTlb), lost(LostTo::FrontEnd)],
        ),
        Shape::Part(
            "backend",
            "back end",
            "The next instruction was in the queue and could not issue.",
            &[
                Shape::Part(
                    "write_back",
                    "write-back",
                    "An older instruction held write-back, and the stages before it were full.",
                    &[lost(LostTo::LoadMiss), lost(LostTo::Store)],
                ),
                Shape::Part(
                    "interlock",
                    "interlocks",
                    "An operand or a unit of the next instruction was not ready.",
                    &[
                        lost(LostTo::AddressInterlock),
                        lost(LostTo::SimdInterlock),
                        lost(LostTo::OtherInterlock),
                    ],
                ),
                Shape::Part(
                    "issue_limits",
                    "issue limits",
                    "Rules of dual issue, and accesses that take several cycles to issue.",
                    &[lost(LostTo::Pairing), lost(LostTo::WideAccess)],
                ),
            ],
        ),
        lost(LostTo::End),
    ],
);

/// Returns the places of all nodes of the tree.
#[cfg(test)]
pub(super) fn places() -> Vec<String> {
    fn below(shape: &Shape) -> Vec<String> {
        match shape {
            Shape::Cause(slot) => vec![names(*slot).0.to_owned()],
            Shape::Part(id, _, _, parts) => {
                let inner = parts.iter().flat_map(below).map(|place| format!("{id}.{place}"));
                std::iter::once((*id).to_owned()).chain(inner).collect()
            }
        }
    }
    below(&TREE)
}

/// Returns the tree of a run.
pub(super) fn tree(profile: &Profiled<'_, CodeCosts>) -> SlotNode {
    grown(&TREE, "", profile)
}

fn grown(shape: &Shape, above: &str, profile: &Profiled<'_, CodeCosts>) -> SlotNode {
    let joined = |id: &str| if above.is_empty() { id.to_owned() } else { format!("{above}.{id}") };
    match shape {
        Shape::Cause(slot) => {
            let slots = profile.total.cost.slots_of(*slot);
            let (id, name) = names(*slot);
            SlotNode {
                id: joined(id),
                name: name.to_owned(),
                meaning: meaning(*slot).to_owned(),
                slots,
                percent: percent(slots, profile.all_slots()),
                events: mnemonics(events(*slot)),
                children: Vec::new(),
                hottest: hottest(profile, slots, |own| own.cost.slots_of(*slot)),
            }
        }
        Shape::Part(id, name, meaning, parts) => {
            let id = joined(id);
            let children = parts.iter().map(|part| grown(part, &id, profile));
            let mut children: Vec<SlotNode> = children.collect();
            children.retain(|child| !child.children.is_empty() || child.slots > 0);
            let slots = children.iter().map(|child| child.slots).sum();
            SlotNode {
                events: if above.is_empty() { mnemonics(&[CPU_CYCLES]) } else { Vec::new() },
                id,
                name: (*name).to_owned(),
                meaning: (*meaning).to_owned(),
                slots,
                percent: percent(slots, profile.all_slots()),
                children,
                hottest: Vec::new(),
            }
        }
    }
}

fn mnemonics(events: &[A53Event]) -> Vec<String> {
    events.iter().map(|event| event.mnemonic().to_owned()).collect()
}

/// Returns the identifier of a use, the same in every report, and its name.
pub(super) fn names(slot: SlotUse) -> (&'static str, &'static str) {
    match slot {
        SlotUse::Issued => ("issued", "issued"),
        SlotUse::Misprediction => ("misprediction", "misprediction"),
        SlotUse::Lost(cause) => match cause {
            LostTo::LoadMiss => ("load_miss", "load miss"),
            LostTo::Store => ("store", "store or barrier"),
            LostTo::SimdInterlock => ("simd_interlock", "vector operand or unit"),
            LostTo::AddressInterlock => ("address_interlock", "address operand"),
            LostTo::OtherInterlock => ("other_interlock", "other operand or unit"),
            LostTo::InstCache => ("l1i_miss", "L1I miss"),
            LostTo::InstTlb => ("micro_tlb_miss", "micro-TLB miss"),
            LostTo::FrontEnd => ("taken_branch", "taken branch or restart"),
            LostTo::Pairing => ("no_pair", "no pair"),
            LostTo::WideAccess => ("wide_access", "wide load or store"),
            LostTo::End => ("end", "end of the program"),
        },
    }
}

/// Returns the description of a use.
fn meaning(slot: SlotUse) -> &'static str {
    match slot {
        SlotUse::Issued => "Slots that issued an instruction.",
        SlotUse::Misprediction => {
            "The queue was empty after a misprediction, until the correct path arrived."
        }
        SlotUse::Lost(cause) => match cause {
            LostTo::LoadMiss => "A load that missed held write-back.",
            LostTo::Store => {
                "A store without room in the store buffer, or a barrier, held write-back."
            }
            LostTo::SimdInterlock => {
                "A vector instruction, or a reader of a vector result, waited for an operand or a unit."
            }
            LostTo::AddressInterlock => "A load or store waited for the operand of its address.",
            LostTo::OtherInterlock => "An instruction waited for another operand or unit.",
            LostTo::InstCache => {
                "The queue was empty while a line came from beyond the L1 I-cache."
            }
            LostTo::InstTlb => "The queue was empty while an address of code was translated.",
            LostTo::FrontEnd => {
                "The queue was empty after a taken branch, an exception, or the start of the program."
            }
            LostTo::Pairing => {
                "The next instruction could not issue together with the one before it."
            }
            LostTo::WideAccess => {
                "A load or store of more bytes than a cycle moves took a further cycle to issue."
            }
            LostTo::End => "The program had ended, and its last instructions left the pipeline.",
        },
    }
}

/// Returns the events that count a use, as far as there are any.
fn events(slot: SlotUse) -> &'static [A53Event] {
    match slot {
        SlotUse::Issued => &[INST_RETIRED],
        SlotUse::Misprediction => &[BR_MIS_PRED, OTHER_IQ_DEP_STALL],
        SlotUse::Lost(cause) => match cause {
            LostTo::LoadMiss => &[LD_DEP_STALL],
            LostTo::Store => &[ST_DEP_STALL, STALL_SB_FULL],
            LostTo::SimdInterlock => &[SIMD_DEP_STALL],
            LostTo::AddressInterlock => &[AGU_DEP_STALL],
            LostTo::OtherInterlock => &[OTHER_INTERLOCK_STALL],
            LostTo::InstCache => &[IC_DEP_STALL, L1I_CACHE_REFILL],
            LostTo::InstTlb => &[IUTLB_DEP_STALL, L1I_TLB_REFILL],
            LostTo::FrontEnd => &[OTHER_IQ_DEP_STALL],
            LostTo::Pairing | LostTo::WideAccess | LostTo::End => &[],
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(shape: &Shape, found: &mut Vec<SlotUse>) {
        match shape {
            Shape::Cause(slot) => found.push(*slot),
            Shape::Part(_, _, _, parts) => parts.iter().for_each(|part| collect(part, found)),
        }
    }

    #[test]
    fn every_use_occurs_once_with_a_name_of_its_own() {
        let mut found = Vec::new();
        collect(&TREE, &mut found);
        assert_eq!(found.len(), SlotUse::all().count());
        let mut ids: Vec<&str> = SlotUse::all().map(|slot| names(slot).0).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), found.len());
        for slot in SlotUse::all() {
            assert!(found.contains(&slot) && meaning(slot).ends_with('.'), "{slot:?}");
        }
    }
}
