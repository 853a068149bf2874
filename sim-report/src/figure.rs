//! Figures (SVG) of the measured memory: latency over the footprint, TLB reach, bandwidth, core to
//! core.
//!
//! The submodules draw the memory of a Cortex-A53 ([`a53`]), latency under load
//! ([`mod@loaded`]), the error of multiplexing ([`mod@multiplexing`]), metrics over a key of the
//! configuration ([`mod@sensitivity`]), the error of windows of traces ([`regions`]), the speed-up
//! over cores ([`mod@scaling`]), and the model against real machines ([`mod@silicon`]).

pub mod a53;
pub mod loaded;
pub mod multiplexing;
pub mod regions;
pub mod scaling;
pub mod sensitivity;
pub mod silicon;

use kuva::plot::bar::BarPlot;
use kuva::plot::legend::LegendPosition;
use kuva::plot::scatter::MarkerShape;
use kuva::plot::{LinePlot, LineStyle, ScatterPlot};
use kuva::render::annotations::{ReferenceLine, TextAnnotation};
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;
use sim_lab::membench::bandwidth::Rate;
use sim_lab::membench::core_to_core::Handover;
use sim_lab::membench::knees::Knee;
use sim_lab::membench::latency::{self, FootprintRow, SETTINGS};
use sim_lab::membench::target::{self, Target, Unit};
use sim_machine::MachineConfig;

use crate::drawing_file;
use crate::ladder::{published, setting_name, size_name, unit_name};
use crate::page::palette::{self, Color};

/// Width of a figure, in pixels.
const WIDTH: f64 = 900.0;
/// Height of a figure, in pixels.
const HEIGHT: f64 = 560.0;
/// Color of the palette on light paper; [`drawing_file`] exchanges such colors on dark paper.
const BLUE: &str = palette::BLUE.light;
const ORANGE: &str = palette::ORANGE.light;
const PURPLE: &str = palette::PURPLE.light;
const RED: &str = palette::RED.light;
const YELLOW: &str = palette::YELLOW.light;
const GREEN: &str = palette::GREEN.light;
const GRAY: &str = palette::GRAY.light;
const PUBLISHED: &str = palette::INK.light;
/// Colors and shapes of marks that share a figure. Marks of one shape have colors that no kind of
/// color vision takes for one another (held by a test of the palette).
pub(crate) const MARKS: [(Color, MarkerShape); 8] = [
    (palette::ORANGE, MarkerShape::Circle),
    (palette::BLUE, MarkerShape::Square),
    (palette::GREEN, MarkerShape::Diamond),
    (palette::YELLOW, MarkerShape::Cross),
    (palette::PURPLE, MarkerShape::Plus),
    (palette::GRAY, MarkerShape::Circle),
    (palette::RED, MarkerShape::Square),
    (palette::INK, MarkerShape::Diamond),
];
/// Largest footprint (log2) at which a label centered on it is not cut at the edge.
const LAST_LABEL: f64 = 26.6;

/// Draws the latency over the footprint on logarithmic axes, with the published values as marks.
pub fn latency(config: &MachineConfig, rows: &[FootprintRow]) -> String {
    // The curves with and without prefetch nearly coincide: the thin one is drawn on the wide one.
    let styles =
        [(BLUE, 7.0, ""), (PUBLISHED, 1.8, "6 3"), (YELLOW, 7.0, ""), (PUBLISHED, 1.8, "2 2")];
    let mut plots: Vec<Plot> = Vec::new();
    for (i, (setting, (color, width, dashes))) in SETTINGS.into_iter().zip(styles).enumerate() {
        let points = rows.iter().map(|r| (log2(r.footprint_bytes as f64), log2(r.cycles[i])));
        let line = LinePlot::new()
            .with_data(points.collect::<Vec<_>>())
            .with_color(color)
            .with_stroke_width(width)
            .with_line_style(match dashes {
                "" => LineStyle::Solid,
                dashes => LineStyle::Custom(dashes.to_owned()),
            })
            .with_legend(setting_name(setting));
        plots.push(Plot::Line(line));
    }
    let targets = latency::targets(config);
    let mark = |(target, footprint): &(_, u64)| (log2(*footprint as f64), log2(middle(target)));
    plots.push(marks(targets.iter().map(mark).collect()));
    let mut layout = base_layout(&plots, "Load-to-use latency of the modeled memory")
        .with_subtitle("random pointer chase, one core; both axes logarithmic")
        .with_x_label("footprint")
        .with_y_label("cycles per load")
        .with_x_axis_min(11.0)
        .with_x_axis_max(28.0)
        .with_x_tick_step(2.0)
        .with_legend_width(225.0)
        .with_x_tick_format(custom(|x| size_name(2f64.powf(x).round() as u64)))
        .with_y_axis_min(1.0)
        .with_y_axis_max(9.0)
        .with_y_tick_step(1.0)
        .with_y_tick_format(custom(power_of_two))
        .with_legend_position(LegendPosition::InsideTopLeft);
    for (target, footprint) in &targets {
        let (x, y) = mark(&(*target, *footprint));
        let text = TextAnnotation::new(published(target), x.min(LAST_LABEL), y - 0.42);
        layout = layout.with_annotation(text.with_color(PUBLISHED));
    }
    draw(plots, layout, "Load-to-use latency in cycles over the footprint")
}

