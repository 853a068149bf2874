//! One run of oracle and model side by side.

use sim_cache::CacheLevel;
use sim_core::pmu_event::Group as EventGroup;
use sim_core::{Counts, EventSink, PmuEvent, VirtAddr};

use super::driver::Driver;
use super::geometry::Geometry;
use super::model::Oracle;
use super::sequence::{Group, Op, shorten};
use super::world::World;

/// Returns the events of PMU guide sections 4.1 to 4.6.
pub(crate) fn memory_events() -> impl Iterator<Item = PmuEvent> {
    use EventGroup::{L1d, L1i, L2, Llc, Memory, Tlb};
    let groups = [Tlb, L1d, L1i, L2, Llc, Memory];
    PmuEvent::ALL.into_iter().filter(move |event| groups.contains(&event.info().group))
}

/// Sink with readable totals.
pub(crate) trait Totals: EventSink {
    fn totals(&self) -> &Counts;
}

impl Totals for Counts {
    fn totals(&self) -> &Counts {
        self
    }
}

/// Runs both models. Returns the first difference as text. Counts are compared after every group of
/// operations, the contents of the caches at the end.
pub(crate) fn first_difference(geometry: &Geometry, groups: &[Group]) -> Option<String> {
    difference_in(&mut Counts::default(), geometry, groups)
}

/// Does the same as [`first_difference`] with another sink for the events of sim-cache.
pub(crate) fn difference_in<S: Totals>(
    sink: &mut S,
    geometry: &Geometry,
    groups: &[Group],
) -> Option<String> {
    let mut driver = Driver::new(geometry, sink);
    let mut oracle = Oracle::new(geometry);
    for (number, group) in groups.iter().enumerate() {
        driver.settle();
        oracle.settle();
        for op in group {
            driver.run(*op);
            oracle.run(*op);
        }
        driver.answer_queued_snoops();
        oracle.answer_all_snoops();
        if let Some(event) = differing_event(driver.sink.totals(), &oracle) {
            return Some(format!("{event} after group {number}"));
        }
        if let Some(mark) = group.iter().find_map(|op| differing_mark(&driver, &oracle, *op)) {
            return Some(format!("{mark} after group {number}"));
        }
    }
    for core in 0..driver.memory.n_cores() {
        driver.core = core;
        oracle.switch_to(core);
        if let Some(content) = differing_content(&driver, &mut oracle) {
            return Some(format!("core {core}: {content}"));
        }
    }
    None
}

/// Returns the first event whose count differs, with both values.
fn differing_event(counts: &Counts, oracle: &Oracle) -> Option<String> {
    memory_events().find_map(|event| {
        let expected = oracle.counts.get(event.mnemonic()).copied().unwrap_or(0);
        let counted = counts.value(event);
        let differs = counted != expected;
        differs.then(|| format!("{}: counted {counted}, expected {expected}", event.mnemonic()))
    })
}

/// Returns a difference of the exclusive monitor at the address of an operation.
fn differing_mark<S>(driver: &Driver<S>, oracle: &Oracle, op: Op) -> Option<String> {
    let addr = op.addr();
    if matches!(op, Op::Maintain(..)) {
        return None;
    }
    let target = oracle.world.target(addr);
    let line = target.map(|target| oracle.line_of(addr, target));
    let expected = line.is_some() && oracle.core.marked == line;
    let found = driver.memory.monitor_holds(driver.core, VirtAddr(addr));
    (found != expected).then(|| format!("monitor at 0x{addr:x}: {found}, expected {expected}"))
}

/// Compares the number of lines of every cache, and each line that sequences use.
fn differing_content<S>(driver: &Driver<S>, oracle: &mut Oracle) -> Option<String> {
    let memory = &driver.memory;
    if !memory.is_inclusive(driver.core) {
        return Some("the L2 lacks a line of an L1 cache".to_owned());
    }
    if !memory.is_coherent() {
        return Some("the snoop filter does not match the caches".to_owned());
    }
    let lines = [oracle.core.l1i.lines(), oracle.core.l1d.lines(), oracle.core.l2.lines()];
    if memory.resident_lines(driver.core) != lines {
        return Some(format!("{:?} lines, expected {lines:?}", memory.resident_lines(driver.core)));
    }
    let world = oracle.world.clone();
    for page in world.regions.iter().flat_map(World::used_pages) {
        let Some(target) = world.target(page * world.page_bytes) else { continue };
        for line in world.used_lines() {
            let addr = page * world.page_bytes + line * 64;
            let number = target.frame * world.lines_of_page() + line;
            let expected = [
                (CacheLevel::L1i, oracle.core.l1i.look_at(number, addr / 64)),
                (CacheLevel::L1d, oracle.core.l1d.look_at(number, addr / 64)),
                (CacheLevel::L2, oracle.core.l2.look(number)),
                (CacheLevel::Slc, oracle.slc.as_mut().and_then(|slc| slc.look(number))),
            ];
            for (level, expected) in expected {
                let (found, expected) = (
                    memory.line_is_dirty(driver.core, VirtAddr(addr), level),
                    expected.map(|line| line.dirty),
                );
                if found != expected {
                    return Some(format!(
                        "{level:?} at 0x{addr:x}: dirty {found:?}, expected {expected:?}"
                    ));
                }
            }
        }
    }
    None
}

/// Returns the report of a difference: the geometry, the shortest sequence that shows it, and the
/// difference.
pub(crate) fn explain(geometry: &Geometry, groups: Vec<Group>) -> String {
    let groups = shorten(groups, |groups| first_difference(geometry, groups).is_some());
    let difference = first_difference(geometry, &groups).unwrap_or_default();
    let mut text = format!("{difference}\n{}\n", geometry.shape());
    for group in &groups {
        text.push_str(&format!("  {group:x?}\n"));
    }
    text
}
