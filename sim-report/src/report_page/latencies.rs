//! Load latencies by data source.

use maud::{Markup, html};

use crate::page::plot::{Line, Lines};
use crate::page::{Cell, Chart, Table};
use crate::perf_stat::grouped;
use crate::run_report::LatencyHistogram;

use super::parts::{percent, term};

/// Lower end of the logarithmic axis: less than one load.
const FLOOR: f64 = 0.5;

/// Returns summary and histogram.
pub(super) fn body(histograms: &[LatencyHistogram]) -> Markup {
    let seen: Vec<&LatencyHistogram> = histograms.iter().filter(|own| own.loads > 0).collect();
    if seen.is_empty() {
        return html! { p { "No load retired." } };
    }
    html! {
        (summary(histograms).html())
        p.quiet {
            "The mean of a source has three parts. A load waits for a free refill buffer if older misses, including \
             those of stores, use all of them; it waits for a line that a prefetch or another access has already \
             requested; the rest is service. The source is the place of the line when the access found it."
        }
        @for words in slower_than_farther(&seen) { p { (words) } }
        (chart(&seen))
    }
}

/// Explains each nearer source whose mean latency exceeds that of a farther source.
fn slower_than_farther(histograms: &[&LatencyHistogram]) -> Vec<String> {
    let mean = |own: &LatencyHistogram| own.mean.unwrap_or(0.0);
    let is_refill = |own: &LatencyHistogram| !["older store", "L1"].contains(&own.source.as_str());
    let sentences = histograms.iter().enumerate().filter_map(|(place, own)| {
        if !is_refill(own) {
            return None;
        }
        let farther = histograms[place + 1..].iter().find(|other| mean(other) < mean(own))?;
        let part = |part: Option<f64>| part.unwrap_or(0.0);
        Some(format!(
            "Loads from {} took longer than those from {}: of {:.1} cycles they waited {:.1} for a free refill \
             buffer and {:.1} for a pending line; service took {:.1}.",
            term(&own.source),
            term(&farther.source),
            mean(own),
            part(own.mean_buffer_wait),
            part(own.mean_line_wait),
            part(own.mean_service)
        ))
    });
    sentences.collect()
}

fn summary(histograms: &[LatencyHistogram]) -> Table {
    let caption = "Cycles from issue to data of retired loads, by data source";
    let table = Table::new("latency-table", caption).text("Source").number("Loads").number("Share");
    let table = table.number("Mean").number("= Free buffer").number("+ Pending line");
    let table = table.number("+ Service").number("Pending lines");
    let table = table.number("Min").number("Median").number("90%").number("99%");
    let mut table = table.number("Max").number("Total cycles");
    let cycles = |cycles: Option<u64>| cycles.map_or(Cell::None, Cell::Count);
    for own in histograms {
        table.push([
            term(&own.source).into(),
            own.loads.into(),
            percent(own.percent),
            Cell::number(own.mean, 1),
            Cell::number(own.mean_buffer_wait, 1),
            Cell::number(own.mean_line_wait, 1),
            Cell::number(own.mean_service, 1),
            own.found_on_its_way.into(),
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
    let title = String::from("Loads by latency and data source");
    let text = "Both axes are logarithmic. The height of a line is the number of loads with about this latency; \
                there is a gap where there are none.";
    let mut lines = Lines::new("cycles from issue to data", "loads");
    lines.x_names = Some(power_of_two);
    lines.y_names = Some(power_of_ten);
    let most = histograms.iter().flat_map(|own| &own.buckets).map(|bucket| bucket.loads).max();
    lines.y_range = Some((FLOOR.log10(), (most.unwrap_or(1) as f64).log10().max(0.0) + 0.2));
    for own in histograms {
        lines.lines.push(Line { name: term(&own.source).to_owned(), points: steps(own) });
    }
    lines.fit_powers_of_two();
    let svg = lines.svg(&title);
    let caption = "Loads by latency and data source";
    let mut table = Table::new("latency-buckets", caption).text("Source");
    table = table.number("From cycle").number("To cycle").number("Loads");
    for (own, bucket) in histograms.iter().flat_map(|own| own.buckets.iter().map(move |b| (own, b)))
    {
        table.push([
            term(&own.source).into(),
            bucket.from.into(),
            bucket.to.into(),
            bucket.loads.into(),
        ]);
    }
    let chart = Chart { id: "latency-chart".into(), title, text: text.into(), svg, table };
    chart.html_with(&lines.legend())
}

/// Returns the outline of a histogram on logarithmic axes, with a gap for empty buckets.
fn steps(histogram: &LatencyHistogram) -> Vec<(f64, f64)> {
    let floor = FLOOR.log10();
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut last_end = None;
    for bucket in &histogram.buckets {
        let (from, to) = (bucket.from.max(1) as f64, bucket.to.max(1).saturating_add(1) as f64);
        if last_end != Some(bucket.from) {
            if let Some((end, _)) = points.last().copied() {
                points.extend([(end, floor), (end, f64::NAN)]);
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
        grouped(10f64.powf(exponent) as u64)
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_report::LatencyBucket;

    fn took(source: &str, parts: [f64; 3]) -> LatencyHistogram {
        LatencyHistogram {
            source: source.into(),
            loads: 10,
            percent: 50.0,
            cycles: 10 * parts.iter().sum::<f64>() as u64,
            mean: Some(parts.iter().sum()),
            mean_buffer_wait: Some(parts[0]),
            mean_line_wait: Some(parts[1]),
            mean_service: Some(parts[2]),
            found_on_its_way: 0,
            min: Some(1),
            median: Some(1),
            p90: Some(1),
            p99: Some(1),
            max: Some(1),
            buckets: Vec::new(),
        }
    }

    #[test]
    fn a_near_source_with_a_larger_latency_is_explained() {
        let (near, far) =
            (took("L2", [150.0, 20.0, 39.0]), took("system level cache", [0.0, 9.0, 100.0]));
        let sentences = slower_than_farther(&[&near, &far]);
        assert_eq!(
            sentences,
            [
                "Loads from L2 took longer than those from system level cache (SLC): of 209.0 cycles they waited \
              150.0 for a free refill buffer and 20.0 for a pending line; service took 39.0."
            ]
        );
        assert!(slower_than_farther(&[&took("L2", [0.0, 0.0, 13.0]), &far]).is_empty());
    }

    #[test]
    fn an_outline_has_a_gap_between_buckets() {
        let bucket = |from, to, loads| LatencyBucket { from, to, loads };
        let histogram = LatencyHistogram {
            source: "L1".into(),
            loads: 111,
            percent: 100.0,
            cycles: 700,
            mean: Some(6.0),
            mean_buffer_wait: Some(1.0),
            mean_line_wait: Some(2.0),
            mean_service: Some(3.0),
            found_on_its_way: 5,
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
        assert!(heights[6].is_nan(), "a gap: {heights:?}");
        let drawn: Vec<f64> = heights.into_iter().filter(|height| !height.is_nan()).collect();
        assert_eq!(drawn, [floor, 2.0, 2.0, 1.0, 1.0, floor, floor, 0.0, 0.0, floor]);
        assert!(points.windows(2).all(|pair| pair[0].0 <= pair[1].0), "{points:?}");
    }

    #[test]
    fn a_run_without_loads_is_reported_as_such() {
        assert!(body(&[]).into_string().contains("No load retired"));
    }
}
