//! Map of the mesh: crosspoints with their agents, links as arrows that are wider and darker the
//! more flits passed, home nodes colored by their look-ups.

use std::collections::BTreeMap;
use std::fmt::Write;

use sim_core::chi::Channel;

use crate::page::Scale;
use crate::page::palette::{COLD, WARM, on_step};
use crate::page::scale::compact;
use crate::perf_stat::grouped;
use crate::run_report::{MeshAgent, MeshLink, MeshTraffic};
use crate::xml::escaped;

/// Distance of two crosspoints, in pixels.
const PITCH: (u32, u32) = (136, 132);
/// Width and height of a crosspoint, in pixels.
const FRAME: (u32, u32) = (94, 96);
/// Height of the colored part of a crosspoint: home nodes and their look-ups.
const HOMES: u32 = 37;
/// Distance of two lines of text in a crosspoint, in pixels.
const LINE: u32 = 16;
/// Widest line of text in a crosspoint, in pixels.
const MOST_WIDE: u32 = FRAME.0 - 10;
/// Distance of the first crosspoint from the edges, in pixels.
const MARGIN: u32 = 6;
/// Distance of the two links between crosspoints from the line between their centers, in pixels.
const LANE: i64 = 9;
/// Half the widths of links, by step, in pixels.
const WIDTHS: [f64; 5] = [1.0, 1.75, 2.5, 3.25, 4.0];
/// First letters of the short names of numbered agents: cores, home nodes, memory controllers.
const CORE: char = 'C';
const HOME: char = 'H';
const MEMORY: char = 'M';
const KINDS: [char; 3] = [CORE, HOME, MEMORY];

/// Channels of a map: one, or all together.
pub(super) const CHOICES: [Option<Channel>; 5] =
    [None, Some(Channel::Req), Some(Channel::Rsp), Some(Channel::Snp), Some(Channel::Dat)];

/// Returns the name of a choice in ids and classes.
pub(super) fn choice_name(choice: Option<Channel>) -> &'static str {
    choice.map_or("all", Channel::name)
}

/// Returns the flits of a link on a channel, or on all.
pub(super) fn flits(link: &MeshLink, choice: Option<Channel>) -> u64 {
    choice.map_or(link.flits.all(), |channel| link.flits.of(channel))
}

/// Returns the scale of the links.
pub(super) fn link_scale(mesh: &MeshTraffic, choice: Option<Channel>) -> Scale {
    Scale::new(mesh.links.iter().map(|link| flits(link, choice)), COLD)
}

/// Returns the scale of the home nodes: their look-ups, summed by crosspoint.
pub(super) fn home_scale(mesh: &MeshTraffic) -> Scale {
    Scale::new(look_ups(mesh).into_values(), WARM)
}

/// Returns the look-ups of each crosspoint with home nodes, by column and row.
fn look_ups(mesh: &MeshTraffic) -> BTreeMap<(u32, u32), u64> {
    let mut all = BTreeMap::new();
    for home in &mesh.home_nodes {
        *all.entry((home.column, home.row)).or_default() += home.look_ups;
    }
    all
}

/// Returns the drawing. Each of the choices of channels has its links in a group of its own, of
/// which the style of the page shows one.
pub(super) fn svg(mesh: &MeshTraffic, title: &str, choices: &[Option<Channel>]) -> String {
    let (width, height) = size(mesh);
    let title = escaped(title);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{title}\" width=\"{width}\" \
         height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-size=\"12\">"
    );
    lines(&mut out, mesh);
    for choice in choices.iter().copied() {
        let name = choice_name(choice);
        let _ = write!(out, "<g class=\"channel on-{name} stroke-line\" stroke-width=\".6\">");
        let scale = link_scale(mesh, choice);
        for link in &mesh.links {
            arrow(&mut out, link, flits(link, choice), &Line::of(link, mesh), &scale);
        }
        out.push_str("</g>");
    }
    let (homes, scale) = (look_ups(mesh), home_scale(mesh));
    for row in 0..mesh.rows {
        for column in 0..mesh.columns {
            let home = homes.get(&(column, row)).map(|count| (*count, &scale));
            crosspoint(&mut out, mesh, (column, row), home);
        }
    }
    out + "</svg>"
}

