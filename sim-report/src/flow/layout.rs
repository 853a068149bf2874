//! Layered layout of the boxes and labels of a directed graph without cycles, from top to bottom.
//!
//! The method is that of layered drawings: ranks by the longest path, few crossings found by
//! sweeps, then positions by least squares. A label is a node of its own on its edge, in a layer
//! between two layers of boxes. A long edge has a lane in every layer that it crosses. Therefore
//! nothing can overlap.

use super::ranks::{Place, Ranks};

/// Space between two neighbors of a layer, in pixels.
const BESIDE: f64 = 18.0;
/// Width of the lane of an edge that passes a layer, in pixels.
const LANE: f64 = 10.0;
/// Smallest height between two layers, in which edges bend, in pixels.
const BEND: f64 = 22.0;
/// Largest height between two layers, in pixels.
const BEND_MOST: f64 = 60.0;
/// Height between two layers per pixel that an edge moves sideways.
const SLOPE: f64 = 0.11;
/// Sweeps over the positions, more than they need to converge.
const SWEEPS: usize = 200;

/// Width and height of an element, in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Size {
    pub(super) width: f64,
    pub(super) height: f64,
}

/// Rectangle in the drawing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rect {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) size: Size,
}

impl Rect {
    pub(super) fn middle(&self) -> f64 {
        self.left + self.size.width / 2.0
    }

    pub(super) fn bottom(&self) -> f64 {
        self.top + self.size.height
    }

    pub(super) fn right(&self) -> f64 {
        self.left + self.size.width
    }

    /// Returns whether both rectangles have a point in common.
    #[cfg(test)]
    pub(super) fn overlaps(&self, other: &Rect) -> bool {
        self.left < other.right()
            && other.left < self.right()
            && self.top < other.bottom()
            && other.top < self.bottom()
    }
}

/// Edge to lay out: numbers of its boxes and the size of its label.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) label: Size,
}

/// Route of an edge.
#[derive(Clone, Debug)]
pub(super) struct Route {
    /// Start at its box, the upper and lower end of each lane and label that it passes, and its
    /// end.
    pub(super) points: Vec<(f64, f64)>,
    /// Rectangle of its label.
    pub(super) label: Rect,
}

/// Finished drawing.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) boxes: Vec<Rect>,
    pub(super) routes: Vec<Route>,
    pub(super) size: Size,
}

/// Lays out boxes and wires. Wires must not form a cycle.
pub(super) fn place(boxes: &[Size], wires: &[Wire]) -> Layout {
    let ranks = Ranks::new(boxes.len(), wires);
    let size_of = |place: Place| match place {
        Place::Box(number) => boxes[number],
        Place::Lane { wire, has_label: true } => {
            Size { width: wires[wire].label.width.max(LANE), height: wires[wire].label.height }
        }
        Place::Lane { .. } => Size { width: LANE, height: 0.0 },
    };
    let sizes: Vec<Size> = ranks.places.iter().map(|place| size_of(*place)).collect();
    let middles = middles(&ranks, &sizes);
    let tops = tops(&ranks, &sizes, &middles);
    let rects: Vec<Rect> = (0..sizes.len())
        .map(|i| {
            let (top, height) = tops[ranks.rank_of[i]];
            let size = sizes[i];
            let top = top + (height - size.height) / 2.0;
            Rect { left: middles[i] - size.width / 2.0, top, size }
        })
        .collect();
    finish(&ranks, &rects, &tops, wires)
}

/// Returns top and height of each layer.
fn tops(ranks: &Ranks, sizes: &[Size], middles: &[f64]) -> Vec<(f64, f64)> {
    let aside = |i: &usize| {
        ranks.below[*i].iter().map(|end| (middles[*end] - middles[*i]).abs()).fold(0.0, f64::max)
    };
    let mut top = 0.0;
    let layer = |members: &Vec<usize>| {
        let height = members.iter().map(|i| sizes[*i].height).fold(0.0, f64::max);
        let farthest = members.iter().map(aside).fold(0.0, f64::max);
        let at = top;
        top += height + (farthest * SLOPE).clamp(BEND, BEND_MOST);
        (at, height)
    };
    ranks.layers.iter().map(layer).collect()
}

