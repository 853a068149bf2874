//! Effects of an SVE instruction beyond its first access: the active elements of its predicate, and
//! the elements of a gather or scatter (docs/trace-format.md, Elements).

use super::block::{BlockInfo, Run};
use sim_core::Activity;
use sim_isa::{Governing, is_prefetch, is_sve, is_sve_access};
use sim_trace::{Further, StreamEvent};

/// Returns the events of `run`, in order of its instructions. Without predicates, the engine gives
/// the addresses of gathers and scatters, but not their elements.
pub(crate) fn events(info: &BlockInfo, run: &Run) -> Vec<StreamEvent> {
    let executed = info.governed.iter().take_while(|(index, _)| *index < run.executed);
    executed.filter_map(|(index, governing)| event(info, run, *index, *governing)).collect()
}

fn event(info: &BlockInfo, run: &Run, index: u16, governing: Governing) -> Option<StreamEvent> {
    let elements = info.elements(index);
    let addrs = match elements {
        Some(_) => addresses(run, index),
        None => Vec::new(),
    };
    let (activity, active) = match predicate(run, index) {
        Some(bits) => governing.activity(bits),
        None if addrs.is_empty() => return None,
        None if addrs.len() >= usize::from(elements?) => (Activity::All, 0),
        None => (Activity::Partial, 0),
    };
    if activity == Activity::All && elements.is_none() {
        return None;
    }
    let active = if activity == Activity::Partial { active } else { 0 };
    // A longer vector than the core's has more elements than a trace can hold.
    let further = Further::of(&addrs)?;
    Some(StreamEvent::Elements { back: run.executed - index, activity, active, further })
}

/// Returns the predicate of instruction `index`: the last one reported, because the instruction
/// begins again after a fault.
fn predicate(run: &Run, index: u16) -> Option<u16> {
    run.predicates.iter().rfind(|(at, _)| *at == index).map(|(_, bits)| *bits)
}

fn addresses(run: &Run, index: u16) -> Vec<u64> {
    let all = run.accesses.iter().chain(&run.further);
    all.filter(|access| access.index == index).map(|access| access.addr).collect()
}

/// Counts of known and missing data on the SVE instructions of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    /// Loads and stores.
    pub(crate) accesses: u64,
    /// Accesses without an address although an element was active, or may have been active because
    /// the predicate is not known.
    pub(crate) lost: u64,
    /// Instructions with a governing predicate that is not known.
    pub(crate) untold: u64,
}

/// Counts the SVE accesses of the first `completed` instructions of a run.
pub(crate) fn account(info: &BlockInfo, run: &Run, completed: u16) -> Account {
    let mut account = Account::default();
    for index in 0..completed {
        let word = info.word(usize::from(index));
        if !is_sve(word) {
            continue;
        }
        let governing = info.governed.iter().find(|(at, _)| *at == index);
        let activity = governing
            .map(|(_, governing)| predicate(run, index).map(|bits| governing.activity(bits).0));
        account.untold += u64::from(activity == Some(None));
        if is_sve_access(word) && !is_prefetch(word) {
            let has_address = run.accesses.iter().any(|access| access.index == index);
            let is_known = match activity {
                Some(None) => false,
                Some(Some(Activity::None)) => true,
                Some(Some(_)) | None => has_address,
            };
            account.accesses += 1;
            account.lost += u64::from(!is_known);
        }
    }
    account
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_trace::{Access, BlockId};

    /// ld1w {z0.s}, p0/z, [x4, z0.s, uxtw #2]
    const GATHER: u32 = 0x8520_4080;
    /// ld1w {z0.s}, p0/z, [x3]
    const LD1W: u32 = 0xa540_a060;
    /// fadd z0.s, p1/m, z0.s, z1.s
    const FADD: u32 = 0x6580_8420;
    /// ldr z0, [x0]
    const LDR: u32 = 0x8580_4000;

    fn block(words: &[u32]) -> BlockInfo {
        BlockInfo::new(BlockId(0), 0x40_0000, words.to_vec())
    }

    fn accesses(list: &[(u16, u64)]) -> Vec<Access> {
        list.iter().map(|&(index, addr)| Access { index, addr }).collect()
    }

    fn message(back: u16, activity: Activity, active: u16, addrs: &[u64]) -> StreamEvent {
        let further = Further::of(addrs).expect("a vector");
        StreamEvent::Elements { back, activity, active, further }
    }

    #[test]
    fn without_predicates_only_gathers_have_events() {
        let info = block(&[LD1W, GATHER, GATHER]);
        let run = Run {
            accesses: accesses(&[(0, 16), (1, 96), (2, 8)]),
            further: accesses(&[(1, 32), (2, 4), (2, 0), (2, 12)]),
            ..Run::of(3)
        };
        let expected = [
            message(2, Activity::Partial, 0, &[96, 32]),
            message(1, Activity::All, 0, &[8, 4, 0, 12]),
        ];
        assert_eq!(events(&info, &run), expected);
    }

    #[test]
    fn a_predicate_shows_the_active_elements() {
        let info = block(&[LD1W, FADD, GATHER, LD1W, FADD]);
        let run = Run {
            accesses: accesses(&[(0, 16), (2, 96)]),
            further: accesses(&[(2, 32)]),
            // The last one belongs to an instruction that did not run.
            predicates: vec![(0, 0xffff), (1, 0x0001), (2, 0x1010), (3, 0), (4, 0x1111)],
            ..Run::of(4)
        };
        let expected = [
            message(3, Activity::Partial, 0b0001, &[]),
            message(2, Activity::Partial, 0b1010, &[96, 32]),
            message(1, Activity::None, 0, &[]),
        ];
        assert_eq!(events(&info, &run), expected);
    }

    #[test]
    fn an_instruction_that_began_twice_has_its_last_predicate() {
        let run = Run { predicates: vec![(0, 0x0001), (0, 0x0011)], ..Run::of(1) };
        let expected = [message(1, Activity::Partial, 0b0011, &[])];
        assert_eq!(events(&block(&[LD1W]), &run), expected);
    }

    #[test]
    fn an_access_is_lost_if_an_element_was_active_and_nothing_was_recorded() {
        let info = block(&[LD1W, LD1W, LD1W, LDR, LDR, FADD]);
        let run = Run {
            accesses: accesses(&[(0, 16), (3, 32)]),
            predicates: vec![(0, 0xffff), (1, 0x0001), (2, 0), (5, 0xffff)],
            ..Run::of(6)
        };
        let known = account(&info, &run, 6);
        assert_eq!((known.accesses, known.lost), (5, 2), "the second LD1W and the second LDR");
        let unknown = Run { predicates: Vec::new(), ..run };
        let unknown = account(&info, &unknown, 6);
        assert_eq!(unknown.lost, 4, "three unknown predicates, and the second LDR");
        assert_eq!(unknown.untold, 4, "and that of FADD");
    }
}
