//! Figures (SVG) of one record byte by byte, of operations in the sampling unit, and of the
//! accuracy over the interval.

use std::fmt::Write;

use kuva::backend::svg::SvgBackend;
use kuva::plot::legend::LegendPosition;
use kuva::plot::{LinePlot, LineStyle};
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;
use kuva::render::render::render_multiple;
use sim_pmu::spe::decode::packets;
use sim_pmu::spe::{N2_RECORD_BYTES, Packet, SpeRecord, encode_n2};

use crate::perf_stat::grouped;

use super::profile::Profile;
use super::truth::{Comparison, Funnel, Sampled, compare};

/// Color that color-blind readers can distinguish from the others (Okabe and Ito).
const BLUE: &str = "#0072B2";
const ORANGE: &str = "#D55E00";
const SKY: &str = "#56B4E9";
const YELLOW: &str = "#E69F00";
const GREEN: &str = "#009E73";
const PINK: &str = "#CC79A7";
const GRAY: &str = "#BBBBBB";
/// Bytes in a row of the figure of a record.
const ROW_BYTES: usize = 16;
/// Width of a byte, in pixels.
const CELL: usize = 52;
/// Height of a row, in pixels.
const ROW_HEIGHT: usize = 84;
/// Margin of the figure, in pixels.
const MARGIN: usize = 30;

