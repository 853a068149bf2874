//! Event names as users of `perf stat -e` type them. They are mnemonics in any case, raw numbers,
//! Linux names for every machine, the `pmu/event/` form, groups and modifiers.

use sim_core::event_name::SpellingError;
use sim_core::{EventName, PmuEvent};
use sim_pmu::cmn::Selector;
use sim_pmu::cmn::events::event_with_linux_name;
use sim_pmu::perf::{Group, Levels, PerfEvent};
use sim_report::Selected;

use super::metric_name;

/// The reason why a list of events cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EventListError {
    #[error(transparent)]
    Name(#[from] SpellingError),
    #[error("'{0}': {1}")]
    A53Name(String, String),
    #[error("{0}; -M computes metrics, and -e counts events")]
    Metric(String),
    #[error("'{0}' is an event of the mesh, which only stat, run and perf-stat count")]
    Mesh(String),
    #[error("'{0}' is an event of the mesh: write arm_cmn_0/{0}/")]
    MeshName(String),
    #[error("'{0}' has an empty event name: write names with single commas between them")]
    Empty(String),
    #[error(
        "'{0}': unknown modifier '{1}'; use u (user), k (kernel), h (hypervisor), D (pinned), e (exclusive) or W \
         (weak group)"
    )]
    Modifier(String, char),
    #[error("'{0}': a brace or slash is not closed")]
    Unclosed(String),
}

/// Modifiers of perf without an effect here: precision, reading of groups, guests, the counting
/// agent.
const IGNORED_MODIFIERS: &str = "pPSIbGHR";
/// Events of the kernel that perf knows on every machine and that a model of a core does not count.
const SOFTWARE: [&str; 18] = [
    "alignment-faults",
    "bpf-output",
    "cgroup-switches",
    "context-switches",
    "cpu-clock",
    "cpu-migrations",
    "cs",
    "dummy",
    "duration_time",
    "emulation-faults",
    "faults",
    "major-faults",
    "migrations",
    "minor-faults",
    "page-faults",
    "system_time",
    "task-clock",
    "user_time",
];
/// The levels of an event that counts nowhere.
const NOWHERE: Levels = Levels { user: false, kernel: false, hypervisor: false };
/// Term of the PMU's driver in Linux: two chained counters for one event.
const LONG_TERM: &str = "long=1";

/// Events of a core, by the names that a list gives them.
pub(crate) trait ListedEvent: Copy + PartialEq {
    /// An event that is never a divisor.
    const NO_DIVISOR: Self;

    /// Returns the event with this name.
    fn find(name: &EventName<'_>) -> Result<Self, EventListError>;
}

impl ListedEvent for PmuEvent {
    const NO_DIVISOR: PmuEvent = PmuEvent::SW_INCR;

    fn find(name: &EventName<'_>) -> Result<PmuEvent, EventListError> {
        name.event().map_err(|error| match metric_name::remark(name.terms) {
            Some(remark) => EventListError::Metric(remark),
            None => error.into(),
        })
    }
}

/// A group of events that are counted at the same time or not at all; most have one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EventGroup<E = PmuEvent> {
    /// The events, at least one.
    pub(crate) events: Vec<Selected<E>>,
    /// Modifier `D` of the group or its leader.
    pub(crate) pinned: bool,
    /// Modifier `e`.
    pub(crate) exclusive: bool,
    /// Modifier `W`.
    pub(crate) weak: bool,
}

impl<E: ListedEvent> EventGroup<E> {
    /// Returns the group of one event.
    pub(crate) fn single(selected: Selected<E>) -> EventGroup<E> {
        EventGroup { events: vec![selected], pinned: false, exclusive: false, weak: false }
    }

    /// Returns the group as the kernel gets it.
    pub(crate) fn request(&self) -> Group<E> {
        let events = self.events.iter().map(|selected| selected.event).collect();
        let (pinned, exclusive, weak) = (self.pinned, self.exclusive, self.weak);
        Group { events, pinned, exclusive, weak }
    }
}

/// Reads the lists of all `-e` options, in order.
pub(crate) fn parse_all<E: ListedEvent>(
    lists: &[String],
) -> Result<Vec<EventGroup<E>>, EventListError> {
    let mut all = Vec::new();
    for list in lists {
        for item in split(list)? {
            all.push(parse_item(item.trim(), list)?);
        }
    }
    Ok(all)
}

/// Reads one event or one group `{a,b}:u`. The modifiers of a group apply to each member.
fn parse_item<E: ListedEvent>(item: &str, list: &str) -> Result<EventGroup<E>, EventListError> {
    let (members, modifiers) = match item.strip_prefix('{') {
        None => (vec![item], ""),
        Some(group) => {
            let closed = group.split_once('}');
            let (members, modifiers) =
                closed.ok_or_else(|| EventListError::Unclosed(item.to_owned()))?;
            (split(members)?, modifiers.strip_prefix(':').unwrap_or(modifiers))
        }
    };
    let mut events = Vec::new();
    for member in &members {
        events.push(parse_event(member, modifiers, list)?);
    }
    let leader = EventName::split(members[0])?.modifiers;
    let has = |flag| leader.contains(flag) || modifiers.contains(flag);
    Ok(EventGroup { events, pinned: has('D'), exclusive: has('e'), weak: has('W') })
}

