//! Tests of the figures of every flow: no overlap, nothing cut off, nothing missing.

use sim_core::flow::{Flow, FlowCounts, FlowEdge, FlowGraph};
use sim_core::{EventSink, Notice};

use super::layout::Rect;
use super::svg::Drawing;
use super::{Chart, svg};

/// Counts with a high count of every edge, so that every number is long.
fn busy() -> FlowCounts {
    let mut counts = FlowCounts::default();
    let graphs = Flow::ALL.map(FlowGraph::new);
    for path in graphs.iter().flat_map(FlowGraph::paths) {
        counts.add_path(&path, 123_456_789_012);
    }
    counts
}

/// Counts with one edge taken.
fn sparse() -> FlowCounts {
    let mut counts = FlowCounts::default();
    counts.notify(Notice::Edge(FlowEdge::LoadTlbHit));
    counts
}

fn charts() -> Vec<Chart> {
    let (busy, sparse) = (busy(), sparse());
    let all = [None, Some(&busy), Some(&sparse)];
    Flow::ALL
        .into_iter()
        .map(FlowGraph::new)
        .flat_map(|graph| all.map(|counts| Chart::new(&graph, counts)))
        .collect()
}

#[test]
fn boxes_and_labels_never_overlap() {
    for chart in charts() {
        let layout = Drawing::new(&chart, false).layout;
        let labels = layout.routes.iter().map(|route| route.label);
        let all: Vec<Rect> = layout.boxes.iter().copied().chain(labels).collect();
        for (i, one) in all.iter().enumerate() {
            assert!(one.left >= -0.01 && one.right() <= layout.size.width + 0.01, "{one:?}");
            assert!(one.top >= 0.0 && one.bottom() <= layout.size.height + 0.01, "{one:?}");
            for other in &all[i + 1..] {
                assert!(!one.overlaps(other), "{}: {one:?} {other:?}", chart.heading());
            }
        }
    }
}

/// Checks points along each line, curves included: only its ends are in a box, and none is in the
/// label of another edge.
#[test]
fn lines_avoid_boxes_and_labels() {
    for chart in charts() {
        let layout = Drawing::new(&chart, false).layout;
        for (i, route) in layout.routes.iter().enumerate() {
            let (first, last) = (route.points[0], route.points[route.points.len() - 1]);
            let inner = route.points[1..route.points.len() - 1].chunks(2);
            for pass in inner {
                let ((x, top), (_, bottom)) = (pass[0], pass[1]);
                let lane = Rect {
                    left: x - 0.5,
                    top,
                    size: super::layout::Size { width: 1.0, height: bottom - top },
                };
                assert!(
                    !layout.boxes.iter().any(|part| part.overlaps(&lane)),
                    "{}",
                    chart.heading()
                );
                let mut labels = layout.routes.iter().enumerate().filter(|(k, _)| *k != i);
                assert!(
                    !labels.any(|(_, other)| other.label.overlaps(&lane)),
                    "{}",
                    chart.heading()
                );
            }
            let (from, to) = (chart.edges[i].from, chart.edges[i].to);
            let at = |x: f64, part: &Rect| (part.left..=part.right()).contains(&x);
            assert!(at(first.0, &layout.boxes[from]) && at(last.0, &layout.boxes[to]));
            assert!(first.1 == layout.boxes[from].bottom() && last.1 == layout.boxes[to].top);
        }
    }
}

#[test]
fn a_figure_is_self_contained_and_one_for_a_page_links_its_events() {
    for chart in charts() {
        let text = svg::single(&chart);
        let opened = text.matches("<g ").count();
        assert_eq!(opened, text.matches("</g>").count(), "{text}");
        for outside in ["http://", "https://", "var(", "<script", "url(", "<a "] {
            let found = text.matches(outside).count();
            assert_eq!(found, usize::from(outside == "http://"), "{outside} except the name space");
        }
        let page = svg::linked(&chart);
        let visited = chart.boxes.iter().filter(|part| part.visits != Some(0));
        for event in visited.flat_map(|part| part.events) {
            let name = event.mnemonic();
            assert!(page.contains(&format!("<a href=\"#event-{name}\">")), "{name}");
            assert!(text.contains(&format!(">{name}</text>")), "{name}");
        }
    }
}
