//! A call over HTTP, whatever its version.

pub(super) mod http1;
pub(super) mod http2;

use super::{HttpAnswer, HttpRequest};

/// The most bytes of an answer that are read.
pub(super) const ANSWER_BYTES_MAX: usize = 64 << 10;

/// A client. It is called from several threads at once.
pub(in crate::channel) trait Wire: Send + Sync {
    /// Calls, and asks before the first byte of the body goes.
    fn call(&self, request: &HttpRequest, go: &dyn Fn() -> bool) -> CallEnd;
}

/// The end of a call.
pub(in crate::channel) enum CallEnd {
    /// The provider answered.
    Answered(HttpAnswer),
    /// The sender was asked to stop before the body.
    Withheld,
    /// There was no answer; `true` = and the provider may have the request.
    Broken(String, bool),
    /// Its host may not be called.
    Barred,
}

/// A fault of a connection in words, without an address.
fn words_of(fault: &std::io::Error) -> String {
    match fault.raw_os_error() {
        Some(_) => fault.kind().to_string(),
        // Looking up a name, and TLS, have words of their own.
        None => fault.to_string(),
    }
}
