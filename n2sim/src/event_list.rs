//! Event names as users of `perf stat -e` type them: mnemonics in any case, raw numbers, the names
//! that Linux gives to every machine, the `pmu/event/` form, groups and modifiers.

use sim_core::event_name::SpellingError;
use sim_core::{EventName, PmuEvent};
use sim_report::Selected;

/// Why a list of events cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EventListError {
    #[error(transparent)]
    Name(#[from] SpellingError),
    #[error("'{0}' has an empty event name: write names with single commas between them")]
    Empty(String),
    #[error("'{0}': unknown modifier '{1}'; use u (user), k (kernel) or h (hypervisor)")]
    Modifier(String, char),
    #[error("'{0}': a brace or slash is not closed")]
    Unclosed(String),
}

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
    let name = EventName::split(text)?;
    let counts_user = counts_user(name.modifiers, text)?;
    Ok(Selected { name: text.to_owned(), event: name.event()?, counts_user })
}

/// The event behind a name that perf printed; `None` if the cores do not count it.
pub(crate) fn core_event(printed: &str) -> Option<PmuEvent> {
    let name = EventName::split(printed).ok()?;
    if name.is_of_core() { name.event().ok() } else { None }
}

/// The modifiers of a printed name that say where was counted: levels, guest and host.
pub(crate) fn levels(printed: &str) -> String {
    let modifiers = EventName::split(printed).map_or("", |name| name.modifiers);
    "ukhGH".chars().filter(|level| modifiers.contains(*level)).collect()
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
    use sim_core::PmuEvent::*;

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
