//! Miss-ratio curves: misses in caches and TLBs of other sizes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim_core::LINE_BYTES;
use sim_core::PmuEvent::{self, *};
use sim_machine::observe::Curve;
use sim_machine::observe::reuse::{MOST_LINES, MOST_PAGES};

use super::memory::NamedCount;
use super::observed::Observed;
use super::ratio::percent;

/// Misses in a fully associative LRU memory of any size. Counts accesses of the correct path alone,
/// each thread separately.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MissCurve {
    /// Identifier, the same in every report: `data_lines`, `code_lines`, `data_pages`,
    /// `code_pages`.
    pub id: String,
    /// Readable name of the accessed units.
    pub name: String,
    /// Bytes of a unit: a line or a page.
    pub unit_bytes: u64,
    /// Number of accesses.
    pub accesses: u64,
    /// Number of different units, of all threads. With `is_cut`: accesses to units that were not
    /// among the `most_units` used last.
    pub footprint_units: u64,
    /// Most units tracked for each thread; distances up to this number are exact.
    pub most_units: u64,
    /// Whether more units were in use, so that misses at the largest sizes are not only first uses.
    pub is_cut: bool,
    /// Misses by size, the smallest size first.
    pub points: Vec<CurvePoint>,
    /// Sizes of the modeled machine.
    pub marks: Vec<ModelMark>,
}

/// Misses at one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurvePoint {
    /// Size in units.
    pub units: u64,
    /// Accesses that would miss.
    pub misses: u64,
    /// Share of all accesses, in percent.
    pub miss_percent: f64,
}

/// Size of a structure of the modeled machine, on a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelMark {
    /// Structure: `L1D`.
    pub structure: String,
    /// Size in units of the curve.
    pub units: u64,
    /// Misses on the curve at this size.
    pub misses: u64,
    /// Share of all accesses, in percent.
    pub miss_percent: f64,
    /// Count of the model, whose structure has ways, neighbors and wrong paths; absent without such
    /// an event.
    pub counted: Option<NamedCount>,
}

/// Sizes per power of two on a curve.
const STEPS: u64 = 4;

/// Structure of the machine: its name, its size in units, and the event that counts its misses.
type Structure = (&'static str, u64, PmuEvent);

impl MissCurve {
    /// Returns the curves of data and code, by lines and by pages.
    pub(super) fn all(observed: &Observed<'_>) -> Vec<MissCurve> {
        let (curves, memory) = (observed.observer.curves(), &observed.session.config().memory);
        let (line, page) = (LINE_BYTES, memory.pages.page_bytes);
        let slc = memory.slc.slice_bytes.saturating_mul(memory.slc.slices.into()) / line;
        let l2 = ("L2", memory.l2.line_bytes() / line, L2D_CACHE_REFILL);
        let l2_tlb = u64::from(memory.l2_tlb.entries);
        let data = [
            ("L1D", memory.l1d.size_bytes / line, L1D_CACHE_REFILL),
            l2,
            ("system level cache", slc, LL_CACHE_MISS_RD),
        ];
        let code = [("L1I", memory.l1i.size_bytes / line, L1I_CACHE_REFILL), l2];
        let data_pages = [
            ("L1 data TLB", memory.dtlb.entries.into(), L1D_TLB_REFILL),
            ("L2 TLB", l2_tlb, DTLB_WALK),
        ];
        let code_pages = [
            ("L1 instruction TLB", memory.itlb.entries.into(), L1I_TLB_REFILL),
            ("L2 TLB", l2_tlb, ITLB_WALK),
        ];
        let one = |id, name, curve, unit, most, structures: &[Structure]| {
            MissCurve::of([id, name], curve, (unit, most), structures, observed)
        };
        vec![
            one("data_lines", "lines of data", &curves.data_lines, line, MOST_LINES, &data),
            one("code_lines", "lines of code", &curves.code_lines, line, MOST_LINES, &code),
            one("data_pages", "pages of data", &curves.data_pages, page, MOST_PAGES, &data_pages),
            one("code_pages", "pages of code", &curves.code_pages, page, MOST_PAGES, &code_pages),
        ]
    }

    fn of(
        [id, name]: [&str; 2],
        curve: &Curve,
        (unit_bytes, most): (u64, usize),
        structures: &[Structure],
        observed: &Observed<'_>,
    ) -> MissCurve {
        let (counts, accesses) = (observed.outcome.total(), curve.accesses());
        let point = |units: u64| {
            let misses = curve.misses(usize::try_from(units).unwrap_or(usize::MAX));
            CurvePoint { units, misses, miss_percent: percent(misses, accesses) }
        };
        let mark = |&(structure, units, event): &Structure| {
            let CurvePoint { misses, miss_percent, .. } = point(units);
            let (structure, counted) = (structure.to_owned(), NamedCount::of(event, &counts));
            ModelMark { structure, units, misses, miss_percent, counted: Some(counted) }
        };
        // Sizes beyond the tracked units are unknown on a cut curve.
        let is_known = |s: &&Structure| !curve.is_cut() || s.1 <= most as u64;
        MissCurve {
            id: id.to_owned(),
            name: name.to_owned(),
            unit_bytes,
            accesses,
            footprint_units: curve.new_units(),
            most_units: most as u64,
            is_cut: curve.is_cut(),
            points: sizes(curve.largest() as u64).map(point).collect(),
            marks: structures.iter().filter(is_known).map(mark).collect(),
        }
    }
}

/// Returns the sizes of a curve: powers of two and steps between them, up to the first size at
/// which only first uses miss.
fn sizes(largest: u64) -> impl Iterator<Item = u64> {
    let steps = (0..u64::BITS - 3)
        .flat_map(|power| (0..STEPS).map(move |step| (1_u64 << power) + ((step << power) / STEPS)));
    let mut last = 0;
    let different = steps.filter(move |size| *size > std::mem::replace(&mut last, *size));
    let mut is_done = false;
    different.take_while(move |size| !std::mem::replace(&mut is_done, *size >= largest))
}

#[cfg(test)]
mod tests {
    use super::sizes;

    #[test]
    fn sizes_end_at_the_first_that_holds_all_units() {
        let all = |largest| sizes(largest).collect::<Vec<u64>>();
        assert_eq!(all(0), [1]);
        assert_eq!(all(5), [1, 2, 3, 4, 5]);
        assert_eq!(all(17), [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20]);
        assert!(all(u64::MAX).len() > 200);
    }
}