/// Draws the 64 bytes of a record as the N2 writes it: every packet with its bytes and content.
pub fn record(record: &SpeRecord) -> String {
    let bytes = encode_n2(record);
    let width = ROW_BYTES * CELL + 2 * MARGIN;
    let height = N2_RECORD_BYTES / ROW_BYTES * ROW_HEIGHT + 80;
    let mut svg = open(width, height);
    text(&mut svg, MARGIN, 28, 18, "start", "One sample record: 64 bytes, a packet in each color");
    for (start, packet) in packets(&bytes) {
        let Ok(packet) = packet else { break };
        let encoded = packet.encode();
        for (at, byte) in (start..).zip(encoded.iter()) {
            draw_byte(&mut svg, at, *byte, color(&packet), at == start);
        }
        if packet != Packet::Padding {
            let (x, y) = corner(start);
            text(
                &mut svg,
                x + 2,
                y + 46,
                11,
                "start",
                &shortened(&packet, room(start, encoded.len())),
            );
        }
        if let Packet::Events { .. } = packet {
            let events = format!("EV in full:{}", packet.to_string().trim_start_matches("EV"));
            text(&mut svg, MARGIN, height - 16, 12, "start", &events);
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// Returns the width available for a text below the bytes of a packet in its first row, in pixels.
fn room(start: usize, length: usize) -> usize {
    let in_row = ROW_BYTES - start % ROW_BYTES;
    length.min(in_row) * CELL
}

/// Returns the content of a packet, or only its name if the content exceeds the width.
fn shortened(packet: &Packet, pixels: usize) -> String {
    let mut content = packet.to_string();
    let letters = pixels / 6;
    if content.len() > letters {
        content = content.split(' ').next().unwrap_or_default().to_owned();
    }
    content
}

fn corner(at: usize) -> (usize, usize) {
    (MARGIN + at % ROW_BYTES * CELL, 50 + at / ROW_BYTES * ROW_HEIGHT)
}

fn draw_byte(svg: &mut String, at: usize, byte: u8, fill: &str, is_header: bool) {
    let (x, y) = corner(at);
    let weight = if is_header { "2" } else { "0.6" };
    let opacity = if is_header { "0.75" } else { "0.35" };
    let _ = write!(
        svg,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"30\" fill=\"{fill}\" \
         fill-opacity=\"{opacity}\" stroke=\"#222\" stroke-width=\"{weight}\"/>"
    );
    text(svg, x + CELL / 2, y + 20, 14, "middle", &format!("{byte:02x}"));
    if at.is_multiple_of(ROW_BYTES / 2) {
        text(svg, x, y - 4, 10, "start", &format!("byte {at}"));
    }
}

fn color(packet: &Packet) -> &'static str {
    match packet {
        Packet::Address { .. } => SKY,
        Packet::Context { .. } => PINK,
        Packet::Operation(_) => YELLOW,
        Packet::Events { .. } => ORANGE,
        Packet::Counter { .. } => GREEN,
        Packet::DataSource { .. } => BLUE,
        Packet::Timestamp(_) | Packet::End => GRAY,
        Packet::Padding | Packet::Alignment { .. } | Packet::Unknown { .. } => "#FFFFFF",
    }
}

/// Draws the steps of operations through the sampling unit: a bar for each step, with the losses
/// before it.
pub fn funnel(interval: u64, funnel: &Funnel) -> String {
    let fed = funnel.due - funnel.collided;
    let kept = fed - funnel.abandoned - funnel.filtered;
    let steps = [
        ("population: operations counted (SAMPLE_POP)", funnel.population, String::new()),
        ("selected", funnel.due, format!("one of {} and a random few", grouped(interval))),
        ("sampled (SAMPLE_FEED)", fed, lost(funnel.collided, "collided (SAMPLE_COLLISION)")),
        (
            "retired, passed the filters (SAMPLE_FILTRATE)",
            kept,
            lost(funnel.abandoned, "on a wrong path") + &lost(funnel.filtered, "filtered"),
        ),
        ("records in the buffer", funnel.written, lost(funnel.dropped, "buffer full")),
    ];
    let (width, height) = (900, 80 + 70 * steps.len());
    let mut svg = open(width, height);
    text(&mut svg, width / 2, 28, 18, "middle", "From operations to records");
    // The first bar is not to scale: it would hide the others.
    let most = funnel.due.max(1) as f64;
    for (i, (name, count, left)) in steps.iter().enumerate() {
        let share = (*count as f64 / most).min(1.0);
        let bar = if i == 0 { 840.0 } else { 260.0 + 380.0 * share };
        let (x, y) = ((width as f64 - bar) / 2.0, 50 + 70 * i);
        let fill = [SKY, BLUE, GREEN, YELLOW, ORANGE][i];
        let _ = write!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{y}\" width=\"{bar:.1}\" height=\"34\" fill=\"{fill}\" \
             fill-opacity=\"0.6\" stroke=\"#222\"/>"
        );
        let label = format!("{name}: {}", grouped(*count));
        text(&mut svg, width / 2, y + 22, 14, "middle", &label);
        text(&mut svg, width / 2, y - 6, 12, "middle", left);
    }
    svg.push_str("</svg>\n");
    svg
}

fn lost(count: u64, why: &str) -> String {
    if count == 0 { String::new() } else { format!("{} {why}  ", grouped(count)) }
}

/// Draws the distance of samples from the exact distribution over the interval: measured, and
/// expected by chance.
pub fn accuracy(trace: &str, exact: &Profile, sampled: &[Sampled]) -> String {
    let rows: Vec<Comparison> = sampled
        .iter()
        .filter(|sampled| sampled.interval.is_some() && sampled.profile.records > 0)
        .map(|sampled| compare(exact, sampled))
        .collect();
    let line = |name: &str, color: &str, is_dashed: bool, value: fn(&Comparison) -> f64| {
        let points = rows.iter().map(|row| {
            let interval = row.interval.unwrap_or(1) as f64;
            (interval.log2(), (100.0 * value(row)).max(0.001).log10())
        });
        Plot::Line(
            LinePlot::new()
                .with_data(points.collect::<Vec<_>>())
                .with_color(color)
                .with_stroke_width(2.4)
                .with_line_style(if is_dashed { LineStyle::Dashed } else { LineStyle::Solid })
                .with_legend(name.to_owned()),
        )
    };
    let plots = vec![
        line("by instruction, measured", ORANGE, false, |row| row.places.measured),
        line("by instruction, by chance", ORANGE, true, |row| row.places.expected),
        line("by data source and kind, measured", BLUE, false, |row| row.groups.measured),
        line("by data source and kind, by chance", BLUE, true, |row| row.groups.expected),
    ];
    let layout = Layout::auto_from_plots(&plots)
        .with_width(900.0)
        .with_height(520.0)
        .with_title(format!("Sampled distributions against the exact one: {trace}"))
        .with_title_size(20)
        .with_label_size(15)
        .with_x_label("operations between two samples")
        .with_y_label("distance from the exact distribution")
        .with_x_tick_step(2.0)
        .with_x_tick_format(ticks(|x| grouped(2f64.powf(x).round() as u64)))
        .with_y_tick_step(1.0)
        .with_y_tick_format(ticks(|y| format!("{} %", 10f64.powf(y))))
        .with_legend_width(270.0)
        .with_legend_position(LegendPosition::InsideBottomRight);
    let mut svg = SvgBackend.render_scene(&render_multiple(plots, layout));
    svg.push('\n');
    svg
}

fn ticks(name: fn(f64) -> String) -> TickFormat {
    TickFormat::Custom(std::sync::Arc::new(name))
}

fn open(width: usize, height: usize) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\">\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
    )
}

fn text(svg: &mut String, x: usize, y: usize, size: u32, anchor: &str, text: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"{anchor}\">{text}</text>"
    );
}
