//! Traffic on the mesh: a map of crosspoints, links and home nodes, and its numbers as tables.

use maud::{Markup, html};
use sim_core::chi::Channel;

use crate::page::{Cell, Table, drawing};
use crate::run_report::{MeshLink, MeshTraffic};

use super::mesh_map::{CHOICES, choice_name, flits, home_scale, link_scale, place, svg};
use super::parts::left_out;

/// Returns the map and the tables.
pub(super) fn body(mesh: &MeshTraffic) -> Markup {
    let title = "Map of the mesh";
    let idle = mesh.links.iter().filter(|link| link.flits.all() == 0).count() as u64;
    html! {
        @if let Some(busiest) = busiest(mesh) { p { (busiest) " " (limit(mesh)) } }
        figure.traffic-map #traffic-map {
            figcaption {
                strong #traffic-map-title { (title) }
                ": a box is a crosspoint with its cores (C), home nodes with their slice of the system level cache (H, with \
                 their look-ups), memory controllers (M), and, at one of them, the home node of devices (D), the DVM node, \
                 the gateway to another chip (GW) and the I/O agent (IO). An arrow is a link; it is wider and \
                 stronger in color the more flits passed. +2 are two more: the text for the pointer has all names."
            }
            (choices())
            @for choice in CHOICES {
                div class={ "channel on-" (choice_name(choice)) } {
                    (link_scale(mesh, choice).legend("Flits of a link"))
                }
            }
            (home_scale(mesh).legend("Look-ups of home nodes"))
            (drawing("traffic-map-title", &svg(mesh, title, &CHOICES)))
        }
        h3 { "Links" }
        (links(mesh).html())
        (left_out(idle, "links without a flit"))
        h3 { "Home nodes" }
        (homes(mesh).html())
        h3 { "Agents" }
        (agents(mesh).html())
    }
}

/// Returns the switch of channels, which works through the style sheet alone.
fn choices() -> Markup {
    html! {
        fieldset.choice {
            legend { "Flits of" }
            @for choice in CHOICES {
                @let id = format!("channel-{}", choice_name(choice));
                label { input type="radio" name="channel" id=(id) checked[choice.is_none()]; " " (words(choice)) }
            }
        }
    }
}

fn words(choice: Option<Channel>) -> &'static str {
    match choice {
        None => "all channels",
        Some(Channel::Req) => "requests (REQ)",
        Some(Channel::Rsp) => "responses (RSP)",
        Some(Channel::Snp) => "snoops (SNP)",
        Some(Channel::Dat) => "data (DAT)",
    }
}

/// Describes the busiest link in a sentence; `None` if no flit passed any.
fn busiest(mesh: &MeshTraffic) -> Option<String> {
    let of = |link: &MeshLink, channel: Channel| flits(link, Some(channel));
    let each =
        |link| Channel::ALL.into_iter().map(move |channel| (of(link, channel), link, channel));
    let (most, link, channel) = mesh.links.iter().flat_map(each).max_by_key(|(most, ..)| *most)?;
    let rate = most as f64 / mesh.cycles.max(1) as f64;
    let (from, to) = (place(link.column, link.row), place(link.end().0, link.end().1));
    (most > 0).then(|| {
        format!(
            "The busiest link carried {}, from {from} to {to}: {rate:.3} flits per cycle of the mesh.",
            words(Some(channel))
        )
    })
}

/// Says whether flits can share a cycle of a link.
fn limit(mesh: &MeshTraffic) -> &'static str {
    match mesh.limits_links() {
        true => "A link carries one flit of each channel in a cycle; others wait.",
        false => "Links have no limit in this run: flits of one channel can share a cycle.",
    }
}

fn links(mesh: &MeshTraffic) -> Table {
    let caption =
        "Flits on each link, by channel; of its busiest channel also for each cycle of the mesh";
    let table = Table::new("mesh-links", caption).text("From").text("To").number("REQ");
    let table =
        table.number("RSP").number("SNP").number("DAT").number("All").number("Flits per cycle");
    let mut table = if mesh.limits_links() { table.number("Cycles of waits") } else { table };
    for link in mesh.links.iter().filter(|link| link.flits.all() > 0) {
        let (column, row) = link.end();
        let channels = Channel::ALL.map(|channel| link.flits.of(channel));
        let most = channels.into_iter().max().unwrap_or(0);
        let counts = channels.map(Cell::Count);
        let waits = link.waits.map(|waits| Cell::Count(waits.all()));
        let named = [place(link.column, link.row).into(), place(column, row).into()];
        let rate = most as f64 / mesh.cycles as f64;
        let sums = [link.flits.all().into(), Cell::number(Some(rate), 3)];
        table.push(named.into_iter().chain(counts).chain(sums).chain(waits));
    }
    table.filter().tall()
}

fn homes(mesh: &MeshTraffic) -> Table {
    let caption = "Requests at each home node: look-ups in its slice of the system level cache and in the snoop filter";
    let table = Table::new("mesh-homes", caption).text("Home node").text("Crosspoint");
    let table = table.number("Look-ups").number("Misses").number("Miss ratio");
    let mut table = table.number("Filter hits").number("Snoops").number("To memory");
    for home in &mesh.home_nodes {
        table.push([
            format!("H{}", home.number).into(),
            place(home.column, home.row).into(),
            home.look_ups.into(),
            home.misses.into(),
            Cell::share(home.misses, home.look_ups),
            home.filter_hits.into(),
            home.snoops.into(),
            home.memory_requests.into(),
        ]);
    }
    table.filter().tall()
}

fn agents(mesh: &MeshTraffic) -> Table {
    let caption = "Flits of each agent, all channels";
    let table = Table::new("mesh-agents", caption).text("Agent").text("On the map");
    let mut table = table.text("Crosspoint").number("Sent").number("Received");
    for agent in &mesh.agents {
        table.push([
            agent.name.as_str().into(),
            agent.label.as_str().into(),
            place(agent.column, agent.row).into(),
            agent.flits_sent.into(),
            agent.flits_received.into(),
        ]);
    }
    table.filter().tall()
}
