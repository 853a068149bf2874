//! Figures of the measured memory of a Cortex-A53, with published values of an Amlogic S905X.

use kuva::plot::bar::BarPlot;
use kuva::plot::legend::LegendPosition;
use kuva::plot::{LinePlot, LineStyle};
use kuva::render::annotations::ReferenceLine;
use kuva::render::plots::Plot;
use sim_a53::A53Config;
use sim_lab::membench::a53::{A53Knee, A53Latency, A53Rate, CURVES, TARGETS};

use super::{
    BLUE, GRAY, GREEN, ORANGE, PUBLISHED, base_layout, custom, draw, log2, marks, power_of_two,
};
use crate::a53_ladder::curve_name;
use crate::ladder::size_name;

/// Draws the latency over the footprint on logarithmic axes, with the published values as marks.
pub fn latency(rows: &[A53Latency]) -> String {
    // The curves with and without prefetch nearly coincide: the thin one is drawn on the wide one.
    let styles = [(BLUE, 2.4, false), (ORANGE, 7.0, false), (PUBLISHED, 1.8, true)];
    let mut plots: Vec<Plot> = Vec::new();
    for (i, (curve, (color, width, is_dashed))) in CURVES.into_iter().zip(styles).enumerate() {
        let points = rows.iter().map(|row| (log2(row.footprint_bytes as f64), log2(row.cycles[i])));
        let line = LinePlot::new()
            .with_data(points.collect::<Vec<_>>())
            .with_color(color)
            .with_stroke_width(width)
            .with_line_style(if is_dashed { LineStyle::Dashed } else { LineStyle::Solid })
            .with_legend(curve_name(curve));
        plots.push(Plot::Line(line));
    }
    let points = TARGETS.map(|(target, bytes)| (log2(bytes as f64), log2(target.low)));
    plots.push(marks(points.to_vec()));
    let layout = base_layout(&plots, "Load-to-use latency of a Cortex-A53")
        .with_subtitle("pointer chase, one core; both axes logarithmic")
        .with_x_label("footprint")
        .with_y_label("cycles per load")
        .with_x_axis_min(11.0)
        .with_x_axis_max(25.0)
        .with_x_tick_step(2.0)
        .with_legend_width(235.0)
        .with_x_tick_format(custom(|x| size_name(2f64.powf(x).round() as u64)))
        .with_y_axis_min(1.0)
        .with_y_axis_max(8.0)
        .with_y_tick_step(1.0)
        .with_y_tick_format(custom(power_of_two))
        .with_legend_position(LegendPosition::InsideTopLeft);
    draw(plots, layout, "Load-to-use latency of a Cortex-A53 in cycles over the footprint")
}

/// Draws the cost of a load over the number of pages, with the configured sizes of the TLBs.
pub fn knees(config: &A53Config, knees: &[A53Knee]) -> String {
    let curve = |cost: fn(&A53Knee) -> f64, color: &str, name: &str| {
        let points = knees.iter().map(|knee| (log2(knee.pages as f64), cost(knee)));
        LinePlot::new()
            .with_data(points.collect::<Vec<_>>())
            .with_color(color)
            .with_stroke_width(2.4)
            .with_legend(name.to_owned())
    };
    let packed = curve(|knee| knee.packed_cycles, GRAY, "same lines, packed: caches alone");
    let plots = vec![
        Plot::Line(packed.with_line_style(LineStyle::Dashed)),
        Plot::Line(curve(|knee| knee.cycles, BLUE, "one line on each page")),
    ];
    let mut layout = base_layout(&plots, "Cost of translation: one load per 4 KiB page")
        .with_subtitle("chain of loads on a Cortex-A53, prefetch off; logarithmic number of pages")
        .with_x_label("pages")
        .with_y_label("cycles per load")
        .with_x_axis_min(2.0)
        .with_x_axis_max(11.0)
        .with_x_tick_step(1.0)
        .with_x_tick_format(custom(power_of_two))
        .with_y_axis_min(0.0)
        .with_legend_width(290.0)
        .with_legend_at_data(3.6, 26.0);
    let sizes = [
        (config.memory.micro_tlb.data_entries, "micro-TLB"),
        (config.memory.main_tlb.entries, "main TLB"),
    ];
    for (entries, name) in sizes {
        let line = ReferenceLine::vertical(log2(entries.into()))
            .with_color(GREEN)
            .with_label(format!("{name}: {entries}"));
        layout = layout.with_reference_line(line);
    }
    draw(plots, layout, "Cycles of one load per page over the number of pages, Cortex-A53")
}

/// Draws the read rate of each level with and without prefetch.
pub fn rates(rates: &[A53Rate]) -> String {
    let of = |prefetch: bool| rates.iter().filter(move |rate| rate.prefetch == prefetch);
    let mut bars = BarPlot::new().with_legend(vec!["prefetch on", "prefetch off"]);
    for (on, off) in of(true).zip(of(false)) {
        let label = format!("{} ({})", on.level.label(), size_name(on.footprint_bytes));
        bars =
            bars.with_group(label, vec![(on.bytes_per_cycle, BLUE), (off.bytes_per_cycle, GRAY)]);
    }
    let plots = vec![Plot::Bar(bars)];
    let layout = base_layout(&plots, "Read rate of a Cortex-A53")
        .with_subtitle("sequential 16-byte loads, one core")
        .with_y_label("bytes per cycle")
        .with_y_axis_min(0.0)
        .with_legend_width(180.0)
        .with_legend_position(LegendPosition::InsideTopRight);
    draw(plots, layout, "Bytes per cycle that a Cortex-A53 reads from each level")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_names_its_axes_and_curves() {
        let rows = [11, 16, 24]
            .map(|log| A53Latency { footprint_bytes: 1 << log, cycles: [3.0, 3.0, 3.0] });
        let svg = latency(&rows);
        for part in ["<svg", "cycles per load", "reversed order", "published, silicon", "64 KiB"] {
            assert!(svg.contains(part), "{part}");
        }
    }
}
