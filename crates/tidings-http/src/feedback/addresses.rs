//! The addresses of the recipients of messages, which may be at other nodes.

use std::collections::BTreeMap;

use axum::body::to_bytes;
use axum::http::uri::PathAndQuery;
use axum::http::{Method, StatusCode};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use tidings_core::Id;
use tidings_core::model::{EMAIL, EMAIL_NO, MessageName};

use super::super::cluster::{Cluster, Peer, holder_lost};
use super::super::error::Problem;
use super::super::error::{NOBODY, no_holder};
use super::super::service::Service;

/// The recipient of a message, as far as they still exist.
#[derive(Clone, Debug, Default)]
pub(super) struct Addressee {
    pub(super) recipient: Option<Id>,
    /// The e-mail addresses.
    pub(super) addresses: Vec<String>,
}

/// Maximum number of bytes of a message or a recipient in a call of another node.
const ANSWER_BYTES_MAX: usize = 16 << 20;

impl Service {
    /// The recipients of messages, with their e-mail addresses.
    ///
    /// # Errors
    /// A [`Problem`] of this node or another one.
    pub(super) async fn addressees(
        &self,
        messages: Vec<MessageName>,
    ) -> Result<BTreeMap<MessageName, Addressee>, Problem> {
        let mut found = BTreeMap::new();
        let bucket = |message: &MessageName| message.id.closing.bucket;
        let is_here = |message: &MessageName| self.shards.at_home_of(bucket(message)).is_ok();
        let (here, there): (Vec<_>, Vec<_>) = messages.into_iter().partition(is_here);
        if let Some((owners, cluster)) = self.shards.cluster_view() {
            for message in there {
                let peer = cluster
                    .peer(owners.of_bucket(bucket(&message)))
                    .ok_or_else(|| no_holder(NOBODY))?;
                found.insert(message, of_other(cluster, &peer, message).await?);
            }
        }
        let own = move |node: &tidings_node::DurableSnapshot| {
            let of = |message: MessageName| {
                let profile = node.engine().recipient_of(message.id);
                let addressee = profile.map(|profile| Addressee {
                    recipient: Some(profile.id.clone()),
                    addresses: profile.addresses.of(EMAIL_NO).map(str::to_owned).collect(),
                });
                (message, addressee.unwrap_or_default())
            };
            here.into_iter().map(of).collect::<Vec<_>>()
        };
        found.extend(self.look(own).await?);
        Ok(found)
    }
}

/// The recipient of a message that another node has.
async fn of_other(
    cluster: &Cluster,
    peer: &Peer,
    message: MessageName,
) -> Result<Addressee, Problem> {
    let message = ask(cluster, peer, format!("/v1/messages/{message}")).await?;
    let recipient = message.as_ref().and_then(|of| of["recipient"].as_str());
    let Some(recipient) = recipient else {
        return Ok(Addressee::default());
    };
    let id = utf8_percent_encode(recipient, NON_ALPHANUMERIC);
    let profile = ask(cluster, peer, format!("/v1/recipients/{id}")).await?;
    let addresses = profile.as_ref().map(|of| &of["addresses"][EMAIL]);
    let texts = match addresses {
        Some(Value::Array(several)) => several.iter().collect(),
        one => Vec::from_iter(one),
    };
    let texts = texts.into_iter().filter_map(Value::as_str);
    Ok(Addressee {
        recipient: Id::new(recipient).ok(),
        addresses: texts.map(str::to_owned).collect(),
    })
}

/// The answer of a node; `None` if it does not know the message.
async fn ask(cluster: &Cluster, peer: &Peer, path: String) -> Result<Option<Value>, Problem> {
    let path = PathAndQuery::try_from(path).map_err(|_| holder_lost())?;
    let answer = cluster.call(peer, (Method::GET, path), Vec::new()).await?;
    match answer.status() {
        StatusCode::OK => {}
        StatusCode::NOT_FOUND => return Ok(None),
        _ => return Err(holder_lost()),
    }
    let bytes = to_bytes(answer.into_body(), ANSWER_BYTES_MAX).await;
    let value = serde_json::from_slice(&bytes.map_err(|_| holder_lost())?);
    value.map(Some).map_err(|_| holder_lost())
}
