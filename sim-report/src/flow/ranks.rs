//! Layers of a layered drawing: the rank of each node, and its position in the layer so that few
//! edges cross.

use super::layout::Wire;

/// Node of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Box with this number.
    Box(usize),
    /// Lane of an edge that passes; the first lane of an edge has its label.
    Lane { wire: usize, has_label: bool },
}

/// Nodes of the drawing in layers: boxes in the even ones, labels in the odd ones.
#[derive(Debug)]
pub(super) struct Ranks {
    /// Number of boxes, which come first among the places.
    pub(super) boxes: usize,
    pub(super) places: Vec<Place>,
    pub(super) rank_of: Vec<usize>,
    /// Members of each layer from left to right.
    pub(super) layers: Vec<Vec<usize>>,
    /// Nodes joined to each node in the layer above.
    pub(super) above: Vec<Vec<usize>>,
    /// Nodes joined to each node in the layer below.
    pub(super) below: Vec<Vec<usize>>,
    /// Lanes of each wire from top to bottom; at least one.
    pub(super) lanes: Vec<Vec<usize>>,
}

/// Rounds of sweeps and swaps that reduce crossings.
const ROUNDS: usize = 24;

impl Ranks {
    pub(super) fn new(boxes: usize, wires: &[Wire]) -> Ranks {
        let rank_of = ranks_of_boxes(boxes, wires);
        let mut ranks = Ranks {
            boxes,
            places: (0..boxes).map(Place::Box).collect(),
            layers: vec![Vec::new(); rank_of.iter().max().map_or(0, |last| last + 1)],
            rank_of,
            above: vec![Vec::new(); boxes],
            below: vec![Vec::new(); boxes],
            lanes: Vec::new(),
        };
        for (number, wire) in wires.iter().enumerate() {
            ranks.lay(number, wire);
        }
        for i in 0..ranks.places.len() {
            ranks.layers[ranks.rank_of[i]].push(i);
        }
        ranks.untangle();
        ranks
    }

    /// Adds the lanes of a wire through the layers between its boxes.
    fn lay(&mut self, number: usize, wire: &Wire) {
        let mut lanes = Vec::new();
        let mut last = wire.from;
        for rank in self.rank_of[wire.from] + 1..self.rank_of[wire.to] {
            let lane = self.places.len();
            self.places.push(Place::Lane { wire: number, has_label: lanes.is_empty() });
            self.rank_of.push(rank);
            self.above.push(vec![last]);
            self.below.push(Vec::new());
            self.below[last].push(lane);
            lanes.push(lane);
            last = lane;
        }
        self.below[last].push(wire.to);
        self.above[wire.to].push(last);
        self.lanes.push(lanes);
    }

    /// Orders the layers and keeps the best order found.
    fn untangle(&mut self) {
        let mut best = (self.crossings(), self.layers.clone());
        for round in 0..ROUNDS {
            let count = self.layers.len();
            for step in 0..count {
                let rank = if round % 2 == 0 { step } else { count - 1 - step };
                self.order_by_neighbors(rank, round % 2 == 0);
            }
            self.swap_neighbors();
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.layers.clone());
            }
        }
        self.layers = best.1;
    }

    fn order_by_neighbors(&mut self, rank: usize, from_above: bool) {
        let place = self.place_in_layer();
        let mean = |i: usize| {
            let joined = if from_above { &self.above[i] } else { &self.below[i] };
            match joined.len() {
                0 => place[i] as f64,
                n => joined.iter().map(|end| place[*end] as f64).sum::<f64>() / n as f64,
            }
        };
        let mut layer = self.layers[rank].clone();
        layer.sort_by(|a, b| mean(*a).total_cmp(&mean(*b)));
        self.layers[rank] = layer;
    }

    /// Swaps neighbors of a layer while that reduces crossings.
    fn swap_neighbors(&mut self) {
        for rank in 0..self.layers.len() {
            for k in 1..self.layers[rank].len() {
                let before = self.crossings();
                self.layers[rank].swap(k - 1, k);
                if self.crossings() >= before {
                    self.layers[rank].swap(k - 1, k);
                }
            }
        }
    }

    fn place_in_layer(&self) -> Vec<usize> {
        let mut place = vec![0; self.places.len()];
        for layer in &self.layers {
            for (k, i) in layer.iter().enumerate() {
                place[*i] = k;
            }
        }
        place
    }

    /// Returns the number of pairs of edges between two layers that cross.
    fn crossings(&self) -> usize {
        let place = self.place_in_layer();
        let between = |layer: &Vec<usize>| {
            let joined =
                |i: &usize| self.below[*i].iter().map(|end| place[*end]).collect::<Vec<_>>();
            let ends: Vec<Vec<usize>> = layer.iter().map(joined).collect();
            let mut count = 0;
            for (k, left) in ends.iter().enumerate() {
                for right in &ends[k + 1..] {
                    let over = |a: &usize| right.iter().filter(|b| *b < a).count();
                    count += left.iter().map(over).sum::<usize>();
                }
            }
            count
        };
        self.layers.iter().map(between).sum()
    }
}

/// Returns even ranks: each box is below every box that leads to it, and an entry is as low as
/// possible.
fn ranks_of_boxes(boxes: usize, wires: &[Wire]) -> Vec<usize> {
    let mut rank = vec![0; boxes];
    // One round for each box is enough for every graph without cycles.
    for _ in 0..boxes {
        for wire in wires {
            rank[wire.to] = rank[wire.to].max(rank[wire.from] + 2);
        }
    }
    for entry in (0..boxes).filter(|number| wires.iter().all(|wire| wire.to != *number)) {
        let next = wires.iter().filter(|wire| wire.from == entry).map(|wire| rank[wire.to]).min();
        rank[entry] = next.map_or(0, |next| next - 2);
    }
    rank
}
