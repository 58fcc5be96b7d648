//! The text format of Prometheus.

use std::fmt::{Display, Write as _};

use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use tidings_node::{BOUNDS_S, Histogram};

/// A page of metrics as an answer.
pub(crate) fn answer(text: String) -> Response {
    let form = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, form)], text).into_response()
}

/// A time in seconds.
pub(crate) fn seconds(ms: i64) -> String {
    format!("{}.{:03}", ms / 1000, ms % 1000)
}

/// The value of a label, escaped.
pub(crate) fn label(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// A page of metrics under construction. Writing into a String can't fail.
#[derive(Default)]
pub(crate) struct MetricsPage(pub(crate) String);

impl MetricsPage {
    pub(crate) fn head(&mut self, name: &str, help: &str, kind: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    pub(crate) fn sample(&mut self, name: &str, labels: &str, value: impl Display) {
        let _ = match labels {
            "" => writeln!(self.0, "{name} {value}"),
            _ => writeln!(self.0, "{name}{{{labels}}} {value}"),
        };
    }

    pub(crate) fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.head(name, help, "gauge");
        self.sample(name, "", value);
    }

    pub(crate) fn counter(&mut self, name: &str, help: &str, value: impl Display) {
        self.head(name, help, "counter");
        self.sample(name, "", value);
    }

    pub(crate) fn histogram(&mut self, name: &str, help: &str, histogram: &Histogram) {
        self.head(name, help, "histogram");
        let counts = histogram.cumulative();
        for (bound, count) in
            BOUNDS_S.iter().map(f64::to_string).chain(["+Inf".to_owned()]).zip(&counts)
        {
            self.sample(&format!("{name}_bucket"), &format!("le=\"{bound}\""), count);
        }
        let sum = histogram.sum().as_secs_f64();
        self.sample(&format!("{name}_sum"), "", sum);
        self.sample(&format!("{name}_count"), "", counts.last().copied().unwrap_or_default());
    }
}
