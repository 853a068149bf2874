//! Event names as users of `perf stat -e` type them: mnemonics in any case, raw numbers, the names
//! that Linux gives to every machine, the `pmu/event/` form, groups and modifiers.

use sim_core::PmuEvent::{self, *};
use sim_core::pmu_event::EventNameError;
use sim_report::Selected;

/// Why a list of events cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EventListError {
    #[error(transparent)]
    Name(#[from] EventNameError),
    #[error("'{0}' has an empty event name: write names with single commas between them")]
    Empty(String),
    #[error("'{0}': unknown modifier '{1}'; use u (user), k (kernel) or h (hypervisor)")]
    Modifier(String, char),
    #[error("'{0}': a brace or slash is not closed")]
    Unclosed(String),
    #[error("'{0}': write an event of a PMU as pmu/name/ or pmu/event=0xNN/")]
    Term(String),
}

/// Names that Linux gives to events of every machine, with the event behind each on an Arm PMUv3.
/// Source: the maps of the kernel's arm_pmuv3 driver.
const LINUX_NAMES: &[(&str, PmuEvent)] = &[
    ("cycles", CPU_CYCLES),
    ("cpu-cycles", CPU_CYCLES),
    ("instructions", INST_RETIRED),
    ("branches", BR_RETIRED),
    ("branch-instructions", BR_RETIRED),
    ("branch-misses", BR_MIS_PRED),
    ("bus-cycles", BUS_CYCLES),
    ("cache-references", L1D_CACHE),
    ("cache-misses", L1D_CACHE_REFILL),
    ("stalled-cycles-frontend", STALL_FRONTEND),
    ("stalled-cycles-backend", STALL_BACKEND),
    ("l1-dcache-loads", L1D_CACHE),
    ("l1-dcache-load-misses", L1D_CACHE_REFILL),
    ("l1-icache-loads", L1I_CACHE),
    ("l1-icache-load-misses", L1I_CACHE_REFILL),
    ("dtlb-loads", L1D_TLB),
    ("dtlb-load-misses", L1D_TLB_REFILL),
    ("itlb-loads", L1I_TLB),
    ("itlb-load-misses", L1I_TLB_REFILL),
    ("llc-loads", LL_CACHE_RD),
    ("llc-load-misses", LL_CACHE_MISS_RD),
    ("branch-loads", BR_PRED),
    ("branch-load-misses", BR_MIS_PRED),
];

/// Names that PMUs of Arm cores have in Linux begin so; others (a mesh, a DSU) count other things.
const CORE_PMUS: [&str; 4] = ["armv8_", "armv9_", "cpu", "default_core"];
/// Terms beside an event that change nothing about what is counted.
const IGNORED_TERMS: [&str; 4] = ["long=", "rdpmc=", "name=", "period="];

/// Modifiers of perf that say nothing about what is counted: precision, pinning, guests.
const IGNORED_MODIFIERS: &str = "pPSDWIebHG";

/// Reads the lists of all `-e` options, in order.
pub(crate) fn parse_all(lists: &[String]) -> Result<Vec<Selected>, EventListError> {
    let mut all = Vec::new();
    for list in lists {
        for item in split(list)? {
            all.extend(parse_item(item, list)?);
        }
    }
    Ok(all)
}

/// One event or one group `{a,b}:u`; the modifiers of a group hold for each member.
fn parse_item(item: &str, list: &str) -> Result<Vec<Selected>, EventListError> {
    let Some(group) = item.strip_prefix('{') else {
        return Ok(vec![parse_event(item, list)?]);
    };
    let (members, modifiers) =
        group.split_once('}').ok_or_else(|| EventListError::Unclosed(item.to_owned()))?;
    let member = |name: &str| parse_event(&format!("{name}{modifiers}"), list);
    split(members)?.into_iter().map(member).collect()
}

/// One event, with the name as typed.
pub(crate) fn parse_event(text: &str, list: &str) -> Result<Selected, EventListError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(EventListError::Empty(list.to_owned()));
    }
    let (name, modifiers) = name_and_modifiers(text)?;
    let event = event_of(name, text)?;
    Ok(Selected { name: text.to_owned(), event, counts_user: counts_user(modifiers, text)? })
}

/// The event behind a name that perf printed; `None` if the cores do not count it.
pub(crate) fn core_event(printed: &str) -> Option<PmuEvent> {
    let (name, _) = name_and_modifiers(printed).ok()?;
    if let Some((pmu, _)) = printed.split_once('/')
        && !CORE_PMUS.iter().any(|head| pmu.starts_with(head))
    {
        return None;
    }
    event_of(name, printed).ok()
}

/// The modifiers of a printed name that say where was counted: levels, guest and host.
pub(crate) fn levels(printed: &str) -> String {
    let modifiers = name_and_modifiers(printed).map_or("", |(_, modifiers)| modifiers);
    "ukhGH".chars().filter(|level| modifiers.contains(*level)).collect()
}

