//! The picture of one recipient's day: a band for each configuration, as the Hilary paper draws aggregation.
//!
//! An event is a bar from its arrival to its message; a message is a point on the axis of time.

use minijinja::{Value, context};
use tidings_core::Instant;
use tidings_core::model::{DAY_MS, HOUR_MS, MINUTE_MS};

use super::px;
use crate::compare::story::{MessageBand, Story};

/// The height in which the bars of a band find room.
const ROWS_HEIGHT: f64 = 150.0;
const AXIS_HEIGHT: f64 = 34.0;
const EDGE: f64 = 14.0;

/// The axis of time, the same for all bands.
struct TimeAxis {
    from: Instant,
    to: Instant,
    width: f64,
}

impl TimeAxis {
    /// An axis over the events and over the messages that come soon after them.
    fn of(story: &Story, width: f64) -> Option<Self> {
        let (first, last) = story.events_from_to()?;
        let span = (last.0 - first.0).max(MINUTE_MS);
        let shown = story.bands.iter().flat_map(|band| &band.shown);
        let soon = last.plus_ms(span.max(30 * MINUTE_MS));
        let to =
            shown.map(|shown| shown.at).filter(|at| *at <= soon).max().unwrap_or(last).max(last);
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
        let step = STEPS
            .iter()
            .map(|minutes| minutes * MINUTE_MS)
            .into_iter()
            .find(|step| span / step < labels);
        step.unwrap_or(7 * DAY_MS)
    }
}

/// Places a band in a picture of a width; nothing where there is no event.
pub(super) fn picture(story: &Story, number: usize, width: f64) -> Option<Value> {
    let axis = TimeAxis::of(story, width)?;
    let band = story.bands.get(number)?;
    let rows = rows(band);
    let count = rows.iter().map(|bar| bar.row + 1).max().unwrap_or(1);
    let pitch = (ROWS_HEIGHT / count as f64).clamp(2.4, 12.0);
    let base = pitch * count as f64 + 14.0;
    let bars = rows.iter().map(|bar| {
        let (x, end) = (axis.x(bar.from), axis.x(bar.to));
        context! {
            light => bar.turn % 2 == 1,
            x => px(x),
            y => px(base - 8.0 - pitch * (bar.row + 1) as f64),
            width => px((end - x).max(1.5)),
            height => px((pitch * 0.78).max(1.6)),
        }
    });
    let points = band.shown.iter().filter(|shown| axis.holds(shown.at)).map(|shown| {
        context! {
            x => px(axis.x(shown.at)),
            at => shown.at.to_string(),
            events => shown.events.len(),
        }
    });
    Some(context! {
        width => width.to_string(),
        height => format!("{:.0}", base + AXIS_HEIGHT),
        edge => EDGE.to_string(),
        end => (axis.width - EDGE).to_string(),
        base => px(base),
        ticks => ticks(&axis, base),
        bars => bars.collect::<Vec<_>>(),
        points => points.collect::<Vec<_>>(),
    })
}

/// The messages of a band that lie behind the axis: the number of their events, and the instant of the first.
pub(super) fn beyond(story: &Story, number: usize) -> Option<(usize, Instant)> {
    let axis = TimeAxis::of(story, 1.0)?;
    let shown = &story.bands.get(number)?.shown;
    let late: Vec<_> = shown.iter().filter(|shown| !axis.holds(shown.at)).collect();
    let events = late.iter().map(|shown| shown.events.len()).sum();
    late.first().map(|first| (events, first.at))
}

fn ticks(axis: &TimeAxis, base: f64) -> Vec<Value> {
    let step = axis.step_ms();
    let first = axis.from.0.div_euclid(step) * step + step;
    let instants = std::iter::successors(Some(first), |at| at.checked_add(step));
    let shown = instants.take_while(|at| *at <= axis.to.0);
    let ticks = shown.map(|at| {
        context! {
            x => px(axis.x(Instant(at))),
            y => px(base + 5.0),
            text_y => px(base + 21.0),
            label => label(at, step),
        }
    });
    ticks.collect()
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
struct BandEvent {
    from: Instant,
    to: Instant,
    row: usize,
    /// The number of its message: neighbours differ in shade.
    turn: usize,
}

/// The events of a band in rows, so that no two overlap: each in the lowest row that is free.
fn rows(band: &MessageBand) -> Vec<BandEvent> {
    let mut bars = Vec::new();
    for (turn, shown) in band.shown.iter().enumerate() {
        for from in &shown.events {
            bars.push((*from, shown.at, turn));
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
        BandEvent { from, to, row, turn }
    });
    placed.collect()
}
