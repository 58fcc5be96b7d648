//! Messages of clients: what a body says, and the headers that have to say the same.
//!
//! A request of 2026-07-28 names its version in `params._meta` and in a header. One that names none there is of a client
//! of the handshake, whose header is all that tells its version.

use axum::http::HeaderMap;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::fault::ProtocolFault;
use super::version::ProtocolVersion;

const VERSION_HEADER: &str = "MCP-Protocol-Version";
const METHOD_HEADER: &str = "Mcp-Method";
const NAME_HEADER: &str = "Mcp-Name";

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// The method whose `name` a header repeats.
const TOOLS_CALL: &str = "tools/call";

/// A message of a client.
#[derive(Debug)]
pub(super) enum ClientMessage {
    /// It is to be answered.
    Request(McpRequest),
    /// It is not.
    Notification,
}

/// A request.
#[derive(Debug)]
pub(super) struct McpRequest {
    pub(super) id: Value,
    pub(super) version: ProtocolVersion,
    pub(super) method: String,
    pub(super) params: Map<String, Value>,
}

/// A message that is refused: its id, as far as it could be read, and why.
#[derive(Debug)]
pub(super) struct RefusedMessage {
    pub(super) id: Option<Value>,
    pub(super) fault: ProtocolFault,
}

impl ClientMessage {
    /// Reads a message with the headers that came along.
    pub(super) fn read(headers: &HeaderMap, body: Value) -> Result<Self, RefusedMessage> {
        let refused = |id: Option<&Value>, fault| RefusedMessage { id: id.cloned(), fault };
        let Value::Object(mut body) = body else {
            let fault = ProtocolFault::invalid_request("A message is an object");
            return Err(refused(None, fault));
        };
        let id = body.remove("id");
        let known = id.as_ref().filter(|id| id.is_string() || id.is_i64() || id.is_u64());
        let invalid = |message: &str| refused(known, ProtocolFault::invalid_request(message));
        if body.get("jsonrpc").is_none_or(|version| version != "2.0") {
            return Err(invalid("`jsonrpc` is \"2.0\""));
        }
        let Some(Value::String(method)) = body.remove("method") else {
            return Err(invalid("`method` is a text, and answers of clients are not taken"));
        };
        if id.is_none() {
            return Ok(Self::Notification);
        }
        let Some(id) = known else { return Err(invalid("`id` is a text or a whole number")) };
        let params = match body.remove("params") {
            None => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => return Err(invalid("`params` is an object")),
        };
        let version = version(headers, &method, &params);
        let version = version.map_err(|fault| refused(Some(id), fault))?;
        Ok(Self::Request(McpRequest { id: id.clone(), version, method, params }))
    }
}

/// Returns true if several messages may come at once: by the oldest version alone.
pub(super) fn takes_batches(headers: &HeaderMap) -> bool {
    let header = only(headers, VERSION_HEADER);
    header.is_ok_and(|name| name.is_none_or(|name| name == ProtocolVersion::V20250326.name()))
}

/// The version of a request whose headers say the same as its body.
fn version(
    headers: &HeaderMap,
    method: &str,
    params: &Map<String, Value>,
) -> Result<ProtocolVersion, ProtocolFault> {
    let header = only(headers, VERSION_HEADER)?;
    let meta = params.get("_meta");
    let named = meta.and_then(|meta| meta.get(VERSION_KEY)).and_then(Value::as_str);
    let Some(named) = named else {
        // A handshake comes before any version is agreed on.
        let Some(spoken) = header.filter(|_| method != "initialize") else {
            return Ok(ProtocolVersion::UNNAMED);
        };
        let version = ProtocolVersion::of(spoken);
        let version = version.ok_or_else(|| ProtocolFault::unsupported_version(spoken))?;
        if version.is_stateless() {
            same_headers(headers, method, params)?;
            return Err(ProtocolFault::incomplete_meta(VERSION_KEY));
        }
        return Ok(version);
    };
    if header != Some(named) {
        let fault = format!("The header {VERSION_HEADER} is not the version of `params._meta`");
        return Err(ProtocolFault::header_mismatch(fault));
    }
    let version = ProtocolVersion::of(named);
    let version = version.ok_or_else(|| ProtocolFault::unsupported_version(named))?;
    if version.is_stateless() {
        same_headers(headers, method, params)?;
        let capabilities = meta.and_then(|meta| meta.get(CAPABILITIES_KEY));
        if !capabilities.is_some_and(Value::is_object) {
            return Err(ProtocolFault::incomplete_meta(CAPABILITIES_KEY));
        }
    }
    Ok(version)
}

/// Refuses a request whose headers name another method or tool than its body.
fn same_headers(
    headers: &HeaderMap,
    method: &str,
    params: &Map<String, Value>,
) -> Result<(), ProtocolFault> {
    if only(headers, METHOD_HEADER)? != Some(method) {
        let fault = format!("The header {METHOD_HEADER} is not `method` of the body");
        return Err(ProtocolFault::header_mismatch(fault));
    }
    if method != TOOLS_CALL {
        return Ok(());
    }
    let header = only(headers, NAME_HEADER)?.and_then(decoded);
    if header.is_none() || header.as_deref() != params.get("name").and_then(Value::as_str) {
        let fault = format!("The header {NAME_HEADER} is not `params.name` of the body");
        return Err(ProtocolFault::header_mismatch(fault));
    }
    Ok(())
}

/// The value of a header, without the spaces around it.
fn only<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h str>, ProtocolFault> {
    let mut values = headers.get_all(name).into_iter();
    let Some(value) = values.next() else { return Ok(None) };
    let text = value.to_str().ok().map(str::trim).filter(|_| values.next().is_none());
    let fault = || ProtocolFault::header_mismatch(format!("The header {name} is no single text"));
    text.map(Some).ok_or_else(fault)
}

/// The text of a header that may have it in Base64, between marks.
fn decoded(value: &str) -> Option<String> {
    let coded = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    match coded {
        None => Some(value.to_owned()),
        Some(coded) => String::from_utf8(STANDARD.decode(coded).ok()?).ok(),
    }
}