/// Returns width and height of the drawing, in pixels.
pub(super) fn size(mesh: &MeshTraffic) -> (u32, u32) {
    let size = |count: u32, pitch, frame| count.saturating_sub(1) * pitch + frame + 2 * MARGIN;
    (size(mesh.columns, PITCH.0, FRAME.0), size(mesh.rows, PITCH.1, FRAME.1))
}

/// Returns the upper left corner of a crosspoint. Rows are counted from the bottom.
fn corner(mesh: &MeshTraffic, (column, row): (u32, u32)) -> (u32, u32) {
    (MARGIN + column * PITCH.0, MARGIN + (mesh.rows - 1 - row) * PITCH.1)
}

/// Line of a link between the edges of two crosspoints.
struct Line {
    start: (i64, i64),
    /// Angle of its direction to the right, in degrees.
    turn: u32,
    length: u32,
}

impl Line {
    fn of(link: &MeshLink, mesh: &MeshTraffic) -> Line {
        let (x, y) = corner(mesh, (link.column, link.row));
        let (left, right) = (i64::from(x), i64::from(x + FRAME.0));
        let (top, bottom) = (i64::from(y), i64::from(y + FRAME.1));
        let (middle, level) = (i64::midpoint(left, right), i64::midpoint(top, bottom));
        let (across, along) = (PITCH.0 - FRAME.0, PITCH.1 - FRAME.1);
        let (start, turn, length) = match link.side.as_str() {
            "east" => ((right, level - LANE), 0, across),
            "west" => ((left, level + LANE), 180, across),
            "north" => ((middle - LANE, top), 270, along),
            _ => ((middle + LANE, bottom), 90, along),
        };
        Line { start, turn, length }
    }
}

/// Draws all links as thin lines.
fn lines(out: &mut String, mesh: &MeshTraffic) {
    out.push_str("<path class=\"stroke-grid\" d=\"");
    for link in &mesh.links {
        let Line { start: (x, y), turn, length } = Line::of(link, mesh);
        let length = i64::from(length);
        let _ = match turn {
            0 => write!(out, "M{x} {y}h{length}"),
            180 => write!(out, "M{x} {y}h-{length}"),
            270 => write!(out, "M{x} {y}v-{length}"),
            _ => write!(out, "M{x} {y}v{length}"),
        };
    }
    out.push_str("\"/>");
}

/// Draws the flits of a link as an arrow; nothing if there are none.
fn arrow(out: &mut String, link: &MeshLink, count: u64, line: &Line, scale: &Scale) {
    let Some(step) = scale.step(count) else { return };
    let Line { start: (x, y), turn, length } = line;
    let (half, neck, end) = (WIDTHS[step], length - 10, length - 1);
    let wide = half + 3.0;
    let _ = write!(
        out,
        "<path transform=\"translate({x} {y})rotate({turn})\" class=\"fill-{}\" \
         d=\"M1-{half}H{neck}V-{wide}L{end} 0 {neck} {wide}V{half}H1Z\"><title>{} flits from {} to {}</title></path>",
        scale.color(step).name,
        grouped(count),
        place(link.column, link.row),
        place(link.end().0, link.end().1),
    );
}

/// Returns the name of a crosspoint: column and row.
pub(super) fn place(column: u32, row: u32) -> String {
    format!("({column}, {row})")
}

