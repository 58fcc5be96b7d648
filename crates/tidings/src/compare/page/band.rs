//! The picture of one recipient's day: a band for each configuration, as the Hilary paper draws aggregation.
//!
//! An event is a bar from the instant at which it came to the message that told it; a message is a point on the axis of time.

use std::fmt::Write as _;

use tidings_core::Instant;
use tidings_core::time::{DAY_MS, HOUR_MS, MINUTE_MS};

use crate::compare::story::{Band, Story};

/// The height in which the bars of a band find room.
const ROWS_HEIGHT: f64 = 150.0;
const AXIS_HEIGHT: f64 = 34.0;
const EDGE: f64 = 14.0;

/// The axis of time, the same for all bands.
struct Axis {
    from: Instant,
    to: Instant,
    width: f64,
}

impl Axis {
    /// An axis over the events and over the messages that come soon after them.
    fn of(story: &Story, width: f64) -> Option<Self> {
        let (first, last) = story.events_from_to()?;
        let span = (last.0 - first.0).max(MINUTE_MS);
        let told = story.bands.iter().flat_map(|band| &band.told);
        let soon = last.plus_ms(span.max(30 * MINUTE_MS));
        let messages = told.map(|told| told.at).filter(|at| *at <= soon);
        let to = messages.max().unwrap_or(last).max(last);
        Some(Self {
            from: first.plus_ms(-span / 40),
            to: to.plus_ms(((to.0 - first.0) / 20).max(MINUTE_MS)),
            width,
        })
    }

    fn x(&self, at: Instant) -> f64 {
        let share = (at.0 - self.from.0) as f64 / (self.to.0 - self.from.0).max(1) as f64;
        EDGE + share.clamp(0.0, 1.0) * (self.width - 2.0 * EDGE)
    }

    fn holds(&self, at: Instant) -> bool {
        at <= self.to
    }

    /// The distance of labels.
    fn step_ms(&self) -> i64 {
        const STEPS: [i64; 12] = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440];
        let labels = (self.width / 90.0).max(2.0) as i64;
        let span = self.to.0 - self.from.0;
        let steps = STEPS.iter().map(|minutes| minutes * MINUTE_MS);
        let step = steps.into_iter().find(|step| span / step < labels);
        step.unwrap_or(7 * DAY_MS)
    }
}

/// Draws a band; nothing where there is no event.
pub(super) fn svg(story: &Story, number: usize, width: f64) -> Option<String> {
    let axis = Axis::of(story, width)?;
    let band = story.bands.get(number)?;
    let rows = rows(band);
    let count = rows.iter().map(|bar| bar.row + 1).max().unwrap_or(1);
    let pitch = (ROWS_HEIGHT / count as f64).clamp(2.4, 12.0);
    let base = pitch * count as f64 + 14.0;
    let height = base + AXIS_HEIGHT;
    let mut svg = format!("<svg viewBox=\"0 0 {width} {height:.0}\" role=\"img\" aria-label=\"\">");
    ticks(&mut svg, &axis, base);
    for bar in &rows {
        let (x, end) = (axis.x(bar.from), axis.x(bar.to));
        let y = base - 8.0 - pitch * (bar.row + 1) as f64;
        let _ = write!(
            svg,
            "<rect class=\"c{number} bar{}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"1\"/>",
            if bar.turn % 2 == 0 { "" } else { " light" },
            (end - x).max(1.5),
            (pitch * 0.78).max(1.6),
        );
    }
    for told in band.told.iter().filter(|told| axis.holds(told.at)) {
        let x = axis.x(told.at);
        let _ = write!(
            svg,
            "<line class=\"c{number} drop\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"4\" y2=\"{base:.1}\"/>\
             <circle class=\"c{number} point\" cx=\"{x:.1}\" cy=\"{base:.1}\" r=\"4.5\"><title>{}: {}</title></circle>",
            told.at,
            told.events.len(),
        );
    }
    svg.push_str("</svg>");
    Some(svg)
}

/// The messages of a band that lie behind the axis: how many events they tell, and the instant of the first.
pub(super) fn beyond(story: &Story, number: usize) -> Option<(usize, Instant)> {
    let axis = Axis::of(story, 1.0)?;
    let told = &story.bands.get(number)?.told;
    let late: Vec<_> = told.iter().filter(|told| !axis.holds(told.at)).collect();
    let events = late.iter().map(|told| told.events.len()).sum();
    late.first().map(|first| (events, first.at))
}

fn ticks(svg: &mut String, axis: &Axis, base: f64) {
    let step = axis.step_ms();
    let end = axis.width - EDGE;
    let _ = write!(
        svg,
        "<line class=\"axis\" x1=\"{EDGE}\" x2=\"{end}\" y1=\"{base:.1}\" y2=\"{base:.1}\"/>"
    );
    let mut at = axis.from.0.div_euclid(step) * step + step;
    while at <= axis.to.0 {
        let x = axis.x(Instant(at));
        let _ = write!(
            svg,
            "<line class=\"axis\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{base:.1}\" y2=\"{:.1}\"/>\
             <text class=\"tick mid\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
            base + 5.0,
            base + 21.0,
            label(at, step),
        );
        at += step;
    }
}

/// The wall clock in UTC, or the date where labels are days apart.
fn label(at_ms: i64, step_ms: i64) -> String {
    if step_ms >= DAY_MS {
        return Instant(at_ms).day().to_string();
    }
    clock(Instant(at_ms))
}

/// The wall clock in UTC.
pub(super) fn clock(at: Instant) -> String {
    let of_day = at.0.rem_euclid(DAY_MS);
    let (hours, minutes) = (of_day / HOUR_MS, of_day % HOUR_MS / MINUTE_MS);
    format!("{hours:02}:{minutes:02}")
}

/// An event of a band.
struct Bar {
    from: Instant,
    to: Instant,
    row: usize,
    /// The number of its message: neighbours differ in shade.
    turn: usize,
}

/// The events of a band in rows, so that no two overlap: each in the lowest row that is free.
fn rows(band: &Band) -> Vec<Bar> {
    let mut bars = Vec::new();
    for (turn, told) in band.told.iter().enumerate() {
        for from in &told.events {
            bars.push((*from, told.at, turn));
        }
    }
    bars.sort_unstable();
    let mut ends: Vec<Instant> = Vec::new();
    let placed = bars.into_iter().map(|(from, to, turn)| {
        let free = ends.iter().position(|end| *end <= from);
        let row = free.unwrap_or(ends.len());
        match ends.get_mut(row) {
            Some(end) => *end = to,
            None => ends.push(to),
        }
        Bar {
            from,
            to,
            row,
            turn,
        }
    });
    placed.collect()
}
