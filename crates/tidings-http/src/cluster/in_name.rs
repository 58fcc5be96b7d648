//! Callers of forwarded calls, as one node names them to another: by the address of their connection, or, for the
//! console's calls, which this process makes itself, by the author and the way in.

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::header;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse as _, Response};
use tidings_console::PeerAddress;

use super::peer::Peer;
use super::{Cluster, HOME, NOBODY, bearer, no_holder};
use crate::change::origin::Requester;
use crate::owners::Owner;

/// The header with the address of the TCP peer of a forwarded call. It counts from nodes only.
const PEER: HeaderName = HeaderName::from_static("tidings-peer");

/// The header with the requester of a call, as JSON. It counts beside the token of the node alone.
const REQUESTER: HeaderName = HeaderName::from_static("tidings-requester");

/// Names the TCP peer of a call that is forwarded.
pub(super) fn name_peer(request: &mut Request) {
    request.headers_mut().remove(&PEER);
    let peer = request.extensions().get().map(|PeerAddress(address)| address.to_string());
    if let Some(peer) = peer.and_then(|peer| HeaderValue::try_from(peer).ok()) {
        request.headers_mut().insert(PEER, peer);
    }
}

/// Takes over the TCP peer that a node names.
pub(super) fn take_peer(request: &mut Request) {
    let peer = request.headers_mut().remove(&PEER);
    let peer: Option<IpAddr> = peer.and_then(|peer| peer.to_str().ok()?.parse().ok());
    if let Some(peer) = peer {
        request.extensions_mut().insert(PeerAddress(peer));
    }
}

/// The requester in whose name a node makes a call.
pub(crate) fn requester(headers: &HeaderMap) -> Option<Requester> {
    serde_json::from_slice(headers.get(&REQUESTER)?.as_bytes()).ok()
}

impl Cluster {
    /// Makes a call to the node that has a home, in a requester's name.
    pub(crate) async fn call_in_name(
        &self,
        mut request: Request,
        home: Owner,
        requester: &Requester,
    ) -> Response {
        let Some(peer) = self.peer(home) else {
            return no_holder(NOBODY).into_response();
        };
        if !name(&mut request, &peer, requester) {
            return no_holder("the token of the node is invalid").into_response();
        }
        if let Owner::Shard(shard) = home {
            request.headers_mut().insert(HOME, shard.into());
        }
        self.send(&peer, request).await.unwrap_or_else(|problem| problem.into_response())
    }
}

/// Sets the headers by which a node accepts a call in a requester's name; false if they can't be set.
fn name(request: &mut Request, peer: &Peer, requester: &Requester) -> bool {
    let said = serde_json::to_string(requester).ok();
    // A header has ASCII: letters beyond it stand as escapes of JSON.
    let said = said.and_then(|said| HeaderValue::try_from(ascii(&said)).ok());
    let (Some(said), Some(bearer)) = (said, bearer(peer)) else {
        return false;
    };
    request.headers_mut().insert(REQUESTER, said);
    request.headers_mut().insert(header::AUTHORIZATION, bearer);
    true
}

/// A text of JSON without letters beyond ASCII.
fn ascii(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for letter in json.chars() {
        if letter.is_ascii() {
            out.push(letter);
            continue;
        }
        let mut units = [0; 2];
        for unit in letter.encode_utf16(&mut units) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use tidings_core::model::Role;

    use super::*;

    #[test]
    fn a_requester_with_any_letters_fits_into_a_header() {
        let requester = Requester::key("Zoë 🛎 \"q\"", Role::Support);
        let said = ascii(&serde_json::to_string(&requester).unwrap());
        let mut headers = HeaderMap::new();
        headers.insert(REQUESTER, HeaderValue::try_from(said).unwrap());
        let read = super::requester(&headers).unwrap();
        assert_eq!((read.by, read.via), (requester.by, requester.via));
        headers.insert(REQUESTER, HeaderValue::from_static("{}"));
        assert!(super::requester(&headers).is_none());
    }
}