/// Returns the middle of every node, from left to right.
fn middles(ranks: &Ranks, sizes: &[Size]) -> Vec<f64> {
    let mut at = vec![0.0; sizes.len()];
    for layer in &ranks.layers {
        let mut left = 0.0;
        for i in layer {
            at[*i] = left + sizes[*i].width / 2.0;
            left += sizes[*i].width + BESIDE;
        }
    }
    for sweep in 0..SWEEPS {
        let order: Vec<usize> = match sweep % 2 {
            0 => (0..ranks.layers.len()).collect(),
            _ => (0..ranks.layers.len()).rev().collect(),
        };
        for layer in order.into_iter().map(|rank| &ranks.layers[rank]) {
            fit_layer(layer, ranks, sizes, &mut at);
        }
    }
    for lanes in ranks.lanes.iter().chain(&ranks.lanes) {
        straighten(lanes, ranks, sizes, &mut at);
    }
    let left = (0..at.len()).map(|i| at[i] - sizes[i].width / 2.0).fold(f64::MAX, f64::min);
    at.iter_mut().for_each(|x| *x -= left);
    at
}

/// Moves the nodes of a layer as close to their preferred positions as their widths allow. Nodes
/// that touch form a pool at the mean of their preferred positions.
fn fit_layer(layer: &[usize], ranks: &Ranks, sizes: &[Size], at: &mut [f64]) {
    // (sum of weighted positions, weight, members), with positions as if nodes had no width.
    let mut pools: Vec<(f64, f64, usize)> = Vec::new();
    let mut offset = 0.0;
    let mut offsets = Vec::with_capacity(layer.len());
    for (k, i) in layer.iter().enumerate() {
        if k > 0 {
            offset += (sizes[layer[k - 1]].width + sizes[*i].width) / 2.0 + BESIDE;
        }
        offsets.push(offset);
        let (preferred, weight) = preferred(*i, ranks, at);
        pools.push(((preferred - offset) * weight, weight, 1));
        while let [.., left, right] = pools[..] {
            if left.0 / left.1 <= right.0 / right.1 {
                break;
            }
            pools.truncate(pools.len() - 2);
            pools.push((left.0 + right.0, left.1 + right.1, left.2 + right.2));
        }
    }
    let mut members = layer.iter().zip(offsets);
    for (sum, weight, count) in pools {
        for (i, offset) in members.by_ref().take(count) {
            at[*i] = sum / weight + offset;
        }
    }
}

/// Straightens an edge: as many consecutive lanes as have room get the same horizontal position.
fn straighten(lanes: &[usize], ranks: &Ranks, sizes: &[Size], at: &mut [f64]) {
    let mut rest = lanes;
    while !rest.is_empty() {
        let mut room = (f64::MIN, f64::MAX);
        let narrowed = |room: &mut (f64, f64), lane: &usize| {
            let own = room_of(*lane, ranks, sizes, at);
            *room = (room.0.max(own.0), room.1.min(own.1));
            room.0 <= room.1
        };
        let fit = rest.iter().take_while(|lane| narrowed(&mut room, lane)).count().max(1);
        let (straight, more) = rest.split_at(fit);
        let room = straight.iter().fold((f64::MIN, f64::MAX), |room, lane| {
            let own = room_of(*lane, ranks, sizes, at);
            (room.0.max(own.0), room.1.min(own.1))
        });
        let mean = straight.iter().map(|lane| at[*lane]).sum::<f64>() / fit as f64;
        straight.iter().for_each(|lane| at[*lane] = mean.max(room.0).min(room.1));
        rest = more;
    }
}

/// Returns the range in which a lane can move between its neighbors.
fn room_of(lane: usize, ranks: &Ranks, sizes: &[Size], at: &[f64]) -> (f64, f64) {
    let layer = &ranks.layers[ranks.rank_of[lane]];
    let place = layer.iter().position(|other| *other == lane).unwrap_or(0);
    let apart = |other: usize| (sizes[other].width + sizes[lane].width) / 2.0 + BESIDE;
    let left = place.checked_sub(1).map(|left| at[layer[left]] + apart(layer[left]));
    let right = layer.get(place + 1).map(|right| at[*right] - apart(*right));
    // Rounding may leave no room: then the lane stays.
    (left.unwrap_or(f64::MIN).min(at[lane]), right.unwrap_or(f64::MAX).max(at[lane]))
}