/// Draws a crosspoint with its agents. `home` are the look-ups of its home nodes, with their scale.
fn crosspoint(out: &mut String, mesh: &MeshTraffic, at: (u32, u32), home: Option<(u64, &Scale)>) {
    let (x, y) = corner(mesh, at);
    let here = |agent: &&MeshAgent| (agent.column, agent.row) == at;
    let agents: Vec<&MeshAgent> = mesh.agents.iter().filter(here).collect();
    let _ = write!(
        out,
        "<g><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"5\" \
         class=\"fill-panel stroke-line\"/>",
        escaped(&described(at, &agents)),
        FRAME.0,
        FRAME.1
    );
    let middle = x + FRAME.0 / 2;
    let labels: Vec<&str> = agents.iter().map(|agent| agent.label.as_str()).collect();
    text(out, (middle, y + 14), "ink", &fitting(&of_kind(&labels, CORE)));
    if let Some((count, scale)) = home {
        let step = scale.step(count);
        let _ = write!(
            out,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{HOMES}\" rx=\"3\" class=\"fill-{} stroke-line\" \
             stroke-width=\".6\"/>",
            x + 5,
            y + 20,
            FRAME.0 - 10,
            step.map_or("paper", |step| scale.color(step).name)
        );
        let color = on_step(step.unwrap_or(0)).name;
        text(out, (middle, y + 34), color, &fitting(&of_kind(&labels, HOME)));
        text(out, (middle, y + 34 + LINE), color, &compact(count));
    }
    text(out, (middle, y + 72), "ink", &fitting(&of_kind(&labels, MEMORY)));
    let others: Vec<&str> = labels
        .iter()
        .copied()
        .filter(|label| !KINDS.iter().any(|kind| is_of(label, *kind)))
        .collect();
    text(out, (middle, y + 72 + LINE), "ink", &fitting(&others));
    out.push_str("</g>");
}

/// Returns whether a short name is that of a numbered agent of a kind, such as `C0`.
fn is_of(label: &str, kind: char) -> bool {
    label.strip_prefix(kind).is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
}

fn of_kind<'a>(labels: &[&'a str], kind: char) -> Vec<&'a str> {
    labels.iter().copied().filter(|label| is_of(label, kind)).collect()
}

/// Returns as many names as fit into a crosspoint, with the number of the others: `C0 C1 +2`.
fn fitting(names: &[&str]) -> String {
    let all = names.join(" ");
    if width(&all) <= MOST_WIDE {
        return all;
    }
    let some = |named: usize| format!("{} +{}", names[..named].join(" "), names.len() - named);
    let fits = |text: &String| width(text) <= MOST_WIDE;
    (1..names.len()).rev().map(some).find(fits).unwrap_or_else(|| format!("{}", names.len()))
}

/// Returns an upper limit of the width of a text, in pixels.
fn width(text: &str) -> u32 {
    let of = |letter: char| match letter {
        ' ' | 'I' => 4,
        '0'..='9' => 7,
        'M' | 'W' => 11,
        _ => 9,
    };
    text.chars().map(of).sum()
}

/// Writes a line of text; nothing if it is empty.
fn text(out: &mut String, (x, y): (u32, u32), color: &str, words: &str) {
    if words.is_empty() {
        return;
    }
    let _ = write!(
        out,
        "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\" class=\"fill-{color}\">{words}</text>"
    );
}

