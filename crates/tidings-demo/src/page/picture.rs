//! Pictures that stand for the museum's photographs, which are not free: fields of colour in a work's proportions.

use std::fmt::Write as _;

use crate::museum::Work;
use crate::random::Random;

/// Ground, two middle tones and an accent each; works of one artist share a palette.
const PALETTES: [[&str; 4]; 8] = [
    ["#e9e2d3", "#c9b38c", "#7d6a4f", "#a8322a"],
    ["#dfe5e6", "#9fb3b8", "#4f6a73", "#d08a3c"],
    ["#f0dfd2", "#d99d7f", "#8c4a3a", "#2f4b5c"],
    ["#e4e6d6", "#aab27e", "#5d6b3c", "#c25b3a"],
    ["#e6dfe8", "#b29cbb", "#665074", "#d9a441"],
    ["#efe6c8", "#e0b84c", "#8f6a1f", "#30586e"],
    ["#dde3ee", "#8fa3c8", "#3d527d", "#c9513f"],
    ["#ece7e1", "#b8aea1", "#5a534b", "#3f7f72"],
];

/// The side of a picture of unknown proportions.
const SQUARE: u16 = 540;

/// A work's picture as SVG, the same each time.
pub(crate) fn of(work: &Work) -> String {
    let (width, height) =
        work.picture_size().map_or((SQUARE, SQUARE), |size| (size.width, size.height));
    let mut artist = Random::new(u64::from(work.artists.first().copied().unwrap_or_default()));
    let mut random = Random::new(u64::from(work.id));
    let [ground, light, dark, accent] = PALETTES[artist.below(PALETTES.len())];
    let (w, h) = (usize::from(width), usize::from(height));
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}"><rect width="{w}" height="{h}" fill="{ground}"/>"#
    );
    let margin = w.min(h) / 9;
    let (inner_w, inner_h) = (w - 2 * margin, h - 2 * margin);
    for fill in [light, dark] {
        let (field_w, field_h) =
            (inner_w / 4 + random.below(inner_w / 2), inner_h / 4 + random.below(inner_h / 2));
        let x = margin + random.below(inner_w - field_w);
        let y = margin + random.below(inner_h - field_h);
        let _ = write!(
            svg,
            r#"<rect x="{x}" y="{y}" width="{field_w}" height="{field_h}" fill="{fill}" opacity="0.85"/>"#
        );
    }
    let r = w.min(h) / 14 + random.below(w.min(h) / 8);
    let cx = margin + r + random.below(inner_w.saturating_sub(2 * r));
    let cy = margin + r + random.below(inner_h.saturating_sub(2 * r));
    let _ = write!(svg, r#"<circle cx="{cx}" cy="{cy}" r="{r}" fill="{accent}"/></svg>"#);
    svg
}
