//! A line to a deadline: what waits, since when, and until when.

use jiff::Timestamp;

use super::svg::Svg;
use super::{Plot, PlotRow};

const WIDTH: u32 = 1_000;
const HEIGHT: u32 = 24;

/// The entries that wait for one message, on a line to its deadline.
pub(crate) struct Course {
    pub(crate) title: String,
    pub(crate) sentence: String,
    pub(crate) now: Timestamp,
    /// When the message is due.
    pub(crate) due: Timestamp,
    /// The arrivals of what waits, each with the text of its row.
    pub(crate) arrivals: Vec<(Timestamp, String)>,
    /// The instants of the begin and of the end, as the page writes them.
    pub(crate) ticks: Vec<String>,
}

impl Course {
    pub(crate) fn plot(self) -> Plot {
        let first = self.arrivals.iter().map(|(at, _)| *at).chain([self.now]).min();
        let (from, to) = (first.unwrap_or(self.now), self.due.max(self.now));
        #[expect(clippy::cast_precision_loss, reason = "a picture has some hundreds of pixels")]
        let place = |at: Timestamp| {
            let whole = (to.as_millisecond() - from.as_millisecond()).max(1) as f64;
            let part = (at.as_millisecond() - from.as_millisecond()) as f64;
            // The ends are within the picture, with their marks.
            8.0 + (f64::from(WIDTH) - 16.0) * (part / whole).clamp(0.0, 1.0)
        };
        let middle = f64::from(HEIGHT) / 2.0;
        let mut svg = Svg::new(WIDTH, HEIGHT);
        svg.line("grid", (place(from), middle), (place(to), middle));
        for (at, text) in &self.arrivals {
            svg.begin(text, None);
            svg.rect("f-ok", place(*at) - 3.0, middle - 5.0, 6.0, 10.0);
            svg.end(None);
        }
        svg.line("now", (place(self.now), 3.0), (place(self.now), f64::from(HEIGHT) - 3.0));
        svg.rect("f-wait", place(self.due) - 4.0, 2.0, 8.0, f64::from(HEIGHT) - 4.0);
        let rows = self.arrivals.into_iter().map(|(_, label)| PlotRow {
            label,
            cells: Vec::new(),
            href: None,
        });
        Plot {
            title: self.title,
            sentence: self.sentence,
            svg: svg.done(),
            ticks: self.ticks,
            heads: vec!["Arrived".to_owned()],
            rows: rows.collect(),
            is_low: true,
            ..Plot::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_stand_between_the_first_and_the_deadline() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let plot = Course {
            title: "digest:weekly".to_owned(),
            sentence: String::new(),
            now: at(50),
            due: at(100),
            arrivals: vec![(at(0), "a".to_owned()), (at(25), "b".to_owned())],
            ticks: Vec::new(),
        }
        .plot();
        for shape in [
            "<rect class=\"f-ok\" x=\"5\" ",
            "<rect class=\"f-ok\" x=\"251\" ",
            "<line class=\"now\" x1=\"500\" ",
            "<rect class=\"f-wait\" x=\"988\" ",
        ] {
            assert!(plot.svg.contains(shape), "{shape} in {}", plot.svg);
        }
        assert_eq!(plot.rows.len(), 2);
    }
}
