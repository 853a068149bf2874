//! The requests of `n2sim record -e`: options of `arm_spe_0` by perf's names, or events that
//! overflow.

use anyhow::{Context, bail};
use sim_pmu::overflow::OverflowRequest;
use sim_pmu::perf::Levels;
use sim_pmu::spe::SpeRequest;
use sim_report::Selected;
use sim_report::perf_data::attr::flag;

use crate::counting::event_list;

/// Request without `-e`.
const SPE_DEFAULT: &str = "arm_spe_0/jitter=1,pa_enable=1/";
/// Period of SPE without `-c`: the shortest that the core supports, as perf takes it.
const SPE_PERIOD: u64 = 1024;
/// Period of events without `-c`.
pub(super) const EVENT_PERIOD: u64 = 100_000;
/// Names by which users call the PMU of the extension.
const SPE_NAMES: [&str; 2] = ["arm_spe_0", "arm_spe"];

/// A flag of `arm_spe_0`: its name, its bit in `config`, and its field in a request.
type Flag = (&'static str, u32, fn(&mut SpeRequest) -> &mut bool);

/// The flags, as Linux numbers their bits.
const FLAGS: [Flag; 7] = [
    ("ts_enable", 0, |request| &mut request.ts_enable),
    ("pa_enable", 1, |request| &mut request.pa_enable),
    ("pct_enable", 2, |request| &mut request.pct_enable),
    ("jitter", 16, |request| &mut request.jitter),
    ("branch_filter", 32, |request| &mut request.branch_filter),
    ("load_filter", 33, |request| &mut request.load_filter),
    ("store_filter", 34, |request| &mut request.store_filter),
];
/// Names of the options with a number.
const EVENT_FILTER: &str = "event_filter";
const MIN_LATENCY: &str = "min_latency";
/// Largest latency that the unit can compare with.
const MIN_LATENCY_MAX: u64 = 0xfff;

/// A request for SPE samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SpeEvent {
    /// The name of the event, as the user wrote it.
    pub(super) name: String,
    /// The request to the driver.
    pub(super) request: SpeRequest,
}

/// A requested event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CounterEvent {
    /// The name of the event, as the user wrote it.
    pub(super) name: String,
    /// The request to the driver.
    pub(super) request: OverflowRequest,
}

/// The kind of the profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// Samples of operations.
    Spe(SpeEvent),
    /// Samples of overflows.
    Overflow(Vec<CounterEvent>),
}

impl Request {
    /// Reads the `-e` options.
    pub(super) fn parse(lists: &[String], count: Option<u64>) -> anyhow::Result<Request> {
        if lists.is_empty() {
            return spe(SPE_DEFAULT, count.unwrap_or(SPE_PERIOD)).map(Request::Spe);
        }
        match lists.iter().filter(|list| is_spe(list)).count() {
            0 => Ok(Request::Overflow(events(lists, count.unwrap_or(EVENT_PERIOD))?)),
            _ if lists.len() > 1 => {
                bail!("record arm_spe_0 alone: a second event needs a run of its own")
            }
            _ => spe(lists[0].trim(), count.unwrap_or(SPE_PERIOD)).map(Request::Spe),
        }
    }
}

/// Returns whether the list names the PMU of the extension.
pub(super) fn is_spe(list: &str) -> bool {
    let name = list.trim().split(['/', ':']).next().unwrap_or_default();
    SPE_NAMES.contains(&name)
}

/// Returns the bits of `perf_event_attr` for the excluded levels.
pub(super) fn excluded(levels: Levels) -> u64 {
    let bit = |is_counted: bool, bit: u64| if is_counted { 0 } else { bit };
    bit(levels.user, flag::EXCLUDE_USER)
        | bit(levels.kernel, flag::EXCLUDE_KERNEL)
        | bit(levels.hypervisor, flag::EXCLUDE_HV)
}

fn events(lists: &[String], period: u64) -> anyhow::Result<Vec<CounterEvent>> {
    let groups = event_list::parse_all(lists)?;
    let selected: Vec<Selected> = groups.into_iter().flat_map(|group| group.events).collect();
    if let Some(event) = selected.iter().find(|event| event_list::is_nowhere(event)) {
        bail!(
            "'{}': an event of the kernel has no counter that overflows; record cycles",
            event.name
        );
    }
    let events = selected.into_iter().map(|selected| CounterEvent {
        name: selected.name,
        request: OverflowRequest { event: selected.event, period },
    });
    Ok(events.collect())
}

impl CounterEvent {
    /// Returns the bits of `perf_event_attr` for the excluded levels.
    pub(super) fn excluded(&self) -> u64 {
        excluded(self.request.event.levels)
    }
}

/// Reads a request such as `arm_spe_0/a=1,b/u`.
fn spe(text: &str, period: u64) -> anyhow::Result<SpeEvent> {
    let closed = || format!("'{text}': write arm_spe_0/OPTION=VALUE,.../, closed with a slash");
    let (_, rest) = text.split_once('/').with_context(closed)?;
    let (terms, modifiers) = rest.split_once('/').with_context(closed)?;
    // A list that continues after the slash.
    if modifiers.contains(',') {
        bail!("'{text}': record arm_spe_0 alone: a second event needs a run of its own");
    }
    // perf requests time stamps itself: without them it cannot put records of several CPUs in
    // order.
    let mut request = SpeRequest { ts_enable: true, period, ..SpeRequest::default() };
    for term in terms.split(',').map(str::trim).filter(|term| !term.is_empty()) {
        set(&mut request, term).with_context(|| format!("'{text}'"))?;
    }
    levels(&mut request, modifiers.trim_start_matches(':'), text)?;
    Ok(SpeEvent { name: text.to_owned(), request })
}