/// Takes an event of perf apart: what stands before a colon or between slashes, and behind it.
fn name_and_modifiers(text: &str) -> Result<(&str, &str), EventListError> {
    match text.split_once('/') {
        Some((_pmu, term)) => {
            let (term, modifiers) =
                term.split_once('/').ok_or_else(|| EventListError::Unclosed(text.to_owned()))?;
            Ok((term, modifiers.trim_start_matches(':')))
        }
        None => Ok(text.split_once(':').unwrap_or((text, ""))),
    }
}

fn event_of(terms: &str, text: &str) -> Result<PmuEvent, EventListError> {
    let is_ignored = |term: &&str| IGNORED_TERMS.iter().any(|head| term.starts_with(head));
    let mut terms = terms.split(',').filter(|term| !is_ignored(term));
    let (Some(name), None) = (terms.next(), terms.next()) else {
        return Err(EventListError::Term(text.to_owned()));
    };
    if let Some(number) = name.strip_prefix("event=") {
        let hex = number.strip_prefix("0x").unwrap_or(number);
        let code = u32::from_str_radix(hex, 16);
        let code = code.map_err(|_| EventListError::Term(text.to_owned()))?;
        return Ok(PmuEvent::from_code(code)?);
    }
    if name.contains('=') {
        return Err(EventListError::Term(text.to_owned()));
    }
    let lower = name.to_ascii_lowercase();
    match LINUX_NAMES.iter().find(|(linux, _)| *linux == lower) {
        Some((_, event)) => Ok(*event),
        None => Ok(PmuEvent::from_name(name)?),
    }
}

/// Without a level every level counts; with one, only the levels that are named.
fn counts_user(modifiers: &str, text: &str) -> Result<bool, EventListError> {
    let mut names_a_level = false;
    for modifier in modifiers.chars() {
        match modifier {
            'u' | 'k' | 'h' => names_a_level = true,
            other if IGNORED_MODIFIERS.contains(other) => {}
            other => return Err(EventListError::Modifier(text.to_owned(), other)),
        }
    }
    Ok(!names_a_level || modifiers.contains('u'))
}

/// Splits at commas that stand outside braces and slashes.
fn split(list: &str) -> Result<Vec<&str>, EventListError> {
    let mut items = Vec::new();
    let (mut start, mut depth, mut is_in_slashes) = (0, 0usize, false);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            '/' => is_in_slashes = !is_in_slashes,
            ',' if depth == 0 && !is_in_slashes => {
                items.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if depth > 0 || is_in_slashes {
        return Err(EventListError::Unclosed(list.to_owned()));
    }
    items.push(&list[start..]);
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(lists: &[&str]) -> Result<Vec<(String, PmuEvent, bool)>, EventListError> {
        let lists: Vec<String> = lists.iter().map(|&list| list.to_owned()).collect();
        let selected = parse_all(&lists)?;
        Ok(selected.into_iter().map(|s| (s.name, s.event, s.counts_user)).collect())
    }

    fn message(list: &str) -> String {
        parse(&[list]).expect_err("this list is wrong").to_string()
    }

    #[test]
    fn names_are_taken_in_every_spelling_and_kept_as_typed() {
        let selected = parse(&["cycles,L1D_Cache:u", "r1b,armv8_pmuv3_0/event=0x2d,x/"]);
        assert!(selected.is_err(), "terms beside the event are not understood");
        let selected =
            parse(&["cycles,L1D_Cache:u", "r1b,armv8_pmuv3_0/l2d_tlb/k, 0x11"]).expect("known");
        let expected = [
            ("cycles", CPU_CYCLES, true),
            ("L1D_Cache:u", L1D_CACHE, true),
            ("r1b", INST_SPEC, true),
            ("armv8_pmuv3_0/l2d_tlb/k", L2D_TLB, false),
            ("0x11", CPU_CYCLES, true),
        ];
        let expected = expected.map(|(name, event, user)| (name.to_owned(), event, user));
        assert_eq!(selected, expected);
    }

    #[test]
    fn a_group_hands_its_modifiers_to_its_members() {
        let selected = parse(&["{ld_spec,st_spec}:k,inst_spec:uk"]).expect("known");
        let users: Vec<bool> = selected.iter().map(|s| s.2).collect();
        assert_eq!(users, [false, false, true]);
        assert_eq!(selected[0].0, "ld_spec:k");
    }

    #[test]
    fn what_is_wrong_is_said_with_the_remedy() {
        assert!(message("l1d_cach").contains("the closest name is L1D_CACHE"));
        assert!(message("trb_wrap").contains("does not model"));
        assert!(message("r9999").contains("0x9999"));
        assert!(message("cycles,,ld_spec").contains("empty event name"));
        assert!(message("cycles:x").contains("unknown modifier 'x'"));
        assert!(message("{cycles").contains("not closed"));
        assert!(message("pmu/cycles").contains("not closed"));
        assert!(message("pmu/event=zz/").contains("event=0xNN"));
    }
}
