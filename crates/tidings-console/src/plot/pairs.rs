//! Bars in twos: what would change.

use super::svg::{Svg, length};
use super::{Key, Plot, PlotRow, Tone};
use crate::page::grouped;

const WIDTH: u32 = 1_000;
const HEIGHT: u32 = 100;

/// Numbers as they are and as they would be.
pub(crate) struct Pairs {
    pub(crate) title: String,
    pub(crate) sentence: String,
    /// The title of the column that the pairs stand for, as "Messages a day".
    pub(crate) head: String,
    /// The words of the two, as "now" and "with the change".
    pub(crate) words: [String; 2],
    pub(crate) pairs: Vec<Pair>,
    pub(crate) ticks: Vec<String>,
}

/// A pair.
pub(crate) struct Pair {
    pub(crate) label: String,
    pub(crate) values: [u64; 2],
}

impl Pairs {
    pub(crate) fn plot(self) -> Plot {
        let most = self.pairs.iter().flat_map(|pair| pair.values).max().unwrap_or(0);
        let height = f64::from(HEIGHT);
        let mut svg = Svg::new(WIDTH, HEIGHT);
        let step = f64::from(WIDTH) / length(self.pairs.len().max(1) as u64);
        let shown = |value| grouped(i64::try_from(value).unwrap_or(i64::MAX));
        let mut rows = Vec::new();
        for (index, pair) in self.pairs.iter().enumerate() {
            let x = step * length(index as u64);
            let [was, would] = pair.values.map(shown);
            let [first, second] = &self.words;
            svg.begin(&format!("{}: {was} {first}, {would} {second}", pair.label), None);
            svg.rect("hit", x, 0.0, step, height);
            for (value, (class, place)) in pair.values.into_iter().zip([("f-0", 0.1), ("f-1", 0.5)])
            {
                let tall =
                    if value == 0 { 0.0 } else { (height * length(value) / length(most)).max(1.5) };
                svg.rect(class, x + step * place, height - tall, step * 0.38, tall);
            }
            svg.end(None);
            rows.push(PlotRow { label: pair.label.clone(), cells: vec![was, would], href: None });
        }
        let [first, second] = self.words;
        Plot {
            title: self.title,
            sentence: self.sentence,
            keys: vec![Key::new(&first, Tone::Other(0)), Key::new(&second, Tone::Other(1))],
            svg: if most == 0 { String::new() } else { svg.done() },
            most: shown(most),
            ticks: self.ticks,
            heads: vec![self.head, first, second],
            rows,
            is_low: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_share_one_scale() {
        let plot = Pairs {
            title: "Mails".to_owned(),
            sentence: String::new(),
            head: "Day".to_owned(),
            words: ["now".to_owned(), "then".to_owned()],
            pairs: vec![Pair { label: "1".to_owned(), values: [100, 50] }],
            ticks: Vec::new(),
        }
        .plot();
        for rect in [
            "<rect class=\"f-0\" x=\"100\" y=\"0\" width=\"380\" height=\"100\"/>",
            "<rect class=\"f-1\" x=\"500\" y=\"50\" width=\"380\" height=\"50\"/>",
            "<title>1: 100 now, 50 then</title>",
        ] {
            assert!(plot.svg.contains(rect), "{rect} in {}", plot.svg);
        }
        assert_eq!(plot.rows[0].cells, ["100", "50"]);
    }
}