/// Reads one event and keeps its name as typed. The levels of its group are added to its own, as in
/// perf.
fn parse_event<E: ListedEvent>(
    text: &str,
    of_group: &str,
    list: &str,
) -> Result<Selected<E>, EventListError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(EventListError::Empty(list.to_owned()));
    }
    if Selector::is_meant_by(text) {
        return Err(EventListError::Mesh(text.to_owned()));
    }
    if event_with_linux_name(text).is_some() {
        return Err(EventListError::MeshName(text.to_owned()));
    }
    if is_software(text) {
        return Ok(Selected { name: text.to_owned(), event: software() });
    }
    let name = EventName::split(text)?;
    let modifiers = format!("{}{of_group}", name.modifiers);
    let levels = parse_levels(&modifiers, text)?;
    let is_long = name.pmu.is_some() && name.terms.split(',').any(|term| term == LONG_TERM);
    let event = PerfEvent { event: E::find(&name)?, levels, is_long };
    let added: String = of_group.chars().filter(|level| "ukh".contains(*level)).collect();
    let name = match (added.as_str(), name.modifiers) {
        ("", _) => text.to_owned(),
        (added, "") => format!("{text}:{added}"),
        (added, _) => format!("{text}{added}"),
    };
    Ok(Selected { name, event })
}

/// Returns whether an event is one of the kernel, with or without modifiers.
pub(crate) fn is_software(text: &str) -> bool {
    let name = text.trim().split(':').next().unwrap_or_default();
    SOFTWARE.contains(&name)
}

/// Returns the placeholder of a kernel event: an event that is never a divisor, at no level.
fn software<E: ListedEvent>() -> PerfEvent<E> {
    PerfEvent { levels: NOWHERE, ..PerfEvent::new(E::NO_DIVISOR) }
}

/// Returns whether the counters of a core cannot count the event at any level.
pub(crate) fn is_nowhere<E>(selected: &Selected<E>) -> bool {
    selected.event.levels == NOWHERE
}

/// Reads the counted levels: all without a modifier, else those of the modifiers.
fn parse_levels(modifiers: &str, text: &str) -> Result<Levels, EventListError> {
    let is_known =
        |modifier: &char| "ukhDeW".contains(*modifier) || IGNORED_MODIFIERS.contains(*modifier);
    if let Some(other) = modifiers.chars().find(|modifier| !is_known(modifier)) {
        return Err(EventListError::Modifier(text.to_owned(), other));
    }
    let names = |level| modifiers.contains(level);
    let named = Levels { user: names('u'), kernel: names('k'), hypervisor: names('h') };
    Ok(if named == NOWHERE { Levels::ALL } else { named })
}

/// Splits at commas outside braces and slashes.
pub(crate) fn split(list: &str) -> Result<Vec<&str>, EventListError> {
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

    fn groups(lists: &[&str]) -> Result<Vec<EventGroup>, EventListError> {
        let lists: Vec<String> = lists.iter().map(|&list| list.to_owned()).collect();
        parse_all(&lists)
    }

    fn parse(lists: &[&str]) -> Result<Vec<(String, PmuEvent, bool)>, EventListError> {
        let events = groups(lists)?.into_iter().flat_map(|group| group.events);
        Ok(events.map(|s| (s.name, s.event.event, s.event.levels.user)).collect())
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
    fn groups_keep_their_company_and_its_rules() {
        let found = groups(&["{ld_spec,st_spec}:S,cycles:D", "{a53:u}"]);
        assert!(found.is_err(), "no such event");
        let found = groups(&["{ld_spec,st_spec}:S,cycles:D", "{isb:u,dsb}:kW,{x:e}"]);
        assert!(found.is_err(), "nor this");
        let found = groups(&["{ld_spec,st_spec}:S,cycles:D", "{isb_spec:u,dsb_spec}:kW,{r1b}:e"]);
        let found = found.expect("known");
        let rules: Vec<_> =
            found.iter().map(|g| (g.events.len(), g.pinned, g.exclusive, g.weak)).collect();
        let expected = [(2, false, false, false), (1, true, false, false), (2, false, false, true)];
        assert_eq!(rules[..3], expected);
        assert_eq!(rules[3], (1, false, true, false));
        assert_eq!(found[0].events[0].name, "ld_spec", "how it is read does not rename it");
        let both = &found[2].events[0];
        assert_eq!((both.name.as_str(), both.event.levels.user), ("isb_spec:uk", true));
        assert!(both.event.levels.kernel && !both.event.levels.hypervisor);
    }

    #[test]
    fn events_of_the_kernel_are_counted_nowhere() {
        let found = groups(&["page-faults,task-clock:u,{cycles,cs}"]).expect("known to perf");
        let events: Vec<&Selected> = found.iter().flat_map(|group| &group.events).collect();
        let nowhere: Vec<bool> = events.iter().map(|event| is_nowhere(event)).collect();
        assert_eq!(nowhere, [true, true, false, true]);
        assert_eq!(events[1].name, "task-clock:u");
        assert!(message("page-fault").contains("unknown event"), "no guess at a name");
    }

    #[test]
    fn a_driver_may_be_asked_for_64_bits() {
        let found = groups(&["cpu/ld_spec,long=1/u,ld_spec"]).expect("known");
        let long: Vec<bool> = found.iter().map(|group| group.events[0].event.is_long).collect();
        assert_eq!(long, [true, false]);
    }

    #[test]
    fn what_is_wrong_is_said_with_the_remedy() {
        assert!(message("l1d_cach").contains("the closest name is L1D_CACHE"));
        assert!(message("trb_wrap").contains("does not model"));
        assert!(message("r9999").contains("0x9999"));
        assert!(message("hnf_cache_miss").contains("write arm_cmn_0/hnf_cache_miss/"));
        assert!(message("cycles,,ld_spec").contains("empty event name"));
        assert!(message("cycles:x").contains("unknown modifier 'x'"));
        assert!(message("{cycles").contains("not closed"));
        assert!(message("pmu/cycles").contains("not closed"));
        assert!(message("pmu/event=zz/").contains("event=0xNN"));
    }
}
