//! Trace contexts ([W3C Trace Context](https://www.w3.org/TR/trace-context/)): an event keeps that of the request that
//! published it, so that the spans of its messages can link to it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The context of a span, as a `traceparent` has it.
///
/// # Examples
/// ```
/// use tidings_core::model::Trace;
///
/// let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
/// let trace: Trace = text.parse()?;
/// assert!(trace.is_sampled());
/// assert_eq!(trace.to_string(), text);
/// assert!("00-0-0-01".parse::<Trace>().is_err());
/// # Ok::<(), tidings_core::model::NoTrace>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Trace {
    /// The trace; not zero.
    pub trace_id: u128,
    /// The span; not zero.
    pub span_id: u64,
    /// The flags; the lowest bit is set if the span is recorded.
    pub flags: u8,
}

/// The refusal of a text that is no `traceparent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a traceparent: expected `00-TRACE-SPAN-FLAGS` with 32, 16 and 2 lower-case hex digits, neither id zero"
)]
pub struct NoTrace;

impl Trace {
    /// Returns true if the span is recorded.
    #[must_use]
    pub fn is_sampled(self) -> bool {
        self.flags & 1 == 1
    }
}

impl FromStr for Trace {
    type Err = NoTrace;

    /// Reads a `traceparent` of any version: a newer one may have more parts at its end.
    fn from_str(text: &str) -> Result<Self, NoTrace> {
        let mut parts = text.split('-');
        let mut part = |digits| {
            let is_hex = |part: &&str| {
                let mut bytes = part.bytes();
                part.len() == digits && bytes.all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
            };
            parts.next().filter(is_hex).ok_or(NoTrace)
        };
        let (version, trace, span, flags) = (part(2)?, part(32)?, part(16)?, part(2)?);
        let has_rest = parts.next().is_some();
        if version == "ff" || (version == "00" && has_rest) {
            return Err(NoTrace);
        }
        let trace_id = u128::from_str_radix(trace, 16).map_err(|_| NoTrace)?;
        let span_id = u64::from_str_radix(span, 16).map_err(|_| NoTrace)?;
        let flags = u8::from_str_radix(flags, 16).map_err(|_| NoTrace)?;
        if trace_id == 0 || span_id == 0 {
            return Err(NoTrace);
        }
        Ok(Self { trace_id, span_id, flags })
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.trace_id, self.span_id, self.flags)
    }
}

impl TryFrom<String> for Trace {
    type Error = NoTrace;

    fn try_from(text: String) -> Result<Self, NoTrace> {
        text.parse()
    }
}

impl From<Trace> for String {
    fn from(trace: Trace) -> Self {
        trace.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_trace_is_read_as_it_is_written(trace_id in 1u128.., span_id in 1u64.., flags: u8) {
            let trace = Trace { trace_id, span_id, flags };
            prop_assert_eq!(trace.to_string().parse(), Ok(trace));
        }

        #[test]
        fn no_text_makes_it_panic(text in "[0-9a-f-]{0,60}|.{0,60}") {
            if let Ok(trace) = text.parse::<Trace>() {
                prop_assert_eq!(&trace.to_string()[2..], &text[2..55]);
            }
        }
    }

    #[test]
    fn what_the_standard_forbids_is_refused() {
        let (trace, span) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        let zero = format!("00-{}-{span}-01", "0".repeat(32));
        let upper = format!("00-{}-{span}-01", trace.to_uppercase());
        let wrong =
            [zero, upper, format!("ff-{trace}-{span}-01"), format!("00-{trace}-{span}-01-x")];
        for text in wrong {
            assert_eq!(text.parse::<Trace>(), Err(NoTrace), "{text}");
        }
        assert!(format!("01-{trace}-{span}-01-x").parse::<Trace>().is_ok(), "a newer version");
    }
}
