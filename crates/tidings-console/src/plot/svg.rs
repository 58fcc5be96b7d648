//! A writer of pictures: few shapes, and every text escaped.

use std::fmt::Write as _;

/// A picture that is stretched to its frame.
pub(super) struct Svg {
    text: String,
}

impl Svg {
    /// A picture of a width and a height. The caption and the table of its figure say what it shows.
    pub(super) fn new(width: u32, height: u32) -> Self {
        let mut svg = Self { text: String::new() };
        let _ = write!(
            svg.text,
            "<svg viewBox=\"0 0 {width} {height}\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
        );
        svg
    }

    /// A small picture within a line of text, which the text beside it says in words.
    pub(super) fn spark(width: u32, height: u32) -> Self {
        let text = format!(
            "<svg class=\"spark\" viewBox=\"0 0 {width} {height}\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
        );
        Self { text }
    }

    pub(super) fn rect(&mut self, class: &str, x: f64, y: f64, width: f64, height: f64) {
        let _ = write!(
            self.text,
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            short(x),
            short(y),
            short(width.max(0.0)),
            short(height.max(0.0))
        );
    }

    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let _ = write!(
            self.text,
            "<line class=\"{class}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>",
            short(from.0),
            short(from.1),
            short(to.0),
            short(to.1)
        );
    }

    /// A line through points, or an area where it is closed by its class.
    pub(super) fn path(&mut self, class: &str, points: &[(f64, f64)]) {
        let _ = write!(self.text, "<path class=\"{class}\" d=\"");
        for (index, (x, y)) in points.iter().enumerate() {
            let _ = write!(
                self.text,
                "{}{} {}",
                if index == 0 { 'M' } else { 'L' },
                short(*x),
                short(*y)
            );
        }
        self.text.push_str("\"/>");
    }

    /// Begins a group that says something at the pointer, and leads somewhere.
    pub(super) fn begin(&mut self, title: &str, href: Option<&str>) {
        match href {
            // The table has the same link for keys, so that a plot is not dozens of stops.
            Some(href) => {
                let _ = write!(self.text, "<a href=\"{}\" tabindex=\"-1\">", escaped(href));
            }
            None => self.text.push_str("<g>"),
        }
        let _ = write!(self.text, "<title>{}</title>", escaped(title));
    }

    pub(super) fn end(&mut self, href: Option<&str>) {
        self.text.push_str(if href.is_some() { "</a>" } else { "</g>" });
    }

    pub(super) fn done(mut self) -> String {
        self.text.push_str("</svg>");
        self.text
    }
}

/// A length with two digits at most.
fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A text within an element or an attribute.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            letter => out.push(letter),
        }
    }
    out
}

/// A count as a length.
#[expect(clippy::cast_precision_loss, reason = "a picture has some hundreds of pixels")]
pub(super) fn length(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_leave_its_place() {
        let mut svg = Svg::new(10, 10);
        svg.begin("</title><b>", Some("/x?a=1&b=\"c\""));
        svg.end(Some(""));
        let text = svg.done();
        assert!(text.contains("<title>&lt;/title&gt;&lt;b&gt;</title>"), "{text}");
        assert!(text.contains("href=\"/x?a=1&amp;b=&quot;c&quot;\""), "{text}");
    }

    #[test]
    fn lengths_are_short() {
        for (value, text) in [(0.0, "0"), (12.5, "12.5"), (1.0 / 3.0, "0.33"), (100.0, "100")] {
            assert_eq!(short(value), text);
        }
    }
}