/// Describes a crosspoint: its place, and the flits of its agents.
fn described((column, row): (u32, u32), agents: &[&MeshAgent]) -> String {
    let mut text = format!("crosspoint {}", place(column, row));
    for agent in agents {
        let (sent, received) = (grouped(agent.flits_sent), grouped(agent.flits_received));
        let _ = write!(text, "\n{}: {sent} flits sent, {received} received", agent.name);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_report::{ChannelFlits, HomeNode};

    fn mesh() -> MeshTraffic {
        let agent = |label: &str, column| MeshAgent {
            name: format!("agent {label}"),
            label: label.into(),
            column,
            row: 0,
            flits_sent: 7,
            flits_received: 0,
        };
        let home = |number, look_ups| HomeNode {
            number,
            column: 1,
            row: 0,
            look_ups,
            misses: 0,
            filter_hits: 0,
            snoops: 0,
            memory_requests: 0,
        };
        let link = |column, side: &str, dat| MeshLink {
            column,
            row: 0,
            side: side.into(),
            flits: ChannelFlits { req: 2, dat, ..ChannelFlits::default() },
            waits: None,
        };
        MeshTraffic {
            columns: 2,
            rows: 1,
            cycles: 100,
            agents: ["C0", "C1", "C2"]
                .map(|name| agent(name, 0))
                .into_iter()
                .chain([agent("H0", 1)])
                .collect(),
            home_nodes: vec![home(0, 1_000), home(1, 500)],
            links: vec![link(0, "east", 0), link(1, "west", 40)],
            core_pairs: Vec::new(),
            line_pairs_are_cut: false,
        }
    }

    #[test]
    fn links_of_each_choice_have_their_flits_and_idle_ones_no_arrow() {
        let svg = svg(&mesh(), "Mesh", &CHOICES);
        let of = |choice: &str| {
            let start = svg.find(&format!("on-{choice} ")).expect("its group");
            svg[start..].split("</g>").next().expect("its end").to_owned()
        };
        let (all, data) = (of("all"), of("dat"));
        assert!(all.contains("2 flits from (0, 0) to (1, 0)"), "{all}");
        assert!(all.contains("42 flits from (1, 0) to (0, 0)"), "{all}");
        assert!(data.contains("40 flits from (1, 0) to (0, 0)"), "{data}");
        assert_eq!((all.matches("<title>").count(), data.matches("<title>").count()), (2, 1));
        assert!(!of("snp").contains("<title>"), "no snoop passed");
    }

    #[test]
    fn a_crosspoint_names_some_cores_and_sums_its_home_nodes() {
        let svg = svg(&mesh(), "Mesh", &CHOICES);
        assert!(svg.contains(">C0 C1 C2<") && svg.contains(">H0<"), "{svg}");
        assert!(svg.contains(">1.5k<"), "{svg}");
        assert!(svg.contains("agent C2: 7 flits sent, 0 received"), "{svg}");
        assert!(svg.contains("fill-warm-5"), "{svg}");
    }

    /// A mesh of one crosspoint, which has all agents of a large machine.
    #[test]
    fn a_line_of_a_crosspoint_is_as_wide_as_its_frame_at_most() {
        let numbered = |kind: char, count: u32| (0..count).map(move |n| format!("{kind}{n}"));
        let first = |n: u32, kind| numbered(kind, 128).skip(n as usize);
        for from in [0, 9, 99, 126] {
            let others = ["D", "DVM", "GW", "IO"].map(String::from);
            let all = first(from, CORE).chain(first(from, HOME)).chain(numbered(MEMORY, 16));
            let agent = |label: String| MeshAgent { label, ..mesh().agents[0].clone() };
            let small = MeshTraffic {
                columns: 1,
                agents: all.chain(others).map(agent).collect(),
                home_nodes: vec![HomeNode { column: 0, ..mesh().home_nodes[0].clone() }],
                links: Vec::new(),
                ..mesh()
            };
            let svg = svg(&small, "Mesh", &CHOICES);
            let texts: Vec<&str> = svg
                .split("<text")
                .skip(1)
                .filter_map(|text| text.split('>').nth(1)?.split('<').next())
                .collect();
            assert_eq!(texts.len(), 5, "cores, home nodes, look-ups, memory, others: {texts:?}");
            assert!(texts.iter().all(|text| width(text) <= MOST_WIDE), "{texts:?}");
            assert!(texts[4] == "D DVM GW IO" && texts[3].starts_with("M0 M1 "), "{texts:?}");
            let (width, height) = size(&small);
            assert!(width >= FRAME.0 && height >= FRAME.1);
        }
    }
}
