//! Plots of distributions: bars by range of values, a colour for each configuration.

use minijinja::{Value, context};

use super::px;
use crate::compare::Distribution;

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 38.0;
const BOTTOM: f64 = 28.0;
const TOP: f64 = 8.0;

/// The ranges of a plot: where each begins, and its label. The last one has no end.
pub(super) struct PlotRanges(pub(super) &'static [(i64, &'static str)]);

/// Messages a day.
pub(super) const MESSAGES: PlotRanges = PlotRanges(&[
    (0, "0"),
    (1, "1"),
    (2, "2"),
    (3, "3"),
    (4, "4–5"),
    (6, "6–9"),
    (10, "10–19"),
    (20, "20–49"),
    (50, "50+"),
]);

/// Items a message.
pub(super) const ITEMS: PlotRanges = PlotRanges(&[
    (1, "1"),
    (2, "2"),
    (3, "3–4"),
    (5, "5–9"),
    (10, "10–19"),
    (20, "20–49"),
    (50, "50–99"),
    (100, "100+"),
]);

/// Delays in milliseconds: each range goes up to what its label says.
pub(super) const DELAYS: PlotRanges = PlotRanges(&[
    (0, "0"),
    (1, "1m"),
    (60_001, "5m"),
    (300_001, "15m"),
    (900_001, "1h"),
    (3_600_001, "4h"),
    (14_400_001, "12h"),
    (43_200_001, "1d"),
    (86_400_001, "3d"),
    (259_200_001, "7d"),
    (604_800_001, "more"),
]);

/// A bar: the share of a range in a distribution, of 1.
struct PlotBar {
    label: &'static str,
    shares: Vec<f64>,
}

/// Places distributions in one picture; `names` are those of the configurations.
pub(super) fn plot(
    title: &str,
    unit: &str,
    ranges: &PlotRanges,
    of: &[&Distribution],
    names: &[&str],
) -> Value {
    let bars = bars(ranges, of);
    let most = bars.iter().flat_map(|bar| &bar.shares);
    let top = scale(most.copied().fold(0.0, f64::max));
    let (inner, depth) = (WIDTH - LEFT, HEIGHT - TOP - BOTTOM);
    let lines = (0..=4).map(|quarter| {
        let y = TOP + depth * (1.0 - f64::from(quarter) / 4.0);
        let percent = format!("{:.0}", top * f64::from(quarter) * 25.0);
        context! { y => px(y), text_x => px(LEFT - 6.0), text_y => px(y + 3.5), percent }
    });
    let slot = inner / bars.len().max(1) as f64;
    let width = (slot * 0.8 / of.len().max(1) as f64).min(26.0);
    let drawn = bars.iter().enumerate().map(|(at, bar)| {
        let middle = LEFT + slot * (at as f64 + 0.5);
        let from = middle - width * of.len() as f64 / 2.0;
        let rects = bar.shares.iter().enumerate().map(|(number, share)| {
            // What is rare is still seen.
            let least = if *share > 0.0 { 1.0 } else { 0.0 };
            let height = (depth * share / top).max(least);
            context! {
                x => px(from + width * number as f64),
                y => px(TOP + depth - height),
                width => px((width - 1.5).max(1.0)),
                height => px(height),
                name => names.get(number).copied(),
                share => px(share * 100.0),
            }
        });
        let rects: Vec<Value> = rects.collect();
        context! { middle => px(middle), label => bar.label, rects }
    });
    context! {
        title,
        unit,
        width => WIDTH.to_string(),
        height => HEIGHT.to_string(),
        left => LEFT.to_string(),
        label_y => px(HEIGHT - BOTTOM + 16.0),
        lines => lines.collect::<Vec<_>>(),
        bars => drawn.collect::<Vec<_>>(),
    }
}

/// The bars from the first range that any distribution has to the last.
fn bars(ranges: &PlotRanges, of: &[&Distribution]) -> Vec<PlotBar> {
    let ends = ranges.0.iter().skip(1).map(|(begin, _)| *begin);
    let bars = ranges.0.iter().zip(ends.chain([i64::MAX])).map(|((begin, label), end)| PlotBar {
        label,
        shares: of
            .iter()
            .map(|of| of.within(*begin..end) as f64 / of.total().max(1) as f64)
            .collect(),
    });
    let bars: Vec<PlotBar> = bars.collect();
    let has_any = |bar: &PlotBar| bar.shares.iter().any(|share| *share > 0.0);
    let first = bars.iter().position(has_any).unwrap_or(0);
    let last = bars.iter().rposition(has_any).unwrap_or(0);
    let shown = bars.into_iter().take(last + 1).skip(first);
    shown.collect()
}

/// The share at the top of the axis: quarters of it are round numbers.
fn scale(most: f64) -> f64 {
    let steps = [0.04, 0.08, 0.2, 0.4, 0.6, 0.8];
    let top = steps.into_iter().find(|top| most <= *top);
    top.unwrap_or(1.0)
}
