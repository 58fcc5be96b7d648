//! Tests of the collector of spans.

use tidings_core::rules::TelemetryRules;

use super::{refused, rules};

fn telemetry(keys: &str) -> String {
    format!("[telemetry]\n{keys}\n")
}

#[test]
fn spans_are_sent_to_a_collector_that_is_named() {
    assert_eq!(rules("").telemetry, None);
    for (url, sent_to) in [
        ("http://localhost:4318", "http://localhost:4318/v1/traces"),
        ("https://otlp.example.org/", "https://otlp.example.org/v1/traces"),
        ("https://otlp.example.org/in/v1/traces", "https://otlp.example.org/in/v1/traces"),
    ] {
        let found = rules(&telemetry(&format!("otlp = '{url}'"))).telemetry;
        assert_eq!(found, Some(TelemetryRules { otlp: sent_to.to_owned(), ratio: 1.0 }));
    }
    for (text, ratio) in [("0", 0.0), ("0.25", 0.25), ("1", 1.0)] {
        let keys = format!("otlp = 'http://localhost:4318'\nratio = {text}");
        let found = rules(&telemetry(&keys)).telemetry.map(|rules| rules.ratio);
        assert_eq!(found, Some(ratio));
    }
}

#[test]
fn a_collector_without_an_address_or_a_ratio_beyond_its_range_is_refused() {
    refused(&telemetry(""), "lacks `otlp`");
    refused(&telemetry("otlp = 'localhost:4318'"), "no http or https URL");
    for ratio in ["1.5", "-0.1", "nan", "'0.5'"] {
        let keys = format!("otlp = 'http://localhost:4318'\nratio = {ratio}");
        refused(&telemetry(&keys), "ratio");
    }
    refused(&telemetry("otlp = 'http://localhost:4318'\nsample = 1"), "sample");
}