/// Returns the preferred position of a node and its weight. Straight lanes weigh more than boxes.
fn preferred(i: usize, ranks: &Ranks, at: &[f64]) -> (f64, f64) {
    let straight = |a: usize, b: usize| match (ranks.places[a], ranks.places[b]) {
        (Place::Lane { .. }, Place::Lane { .. }) => 6.0,
        (Place::Box(_), Place::Box(_)) => 1.0,
        _ => 2.0,
    };
    let neighbors = ranks.above[i].iter().chain(&ranks.below[i]);
    let (mut sum, mut weight) = (at[i] * 0.01, 0.01);
    for other in neighbors {
        let pull = straight(i, *other);
        sum += at[*other] * pull;
        weight += pull;
    }
    (sum / weight, weight)
}

/// Returns boxes and routes by the numbers of the caller.
fn finish(ranks: &Ranks, rects: &[Rect], tops: &[(f64, f64)], wires: &[Wire]) -> Layout {
    let mut boxes = vec![Rect { left: 0.0, top: 0.0, size: Size::default() }; ranks.boxes];
    for (i, place) in ranks.places.iter().enumerate() {
        if let Place::Box(number) = place {
            boxes[*number] = rects[i];
        }
    }
    let routes = (0..wires.len()).map(|wire| route(wire, ranks, rects, tops, wires)).collect();
    let right = rects.iter().map(Rect::right).fold(0.0, f64::max);
    let bottom = tops.last().map_or(0.0, |(top, height)| top + height);
    Layout { boxes, routes, size: Size { width: right, height: bottom } }
}

fn route(wire: usize, ranks: &Ranks, rects: &[Rect], tops: &[(f64, f64)], wires: &[Wire]) -> Route {
    let lanes = &ranks.lanes[wire];
    let (from, to) = (wires[wire].from, wires[wire].to);
    let mut points = vec![(port(from, lanes[0], &ranks.below[from], rects), rects[from].bottom())];
    let mut label = rects[lanes[0]];
    for lane in lanes {
        let (top, height) = tops[ranks.rank_of[*lane]];
        let x = rects[*lane].middle();
        points.push((x, top));
        points.push((x, top + height));
        if matches!(ranks.places[*lane], Place::Lane { has_label: true, .. }) {
            label = rects[*lane];
        }
    }
    let last = lanes[lanes.len() - 1];
    points.push((port(to, last, &ranks.above[to], rects), rects[to].top));
    Route { points, label }
}

/// Returns where an edge joins its box: the edges of a side share its width, from left to right.
fn port(node: usize, lane: usize, side: &[usize], rects: &[Rect]) -> f64 {
    let mut order: Vec<usize> = side.to_vec();
    order.sort_by(|a, b| rects[*a].middle().total_cmp(&rects[*b].middle()));
    let place = order.iter().position(|other| *other == lane).unwrap_or(0);
    let rect = &rects[node];
    let inner = rect.size.width * 0.8;
    rect.middle() - inner / 2.0 + inner * (place as f64 + 0.5) / order.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn graph() -> impl Strategy<Value = (Vec<Size>, Vec<Wire>)> {
        let size = (10.0..200.0, 10.0..80.0).prop_map(|(width, height)| Size { width, height });
        (2usize..9).prop_flat_map(move |n| {
            let wire = (0..n - 1, 1..n, size.clone());
            let wires = prop::collection::vec(wire, 0..14).prop_map(move |all| {
                let forward = |(from, step, label): (usize, usize, Size)| {
                    (from + step < n).then_some(Wire { from, to: from + step, label })
                };
                all.into_iter().filter_map(forward).collect::<Vec<Wire>>()
            });
            (prop::collection::vec(size.clone(), n..=n), wires)
        })
    }

    proptest! {
        #[test]
        fn no_two_nodes_overlap_and_edges_run_down((boxes, wires) in graph()) {
            let layout = place(&boxes, &wires);
            let labels = layout.routes.iter().map(|route| route.label);
            let all: Vec<Rect> = layout.boxes.iter().copied().chain(labels).collect();
            for (i, one) in all.iter().enumerate() {
                prop_assert!(one.left >= -0.01 && one.right() <= layout.size.width + 0.01);
                for other in &all[i + 1..] {
                    prop_assert!(!one.overlaps(other), "{one:?} {other:?}");
                }
            }
            for route in &layout.routes {
                prop_assert!(route.points.windows(2).all(|two| two[0].1 <= two[1].1));
            }
        }
    }
}