fn set(request: &mut SpeRequest, term: &str) -> anyhow::Result<()> {
    let (name, value) = term.split_once('=').unwrap_or((term, "1"));
    let number = number(value).with_context(|| format!("{name}={value}: give a number"))?;
    if let Some((_, _, field)) = FLAGS.iter().find(|(flag, ..)| *flag == name) {
        *field(request) = match number {
            0 => false,
            1 => true,
            _ => bail!("{name}={value}: it is on (1) or off (0)"),
        };
        return Ok(());
    }
    match name {
        EVENT_FILTER => request.event_filter = number,
        MIN_LATENCY if number > MIN_LATENCY_MAX => {
            bail!("{name}={value}: latencies are counted up to {MIN_LATENCY_MAX} cycles")
        }
        MIN_LATENCY => request.min_latency = number,
        "period" if number == 0 => bail!("period=0: give at least one operation"),
        "period" => request.period = number,
        _ => {
            let flags: Vec<&str> = FLAGS.iter().map(|(flag, ..)| *flag).collect();
            let known = flags.join(", ");
            bail!("unknown option {name}; known are {known}, {EVENT_FILTER}, {MIN_LATENCY}, period")
        }
    }
    Ok(())
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Sets the sampled levels: all without a modifier, else those of the modifiers.
fn levels(request: &mut SpeRequest, modifiers: &str, text: &str) -> anyhow::Result<()> {
    if let Some(other) = modifiers.chars().find(|modifier| !"ukhpP".contains(*modifier)) {
        bail!("'{text}': unknown modifier '{other}'; use u (user) or k (kernel)");
    }
    if modifiers.contains(['u', 'k', 'h']) {
        request.exclude_user = !modifiers.contains('u');
        request.exclude_kernel = !modifiers.contains(['k', 'h']);
    }
    Ok(())
}

impl SpeEvent {
    /// Returns `config`, `config1` and `config2` of the event, as Linux encodes the options.
    pub(super) fn config(&self) -> [u64; 3] {
        let mut request = self.request.clone();
        let set = FLAGS.iter().filter_map(|(_, bit, field)| {
            let is_set = *field(&mut request);
            is_set.then_some(1 << bit)
        });
        [set.sum(), self.request.event_filter, self.request.min_latency]
    }

    /// Returns the bits of `perf_event_attr` for the excluded levels.
    pub(super) fn excluded(&self) -> u64 {
        let bit = |is_excluded: bool, bit: u64| if is_excluded { bit } else { 0 };
        bit(self.request.exclude_user, flag::EXCLUDE_USER)
            | bit(self.request.exclude_kernel, flag::EXCLUDE_KERNEL | flag::EXCLUDE_HV)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(list: &str) -> anyhow::Result<Request> {
        Request::parse(&[list.to_owned()], None)
    }

    fn refused(list: &str) -> String {
        format!("{:#}", parse(list).expect_err(list))
    }

    #[test]
    fn options_have_the_names_and_bits_of_perf() {
        let list = "arm_spe_0/pa_enable=1,jitter,load_filter=1,min_latency=0x1e,event_filter=34/u";
        let Ok(Request::Spe(event)) = parse(list) else { panic!("a sampling") };
        assert_eq!(event.config(), [1 << 33 | 1 << 16 | 0b11, 34, 30]);
        assert_eq!((event.name.as_str(), event.request.period), (list, 1024));
        assert_eq!(event.excluded(), flag::EXCLUDE_KERNEL | flag::EXCLUDE_HV);
        let Ok(Request::Spe(bare)) = parse("arm_spe//") else { panic!("a sampling") };
        assert_eq!((bare.config(), bare.excluded()), ([1, 0, 0], 0));
    }

    #[test]
    fn events_are_sampled_where_their_modifiers_say() {
        let Ok(Request::Overflow(events)) = parse("cycles:u,r08") else { panic!("two events") };
        assert_eq!(events[0].excluded(), flag::EXCLUDE_KERNEL | flag::EXCLUDE_HV);
        assert_eq!((events[1].excluded(), events[1].request.period), (0, EVENT_PERIOD));
    }

    #[test]
    fn what_is_wrong_is_said_with_the_remedy() {
        for (list, remedy) in [
            ("arm_spe_0", "closed with a slash"),
            ("arm_spe_0/jitter", "closed with a slash"),
            ("arm_spe_0/jitter=2/", "on (1) or off (0)"),
            ("arm_spe_0/min_latency=5000/", "up to 4095"),
            ("arm_spe_0/min_latency=x/", "give a number"),
            ("arm_spe_0/period=0/", "at least one"),
            ("arm_spe_0/colour=1/", "known are ts_enable"),
            ("arm_spe_0//x", "unknown modifier 'x'"),
            ("arm_spe_0//,cycles", "alone"),
            ("l1d_cach", "the closest name is L1D_CACHE"),
        ] {
            let message = refused(list);
            assert!(message.contains(remedy), "{list}: {message}");
        }
        let two = ["arm_spe_0//".to_owned(), "cycles".to_owned()];
        assert!(Request::parse(&two, None).is_err());
    }
}