/// Draws the cost of a load over the number of pages, with the configured sizes of the TLBs.
pub fn knees(config: &MachineConfig, knees: &[Knee]) -> String {
    let curve = |cost: fn(&Knee) -> f64, color: &str, name: &str| {
        let points = knees.iter().map(|knee| (log2(knee.pages as f64), cost(knee)));
        LinePlot::new()
            .with_data(points.collect::<Vec<_>>())
            .with_color(color)
            .with_stroke_width(2.6)
            .with_legend(name.to_owned())
    };
    let packed = curve(|knee| knee.packed_cycles, GRAY, "same lines, packed: caches alone");
    let plots = vec![
        Plot::Line(packed.with_line_style(LineStyle::Dashed)),
        Plot::Line(curve(|knee| knee.cycles, BLUE, "one line on each page")),
        Plot::Line(curve(
            |knee| knee.cycles - knee.packed_cycles,
            ORANGE,
            "difference: translation",
        )),
    ];
    let mut layout = base_layout(&plots, "Cost of translation: one load per 4 KiB page")
        .with_subtitle("chain of loads, one core, prefetch off; logarithmic number of pages")
        .with_x_label("pages")
        .with_y_label("cycles per load")
        .with_x_axis_min(2.0)
        .with_x_axis_max(12.0)
        .with_x_tick_step(1.0)
        .with_x_tick_format(custom(power_of_two))
        .with_y_axis_min(0.0)
        .with_legend_width(290.0)
        .with_legend_at_data(7.3, 31.0);
    let sizes =
        [(config.memory.dtlb.entries, "L1 data TLB"), (config.memory.l2_tlb.entries, "L2 TLB")];
    for (entries, name) in sizes {
        let line = ReferenceLine::vertical(log2(entries.into()))
            .with_color(GREEN)
            .with_label(format!("{name}: {entries}"));
        layout = layout.with_reference_line(line);
    }
    draw(plots, layout, "Cycles of one load per page over the number of pages")
}

/// Draws the read rate of each level with and without prefetch, with the published rates as marks.
pub fn rates(config: &MachineConfig, rates: &[Rate]) -> String {
    let ghz = config.core.clock_hz as f64 / 1e9;
    let of = |prefetch: bool| rates.iter().filter(move |rate| rate.prefetch == prefetch);
    let mut bars = BarPlot::new().with_legend(vec!["prefetch on", "prefetch off"]);
    for (on, off) in of(true).zip(of(false)) {
        let label = match on.level.is_read_once() {
            true => format!("{} (read once)", on.level.label()),
            false => format!("{} ({})", on.level.label(), size_name(on.footprint_bytes)),
        };
        bars =
            bars.with_group(label, vec![(on.bytes_per_cycle, BLUE), (off.bytes_per_cycle, GRAY)]);
    }
    let per_cycle = |rate: &Rate| match rate.level.target().unit {
        Unit::GigabytesPerSecond => rate.level.target().low / ghz,
        _ => rate.level.target().low,
    };
    let points: Vec<(f64, f64)> =
        of(true).enumerate().map(|(i, rate)| (i as f64 + 1.0, per_cycle(rate))).collect();
    let plots = vec![Plot::Bar(bars), marks(points.clone())];
    let mut layout = base_layout(&plots, "Read bandwidth of one core")
        .with_subtitle(format!("sequential 16-byte loads, pages of 2 MiB, core at {ghz} GHz"))
        .with_y_label("bytes per cycle")
        .with_y_axis_min(0.0)
        .with_y_axis_max(56.0)
        .with_legend_width(180.0)
        .with_legend_position(LegendPosition::InsideTopRight);
    for ((x, y), rate) in points.into_iter().zip(of(true)) {
        let target = rate.level.target();
        let text =
            TextAnnotation::new(published_rate(&target, y), x, y.max(rate.bytes_per_cycle) + 2.0);
        layout = layout.with_annotation(text.with_color(PUBLISHED));
    }
    draw(plots, layout, "Bytes per cycle that one core reads from each level")
}

