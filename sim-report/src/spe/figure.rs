//! Figures (SVG) of one record byte by byte, of operations in the sampling unit, and of the
//! accuracy over the interval.

use std::fmt::Write;

use kuva::plot::legend::LegendPosition;
use kuva::plot::{LinePlot, LineStyle};
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;
use sim_pmu::spe::decode::packets;
use sim_pmu::spe::{N2_RECORD_BYTES, Packet, SpeRecord, encode_n2};

use crate::drawing_file;
use crate::page::palette::{self, Color};
use crate::perf_stat::grouped;
use crate::xml::escaped;

use super::profile::Profile;
use super::truth::{Comparison, Funnel, Sampled, compare};

/// Bytes in a row of the figure of a record.
const ROW_BYTES: usize = 16;
/// Width of a byte, in pixels.
const CELL: usize = 52;
/// Height of a row, in pixels.
const ROW_HEIGHT: usize = 94;
/// Margin of the figure, in pixels.
const MARGIN: usize = 30;
/// Width of a capital letter of the text below the bytes, in pixels.
const LETTER: usize = 8;
/// Most lines of text below the bytes of a packet.
const LINES_MAX: usize = 3;

/// Draws the 64 bytes of a record as the N2 writes it: every packet with its bytes and content.
pub fn record(record: &SpeRecord) -> String {
    let bytes = encode_n2(record);
    let width = ROW_BYTES * CELL + 2 * MARGIN;
    let height = N2_RECORD_BYTES / ROW_BYTES * ROW_HEIGHT + 80;
    let title = "One sample record of the profiling extension: 64 bytes, packet by packet";
    let mut svg = open(width, height, title);
    text(&mut svg, (MARGIN, 28), 18, "start", title);
    for (start, packet) in packets(&bytes) {
        let Ok(packet) = packet else { break };
        let encoded = packet.encode();
        for (at, byte) in (start..).zip(encoded.iter()) {
            draw_byte(&mut svg, at, *byte, color(&packet), at == start);
        }
        if packet != Packet::Padding {
            let (x, y) = corner(start);
            let lines = broken(&packet.to_string(), room(start, encoded.len()) / LETTER);
            for (number, line) in lines.iter().enumerate() {
                text(&mut svg, (x + 2, y + 44 + 13 * number), 11, "start", line);
            }
        }
        if let Packet::Events { .. } = packet {
            let events = format!("EV in full:{}", packet.to_string().trim_start_matches("EV"));
            text(&mut svg, (MARGIN, height - 16), 12, "start", &events);
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

/// Breaks the content of a packet at blanks into lines of at most `letters`. What exceeds the lines
/// is left out, and a word that exceeds a line is cut; both are marked by an ellipsis.
fn broken(content: &str, letters: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in content.split(' ') {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= letters => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    let is_cut = lines.len() > LINES_MAX;
    lines.truncate(LINES_MAX);
    let last = lines.len().saturating_sub(1);
    for (number, line) in lines.iter_mut().enumerate() {
        if line.len() > letters || (is_cut && number == last) {
            line.truncate(letters.saturating_sub(1));
            line.push('…');
        }
    }
    lines
}

fn corner(at: usize) -> (usize, usize) {
    (MARGIN + at % ROW_BYTES * CELL, 50 + at / ROW_BYTES * ROW_HEIGHT)
}

fn draw_byte(svg: &mut String, at: usize, byte: u8, fill: Color, is_header: bool) {
    let (x, y) = corner(at);
    let weight = if is_header { "2" } else { "0.6" };
    let fill = fill.name;
    let _ = write!(
        svg,
        "<rect class=\"fill-{fill} stroke-ink\" x=\"{x}\" y=\"{y}\" width=\"{CELL}\" height=\"30\" \
         stroke-width=\"{weight}\"/>"
    );
    text(svg, (x + CELL / 2, y + 20), 14, "middle", &format!("{byte:02x}"));
    if at.is_multiple_of(ROW_BYTES / 2) {
        text(svg, (x, y - 4), 10, "start", &format!("byte {at}"));
    }
}

/// Returns the color of a packet's bytes, which have text in them.
fn color(packet: &Packet) -> Color {
    match packet {
        Packet::Address { .. } => palette::BLUE_TINT,
        Packet::Context { .. } => palette::PURPLE_TINT,
        Packet::Operation(_) => palette::YELLOW_TINT,
        Packet::Events { .. } => palette::ORANGE_TINT,
        Packet::Counter { .. } => palette::GREEN_TINT,
        Packet::DataSource { .. } => palette::RED_TINT,
        Packet::Timestamp(_) | Packet::End => palette::GRAY_TINT,
        Packet::Padding | Packet::Alignment { .. } | Packet::Unknown { .. } => palette::PAPER,
    }
}

/// Width of the axis of the figure of a funnel, in pixels.
const AXIS: f64 = 800.0;

/// Draws the steps of operations through the sampling unit: a bar for each step over a logarithmic
/// axis of operations, with the losses before it.
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
            [lost(funnel.abandoned, "on a wrong path"), lost(funnel.filtered, "filtered")].concat(),
        ),
        (
            "records in the buffer",
            funnel.written,
            lost(funnel.dropped, "without room in the buffer"),
        ),
    ];
    let decades = (funnel.population.max(10) as f64).log10().ceil();
    let place = |count: f64| 40.0 + AXIS * count.max(1.0).log10() / decades;
    let (width, bottom) = (900, 74 + 66 * steps.len());
    let title = "From operations to sample records";
    let mut svg = open(width, bottom + 52, title);
    text(&mut svg, (40, 28), 18, "start", title);
    for decade in 0..=decades as i32 {
        let x = place(10f64.powi(decade));
        let _ = writeln!(
            svg,
            "<line class=\"stroke-grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"46\" y2=\"{bottom}\"/>"
        );
        text(&mut svg, (x as usize, bottom + 18), 12, "middle", &grouped(10u64.pow(decade as u32)));
    }
    text(&mut svg, (width / 2, bottom + 40), 13, "middle", "operations, logarithmic axis");
    for (i, (name, count, lost)) in steps.iter().enumerate() {
        let (y, bar) = (76 + 66 * i, place(*count as f64) - 40.0);
        let _ = writeln!(
            svg,
            "<rect class=\"fill-blue\" x=\"40\" y=\"{y}\" width=\"{bar:.1}\" height=\"22\"/>"
        );
        let separator = if lost.is_empty() { "" } else { "; " };
        let label = format!("{name}: {}{separator}{}", grouped(*count), lost.trim_end());
        text(&mut svg, (40, y - 6), 14, "start", &label);
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
    let line = |name: &str, color: Color, is_dashed: bool, value: fn(&Comparison) -> f64| {
        let points = rows.iter().map(|row| {
            let interval = row.interval.unwrap_or(1) as f64;
            (interval.log2(), (100.0 * value(row)).max(0.001).log10())
        });
        Plot::Line(
            LinePlot::new()
                .with_data(points.collect::<Vec<_>>())
                .with_color(color.light)
                .with_stroke_width(2.4)
                .with_line_style(if is_dashed { LineStyle::Dashed } else { LineStyle::Solid })
                .with_legend(name.to_owned()),
        )
    };
    let plots = vec![
        line("by instruction, measured", palette::ORANGE, false, |row| row.places.measured),
        line("by instruction, by chance", palette::ORANGE, true, |row| row.places.expected),
        line("by data source and kind, measured", palette::BLUE, false, |row| row.groups.measured),
        line("by data source and kind, by chance", palette::BLUE, true, |row| row.groups.expected),
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
    drawing_file::plots(plots, layout, "Percent of distance of samples from the exact distribution")
}

fn ticks(name: fn(f64) -> String) -> TickFormat {
    TickFormat::Custom(std::sync::Arc::new(name))
}

fn open(width: usize, height: usize, title: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{title}\">\
         <title>{title}</title>{}<rect class=\"fill-paper\" width=\"100%\" height=\"100%\"/>",
        palette::svg_style()
    )
}

fn text(svg: &mut String, (x, y): (usize, usize), size: u32, anchor: &str, text: &str) {
    let _ = writeln!(
        svg,
        "<text class=\"fill-ink\" x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"{anchor}\">{}</text>",
        escaped(text)
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_broken_at_blanks_and_cut_where_it_exceeds_its_room() {
        assert_eq!(broken("OTHER INSN-OTHER", 12), ["OTHER", "INSN-OTHER"]);
        assert_eq!(broken("LD", 1), ["…"]);
        assert_eq!(broken("a b c d", 1), ["a", "b", "…"]);
        assert_eq!(broken("PC 0x4 el0", 20), ["PC 0x4 el0"]);
    }

    #[test]
    fn a_smaller_count_has_a_shorter_bar() {
        let steps = Funnel { population: 468_752, due: 458, written: 406, ..Funnel::default() };
        let svg = funnel(1024, &steps);
        let widths: Vec<f64> = svg
            .split("<rect class=\"fill-blue\"")
            .skip(1)
            .filter_map(|bar| bar.split("width=\"").nth(1)?.split('"').next()?.parse().ok())
            .collect();
        assert_eq!(widths.len(), 5);
        assert!(widths[1] < 0.6 * widths[0] && widths[4] < widths[1], "{widths:?}");
        assert!(svg.contains("operations, logarithmic axis"));
    }
}
