//! How long loads took, by where their data came from.

use maud::{Markup, html};

use crate::page::plot::{Line, Lines};
use crate::page::{Cell, Chart, Table};
use crate::run_report::LatencyHistogram;

use super::percent;

/// What stands at the lower end of the logarithmic axis: less than one load.
const FLOOR: f64 = 0.5;

/// Summary and histogram.
pub(super) fn body(histograms: &[LatencyHistogram]) -> Markup {
    let seen: Vec<&LatencyHistogram> = histograms.iter().filter(|own| own.loads > 0).collect();
    if seen.is_empty() {
        return html! { p { "No load retired." } };
    }
    html! { (summary(histograms).html()) (chart(&seen)) }
}

fn summary(histograms: &[LatencyHistogram]) -> Table {
    let caption = "Cycles from issue to data of loads that retired, by where their data came from";
    let table =
        Table::new("latency-table", caption).text("Source").number("Loads").number("Of all");
    let table = table.number("Mean").number("Least").number("Median").number("90%").number("99%");
    let mut table = table.number("Most").number("Cycles of all");
    let cycles = |cycles: Option<u64>| cycles.map_or(Cell::None, Cell::Count);
    for own in histograms {
        table.push([
            own.source.as_str().into(),
            own.loads.into(),
            percent(own.percent),
            Cell::number(own.mean, 1),
            cycles(own.min),
            cycles(own.median),
            cycles(own.p90),
            cycles(own.p99),
            cycles(own.max),
            own.cycles.into(),
        ]);
    }
    table
}

fn chart(histograms: &[&LatencyHistogram]) -> Markup {
    let title = String::from("Loads by cycles and source of data");
    let text = "Both axes are logarithmic. A line is as high as the number of loads that took about so many \
                cycles; it lies at the bottom where there were none.";
    let mut lines = Lines::new("cycles from issue to data", "loads");
    lines.x_names = Some(power_of_two);
    lines.y_names = Some(power_of_ten);
    let most = histograms.iter().flat_map(|own| &own.buckets).map(|bucket| bucket.loads).max();
    lines.y_range = Some((FLOOR.log10(), (most.unwrap_or(1) as f64).log10().max(0.0) + 0.2));
    for own in histograms {
        lines.lines.push(Line { name: own.source.clone(), points: steps(own) });
    }
    lines.fit_powers_of_two();
    let svg = lines.svg(&title);
    let caption = "Loads by cycles and source of data";
    let mut table = Table::new("latency-buckets", caption).text("Source");
    table = table.number("From cycle").number("To cycle").number("Loads");
    for (own, bucket) in histograms.iter().flat_map(|own| own.buckets.iter().map(move |b| (own, b)))
    {
        table.push([
            own.source.as_str().into(),
            bucket.from.into(),
            bucket.to.into(),
            bucket.loads.into(),
        ]);
    }
    let chart = Chart { id: "latency-chart".into(), title, text: text.into(), svg, table };
    chart.html_with(&lines.legend())
}

/// The outline of a histogram on logarithmic axes, down to the floor where buckets are empty.
fn steps(histogram: &LatencyHistogram) -> Vec<(f64, f64)> {
    let floor = FLOOR.log10();
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut last_end = None;
    for bucket in &histogram.buckets {
        let (from, to) = (bucket.from.max(1) as f64, bucket.to.max(1).saturating_add(1) as f64);
        if last_end != Some(bucket.from) {
            if let Some((end, _)) = points.last().copied() {
                points.push((end, floor));
            }
            points.push((from.log2(), floor));
        }
        let height = (bucket.loads.max(1) as f64).log10();
        points.extend([(from.log2(), height), (to.log2(), height)]);
        last_end = bucket.to.checked_add(1);
    }
    if let Some((end, _)) = points.last().copied() {
        points.push((end, floor));
    }
    points
}

fn power_of_two(exponent: f64) -> String {
    if exponent.fract() == 0.0 { format!("{}", exponent.exp2()) } else { String::new() }
}

fn power_of_ten(exponent: f64) -> String {
    if exponent.fract() == 0.0 && exponent >= 0.0 {
        format!("{}", 10f64.powf(exponent))
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_report::LatencyBucket;

    #[test]
    fn an_outline_falls_to_the_floor_between_buckets() {
        let bucket = |from, to, loads| LatencyBucket { from, to, loads };
        let histogram = LatencyHistogram {
            source: "L1".into(),
            loads: 111,
            percent: 100.0,
            cycles: 700,
            mean: Some(6.0),
            min: Some(4),
            median: Some(4),
            p90: Some(16),
            p99: Some(16),
            max: Some(16),
            buckets: vec![bucket(4, 7, 100), bucket(8, 8, 10), bucket(16, 16, 1)],
        };
        let floor = FLOOR.log10();
        let points = steps(&histogram);
        let heights: Vec<f64> = points.iter().map(|(_, y)| *y).collect();
        assert_eq!(heights, [floor, 2.0, 2.0, 1.0, 1.0, floor, floor, 0.0, 0.0, floor]);
        assert!(points.windows(2).all(|pair| pair[0].0 <= pair[1].0), "{points:?}");
    }

    #[test]
    fn no_loads_are_said() {
        assert!(body(&[]).into_string().contains("No load retired"));
    }
}
