//! Stacked bars over time: did anything fail and when, and what is about to be sent.

use jiff::Timestamp;

use super::svg::{Svg, length};
use super::{Key, Plot, PlotRow};
use crate::page::grouped;

/// The size of the picture, whatever the page makes of it.
const WIDTH: u32 = 1_000;
const HEIGHT: u32 = 100;

/// Bars at the same distances, each with a value for each key.
pub(crate) struct Bars {
    pub(crate) title: String,
    pub(crate) sentence: String,
    /// The title of the column that the bars stand for, as "Hour".
    pub(crate) head: &'static str,
    pub(crate) keys: Vec<Key>,
    pub(crate) bars: Vec<Bar>,
    pub(crate) ticks: Vec<String>,
}

/// A bar.
pub(crate) struct Bar {
    pub(crate) label: String,
    /// One a key, from the ground up. None: nothing is known.
    pub(crate) values: Option<Vec<u64>>,
    /// The list of what it counts.
    pub(crate) href: Option<String>,
}

impl Bars {
    pub(crate) fn plot(self) -> Plot {
        let sum = |bar: &Bar| bar.values.iter().flatten().sum::<u64>();
        let most = self.bars.iter().map(sum).max().unwrap_or(0);
        let mut svg = Svg::new(WIDTH, HEIGHT);
        let (width, height) = (f64::from(WIDTH), f64::from(HEIGHT));
        svg.line("grid", (0.0, 0.5), (width, 0.5));
        svg.line("grid", (0.0, height / 2.0), (width, height / 2.0));
        let step = width / length(self.bars.len().max(1) as u64);
        for (index, bar) in self.bars.iter().enumerate() {
            let x = step * length(index as u64);
            svg.begin(&said(bar, &self.keys), bar.href.as_deref());
            svg.rect("hit", x, 0.0, step, height);
            let mut top = height;
            for (value, key) in bar.values.iter().flatten().zip(&self.keys) {
                if *value == 0 || most == 0 {
                    continue;
                }
                // What is there is seen, however little it is beside the rest.
                let tall = (height * length(*value) / length(most)).max(1.5);
                top = (top - tall).max(0.0);
                let class = format!("f-{}", key.tone.name());
                svg.rect(&class, x + step * 0.12, top, step * 0.76, tall);
            }
            svg.end(bar.href.as_deref());
        }
        let rows = self.bars.iter().map(|bar| row(bar, self.keys.len())).collect();
        let heads = std::iter::once(self.head.to_owned())
            .chain(self.keys.iter().map(|key| key.word.clone()))
            .collect();
        // A colour that isn't in the picture needs no explanation.
        let is_drawn = |index: usize| {
            self.bars
                .iter()
                .flat_map(|bar| &bar.values)
                .any(|values| values.get(index).is_some_and(|value| *value > 0))
        };
        let keys = self.keys.into_iter().enumerate().filter(|(index, _)| is_drawn(*index));
        let keys = keys.map(|(_, key)| key).collect();
        Plot {
            svg: if most == 0 { String::new() } else { svg.done() },
            most: grouped(i64::try_from(most).unwrap_or(i64::MAX)),
            rows: if most == 0 { Vec::new() } else { rows },
            keys,
            title: self.title,
            sentence: self.sentence,
            ticks: self.ticks,
            heads,
            is_low: false,
        }
    }
}

/// A bar in words. The pointer shows a plain text, so an instant is said in UTC there.
fn said(bar: &Bar, keys: &[Key]) -> String {
    let label = match bar.label.parse::<Timestamp>() {
        Ok(at) => at.strftime("%-d %b %H:%M UTC").to_string(),
        Err(_) => bar.label.clone(),
    };
    let Some(values) = &bar.values else { return format!("{label}: no figures") };
    let parts: Vec<String> = values
        .iter()
        .zip(keys)
        .filter(|(value, _)| **value > 0)
        .map(|(value, key)| format!("{} {}", shown(*value), key.word))
        .collect();
    match parts.is_empty() {
        true => format!("{label}: nothing"),
        false => format!("{label}: {}", parts.join(", ")),
    }
}

fn row(bar: &Bar, keys: usize) -> PlotRow {
    let cells = match &bar.values {
        Some(values) => values.iter().map(|value| shown(*value)).collect(),
        None => vec!["no figures".to_owned(); keys],
    };
    PlotRow { label: bar.label.clone(), cells, href: bar.href.clone() }
}

fn shown(value: u64) -> String {
    grouped(i64::try_from(value).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Tone;

    fn bars(values: &[Option<[u64; 2]>]) -> Plot {
        let bar = |values: &Option<[u64; 2]>| Bar {
            label: "09:00".to_owned(),
            values: values.map(Vec::from),
            href: None,
        };
        let keys = vec![Key::new("sent", Tone::Ok), Key::new("failed", Tone::Failed)];
        Bars {
            title: "Messages".to_owned(),
            sentence: "Some.".to_owned(),
            head: "Hour",
            keys,
            bars: values.iter().map(bar).collect(),
            ticks: Vec::new(),
        }
        .plot()
    }

    #[test]
    fn bars_stand_on_each_other_and_the_tallest_fills_the_picture() {
        let plot = bars(&[Some([75, 25]), Some([50, 0])]);
        for rect in [
            "<rect class=\"f-ok\" x=\"60\" y=\"25\" width=\"380\" height=\"75\"/>",
            "<rect class=\"f-failed\" x=\"60\" y=\"0\" width=\"380\" height=\"25\"/>",
            "<rect class=\"f-ok\" x=\"560\" y=\"50\" width=\"380\" height=\"50\"/>",
        ] {
            assert!(plot.svg.contains(rect), "{rect} in {}", plot.svg);
        }
        assert!(plot.svg.contains("<title>09:00: 75 sent, 25 failed</title>"), "{}", plot.svg);
        assert_eq!((plot.most.as_str(), plot.svg.matches("f-failed").count()), ("100", 1));
    }

    #[test]
    fn one_failure_among_many_is_seen() {
        let plot = bars(&[Some([1_000_000, 1])]);
        assert!(
            plot.svg.contains(
                "<rect class=\"f-failed\" x=\"120\" y=\"0\" width=\"760\" height=\"1.5\"/>"
            )
        );
    }

    #[test]
    fn no_figures_are_not_zero() {
        let plot = bars(&[None, Some([1, 0])]);
        assert_eq!(plot.rows[0].cells, ["no figures", "no figures"]);
        assert_eq!(plot.rows[1].cells, ["1", "0"]);
        assert!(bars(&[Some([0, 0])]).svg.is_empty());
    }
}
