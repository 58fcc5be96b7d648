//! Admission: by the name of the host, the page that makes a request, its method and its key, before its body is read.

use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::Response;

use super::McpEndpoint;
use super::fault::{ProtocolFault, response};
use crate::api::{Caller, Way};
use crate::sign_in::origin::{is_host_ours, is_page_ours, is_this_machine};

impl McpEndpoint {
    /// The caller of a request, by its API key; a developer needs none.
    ///
    /// # Errors
    /// The refusal to send: 421, 403, 405, 401 or 415, in this order.
    #[expect(clippy::result_large_err, reason = "the refusal is the answer, and it is made once")]
    pub fn admit(&self, request: &Parts) -> Result<Caller, Response> {
        self.caller(request).map_err(|fault| response(fault.status, Some(fault.body(None))))
    }

    fn caller(&self, request: &Parts) -> Result<Caller, ProtocolFault> {
        let is_dev = self.console.api().is_dev();
        let knows = |host: &str| self.sign_in.knows_host(host);
        if !is_host_ours(request, |host| is_this_machine(host) || knows(host)) {
            let message = "This server is not known by that name. Add it to `hosts` of [console]";
            return Err(ProtocolFault::refused(StatusCode::MISDIRECTED_REQUEST, message));
        }
        // A developer tries clients in pages of this machine. Elsewhere no page of it has a reason to call.
        let is_ours = |host: &str| knows(host) || is_dev && is_this_machine(host);
        if !is_page_ours(request, &self.sign_in.place(), is_ours) {
            let message = "Pages of this origin may not call. Add its host to `hosts` of [console]";
            return Err(ProtocolFault::refused(StatusCode::FORBIDDEN, message));
        }
        if request.method != Method::POST {
            let message = "Messages are sent by POST; there are no streams and no sessions";
            return Err(ProtocolFault::refused(StatusCode::METHOD_NOT_ALLOWED, message));
        }
        let caller = match is_dev {
            true => Some(Caller::developer(Way::Mcp)),
            false => self.key_holder(&request.headers),
        };
        let Some(caller) = caller else {
            let message = "Send an API key, as `Authorization: Bearer KEY`";
            return Err(ProtocolFault::refused(StatusCode::UNAUTHORIZED, message));
        };
        if !is_json(&request.headers) {
            let message = "The body is application/json";
            return Err(ProtocolFault::refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
        }
        Ok(caller)
    }

    fn key_holder(&self, headers: &HeaderMap) -> Option<Caller> {
        let mut values = headers.get_all(header::AUTHORIZATION).into_iter();
        let value = values.next()?.to_str().ok().filter(|_| values.next().is_none())?;
        let (scheme, key) = value.split_once(' ')?;
        let key = scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())?;
        Some(Caller { way: Way::Mcp, ..self.sign_in.key_holder(key)? })
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}
