//! Miss-ratio curves: misses in memories of other sizes, with the sizes of the modeled machine
//! marked.

use maud::{Markup, html};

use crate::page::plot::{Line, Lines};
use crate::page::{Cell, Chart, Table};
use crate::perf_stat::grouped;
use crate::run_report::{MissCurve, ModelMark};

use super::parts::{event, percent, term};

/// Returns all curves.
pub(super) fn body(curves: &[MissCurve]) -> Markup {
    html! {
        p { "Each curve shows the share of accesses that would miss in a fully associative LRU memory of that size. \
             It is exact, and counts the correct path alone. The model's own structures have ways, neighbors and \
             wrong paths, so their counts are listed next to it." }
        @for curve in curves { @if curve.accesses == 0 {
            p { (curve.name) ": no accesses." }
        } @else {
            (chart(curve).html())
            @if !curve.marks.is_empty() { (marks(curve).html()) }
        } }
    }
}

fn chart(curve: &MissCurve) -> Chart {
    let title = format!("{}: miss ratio by size", curve.name);
    let text = summary(curve);
    let mut lines = Lines::new("size", "percent of accesses that miss");
    lines.x_names = Some(power_of_two);
    let place = |units: u64| ((units.max(1) as f64) * curve.unit_bytes as f64).log2();
    let mut points: Vec<(f64, f64)> =
        curve.points.iter().map(|point| (place(point.units), point.miss_percent)).collect();
    let marks =
        curve.marks.iter().map(|mark| (term(&mark.structure).to_owned(), place(mark.units)));
    lines.marks = marks.collect();
    // With room for all units, only first uses miss, whatever the size.
    let largest =
        lines.marks.iter().map(|(_, at)| *at).fold(place(curve.footprint_units) + 1.0, f64::max);
    if let Some((_, percent)) =
        points.last().copied().filter(|(at, _)| !curve.is_cut && *at < largest)
    {
        points.push((largest, percent));
    }
    lines.lines.push(Line { name: curve.name.clone(), points });
    lines.fit_powers_of_two();
    lines.y_range = Some((0.0, 100.0));
    let svg = lines.svg(&title);
    let mut table = Table::new(format!("curve-{}-points", curve.id), title.clone());
    table = table.number("Units").text("Size").number("Misses").number("Miss ratio");
    for point in &curve.points {
        let bytes = size(point.units as f64 * curve.unit_bytes as f64);
        table.push([
            point.units.into(),
            bytes.into(),
            point.misses.into(),
            percent(point.miss_percent),
        ]);
    }
    Chart { id: format!("curve-{}", curve.id), title, text, svg, table }
}

/// Returns the number of accesses and units of a curve, in a sentence.
fn summary(curve: &MissCurve) -> String {
    let plural =
        |count: u64, one: &'static str, many: &'static str| if count == 1 { one } else { many };
    let mut text = format!(
        "{} {} to {} different {} of {}. The horizontal axis is logarithmic.",
        grouped(curve.accesses),
        plural(curve.accesses, "access", "accesses"),
        grouped(curve.footprint_units),
        plural(curve.footprint_units, "unit", "units"),
        size(curve.unit_bytes as f64),
    );
    if curve.is_cut {
        text += &format!(" Only the {} units used last were tracked.", grouped(curve.most_units));
    }
    text
}

fn marks(curve: &MissCurve) -> Table {
    let caption = format!("{}: the sizes of the modeled machine", curve.name);
    let table = Table::new(format!("curve-{}-marks", curve.id), caption);
    let table = table.text("Structure").number("Units").text("Size").number("Misses on the curve");
    let mut table = table.number("Miss ratio").text("Event").number("Counted by the model");
    for mark in &curve.marks {
        let [event, counted] = counted(mark);
        table.push([
            term(&mark.structure).into(),
            mark.units.into(),
            size(mark.units as f64 * curve.unit_bytes as f64).into(),
            mark.misses.into(),
            percent(mark.miss_percent),
            event,
            counted,
        ]);
    }
    table
}

fn counted(mark: &ModelMark) -> [Cell; 2] {
    match &mark.counted {
        Some(own) => [Cell::Markup(event(&own.event), own.event.clone()), own.count.into()],
        None => [Cell::None, Cell::None],
    }
}

fn power_of_two(exponent: f64) -> String {
    if exponent.fract() == 0.0 { size(exponent.exp2()) } else { String::new() }
}

/// Formats a size in the unit that makes it short.
fn size(bytes: f64) -> String {
    let (scaled, unit) = match bytes {
        b if b >= 1024.0 * 1024.0 * 1024.0 => (b / (1024.0 * 1024.0 * 1024.0), "GiB"),
        b if b >= 1024.0 * 1024.0 => (b / (1024.0 * 1024.0), "MiB"),
        b if b >= 1024.0 => (b / 1024.0, "KiB"),
        b => (b, "B"),
    };
    format!("{} {unit}", (scaled * 100.0).round() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_in_the_unit_that_makes_it_short() {
        let names = [64.0, 65536.0, 1.5 * 1_048_576.0, 4.0 * 1_073_741_824.0].map(size);
        assert_eq!(names, ["64 B", "64 KiB", "1.5 MiB", "4 GiB"]);
    }
}
