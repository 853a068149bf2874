//! Drawings of a report as separate files: the map of the mesh, and who waits for whom in several
//! runs, each with its legend.

use std::fmt::Write;

use maud::html;

use crate::page::palette::{scale_style, svg_style};
use crate::page::{Matrix, Scale};
use crate::run_report::{CorePairCount, MeshTraffic, RunReport};

use super::{mesh_map, waits};

/// Distance of drawings from the edges and from one another, in pixels.
const GAP: usize = 16;
/// Height of a line of text with its distance to the next, in pixels.
const LINE: usize = 26;

/// Returns the map of the mesh, with the flits of all channels.
pub fn map_file(mesh: &MeshTraffic) -> String {
    let title = "Map of the mesh: flits of each link, look-ups of each home node";
    let (width, height) = mesh_map::size(mesh);
    let (width, height) = (width as usize + 2 * GAP, height as usize + 3 * GAP + 2 * LINE);
    let mut out = open(title, width, height);
    let links = mesh_map::link_scale(mesh, None);
    links.draw_legend(&mut out, (GAP, GAP), "Flits of a link");
    mesh_map::home_scale(mesh).draw_legend(&mut out, (GAP, GAP + LINE), "Look-ups of home nodes");
    let drawing = mesh_map::svg(mesh, title, &[None]);
    placed(&mut out, (GAP, 2 * GAP + 2 * LINE), &drawing);
    out + "</svg>\n"
}

/// Returns the lines that came from another core in several runs, side by side and in one scale.
/// Each run has a name.
pub fn waits_file(runs: &[(&str, &RunReport)]) -> String {
    let title = "Lines that a core (row) got from another core (column)";
    let matrices: Vec<Matrix> = runs
        .iter()
        .map(|(name, report)| {
            let pairs = report.mesh.as_ref().map_or(&[][..], |mesh| &mesh.core_pairs);
            waits::matrix_of(name, waits::core_count(report), pairs, |pair: &CorePairCount| {
                pair.lines
            })
        })
        .collect();
    let cells = matrices.iter().flat_map(|matrix| &matrix.cells);
    let scale = Scale::new(cells.map(|cell| cell.count), crate::page::palette::COLD);
    let sizes: Vec<(usize, usize)> = matrices.iter().map(Matrix::size).collect();
    let width = sizes.iter().map(|(width, _)| width + GAP).sum::<usize>() + GAP;
    let highest = sizes.iter().map(|(_, height)| *height).max().unwrap_or(0);
    let mut out = open(title, width, highest + 3 * GAP + 2 * LINE);
    scale.draw_legend(&mut out, (GAP, GAP), "Lines");
    let mut left = GAP;
    for ((matrix, (width, _)), (name, _)) in matrices.iter().zip(sizes).zip(runs) {
        let y = 2 * GAP + LINE;
        let _ = write!(
            out,
            "<text x=\"{left}\" y=\"{}\" font-size=\"14\" font-weight=\"bold\" class=\"fill-ink\">{}</text>",
            y + 6,
            html! { (name) }.into_string()
        );
        placed(&mut out, (left, y + LINE - 6), &matrix.svg(&scale));
        left += width + GAP;
    }
    out + "</svg>\n"
}

/// Begins a file: size, name, colors and paper.
fn open(title: &str, width: usize, height: usize) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{title}\" width=\"{width}\" \
         height=\"{height}\" viewBox=\"0 0 {width} {height}\">{}{}<rect class=\"fill-paper\" width=\"{width}\" \
         height=\"{height}\"/>",
        svg_style(),
        scale_style()
    )
}

/// Adds a drawing at a place.
fn placed(out: &mut String, (x, y): (usize, usize), drawing: &str) {
    let _ = write!(out, "<g transform=\"translate({x} {y})\">{drawing}</g>");
}