/// Returns a published rate in the unit of the axis.
fn published_rate(target: &Target, per_cycle: f64) -> String {
    let unit = unit_name(Unit::BytesPerCycle);
    match target.unit {
        Unit::GigabytesPerSecond => format!("published {per_cycle:.2} {unit}"),
        _ => format!("published {} {unit}", target.low),
    }
}

/// Draws the cycles for a line that another core wrote, by the place of that core, with the
/// published range.
pub fn handovers(config: &MachineConfig, handovers: &[Handover]) -> String {
    let ghz = config.core.clock_hz as f64 / 1e9;
    let mut bars = BarPlot::new();
    for handover in handovers {
        bars = bars.with_group(handover.partner.to_string(), vec![(handover.cycles, BLUE)]);
    }
    let target = target::CORE_TO_CORE;
    let plots = vec![Plot::Bar(bars)];
    let mut layout = base_layout(&plots, "Line last written by another core")
        .with_subtitle(format!(
            "alternating compare-and-swap with core 0, cores at {ghz} GHz; dashed: published {}",
            published(&target)
        ))
        .with_x_label("the other core")
        .with_y_label("cycles per compare-and-swap")
        .with_y_axis_min(0.0)
        .with_y_axis_max(200.0);
    // The subtitle has their values: a label would be over a bar.
    for value in [target.low, target.high] {
        layout = layout.with_reference_line(ReferenceLine::horizontal(value).with_color(PUBLISHED));
    }
    draw(plots, layout, "Cycles for a line last written by another core")
}

fn base_layout(plots: &[Plot], title: &str) -> Layout {
    Layout::auto_from_plots(plots)
        .with_width(WIDTH)
        .with_height(HEIGHT)
        .with_title(title)
        .with_title_size(20)
        .with_label_size(15)
        .with_tick_size(12)
        .with_body_size(13)
}

fn draw(plots: Vec<Plot>, layout: Layout, title: &str) -> String {
    drawing_file::plots(plots, layout, title)
}

fn marks(points: Vec<(f64, f64)>) -> Plot {
    let marks = ScatterPlot::new()
        .with_data(points)
        .with_color(PUBLISHED)
        .with_marker(MarkerShape::Diamond)
        .with_size(6.0)
        .with_legend("published, silicon");
    Plot::Scatter(marks)
}

fn middle(target: &sim_lab::membench::Target) -> f64 {
    f64::midpoint(target.low, target.high)
}

fn log2(value: f64) -> f64 {
    value.log2()
}

fn power_of_two(exponent: f64) -> String {
    format!("{}", 2f64.powf(exponent).round())
}

fn custom(format: impl Fn(f64) -> String + Send + Sync + 'static) -> TickFormat {
    TickFormat::Custom(std::sync::Arc::new(format))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::vision::least_difference;
    use sim_machine::ConfigSource;

    fn config() -> MachineConfig {
        let document = ConfigSource::default().document().expect("the guide's profile is embedded");
        MachineConfig::from_document(&document).expect("the guide's profile is a machine")
    }

    #[test]
    fn marks_of_one_shape_differ_for_color_blind_readers() {
        for (at, (color, shape)) in MARKS.iter().enumerate() {
            for (other, _) in MARKS[at + 1..].iter().filter(|(_, own)| own == shape) {
                let is = least_difference(*color, *other);
                assert!(is > 25.0, "{} and {}: {is:.0}", color.name, other.name);
            }
        }
    }

    #[test]
    fn a_figure_names_its_axes_units_and_published_values() {
        let rung = |footprint_bytes, cycles| FootprintRow { footprint_bytes, cycles: [cycles; 4] };
        let svg = latency(&config(), &[rung(2 << 10, 4.0), rung(128 << 20, 390.0)]);
        for part in ["<svg", "footprint", "cycles per load", "16 MiB", "97.6 cycles", "128"] {
            assert!(svg.contains(part), "{part}");
        }
        let knee =
            |pages, cycles| Knee { pages, cycles, packed_cycles: 4.0, l1_refills: 0.0, walks: 0.0 };
        let ghz = config().core.clock_hz as f64 / 1e9;
        assert_eq!(published_rate(&target::DRAM_BANDWIDTH, 21.64 / ghz), "published 7.87 B/cycle");
        assert_eq!(published_rate(&target::SLC_BANDWIDTH, 13.3), "published 13.3 B/cycle");
        let svg = knees(&config(), &[knee(4, 4.0), knee(64, 9.0)]);
        assert!(svg.contains("L1 data TLB: 40") && svg.contains("L2 TLB: 2048"));
    }
}
