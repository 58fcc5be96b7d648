//! A policy as a picture: events that come, and the messages that tell them.

use minijinja::Value;

use super::svg::Svg;

const WIDTH: f64 = 96.0;
const HEIGHT: f64 = 20.0;

/// An example of what a policy does. Instants are parts of the width, from 0 to 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Example {
    /// Events that come.
    pub(crate) arrivals: Vec<f64>,
    /// Times in which they wait.
    pub(crate) waits: Vec<(f64, f64)>,
    /// Messages that go out.
    pub(crate) messages: Vec<f64>,
}

impl Example {
    /// The picture: ticks for events, a band while they wait, and a bar for each message.
    pub(crate) fn svg(&self) -> Value {
        let place = |part: f64| 3.0 + (WIDTH - 6.0) * part.clamp(0.0, 1.0);
        let middle = HEIGHT / 2.0;
        let mut svg = Svg::spark(96, 20);
        svg.path("", &[(0.0, middle), (WIDTH, middle)]);
        for (from, to) in &self.waits {
            svg.rect("f-off", place(*from), middle - 2.0, place(*to) - place(*from), 4.0);
        }
        for message in &self.messages {
            svg.rect("f-1", place(*message) - 2.0, 1.0, 4.0, HEIGHT - 2.0);
        }
        for arrival in &self.arrivals {
            svg.rect("f-0", place(*arrival) - 1.0, middle - 5.0, 2.0, 10.0);
        }
        Value::from_safe_string(svg.done())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_stand_before_the_message_that_tells_them() {
        let example = Example { arrivals: vec![0.0], waits: vec![(0.0, 0.5)], messages: vec![0.5] };
        let svg = example.svg().to_string();
        for rect in [
            "<rect class=\"f-0\" x=\"2\" y=\"5\" width=\"2\" height=\"10\"/>",
            "<rect class=\"f-off\" x=\"3\" y=\"8\" width=\"45\" height=\"4\"/>",
            "<rect class=\"f-1\" x=\"46\" y=\"1\" width=\"4\" height=\"18\"/>",
        ] {
            assert!(svg.contains(rect), "{rect} in {svg}");
        }
    }
}
